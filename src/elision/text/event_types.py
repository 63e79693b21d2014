"""The event types of one domain: how they are told, and which of them a new sentence tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.text.cluster import different, told_together
from elision.text.naming import name_types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from elision.text.cluster import Clusters, Method
    from elision.text.similarity import Measure
    from elision.text.wording import Told, Wording

__all__ = ["Calibration", "DomainTypes", "EventType", "calibrate", "describe", "renamed"]

MOST_WORDINGS = 200
"""Wordings of a type that are kept, the most frequent ones."""

SHARPNESS = 1.5
"""How fast probability falls with similarity, per standard deviation between different events."""

DOUBT = 0.5
"""Standard deviations by which "none of these" is put back: most sentences do tell some type."""

_BLOCK = 1000  # wordings compared at a time: memory does not grow with more
_CALIBRATED = 1500  # wordings on which the threshold for "none of these" is set


class EventType(NamedTuple):
    """One type of event.

    Parameters
    ----------
    name
        Unique in its domain.
    tellings
        How many tellings tell it.
    cohesion
        Mean similarity of two sentences of the type; nan where there is only one.
    wordings
        How it is told, most central first.
    counts
        How often each wording was told.
    """

    name: str
    tellings: int
    cohesion: float
    wordings: tuple[Wording, ...]
    counts: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many sentences tell it, in the wordings that are kept."""
        return sum(self.counts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence a wording, the best examples first."""
        return tuple(wording.text for wording in self.wordings)


class Calibration(NamedTuple):
    """What turns similarities into probabilities.

    Parameters
    ----------
    scale
        Standard deviation of the similarity between different events: the unit of nearness.
    nothing
        The nearness of "none of these".
    """

    scale: float
    nothing: float


class DomainTypes:
    """The event types of one domain, and which of them a wording tells.

    A type is as near to a wording as its two nearest sentences are on average. Probabilities fall
    off with the distance behind the nearest, and "none of these" takes part as if it were a type
    of a fixed nearness.

    Parameters
    ----------
    types
        The types.
    measure
        The similarity.
    calibration
        What turns similarities into probabilities.
    method
        How the wordings were compared.
    cut
        Groups were joined above this value.
    spare
        The calibration of the same types without word vectors, for readers who have none.
    """

    def __init__(
        self,
        types: Sequence[EventType],
        measure: Measure,
        *,
        calibration: Calibration,
        method: Method,
        cut: float,
        spare: Calibration | None = None,
    ) -> None:
        self.types = tuple(types)
        self.measure = measure
        self.calibration = calibration
        self.method = method
        self.cut = cut
        self.spare = spare
        self._side = measure.prepare([w for kind in self.types for w in kind.wordings])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the types."""
        return tuple(kind.name for kind in self.types)

    def probabilities(
        self, wordings: Sequence[Wording], *, left_out: bool = False
    ) -> NDArray[np.float64]:
        """Return the probability of each type, and last of none, for each wording by itself.

        Parameters
        ----------
        wordings
            The wordings.
        left_out
            Whether each is one of those that the types were found from, and is to be judged by the
            others: what was told once is then no evidence for itself.

        Returns
        -------
        numpy.ndarray
            Of shape (wordings, types + 1); rows sum to 1.
        """
        result = np.zeros((len(wordings), len(self.types) + 1))
        result[:, -1] = 1.0
        if not self.types or not wordings:
            return result
        place = self._place_of_wordings() if left_out else {}
        for begin in range(0, len(wordings), _BLOCK):
            some = wordings[begin : begin + _BLOCK]
            similarity = self.measure.compare(self.measure.prepare(some), self._side)
            own = np.array([place.get(wording.key, -1) for wording in some])
            near = nearness(similarity, self.types, own)
            for row, values in zip(result[begin:], near, strict=False):
                row[:] = self._shares([*values.tolist(), self.calibration.nothing])
        return result

    def _place_of_wordings(self) -> dict[object, int]:
        keys = (wording.key for kind in self.types for wording in kind.wordings)
        return {key: number for number, key in enumerate(keys)}

    def _shares(self, values: list[float]) -> list[float]:
        top = max(values)
        # math and not numpy: the same bits for one sentence as for many.
        powers = [math.exp(SHARPNESS * (value - top) / self.calibration.scale) for value in values]
        whole = math.fsum(powers)
        return [power / whole for power in powers]


def nearness(
    similarity: NDArray[np.float64],
    types: Sequence[EventType],
    own: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Mean similarity of each row with the two nearest sentences of each type.

    Parameters
    ----------
    similarity
        Of each row with the wordings of all types, end to end.
    types
        The types.
    own
        The wording that each row is, which is then counted once less; -1 for none.

    Returns
    -------
    numpy.ndarray
        Of shape (rows, types); minus infinity where a type has no other sentence.

    Examples
    --------
    >>> from elision.text.wording import Wording
    >>> ring, hear = (Wording(word, "", "", (word,), word) for word in ("ring", "hear"))
    >>> types = [EventType("bell", 3, 0.5, (ring, hear), (2, 1))]
    >>> table = np.array([[1.0, 0.5]])
    >>> nearness(table, types).tolist(), nearness(table, types, np.array([0])).tolist()
    ([[1.0]], [[0.75]])
    """
    columns, begin = [], 0
    rows = np.arange(len(similarity))
    own = np.full(len(rows), -1) if own is None else own
    for kind in types:
        part = similarity[:, begin : begin + len(kind.wordings)]
        counts = np.tile(kind.counts, (len(rows), 1))
        mine = np.flatnonzero((own >= begin) & (own < begin + len(kind.wordings)))
        counts[mine, own[mine] - begin] -= 1
        part = np.where(counts > 0, part, -np.inf)
        begin += len(kind.wordings)
        first = part.argmax(axis=1)
        best = part[rows, first]
        if part.shape[1] > 1:
            rest = part.copy()
            rest[rows, first] = -np.inf
            twice = counts[rows, first] > 1
            second = np.where(twice, best, rest.max(axis=1))
            best = np.where(np.isfinite(second), (best + second) / 2, best)
        columns.append(best)
    return np.column_stack(columns) if columns else np.zeros((len(similarity), 0))


def describe(
    told: Told,
    clusters: Clusters,
    measure: Measure,
    keep: Sequence[int],
    names: Sequence[str] | None = None,
) -> list[EventType]:
    """Return the types that some groups of wordings make, most told first.

    Parameters
    ----------
    told
        The wordings.
    clusters
        The groups.
    measure
        The similarity.
    keep
        The groups to describe.
    names
        Their names, where they have some.
    """
    count = told.count.astype(np.int64)
    parts = []
    for label in keep:
        members = np.flatnonzero(clusters.labels == label)
        tellers = np.unique(told.tellings[members].indices).size
        members = members[np.argsort(-count[members], kind="stable")][:MOST_WORDINGS]
        wordings = [told.wordings[at] for at in members]
        order, cohesion = _central(wordings, count[members].astype(float), measure)
        pairs = [(wordings[at], int(count[members[at]])) for at in order]
        parts.append((tellers, cohesion, pairs))
    names = name_types([pairs for _, _, pairs in parts]) if names is None else names
    return [
        EventType(name, tellers, cohesion, tuple(w for w, _ in pairs), tuple(c for _, c in pairs))
        for name, (tellers, cohesion, pairs) in zip(names, parts, strict=True)
    ]


def renamed(domain: DomainTypes, names: Mapping[str, str], tellings: Sequence[int]) -> DomainTypes:
    """Return the types under other names; those that get the same name become one.

    Parameters
    ----------
    domain
        The types as they were found.
    names
        New names by old ones; the others keep theirs.
    tellings
        How many tellings tell each of the new types, in the order in which their names come first.
    """
    groups: dict[str, list[EventType]] = {}
    for kind in domain.types:
        groups.setdefault(names.get(kind.name, kind.name), []).append(kind)
    joined = zip(groups.items(), tellings, strict=True)
    return DomainTypes(
        [_joined(name, kinds, domain.measure, tellers) for (name, kinds), tellers in joined],
        domain.measure,
        calibration=domain.calibration,
        method=domain.method,
        cut=domain.cut,
        spare=domain.spare,
    )


def _joined(name: str, kinds: Sequence[EventType], measure: Measure, tellings: int) -> EventType:
    if len(kinds) == 1:
        return kinds[0]._replace(name=name)
    pairs = [pair for kind in kinds for pair in zip(kind.wordings, kind.counts, strict=True)]
    pairs = sorted(pairs, key=lambda pair: -pair[1])[:MOST_WORDINGS]
    wordings = [wording for wording, _ in pairs]
    counts = np.array([count for _, count in pairs])
    order, cohesion = _central(wordings, counts.astype(float), measure)
    ordered = [pairs[at] for at in order]
    return EventType(
        name, tellings, cohesion, tuple(w for w, _ in ordered), tuple(c for _, c in ordered)
    )


def _central(
    wordings: list[Wording], count: NDArray[np.float64], measure: Measure
) -> tuple[list[int], float]:
    """Places of the wordings, most central first, and the mean similarity of two sentences."""
    if len(wordings) == 1 and count[0] == 1:
        return [0], math.nan
    side = measure.prepare(wordings)
    similarity = measure.compare(side, side)
    weight = np.outer(count, count)
    np.fill_diagonal(weight, count * (count - 1))
    # A frequent wording is near to its own copies: that makes it central, as it should.
    closeness = (weight * similarity).sum(axis=1) / weight.sum(axis=1)
    order: list[int] = np.argsort(-closeness, kind="stable").tolist()
    return order, float((weight * similarity).sum() / weight.sum())


def calibrate(types: Sequence[EventType], told: Told, measure: Measure) -> Calibration:
    """Set the unit of nearness and the threshold for "none of these" from the tellings.

    The threshold is where, sentence by sentence left out, as many are lost to their own type as
    would be caught by another one, less some benefit of the doubt. Sharpness and doubt were chosen
    on the package's own labelled tellings, for the likelihood of the labels of tellings left out.
    """
    frequent = np.sort(np.argsort(-told.count, kind="stable")[:_CALIBRATED])
    side = measure.prepare([told.wordings[at] for at in frequent])
    similarity, count = measure.compare(side, side), told.count[frequent]
    unlike = different(similarity, told_together(told, frequent), count)
    # A handful of tellings may show too little of what is different; half of all there is, then.
    floor = different(similarity, np.zeros_like(similarity), count).deviation / 2
    same = abs(float(similarity.max(initial=0.0)))
    scale = max(unlike.deviation, floor) or same / 8 or 1.0
    fallback = same / 2 if len(types) < 2 else unlike.mean + scale
    return Calibration(scale, _threshold(types, measure, fallback) - DOUBT * scale)


def _threshold(types: Sequence[EventType], measure: Measure, fallback: float) -> float:
    share = max(1, -(-sum(len(kind.wordings) for kind in types) // _CALIBRATED))
    kept = [
        kind._replace(wordings=kind.wordings[::share], counts=kind.counts[::share])
        for kind in types
    ]
    owner = np.repeat(np.arange(len(kept)), [len(kind.wordings) for kind in kept])
    if len(kept) < 2:
        return fallback
    side = measure.prepare([wording for kind in kept for wording in kind.wordings])
    similarity = measure.compare(side, side)
    np.fill_diagonal(similarity, -np.inf)
    near = nearness(similarity, kept)
    rows = np.arange(len(owner))
    own = near[rows, owner]
    near[rows, owner] = -np.inf
    other = near.max(axis=1)
    own = np.sort(own[np.isfinite(own)])
    if not len(own):
        return fallback
    other = np.sort(other)
    levels = np.unique(np.concatenate([own, other]))
    lost = np.searchsorted(own, levels) / len(own)
    caught = 1 - np.searchsorted(other, levels) / len(other)
    return float(levels[np.abs(lost - caught).argmin()])
