"""What stands between two told events when one is hidden: counts by the neighbours of a gap.

Completed traces are thinned again, as the log was. For each event it is counted how often it was
hidden in a gap with these neighbours: one on each side, then a second one behind, then a second one
before; and whether the same event is told before the gap, behind it, both or not at all. Chances
back off from the wider neighbourhoods to the narrower ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

STRENGTH = 15.0
"""Gaps that the narrower neighbourhood counts as, within a wider one."""

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
    """

    base: int
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    candidate_starts: NDArray[np.int64]
    candidates: NDArray[np.int64]
    before: NDArray[np.int64]

    def find(self, traces: Sequence[NDArray[np.int64]]) -> Found:
        """Say for each gap of each trace what may be missing there.

        Traces hold numbers of events, without start and end.
        """
        return Found(
            *kernels.repairing.gap_chances(
                *(self.keys, self.counts, *framed(traces, self.base)),
                *(self.candidate_starts, self.candidates, STRENGTH, LEAST_CHANCE, self.base),
            )
        )

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
) -> GapTables:
    """Thin completed copies of a log and count what was hidden where.

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
        starts, joined, hidden_starts, place, event = _thinned(copy, rates, rng, base)
        keys, counts, used = kernels.repairing.count_gaps(
            *(keys, counts, used, starts, joined, hidden_starts, place, event, base)
        )
        at = np.repeat(starts[:-1], np.diff(hidden_starts)) + 1 + place
        between.append(np.unique((joined[at] * base + joined[at + 1]) * base + event))
        apart = 1
        while len(together := (at[apart:] == at[:-apart]).nonzero()[0]):
            np.add.at(before, (event[together], event[together + apart]), 1)
            apart += 1
    pairs = _by_pair(np.concatenate(between), base)
    return GapTables(base, keys, counts, *pairs, before)


def _by_pair(between: NDArray[np.int64], base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    between = np.unique(between)
    sizes = np.bincount(between // base, minlength=base * base)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), between % base


def _thinned(
    traces: Sequence[NDArray[np.int64]],
    rates: NDArray[np.float64],
    rng: np.random.Generator,
    base: int,
) -> tuple[NDArray[np.int64], ...]:
    """What is left of each trace, with starts and ends, and what was hidden from it.

    Of a trace nothing may be left: such a case would not be in the log, and is passed over.

    Returns
    -------
    starts, joined
        As those of `framed`.
    hidden_starts, places, events
        The gaps and the events of each trace.
    """
    lengths, events = _lengths(traces), _events(traces)
    number = np.repeat(np.arange(len(lengths)), lengths)
    told = rng.random(len(events)) >= rates[events]
    left = np.bincount(number[told], minlength=len(lengths))
    hidden = ~told & (left > 0)[number]
    places = np.cumsum(told)[hidden] - (np.cumsum(left) - left)[number[hidden]]
    hidden_starts = _sums((lengths - left)[left > 0])
    starts, joined = _framed(events[told], left[left > 0], base)
    return starts, joined, hidden_starts, places, events[hidden]


def framed(
    traces: Sequence[NDArray[np.int64]], base: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Traces one after the other, each with two starts in front and two ends behind."""
    return _framed(_events(traces), _lengths(traces), base)


def _framed(
    events: NDArray[np.int64], lengths: NDArray[np.int64], base: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts = _sums(lengths + 4)
    joined = np.full(starts[-1], -1)
    for place in (0, 1):
        joined[starts[:-1] + place] = base - 2
        joined[starts[1:] - 1 - place] = base - 1
    joined[joined < 0] = events
    return starts, joined


def _lengths(traces: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.array([len(trace) for trace in traces], np.int64)


def _events(traces: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *traces]).astype(np.int64)


def _sums(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each part begins, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
