"""The likeliest of very many courses, found best first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

Node = TypeVar("Node")

MOST_EXPANDED = 1_000
"""Beginnings that are followed up before the search becomes a beam."""

BEAM = 50
"""Beginnings that the beam keeps at each length."""

LONGEST_BEAM = 1_000
"""Steps that the beam goes at most, where nothing else is said."""

MOST_WORK = 1 << 30
"""What all that is followed up may cost; see `Effort`."""

LEAST_COST = 10_000
"""What following up a beginning costs at least: so many multiply-adds take as long as the rest."""

FEWEST_EXPANDED = 20
"""Beginnings that are followed up however much each of them costs."""


Path: TypeAlias = "tuple[Path, int] | None"
"""What a course went through, the last first: beginnings share what they have in common."""


class Effort(NamedTuple):
    """How long to search: beginnings that are followed up, then steps and width of the beam."""

    expanded: int
    steps: int
    width: int

    @classmethod
    def of(cls, cost: int, searches: int = 1, longest: int = LONGEST_BEAM) -> Effort:
        """What a search may take where a beginning costs so many multiply-adds.

        ``searches`` is how many such searches share what may be spent, ``longest`` the steps that
        the longest course takes.

        Examples
        --------
        >>> Effort.of(30)
        Effort(expanded=1000, steps=1000, width=50)
        >>> Effort.of(4_000_000)
        Effort(expanded=134, steps=1000, width=1)
        """
        affordable = MOST_WORK // (max(cost, LEAST_COST) * searches)
        expanded = max(FEWEST_EXPANDED, min(MOST_EXPANDED, affordable // 2))
        width = max(1, min(BEAM, (affordable - expanded) // max(longest, 1)))
        return cls(min(MOST_EXPANDED, expanded), longest, width)


@dataclass(frozen=True, slots=True)
class Branch(Generic[Node]):
    """A beginning or, if ``done``, a whole course; ``probability`` is that of all its endings."""

    probability: float
    done: bool
    node: Node


Expand: TypeAlias = "Callable[[Node, float, int], Iterable[Branch[Node]]]"
"""Continues a beginning by one step, see `likeliest`."""


def likeliest(
    root: Node, expand: Expand[Node], top: int, effort: Effort | None = None
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
        the first number given; of more ways than the second, the most probable will do.
    top
        How many to find.
    effort
        How long to search.

    Returns
    -------
    tuple
        The courses found, and whether they are certainly the likeliest.
    """
    effort = effort or Effort(MOST_EXPANDED, LONGEST_BEAM, BEAM)
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
        if expanded == effort.expanded:
            left = [branch, *(one for _, _, one in sorted(heap, key=lambda entry: entry[:2]))]
            return _beam(found, left, expand, top, effort), False
        expanded += 1
        # Of those that go on from here, no more than are left to be followed up can matter.
        most = max(top, effort.width, effort.expanded - expanded)
        for child in expand(branch.node, best[0] if len(best) >= top else 0.0, most):
            heapq.heappush(heap, (-child.probability, next(number), child))
            if child.done:
                keep = heapq.heappush if len(best) < top else heapq.heappushpop
                keep(best, child.probability)
    return found, True


def _beam(
    found: list[Branch[Node]],
    left: list[Branch[Node]],
    expand: Expand[Node],
    top: int,
    effort: Effort,
) -> list[Branch[Node]]:
    """Complete the best beginnings step by step; what is found has its exact probability."""
    most = max(top, effort.width)
    for step in range(effort.steps + 1):
        left.sort(key=lambda branch: -branch.probability)
        done = [branch for branch in left if branch.done]
        found = sorted([*found, *done], key=lambda branch: -branch.probability)[:top]
        least = found[-1].probability if len(found) == top else 0.0
        going_on = [branch for branch in left if not branch.done and branch.probability > least]
        if not going_on or step == effort.steps:
            break
        kept = going_on[: effort.width]
        left = [child for branch in kept for child in expand(branch.node, least, most)]
    return found


def unrolled(path: Path) -> tuple[int, ...]:
    """What a course went through, in order.

    Examples
    --------
    >>> unrolled(((None, 3), 5))
    (3, 5)
    """
    found = []
    while path is not None:
        path, last = path
        found.append(last)
    return tuple(found[::-1])


def worthwhile(chances: NDArray[np.float64], least: float, most: int) -> list[int]:
    """Which chances are positive and not below ``least``; the best of them if there are too many.

    Examples
    --------
    >>> worthwhile(np.array([0.1, 0.4, 0.0, 0.3, 0.2]), 0.15, 2)
    [1, 3]
    """
    found = np.flatnonzero((chances > 0) & (chances >= least))
    if len(found) > most:
        found = found[np.sort(np.argsort(-chances[found], kind="stable")[:most])]
    return found.tolist()
