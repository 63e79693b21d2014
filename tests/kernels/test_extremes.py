"""Paths that leave the range of a double and matter all the same, and the pass in log space."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_ask
import naive_decimal
from elision import kernels
from elision.lattice import Lattice, Parameters
from elision.values.observations import Packer
from models import EXAMPLES, cases, events, models, pack, parameters

pytestmark = [
    pytest.mark.numerical,
    # Uncompiled, numpy says so where a lane overflows; it is seen, and computed in log space.
    pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning"),
]


def close(actual, expected, rtol=1e-9):
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-12)


def agrees(model, narratives, weights):
    """Whether all of inference says what decimal numbers say, each narrative with its weight."""
    transition, emission, elision = model
    lattice = Lattice(Parameters.from_dense(*model))
    names = events(emission.shape[1])
    told = [[names[o] for o in one] for one in narratives]
    packed = Packer(names).pack(
        [one for one, weight in zip(told, weights, strict=True) for _ in range(weight)]
    )
    first = np.concatenate([[0], np.cumsum(weights)[:-1]])
    rows = packed.place[first]
    twins = [naive_decimal.inferred(transition, emission, elision, one) for one in narratives]
    expected = np.array([twin.log_prob for twin in twins])
    close(lattice.log_prob(packed)[rows], expected)
    counts = lattice.expected_counts(packed)
    close(counts.log_prob[rows], expected)
    source, target = lattice.parameters.source, lattice.parameters.target
    for found, part in (
        (counts.transition, [twin.transition[source, target] for twin in twins]),
        (counts.emission, [twin.emission for twin in twins]),
        (counts.elision, [twin.elision for twin in twins]),
    ):
        close(found, sum(one * weight for one, weight in zip(part, weights, strict=True)))
    posteriors = lattice.posterior(packed)
    silences = lattice.silences(packed, np.ones((len(elision), 1)))
    for row, twin in zip(rows.tolist(), twins, strict=True):
        close(posteriors[row].log_prob, twin.log_prob)
        close(posteriors[row].told, twin.told)
        close(posteriors[row].visited, twin.visited)
        close(posteriors[row].silent(elision), twin.entered * elision)
        here = slice(silences.first[row], silences.first[row + 1])
        close(silences.passes[here], twin.entered * elision)
        close(silences.log_prob[row], twin.log_prob)


@pytest.mark.parametrize("length", [60, 82, 84, 99, 102, 103, 104, 106, 107, 108, 115, 130])
def test_a_path_that_is_hopeless_until_the_end(length):
    """From nothing lost, by sums whose last digits are lost, to sums that are 0: always right."""
    transition = np.zeros((5, 5))
    transition[0, 1:3] = 0.5
    transition[1, [1, 3]] = 0.5
    transition[2, [2, 4]] = 0.5
    transition[3, 3:] = 0.5
    emission = np.zeros((5, 2))
    emission[1:4] = [[0.9e-3, 0], [0.9, 0], [0, 1]]
    elision = np.array([0, 1 - 0.9e-3, 0.1, 0, 0])
    told = [0] * length
    agrees((transition, emission, elision), [[*told, 1], told, [*told, 1, 1]], [3, 2, 1])


@pytest.mark.parametrize("power", [70, 120, 140, 153, 160, 180])
def test_two_paths_that_matter_and_one_is_lost_on_the_way(power):
    """One is hopeless early on, the other late; in the end they are alike."""
    tiny = 10.0**-power
    transition = np.zeros((4, 4))
    transition[0, 1:3] = 0.5
    transition[1, [1, 3]] = 0.5
    transition[2, [2, 3]] = 0.5
    emission = np.array([[0, 0], [tiny, 0.5], [0.5, tiny], [0, 0]])
    elision = np.array([0, 0.5 - tiny, 0.5 - tiny, 0])
    agrees((transition, emission, elision), [[0, 0, 1, 1], [0, 1], [0, 0, 1]], [2, 1, 5])


def lost_in_one_step(loops, likelihoods, silent, entry=1.0):
    """A chain of states that stay where they are next to never, and tell likewise."""
    size = len(loops) + 2
    transition = np.eye(size, k=1) * 0.5
    transition[0, 1] = entry
    transition[range(1, size - 1), range(1, size - 1)] = loops
    emission = np.zeros((size, 1))
    emission[1:-1, 0] = likelihoods
    elision = np.zeros(size)
    elision[1:-1] = silent
    return transition, emission, elision


@pytest.mark.parametrize(
    ("model", "told"),
    [
        # Row after row is scaled up at once by what it fell: its small entries have lost digits.
        (lost_in_one_step([4.9e-121, 5.2e-121], [1.5e-29, 1.24e-97], [0.6, 8.2e-121]), 5),
        # What arrives is lost, though what is told there is not.
        (lost_in_one_step([2.7e-121], [6.05e-79], [0.9], entry=8.7e-121), 2),
    ],
)
def test_digits_that_are_lost_before_a_row_is_scaled(model, told):
    agrees(model, [[0] * told], [1])


@st.composite
def extreme(draw):
    """A model some of whose chances are next to nothing, and narratives."""
    transition, emission, elision = draw(models(most_states=3, most_events=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    power = draw(st.sampled_from([20, 60, 120]))
    emission = emission * 10.0 ** -(power * rng.random(emission.shape))
    elision = elision * 10.0 ** -(power * (rng.random(elision.shape) < 0.3))
    transition = transition * 10.0 ** -(power * (rng.random(transition.shape) < 0.3))
    item = st.integers(0, emission.shape[1] - 1)
    narratives = draw(
        st.lists(st.lists(item, max_size=12), min_size=1, max_size=3, unique_by=tuple)
    )
    weights = [draw(st.integers(1, 3)) for _ in narratives]
    return (transition, emission, elision), narratives, weights


@settings(max_examples=min(EXAMPLES, 100))
@given(extreme())
def test_next_to_nothing_is_not_nothing(case):
    agrees(*case)


@settings(max_examples=min(EXAMPLES, 100))
@given(cases(), st.floats(0.5, 3.0))
def test_the_pass_in_log_space_agrees_with_the_twin(case, weight):
    model, narratives = case
    packed = pack(narratives, model[1].shape[1])
    lattice = Lattice(parameters(model))
    plain = lattice.model(packed)
    logarithms = lattice.log_model(plain)
    states = len(model[2])
    source, target = lattice.parameters.source, lattice.parameters.target
    onward = source != target
    for number, narrative in enumerate(narratives):
        row = packed.place[number]
        symbol = packed.symbol[packed.offset[row] : packed.offset[row + 1]]
        twin = naive.posterior(*model, narrative)
        tally = kernels.passes.Tally(
            np.zeros(onward.sum()),
            np.zeros(states),
            np.zeros(plain.likelihood.shape),
            np.zeros(states),
        )
        close(
            kernels.log_passes.log_counts(plain, logarithms, symbol, weight, tally), twin.log_prob
        )
        counted = twin.transition_counts * weight
        close(tally.edge, counted[source[onward], target[onward]])
        close(tally.loop, np.diag(counted))
        close(tally.silence, twin.elision_counts * weight)
        close(tally.symbol.sum(axis=1), twin.emission_counts.sum(axis=1) * weight)
        tables = [np.full((len(symbol) + 3, states), 7.0) for _ in range(3)]
        told, entered, visited = tables
        found = kernels.log_passes.log_posterior(plain, logarithms, symbol, 1, *tables)
        close(found, twin.log_prob)
        if found == -math.inf:
            continue
        rows = slice(1, len(symbol) + 2)
        close(told[1 : len(symbol) + 1, :-1], twin.told_by[:, :-1])
        close((entered[rows] * model[2])[:, :-1], twin.unsaid[:, :-1])
        close(visited[rows, :-1], twin.visits[:, :-1])
        for table in tables:
            assert (table[0] == 7).all()
            assert (table[-1] == 7).all()


@settings(max_examples=min(EXAMPLES, 100))
@given(cases(most_narratives=1, most_length=4), st.integers(0, 2**32 - 1))
def test_silences_in_log_space_are_those_of_the_scaled_pass(case, seed):
    """The scaled one is compared with enumeration elsewhere."""
    model, (narrative,) = case
    packed = pack([narrative], model[1].shape[1])
    lattice = Lattice(parameters(model))
    share = np.random.default_rng(seed).random((len(model[2]), 2))
    scaled = lattice.silences(packed, share)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels.asking, "unsaid", everything_is_doubtful)
        careful = lattice.silences(packed, share)
    for one, other in zip(scaled, careful, strict=True):
        close(one, other)


@settings(max_examples=min(EXAMPLES, 100))
@given(cases(most_narratives=1, most_length=4))
def test_rows_that_are_not_open_are_those_of_the_lattice(case):
    model, (narrative,) = case
    packed = pack([narrative], model[1].shape[1])
    lattice = Lattice(parameters(model))
    plain = lattice.model(packed)
    logarithms = lattice.log_model(plain)
    _, arrive, after, _, _ = kernels.log_passes.log_tables(plain, logarithms, packed.symbol)
    found = np.full((2, *arrive.shape), np.nan)  # whatever stood there before
    passing = np.tile(model[2], (len(arrive), 1))
    kernels.asking.open_tables(plain, logarithms, packed.symbol, passing, *found)
    close(found[0], arrive)
    close(found[1], after)


def everything_is_doubtful(model, narratives, first, last, *others):
    others[-1][first:last] = True


def fork(told, silent):
    """Two ways, by one state or by the other, that are alike in all."""
    transition = np.zeros((4, 4))
    transition[0, [1, 2]] = 0.5
    transition[[1, 2], 3] = 1
    emission = np.array([[0], [told], [told], [0]])
    return transition, emission, np.array([0, silent, silent, 0])


def diamond():
    """Two silent ways to the state that tells; or it may tell once more."""
    transition = np.zeros((5, 5))
    transition[0, [1, 2]] = 0.5
    transition[[1, 2], 3] = 1
    transition[3, 4] = 1
    emission = np.array([[0], [0], [0], [1.0], [0]])
    return transition, emission, np.array([0, 1.0, 1.0, 0, 0])


def chain(count):
    """State after state, each of which tells the event or is silent, at even chances."""
    transition = np.eye(count + 2, k=1)
    emission = np.full((count + 2, 1), 0.5)
    emission[[0, -1]] = 0
    return transition, emission, emission[:, 0].copy()


@pytest.mark.parametrize(
    ("model", "told", "states", "positions"),
    [
        (fork(0.5, 0.5), 1, [1], [0]),
        (fork(0.5, 0.5), 0, [1], [None]),
        (diamond(), 1, [1, 3], [None, 0]),
        # The last state is asked first: it tells, and what is left is for those before it.
        (chain(2), 1, [1, 2], [None, 0]),
        (chain(3), 2, [1, 2, 3], [None, 0, 1]),
    ],
)
def test_ties_go_to_the_earlier_state_and_to_telling_before_silence(model, told, states, positions):
    packed = pack([[0] * told], 1)
    lattice = Lattice(parameters(model))
    (found,) = lattice.align(packed)
    assert list(found.states) == states
    assert list(found.events) == positions
    plain = lattice.model(packed)
    path, position = np.empty((2, told + len(model[2])), np.int64)
    _, steps = kernels.asking.fewest_aside(
        plain, lattice.log_model(plain), packed.symbol, path, position
    )
    assert path[:steps].tolist() == states
    assert position[:steps].tolist() == [-1 if one is None else one for one in positions]


def test_setting_aside_is_the_last_resort_and_as_late_as_can_be():
    """One of two events that are alike is set aside: the later one, for telling goes first."""
    model = fork(0.5, 0.5)
    lattice = Lattice(parameters(model))
    packed = pack([[0, 0]], 1)
    plain = lattice.model(packed)
    path, position = np.empty((2, 6), np.int64)
    _, steps = kernels.asking.fewest_aside(
        plain, lattice.log_model(plain), packed.symbol, path, position
    )
    assert naive_ask.fewest_aside(model, [0, 0])[0] == 1
    assert list(zip(path[:steps].tolist(), position[:steps].tolist(), strict=True)) == [
        (-1, 0),
        (1, 1),
    ]
