"""How well event types found in sentences agree with types given by people.

    python -m elision.evaluate.events FILE... [--json] [--taught] [--encoder FOLDER]

prints one table for tellings that have both ``steps`` and ``events``. With no file it takes the
package's own labelled tellings. With ``--taught`` the labels of half of the tellings teach, and the
table says how many sentences of the other half get the right one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from importlib import resources
from typing import NamedTuple, TypeAlias

from elision import readers
from elision.errors import ElisionError, InputError
from elision.text.extract import EventExtractor
from elision.text.parse import parse
from elision.text.vectors import installed
from elision.values.corpus import Corpus

__all__ = [
    "BCubed",
    "Row",
    "b_cubed",
    "compare_mappers",
    "compare_methods",
    "methods",
    "own_tellings",
    "table",
]

Labels: TypeAlias = Sequence[Hashable]
Method: TypeAlias = Callable[[Corpus], list[Hashable]]
"""Labels of all sentences of a domain, end to end."""


class BCubed(NamedTuple):
    """B-cubed agreement of two groupings."""

    precision: float
    recall: float
    f1: float


class Row(NamedTuple):
    """One line of the table: a method on one domain, or on all of them on average."""

    method: str
    domain: str
    precision: float
    recall: float
    b_cubed: float
    v_measure: float
    adjusted_rand: float
    types: float
    gold_types: float


def b_cubed(gold: Labels, found: Labels) -> BCubed:
    """Return B-cubed precision, recall and F1 (Bagga and Baldwin 1998).

    For each item, precision is the share of its found group that has its gold label, recall the
    share of its gold group that is in its found group; both are averaged over items.

    Parameters
    ----------
    gold, found
        The group of each item, in the same order.

    Raises
    ------
    InputError
        If the lengths differ or there is nothing.

    Examples
    --------
    >>> b_cubed("aabb", "xxxx")
    BCubed(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    if len(gold) != len(found) or not len(gold):
        raise InputError(
            f"{len(gold)} gold labels and {len(found)} found, expected as many of each"
        )
    golds, founds = Counter(gold), Counter(found)
    joint = Counter(zip(gold, found, strict=True))
    items = len(gold)
    precision = sum(n * n / founds[f] for (_, f), n in joint.items()) / items
    recall = sum(n * n / golds[g] for (g, _), n in joint.items()) / items
    return BCubed(precision, recall, 2 * precision * recall / (precision + recall))


def methods(encoder: str | None = None) -> dict[str, Method]:
    """Return what is compared: two baselines, the paper's similarity, and the mixture.

    Parameters
    ----------
    encoder
        Folder of a sentence encoder that has a say as well, in one more method.
    """
    chosen: dict[str, Method] = {
        "exact text": _by_key(str.casefold),
        "verb lemma": _by_key(lambda sentence: parse(sentence).verb),
        "wordnet": _by_extractor(EventExtractor("wordnet", rare="keep")),
        "mixed, no vectors": _by_extractor(EventExtractor(vectors=False, rare="keep")),
    }
    if installed():
        chosen["mixed"] = _by_extractor(EventExtractor(vectors=True, rare="keep"))
    if encoder is not None:
        chosen["mixed, encoder"] = _by_extractor(EventExtractor(rare="keep", encoder=encoder))
    return chosen


def _by_key(key: Callable[[str], Hashable]) -> Method:
    return lambda corpus: [key(sentence) for steps in corpus.steps for sentence in steps]


def _by_extractor(extractor: EventExtractor) -> Method:
    def labels(corpus: Corpus) -> list[Hashable]:
        extractor.fit(corpus)
        return [label for row in extractor.labels_ for label in row]

    return labels


def compare_methods(corpus: Corpus, chosen: dict[str, Method] | None = None) -> list[Row]:
    """Score methods against the events that a corpus gives, domain by domain.

    Parameters
    ----------
    corpus
        With steps and events.
    chosen
        The methods by name; all of them if None.

    Returns
    -------
    list of Row
        For each method one row a domain and, last, the mean over domains, whose domain is "".

    Examples
    --------
    >>> chosen = {"verb lemma": methods()["verb lemma"]}
    >>> round(compare_methods(own_tellings(), chosen)[-1].b_cubed, 2)
    0.45
    """
    from sklearn.metrics import adjusted_rand_score, v_measure_score  # noqa: PLC0415 - slow

    rows = []
    for name, method in (methods() if chosen is None else chosen).items():
        part = []
        for domain, told in corpus.by_domain().items():
            gold = [event for events in told.events for event in events]
            found = list(map(str, method(told)))
            score = b_cubed(gold, found)
            agreement = float(v_measure_score(gold, found)), float(adjusted_rand_score(gold, found))
            sizes = float(len(set(found))), float(len(set(gold)))
            part.append(Row(name, domain, *score, *agreement, *sizes))
        means = [statistics.fmean(column) for column in list(zip(*part, strict=True))[2:]]
        rows += [*part, Row(name, "", *means)]
    return rows


def compare_mappers(corpus: Corpus, seeds: int = 3) -> dict[str, float]:
    """Say how many sentences get their label, by what the labels of half of the tellings teach.

    Each sentence is labelled by itself, and none is left without a label. Compared are the nearest
    neighbour by the words (cosine of tf-idf), logistic regression on tf-idf, and `EventExtractor`.

    Returns
    -------
    dict
        The share that is right by method, the mean over domains and seeds.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - slow
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow

    right: dict[str, list[float]] = {}
    for told in corpus.by_domain().values():
        for seed in range(seeds):
            train, test = told.split(0.5, random_state=seed)
            known = [sentence for steps in train.steps for sentence in steps]
            labels = [event for events in train.events for event in events]
            asked = [sentence for steps in test.steps for sentence in steps]
            gold = [event for events in test.events for event in events]
            words = TfidfVectorizer(token_pattern=r"\w+").fit(known)  # noqa: S106
            table, rows = words.transform(known), words.transform(asked)
            nearest = (rows @ table.T).toarray().argmax(axis=1)
            extractor = EventExtractor(none_threshold=1.0).fit(train, train.events)
            answers = {
                "nearest neighbour, tf-idf": [labels[at] for at in nearest],
                "logistic regression, tf-idf": LogisticRegression(C=10, max_iter=500)
                .fit(table, labels)
                .predict(rows)
                .tolist(),
                "EventExtractor": [one for row in extractor.predict(test) for one in row],
            }
            for name, found in answers.items():
                hits = sum(a == b for a, b in zip(found, gold, strict=True))
                right.setdefault(name, []).append(hits / len(gold))
    return {name: statistics.fmean(values) for name, values in right.items()}


def own_tellings() -> Corpus:
    """Return the package's own tellings that were labelled by hand."""
    with resources.as_file(resources.files("elision") / "data" / "tellings.jsonl") as path:
        return readers.read(path)


def table(rows: Iterable[Row]) -> str:
    """Return the means over domains as a table in Markdown.

    Examples
    --------
    >>> print(table([Row("verb", "", 0.5, 0.5, 0.5, 0.6, 0.4, 20, 25)]))
    | method | B-cubed P | R | F1 | V-measure | adj. Rand | types | gold |
    |---|---|---|---|---|---|---|---|
    | verb | .500 | .500 | .500 | .600 | .400 | 20.0 | 25.0 |
    """
    lines = [
        "| method | B-cubed P | R | F1 | V-measure | adj. Rand | types | gold |",
        "|---" * 8 + "|",
    ]
    for row in rows:
        if not row.domain:
            scores = " | ".join(f"{value:.3f}".lstrip("0") for value in row[2:7])
            lines.append(f"| {row.method} | {scores} | {row.types:.1f} | {row.gold_types:.1f} |")
    return "\n".join(lines)


def _shares(shares: dict[str, float]) -> str:
    lines = ["| method | right |", "|---|---|"]
    lines += [f"| {name} | {100 * share:.1f} % |" for name, share in shares.items()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of some files."""
    parser = argparse.ArgumentParser(prog="python -m elision.evaluate.events", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", help="tellings with steps and events")
    parser.add_argument("--json", action="store_true", help="every domain, as JSON")
    parser.add_argument("--taught", action="store_true", help="by labels of half of the tellings")
    parser.add_argument("--encoder", metavar="FOLDER", help="a sentence encoder to compare as well")
    options = parser.parse_args(arguments)
    try:
        parts = [readers.read(file) for file in options.files] or [own_tellings()]
        corpus = Corpus(narrative for part in parts for narrative in part)
        if options.taught:
            shares = compare_mappers(corpus)
            sys.stdout.write(json.dumps(shares, indent=1) if options.json else _shares(shares))
            sys.stdout.write("\n")
            return 0
        rows = compare_methods(corpus, methods(options.encoder))
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = json.dumps([row._asdict() for row in rows], indent=1) if options.json else table(rows)
    sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
