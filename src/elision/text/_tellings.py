"""Between corpora and wordings: how tellings come into `EventExtractor` and leave it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from elision._backends import is_frame
from elision.errors import InputError, relocated, shown
from elision.text.cluster import Clusters
from elision.text.wording import PLACES
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.text.cluster import Compare
    from elision.text.similarity import Measure, Weights
    from elision.text.wording import Told

__all__ = [
    "Labels",
    "Tellings",
    "as_corpus",
    "check_options",
    "checked_labels",
    "comparison",
    "kept",
    "least_tellings",
    "taught_groups",
    "with_events",
]

Tellings: TypeAlias = "Corpus | Iterable[Iterable[str]]"
"""A corpus with steps, or one list of sentences a telling."""

Labels: TypeAlias = "Iterable[Iterable[str | None]]"
"""The type of each sentence, one list a telling; None where it is none."""

_MOST = 1e9


def as_corpus(X: Tellings) -> Corpus:
    if isinstance(X, Corpus):
        _ = X.steps  # an InputError where there are only events
        return X
    if is_frame(X):
        hint = "read it first: el.read(frame, sentences=True)"
        raise InputError("a data frame came, expected a list of lists of sentences", hint=hint)
    if not isinstance(X, Iterable) or isinstance(X, str | bytes | Mapping):
        raise InputError(f"{shown(X)} is not a corpus or a list of lists of sentences")
    narratives = []
    for number, steps in enumerate(X):
        try:
            narratives.append(Narrative(steps=steps, id=str(number)))  # type: ignore[arg-type]
        except InputError as error:
            raise relocated(error, f"narratives[{number}]") from None
    return Corpus(narratives)


def checked_labels(corpus: Corpus, given: Labels) -> list[list[str | None]]:
    """Return labels as lists, once it is sure that each sentence has one and some type is told."""
    rows = [list(row) for row in given]
    if len(rows) != len(corpus):
        raise InputError(f"labels of {len(rows)} tellings, expected {len(corpus)}")
    for number, (narrative, row) in enumerate(zip(corpus, rows, strict=True)):
        where = f"narratives[{number}]"
        if len(row) != narrative.length:
            problem = f"{len(row)} labels of {narrative.length} sentences"
            raise InputError(problem, where=where, hint="give each sentence one, or None")
        for label in row:
            if label is not None and not (isinstance(label, str) and label.strip()):
                problem = f"the label {shown(label)}, expected a name or None"
                raise InputError(problem, where=where)
    if all(label is None for row in rows for label in row):
        raise InputError("no sentence has a label, expected at least one")
    return rows


def taught_groups(told: Told, labels: Sequence[str | None]) -> tuple[Clusters, list[str | None]]:
    """Return the wordings grouped by the label that each most often has, and the labels."""
    names = list(dict.fromkeys(labels))
    place = {name: number for number, name in enumerate(names)}
    votes = np.zeros((len(told.wordings), len(names)), np.int64)
    np.add.at(votes, (told.place, np.array([place[label] for label in labels])), 1)
    return Clusters(votes.argmax(axis=1), 0.0, "labels"), names


def with_events(corpus: Corpus, labels: list[list[str | None]]) -> Corpus:
    """Return the corpus with events, without the steps that have none."""
    made = []
    for narrative, row in zip(corpus, labels, strict=True):
        kept = [(s, e) for s, e in zip(narrative.steps or (), row, strict=True) if e is not None]
        made.append(
            Narrative(
                events=tuple(event for _, event in kept),
                steps=tuple(step for step, _ in kept),
                domain=narrative.domain,
                id=narrative.id,
                extra=narrative.extra,
            )
        )
    return Corpus(made)


def comparison(told: Told, measure: Measure, weights: Weights) -> Compare:
    """Similarity of wordings by place, less what their positions in the tellings are apart."""
    steps = np.abs(np.subtract.outer(np.arange(PLACES + 1.0), np.arange(PLACES + 1.0)))
    prepared: tuple[bytes, Any] = (b"", None)

    def compare(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        nonlocal prepared
        if prepared[0] != columns.tobytes():  # block after block is compared with the same ones
            prepared = (columns.tobytes(), measure.prepare([told.wordings[at] for at in columns]))
        theirs = prepared[1]
        same = rows is columns
        ours = theirs if same else measure.prepare([told.wordings[at] for at in rows])
        similarity = measure.compare(ours, theirs)
        if weights.position:
            # Sums of products of whole numbers: exact.
            far = told.positions[rows] @ steps @ told.positions[columns].T
            far /= PLACES * np.outer(told.count[rows], told.count[columns])
            far *= weights.position
            similarity -= far
        return similarity

    return compare


def kept(told: Told, clusters: Clusters, needed: int) -> list[int]:
    """Return the groups that enough tellings tell, most told first."""
    labels = clusters.labels
    number = labels.max(initial=-1) + 1
    tellers = np.zeros(number, np.int64)
    wordings, narratives = told.tellings.nonzero()
    pairs = np.unique(np.column_stack([labels[wordings], narratives]), axis=0)
    np.add.at(tellers, pairs[:, 0], 1)
    order = np.argsort(-tellers, kind="stable")
    return [int(label) for label in order if tellers[label] >= needed]


def least_tellings(least: float, tellings: int) -> int:
    share = math.floor(least * tellings + 0.5) if least < 1 else math.ceil(least)
    return max(1, share)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise an InputError about the first option of an extractor that is of no use."""
    similarity = options["similarity"]
    checks = {
        "similarity": (
            isinstance(similarity, str) and similarity in ("mixed", "wordnet"),
            "'mixed' or 'wordnet'",
        ),
        "vectors": (options["vectors"] in (None, True, False), "True, False or None"),
        "verb_weight": (_within(options["verb_weight"], 0, 1), "a number from 0 to 1"),
        "senses": (_whole_or_none(options["senses"]), "a whole number from 1, or None"),
        "min_tellings": (_within(options["min_tellings"], 0, _MOST), "a number from 0"),
        "n_types": (_whole_or_none(options["n_types"]), "a whole number from 1, or None"),
        "rare": (options["rare"] in ("drop", "keep"), "'drop' or 'keep'"),
        "strictness": (
            options["strictness"] is None or _within(options["strictness"], -_MOST, _MOST),
            "a number or None",
        ),
        "none_threshold": (_within(options["none_threshold"], 0, 1), "a number from 0 to 1"),
        "split": (options["split"] in (True, False), "True or False"),
    }
    for name, (valid, expected) in checks.items():
        if not valid:
            raise InputError(f"{name}={shown(options[name])}, expected {expected}")


def _within(value: object, least: float, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return least <= float(value) <= most


def _whole_or_none(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return value is None
    return int(value) >= 1
