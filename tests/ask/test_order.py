"""Orders of events by a script, against all permutations."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import elision as el
import naive_questions as twin
from elision.ask import order as module
from elision.ask.order import improved, order
from models import ATOL, RTOL, events, models

pytestmark = pytest.mark.numerical


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=RTOL, atol=ATOL)


def possible(model, told):
    """The events that the model knows and their orders; assumes that some order can be told."""
    chosen = [o for o in told if o < model[1].shape[1]]
    orders = twin.orders(model, chosen)
    assume(any(orders.values()))
    return chosen, orders


@settings(max_examples=60)
@given(models(most_events=4), st.lists(st.integers(0, 3), max_size=5))
def test_the_likeliest_orders_are_the_best_of_all(model, told):
    chosen, orders = possible(model, told)
    script = script_of(model)
    found = order(script, [script.events[o] for o in chosen], top=3)
    assert found.exact
    best = sorted((p for p in orders.values() if p > 0), reverse=True)[:3]
    close([math.exp(one.log_prob) for one in found.likeliest], best)
    close([one.share for one in found.likeliest], np.array(best) / math.fsum(orders.values()))
    for one in found.likeliest:
        claimed = tuple(script.events.index(event) for event in one.events)
        close(orders[claimed], math.exp(one.log_prob))


@settings(max_examples=60)
@given(models(most_events=4), st.lists(st.integers(0, 3), max_size=5))
def test_pairs_given_just_these_events(model, told):
    chosen, _ = possible(model, told)
    script = script_of(model)
    found = order(script, [script.events[o] for o in chosen])
    expected = twin.before(model, chosen)
    # Rows of the answer follow its own order: the copies of an event in theirs.
    numbers = [script.events.index(event) for event in found.events]
    place = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    close(found.precedence, expected[np.ix_(place, place)])


@settings(max_examples=60)
@given(models(most_events=4), st.sets(st.integers(0, 3), max_size=4))
def test_most_pairs_are_expected_right(model, told):
    chosen, _ = possible(model, sorted(told))
    script = script_of(model)
    found = order(script, {script.events[o] for o in chosen})
    value = twin.agreement(found.precedence, range(len(chosen)))
    close(value, twin.best_agreement(found.precedence))


@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_improving_ends_where_no_single_move_helps(count, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((count, count))
    matrix = np.triu(matrix, 1) + np.tril(1 - matrix.T, -1)
    start = rng.permutation(count)
    found = improved(matrix, start)
    assert sorted(found.tolist()) == list(range(count))
    value = twin.agreement(matrix, found)
    assert value >= twin.agreement(matrix, start) - 1e-12
    for i in range(count):
        for p in range(count):
            moved = np.insert(np.delete(found, i), p, found[i])
            assert twin.agreement(matrix, moved) <= value + 1e-8


@settings(max_examples=40)
@given(models(most_events=4), st.lists(st.integers(0, 3), min_size=2, max_size=5))
def test_too_many_orders_are_searched_and_never_overrated(model, told):
    chosen, orders = possible(model, told)
    script = script_of(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ORDERS", 0)
        try:
            found = order(script, [script.events[o] for o in chosen], beam=3)
        except el.InputError:  # the beam followed none that can be told
            return
    assert not found.exact
    claimed = tuple(script.events.index(event) for event in found.likeliest[0].events)
    close(math.exp(found.likeliest[0].log_prob), orders[claimed])
    assert sorted(claimed) == sorted(chosen)


def test_a_wide_beam_finds_the_best():
    learner = el.SEMHMM(score="marginal", random_state=0).fit(el.examples.doorbell_tellings())
    script = learner.script_
    told = script.events[:6]
    exact = order(script, told)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_ORDERS", 0)
        found = order(script, told, beam=200)
    assert found.likeliest[0].log_prob == pytest.approx(exact.likeliest[0].log_prob)
    assert found.events == exact.events


def test_twenty_events_take_a_beam():
    names = [f"step {number:02}" for number in range(20)]
    states = {name: {name: 0.8, None: 0.2} for name in names}
    edges = {"start": {names[0]: 1.0}, names[-1]: {"end": 1.0}}
    edges |= {a: {b: 1.0} for a, b in pairwise(names)}
    found = order(el.Script.build(states, edges), reversed(names))
    assert list(found.events) == names
    assert list(found.likeliest[0].events) == names
    assert not found.exact


def test_the_order_of_the_question_does_not_matter():
    script = el.examples.doorbell()
    told = ["open door", "hear doorbell", "close door", "walk to door"]
    assert order(script, told).events == order(script, told[::-1]).events


def test_repeated_events_keep_their_copies_in_order():
    loop = el.Script.build(
        {"knock": "knock", "open": "open"},
        {"start": {"knock": 1}, "knock": {"knock": 0.5, "open": 0.5}, "open": {"end": 1}},
    )
    found = order(loop, ["open", "knock", "knock"])
    assert found.events == ("knock", "knock", "open")
    assert found.precedence[0, 1] == 1.0


def test_ambiguous_events_are_placed_by_what_they_may_be():
    script = el.examples.doorbell()
    found = order(script, ["open door", {"close door": 0.9, "say goodbye": 0.1}])
    assert found.events.index("open door") < found.events.index("close door")


def test_nothing_to_order():
    found = order(el.examples.doorbell(), [])
    assert found.events == ()
    assert found.likeliest[0].share == pytest.approx(1.0)


def test_events_that_cannot_be_told_together():
    told = ["greet visitor", "sign for parcel", "open door"]
    with pytest.raises(el.InputError, match="in any order"):
        order(el.examples.doorbell(), told)


@pytest.mark.parametrize(
    ("told", "options", "problem"),
    [
        ("open door", {}, "list of events"),
        (["fly"], {}, "unknown event 'fly'"),
        (["open door", ...], {}, "order does not take"),
        (["open door"], {"top": 0}, "top is 0"),
        (["open door"], {"beam": 0}, "beam is 0"),
    ],
)
def test_what_cannot_be_ordered(told, options, problem):
    with pytest.raises(el.InputError, match=problem):
        order(el.examples.doorbell(), told, **options)


def test_unknown_events_may_be_ignored_and_the_answer_printed():
    found = order(el.examples.doorbell(), ["fly", "open door", "hear doorbell"], unknown="ignore")
    assert str(found) == "hear doorbell\nopen door"
    assert "100.0%" in found._repr_html_()
