"""A simple way of repairing event logs: the two events on each side of a gap say what is missing.

Events of the training traces are hidden, each with the same chance, several times over. It is
counted what was hidden between which neighbours; the share of each context is smoothed by those of
the smaller contexts inside it. What was not recorded in the first place counts as if it had not
happened, so probabilities are too low where much is missing.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.evaluate.repairing import Insertions

    Numbers: TypeAlias = NDArray[np.int64]

HIDDEN = 0.2
"""Share of the events that are hidden."""

TIMES = 20
"""How often events of all training traces are hidden anew."""

COPIES = 3
"""One event may be missing so many times in one gap."""

SMOOTHING = 20.0
"""So many observations are the smaller contexts worth."""

LEAST = 0.02
"""What is less probable is not said."""

LEVELS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((),),
    ((1,), (2,)),
    ((1, 2),),
    ((0, 1, 2), (1, 2, 3)),
    ((0, 1, 2, 3),),
)
"""Contexts, each level to be smoothed by the one before; 0 to 3 are neighbours from left to right.

Where a level has several, their mean is taken.
"""


class Neighbours:
    """Repairs traces by the two events before and the two events behind each gap.

    Examples
    --------
    >>> peer = Neighbours()
    >>> peer.fit([["ring", "walk", "open"]] * 20)
    >>> [[(place, event) for place, event, p in peer.insertions([["ring", "open"]])[0] if p > 0.5]]
    [[(1, 'walk')]]
    """

    def __init__(self, *, hidden: float = HIDDEN, times: int = TIMES, seed: int = 0) -> None:
        self.hidden, self.times, self.seed = hidden, times, seed

    def fit(self, traces: Sequence[Sequence[str]]) -> None:
        """Count what is hidden between which neighbours, events of the traces being hidden."""
        self._events = sorted(set(chain.from_iterable(traces)))
        self._number = {event: number for number, event in enumerate(self._events)}
        rng = np.random.default_rng(self.seed)
        contexts, gaps, targets = [], [], []
        total = 0
        symbols, trace = self._flat(traces)
        for _ in range(self.times):
            gone = rng.random(len(symbols)) < self.hidden
            gap = np.cumsum(~gone)[gone] + trace[gone]
            found = self._contexts(symbols[~gone], trace[~gone], len(traces))
            contexts.append(found)
            gaps.append(gap + total)
            targets.append(symbols[gone])
            total += len(found)
        self._count(np.concatenate(contexts), np.concatenate(gaps), np.concatenate(targets))

    def _flat(self, traces: Sequence[Sequence[str]]) -> tuple[Numbers, Numbers]:
        """All events as numbers, those never seen as one more, and the trace of each."""
        unknown = len(self._events)
        symbols = [self._number.get(event, unknown) for one in traces for event in one]
        trace = np.repeat(np.arange(len(traces)), [len(one) for one in traces])
        return np.array(symbols, np.int64), trace

    def _contexts(self, symbols: Numbers, trace: Numbers, traces: int) -> Numbers:
        """Neighbours of all gaps of all traces, (gaps, 4), with numbers for both ends."""
        before, after = len(self._events) + 1, len(self._events) + 2
        length = np.bincount(trace, minlength=traces)
        first = np.cumsum(length + 4) - length - 4
        row = np.full(len(symbols) + 4 * traces, after, np.int64)
        row[first] = row[first + 1] = before
        row[np.arange(len(symbols)) + 4 * trace + 2] = symbols
        gap = np.arange(len(symbols) + traces)
        owner = np.repeat(np.arange(traces), length + 1)
        return np.asarray(row[(gap + 3 * owner)[:, None] + np.arange(4)])

    def _key(self, contexts: Numbers, of: Iterable[int]) -> Numbers:
        key = np.zeros(len(contexts), np.int64)
        for neighbour in of:
            key = key * (len(self._events) + 3) + contexts[:, neighbour]
        return key

    def _count(self, contexts: Numbers, gaps: Numbers, targets: Numbers) -> None:
        """Count, for each context of each level, its gaps and what was hidden in them."""
        order = np.lexsort((targets, gaps))
        gaps, targets = gaps[order], targets[order]
        fresh = np.ones(len(gaps), bool)
        fresh[1:] = (gaps[1:] != gaps[:-1]) | (targets[1:] != targets[:-1])
        run = np.arange(len(gaps)) - np.maximum.accumulate(np.where(fresh, np.arange(len(gaps)), 0))
        kept = run < COPIES
        gaps, column = gaps[kept], targets[kept] * COPIES + run[kept]
        self._tables = {}
        for of in chain.from_iterable(LEVELS):
            keys, row, seen = np.unique(
                self._key(contexts, of), return_inverse=True, return_counts=True
            )
            width = max(len(self._events), 1) * COPIES
            cells, times = np.unique(row[gaps] * width + column, return_counts=True)
            self._tables[of] = (keys, seen, cells // width, cells % width, times)

    def _shares(
        self, contexts: Numbers, of: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], Numbers]:
        """Of each context the times each event was hidden there, and how often it was seen."""
        keys, seen, row, column, times = self._tables[of]
        wanted = self._key(contexts, of)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = keys[at] == wanted
        counts = np.zeros((len(contexts), len(self._events) * COPIES))
        first = np.searchsorted(row, np.arange(len(keys) + 1))
        for k in np.flatnonzero(known).tolist():
            cells = slice(first[at[k]], first[at[k] + 1])
            counts[k, column[cells]] = times[cells]
        return counts, np.where(known, seen[at], 0)

    def _chances(self, contexts: Numbers) -> NDArray[np.float64]:
        """Probability of each event, and of each further copy of it, in each context."""
        value = np.zeros((len(contexts), len(self._events) * COPIES))
        for level in LEVELS:
            below, value = value, np.zeros_like(value)
            for of in level:
                counts, seen = self._shares(contexts, of)
                value += (counts + SMOOTHING * below) / (seen + SMOOTHING)[:, None]
            value /= len(level)
        return value

    def insertions(self, traces: Sequence[Sequence[str]]) -> list[Insertions]:
        """Say what may be missing where, with its probability, for each trace."""
        symbols, trace = self._flat(traces)
        contexts = self._contexts(symbols, trace, len(traces))
        distinct, which = np.unique(contexts, axis=0, return_inverse=True)
        chances = self._chances(distinct)
        said = [
            [(int(c) // COPIES, float(row[c])) for c in np.flatnonzero(row >= LEAST)]
            for row in chances
        ]
        found: list[Insertions] = []
        gap = 0
        for one in traces:
            found.append(
                [
                    (place, self._events[event], probability)
                    for place in range(len(one) + 1)
                    for event, probability in said[which[gap + place]]
                ]
            )
            gap += len(one) + 1
        return found
