"""The telling model's loss in pieces, which add up to the whole."""

from __future__ import annotations

import numpy as np
import pytest

from elision.learn import _telling_parts as parts
from elision.learn._beginnings import grow

numerical = pytest.mark.numerical


def problem(seed, size=5, number=40):
    """Beginnings of random narratives with random features."""
    rng = np.random.default_rng(seed)
    told = [tuple(rng.integers(0, size, rng.integers(0, 7)).tolist()) for _ in range(number)]
    folds = (np.arange(number) % 3).tolist()
    tree = grow(told, folds, size)
    own = rng.normal(size=(tree.nodes, 2, size + 1))
    shared = rng.normal(size=(3, 7, size + 1))
    row_of = rng.integers(0, 7, (tree.nodes, 3))
    point = rng.normal(size=5 + (2 * size + 1) * (size + 1))
    return tree, (0.8, own, shared, row_of), point


@numerical
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cells", [30, 101, 300])
def test_pieces_add_up_to_the_whole(monkeypatch, seed, cells):
    tree, features, point = problem(seed)
    (whole,) = parts.cut(tree, *features)
    assert whole.own is features[1]
    loss, slope = parts.loss_of(whole, point)
    monkeypatch.setattr(parts, "PIECE_CELLS", cells)
    pieces = parts.cut(tree, *features)
    assert len(pieces) == -(-tree.nodes * 6 // cells)
    assert sum(piece.weight.sum() for piece in pieces) == tree.weight.sum()
    in_pieces, its_slope = parts.added_up(pieces, point)
    np.testing.assert_allclose(in_pieces, loss, rtol=1e-12, atol=0)
    np.testing.assert_allclose(its_slope, slope, rtol=1e-10, atol=1e-10)


def test_deep_first_goes_through_each_tree():
    #      0        1
    #     2 4       3
    #    5          6
    assert parts._deep_first(np.array([0, 1, 0, 1, 0, 2, 3])).tolist() == [0, 2, 5, 4, 1, 3, 6]
