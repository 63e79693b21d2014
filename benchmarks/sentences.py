"""From sentences to event types: how well they agree with people, and what they are good for.

    python benchmarks/sentences.py types FILE... [--encoder NAME] [--json]
    python benchmarks/sentences.py taught FILE... [--seeds N] [--json]
    python benchmarks/sentences.py gaps FILE... [--seeds N] [--json]
    python benchmarks/sentences.py pairs FILE... [--alone] [--json]

Tellings of the first three have both ``steps`` and ``events``.

*types*: agreement of the types that are found without labels with the labels, means over domains;
``--encoder`` has a model of sentence-transformers or model2vec have a say as well.

*taught*: the labels of half of the tellings teach; how many sentences of the other half get the
right one, each by itself.

*gaps*: `elision bench` removes a sentence and asks for the type that it would be mapped to, which
may be the wrong one. Here right is who names its label. Types are found in the sentences of 60 % of
the tellings, without their labels; a type stands for the labels that its training sentences have.
*default* is what ``elision learn`` does, which learns the telling model of the types that the
training sentences were grouped with and of those that each is heard as; *types as grouped* learns
it of the former alone; *LogisticGap* is logistic regression on these.

*pairs*: each line of a file is an activity with two tellings of the same steps by different people
(``tellings``) and the numbers of steps that are easily confused (``apart``). A pair of the same
step is right if both sentences get one type, a pair of confused steps (once in each telling,
crosswise) if they do not. With ``--alone`` by words alone: the steps of one telling teach, the
sentences of the other are mapped one by one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import Figures, means, parser_of, run, table, tell
from elision.bench.judging import Outcome, calibration_error, judge
from elision.bench.tasks import LEAST_EVENTS, TEST_SHARE
from elision.errors import InputError
from elision.pipeline.learning import as_events
from elision.text.parse import parse
from elision.text.vectors import installed

Method = Callable[[el.Corpus], list[Hashable]]
"""Labels of all sentences of a domain, end to end."""


# Types


def b_cubed(gold: Sequence[Hashable], found: Sequence[Hashable]) -> tuple[float, float, float]:
    """Return B-cubed precision, recall and F1 of two groupings (Bagga and Baldwin 1998).

    For each item, precision is the share of its found group that has its gold label, recall the
    share of its gold group that is in its found group; both are averaged over items.

    Examples
    --------
    >>> b_cubed("aabb", "xxxx")
    (0.5, 1.0, 0.6666666666666666)
    """
    golds, founds = Counter(gold), Counter(found)
    joint = Counter(zip(gold, found, strict=True))
    items = len(gold)
    precision = sum(n * n / founds[f] for (_, f), n in joint.items()) / items
    recall = sum(n * n / golds[g] for (g, _), n in joint.items()) / items
    return precision, recall, 2 * precision * recall / (precision + recall)


def methods(encoder: str | None = None) -> dict[str, Method]:
    """What is compared: two baselines, the paper's similarity, and the mixture."""
    chosen: dict[str, Method] = {
        "exact text": by_key(str.casefold),
        "verb lemma": by_key(lambda sentence: parse(sentence).verb),
        "wordnet": by_extractor(el.EventExtractor("wordnet", rare="keep")),
        "mixed, no vectors": by_extractor(el.EventExtractor(vectors=False, rare="keep")),
    }
    if installed():
        chosen["mixed"] = by_extractor(el.EventExtractor(vectors=True, rare="keep"))
    if encoder is not None:
        chosen["mixed, encoder"] = by_extractor(el.EventExtractor(rare="keep", encoder=encoder))
    return chosen


def by_key(key: Callable[[str], Hashable]) -> Method:
    return lambda corpus: [key(sentence) for steps in corpus.steps for sentence in steps]


def by_extractor(extractor: el.EventExtractor) -> Method:
    def labels(corpus: el.Corpus) -> list[Hashable]:
        extractor.fit(corpus)
        return [label for row in extractor.labels_ for label in row]

    return labels


