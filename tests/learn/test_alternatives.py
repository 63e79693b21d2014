"""Choices between steps, and how often each happens unsaid: against twins, and in simulations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_outlines as naive
from elision.learn import alternatives
from elision.learn.alternatives import UNTOLD, find_choices, fitted
from models import ATOL, RTOL

SHAPES = {
    "one step": ((0,),),
    "two steps": ((0, 1),),
    "three steps": ((0, 1, 2),),
    "two branches": ((0,), (1,)),
    "two steps or one": ((0, 1), (2,)),
    "two steps or two": ((0, 1), (2, 3)),
}


@pytest.fixture(autouse=True, scope="module")
def settings():
    """The twin has the settings of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "ALWAYS", alternatives.ALWAYS)
        patch.setattr(naive, "SILENCE_WEIGHT", alternatives.SILENCE_WEIGHT)
        yield


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=ATOL)


def told_by(share, count=40):
    """Tellings of a single step, told by about this share of them."""
    told = np.zeros((count, 1), dtype=bool)
    told[: round(share * count)] = True
    return told, np.ones(count)


def unsaid(choice):
    """Probability that one of the branches happened where nothing of them is told."""
    silent = sum(
        share * np.prod([1 - rate for rate in rates])
        for share, rates in zip(choice.shares, choice.telling, strict=True)
    )
    return choice.happens * silent / (1 - choice.happens + choice.happens * silent)


def random_unit(seed, branches, count=40, happens=0.8):
    """Tellings of a unit alone, with weights."""
    rng = np.random.default_rng(seed)
    steps = sum(len(branch) for branch in branches)
    rates = rng.uniform(0.3, 0.8, steps)
    told = np.zeros((count, steps), dtype=bool)
    for row in told:
        if rng.random() < happens:
            branch = list(branches[int(rng.integers(len(branches)))])
            row[branch] = rng.random(len(branch)) < rates[branch]
    return told, rng.integers(1, 3, count).astype(float), float(rng.uniform(0.15, 0.6))


# Dependence


@pytest.mark.parametrize("seed", range(30))
def test_dependence_agrees_with_the_twin(seed):
    rng = np.random.default_rng(seed)
    count, steps = int(rng.integers(2, 20)), int(rng.integers(1, 5))
    told = rng.random((count, steps)) < rng.random(steps)
    weight = rng.integers(1, 5, count).astype(float)
    both = (told * weight[:, None]).T @ told
    found = alternatives._dependence(both, weight @ told, weight.sum())
    for a in range(steps):
        for b in range(steps):
            expected = naive.dependence(told.tolist(), weight.tolist(), a, b)
            np.testing.assert_allclose(found[a, b], expected, rtol=1e-9, atol=1e-9)
    assert (found >= -1e-9).all()


def test_least_evidence_is_rare_by_chance():
    rng = np.random.default_rng(0)
    told = rng.random((60, 300)) < rng.uniform(0.2, 0.8, 300)
    both = told.astype(float).T @ told
    found = alternatives._dependence(both, told.sum(axis=0).astype(float), 60.0)
    share = (found[np.triu_indices(300, 1)] > alternatives.LEAST_EVIDENCE).mean()
    assert 0.002 < share < 0.008


# Fitting a unit


@pytest.mark.parametrize("silence", [0.2, 0.39, 0.6])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
def test_of_a_single_step_only_the_prior_says_whether_it_happened_unsaid(share, silence):
    told, weight = told_by(share)
    choice = fitted(((0,),), told, weight, silence)
    close(choice.happens * choice.telling[0][0], share)
    close(unsaid(choice), naive.unsaid_by_prior(share, silence))
    close(unsaid(choice), naive.unsaid([[0]], told.tolist(), weight.tolist(), silence))
    fine = naive.unsaid_by_prior(share, silence, grid=20_000)
    np.testing.assert_allclose(unsaid(choice), fine, rtol=0, atol=1e-3)


