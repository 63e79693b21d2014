"""What was left unsaid, against enumeration and at the edges."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
import naive
import naive_ask
from asked import close, named, script_of, told

pytestmark = pytest.mark.numerical


def rows_of(story, script, attribute):
    found = [{step.event: getattr(step, attribute) for step in gap} for gap in story.unsaid]
    return [[gap.get(event, 0.0) for event in script.events] for gap in found]


@given(told(soft=True))
def test_what_was_unsaid_agrees_with_enumeration(case):
    model, narrative = case
    script = script_of(model)
    story = script.between(named(narrative, len(script.events)), min_probability=0.0)
    twin = naive.posterior(*model, narrative)
    close(story.log_prob, twin.log_prob)
    close(rows_of(story, script, "expected"), twin.unsaid @ naive_ask.shares(model[1]))
    passed = naive_ask.passed_over(model, narrative)
    close(rows_of(story, script, "probability"), passed[:, :-1])
    close(story.nothing, 1 - passed[:, -1])


@given(told(soft=True), st.integers(1, 4))
def test_many_at_once_are_each_by_itself(case, times):
    model, narrative = case
    script = script_of(model)
    asked = named(narrative, len(script.events))
    alone = script.between(asked)
    for story in script.between_many([asked] * times):
        assert story.told == alone.told
        close(story.nothing, alone.nothing)
        assert [[one.event for one in gap] for gap in story.unsaid] == [
            [one.event for one in gap] for gap in alone.unsaid
        ]


def test_a_story_tells_its_gaps():
    story = el.examples.doorbell().between(["hear doorbell", "open door"])
    first, middle, last = story.gaps
    assert (first.after, first.before) == (None, "hear doorbell")
    assert (middle.after, middle.before) == ("hear doorbell", "open door")
    assert (last.after, last.before) == ("open door", None)
    assert first.nothing == 1
    assert first.unsaid == ()
    assert [one.event for one in middle.unsaid] == ["walk to door", "look through peephole"]
    assert "  (walk to door, 100%)" in str(story).splitlines()


def test_a_state_that_repeats_itself_is_passed_more_often_than_it_is_probable():
    """Silent turns with x = 1/4: 4/3 passes for each time it is passed at all."""
    script = el.Script.build(
        states={"a": {"a": 0.5, None: 0.5}},
        edges={"start": {"a": 1}, "a": {"a": 0.5, "end": 0.5}},
    )
    ((unsaid,),) = script.between([]).unsaid
    close(unsaid.expected, 4 / 3)
    close(unsaid.probability, 1)


def test_states_that_never_tell_leave_nothing_unsaid():
    script = el.Script.build(
        states={"mute": {None: 1.0}, "a": "a"},
        edges={"start": {"mute": 1}, "mute": {"a": 1}, "a": {"end": 1}},
    )
    story = script.between(["a"])
    assert story.unsaid == ((), ())
    assert story.nothing == (1, 1)


def test_a_telling_beyond_the_range_of_a_double_is_settled_in_log_space():
    """Only the state that is hopeless while "a" is told leads to the "b" at the end."""
    script = el.Script.build(
        states={
            "hopeless": {"a": 1e-3, None: 1 - 1e-3},
            "easy": {"a": 0.9, None: 0.1},
            "last": "b",
        },
        edges={
            "start": {"hopeless": 0.5, "easy": 0.5},
            "hopeless": {"hopeless": 0.5, "last": 0.5},
            "easy": {"easy": 0.5, "end": 0.5},
            "last": {"end": 1},
        },
    )
    short, long = ["a", "a", "b"], ["a"] * 400 + ["b"]
    expected = script.between(short)
    found = script.between(long)
    assert found.log_prob < -1000
    for place, other in ((0, 0), (5, 1), (400, 2), (401, 3)):
        close(found.nothing[place], expected.nothing[other])
        for one, two in zip(found.unsaid[place], expected.unsaid[other], strict=True):
            close((one.expected, one.probability), (two.expected, two.probability))
    # Arriving at "hopeless", it is passed in silence with x = (1 - 1e-3) / 2, geometrically.
    close(found.unsaid[5][0].probability, (1 - 1e-3) / 2)


def test_a_telling_whose_tables_are_rescaled():
    """Every event has the same past and future, so every place is like that of a short telling."""
    script = el.Script.build(
        states={"a": {"a": 1e-3, "b": 0.5, None: 0.499}},
        edges={"start": {"a": 1}, "a": {"a": 0.5, "end": 0.5}},
    )
    found, expected = script.between(["a"] * 60), script.between(["a"] * 3)
    assert -600 < found.log_prob < -200
    for place in range(61):
        other = {0: 0, 60: 3}.get(place, 1)
        close(found.nothing[place], expected.nothing[other])
        for one, two in zip(found.unsaid[place], expected.unsaid[other], strict=True):
            close((one.expected, one.probability), (two.expected, two.probability))


TINY = 1e-200


def hard_to_reach():
    return el.Script.build(
        states={
            "k": {"x": TINY, "y": 1.0},
            "m": {"x": 1.0, "y": TINY},
            "last": {"y": 0.5, None: 0.5},
        },
        edges={"start": {"k": 1}, "k": {"m": 1}, "m": {"last": 1}, "last": {"end": 1}},
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning:elision.kernels.passes")
def test_a_state_that_would_do_far_better_if_only_it_were_reached():
    """From "k" all would be easy, but to get there one must tell "x" where it hardly does.

    Uncompiled, the scaled pass warns that it overflows; log space then takes over.
    """
    script = hard_to_reach()
    story = script.between(["x", "y"])
    close(story.log_prob, 2 * np.log(TINY) + np.log(0.5))
    assert script.sample(1, given=["x", "y"]) == [["x", "y"]]
    assert script.fill([None, "y"], joint=True).answers[0].events == ("y",)


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="Python raises where a kernel has infinity"
)
def test_an_infinite_density_of_entering_a_state_is_no_silent_pass():
    script = hard_to_reach()
    close(script.posterior(["x", "y"]).silent[2], [0, 0, 0, 1, 0])
    assert [step.state for step in script.align(["x", "y"]).steps] == ["k", "m", "last"]


def test_what_cannot_be_told_has_no_story():
    script = el.examples.doorbell()
    with pytest.raises(el.InputError, match="cannot tell"):
        script.between(["close door", "hear doorbell"])
    with pytest.raises(el.InputError, match="narrative 1: the script cannot tell"):
        script.between_many([["open door"], ["close door", "hear doorbell"]])
    with pytest.raises(el.InputError, match="stretch"):
        script.between(["open door", ..., "close door"])


def test_what_is_too_improbable_is_left_out():
    script = el.examples.doorbell()
    whole = script.between(["hear doorbell", "open door"], min_probability=0.0)
    some = script.between(["hear doorbell", "open door"], min_probability=0.3)
    for gap, part in zip(whole.unsaid, some.unsaid, strict=True):
        assert part == tuple(one for one in gap if one.probability >= 0.3)
    assert [len(gap) for gap in some.unsaid] == [0, 1, 4]
