"""The compiled search against brute force, move by move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from elision import kernels
from elision.learn.counts import CountsModel
from elision.learn.em import Prior, Pseudocounts, pseudocounts, run_em
from elision.learn.search import Costs, _matrix, _words, exact_search, local_search, start
from elision.learn.structure import learn_constraints
from elision.values.observations import Packer
from models import EXAMPLES, events

pytestmark = pytest.mark.numerical

CASES = min(EXAMPLES, 200)
COSTS = Costs(0.8, 0.3, 0.4)
TWIN_SCORE = {
    "exact": "log_likelihood",
    "approx": "expected_complete",
    "marginal": "marginal",
}


@st.composite
def problems(draw, most_narratives=4, most_events=3, em=st.booleans()):
    """A counts model after a batch, in both notations, with priors and constraints."""
    count = draw(st.integers(1, most_events))
    narrative = st.lists(st.integers(0, count - 1), max_size=4).map(tuple)
    narratives = draw(st.lists(narrative, min_size=1, max_size=most_narratives))
    added = [draw(st.sampled_from([0.1, 0.5, 1.0, 2.0])) for _ in range(4)]
    prior = Pseudocounts(added[0], np.full(count, added[1]), added[2], added[3])
    rules = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))))
    never = np.zeros((count, count), bool)
    for y, x in rules:
        never[y, x] = x != y
    elisions = draw(st.booleans())
    twin = naive.prefix_tree(narratives, naive.empty_model(count))
    twin_prior = naive.Pseudocounts(added[0], added[2], added[3], np.full(count, added[1]))
    if draw(em):  # counts as EM leaves them: no longer whole numbers, silence included
        twin = naive.recount(twin, narratives, twin_prior, elisions)
    return twin, narratives, prior, twin_prior, never, elisions


def counts_model(twin):
    size, count = twin.emission_counts.shape
    model = CountsModel.empty(count)
    edge = np.zeros((size, size), bool)
    transition = np.zeros((size, size))
    for (j, k), number in twin.edge_counts.items():
        edge[j, k] = True
        transition[j, k] = number
    support = np.zeros((size, count), bool)
    for k, told in enumerate(twin.support):
        support[k, list(told)] = True
    assert model.states == 2
    return CountsModel(
        edge, transition, twin.emission_counts.copy(), twin.elision_counts.copy(), support
    )


def settings_of(score, twin_prior, never, elisions):
    constraints = frozenset((int(x), int(y)) for y, x in np.argwhere(never))
    return naive.Settings(
        TWIN_SCORE[score],
        twin_prior,
        kappa_q=COSTS.state,
        kappa_t=COSTS.edge,
        kappa_c=COSTS.constraint,
        constraints=constraints,
        elisions=elisions,
    )


def pack(narratives, count):
    names = events(count)
    return Packer(names).pack([[names[o] for o in one] for one in narratives])


def trial_of(search, packed):
    from elision.kernels.passes import Narratives

    return kernels.exact.Trial(
        kernels.moves.Model._make(part.copy() for part in search.model),
        kernels.moves.Way._make(part.copy() for part in search.way),
        Narratives(packed.symbol, packed.offset, packed.weight),
        np.empty(len(packed)),
    )


def gain_of(search, trial, score, move):
    """What our search thinks of one move, the constraints included."""
    kind, first, second = move
    number = kernels.search.MERGE if kind == "merge" else kernels.search.DELETE
    if score == "exact":
        gain = kernels.exact.try_move(search, trial, number, first, second)
        gain -= kernels.exact.exact_score(search, trial)
    else:
        gain = (search.merge_gain if kind == "merge" else search.delete_gain)[first, second]
    if kind == "merge":
        gain -= COSTS.constraint * kernels.search.merge_violations(
            search.model, search.rules, first, second
        )
    return gain


@settings(max_examples=CASES)
@given(problems())
@pytest.mark.parametrize("score", ["exact", "approx", "marginal"])
def test_every_gain_equals_full_recomputation(score, problem):
    twin, narratives, prior, twin_prior, never, elisions = problem
    rules = settings_of(score, twin_prior, never, elisions)
    search = start(counts_model(twin), score, prior, COSTS, never, elisions=elisions)
    trial = trial_of(search, pack(narratives, never.shape[0]))
    before = naive.score(twin, narratives, rules)
    for move, result in naive.moves(twin, rules):
        gain = naive.score(result, narratives, rules) - before
        np.testing.assert_allclose(gain_of(search, trial, score, move), gain, rtol=1e-9, atol=1e-9)


@settings(max_examples=CASES)
@given(problems())
@pytest.mark.parametrize("score", ["exact", "approx", "marginal"])
def test_the_search_makes_the_moves_of_brute_force(score, problem):
    twin, narratives, prior, twin_prior, never, elisions = problem
    rules = settings_of(score, twin_prior, never, elisions)
    most = 6 if score == "exact" else None
    expected, history = naive.search(twin, narratives, rules, max_moves=most)
    model = counts_model(twin)
    if score == "exact":
        packed = pack(narratives, never.shape[0])
        found = exact_search(model, packed, prior, COSTS, never, elisions=elisions, exhaustive=True)
    else:
        found = local_search(model, score, prior, COSTS, never, elisions=elisions)
    made = [(move.kind, move.first, move.second) for move in found.moves]
    if most is None:
        np.testing.assert_allclose(
            found.score_after, naive.score(expected, narratives, rules), rtol=1e-9
        )
        assert len(made) == len(history)
    assert made[: len(history)] == [move for move, _ in history]
    np.testing.assert_allclose(
        found.score_before, naive.score(twin, narratives, rules), rtol=1e-9, atol=1e-12
    )
    gained = sum(move.gain for move in found.moves)
    np.testing.assert_allclose(found.score_after - found.score_before, gained, rtol=1e-7, atol=1e-8)
    assert all(move.gain > 0 for move in found.moves)


@settings(max_examples=CASES)
@given(problems(), st.data())
def test_everything_kept_up_to_date_equals_recomputation(problem, data):
    """Any moves, not only good ones; then reachability, constraints, pieces and gains."""
    twin, _, prior, twin_prior, never, elisions = problem
    rules = settings_of("approx", twin_prior, never, elisions)
    search = start(counts_model(twin), "approx", prior, COSTS, never, elisions=elisions)
    for _ in range(data.draw(st.integers(0, 4))):
        possible = naive.moves(twin, rules)
        if not possible:
            break
        (kind, first, second), twin = data.draw(st.sampled_from(possible))
        make = kernels.search.make_merge if kind == "merge" else kernels.search.make_deletion
        make(search, first, second)
    fresh = start(counts_model(twin), "approx", prior, COSTS, never, elisions=elisions)
    alive = sorted(twin.states)
    reach = naive.reachable(twin)
    after = _matrix(search.after, len(search.model.alive))
    before = _matrix(search.before, len(search.model.alive))
    for p in alive:
        for q in alive:
            assert after[p, q] == before[q, p] == ((p, q) in reach)
            if 1 < p < q:
                allowed = kernels.moves.merge_allowed(
                    search.model, search.after, search.before, p, q
                )
                assert allowed == naive.merge_allowed(twin, p, q)
                np.testing.assert_allclose(
                    search.merge_gain[p, q], fresh.merge_gain[p, q], rtol=1e-9, atol=1e-9
                )
            if p != q and (p, q) in twin.edge_counts:
                np.testing.assert_allclose(
                    search.delete_gain[p, q], fresh.delete_gain[p, q], rtol=1e-9, atol=1e-9
                )
    violated = naive.violated(twin, rules.constraints)
    assert kernels.search.violations(search.rules) == len(violated)
    np.testing.assert_allclose(
        search.model.transition[np.ix_(alive, alive)],
        counts_model(twin).transition[np.ix_(alive, alive)],
        rtol=1e-9,
        atol=1e-12,
    )
    np.testing.assert_allclose(search.model.silent[alive], twin.elision_counts[alive], atol=1e-12)


@settings(max_examples=CASES)
@given(problems(em=st.just(value=True)))
def test_moves_conserve_counts(problem):
    """After EM flow in equals flow out; merging and deleting keep it so, and N in is N out."""
    twin, narratives, prior, twin_prior, never, _ = problem
    rules = settings_of("approx", twin_prior, never, elisions=True)
    for (kind, first, second), _result in naive.moves(twin, rules):
        search = start(counts_model(twin), "approx", prior, COSTS, never)
        model = search.model
        carried = model.transition[first, second]
        outside = [k for k in sorted(twin.states) if k != first]
        left = model.transition[first, outside].sum()
        (kernels.search.make_merge if kind == "merge" else kernels.search.make_deletion)(
            search, first, second
        )
        edges = model.transition * _matrix(model.successors, len(model.alive))
        into, out = edges.sum(axis=0), edges.sum(axis=1)
        alive = np.flatnonzero(model.alive)
        inside = alive[alive > 1]
        np.testing.assert_allclose(into[inside], out[inside], rtol=1e-9)
        np.testing.assert_allclose(out[alive], model.leaving[alive], rtol=1e-9)
        np.testing.assert_allclose([out[0], into[1]], len(narratives), rtol=1e-9)
        entered = model.told + model.silent
        np.testing.assert_allclose(entered[inside], into[inside], rtol=1e-9)
        if kind == "delete":
            assert edges[first, second] == 0
            np.testing.assert_allclose(edges[first, outside].sum(), left, rtol=1e-9)
            assert carried >= 0


@settings(max_examples=CASES)
@given(problems(), st.floats(0.05, 0.6))
def test_constraints_agree_with_the_twin(problem, error_rate):
    _, narratives, _, _, never, _ = problem
    count = never.shape[0]
    often = narratives * 15
    expected = naive.learn_constraints(often, error_rate)
    found = learn_constraints(pack(often, count), count, error_rate=error_rate)
    assert {(int(x), int(y)) for y, x in np.argwhere(found)} == expected


@given(problems())
def test_a_prefix_tree_equals_the_twins(problem):
    _, narratives, _, _, never, _ = problem
    count = never.shape[0]
    twin = naive.prefix_tree(narratives, naive.empty_model(count))
    ours = CountsModel.empty(count).with_prefix_tree(narratives, [1.0] * len(narratives))
    theirs = counts_model(twin)
    for name in ("edge", "transition", "emission", "elision", "support"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    twin = naive.prefix_tree(narratives[::-1], twin)
    ours = ours.with_prefix_tree(narratives[::-1], [1.0] * len(narratives))
    np.testing.assert_array_equal(ours.transition, counts_model(twin).transition)


@given(problems())
def test_parameters_and_recounting_agree_with_the_twin(problem):
    twin, narratives, prior, twin_prior, never, elisions = problem
    model = counts_model(twin)
    found = model.parameters(prior, elisions=elisions)
    transition, emission, elision, order = naive.parameters(twin, twin_prior, elisions)
    assume(len(order) > 2)
    assert model.topological_order().tolist() == order
    np.testing.assert_allclose(found.dense_transition(), transition, rtol=1e-12)
    np.testing.assert_allclose(found.emission, emission, rtol=1e-12)
    np.testing.assert_allclose(found.elision, elision, rtol=1e-12)
    em = run_em(
        found,
        pack(narratives, never.shape[0]),
        prior,
        elisions=elisions,
        stop=lambda history, narratives: True,
    )
    again = model.recounted(model.topological_order(), found, em.counts)
    expected = counts_model(naive.recount(twin, narratives, twin_prior, elisions))
    np.testing.assert_allclose(again.transition, expected.transition, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.emission, expected.emission, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again.elision, expected.elision, rtol=1e-9, atol=1e-12)


def test_the_deletion_of_the_formulas_page():
    """s -> a -> e with N = 10 on s -> e: both edges of the way round gain 10."""
    model = CountsModel.empty(1)._enlarged(
        [0, 0, 0], {(0, 2): 20.0, (2, 3): 5.0, (3, 4): 5.0, (2, 4): 10.0, (4, 1): 15.0}
    )
    prior = pseudocounts(Prior(), 1, pack([(0,)], 1))
    search = start(model, "approx", prior, Costs())
    kernels.search.make_deletion(search, 2, 4)
    assert search.model.transition[2, 3] == pytest.approx(15.0)
    assert search.model.transition[3, 4] == pytest.approx(15.0)
    assert search.model.silent[3] == pytest.approx(10.0)


@given(st.integers(1, 100), st.integers(1, 100), st.integers(0, 2**32 - 1))
def test_sets_of_words_round_trip(rows, columns, seed):
    matrix = np.random.default_rng(seed).random((rows, columns)) < 0.3
    np.testing.assert_array_equal(_matrix(_words(matrix), columns), matrix)
