"""Stretches of unknown length, and what comes next, against enumeration and at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
import naive_ask
from asked import close, named, script_of, told
from models import models

pytestmark = pytest.mark.numerical

LONGEST = 3


@given(models(most_states=LONGEST + 1, most_events=2).map(naive_ask.without_loops))
def test_gaps_on_both_sides_of_a_stretch_together_agree_with_enumeration(model):
    script = script_of(model)
    weights = {}
    for count in range(LONGEST):
        for one, two in itertools.product(range(len(script.events)), repeat=2):
            weight = naive_ask.probability(model, [one, *[None] * count, two])
            weights[one, two] = weights.get((one, two), 0.0) + weight
    total = sum(weights.values())
    if total == 0:
        with pytest.raises(el.InputError, match="cannot tell"):
            script.fill([None, ..., None], joint=True)
        return
    found = script.fill([None, ..., None], joint=True, top=len(weights))
    chances = {
        tuple(map(script.events.index, one.events)): one.probability for one in found.answers
    }
    close([chances.get(pair, 0.0) for pair in weights], [w / total for w in weights.values()])


@given(told(most_length=3, soft=True), st.integers(1, 3))
def test_what_comes_next_agrees_with_enumeration(case, steps):
    model, narrative = case
    script = script_of(model)
    asked = named(narrative, len(script.events))
    found = script.next(asked, steps=steps)
    close(found.log_prob, np.log(naive_ask.beginnings(model, narrative)))
    for step, (chances, ended) in zip(
        found.steps, naive_ask.following(model, narrative, steps), strict=True
    ):
        by_event = {one.event: one.probability for one in step.answers}
        close([by_event.get(event, 0.0) for event in script.events], chances)
        close(step.ended, ended)
        close(sum(by_event.values()) + step.ended, 1)


def test_a_beginning_need_not_be_a_whole_telling():
    """The script always ends with "b", so "a" alone is impossible, but it may be a beginning."""
    script = el.Script.build(
        states={"a": "a", "b": "b"}, edges={"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}}
    )
    assert script.log_prob(["a"]) == -np.inf
    found = script.next(["a"], steps=2)
    assert str(found) == "b  100%\n(nothing more)  0%\n\n(nothing more)  100%"
    assert found.answers[0].event == "b"
    assert found.ended == 0
    with pytest.raises(el.InputError, match="cannot tell"):
        script.next(["b", "a"])


def test_after_hundreds_of_events_the_right_state_is_still_known():
    script = el.Script.build(
        states={"a": {"a": 1e-3, None: 1 - 1e-3}, "b": "b"},
        edges={"start": {"a": 1}, "a": {"a": 0.5, "b": 0.5}, "b": {"end": 1}},
    )
    found = script.next(["a"] * 500)
    assert found.log_prob < -3000
    close(
        [one.probability for one in found.answers],
        [one.probability for one in script.next(["a"]).answers],
    )


@pytest.mark.parametrize(
    ("narrative", "options", "problem"),
    [
        ([], {"steps": 0}, "steps is 0"),
        ([], {"steps": True}, "steps is True"),
        ([], {"steps": 10**9}, "from 1 to"),
        ([], {"top": 0}, "top is 0"),
        (["fly"], {}, "unknown event"),
    ],
)
def test_questions_about_the_next_event_that_cannot_be_answered(narrative, options, problem):
    with pytest.raises(el.InputError, match=problem):
        el.examples.doorbell().next(narrative, **options)


def test_many_beginnings_are_complained_of_by_their_number():
    told = [["hear doorbell"]] * 13 + [["hear doorbell", "open door", "fly"]]
    for script in (el.examples.doorbell(), el.examples.learned_doorbell()):
        with pytest.raises(el.UnknownEventError, match=r"^narrative 13, event 2: unknown event"):
            script.next_many(told)
        with pytest.raises(el.InputError, match=r"^narrative 1: the script cannot"):
            el.examples.doorbell().next_many([[], ["close door", "hear doorbell"]])
        with pytest.raises(el.InputError, match=r"^steps is 0"):
            script.next_many(told, steps=0)