def agreement(corpus: el.Corpus, chosen: dict[str, Method]) -> dict[str, Figures]:
    """Figures of each method against the events that a corpus gives, means over domains."""
    from sklearn.metrics import adjusted_rand_score, v_measure_score

    found: dict[str, list[Figures]] = defaultdict(list)
    for name, method in chosen.items():
        for told in corpus.by_domain().values():
            gold = [event for events in told.events for event in events]
            types = list(map(str, method(told)))
            precision, recall, f1 = b_cubed(gold, types)
            found[name].append(
                {
                    "B-cubed P": precision,
                    "R": recall,
                    "F1": f1,
                    "V-measure": float(v_measure_score(gold, types)),
                    "adj. Rand": float(adjusted_rand_score(gold, types)),
                    "types": len(set(types)),
                    "gold": len(set(gold)),
                }
            )
    return {name: means(some) for name, some in found.items()}


# Taught by labels


def taught(corpus: el.Corpus, seeds: int) -> dict[str, Figures]:
    """Share of sentences that get their label, by what the labels of half of the tellings teach.

    Compared are the nearest neighbour by the words (cosine of tf-idf), logistic regression on
    tf-idf, and `EventExtractor`; none leaves a sentence without a label.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    right: dict[str, list[Figures]] = defaultdict(list)
    for told in corpus.by_domain().values():
        for seed in range(seeds):
            train, test = told.split(0.5, random_state=seed)
            known = [sentence for steps in train.steps for sentence in steps]
            labels = [event for events in train.events for event in events]
            asked = [sentence for steps in test.steps for sentence in steps]
            gold = [event for events in test.events for event in events]
            words = TfidfVectorizer(token_pattern=r"\w+").fit(known)  # noqa: S106
            columns, rows = words.transform(known), words.transform(asked)
            nearest = (rows @ columns.T).toarray().argmax(axis=1)
            regression = LogisticRegression(C=10, max_iter=500).fit(columns, labels)
            extractor = el.EventExtractor(none_threshold=1.0).fit(train, train.events)
            answers = {
                "nearest neighbour, tf-idf": [labels[at] for at in nearest],
                "logistic regression, tf-idf": regression.predict(rows).tolist(),
                "EventExtractor": [one for row in extractor.predict(test) for one in row],
            }
            for name, found in answers.items():
                hits = sum(a == b for a, b in zip(found, gold, strict=True))
                right[name].append({"right": hits / len(gold)})
    return {name: means(some) for name, some in right.items()}


# Gaps, judged by labels


def gaps(corpus: el.Corpus, seeds: int) -> dict[str, Figures]:
    """Figures of each method, means over domains of means over seeds."""
    found: dict[str, list[list[Outcome]]] = defaultdict(list)
    for domain, part in corpus.by_domain().items():
        tell(domain)
        runs = [gaps_of(part, seed) for seed in range(seeds)]
        for name in runs[0]:
            found[name].append([one[name] for one in runs])
    return {name: figures(domains) for name, domains in found.items()}


def figures(domains: Sequence[Sequence[Outcome]]) -> Figures:
    every = [one for some in domains for one in some]
    confidence = np.concatenate([one.confidence for one in every])
    right = np.concatenate([one.rank == 1 for one in every])
    return {
        **{
            shown: float(
                np.mean([np.mean([getattr(one, name) for one in some]) for some in domains])
            )
            for shown, name in {"top-1": "top1", "top-3": "top3", "log-loss": "log_loss"}.items()
        },
        "ECE": calibration_error(confidence, right),
    }


def gaps_of(part: el.Corpus, seed: int) -> dict[str, Outcome]:
    """What each method answers on one split of a domain."""
    train, test = part.split(TEST_SHARE, random_state=seed)
    told = as_events(
        el.Corpus(el.Narrative(steps=n.steps, domain=n.domain, id=n.id) for n in train)
    )
    extractor: Any = told.extractor
    types = tuple(kind.name for kind in extractor.domains_[part.domains[0]].types)
    labels = sorted({label for one in part for label in one.events or ()})
    shares = label_shares(extractor.labels_, train.events, types, labels)
    rng = np.random.default_rng([seed, 16])
    asked, answers = [], []
    for one in test:
        steps = list(one.steps or ())
        place = int(rng.integers(len(steps)))
        heard = extractor.observe(steps, domain=one.domain)
        items = [
            None if at == place else item
            for at, item in enumerate(heard)
            if at == place or item is not None
        ]
        if len(items) >= LEAST_EVENTS:
            asked.append(items)
            answers.append(labels.index((one.events or ())[place]))
    first = [[None if one is None else max(one, key=one.get) for one in items] for items in asked]
    settings: dict[str, Any] = {"events": types, "random_state": seed}
    long = [one for one in told.events if len(one) >= LEAST_EVENTS]
    grouped = el.ScriptLearner(**settings).fit(told.events)
    default = el.ScriptLearner(**settings).fit(told.events, heard=told.heard, words=told.words)
    found = {
        "LogisticGap": el.LogisticGap(events=types).fit(long).predict_gap(first),
        "types as grouped": grouped.predict_gap(asked),
        "default": default.predict_gap(asked),
    }
    right = np.array(answers, np.int64)
    return {name: judge(chances @ shares, right) for name, chances in found.items()}


def label_shares(
    types: Sequence[Sequence[str | None]],
    labels: Sequence[Sequence[str]],
    names: Sequence[str],
    all_labels: Sequence[str],
) -> NDArray[np.float64]:
    """Share of each label among the training sentences of each type.

    Examples
    --------
    >>> label_shares([["a", None, "a"]], [["x", "y", "x"]], ["a"], ["x", "y"]).tolist()
    [[1.0, 0.0]]
    """
    count = np.zeros((len(names), len(all_labels)))
    for some, right in zip(types, labels, strict=True):
        for kind, label in zip(some, right, strict=True):
            if kind is not None:
                count[names.index(kind), all_labels.index(label)] += 1
    return np.asarray(count / np.maximum(count.sum(axis=1, keepdims=True), 1))


# Pairs


def pairs_of(activity: dict[str, Any], *, alone: bool) -> list[tuple[bool, bool]]:
    """For each pair of an activity: whether it tells one step, and whether it got one type.

    Examples
    --------
    >>> tellings = [["open the door", "shut the door"], ["open the door", "close the door"]]
    >>> pairs_of({"tellings": tellings, "apart": [[0, 1]]}, alone=True)
    [(True, True), (True, True), (False, False), (False, False)]
    """
    extractor = el.EventExtractor(rare="keep")
    first, second = (list(steps) for steps in activity["tellings"])
    if alone:
        one: Any = list(map(str, range(len(first))))
        (two,) = extractor.fit([first], [one]).predict([second])
    else:
        one, two = extractor.fit([first, second]).labels_
    pairs = [(True, a == b) for a, b in zip(one, two, strict=True)]
    for i, j in activity["apart"]:
        pairs += [(False, one[i] == two[j]), (False, one[j] == two[i])]
    return pairs


def pairs(file: str, *, alone: bool) -> dict[str, Figures]:
    try:
        lines = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise InputError(f"no activities: {error}", where=file) from None
    found = [pair for one in lines for pair in pairs_of(one, alone=alone)]
    kinds = {"one type": {True}, "kept apart": {False}, "all": {True, False}}
    rows = {name: [a == b for a, b in found if a in which] for name, which in kinds.items()}
    return {
        name: {"right": sum(right), "of": len(right), "share": sum(right) / len(right)}
        for name, right in rows.items()
        if right
    }


# Command


def measure(file: str, options: argparse.Namespace) -> dict[str, Figures]:
    if options.what == "pairs":
        return pairs(file, alone=options.alone)
    corpus = el.read(file)
    if not all(one.steps and one.events for one in corpus):
        raise InputError("a telling without steps or events, expected both", where=file)
    if options.what == "types":
        return agreement(corpus, methods(options.encoder))
    return (taught if options.what == "taught" else gaps)(corpus, options.seeds)


def shown(found: dict[str, Figures]) -> str:
    columns = list(next(iter(found.values())))
    lines = [
        [name, *(f"{row[one]:.1f}" if row[one] > 10 else f"{row[one]:.3f}" for one in columns)]
        for name, row in found.items()
    ]
    return table(["", *columns], lines, texts=1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__, seeds=3, kinds=("types", "taught", "gaps", "pairs"))
    parser.add_argument("--alone", action="store_true", help="pairs by words alone")
    parser.add_argument("--encoder", metavar="NAME", help="of a sentence encoder")
    return run(parser, measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