def test_the_number_of_tellings_says_nothing_of_a_single_step():
    one, other = (fitted(((0,),), *told_by(0.4, count), 0.39) for count in (10, 1000))
    close(one.happens, other.happens)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_likelihood_of_a_single_step_is_flat(share):
    told, weight = told_by(share)
    h = np.linspace(share + 0.01, 1.0, 20)
    count = weight @ told
    value, silent = alternatives._likelihood(
        h, np.ones(1), [count], count, float(count[0]), weight.sum(), 0.39
    )
    a, b = alternatives.SILENCE_WEIGHT * 0.39, alternatives.SILENCE_WEIGHT * 0.61
    rate = share / h
    prior = (a - 1) * np.log(1 - rate) + (b - 1) * np.log(rate) - np.log(h)
    close(silent, 1 - rate)
    close(value - prior, (value - prior)[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_unit_agrees_with_the_twin(shape, seed):
    branches = SHAPES[shape]
    told, weight, silence = random_unit(seed, branches)
    choice = fitted(branches, told, weight, silence)
    expected = naive.unsaid(branches, told.tolist(), weight.tolist(), silence)
    assert choice.branches == branches
    np.testing.assert_allclose(unsaid(choice), expected, rtol=0, atol=2e-4)
    close(choice.shares, naive.branch_shares(branches, told.tolist(), weight.tolist()))
    for branch, share, rates in zip(branches, choice.shares, choice.telling, strict=True):
        for step, rate in zip(branch, rates, strict=True):
            close(choice.happens * share * rate, weight @ told[:, step] / weight.sum())


@pytest.mark.parametrize("seed", range(10))
def test_that_two_steps_are_both_silent_is_less_probable(seed):
    rng = np.random.default_rng(seed)
    happens = rng.random((60, 1)) < 0.4
    told = happens & (rng.random((60, 2)) < 0.85)
    weight = np.ones(60)
    both = unsaid(fitted(((0, 1),), told, weight, 0.39))
    alone = [unsaid(fitted(((step,),), told, weight, 0.39)) for step in (0, 1)]
    assert both < min(alone)
    assert both < 0.15


def test_two_steps_that_are_always_told_together_did_not_happen_unsaid():
    told = np.zeros((40, 2), dtype=bool)
    told[:16] = True
    weight = np.ones(40)
    assert unsaid(fitted(((0, 1),), told, weight, 0.39)) < 0.05
    assert unsaid(fitted(((0,),), told[:, :1], weight, 0.39)) > 0.8


def test_what_everybody_tells_happens_and_is_told():
    told, weight = told_by(1.0)
    choice = fitted(((0,),), told, weight, 0.39)
    assert choice.happens == 1.0
    assert choice.telling == ((pytest.approx(1 - UNTOLD / (weight.sum() + 1)),),)


@pytest.mark.parametrize("silence", [0.2, 0.39, 0.6])
def test_silence_is_preferred_the_less_the_more_it_takes(silence):
    found = [unsaid(fitted(((0,),), *told_by(share), silence)) for share in np.arange(1, 40) / 40]
    assert (np.diff(found) > 0).all()
    assert found[0] < 0.2
    assert found[-1] > 0.95


def test_where_steps_are_usually_passed_over_silence_is_likelier():
    found = [unsaid(fitted(((0,),), *told_by(0.3), silence)) for silence in (0.1, 0.3, 0.5, 0.7)]
    assert sorted(found) == found
    assert found[-1] - found[0] > 0.5


tables = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.tuples(*[st.booleans()] * n), min_size=1, max_size=12)
)


@given(tables, st.integers(0, 99))
def test_probabilities_are_valid_whatever_is_told(rows, seed):
    told = np.array(rows)
    told[0, ~told.any(axis=0)] = True  # what nobody tells is no step
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 10, len(told)).astype(float)
    place = rng.random(told.shape[1])
    for complete in (False, True):
        found = find_choices(told, place, weight, complete=complete)
        members = [step for unit in found for branch in unit.branches for step in branch]
        assert sorted(members) == list(range(told.shape[1]))
        for unit in found:
            close(sum(unit.shares), 1.0)
            assert min(unit.shares) > 0
            assert 0 < unit.happens <= 1
            for branch, rates in zip(unit.branches, unit.telling, strict=True):
                assert len(branch) == len(rates)
                assert all(0 < rate <= 1 for rate in rates)
                assert [place[s] for s in branch] == sorted(place[s] for s in branch)


@given(tables)
def test_weights_are_the_same_as_repeating(rows):
    told = np.array(rows)
    told[0, ~told.any(axis=0)] = True
    place = np.linspace(0, 1, told.shape[1])
    weight = np.arange(1.0, len(told) + 1)
    repeated = np.repeat(told, weight.astype(int), axis=0)
    found = find_choices(told, place, weight)
    expected = find_choices(repeated, place, np.ones(len(repeated)))
    for one, other in zip(found, expected, strict=True):
        assert one.branches == other.branches
        close(one.shares, other.shares)
        close(one.happens, other.happens)


