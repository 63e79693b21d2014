"""Backing off, against its definition; and when EM has done enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import elision as el
from elision.lattice import Parameters
from elision.learn import backoff
from elision.learn.backoff import Backoff, back_off, expected_visits
from elision.learn.em import Converged, Prior, Pseudocounts, pseudocounts, run_em
from models import models, pack, parameters

pytestmark = pytest.mark.numerical


def visits_by_steps(transition, steps=4000):
    """How often each state is passed, one step of the chain after the other."""
    here = np.zeros(len(transition))
    here[0] = 1.0
    total = here.copy()
    for _ in range(steps):
        here = here @ transition
        total += here
    return total


@given(models())
def test_expected_visits_are_those_of_the_chain(model):
    transition = model[0]
    np.testing.assert_allclose(
        expected_visits(transition), visits_by_steps(transition), rtol=1e-9, atol=1e-12
    )


def courses():
    """Two ways to tell, one of them rare, and a script that knows the common one best."""
    names = 3
    transition = np.zeros((5, 5))
    transition[0, [1, 2]] = [0.8, 0.2]
    transition[1, [2, 3]] = [0.9, 0.1]
    transition[2, [2, 3]] = [0.2, 0.8]
    transition[3, 4] = 1.0
    emission = np.zeros((5, names))
    emission[1:4] = np.eye(3) * 0.8 + 0.02
    elision = np.zeros(5)
    elision[1:4] = 1 - emission[1:4].sum(axis=1)
    narratives = [[0, 1, 2]] * 30 + [[1, 2]] * 6 + [[0, 2]] * 3 + [[0, 1, 1, 2]] * 5
    return (transition, emission, elision), narratives


PRIOR = Prior(transition=1.0, emission=0.5, elision=(1.0, 2.0), base="unigram")


def unpruned(model, narratives, settings):
    """The definition: all later states may follow, by their share of the visits; then EM."""
    transition, emission, elision = model
    size = len(elision)
    visits = visits_by_steps(transition)
    later = np.zeros((size, size))
    for j in range(size - 1):
        for k in range(j + 1, size):
            later[j, k] = visits[k] / visits[j + 1 :].sum()
        if j > 0:
            later[j, j] = backoff.LOOP_SHARE
    start = np.zeros((size, size))
    for j in range(size - 1):
        row = visits[j] * len(narratives) * transition[j] + settings.transition * later[j]
        start[j] = row / row.sum()
    told = np.bincount(np.concatenate(narratives), minlength=emission.shape[1]) + 0.5
    begun = Parameters.from_dense(start, emission, elision)
    added = Pseudocounts(
        settings.transition * later[begun.source, begun.target],
        settings.emission * told / told.sum(),
        1.0,
        2.0,
    )
    packed = pack(narratives, emission.shape[1])
    return run_em(begun, packed, added, stop=backoff.STOP).parameters


def pruned(learned, fewest):
    """The definition: an edge stays if enough take it, or if it is the best way in or out."""
    transition = learned.dense_transition()
    flow = visits_by_steps(transition)[:, None] * transition
    size = len(flow)
    kept = np.zeros((size, size))
    for j in range(size - 1):
        for k in range(j, size):
            out = k > j and flow[j, k] == flow[j, j + 1 :].max()
            into = k > j and flow[j, k] == flow[:k, k].max()
            loop = j == k and j > 0
            if flow[j, k] >= fewest or out or into or loop:
                kept[j, k] = transition[j, k]
        kept[j] /= kept[j].sum()
    return kept


@pytest.mark.parametrize("fewest", [0.02, 0.4, 1.0, 50.0])
def test_backing_off_is_em_with_edges_to_all_later_states_and_rare_ones_left_out(fewest):
    model, narratives = courses()
    settings = Backoff(transition=0.7, emission=0.4, fewest=fewest)
    packed = pack(narratives, 3)
    found = back_off(parameters(model), packed, PRIOR, settings)
    learned = unpruned(model, narratives, settings)
    expected = pruned(learned, fewest / len(narratives))
    np.testing.assert_allclose(found.dense_transition(), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.emission, learned.emission, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.elision, learned.elision, rtol=1e-9, atol=1e-12)


def test_rare_edges_are_left_out_and_those_that_are_needed_stay():
    model, narratives = courses()
    packed = pack(narratives, 3)
    edges = [
        len(back_off(parameters(model), packed, PRIOR, Backoff(fewest=fewest)).source)
        for fewest in (0.0, 0.4, 50.0)
    ]
    assert edges[0] == 3 + 10  # loops, and all pairs of five states
    assert edges[0] > edges[1] > edges[2] >= 3 + 4


def test_without_elisions_there_are_none_after_backing_off():
    model, narratives = courses()
    plain = parameters((model[0], np.eye(5, 3, k=-1), np.zeros(5)))
    found = back_off(plain, pack(narratives, 3), PRIOR, Backoff(), elisions=False)
    assert not found.elision.any()


@pytest.mark.parametrize("most", ["states", "updates"])
def test_with_very_many_states_only_their_own_edges_and_loops_stay(most, monkeypatch):
    model, narratives = courses()
    packed = pack(narratives, 3)
    if most == "states":
        monkeypatch.setattr(backoff, "MOST_STATES", 4)
    else:
        told = sum(map(len, narratives)) + len(narratives)
        assert backoff.told_and_ends(pack([[0, 1], [2]], 3)) == 5
        distinct = backoff.told_and_ends(packed)
        assert distinct < told
        monkeypatch.setattr(backoff, "MOST_UPDATES", distinct * 16 // 2)
    found = back_off(parameters(model), packed, PRIOR, Backoff(fewest=0.0))
    edges = set(zip(found.source.tolist(), found.target.tolist(), strict=True))
    assert edges == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (1, 1), (2, 2), (3, 3)}


@pytest.mark.parametrize(("gain", "stops"), [(0.0, True), (9.9, True), (10.1, False)])
def test_em_stops_by_its_gain_a_narrative(gain, stops):
    assert Converged(tolerance=0.1)([-50.0, -50.0 + gain], 100.0) is stops
    assert Converged(tolerance=0.1)([-50.0], 100.0) is False


def test_em_stops_after_its_most_steps():
    rule = Converged(tolerance=0.0, most_steps=2)
    assert [rule([float(one) for one in range(many)], 1.0) for many in (1, 2, 3)] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("name", ["transition", "emission"])
def test_pseudocounts_of_nothing_cannot_be_backed_off_to(name):
    with pytest.raises(el.InputError, match=f"backoff {name} is 0"):
        Backoff(**{name: 0.0})


def test_the_state_that_is_always_silent_is_named():
    script = el.Script.build(
        {"a": {"x": 1.0}, "b": {None: 1.0}, "c": {None: 1.0}, "d": {"y": 0.5, None: 0.5}},
        {"start": {"a": 1}, "a": {"b": 1}, "b": {"c": 1}, "c": {"d": 1}, "d": {"end": 1}},
    )
    with pytest.raises(el.InputError, match="state 'b' is always silent"):
        el.fit_parameters(script, [["x", "y"]], elisions=False)


def test_a_base_of_ones_own_is_shared_out():
    packed = pack([[0]], 3)
    found = pseudocounts(Prior(emission=0.5, base=[0.5, 0.25, 0.25]), 3, packed)
    assert found.event.tolist() == [0.75, 0.375, 0.375]
    for bad in ([0.5, 0.25, 0.2], [0.0, 0.0, 0.0], [1.5, -0.5, 0.0], [0.5, 0.5]):
        with pytest.raises(el.InputError, match="expected 3 probabilities that sum to 1"):
            pseudocounts(Prior(base=bad), 3, packed)
