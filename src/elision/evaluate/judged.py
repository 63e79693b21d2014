"""Gaps in raw sentences, judged by what people say that the removed sentence tells.

    python -m elision.evaluate.judged FILE... [--seeds N] [--json [PATH]]

`elision bench` removes a sentence and asks for the type that it would be mapped to, which may be
the wrong one. Here the corpora have both ``steps`` and ``events``. Types are found in the sentences
of 60 % of the tellings, without their labels; from each other telling one sentence is removed, and
right is who names its label: a type stands for the labels that its training sentences have.
*default* is what ``elision learn`` does, which learns the telling model of the types that the
training sentences were grouped with and of those that each is heard as; *types as grouped* learns
it of the former alone; *LogisticGap* is logistic regression on these.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import readers
from elision.errors import InputError
from elision.evaluate.cloze import LEAST_EVENTS, TEST_SHARE, calibration_error, judge
from elision.evaluate.measuring import measure_files, tell
from elision.evaluate.tables import markdown_table, percent
from elision.learn.baselines import LogisticGap
from elision.learn.learner import ScriptLearner
from elision.pipeline.learning import Told, as_events
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.evaluate.cloze import Outcome
    from elision.text.extract import EventExtractor
    from elision.values.observations import Observation

METHODS = ("LogisticGap", "types as grouped", "default")


class Gaps(NamedTuple):
    """Test tellings with a gap each, as they are heard, and the label of what was removed."""

    heard: list[list[Observation]]
    labels: list[str]


def measure(file: str, seeds: int) -> dict[str, Any]:
    """Figures of each method on a corpus, over all domains and seeds."""
    corpus = readers.read(file)
    if not all(one.steps and one.events for one in corpus):
        raise InputError("a telling without steps or events, expected both", where=file)
    found: dict[str, list[list[Outcome]]] = {name: [] for name in METHODS}
    for domain, part in corpus.by_domain().items():
        tell(domain)
        for outcomes in found.values():
            outcomes.append([])
        for seed in range(seeds):
            for name, outcome in judged(part, seed).items():
                found[name][-1].append(outcome)
    return {name: _figures(outcomes) for name, outcomes in found.items()}


def judged(part: Corpus, seed: int) -> dict[str, Outcome]:
    """What each method answers on one split of a domain."""
    train, test = part.split(TEST_SHARE, random_state=seed)
    sentences = Corpus(Narrative(steps=one.steps, domain=one.domain, id=one.id) for one in train)
    told = as_events(sentences)
    extractor: EventExtractor = told.extractor  # type: ignore[assignment]  # of sentences
    types = tuple(kind.name for kind in extractor.domains_[part.domains[0]].types)
    labels = sorted({label for one in part for label in one.events or ()})
    shares = label_shares(extractor.labels_, train.events, types, labels)
    gaps = make_gaps(extractor, test, seed)
    answers = np.array([labels.index(label) for label in gaps.labels], np.int64)
    first = [[_first(one) for one in items] for items in gaps.heard]
    settings: dict[str, Any] = {"events": types, "random_state": seed}
    found = {
        "LogisticGap": LogisticGap(events=types).fit(_long(told)).predict_gap(first),
        "types as grouped": ScriptLearner(**settings).fit(told.events).predict_gap(gaps.heard),
        "default": ScriptLearner(**settings)
        .fit(told.events, heard=told.heard, words=told.words)
        .predict_gap(gaps.heard),
    }
    return {name: judge(chances @ shares, answers) for name, chances in found.items()}


def make_gaps(extractor: EventExtractor, test: Corpus, seed: int) -> Gaps:
    """Remove a sentence from each telling, and hear the rest; those that leave nothing are out."""
    rng = np.random.default_rng([seed, 16])
    gaps = Gaps([], [])
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
            gaps.heard.append(items)
            gaps.labels.append((one.events or ())[place])
    return gaps


def label_shares(
    types: Sequence[Sequence[str | None]],
    labels: Sequence[Sequence[str]],
    names: Sequence[str],
    all_labels: Sequence[str],
) -> NDArray[np.float64]:
    """Share of each label among the sentences of each type, (types, labels).

    Examples
    --------
    >>> label_shares([["a", "a", None]], [["x", "y", "x"]], ["a"], ["x", "y"]).tolist()
    [[0.5, 0.5]]
    """
    count = np.zeros((len(names), len(all_labels)))
    for some, right in zip(types, labels, strict=True):
        for kind, label in zip(some, right, strict=True):
            if kind is not None:
                count[names.index(kind), all_labels.index(label)] += 1
    return np.asarray(count / np.maximum(count.sum(axis=1, keepdims=True), 1))


def _long(told: Told) -> list[tuple[str, ...]]:
    return [one for one in told.events if len(one) >= LEAST_EVENTS]


def _first(item: Observation) -> str | None:
    """The likeliest type of a sentence, for who takes no weights."""
    if item is None or isinstance(item, str):
        return item
    return max(item, key=lambda event: item[event])


def _figures(outcomes: list[list[Outcome]]) -> dict[str, float]:
    every = [one for some in outcomes for one in some]
    confidence = np.concatenate([one.confidence for one in every])
    right = np.concatenate([one.rank == 1 for one in every])
    return {
        "top1": float(np.mean([np.mean([one.top1 for one in some]) for some in outcomes])),
        "top3": float(np.mean([np.mean([one.top3 for one in some]) for some in outcomes])),
        "log_loss": float(np.mean([np.mean([one.log_loss for one in some]) for some in outcomes])),
        "ece": calibration_error(confidence, right),
        "narratives": len(right),
    }


def tables(figures: dict[str, Any], seeds: int) -> str:
    """The figures of a corpus in Markdown."""
    narratives = next(iter(figures.values()))["narratives"]
    said = f"Sentences removed, judged by their labels; {seeds} splits, {narratives} gaps."
    rows = [
        [
            name,
            percent(row["top1"]),
            percent(row["top3"]),
            f"{row['log_loss']:.3f}",
            f"{row['ece']:.3f}",
        ]
        for name, row in figures.items()
    ]
    return f"{said}\n\n{markdown_table(['method', 'top-1', 'top-3', 'log-loss', 'ECE'], rows, {0})}"


if __name__ == "__main__":
    sys.exit(measure_files("judged", __doc__, measure, tables))
