"""The telling model's loss in pieces, and counts over parts on disk: what adds up to the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import elision as el
from elision.errors import InputError
from elision.learn import _telling_parts as parts
from elision.learn._beginnings import grow
from elision.learn.sem import MOST_SAMPLED, SEMHMM
from elision.values.observations import Packer

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
    in_pieces, its_slope = parts.added_up([parts.loss_of(piece, point) for piece in pieces])
    np.testing.assert_allclose(in_pieces, loss, rtol=1e-12, atol=0)
    np.testing.assert_allclose(its_slope, slope, rtol=1e-10, atol=1e-10)


def test_deep_first_goes_through_each_tree():
    #      0        1
    #     2 4       3
    #    5          6
    assert parts._deep_first(np.array([0, 1, 0, 1, 0, 2, 3])).tolist() == [0, 2, 5, 4, 1, 3, 6]


@dataclass(frozen=True)
class Part:
    told: tuple[tuple[str, ...], ...]
    events: tuple[str, ...]

    def load(self):
        packed = Packer(self.events).pack(self.told)
        packed.symbol.flags.writeable = False  # as it is when it is mapped from a file
        return packed


@dataclass(frozen=True)
class OnDisk:
    told: tuple[tuple[str, ...], ...]
    events: tuple[str, ...]
    cuts: int

    @property
    def narratives(self):
        return len(self.told)

    @property
    def parts(self):
        return tuple(Part(self.told[k :: self.cuts], self.events) for k in range(self.cuts))

    def sample(self, number, seed=0):
        chosen = np.random.default_rng(seed).permutation(len(self.told))[:number]
        return [self.told[k] for k in sorted(chosen.tolist())]


def test_a_search_learns_from_a_sample_and_its_parameters_from_all_parts(monkeypatch):
    monkeypatch.setattr("elision.learn.sem.MOST_SAMPLED", 15)
    told = tuple(map(tuple, el.examples.doorbell_tellings()))
    events = tuple(sorted({event for one in told for event in one}))
    script = SEMHMM(score="approx").fit(OnDisk(told, events, 3)).script_
    assert (script.about["narratives"], script.about["sample"]) == (20, 15)
    of_sample = SEMHMM(score="approx").fit(OnDisk(told, events, 3).sample(15)).script_
    assert np.flatnonzero(script.transition.ravel()).tolist() == (
        np.flatnonzero(of_sample.transition.ravel()).tolist()
    )
    possible = [one for one in told if np.isfinite(of_sample.log_prob(one))]
    assert script.log_probs(possible).sum() > of_sample.log_probs(possible).sum() + 0.1
    again = SEMHMM(score="approx").fit(OnDisk(told, events, 2)).script_
    np.testing.assert_allclose(again.emission, script.emission, rtol=1e-9, atol=1e-12)
    with pytest.raises(InputError, match="a vocabulary of its own"):
        SEMHMM(events=["other"]).fit(OnDisk(told, events, 2))
    assert MOST_SAMPLED > 1000
