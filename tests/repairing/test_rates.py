"""How often events are left out: found on logs drawn with known rates, and never nonsense."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.errors import InputError
from elision.repairing import company
from elision.repairing.company import LEAST, RATES
from elision.repairing.omission import given_omission, learn_omission, rates_given

CASES = 1500


def drawn(done, rates, cases=CASES, seed=0):
    """Cases as `done` makes them of a generator, with each event left out by the chance of it."""
    rng = np.random.default_rng(seed)
    whole = [done(rng) for _ in range(cases)]
    told = [[event for event in one if rng.random() >= rates[event]] for one in whole]
    return [one for one in told if one]


def in_line(events):
    return lambda rng: list(range(events))


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_one_rate_of_all_is_found(rate):
    found = learn_omission(drawn(in_line(6), [rate] * 6), 6)
    np.testing.assert_allclose(found.rates, rate, rtol=0, atol=0.04)
    np.testing.assert_allclose(found.overall, rate, rtol=0, atol=0.02)
    assert found.known.min() > 0.5


def test_rates_that_differ_are_told_apart():
    rates = [0.0, 0.05, 0.1, 0.2, 0.35, 0.5]
    found = learn_omission(drawn(in_line(6), rates, 3000), 6)
    np.testing.assert_allclose(found.rates, rates, rtol=0, atol=0.06)


def test_events_that_are_repeated():
    """One or several times in each case: to lack some is not to lack all."""

    def done(rng):
        return [0, *[1] * int(rng.integers(1, 4)), 2, *[3] * int(rng.integers(1, 3)), 4]

    found = learn_omission(drawn(done, [0.2] * 5, 4000), 5)
    np.testing.assert_allclose(found.rates, 0.2, rtol=0, atol=0.06)


def test_steps_that_depend_on_the_case_are_not_taken_for_omissions():
    """A third of the cases go by another way: what they do not do was not left out."""

    def done(rng):
        return [0, 1, 2, 5] if rng.random() < 2 / 3 else [0, 3, 4, 5]

    found = learn_omission(drawn(done, [0.1] * 6, 4000), 6)
    np.testing.assert_allclose(found.rates, 0.1, rtol=0, atol=0.05)


def test_a_complete_log_with_ways_that_part_has_no_omissions():
    def done(rng):
        return [0, 1, 2, 5] if rng.random() < 2 / 3 else [0, 3, 4, 5]

    found = learn_omission(drawn(done, [0.0] * 6), 6)
    np.testing.assert_allclose(found.rates, 0.0, rtol=0, atol=1e-3)
    assert found.overall < 1e-3


def test_ways_that_part_are_known_by_what_stands_around_them():
    """No other event comes with 1 or 2, but one of them stands between 0 and 3."""

    def done(rng):
        return [0, 1 if rng.random() < 0.4 else 2, 3]

    found = learn_omission(drawn(done, [0.05] * 4, 4000), 4)
    np.testing.assert_allclose(found.rates, 0.05, rtol=0, atol=0.08)


def optional(rng):
    return [0, 1, *([2] if rng.random() < 0.3 else []), 3, 4, 5]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.25])
def test_a_step_at_will_is_not_left_out_where_the_others_are_as_often_as_each_other(rate, seed):
    """Nothing else shows who does it; that so much is left out of one event alone is unlikely."""
    found = learn_omission(drawn(optional, [rate] * 6, 3000, seed), 6)
    np.testing.assert_allclose(found.rates, rate, rtol=0, atol=0.04)
    assert found.known[2] < 0.5


def test_high_rates_are_believed_where_rates_differ():
    rates = [0.02, 0.3, 0.75, 0.1, 0.55, 0.15]
    found = learn_omission(drawn(in_line(6), rates, 3000), 6)
    np.testing.assert_allclose(found.rates, rates, rtol=0, atol=0.04)
    assert found.known.min() > 0.5


def at_will(rng):
    return [*range(6), *([6] if rng.random() < 0.4 else []), 7]


UNEVEN = [0.0, 0.3, 0.05, 0.2, 0.02, 0.15, 0.1, 0.1]


def test_a_rate_that_may_be_none_is_not_fully_trusted():
    """Nothing tells a step at will from one that is often left out; rates below do not matter."""
    found = learn_omission(drawn(at_will, UNEVEN, 800), 8)
    assert found.rates[6] > 0.5 < found.known[6]
    assert found.known[6] <= found.trust[6] < 0.95
    assert found.trust[[0, 1, 2, 3, 4, 5, 7]].tolist() == [1.0] * 7


def test_what_is_given_of_an_event_is_not_estimated():
    traces = drawn(at_will, UNEVEN, 800)
    given = np.full(8, np.nan)
    given[6] = 0.1
    found = learn_omission(traces, 8, given=given)
    assert (found.rates[6], found.known[6], found.trust[6]) == (0.1, 1.0, 1.0)
    np.testing.assert_allclose(found.rates, UNEVEN, rtol=0, atol=0.04)
    too_few = learn_omission(traces[:LEAST], 8, given=given)
    assert too_few.rates.tolist() == [0.0] * 6 + [0.1, 0.0]
    assert too_few.known[6] == 1


@pytest.mark.parametrize("seed", range(3))
def test_complete_traces_tell_what_is_done_at_will(seed):
    complete = drawn(at_will, [0.0] * 8, 3000, seed)
    traces = drawn(at_will, UNEVEN, 800, seed + 10)
    found = learn_omission(traces, 8, complete=[np.array(one) for one in complete])
    np.testing.assert_allclose(found.rates, UNEVEN, rtol=0, atol=0.07)
    assert found.trust.tolist() == [1.0] * 8


def test_rates_by_name():
    events = ["call", "pay"]
    np.testing.assert_equal(rates_given({"call": 0.2}, events), [0.2, np.nan])
    assert rates_given({None: 0.3, "pay": 0}, events).tolist() == [0.3, 0.0]
    assert rates_given(np.float32(0.5), events).tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match=r"omission of 'pay' is 1, expected at least 0"):
        rates_given({"pay": 1}, events)
    with pytest.raises(InputError, match=r"omission is 'x', expected at least 0"):
        rates_given({None: "x"}, events)


def test_cases_of_which_nothing_is_left_do_not_mislead():
    """Of those that are left, one that lacks an event is more likely to have another."""
    rates = [0.7, 0.6, 0.8]
    found = learn_omission(drawn(in_line(3), rates, 6000), 3)
    np.testing.assert_allclose(found.rates, rates, rtol=0, atol=0.05)


def test_a_step_that_is_always_done_twice_says_little():
    """Few cases lack both, and of few cases none: that is no rate of 0."""

    def done(rng):
        return [0, 1, *([2, 1, 2] if rng.random() < 0.2 else [2]), 3]

    found = learn_omission(drawn(done, [0.1] * 4, 2000), 4)
    np.testing.assert_allclose(found.rates, 0.1, rtol=0, atol=0.03)


def test_a_complete_log_in_a_line_has_no_omissions():
    found = learn_omission([[0, 1, 2]] * 100, 3)
    assert found.rates.tolist() == [0.0, 0.0, 0.0]
    assert found.overall == 0.0


@pytest.mark.parametrize("cases", [0, 1, LEAST - 1])
def test_too_few_cases_say_nothing(cases):
    found = learn_omission(drawn(in_line(3), [0.3] * 3, cases), 3)
    assert found.rates.tolist() == [0.0] * 3
    assert found.known.tolist() == [0.0] * 3
    assert found.overall == 0.0


def test_a_rare_event_is_taken_to_be_as_the_others():
    def done(rng):
        return [0, 1, *[3] * (rng.random() < 0.005), 2]

    found = learn_omission(drawn(done, [0.2] * 4), 4)
    assert found.known[3] == 0
    np.testing.assert_allclose(found.rates[3], found.overall, rtol=1e-9)


def test_order_of_cases_does_not_matter_and_answers_are_the_same_each_time():
    traces = drawn(in_line(4), [0.2] * 4, 300)
    found = learn_omission(traces, 4)
    assert learn_omission(traces, 4).rates.tolist() == found.rates.tolist()
    np.testing.assert_allclose(learn_omission(traces[::-1], 4).rates, found.rates, rtol=1e-9)


def test_of_a_large_log_a_part_is_looked_at(monkeypatch):
    monkeypatch.setattr(company, "MOST_READ", 4 * 1300)
    traces = drawn(in_line(4), [0.2] * 4)
    found = learn_omission(traces, 4, random_state=1)
    np.testing.assert_allclose(found.rates, 0.2, rtol=0, atol=0.1)
    assert learn_omission(traces, 4, random_state=1).rates.tolist() == found.rates.tolist()
    assert learn_omission(traces, 4, random_state=2).rates.tolist() != found.rates.tolist()


@st.composite
def small_logs(draw):
    """Some variants, each any number of times, so that there are cases enough to go by."""
    events = draw(st.integers(1, 5))
    trace = st.lists(st.integers(0, events - 1), max_size=40 if draw(st.booleans()) else 6)
    variants = draw(st.lists(st.tuples(trace, st.integers(0, 70)), max_size=6))
    return [trace for trace, times in variants for _ in range(times)], events


@given(small_logs())
@settings(max_examples=150)
def test_rates_are_always_rates(log):
    traces, events = log
    found = learn_omission(traces, events)
    assert found.rates.shape == found.known.shape == (events,)
    assert np.all((found.rates >= 0) & (found.rates <= RATES[-1]))
    assert np.all((found.known >= 0) & (found.known <= 1))
    assert 0 <= found.overall <= RATES[-1] + 1e-9


def test_given_rates():
    found = given_omission(0.25, 3)
    assert (found.rates.tolist(), found.overall) == ([0.25] * 3, 0.25)
    for rate in (-0.1, 1, 2, float("nan"), float("inf")):
        with pytest.raises(InputError, match="omission is"):
            given_omission(rate, 3)
