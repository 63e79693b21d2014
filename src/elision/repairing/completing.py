"""Completed copies of a log: what was left out, sampled.

Done events form a chain in which each depends on its last few predecessors; each is left out of the
log with the chance of its kind. The chain is not known, nor what was left out: completions are
sampled trace after trace given the counts of all other completed traces, until both agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SETTLING = 30
"""Sweeps before the first copy."""

BETWEEN = 4
"""Sweeps from one copy to the next."""

MOST_LEFT_OUT = 0.95

_NEW_KEYS = 2 * (kernels.repairing.ORDER + 1)
"""Of an event, behind 0 to ORDER predecessors: itself, and the context."""

Table: TypeAlias = "tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]"


class Completion:
    """Traces with samples of what was left out of them.

    Parameters
    ----------
    traces
        Told events of each trace, as numbers below ``events``.
    events
        Number of event types.
    rates
        For each type how often it is left out.
    """

    def __init__(
        self,
        traces: Sequence[Sequence[int] | NDArray[np.int64]],
        events: int,
        rates: NDArray[np.float64],
        *,
        random_state: int = 0,
    ) -> None:
        self._start, self._end = events, events + 1
        self._size, self._base = events + 2, events + 3
        self._rates = np.append(rates, [0.0, 0.0])
        self._rng = np.random.default_rng([random_state, 12])
        rooms = [2 * len(trace) + 14 for trace in traces]
        self._starts = np.concatenate([[0], np.cumsum(rooms)]).astype(np.int64)
        self._traces = np.zeros(self._starts[-1], np.int64)
        self._told = np.zeros(self._starts[-1], bool)
        self._lengths = np.array([len(trace) + 2 for trace in traces], np.int64)
        for start, trace in zip(self._starts.tolist(), traces, strict=False):
            self._traces[start : start + len(trace) + 2] = [self._start, *trace, self._end]
            self._told[start : start + len(trace) + 2] = True
        self._left_out = float((self._pairs().sum(axis=0) * self._odds()).sum())
        self._recorded = float((self._lengths - 1).sum())
        self._scale = 1.0
        self._table = self._counted()

    def copies(self, number: int) -> Iterator[list[NDArray[np.int64]]]:
        """Yield completed copies of the traces."""
        for sweeps in [SETTLING] + [BETWEEN] * (number - 1):
            for turn in range(sweeps):
                self._sweep(balance=sweeps == SETTLING and turn > BETWEEN)
            yield [
                self._traces[start + 1 : start + length - 1].copy()
                for start, length in zip(
                    self._starts.tolist(), self._lengths.tolist(), strict=False
                )
            ]

    def _odds(self) -> NDArray[np.float64]:
        """How many of each event are left out for each that is told."""
        return np.asarray(self._rates / (1 - self._rates))

    def _pairs(self) -> NDArray[np.float64]:
        return np.asarray(
            kernels.repairing.pairs(self._starts, self._traces, self._lengths, self._size)
        )

    def _counted(self) -> Table:
        """Count everything anew, with room for what two sweeps can add."""
        expected = min(self._lengths.sum() + self._left_out, self._starts[-1])  # as room is given
        likely = 4 * _NEW_KEYS * int(expected)
        size = 1 << max(int(np.ceil(np.log2(max(likely, 2 * self._most_keys())))), 10)
        table = kernels.repairing.count_all(
            size, self._starts, self._traces, self._lengths, self._base
        )
        return cast("Table", table)

    def _most_keys(self) -> int:
        """Keys of traces that fill all their room, which no sweep can exceed."""
        return _NEW_KEYS * int(self._starts[-1])

    def _sweep(self, *, balance: bool) -> None:
        keys = self._table[0]
        if np.count_nonzero(keys) + self._most_keys() > 0.8 * len(keys):
            self._table = self._counted()
        direct = self._pairs()
        if balance and self._left_out > 0:  # as much is put in as the rates say was left out
            put_in = max(direct.sum() - self._recorded, 1.0)
            self._scale = float(np.clip(self._scale * (self._left_out / put_in) ** 0.3, 0.5, 4.0))
        silent = np.minimum(self._rates * self._scale, MOST_LEFT_OUT)
        transition = _smoothed(direct, self._start, self._end)
        passage = kernels.repairing.passages(transition, silent)
        kernels.repairing.sweep(
            self._rng,
            *(self._starts, self._traces, self._told, self._lengths, *self._table),
            *(transition, silent, passage, self._base),
        )


def _smoothed(direct: NDArray[np.float64], start: int, end: int) -> NDArray[np.float64]:
    """Chances of a chain of first order, backing off to how often events are done."""
    different = (direct > 0).sum(axis=1, keepdims=True) + 0.5
    common = direct.sum(axis=0) + 0.1
    common[start] = 0
    transition = (direct + different * common / common.sum()) / (
        direct.sum(axis=1, keepdims=True) + different
    )
    transition[end] = 0
    transition[:, start] = 0
    return np.asarray(transition, np.float64)
