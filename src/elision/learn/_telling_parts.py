"""The loss of a telling model, piece by piece: beginnings are cut by the data alone.

A piece is a stretch of the trees of beginnings, gone through from each beginning to those that are
longer. Above its first beginning stand those that lead there: nothing is known to follow them in
this piece, but what they remember, and what is learned of it, passes through them. So losses and
slopes of pieces add up to those of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision import _threads, kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.learn._beginnings import Beginnings

PIECE_CELLS = 1_000_000
"""Beginnings times events in a piece."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some beginnings, as the compiled loop wants them."""

    size: int
    fade: float
    parent: NDArray[np.int64]
    event: NDArray[np.int64]
    row_of: NDArray[np.int64]
    own: NDArray[np.float64]
    shared: NDArray[np.float64]
    following: NDArray[np.int64]
    first: NDArray[np.int64]
    weight: NDArray[np.float64]

    def taken_apart(self, point: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Weights, ``after`` and ``memory`` of a point or slope."""
        symbols = self.size + 1
        weights = self.own.shape[1] + len(self.shared)
        parts = np.split(point, [weights, weights + symbols**2])
        return [parts[0], parts[1].reshape(symbols, symbols), parts[2].reshape(-1, symbols)]


def loss_of(piece: Piece, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Minus the log-likelihood of what follows the beginnings of a piece, and its slope."""
    remembered = np.zeros((len(piece.parent), piece.size + 1))
    slope = np.zeros_like(point)
    loss = kernels.telling_learning.loss_and_slope(
        piece.parent, piece.event, piece.fade, piece.row_of, piece.own, piece.shared,
        piece.following, piece.first, piece.weight, *piece.taken_apart(point), remembered,
        np.empty_like(remembered), *piece.taken_apart(slope),
    )  # fmt: skip
    return loss, slope


def added_up(
    pieces: Sequence[Piece], point: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Losses and slopes of pieces, added up in their order."""
    found: dict[int, tuple[float, NDArray[np.float64]]] = {}

    def add(number: int) -> None:
        found[number] = loss_of(pieces[number], point)

    _threads.run(add, range(len(pieces)))
    loss, slope = found[0]
    for number in range(1, len(pieces)):
        more, other = found[number]
        loss += more
        slope = slope + other
    return loss, slope


def cut(
    tree: Beginnings,
    fade: float,
    own: NDArray[np.float64],
    shared: NDArray[np.float64],
    row_of: NDArray[np.int64],
) -> list[Piece]:
    """Cut beginnings with their features into pieces; few ones stay as they are."""
    number = -(-tree.nodes * (tree.size + 1) // PIECE_CELLS)
    if number <= 1:
        tables = (tree.following, tree.follows_first, tree.weight)
        return [Piece(tree.size, fade, tree.parent, tree.event, row_of, own, shared, *tables)]
    order = _deep_first(tree.parent)
    bounds = [round(k * tree.nodes / number) for k in range(number + 1)]
    pieces = []
    for first, last in pairwise(bounds):
        above = _above(tree.parent, int(order[first]))
        nodes = np.concatenate([np.array(above, np.int64), order[first:last]])
        pieces.append(_piece(tree, fade, own, shared, row_of, nodes, len(above)))
    return pieces


def _piece(
    tree: Beginnings,
    fade: float,
    own: NDArray[np.float64],
    shared: NDArray[np.float64],
    row_of: NDArray[np.int64],
    nodes: NDArray[np.int64],
    above: int,
) -> Piece:
    place = np.full(tree.nodes, -1)
    place[nodes] = np.arange(len(nodes))
    begin = tree.follows_first[nodes]
    counts = tree.follows_first[nodes + 1] - begin
    counts[:above] = 0
    first = np.concatenate([[0], np.cumsum(counts)])
    taken = np.repeat(begin - first[:-1], counts) + np.arange(first[-1])
    return Piece(
        tree.size,
        fade,
        place[tree.parent[nodes]],
        tree.event[nodes],
        row_of[nodes],
        own[nodes],
        shared,
        tree.following[taken],
        first,
        tree.weight[taken],
    )


def _above(parent: NDArray[np.int64], node: int) -> list[int]:
    """The way from the root down to a node, without it."""
    way: list[int] = []
    while parent[node] != node:
        node = int(parent[node])
        way.append(node)
    return way[::-1]


def _deep_first(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes, each with all that are below it right behind it; parents have lower numbers."""
    above = parent.tolist()
    below = [1] * len(above)
    for node in range(len(above) - 1, -1, -1):
        if above[node] != node:
            below[above[node]] += below[node]
    free = [0] * len(above)
    order = np.empty(len(above), np.int64)
    roots = 0
    for node, parent_ in enumerate(above):
        if parent_ == node:
            at, roots = roots, roots + below[node]
        else:
            at = free[parent_]
            free[parent_] += below[node]
        order[at] = node
        free[node] = at + 1
    return order
