"""Every beginning of every narrative, as a tree, and what follows each how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Beginnings of narratives: each is a node, below the one that is an event shorter.

    There is a tree for each fold, so that what follows can be counted without one of them. Roots
    come first, and parents before their children. Start and end both number ``size``.

    Attributes
    ----------
    size
        Number of events.
    parent, event, length, fold
        Of each node; a root is its own parent, and its event the start.
    told
        (nodes, events), whether an event is told in the beginning.
    follows_first
        What follows node k are the entries follows_first[k]..follows_first[k + 1] of the two below.
    following, weight
        An event or the end, and how often.
    after
        The node that each of these follows.
    """

    size: int
    parent: NDArray[np.int64]
    event: NDArray[np.int64]
    length: NDArray[np.int64]
    fold: NDArray[np.int64]
    told: NDArray[np.bool_]
    follows_first: NDArray[np.int64]
    following: NDArray[np.int64]
    weight: NDArray[np.float64]
    after: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """How many beginnings there are."""
        return len(self.parent)


def grow(
    narratives: Sequence[Sequence[int]],
    folds: Sequence[int],
    size: int,
    often: Sequence[float] | None = None,
) -> Beginnings:
    """Grow the trees of narratives of event numbers, each of which came so often.

    Examples
    --------
    >>> found = grow([(0, 1), (0,)], [0, 0], 2)
    >>> found.event.tolist(), found.following.tolist(), found.weight.tolist()
    ([2, 0, 1], [0, 1, 2, 2], [2.0, 1.0, 1.0, 1.0])
    """
    number = max(folds, default=0) + 1
    parent, event, length = list(range(number)), [size] * number, [0] * number
    fold = list(range(number))
    follows: list[dict[int, float]] = [{} for _ in range(number)]
    below: dict[tuple[int, int], int] = {}
    times = [1] * len(narratives) if often is None else often
    for narrative, root, weight in zip(narratives, folds, times, strict=True):
        node = root
        for e in narrative:
            follows[node][e] = follows[node].get(e, 0.0) + weight
            child = below.get((node, e))
            if child is None:
                child = below[node, e] = len(parent)
                parent.append(node)
                event.append(e)
                length.append(length[node] + 1)
                fold.append(root)
                follows.append({})
            node = child
        follows[node][size] = follows[node].get(size, 0.0) + weight
    told = np.zeros((len(parent), size), bool)
    for node in range(number, len(parent)):
        told[node] = told[parent[node]]
        told[node, event[node]] = True
    counts = np.array([len(one) for one in follows], np.int64)
    return Beginnings(
        size=size,
        parent=np.array(parent, np.int64),
        event=np.array(event, np.int64),
        length=np.array(length, np.int64),
        fold=np.array(fold, np.int64),
        told=told,
        follows_first=np.concatenate([[0], np.cumsum(counts)]),
        following=np.array([e for one in follows for e in one], np.int64),
        weight=np.array([w for one in follows for w in one.values()], float),
        after=np.repeat(np.arange(len(parent)), counts),
    )
