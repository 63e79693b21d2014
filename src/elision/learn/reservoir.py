"""A sample of all narratives that ever came, in bounded memory; old ones may be forgotten."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

Told = tuple[str, ...]


class Kept(NamedTuple):
    """A narrative in the sample.

    ``rank`` is minus what decides how long it stays, ``position`` how many came before it.
    """

    rank: float
    position: int
    told: Told


class Reservoir:
    """A random sample of a stream.

    The narrative at position i draws u uniformly and has the number log2(u) - i / half_life. Kept
    are those with the smallest numbers, ``capacity`` at most, and only while the number is below
    -t / half_life at position t. So a narrative of age a is kept with a probability of 2^(-a /
    half_life), or a share of that which is the same for all: the sample is as if counts were
    discounted. Without a half-life all narratives are kept with the same probability.

    Examples
    --------
    >>> sample = Reservoir(capacity=2)
    >>> for position, (told, draw) in enumerate([("a", 0.3), ("b", 0.9), ("c", 0.1)]):
    ...     sample.add((told,), position, draw)
    >>> sample.narratives
    [('a',), ('c',)]
    """

    def __init__(self, capacity: int, half_life: float | None = None) -> None:
        self.capacity = capacity
        self.half_life = math.inf if half_life is None else half_life
        self._heap: list[Kept] = []

    def add(self, told: Told, position: int, draw: float) -> None:
        """Let a narrative come, and perhaps another go."""
        number = math.log2(max(draw, 1e-300)) - position / self.half_life
        kept = Kept(-number, position, told)
        if len(self._heap) < self.capacity:
            heapq.heappush(self._heap, kept)
        elif kept > self._heap[0]:
            heapq.heapreplace(self._heap, kept)
        while self._heap and -self._heap[0].rank > -position / self.half_life:
            heapq.heappop(self._heap)

    @property
    def kept(self) -> list[Kept]:
        """What is in the sample, in the order in which it came."""
        return sorted(self._heap, key=lambda one: one.position)

    @kept.setter
    def kept(self, kept: Iterable[Kept]) -> None:
        self._heap = list(kept)
        heapq.heapify(self._heap)

    @property
    def narratives(self) -> list[Told]:
        """The narratives of the sample, in the order in which they came."""
        return [one.told for one in self.kept]

    def __len__(self) -> int:
        return len(self._heap)
