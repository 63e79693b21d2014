"""What is counted for a telling model: log-probabilities and log-odds of each next event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels
from elision.kernels.plain_tellings import LONGEST_HISTORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.learn._beginnings import Beginnings


COMMON = 0.5
"""Pseudocount of each event by itself."""

PAIR = 2.0
AGO = 2.0
PLACE = 2.0
"""Pseudocounts that pairs, pairs at a distance and places share out as the events by themselves."""

SET = 0.3
"""Pseudocounts of naive Bayes, for told and for not told."""

NEARNESS = 0.5
"""What an event counts for the one after the next, against the next."""

WIDTH = 1.0
"""Distance over which the neighbouring places lose their say by a factor of e."""

PLACES = 50
"""Places that are counted apart; all later ones are the last of them."""


class Counts(NamedTuple):
    """Tables over the next event, the end last: (V + 1,) or (rows, V + 1).

    Attributes
    ----------
    common
        log P(e).
    pair
        log P(e | the last event), the start in the last row.
    place
        log P(e | how many events are told).
    absent, present
        Naive Bayes on the set told so far: the log-weight of e where nothing is told, and what each
        told event adds to it.
    ago
        log P(e | an event told before, the nearer the more) - log P(e).
    """

    common: NDArray[np.float64]
    pair: NDArray[np.float64]
    place: NDArray[np.float64]
    absent: NDArray[np.float64]
    present: NDArray[np.float64]
    ago: NDArray[np.float64]


def count(tree: Beginnings, weight: NDArray[np.float64]) -> Counts:
    """Count what follows the beginnings, each entry of ``following`` with this weight."""
    symbols = tree.size + 1
    total = np.bincount(tree.following, weight, symbols)
    common = (total + COMMON) / (total + COMMON).sum()

    def shared(counts: NDArray[np.float64], pseudocount: float) -> NDArray[np.float64]:
        given = counts.sum(axis=1, keepdims=True) + pseudocount
        return np.asarray(np.log((counts + pseudocount * common) / given))

    pair = _table(tree.event[tree.after], tree.following, weight, (symbols, symbols))
    at = np.minimum(tree.length[tree.after], PLACES - 1)
    places = np.arange(PLACES)
    near = np.exp(-np.abs(places[:, None] - places) / WIDTH)
    place = near @ _table(at, tree.following, weight, (PLACES, symbols))
    before = _sums(tree, weight, tree.told.astype(float))
    share = (before + SET) / (total[:, None] + 2 * SET)
    absent = np.log(total + SET) + np.log1p(-share).sum(axis=1)
    ago = _sums(tree, weight, _nearness(tree)).T
    return Counts(
        common=np.log(common),
        pair=shared(pair, PAIR),
        place=shared(place, PLACE),
        absent=absent - absent.max(),
        present=np.ascontiguousarray((np.log(share) - np.log1p(-share)).T),
        ago=shared(ago, AGO) - np.log(common),
    )


def _table(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    weight: NDArray[np.float64],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    flat = np.bincount(rows * shape[1] + columns, weight, shape[0] * shape[1])
    return np.asarray(flat.reshape(shape), np.float64)


def _sums(
    tree: Beginnings, weight: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each event, the sum of values over the beginnings that it follows, (V + 1, columns)."""
    result = np.zeros((tree.size + 1, values.shape[1]))
    kernels.telling_learning.add_rows(tree.following, tree.after, weight, values, result)
    return result


def _nearness(tree: Beginnings) -> NDArray[np.float64]:
    """How near each event was told last in each beginning, (nodes, events)."""
    result = np.zeros((tree.nodes, tree.size))
    rows = np.vstack([np.eye(tree.size), np.zeros(tree.size)])
    kernels.telling_learning.spread_down(tree.parent, tree.event, rows, NEARNESS, result)
    return result


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
