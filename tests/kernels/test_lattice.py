from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

import naive
from elision import set_threads
from elision.lattice import Lattice, Parameters
from elision.values.observations import Packer
from models import ATOL, EXAMPLES, RTOL, cases, events, models, pack, parameters

pytestmark = pytest.mark.numerical


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=ATOL)


@settings(max_examples=EXAMPLES)
@given(cases())
@pytest.mark.parametrize("method", ["two_index", "paths"])
def test_probability_counts_and_posteriors_agree_with_the_twins(method, case):
    model, narratives = case
    packed = pack(narratives, model[1].shape[1])
    lattice = Lattice(parameters(model))
    log_prob = lattice.log_prob(packed)[packed.place]
    posteriors = [lattice.posterior(packed)[place] for place in packed.place]
    totals = [np.zeros(shape) for shape in (model[0].shape, model[1].shape, model[2].shape)]
    for number, narrative in enumerate(narratives):
        twin = naive.posterior(*model, narrative, method=method)
        close(log_prob[number], twin.log_prob)
        found = posteriors[number]
        close(found.log_prob, twin.log_prob)
        close(found.told, twin.told_by)
        close(found.entered * model[2], twin.unsaid)
        close(found.visited[:, :-1], twin.visits[:, :-1])
        for total, part in zip(totals, twin[1:4], strict=True):
            total += part
    counts = lattice.expected_counts(packed)
    edges = lattice.parameters
    close(counts.transition, totals[0][edges.source, edges.target])
    close(counts.emission, totals[1])
    close(counts.elision, totals[2])


@settings(max_examples=EXAMPLES)
@given(cases(most_narratives=1))
def test_alignment_is_the_best_of_all_paths(case):
    model, (narrative,) = case
    found = Lattice(parameters(model)).align(pack([narrative], model[1].shape[1]))[0]
    best, path = naive.best_alignment(*model, narrative)
    close(found.log_prob, best)
    claimed = list(zip(found.states, found.events, strict=True))
    if path:
        close(naive.alignment_log_prob(*model, narrative, claimed), best)
    else:
        assert claimed == []


@given(cases())
def test_alignment_never_beats_the_sum_over_paths(case):
    model, narratives = case
    packed = pack(narratives, model[1].shape[1])
    lattice = Lattice(parameters(model))
    best = np.array([found.log_prob for found in lattice.align(packed)])
    total = lattice.log_prob(packed)
    possible = np.isfinite(total)
    assert (best[possible] <= total[possible] + 1e-12).all()
    assert (best[~possible] == -np.inf).all()


@given(models(elisions=False, most_events=4))
def test_without_elisions_it_is_hmmlearn(model):
    """Entering the end is hmmlearn's last state, which tells a mark of its own."""
    from hmmlearn.hmm import CategoricalHMM

    transition, emission, _ = model
    size, count = emission.shape
    if size == 2:
        return
    rng = np.random.default_rng(0)
    narratives = [rng.integers(0, count, length).tolist() for length in (1, 2, 4, 7)]
    peer = CategoricalHMM(n_components=size - 1, implementation="log")
    peer.startprob_ = transition[0, 1:]
    stay = np.zeros(size - 1)
    stay[-1] = 1
    peer.transmat_ = np.vstack([transition[1:-1, 1:], stay])
    told = np.zeros((size - 1, count + 1))
    told[:-1, :-1] = emission[1:-1]
    told[-1, -1] = 1
    peer.emissionprob_ = told
    packed = pack(narratives, count)
    ours = Lattice(parameters(model)).log_prob(packed)[packed.place]
    for narrative, value in zip(narratives, ours, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            theirs = peer.score(np.array([*narrative, count])[:, None])
        close(value, theirs)


def stubborn_model():
    """State 1 is hopeless while "a" is told, yet only it leads to the "b" at the end."""
    transition = np.zeros((5, 5))
    transition[0, 1:3] = 0.5
    transition[1, [1, 3]] = 0.5
    transition[2, [2, 4]] = 0.5
    transition[3, 4] = 1
    emission = np.zeros((5, 2))
    emission[1, 0] = 1e-3
    emission[2, 0] = 0.9
    emission[3, 1] = 1
    elision = np.zeros(5)
    elision[1] = 1 - 1e-3
    elision[2] = 0.1
    return transition, emission, elision


def test_a_path_that_underflows_and_then_matters_is_not_lost():
    model = stubborn_model()
    lattice = Lattice(parameters(model))
    length = 400
    packed = Packer(events(2)).pack([["e0"] * length + ["e1"], ["e0"] * length])
    series = 1 / (1 - 0.5 * (1 - 1e-3))
    # Every arrival at state 1 may first pass it silently any number of times.
    expected = math.log(0.5) + length * math.log(1e-3 * series) + (length - 1) * math.log(0.5)
    expected += math.log(0.5 * series)
    np.testing.assert_allclose(lattice.log_prob(packed)[0], expected, rtol=1e-12)
    posterior = lattice.posterior(packed)[0]
    np.testing.assert_allclose(posterior.told[:length, 1], 1, rtol=RTOL)
    counts = lattice.expected_counts(packed)
    np.testing.assert_allclose(counts.log_prob[0], expected, rtol=1e-12)
    assert counts.emission[1, 0] == pytest.approx(length, rel=1e-9)


def test_ten_thousand_events_no_events_and_the_impossible():
    transition = np.array([[0, 0.9, 0.1], [0, 0.99, 0.01], [0, 0, 0]])
    emission = np.array([[0, 0, 0], [0.25, 0.5, 0], [0, 0, 0]])
    lattice = Lattice(Parameters.from_dense(transition, emission, np.array([0, 0.25, 0])))
    long = ["e0", "e1"] * 5000
    packed = Packer(events(3)).pack([long, [], ["e2"], ["e0", "e2"], [None]])
    found = lattice.log_prob(packed)[packed.place]
    stay, silent = 0.99, 0.25
    series = 1 / (1 - stay * silent)
    expected = math.log(0.9) + 5000 * (math.log(0.25) + math.log(0.5)) + 9999 * math.log(stay)
    expected += 10001 * math.log(series) + math.log(0.01)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(found[1]), 0.1 + 0.9 * silent * series * 0.01, rtol=1e-12)
    assert found[2] == found[3] == -np.inf
    np.testing.assert_allclose(np.exp(found[4]), 0.9 * 0.75 * series**2 * 0.01, rtol=1e-12)
    counts = lattice.expected_counts(packed)
    assert np.isfinite(counts.transition).all()
    assert np.isfinite(counts.emission).all()
    assert np.isfinite(counts.elision).all()
    assert counts.emission[1].sum() == pytest.approx(10_001)