@pytest.mark.parametrize("shape", SHAPES)
def test_where_nothing_was_left_out_what_is_untold_did_not_happen(shape):
    told, weight, _ = random_unit(0, SHAPES[shape])
    choice = alternatives._counted(SHAPES[shape], told, weight)
    close(choice.happens, weight @ told.any(axis=1) / weight.sum())
    close(choice.shares, naive.branch_shares(SHAPES[shape], told.tolist(), weight.tolist()))
    assert {rate for rates in choice.telling for rate in rates} == {1.0}
    assert unsaid(choice) == 0


def test_how_often_steps_are_passed_over_is_seen_in_those_that_most_tell():
    told = np.zeros((10, 3), dtype=bool)
    told[:9, 0] = told[:7, 1] = told[:2, 2] = True
    worth = alternatives.SILENCE_UNITS
    expected = (alternatives.SILENCE * worth + 0.1 + 0.3) / (worth + 2)
    units = [((0,),), ((1,),), ((2,),)]
    close(alternatives._usual_silence(units, told, np.ones(10)), expected)


# Steps that are told reliably


def implied(count, omitted, seed=0):
    """Half of the cases are accepted; most of these, and some others, were checked before."""
    rng = np.random.default_rng(seed)
    checked = np.arange(count) % 20 < 12
    accepted = np.arange(count) % 20 < 8
    told = np.stack([np.ones(count, bool), checked, accepted], axis=1)
    return told & (rng.random(told.shape) >= omitted), np.array([0.1, 0.4, 0.9]), np.ones(count)


def unsaid_by_step(*case):
    return {unit.branches[0][0]: unsaid(unit) for unit in find_choices(*case)}


def test_what_is_always_told_with_something_else_is_not_passed_over():
    found = unsaid_by_step(*implied(2000, 0.0))
    assert found[1] < 0.05
    # Nothing implies that what implies it is told.
    assert found[2] > 0.5


