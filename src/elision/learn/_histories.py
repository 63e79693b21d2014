"""The last few events together: which histories are worth keeping, and what follows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.kernels.plain_tellings import LONGEST_HISTORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.learn._beginnings import Beginnings

LEAST_TOLD = 5.0
"""Histories that occur less often are not kept."""

MOST_CELLS = 4_000_000
"""Histories times events that are kept at most: the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Histories:
    """A suffix tree of the histories that are kept.

    Attributes
    ----------
    keys
        Sorted edges, node * (V + 1) + event; edge k leads to node k + 1. The root is 0.
    parent
        Of each node but the root: the history without its earliest event.
    singles
        How many nodes are histories of one event: the first ones.
    of_beginning
        The longest history that each beginning ends in.
    """

    keys: NDArray[np.int64]
    parent: NDArray[np.int64]
    singles: int
    of_beginning: NDArray[np.int64]


def find_histories(tree: Beginnings) -> Histories:
    """Find the histories that occur often enough."""
    symbols = tree.size + 1
    weight = np.bincount(tree.after, tree.weight, tree.nodes)
    node = np.zeros(tree.nodes, np.int64)
    at, alive = np.arange(tree.nodes), np.ones(tree.nodes, bool)
    keys: list[NDArray[np.int64]] = []
    parents: list[NDArray[np.int64]] = []
    number, singles = 0, 0
    cells = 0
    for length in range(1, LONGEST_HISTORY + 1):
        key = node * symbols + tree.event[at]
        found, place = np.unique(key[alive], return_inverse=True)
        often = np.bincount(place, weight[alive], len(found)) >= (0 if length == 1 else LEAST_TOLD)
        cells += int(often.sum()) * symbols if length > 1 else 0
        if cells > MOST_CELLS or not often.any():
            break
        new = np.cumsum(often) + number
        keys.append(found[often])
        parents.append(found[often] // symbols)
        kept = np.zeros(tree.nodes, bool)
        kept[np.flatnonzero(alive)] = often[place]
        node[kept] = new[place[often[place]]]
        number += int(often.sum())
        singles = singles or number
        alive = kept & (tree.event[at] != tree.size)  # nothing comes before the start
        at = tree.parent[at]
    return Histories(np.concatenate(keys), np.concatenate(parents), singles, node)


def history_rows(
    tree: Beginnings,
    histories: Histories,
    weight: NDArray[np.float64],
    pair: NDArray[np.float64],
) -> NDArray[np.float64]:
    """By how much each kept history changes the log-probability of what follows.

    P(e | history) = (count + distinct * P(e | the history one event shorter)) / (total + distinct),
    where ``distinct`` is how many different events follow (Witten and Bell), from ``pair`` on.

    Returns
    -------
    (histories of two events or more, V + 1): log P(e | history) - log P(e | the last event).
    """
    symbols = tree.size + 1
    nodes = len(histories.keys)
    counts = np.zeros((nodes + 1, symbols))
    np.add.at(counts, (histories.of_beginning[tree.after], tree.following), weight)
    for node in range(nodes, histories.singles, -1):
        counts[histories.parent[node - 1]] += counts[node]
    chance = np.zeros((nodes + 1, symbols))
    chance[1 : histories.singles + 1] = np.exp(pair[histories.keys[: histories.singles]])
    last = np.arange(nodes + 1)
    for node in range(histories.singles + 1, nodes + 1):
        shorter = histories.parent[node - 1]
        distinct = max(1, np.count_nonzero(counts[node]))
        chance[node] = counts[node] + distinct * chance[shorter]
        chance[node] /= chance[node].sum()
        last[node] = last[shorter]
    longer = slice(histories.singles + 1, nodes + 1)
    return np.asarray(np.log(chance[longer]) - np.log(chance[last[longer]]))