def many_narratives(count, rng):
    return [[f"e{o}" for o in rng.integers(0, 8, rng.integers(0, 12))] for _ in range(count)]


def large_model(rng, size=30, count=8):
    transition = np.triu(rng.random((size, size)), 1)
    transition[range(1, size - 1), range(1, size - 1)] = rng.random(size - 2)
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    told = rng.dirichlet(np.ones(count + 1), size)
    told[[0, -1]] = 0
    return Parameters.from_dense(transition, told[:, :-1].copy(), told[:, -1].copy())


def test_threads_leave_no_trace_in_the_last_bit(monkeypatch):
    monkeypatch.setattr("elision.lattice.CHUNK_UPDATES", 20_000)
    rng = np.random.default_rng(7)
    packed = Packer(events(8)).pack(many_narratives(150, rng))
    lattice = Lattice(large_model(rng))
    assert len(lattice.chunks(packed)) > 4
    results = []
    for threads in (1, 2, 3, 5):
        set_threads(threads)
        counts = lattice.expected_counts(packed)
        posterior = lattice.posterior(packed)
        results.append(
            [part.tobytes() for part in (*counts, lattice.log_prob(packed), posterior[3].told)]
        )
    set_threads(None)
    assert results[0] == results[1] == results[2] == results[3]


def test_expected_counts_agree_between_one_at_a_time_and_together():
    rng = np.random.default_rng(8)
    narratives = many_narratives(40, rng)
    lattice = Lattice(large_model(rng, size=12))
    together = lattice.expected_counts(Packer(events(8)).pack(narratives))
    alone = [lattice.expected_counts(Packer(events(8)).pack([one])) for one in narratives]
    for whole, *parts in zip(together[:3], *(one[:3] for one in alone), strict=True):
        np.testing.assert_allclose(whole, sum(parts), rtol=1e-10)


def test_flow_into_every_state_equals_flow_out_of_it():
    rng = np.random.default_rng(9)
    parameters_ = large_model(rng)
    counts = Lattice(parameters_).expected_counts(Packer(events(8)).pack(many_narratives(30, rng)))
    into = np.bincount(parameters_.target, counts.transition, minlength=parameters_.states)
    out = np.bincount(parameters_.source, counts.transition, minlength=parameters_.states)
    np.testing.assert_allclose(into[1:-1], out[1:-1], rtol=1e-9)
    np.testing.assert_allclose([out[0], into[-1]], 30, rtol=1e-9)
    told = counts.emission.sum(axis=1) + counts.elision
    np.testing.assert_allclose(told[1:-1], into[1:-1], rtol=1e-9)