@pytest.mark.parametrize(("count", "omitted"), [(60, 0.0), (200, 0.0), (2000, 0.1), (2000, 0.4)])
def test_few_tellings_or_ones_that_leave_things_out_do_not_say_that(count, omitted):
    case = implied(count, omitted)
    found = unsaid_by_step(*case)
    silence = alternatives._usual_silence([((0,),), ((1,),), ((2,),)], case[0], case[2])
    for step in (1, 2):
        expected = naive.unsaid_by_prior(float(case[0][:, step].mean()), silence)
        np.testing.assert_allclose(found[step], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_the_reliable_rate_is_a_lower_bound_of_the_share(seed):
    rng = np.random.default_rng(seed)
    told = rng.random((1000, 4)) < np.array([0.999, 0.99, 0.97, 0.4])
    weight = rng.integers(1, 4, 1000).astype(float)
    found = alternatives._reliable_rates(told, weight)
    for step in range(4):
        bounds = []
        for other in {0, 1, 2, 3} - {step}:
            count = weight @ told[:, other]
            share = weight @ (told[:, step] & told[:, other]) / count
            # Wilson: the least rate from which the share is so many deviations away at most.
            rates = np.linspace(0, 1, 100_001)[1:-1]
            near = np.abs(rates - share) <= 3.0 * np.sqrt(rates * (1 - rates) / count)
            bounds.append(rates[near].min())
        best = max(bounds)
        expected = best if best >= alternatives.RELIABLE else 0.0
        np.testing.assert_allclose(found[step], expected, rtol=0, atol=2e-5)


def test_independent_steps_are_not_taken_to_be_done_more_seldom():
    """Always done, and told by 19 of 20: of those who leave it out, nothing says it was not."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        told = rng.random((3000, 6)) < rng.uniform(0.9, 0.99, 6)
        for unit in find_choices(told, np.linspace(0, 1, 6), np.ones(3000)):
            assert unsaid(unit) > 0.8


# Simulations: three steps, what is tried, three steps

BEFORE, AFTER = (0, 1, 2), (3, 4, 5)
TRIED = 6


def simulated(seed, middle, count, telling):
    """Which steps are told, and where they stand, when `middle` says what is done in the middle."""
    rng = np.random.default_rng(seed)
    done = [[*BEFORE, *middle(rng), *AFTER] for _ in range(count)]
    steps = max(max(one) for one in done) + 1
    told = np.zeros((count, steps), dtype=bool)
    for row, one in zip(told, done, strict=True):
        row[[step for step in one if rng.random() < telling]] = True
    place = np.full(steps, 0.5)
    place[list(BEFORE)], place[list(AFTER)] = (0.1, 0.2, 0.3), (0.7, 0.8, 0.9)
    place[TRIED:] += np.arange(steps - TRIED) / 100
    return told, place, np.ones(count)


def larger_units(*case):
    """The branches of all units of more than one step."""
    return [
        {tuple(branch) for branch in unit.branches}
        for unit in find_choices(*case)
        if sum(len(branch) for branch in unit.branches) > 1
    ]


def one_of(*branches):
    return lambda rng: branches[int(rng.integers(len(branches)))]


@pytest.mark.parametrize(("count", "telling"), [(60, 0.8), (80, 0.6), (200, 0.6)])
def test_steps_that_exclude_each_other_are_branches_of_one_choice(count, telling):
    found = [larger_units(*simulated(seed, one_of([6], [7]), count, telling)) for seed in range(20)]
    assert sum(one == [{(6,), (7,)}] for one in found) >= 19


@pytest.mark.parametrize(("count", "telling"), [(100, 0.85), (200, 0.7)])
def test_three_branches_are_found(count, telling):
    middle = one_of([6], [7, 8], [9])
    found = [larger_units(*simulated(seed, middle, count, telling)) for seed in range(20)]
    assert sum(one == [{(6,), (7, 8), (9,)}] for one in found) >= 19


@pytest.mark.parametrize("telling", [0.7, 0.85])
def test_what_is_less_often_told_together_than_by_chance_is_not_in_one_branch(telling):
    for seed in range(40):
        told, place, weight = simulated(seed, one_of([6], [7], [8]), 60, telling)
        for unit in find_choices(told, place, weight):
            assert all(len(branch) == 1 for branch in unit.branches)


def test_three_exclusive_steps_of_few_tellings_are_not_in_one_branch():
    told = np.zeros((30, 3), dtype=bool)
    told[:10, 0] = told[10:19, 1] = told[19:28, 2] = True
    for unit in find_choices(told, np.full(3, 0.5), np.ones(30)):
        assert all(len(branch) == 1 for branch in unit.branches)


def test_rare_steps_that_are_told_together_or_not_at_all_are_one_branch():
    def middle(rng):
        return [6, 7] if rng.random() < 0.35 else []

    found = [larger_units(*simulated(seed, middle, 80, 0.95)) for seed in range(20)]
    assert sum(one == [{(6, 7)}] for one in found) >= 19


def test_steps_that_most_tell_are_no_branch_however_much_together():
    told = np.ones((40, 2), dtype=bool)
    told[25:] = False
    assert larger_units(told, np.array([0.4, 0.5]), np.ones(40)) == []


def test_steps_that_stand_far_apart_do_not_come_instead_of_each_other():
    told, place, weight = simulated(0, one_of([6], [7]), 100, 0.9)
    assert larger_units(told, place, weight) == [{(6,), (7,)}]
    place[6], place[7] = 0.35, 0.65
    assert larger_units(told, place, weight) == []


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.5), (0.3, 0.9), (0.5, 0.95)])
@pytest.mark.parametrize("count", [40, 120])
def test_independent_steps_are_rarely_taken_for_a_choice(low, high, count):
    alarms, quiet = 0, []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        told = rng.random((count, 8)) < rng.uniform(low, high, 8)
        told[0, ~told.any(axis=0)] = True
        case = told, np.linspace(0.3, 0.7, 8), np.ones(count)
        alarms += bool(larger_units(*case))
        quiet += [
            unsaid(unit)
            for unit in find_choices(*case)
            if len(unit.branches) == len(unit.branches[0]) == 1
            and 0.5 <= told[:, unit.branches[0][0]].mean() < 1
        ]
    assert alarms <= 2  # of 50 corpora with 28 pairs each
    # What half or more tell, with nothing instead, mostly happened though untold.
    assert np.mean(np.array(quiet) >= 0.9) > 0.97
    assert min(quiet) > 0.85


def test_a_branch_excludes_all_steps_of_the_others():
    """What excludes one step of a branch and is told with another is no branch beside it."""
    apart = np.zeros((4, 4))
    for one, other in ((0, 2), (1, 2), (3, 0), (3, 2)):
        apart[one, other] = apart[other, one] = 10.0
    branches = [[0, 1], [2]]
    alternatives._grow(branches, apart, np.zeros((4, 4), dtype=bool), {0, 1, 2})
    assert branches == [[0, 1], [2]]
    apart[3, 1] = apart[1, 3] = 10.0
    alternatives._grow(branches, apart, np.zeros((4, 4), dtype=bool), {0, 1, 2})
    assert branches == [[0, 1], [2], [3]]
