"""What is missing from a log by what it recorded elsewhere, without completing anything.

An event that is left out with chance e stands in the log (1 - e) / e times as often as it is
missing, and what else was left out of its case does not depend on that. So whatever is known of a
gap, its neighbours or the whole trace around it: for each event of the log that would leave such a
gap if it were taken out, e / (1 - e) are missing from gaps of this kind. How many of these gaps
there are, the log says itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRENGTH = 6.0
"""Gaps, and events that would leave one, that the narrower neighbourhood counts as."""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """Counts of gaps, and of events that would leave them.

    Attributes
    ----------
    base
        Number of event types, and two more for start and end.
    odds
        Of each event how many are left out for each one that is told.
    keys, counts
        Hash table of counts by neighbours.
    whole_keys, whole_counts
        Hash table of counts by all that stands before a gap and behind it.
    nodes, numbers, used
        Hash table of the numbers of what stands before or behind, and how many there are.
    """

    base: int
    odds: NDArray[np.float64]
    keys: NDArray[np.uint64]
    counts: NDArray[np.int64]
    whole_keys: NDArray[np.uint64]
    whole_counts: NDArray[np.int64]
    nodes: NDArray[np.uint64]
    numbers: NDArray[np.int64]
    used: int

    def chances(
        self,
        starts: NDArray[np.int64],
        joined: NDArray[np.int64],
        number: NDArray[np.int64],
        gap: NDArray[np.int64],
        event: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Say how probably each event is missing from each gap of each trace, in their order."""
        return np.asarray(
            kernels.recorded.left_out_chances(
                *(self.keys, self.counts, self.whole_keys, self.whole_counts, self.used),
                *(starts, joined, *self._around(starts, joined), number, gap, event),
                *(self.odds, STRENGTH, self.base),
            )
        )

    def told_chances(
        self, starts: NDArray[np.int64], joined: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Say how probable each told event would be, were it taken out."""
        return np.asarray(
            kernels.recorded.told_chances(
                *(self.keys, self.counts, self.whole_keys, self.whole_counts, self.used),
                *(starts, joined, *self._around(starts, joined)),
                *(self.odds, STRENGTH, self.base),
            )
        )

    def _around(
        self, starts: NDArray[np.int64], joined: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of what stands before and behind each gap."""
        before, behind = kernels.recorded.around(
            self.nodes, self.numbers, self.used, starts, joined, self.base, False
        )[3:]
        return before, behind


def learn_record(
    starts: NDArray[np.int64], joined: NDArray[np.int64], base: int, rates: NDArray[np.float64]
) -> Record:
    """Count the gaps of a log, and those that each of its events would leave.

    Parameters
    ----------
    starts, joined
        Traces one after the other, each with two starts in front and two ends behind.
    rates
        For each type of event how often it is left out.
    """
    table = np.zeros(1024, np.uint64), np.zeros(1024, np.int64)
    nothing, none = np.zeros(len(starts), np.int64), np.zeros(0, np.int64)
    keys, counts, used = kernels.repairing.count_gaps(
        *(*table, 0, starts, joined), *(nothing, none, none, base)
    )
    keys, counts, _ = kernels.recorded.count_left_out(keys, counts, used, starts, joined, base)
    table = np.zeros(1024, np.uint64), np.zeros(1024, np.int64)
    nodes, numbers, used, before, behind = kernels.recorded.around(
        *table, 1, starts, joined, base, True
    )
    whole_keys, whole_counts = kernels.recorded.count_whole(
        starts, joined, before, behind, used, base
    )
    return Record(
        *(base, rates / (1 - rates), keys, counts, whole_keys, whole_counts),
        *(nodes, numbers, used),
    )
