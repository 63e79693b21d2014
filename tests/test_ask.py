"""Gap filling and what was unsaid, against the twins and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import elision as el
import naive
from elision.ask.fill import fill_gaps, overall
from models import RTOL, events, models

pytestmark = pytest.mark.numerical


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


@given(models(), st.lists(st.integers(0, 2), max_size=4), st.integers(0, 4))
def test_filling_agrees_with_enumeration(model, told, place):
    count = model[1].shape[1]
    narrative = [o for o in told if o < count]
    place = min(place, len(narrative))
    gap = [*narrative[:place], None, *narrative[place:]]
    assume(np.isfinite(naive.log_prob(*model, gap)))
    script = script_of(model)
    named = [None if o is None else script.events[o] for o in gap]
    expected = naive.fill(*model, gap, place)
    np.testing.assert_allclose(fill_gaps(script, [named])[0], expected, rtol=RTOL, atol=1e-12)
    (filling,) = script.fill(named)
    assert filling.position == place
    assert sum(one.probability for one in filling.answers) == pytest.approx(1)


@given(models(), st.lists(st.integers(0, 2), max_size=4))
def test_what_was_unsaid_agrees_with_enumeration(model, told):
    count = model[1].shape[1]
    narrative = [o for o in told if o < count]
    twin = naive.posterior(*model, narrative)
    assume(np.isfinite(twin.log_prob))
    script = script_of(model)
    story = script.between([script.events[o] for o in narrative], least=0.0)
    told_share = model[1].sum(axis=1, keepdims=True)
    shares = np.divide(model[1], told_share, out=np.zeros_like(model[1]), where=told_share > 0)
    expected = twin.unsaid @ shares
    for gap, row in zip(story.unsaid, expected, strict=True):
        found = {step.event: step.expected for step in gap}
        for event, value in zip(script.events, row, strict=True):
            np.testing.assert_allclose(found.get(event, 0.0), value, rtol=RTOL, atol=1e-12)


def test_several_gaps_each_have_answers():
    script = el.examples.doorbell()
    first, second = script.fill(["hear doorbell", None, "open door", None], top=1)
    assert first.answers[0].event == "walk to door"
    assert second.position == 3


def test_ignored_events_do_not_move_the_gap():
    script = el.examples.doorbell()
    plain = script.fill(["hear doorbell", None, "open door"])[0].answers
    with_noise = ["sneeze", "hear doorbell", {"cough": 1.0}, None, "open door"]
    noisy = script.fill(with_noise, unknown="ignore")[0]
    assert noisy.answers == plain
    assert noisy.position == 3
    story = script.between(["hear doorbell", {"cough": 1.0}, "open door"], unknown="ignore")
    assert story.told == ("hear doorbell", "open door")


def test_a_telling_the_script_cannot_tell_gets_the_usual_answer():
    script = el.examples.doorbell()
    wrong = ["close door", None, "hear doorbell"]
    np.testing.assert_allclose(fill_gaps(script, [wrong])[0], overall(script), rtol=1e-12)
    with pytest.raises(el.InputError, match="cannot tell"):
        script.between(["close door", "hear doorbell"])


@pytest.mark.parametrize(
    ("narrative", "options", "problem"),
    [
        (["open door"], {}, "no gap"),
        ([None], {"top": 0}, "top is 0"),
        ([None], {"exclude": el.examples.doorbell().events}, "excluded"),
        ([None, "fly"], {}, "unknown event"),
        ([{"open door": 2.0}, None], {}, "from 0 to 1"),
    ],
)
def test_questions_that_cannot_be_answered(narrative, options, problem):
    with pytest.raises(el.InputError, match=problem):
        el.examples.doorbell().fill(narrative, **options)


def test_one_gap_a_narrative():
    with pytest.raises(el.InputError, match="2 gaps"):
        fill_gaps(el.examples.doorbell(), [[None, None]])
