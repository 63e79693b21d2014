"""What a telling left out, each step with one number at one place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.ask.outlined import silences
from elision.ask.restoring import NEARLY, breaches, gained, left_out
from elision.serve import messages
from elision.serve.lines import Nearest
from elision.serve.restore import restore
from elision.serve.shelf import Held
from elision.values.outline import steps_told

SCRIPT = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
OUTLINE = SCRIPT.outline()
TELLINGS = st.lists(st.one_of(st.none(), st.integers(0, len(OUTLINE.steps) - 1)), max_size=6)


@settings(max_examples=60, deadline=None)
@given(TELLINGS, st.booleans())
def test_a_step_has_all_its_probability_at_the_best_of_the_allowed_places(told, finished):
    found = left_out(OUTLINE, told, finished=finished)
    spread, broken = silences(OUTLINE, told), breaches(OUTLINE, told)
    for step, place in enumerate(found.place.tolist()):
        allowed = broken[:, step] == broken[:, step].min()
        assert allowed[place]
        assert spread[place, step] == spread[allowed, step].max()
        assert found.something[place] >= found.unsaid[step] - 1e-9
        by_now = spread[: None if finished else -1, step].sum()
        still_to_come = not finished and place == len(told)
        assert found.unsaid[step] == pytest.approx(0 if still_to_come else by_now, abs=1e-12)
    assert not found.unsaid[[step for step in told if step is not None]].any()
    assert found.something.shape == (len(told) + 1,)
    assert ((found.something >= -1e-12) & (found.something <= 1)).all()


@settings(max_examples=40, deadline=None)
@given(TELLINGS)
def test_breaches_are_counted_one_by_one(told):
    found = breaches(OUTLINE, told)
    branches = [branch for unit in OUTLINE.units for branch in unit.branches]

    def comes_before(one, other):
        branch = next(branch for branch in branches if one in branch)
        if other in branch:
            return branch.index(one) < branch.index(other)
        return OUTLINE.order[OUTLINE.unit_of[one], OUTLINE.unit_of[other]]

    first = {step: told.index(step) for step in told if step is not None}
    for place in range(len(told) + 1):
        for step in range(len(OUTLINE.steps)):
            wrong = [
                other
                for other, at in first.items()
                if (comes_before(step, other) if at < place else comes_before(other, step))
            ]
            assert found[place, step] == len(wrong)


def test_the_step_that_comes_last_is_put_last():
    told = ["hear doorbell", "open door", "greet visitor", "let visitor in"]
    names = [step.name for step in OUTLINE.steps]
    steps = steps_told(OUTLINE, told)
    for gains in (None, gained(SCRIPT, OUTLINE, told)):
        found = left_out(OUTLINE, steps, finished=True, gains=gains)
        assert found.place[names.index("close door")] == len(told)
        unfinished = left_out(OUTLINE, steps, finished=False, gains=gains)
        assert unfinished.unsaid[names.index("close door")] == 0


@settings(max_examples=40, deadline=None)
@given(TELLINGS)
def test_a_step_gains_nearly_as_much_where_it_is_shown_as_anywhere(told):
    names = [None if step is None else OUTLINE.steps[step].event for step in told]
    gains, broken = gained(SCRIPT, OUTLINE, names), breaches(OUTLINE, told)
    found = left_out(OUTLINE, told, finished=True, gains=gains)
    for step, place in enumerate(found.place.tolist()):
        near = gains[:, step] >= gains[:, step].max() - NEARLY
        assert near[place]
        assert broken[place, step] == broken[near, step].min()
        event = OUTLINE.steps[step].event
        without = [name for name in names if name]
        at = sum(name is not None for name in names[:place])
        longer = [*without[:at], event, *without[at:]]
        numbers = SCRIPT.telling.numbers
        worths = SCRIPT.telling.worths(
            [np.array([numbers[name] for name in one], np.int64) for one in (without, longer)]
        )
        assert worths[1] - worths[0] == pytest.approx(gains[place, step], abs=1e-9)


def shown(held, told, *, finished):
    """Every telling that accepting one of the steps shown makes of this one."""
    found = restore(held, messages.Asking([*told], finished=finished))
    for place, gap in enumerate(found.gaps):
        for step in gap.steps if gap.something >= 0.5 else ():
            if found.steps[step].unsaid >= 0.5:
                event = held.script.outline().steps[step].event
                yield (*told[:place], event, *told[place:])


def test_what_is_suggested_is_never_called_odd_once_it_is_accepted():
    held = Held("door", "door", SCRIPT)
    told = dict.fromkeys(map(tuple, el.examples.doorbell_tellings()))
    begun = dict.fromkeys(one[: 1 + len(one) // 2] for one in told)
    accepted = {
        (*one,): [*shown(held, one, finished=finished)]
        for tellings, finished in ((told, True), (begun, False))
        for one in tellings
    }
    before = dict(zip(accepted, SCRIPT.conform([*accepted]), strict=True))
    assert sum(map(len, accepted.values())) > 25
    for one, longer in accepted.items():
        for telling, found in zip(longer, SCRIPT.conform(longer), strict=True):
            assert before[one].odd or not found.odd, telling
            kinds = {flag.kind for flag in before[one].flags}
            assert "out of order" not in {flag.kind for flag in found.flags} - kinds, telling


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
