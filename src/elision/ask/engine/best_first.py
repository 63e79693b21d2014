"""The likeliest of very many courses, found best first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Node = TypeVar("Node")

MOST_EXPANDED = 1_000
"""Beginnings that are followed up before the search becomes a beam."""

BEAM = 50
"""Beginnings that the beam keeps at each length."""

LONGEST_BEAM = 1_000
"""Steps that the beam goes at most."""


@dataclass(frozen=True, slots=True)
class Branch(Generic[Node]):
    """A beginning or, if ``done``, a whole course; ``probability`` is that of all its endings."""

    probability: float
    done: bool
    node: Node


def likeliest(
    root: Node, expand: Callable[[Node, float], Iterable[Branch[Node]]], top: int
) -> tuple[list[Branch[Node]], bool]:
    """Find the ``top`` most probable whole courses, most probable first.

    No ending is more probable than its beginning. So beginnings are followed up in the order of
    their probability, and whole courses come off the heap in theirs: they are exactly the likeliest
    ones. After `MOST_EXPANDED` beginnings the most probable ones left go on as a beam.

    Parameters
    ----------
    root
        The empty beginning.
    expand
        Continues a beginning by one step in every way whose probability is positive and at least
        the number given.
    top
        How many to find.

    Returns
    -------
    tuple
        The courses found, and whether they are certainly the likeliest.
    """
    number = count()
    heap = [(-1.0, next(number), Branch(1.0, False, root))]
    best: list[float] = []  # a heap of the probabilities of the best whole courses seen so far
    found: list[Branch[Node]] = []
    expanded = 0
    while heap and len(found) < top:
        branch = heapq.heappop(heap)[2]
        if branch.done:
            found.append(branch)
            continue
        if expanded == MOST_EXPANDED:
            left = [branch, *(one for _, _, one in sorted(heap, key=lambda entry: entry[:2]))]
            return _beam(found, left, expand, top), False
        expanded += 1
        for child in expand(branch.node, best[0] if len(best) >= top else 0.0):
            heapq.heappush(heap, (-child.probability, next(number), child))
            if child.done:
                keep = heapq.heappush if len(best) < top else heapq.heappushpop
                keep(best, child.probability)
    return found, True


def _beam(
    found: list[Branch[Node]],
    left: list[Branch[Node]],
    expand: Callable[[Node, float], Iterable[Branch[Node]]],
    top: int,
) -> list[Branch[Node]]:
    """Complete the best beginnings step by step; what is found has its exact probability."""
    for _ in range(LONGEST_BEAM):
        left.sort(key=lambda branch: -branch.probability)
        done = [branch for branch in left if branch.done]
        found = sorted([*found, *done], key=lambda branch: -branch.probability)[:top]
        least = found[-1].probability if len(found) == top else 0.0
        going_on = [branch for branch in left if not branch.done and branch.probability > least]
        if not going_on:
            break
        left = [child for branch in going_on[:BEAM] for child in expand(branch.node, least)]
    return found
