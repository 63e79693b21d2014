"""The lazy exact search: which move is tried next, and what is expected of merged states' moves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elision import kernels
from elision.kernels.exact import MARGIN, OPTIMISM, Book, _inherit, _most_promising
from elision.kernels.search import DELETE, MERGE
from elision.learn.counts import CountsModel
from elision.learn.em import Pseudocounts
from elision.learn.search import Costs, exact_search, start
from elision.values.observations import Packer
from models import events

pytestmark = pytest.mark.numerical

PRIOR = Pseudocounts(0.5, np.full(3, 0.2), 0.3, 0.9)
COSTS = Costs(0.8, 0.3, 0.4)
NEVER = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]], bool)


def drawn(seed):
    rng = np.random.default_rng(seed)
    return [tuple(rng.integers(0, 3, rng.integers(1, 4)).tolist()) for _ in range(5)]


def searched(seed):
    narratives = drawn(seed)
    model = CountsModel.empty(3).with_prefix_tree(narratives, [1.0] * len(narratives))
    return start(model, "approx", PRIOR, COSTS, NEVER)


def book_of(rng, size):
    return Book(
        rng.normal(size=(2, size, size)),
        rng.integers(0, 3, (2, size, size)),
        np.zeros(1, np.int64),
        np.zeros((size * size, 3), np.int64),
    )


def moves_of(search):
    """Every move that can be made, with its local gain less what it violates."""
    model = search.model
    states = [k for k in np.flatnonzero(model.alive).tolist() if k > 1]
    for p in states:
        for q in states:
            if p < q and kernels.moves.merge_allowed(model, search.after, search.before, p, q):
                violated = kernels.search.merge_violations(model, search.rules, p, q)
                yield MERGE, p, q, search.merge_gain[p, q] - COSTS.constraint * violated
    size = len(model.alive)
    for s in range(size):
        for e in range(size):
            if s != e and kernels.moves.has(model.successors[s], e):
                yield DELETE, s, e, search.delete_gain[s, e]


@pytest.mark.parametrize("seed", range(12))
def test_the_move_that_is_expected_to_gain_most_is_tried_next(seed):
    search = searched(seed)
    book = book_of(np.random.default_rng(seed), len(search.model.alive))
    expected = {}
    for kind, first, second, gain in moves_of(search):
        known = book.tried[kind, first, second] == 2
        gain += book.surplus[kind, first, second] + (0.0 if known else MARGIN)
        if gain > -math.inf:
            expected[kind, first, second] = gain
    *move, gain = _most_promising(search, book, 2)
    assert gain == pytest.approx(max(expected.values()))
    assert expected[tuple(move)] == pytest.approx(gain)


def test_a_merged_state_inherits_the_larger_surplus():
    search = searched(3)
    size = len(search.model.alive)
    book = book_of(np.random.default_rng(0), size)
    before = book.surplus.copy()
    p, q = 3, 5
    search.model.alive[4] = False
    _inherit(search, book, p, q)
    for x in range(size):
        pair, other = (min(p, x), max(p, x)), (min(q, x), max(q, x))
        if x in (p, q, 4):
            assert book.surplus[MERGE][pair] == before[MERGE][pair]
            continue
        assert book.surplus[MERGE][pair] == max(before[MERGE][pair], before[MERGE][other])
        for mine, theirs in (((p, x), (q, x)), ((x, p), (x, q))):
            larger = max(before[DELETE][mine], before[DELETE][theirs])
            assert book.surplus[DELETE][mine] == larger
        assert book.surplus[MERGE][other] == before[MERGE][other]


@pytest.mark.parametrize("seed", range(4))
def test_gains_of_a_lazy_search_are_exact_and_end_where_nothing_promises_more(seed):
    narratives = drawn(seed)
    names = events(3)
    packed = Packer(names).pack([[names[o] for o in one] for one in narratives])
    model = CountsModel.empty(3).with_prefix_tree(narratives, [1.0] * len(narratives))
    found = exact_search(model, packed, PRIOR, COSTS, NEVER)
    gains = [move.gain for move in found.moves]
    assert all(gain > 0 for gain in gains)
    assert found.score_after - found.score_before == pytest.approx(sum(gains), abs=1e-8)
    best = exact_search(model, packed, PRIOR, COSTS, NEVER, exhaustive=True)
    assert found.score_before == pytest.approx(best.score_before)
    assert found.moves[0].gain <= best.moves[0].gain + 1e-9
    # With so much optimism and so few states, the first move is the best one.
    assert OPTIMISM >= 2
    assert found.moves[0].gain == pytest.approx(best.moves[0].gain)


def test_an_impossible_narrative_is_said_to_be_so_whatever_stood_there():
    """The search keeps one array of log-probabilities for all trials."""
    from elision.lattice import Lattice, Parameters

    chain = Parameters.from_dense(np.eye(3, k=1), np.array([[0, 0], [1.0, 0], [0, 0]]), np.zeros(3))
    packed = Packer(events(2)).pack([["e0"], ["e1"]])
    result = np.full(2, 7.0)
    kernels.passes.log_prob(
        Lattice(chain).model(packed),
        kernels.passes.Narratives(packed.symbol, packed.offset, packed.weight),
        0, 2, result,
    )  # fmt: skip
    assert result[packed.place].tolist() == [0.0, -math.inf]


def test_a_tree_grows_on_what_is_there_already():
    """States of a model keep all their counts, and new ones come behind them."""
    narratives = [(0, 1), (2,)]
    model = CountsModel.empty(3).with_prefix_tree(narratives, [1.5, 2.0])
    grown = model.with_prefix_tree([(0, 2), (0, 1)], [0.5, 3.0])
    old, new = model.states, grown.states
    assert new == old + 3  # a tree of its own: "0", behind it "2" and "1"
    np.testing.assert_array_equal(grown.emission[:old], model.emission)
    np.testing.assert_array_equal(grown.support[:old], model.support)
    np.testing.assert_array_equal(grown.transition[:old, :old], model.transition)
    np.testing.assert_array_equal(grown.edge[:old, :old], model.edge)
    np.testing.assert_allclose(
        grown.emission[old:], np.diag([3.5, 3.0, 0.5])[:, [0, 1, 2]][[0, 2, 1]]
    )
    assert grown.transition[0, old] == 3.5
    assert grown.transition[old].tolist()[old + 1 :] == [0.5, 3.0]
    assert grown.transition[old + 1 :, 1].tolist() == [0.5, 3.0]
    silent = CountsModel(
        model.edge, model.transition, model.emission, model.elision + 0.25, model.support
    ).with_prefix_tree([(1,)], [1.0])
    np.testing.assert_array_equal(silent.elision[:old], model.elision + 0.25)


@pytest.mark.parametrize("seed", range(6))
def test_what_stood_in_the_scratch_space_does_not_matter(seed):
    search = searched(seed)
    for merged in ((2, 4), (3, 5)):
        alive = search.model.alive
        if all(alive[k] for k in merged) and kernels.moves.merge_allowed(
            search.model, search.after, search.before, *merged
        ):
            kernels.search.make_merge(search, *merged)
    size = len(search.model.alive)
    for s in range(size):
        for e in range(size):
            if s == e or not kernels.moves.has(search.model.successors[s], e):
                continue
            for part in (search.way.alpha, search.way.beta, search.way.added, search.way.passed):
                part[:] = 7.0
            gain = kernels.moves.delete_gain(
                *(search.model, search.pieces, search.scoring, search.before, search.way, s, e)
            )
            assert gain == pytest.approx(search.delete_gain[s, e], rel=1e-9)
