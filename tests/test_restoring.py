"""What a telling left out, each step with one number at one place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.ask.outlined import silences
from elision.ask.restoring import left_out
from elision.serve.nearest import Nearest

SCRIPT = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
OUTLINE = SCRIPT.outline()
TELLINGS = st.lists(st.one_of(st.none(), st.integers(0, len(OUTLINE.steps) - 1)), max_size=6)


@settings(max_examples=60, deadline=None)
@given(TELLINGS, st.booleans())
def test_a_step_has_all_its_probability_at_its_likeliest_place(told, finished):
    found = left_out(OUTLINE, told, finished=finished)
    spread = silences(OUTLINE, told)
    if not finished:
        spread[-1] = 0.0
    np.testing.assert_allclose(found.unsaid, spread.sum(axis=0), rtol=0, atol=1e-12)
    for step, place in enumerate(found.place.tolist()):
        assert spread[place, step] == spread[:, step].max()
        assert found.something[place] >= found.unsaid[step] - 1e-9
    assert not found.unsaid[[step for step in told if step is not None]].any()
    assert found.something.shape == (len(told) + 1,)
    assert ((found.something >= -1e-12) & (found.something <= 1)).all()


@settings(max_examples=40, deadline=None)
@given(TELLINGS)
def test_the_whole_of_a_finished_telling_is_what_happened(told):
    known = {step for step in told if step is not None}
    found = left_out(OUTLINE, told, finished=True)
    happened = OUTLINE.happened(known)
    happened[list(known)] = 0.0
    np.testing.assert_allclose(found.unsaid, happened, rtol=0, atol=1e-9)


def test_single_steps_of_a_place_are_independent():
    names = [step.name for step in OUTLINE.steps]
    found = left_out(OUTLINE, [names.index("open door")], finished=False)
    here = [
        unit.steps[0]
        for unit in OUTLINE.units
        if len(unit.steps) == 1 and found.place[unit.steps[0]] == 0
    ]
    choices = [unit for unit in OUTLINE.units if len(unit.branches) > 1]
    rest = np.prod([1 - found.unsaid[step] for step in here])
    for unit in choices:
        at_start = [
            max((found.unsaid[s] for s in branch if found.place[s] == 0), default=0.0)
            for branch in unit.branches
        ]
        rest *= 1 - sum(at_start)
    assert found.something[0] == pytest.approx(1 - rest, rel=1e-9)


def test_places_may_be_one_and_the_same():
    told = [0, 3, 5]
    apart = left_out(OUTLINE, told, finished=True)
    joined = left_out(OUTLINE, told, finished=True, places=[0, 1, 1, 2])
    np.testing.assert_allclose(joined.unsaid, apart.unsaid, rtol=0, atol=1e-12)
    assert joined.something.shape == (3,)
    assert joined.something[1] >= max(apart.something[1], apart.something[2]) - 0.2


@pytest.mark.parametrize(
    ("said", "nearest"),
    [
        ("he walked over to the door", "walk to door"),
        ("closing the door", "close door"),
        ("took a parcel", "take parcel"),
        ("say good-bye", "say goodbye"),
        ("OPEN_DOOR", "open door"),
    ],
)
def test_the_nearest_event_has_the_same_words(said, nearest):
    assert Nearest(SCRIPT.events).to(said)[0] == nearest


def test_nothing_is_near_to_something_else():
    assert Nearest(SCRIPT.events).to("quantum chromodynamics") == []
    assert Nearest([]).to("open") == []
    assert Nearest(SCRIPT.events).to("?!") == []
