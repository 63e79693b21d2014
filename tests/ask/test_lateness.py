"""What tellings told too late, and that those in the wrong order are called odd."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
import naive_follow as twin
from elision.ask.telling.conformance import Lateness, joint
from elision.values.outline import Alarms

RATE = 0.05


@pytest.fixture(scope="module")
def tea():
    with resources.as_file(resources.files("elision") / "data" / "tellings.jsonl") as path:
        told = el.read(path).by_domain()["making tea"].events
    return [list(one) for one in told]


@pytest.fixture(scope="module")
def script(tea):
    return el.ScriptLearner(title="making tea").fit(tea).script_


def backwards(tellings, seed=0):
    """Four steps of each, alone, the last first."""
    rng = np.random.default_rng(seed)
    chosen = [np.sort(rng.choice(len(one), 4, replace=False)) for one in tellings if len(one) > 3]
    long = [one for one in tellings if len(one) > 3]
    return [[one[k] for k in some[::-1]] for one, some in zip(long, chosen, strict=True)]


# The numbers


def test_what_is_late_is_what_following_says(tea, script):
    outline = script.made_from
    lateness = Lateness(outline)
    rng = np.random.default_rng(3)
    single = {event for event, steps in outline.steps_of.items() if len(steps) == 1}
    some = 0
    for one in tea:
        told = rng.permutation([event for event in one if event in single]).tolist()
        late = lateness.late(told)
        steps = []
        expected = []
        for event in told:
            (step,) = outline.steps_of[event]
            worth, unit = twin.out_of_order(outline.pairs, outline.unit_of, steps, step)
            if unit is not None and worth > 0:
                expected.append((event, worth))
            steps.append(step)
        assert [told[one.place] for one in late] == [event for event, _ in expected]
        assert [one.worth for one in late] == pytest.approx([worth for _, worth in expected])
        follow = script.follow(false_alarms=RATE)
        follow.tell_all(told)
        raised = [one for one in follow.out_of_order if one.alarm]
        found = lateness.alarms(late, RATE)
        assert [told[one.place] for one in found] == [one.event for one in raised]
        assert [one.probability for one in found] == [one.probability for one in raised]
        assert list(script.score(told).late) == [one.event for one in raised]
        some += len(raised)
    assert some > 5


def test_a_share_of_usual_tellings_is_the_rate_at_which_an_alarm_is_raised(script):
    lateness = Lateness(script.made_from)
    usual = script.made_from.alarms.out_of_order
    number = len(usual) + 1
    assert lateness.share([]) == 1.0
    for seed in range(30):
        told = np.random.default_rng(seed).permutation(script.events)[:5].tolist()
        late = lateness.late(told)
        share = lateness.share(late)
        worst = max((one.worth for one in late), default=0.0)
        above = sum(one >= worst for one in usual)
        if worst > 0:
            beyond = 1.0 if above else math.exp(usual[0] - worst)
            assert share == pytest.approx((above + 1) / number * beyond)
        for rate in (0.05, 0.1, 0.3, 0.9):
            if rate * number >= 1:
                assert bool(lateness.alarms(late, rate)) == (share <= int(rate * number) / number)


@given(
    st.floats(1e-6, 1.0),
    st.floats(1e-6, 1.0),
    st.floats(0.01, 1.0),
    st.floats(0.5, 1.0),
)
def test_the_joint_share_is_between_what_it_can_be(first, second, ever, factor):
    second = second * ever
    found = joint(first, second, ever)
    assert first * second <= found <= 1
    assert joint(first, 1.0, 0.0) == first
    assert joint(first * factor, second, ever) <= found + 1e-12
    assert joint(first, second * factor, ever) <= found + 1e-12
    assert joint(0.0, second, ever) == 0.0


@pytest.mark.parametrize("ever", [0.02, 0.3, 0.7, 1.0])
def test_the_joint_share_is_equally_distributed(ever):
    rng = np.random.default_rng(1)
    first, second = rng.random(20_000), rng.random(20_000)
    second[second > ever] = 1.0
    found = np.array([joint(*pair, ever) for pair in zip(first, second, strict=True)])
    for rate in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(found <= rate) == pytest.approx(rate, abs=4 * math.sqrt(rate / 20_000))


# What is said of tellings


def test_tellings_told_backwards_are_odd(tea, script):
    found = script.conform(backwards(tea))
    assert np.mean([one.odd for one in found]) > 0.35  # by oddness alone: none
    assert np.mean([one.odd for one in script.conform([one[::-1] for one in tea])]) > 0.9
    assert not any(one.odd for one in script.conform(tea))
    assert all(one.flags for one in found if one.odd)


def test_new_tellings_told_backwards_are_odd_and_others_are_not(tea):
    odd, usual = [], []
    for part in range(3):
        seen = [one for k, one in enumerate(tea) if k % 3 != part]
        new = tea[part::3]
        script = el.ScriptLearner(title="making tea").fit(seen).script_
        odd += [one.odd for one in script.conform([one[::-1] for one in new])]
        usual += [one.odd for one in script.conform(new)]
    assert np.mean(odd) > 0.6
    assert np.mean(usual) <= 0.1


def test_scores_say_what_following_says(tea, script):
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(one).tolist() for one in tea for _ in range(4)]
    but_for = 0
    for told, found in zip(shuffled, script.conform(shuffled), strict=True):
        follow = script.follow(false_alarms=RATE)
        follow.tell_all(told)
        alarms = [one.event for one in follow.out_of_order if one.alarm]
        assert list(found.late) == alarms
        usual = "for what it tells: " if found.untold or found.brief else ": "
        usual = "but for its order: " if alarms else usual
        assert found.verdict.split()[0].strip(":") == ("odd" if found.odd else "usual")
        assert found.odd or found.verdict.endswith(usual)
        if alarms and not found.odd:
            but_for += 1
            assert "usual but for its order: " in str(found)
            assert f"; told late: {', '.join(alarms)}" in str(found)
            assert not found.flags
    assert but_for > 0
    assert script.conform(shuffled[:1]).to_rows()[0]["late"] == "; ".join(
        script.score(shuffled[0]).late
    )


def test_what_is_late_is_flagged_where_nothing_else_explains(tea, script):
    flags = [
        (flag, one)
        for one in script.conform(backwards(tea))
        for flag in one.flags
        if "usually before" in flag.note
    ]
    for flag, one in flags:
        assert flag.kind == "out of order"
        assert one.odd
        assert flag.event in one.late
        assert flag.event == one.told[flag.position]
        before = flag.note.removeprefix("out of order: usually before ").rpartition(", ")[0]
        assert before in one.told[: flag.position]
    late = [one for one in script.conform([one[::-1] for one in tea]) if one.odd and one.late]
    assert late
    for one in late:
        in_order = not any(flag.kind == "out of order" for flag in one.flags)
        assert ("; told late: " in str(one)) == in_order


def test_without_noted_alarms_nothing_is_said_of_order(tea, script):
    for alarms in (None, Alarms((), ())):
        quiet = Lateness(replace(script.made_from, alarms=alarms))
        late = quiet.late(tea[0][::-1])
        assert late
        assert not quiet.known
        assert quiet.share(late) == 1.0
        assert quiet.alarms(late, RATE) == []


def test_a_telling_that_goes_on_has_no_verdict(script, tea):
    found = script.score([*tea[0][::-1], ...])
    assert found.p_value is None
    assert found.verdict == found.rarity == ""
    assert set(found.late) <= set(tea[0])
