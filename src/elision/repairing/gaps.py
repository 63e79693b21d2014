"""What stands between two told events when one is hidden: counts by the neighbours of a gap.

Completed traces are thinned again, as the log was. For each event it is counted how often it was
hidden in a gap with these neighbours: one on each side, then a second one behind, then a second one
before; and whether the same event is told before the gap, behind it, both or not at all. Chances
back off from the wider neighbourhoods to the narrower ones. What the log says without being
completed (`elision.repairing.recorded`) errs in other ways: a mean of both is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels
from elision.repairing.recorded import Record, learn_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

STRENGTH = 15.0
"""Gaps that the narrower neighbourhood counts as, within a wider one."""

WEIGHT = 0.25
"""Of what the log itself says of a gap beside its completed copies: it is less precise."""

LEAST_CHANCE = 0.01
"""What is less probable is not said."""


class Found(NamedTuple):
    """What may be missing, one entry each: trace, gap, event, chance."""

    trace: NDArray[np.int64]
    gap: NDArray[np.int64]
    event: NDArray[np.int64]
    chance: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GapTables:
    """Counts of what was hidden in gaps.

    Attributes
    ----------
    base
        Number of event types, and two more for start and end.
    keys, counts
        Hash table of all counts.
    candidate_starts, candidates
        For each pair of neighbours the events that were hidden between them.
    before
        (events, events) how often one was hidden before another in the same gap.
    record
        What the log itself says, if it is not complete: of both chances a weighted mean is taken.
    """

    base: int
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    candidate_starts: NDArray[np.int64]
    candidates: NDArray[np.int64]
    before: NDArray[np.int64]
    record: Record | None = None

    def find(self, traces: Sequence[NDArray[np.int64]]) -> Found:
        """Say for each gap of each trace what may be missing there.

        Traces hold numbers of events, without start and end.
        """
        starts, joined = _joined(traces, self.base)
        least = LEAST_CHANCE if self.record is None else 0.0
        found = Found(
            *kernels.repairing.gap_chances(
                *(self.keys, self.counts, starts, joined),
                *(self.candidate_starts, self.candidates, STRENGTH, least, self.base),
            )
        )
        if self.record is None:
            return found
        recorded = self.record.chances(starts, joined, *found[:3])
        chance = found.chance + WEIGHT * (recorded - found.chance)
        said = chance >= LEAST_CHANCE
        return Found(found.trace[said], found.gap[said], found.event[said], chance[said])

    def in_order(self, events: Sequence[int]) -> list[int]:
        """Return the numbers 0, 1, ... of events hidden in one gap, in the order they came in."""
        left, done = list(range(len(events))), []
        while left:
            lead = [sum(self._lead(events[a], events[b]) for b in left) for a in left]
            done.append(left.pop(int(np.argmax(lead))))
        return done

    def _lead(self, event: int, other: int) -> float:
        """From -1 to 1, how surely one comes before another; frequent pairs outvote no others."""
        ahead, behind = int(self.before[event, other]), int(self.before[other, event])
        return (ahead - behind) / (ahead + behind + 1)


def learn_gaps(
    copies: Iterable[Sequence[NDArray[np.int64]]],
    events: int,
    rates: NDArray[np.float64],
    rng: np.random.Generator,
    told: Sequence[NDArray[np.int64]] = (),
) -> GapTables:
    """Thin completed copies of a log and count what was hidden where.

    Parameters
    ----------
    told
        The log itself, if it is known and not complete.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> log = [np.array([0, 1, 2])] * 500
    >>> tables = learn_gaps([log], 3, np.full(3, 0.2), rng)
    >>> found = tables.find([np.array([0, 2])])
    >>> found.gap.tolist(), found.event.tolist(), found.chance.round(2).tolist()
    ([1], [1], [0.99])
    """
    base = events + 2
    keys, counts, used = np.zeros(1024, np.uint64), np.zeros(1024, np.int64), 0
    before = np.zeros((events, events), np.int64)
    between: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for copy in copies:
        thinned, places, hidden = _thinned(copy, rates, rng)
        starts, joined = _joined(thinned, base)
        sizes = np.array([len(one) for one in places], np.int64)
        hidden_starts = np.concatenate([[0], np.cumsum(sizes)])
        nothing = np.zeros(0, np.int64)  # also where no trace is left
        place, event = np.concatenate([nothing, *places]), np.concatenate([nothing, *hidden])
        keys, counts, used = kernels.repairing.count_gaps(
            *(keys, counts, used, starts, joined, hidden_starts),
            *(place, event, base),
        )
        at = np.repeat(starts[:-1], np.diff(hidden_starts)) + 1 + place
        between.append(np.unique((joined[at] * base + joined[at + 1]) * base + event))
        apart = 1
        while len(together := (at[apart:] == at[:-apart]).nonzero()[0]):
            np.add.at(before, (event[together], event[together + apart]), 1)
            apart += 1
    record = None
    if told:
        starts, joined = _joined(told, base)
        record = learn_record(starts, joined, base, rates)
        between.append(_bridged(joined, base, rates))
    pairs = _by_pair(np.concatenate(between), base)
    return GapTables(base, keys, counts, *pairs, before, record)


def _bridged(joined: NDArray[np.int64], base: int, rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """Neighbours of each told event that may be left out, and the event."""
    inside = joined < base - 2
    inside[inside] = rates[joined[inside]] > 0
    at = np.flatnonzero(inside)
    return np.unique((joined[at - 1] * base + joined[at + 1]) * base + joined[at])


def _by_pair(between: NDArray[np.int64], base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    between = np.unique(between)
    sizes = np.bincount(between // base, minlength=base * base)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), between % base


def _thinned(
    traces: Sequence[NDArray[np.int64]], rates: NDArray[np.float64], rng: np.random.Generator
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """What is left of each trace, and what was hidden from it: the gaps and the events.

    Of a trace nothing may be left: such a case would not be in the log, and is passed over.
    """
    left, places, hidden = [], [], []
    for trace in traces:
        gone = rng.random(len(trace)) < rates[trace]
        if not gone.all():
            left.append(trace[~gone])
            places.append(np.cumsum(~gone)[gone].astype(np.int64))
            hidden.append(trace[gone])
    return left, places, hidden


def _joined(
    traces: Sequence[NDArray[np.int64]], base: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Traces one after the other, each with two starts in front and two ends behind."""
    front, behind = np.full(2, base - 2), np.full(2, base - 1)
    lengths = [len(trace) + 4 for trace in traces]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    parts = [part for trace in traces for part in (front, trace, behind)]
    return starts, np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
