"""Between corpora and wordings: what `EventExtractor` needs to take tellings in and hand them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from elision.corpus import Corpus, Narrative, relocated, shown
from elision.errors import InputError
from elision.text.wording import PLACES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.text.cluster import Clusters
    from elision.text.similarity import Measure, Weights
    from elision.text.wording import Told

__all__ = [
    "Tellings",
    "as_corpus",
    "comparison",
    "is_number",
    "is_whole",
    "kept",
    "least_tellings",
    "with_events",
]

Tellings: TypeAlias = "Corpus | Iterable[Iterable[str]]"
"""A corpus with steps, or one list of sentences a telling."""


def as_corpus(X: Tellings) -> Corpus:
    if isinstance(X, Corpus):
        _ = X.steps  # an InputError where there are only events
        return X
    if not isinstance(X, Iterable) or isinstance(X, str | bytes | Mapping):
        raise InputError(f"{shown(X)} is not a corpus or a list of lists of sentences")
    narratives = []
    for number, steps in enumerate(X):
        try:
            narratives.append(Narrative(steps=steps, id=str(number)))  # type: ignore[arg-type]
        except InputError as error:
            raise relocated(error, f"narratives[{number}]") from None
    return Corpus(narratives)


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


def comparison(
    told: Told, measure: Measure, weights: Weights
) -> Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]:
    """Similarity of wordings by place, less what their positions in the tellings are apart."""
    steps = np.abs(np.subtract.outer(np.arange(PLACES + 1.0), np.arange(PLACES + 1.0)))
    sides: dict[bytes, Any] = {}

    def compare(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        ours, theirs = (_prepared(places) for places in (rows, columns))
        similarity = measure.compare(ours, theirs)
        if weights.position:
            # Sums of products of whole numbers: exact.
            far = told.positions[rows] @ steps @ told.positions[columns].T
            far /= PLACES * np.outer(told.count[rows], told.count[columns])
            similarity -= weights.position * far
        return similarity

    def _prepared(places: NDArray[np.intp]) -> Any:
        key = places.tobytes()
        if key not in sides:
            if len(sides) > 1:
                sides.pop(next(reversed(sides)))  # a block that will not come again
            sides[key] = measure.prepare([told.wordings[at] for at in places])
        return sides[key]

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


def is_number(value: object, least: float, most: float) -> bool:
    plain = isinstance(value, int | float | np.integer | np.floating)
    return plain and not isinstance(value, bool) and least <= float(value) <= most  # type: ignore[arg-type]


def is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1
