"""Stretches of unknown length, and what comes next, against enumeration and at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import elision as el
import naive_ask
from asked import close, named, script_of, told
from models import models

pytestmark = pytest.mark.numerical

LONGEST = 3


@st.composite
def stretched(draw):
    """A model without self-loops, and the events before and after a stretch."""
    model = naive_ask.without_loops(draw(models(most_states=LONGEST, most_events=2)))
    event = st.integers(0, model[1].shape[1] - 1)
    before = draw(st.lists(event, max_size=1))
    after = draw(st.lists(event, max_size=1))
    return model, before, after


@given(stretched())
def test_a_stretch_agrees_with_enumeration(case):
    model, before, after = case
    script = script_of(model)
    asked = named([*before, ..., *after], len(script.events))
    expected = naive_ask.stretch(model, before, after, LONGEST)
    if not expected:
        with pytest.raises(el.InputError, match="cannot tell"):
            script.fill(asked)
        return
    (found,) = script.fill(asked, top=1000)
    assert found.position == len(before)
    assert found.exact
    assert found.more < 1e-9
    for length, chance in enumerate(found.counts):
        close(chance, sum(p for events, p in expected.items() if len(events) == length))
    often = {one.event: one.expected for one in found.answers}
    for number, event in enumerate(script.events):
        count = sum(events.count(number) * p for events, p in expected.items())
        close(often.get(event, 0.0), count)
    courses = {
        tuple(map(script.events.index, one.events)): one.probability for one in found.courses
    }
    close([courses.get(events, 0.0) for events in expected], list(expected.values()))
    values = [one.probability for one in found.courses]
    assert values == sorted(values, reverse=True)


@given(told(most_length=3), st.integers(0, 3))
def test_counts_of_a_stretch_are_those_of_so_many_gaps(case, place):
    """With self-loops: any two counts are as the probabilities of so many gaps."""
    model, narrative = case
    place = min(place, len(narrative))
    before, after = narrative[:place], narrative[place:]
    script = script_of(model)
    (found,) = script.fill(named([*before, ..., *after], len(script.events)))
    close(sum(found.counts) + found.more, 1)
    whole = naive_ask.probability(model, narrative)
    for count in range(1, min(4, len(found.counts))):
        gaps = naive_ask.probability(model, [*before, *[None] * count, *after])
        close(found.counts[count] / found.counts[0], gaps / whole)
    if found.more < 1e-12:
        often = sum(one.expected for one in found.answers)
        close(often, sum(count * chance for count, chance in enumerate(found.counts)))
    for one in found.courses:
        filled = [*before, *map(script.events.index, one.events), *after]
        close(one.probability / found.counts[0], naive_ask.probability(model, filled) / whole)


@given(stretched())
def test_two_stretches_and_a_gap_agree_with_enumeration(case):
    """``before ... None after ...``: every pair of lengths, every event in the gap."""
    model, before, after = case
    script = script_of(model)
    weights = {}
    for one in range(LONGEST + 1):
        for two in range(LONGEST + 1 - one):
            for event in range(len(script.events)):
                filled = [*before, *[None] * one, event, *after, *[None] * two]
                weights[one, two, event] = naive_ask.probability(model, filled)
    total = sum(weights.values())
    assume(total > 0)
    first, gap, second = script.fill(named([*before, ..., None, *after, ...], len(script.events)))
    assert (first.position, gap.position) == (len(before), len(before) + 1)
    for number, stretch in enumerate((first, second)):
        for count, chance in enumerate(stretch.counts):
            part = sum(weight for key, weight in weights.items() if key[number] == count)
            close(chance, part / total)
    chances = {one.event: one.probability for one in gap.answers}
    for event, name in enumerate(script.events):
        part = sum(weight for key, weight in weights.items() if key[2] == event)
        close(chances.get(name, 0.0), part / total)


@given(stretched(), st.integers(0, 1))
def test_excluded_events_stand_in_no_stretch(case, banned):
    model, before, after = case
    script = script_of(model)
    expected = {
        events: chance
        for events, chance in naive_ask.stretch(model, before, after, LONGEST).items()
        if banned not in events
    }
    total = sum(expected.values())
    assume(total > 0)
    assume(banned < len(script.events))
    asked = named([*before, ..., *after], len(script.events))
    if len(script.events) == 1:
        with pytest.raises(el.InputError, match="excluded"):
            script.fill(asked, exclude=script.events)
        return
    (found,) = script.fill(asked, exclude=[script.events[banned]])
    for length, chance in enumerate(found.counts):
        part = sum(p for events, p in expected.items() if len(events) == length)
        close(chance, part / total)


def test_a_stretch_that_never_seems_to_end_says_what_is_left(monkeypatch):
    script = el.Script.build(
        states={"a": "a"}, edges={"start": {"a": 1}, "a": {"a": 0.9, "end": 0.1}}
    )
    (whole,) = script.fill([...])
    close(sum(whole.counts), 1 - whole.more)
    close(whole.answers[0].expected, 10)
    monkeypatch.setattr("elision.ask.stretch.LONGEST", 5)
    (found,) = script.fill([...])
    close(found.counts, [0, *(0.1 * 0.9**n for n in range(4))])
    close(found.more, 0.9**4)
    assert str(found).splitlines()[0] == "a  10%"


def test_two_stretches_side_by_side_are_one_too_many():
    script = el.examples.doorbell()
    with pytest.raises(el.InputError, match="side by side"):
        script.fill(["open door", ..., ...])


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


def test_a_stretch_is_summed_over_where_gaps_are_filled_together():
    script = el.examples.doorbell()
    joint = script.fill(["open door", ..., None], joint=True)
    (_, gap) = script.fill(["open door", ..., None])
    assert [(one.events[0], one.probability) for one in joint.answers] == [
        (one.event, pytest.approx(one.probability)) for one in gap.answers
    ]


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
