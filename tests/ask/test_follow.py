"""Following a telling: what is next, passed, out of order, taken back, and over a library."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
import naive_follow as twin
from elision.ask.engine.filters import StateFilter, TellingFilter, first_filter
from elision.ask.engine.passing import EXPECTED, LARGEST_ODDS, Passing
from elision.ask.follow import Follower, OutOfOrder, Skipped
from elision.learn.outline import learn_outline, sharp_script
from elision.values.outline import Alarms, Outline, Step, Unit
from models import RTOL, events, models

TEA = """
fill kettle, boil water, warm pot, add tea, pour water, drink tea
fill kettle, boil water, add tea, pour water, wait, drink tea
boil water, warm pot, add tea, pour water, drink tea
fill kettle, boil water, add tea, pour water, drink tea, drink tea
fill kettle, warm pot, boil water, add tea, pour water, wait, drink tea
fill kettle, boil water, add tea, pour water
"""


def tea_tellings():
    return [line.split(", ") for line in TEA.strip().splitlines()] * 4


def washing(seed=0, count=40):
    """Tellings in which the hands are washed at two places."""
    rng = np.random.default_rng(seed)
    steps = ["wash hands", "knead", "bake", "wash hands", "eat", "tidy"]
    return [[step for step in steps if rng.random() < 0.9] or ["bake"] for _ in range(count)]


@pytest.fixture(scope="module")
def doorbell():
    return el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_


@pytest.fixture(scope="module")
def tea():
    return el.ScriptLearner().fit(tea_tellings()).script_


@pytest.fixture(scope="module")
def twice():
    script = el.ScriptLearner().fit(washing()).script_
    assert len(script.outline().steps_of["wash hands"]) == 2
    return script


@pytest.fixture(scope="module")
def scripts(doorbell, tea, twice):
    """With a telling model, without one but with an outline, and with neither."""
    return [doorbell, tea, twice, doorbell.with_telling(None), el.examples.doorbell()]


def shuffled(script, seed, most=12):
    """Events of a script in any order, some of them again."""
    rng = np.random.default_rng(seed)
    return rng.choice(script.events, int(rng.integers(1, most))).tolist()


def random_outline(rng):
    """Steps in units at random, and tellings counted at random."""
    branches, step = [], 0
    while step < 7:
        size = min(int(rng.integers(1, 4)), 7 - step)
        branches.append(tuple((s,) for s in range(step, step + size)))
        step += size
    units = tuple(Unit(one, (1 / len(one),) * len(one), 1.0) for one in branches)
    n = len(units)
    shares = 1 - rng.random(7) ** 3
    steps = tuple(Step(f"s{s}", f"s{s}", float(share), 0.5) for s, share in enumerate(shares))
    pairs = rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < 0.7)
    np.fill_diagonal(pairs, 0)
    return Outline(steps, units, np.zeros((n, n), bool), pairs.astype(np.int64), 9)


# What comes next


def same_next(script, now, told):
    found = script.next(told).steps[0]
    chances = {one.event: one.probability for one in found.answers}
    assert now.ended == pytest.approx(found.ended, rel=RTOL, abs=1e-300)
    for one in now.next:
        expected = chances.get(one.event, 0.0)  # what cannot come is not listed
        assert one.probability == pytest.approx(expected, rel=RTOL, abs=1e-300)
    # The ten most probable ones: no other is more so.
    min_probability = min((one.probability for one in now.next), default=0.0)
    others = set(chances) - {one.event for one in now.next}
    assert all(chances[event] <= min_probability * (1 + RTOL) for event in others)
    assert [one.probability for one in now.next] == sorted(
        (one.probability for one in now.next), reverse=True
    )


def test_next_is_that_of_the_beginning(scripts):
    for script in scripts:
        possible = script.sample(5, random_state=1)
        for seed in range(6):
            # Anything can be told to a telling model, what the states cannot tell is impossible.
            told = shuffled(script, seed) if script.telling else possible[seed % 5]
            follow = script.follow()
            same_next(script, follow.now(), [])
            for count, event in enumerate(told, start=1):
                same_next(script, follow.tell(event), told[:count])


def vague(script, event, rng):
    """What a sentence heard may tell: the event, or as probably one of two others."""
    others = rng.choice(script.events, 2).tolist()
    return {**dict.fromkeys(others, 0.3), event: 0.35}


def test_next_counts_all_that_uncertain_sentences_may_tell(scripts):
    changed = 0
    for script in scripts:
        rng = np.random.default_rng(4)
        for told in script.sample(3, random_state=2):
            items = [vague(script, one, rng) if rng.random() < 0.7 else one for one in told[:7]]
            follow = script.follow()
            for count, item in enumerate(items, start=1):
                same_next(script, follow.tell(item), items[:count])
            before, hard = follow.now(), script.follow().tell_all(follow.told)
            changed += before.next != hard.next
            back = min(len(items), 3)
            for _ in range(back):
                follow.undo()
            same_next(script, follow.now(), items[: len(items) - back])
            assert follow.tell_all(items[len(items) - back :]) == before
    assert changed


def test_very_long_tellings_count_the_likeliest_event(tea, monkeypatch):
    monkeypatch.setattr("elision.ask.coming.LONGEST", 3)
    item = {"wait": 0.3, "add tea": 0.35}
    follow = tea.follow()
    for told in (["fill kettle", item], ["boil water"]):
        now = follow.tell_all(told)
        same_next(tea, now, ["fill kettle", item, "boil water"][: now.count])
    named = tea.follow().tell_all(["fill kettle", "add tea", "boil water", "pour water"])
    assert follow.tell("pour water").next == named.next
    same_next(tea, follow.undo(), ["fill kettle", item, "boil water"])


@pytest.mark.numerical
@settings(max_examples=60)
@given(models(), st.integers(0, 2**32 - 1))
def test_states_say_what_the_script_says(model, seed):
    transition, emission, elision = model
    script = el.Script(events(emission.shape[1]), transition, emission, elision)
    told = script.sample(1, random_state=seed)[0]
    state = first_filter(script)
    assert isinstance(state, StateFilter)
    for count in range(len(told) + 1):
        found = script.next(told[:count]).steps[0]
        chances = {one.event: one.probability for one in found.answers}
        expected = [*(chances.get(event, 0.0) for event in script.events), found.ended]
        np.testing.assert_allclose(np.exp(state.next_log_probs()), expected, rtol=RTOL, atol=1e-15)
        if count < len(told):
            state = state.tell(script.events.index(told[count]))


def test_what_the_states_cannot_tell_says_nothing():
    script = el.examples.doorbell()
    state = first_filter(script).tell(script.events.index("close door"))
    assert state.tell(script.events.index("hear doorbell")) is state


def test_a_chain_of_any_length_is_the_telling_model(tea):
    told = np.random.default_rng(3).integers(0, len(tea.events), 60)
    state = first_filter(tea)
    assert isinstance(state, TellingFilter)
    for count, event in enumerate(told.tolist()):
        expected = tea.telling.next_log_probs(told[:count])
        np.testing.assert_allclose(state.next_log_probs(), expected, rtol=RTOL, atol=1e-12)
        state = state.tell(event)


# What has been passed


def same_passing(passing, outline, told):
    pairs = outline.pairs.tolist()
    unit_of = outline.unit_of
    steps = range(len(outline.steps))
    expected = [twin.passed(pairs, unit_of, told, step) for step in steps]
    np.testing.assert_allclose(
        passing.passed(), expected, rtol=RTOL, atol=2 * np.exp(-LARGEST_ODDS)
    )
    tellings = outline.tellings
    tellers = [step.told * tellings for step in outline.steps]
    expected = [
        twin.passed_untold(pairs, unit_of, told, step, tellers[step], tellings) for step in steps
    ]
    np.testing.assert_allclose(
        passing.passed_untold(), expected, rtol=RTOL, atol=2 * np.exp(-LARGEST_ODDS)
    )
    for step in steps:
        weights = twin.place_weights(pairs, unit_of, told, step)
        np.testing.assert_allclose(np.exp(passing.ahead[step]), weights[-1], rtol=RTOL)
        np.testing.assert_allclose(np.exp(passing.behind[step]), sum(weights[:-1]), rtol=RTOL)
        worth, unit = twin.out_of_order(pairs, unit_of, told, step)
        found, other = passing.out_of_order(step)
        assert found == pytest.approx(worth, rel=RTOL, abs=1e-12)
        assert (other is None) == (unit is None)
    skips = passing.skips()
    assert (skips[list(set(told))] == -np.inf).all()
    for step in set(steps).difference(told):
        share = outline.steps[step].told
        worth = twin.skip(pairs, unit_of, told, step, tellers[step], tellings)
        assert skips[step] == pytest.approx(worth if share >= EXPECTED else -np.inf, rel=RTOL)


def test_running_sums_are_those_of_all_places():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        outline = random_outline(rng)
        told = []
        passing = Passing.of(outline)
        same_passing(passing, outline, told)
        for step in rng.integers(0, 7, 9).tolist():
            passing = passing.tell(step)
            told.append(step)
            same_passing(passing, outline, told)


def test_a_step_told_again_changes_nothing():
    outline = random_outline(np.random.default_rng(1))
    once = Passing.of(outline).tell(3).tell(5)
    again = once.tell(3).tell(5)
    for name in ("told", "behind", "ahead", "heard", "late"):
        np.testing.assert_array_equal(getattr(again, name), getattr(once, name))


def test_odds_are_cut_where_only_length_would_speak():
    n = 60
    steps = tuple(Step(f"s{s}", f"s{s}", 1.0, 0.9) for s in range(n))
    units = tuple(Unit(((s,),), (1.0,), 1.0) for s in range(n))
    pairs = np.triu(np.full((n, n), 50), 1)
    passing = Passing.of(Outline(steps, units, np.triu(np.ones((n, n), bool), 1), pairs, 50))
    for step in range(1, n):
        passing = passing.tell(step)
    assert passing.odds()[0] == LARGEST_ODDS
    assert np.isfinite(passing.behind).all()


def late_witnesses():
    """Three steps always come before one, which usually comes before two others; all are told."""
    first, step, last = [0, 1, 2], 3, [4, 5]
    pairs = np.zeros((6, 6), np.int64)
    for other in first:
        pairs[other, step] = 12
        pairs[other, last] = pairs[last, other] = 10
    pairs[step, last] = 20
    steps = tuple(Step(f"s{s}", f"s{s}", 1.0, 0.9) for s in range(6))
    units = tuple(Unit(((s,),), (1.0,), 1.0) for s in range(6))
    quiet = Alarms((5.0,) * 40, (5.0,) * 40)
    return Outline(steps, units, np.zeros((6, 6), bool), pairs, 20, alarms=quiet)


def test_an_alarm_is_withdrawn_when_its_ground_has_gone():
    follow = sharp_script(late_witnesses(), [f"s{s}" for s in range(6)]).follow()
    assert [one.step for one in follow.tell_all(["s4", "s5"]).alarms] == ["s3"]
    # What always comes before it is told only now: it is still to come.
    now = follow.tell_all(["s0", "s1", "s2"])
    assert now.alarms == ()
    # What comes after it brings the alarm back, and so does the end.
    follow = sharp_script(late_witnesses(), [f"s{s}" for s in range(6)]).follow()
    assert follow.tell_all(["s0", "s1", "s2"]).alarms == ()
    assert [one.step for one in follow.tell_all(["s4", "s5"]).alarms] == ["s3"]
    assert [one.step for one in follow.finish().alarms] == ["s3"]


def test_skipped_steps_are_those_probably_passed(tea):
    follow = tea.follow()
    assert follow.skipped == ()
    now = follow.tell_all(["fill kettle", "add tea", "pour water"])
    first = next(one for one in now.skipped if one.step == "boil water")
    assert first.passed > 0.9
    assert 0 <= first.done <= first.passed
    assert "drink tea" not in {one.step for one in now.skipped}
    order = [(not one.alarm, -one.passed) for one in now.skipped]
    assert order == sorted(order)
    # Told after all: no longer skipped, but out of order.
    now = follow.tell("boil water")
    assert "boil water" not in {one.step for one in now.skipped}
    late = now.out_of_order[-1]
    assert (late.event, late.position) == ("boil water", 3)
    assert late.before in {"add tea", "pour water"}
    assert late.probability > 0.5


def test_in_words_what_was_probably_not_done_is_counted():
    passed = [(0.9, 0.8, False), (0.3, 0.1, True), (0.9, 0.4, False), (0.4, 0.1, False)]
    skips = [
        Skipped(f"e{n}", f"s{n}", *one, told=0.95, before="s9")
        for n, one in enumerate([*passed, passed[2]])
    ]
    now = replace(Follower(el.examples.doorbell()).finish(), skipped=tuple(skips))
    first, *lines = str(now).splitlines()
    assert first == "100% done (finished)"
    assert lines == [
        "  passed untold: s0 (90%, done 80%)",
        "! skipped: s1 (95% tell it, usually before s9)",
        "  passed untold: 2 more, probably not done",
    ]
    assert "more" not in str(replace(now, skipped=tuple(skips[:2])))


def test_what_comes_next_has_not_been_passed(scripts):
    seen = 0
    for script in scripts:
        for seed in range(12):
            follow = script.follow()
            for event in shuffled(script, seed):
                now = follow.tell(event)
                chances = {one.event: one.probability for one in now.next}
                passing = follow._states[-1].passing
                for one in now.skipped:
                    step = passing.step_of(one.event)
                    if step is not None and script.outline().steps[step].name == one.step:
                        seen += chances.get(one.event, 0) > 0.2
                        assert one.passed <= 1 - chances.get(one.event, 0) + 0.01
    assert seen


def test_what_everybody_tells_is_rather_still_to_come():
    # Two of three tell "b" before "a"; all of them tell it, and hardly one "c".
    tellings = [["b", "a"], ["b", "c", "a"], ["a", "b"]] * 10
    outline = learn_outline([tuple("abc".index(e) for e in one) for one in tellings], list("abc"))
    passing = Passing.of(outline).tell(outline.steps_of["a"][0])
    (b,), (c,) = outline.steps_of["b"], outline.steps_of["c"]
    assert passing.passed()[b] > 0.6
    assert passing.passed_untold()[b] < 0.1
    assert passing.passed_untold()[c] > 0.9


def test_instead_of_a_step_something_else_was_told(doorbell):
    outline = doorbell.outline()
    choice = next(unit for unit in outline.units if len(unit.branches) > 1)
    told = outline.steps[choice.branches[0][0]]
    others = {outline.steps[s].name for s in set(choice.steps) - set(choice.branches[0])}
    now = doorbell.follow().tell_all(["hear doorbell", "open door", told.event, "close door"])
    assert others.isdisjoint(one.step for one in now.skipped)


def test_two_places_of_one_event(twice):
    follow = twice.follow()
    first, second = (twice.outline().steps[s].name for s in twice.outline().steps_of["wash hands"])
    follow.tell("wash hands")
    assert first not in {one.step for one in follow.skipped}
    now = follow.tell_all(["knead", "bake", "eat"])
    passed = {one.step: one.passed for one in now.skipped}
    assert first not in passed
    assert passed[second] > 0.5
    # Where the first place has been passed, it is the second that is told.
    follow = twice.follow()
    now = follow.tell_all(["knead", "bake", "wash hands", "eat"])
    passed = {one.step: one.passed for one in now.skipped}
    assert passed[first] > 0.5
    assert second not in passed


def test_progress_goes_from_nothing_to_all(doorbell):
    follow = doorbell.follow()
    told = ["hear doorbell", "walk to door", "open door", "greet visitor", "close door"]
    shares = [follow.progress, *(follow.tell(event).progress for event in told)]
    assert shares[0] == pytest.approx(0, abs=1e-12)
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    assert follow.finish().progress == 1


def test_progress_never_falls(scripts):
    for script in scripts:
        for seed in range(8):
            follow = script.follow()
            told = [*shuffled(script, seed), "sneeze"]
            shares = [follow.progress, *(follow.tell(event).progress for event in told)]
            assert shares == sorted(shares)
            assert shares[-1] <= 1


def test_progress_is_about_the_share_told():
    # "any" may be told at any time: told late, it takes nothing back; told early, it says little.
    rng = np.random.default_rng(2)
    steps = [f"s{number}" for number in range(8)]

    def telling():
        found = list(steps)
        for event in ("any", "when"):
            found.insert(int(rng.integers(0, 9)), event)
        return found

    script = el.ScriptLearner().fit([telling() for _ in range(20)]).script_
    for _ in range(10):
        follow, told = script.follow(), telling()
        for count, event in enumerate(told, start=1):
            assert abs(follow.tell(event).progress - count / 10) < 0.12


def test_out_of_order_is_what_the_outline_says_or_an_alarm(scripts):
    free = 0
    for script in scripts:
        outline = script.outline()
        for seed in range(12):
            follow = script.follow(false_alarms=1e-9)
            for event in shuffled(script, seed):
                passing = follow._states[-1].passing
                step = passing.step_of(event)
                now = follow.tell(event)
                late = [one for one in now.out_of_order if one.position == now.count - 1]
                if step is None or passing.told[step]:
                    assert not late
                    continue
                own = outline.unit_of[step]
                ordered = outline.order[own] & passing.heard
                worth = passing.out_of_order(step)[0]
                if not any(one.alarm for one in late):
                    free += worth > 0 and not ordered.any()
                    assert bool(late) == (worth > 0 and bool(ordered.any()))
                for one in late:
                    names = [outline.steps[s].name for s in range(len(outline.steps))]
                    unit = outline.unit_of[names.index(one.before)]
                    assert one.alarm or outline.order[own, unit]
                    assert passing.heard[unit]
    assert free


# Taking back, finishing, and what else can be told


def test_taking_back_restores_everything(scripts):
    for script in scripts:
        rng = np.random.default_rng(7)
        follow, told, seen = script.follow(), [], []
        for _ in range(60):
            if told and rng.random() < 0.4:
                assert follow.undo() == seen.pop()
                told.pop()
            else:
                seen.append(follow.now())
                told.append(str(rng.choice([*script.events, "sneeze"])))
                follow.tell(told[-1])
        fresh = script.follow()
        for item in told:
            fresh.tell(item)
        assert fresh.now() == follow.now()
        assert follow.told == tuple(one for one in told if one != "sneeze")
        while told:
            follow.undo()
            told.pop()
        assert follow.now() == script.follow().now()
        with pytest.raises(el.InputError, match="nothing was told"):
            follow.undo()


def test_finishing(doorbell):
    follow = doorbell.follow()
    before = follow.tell_all(["hear doorbell", "open door"])
    now = follow.finish()
    assert now.finished
    assert (now.ended, now.next, now.progress) == (1.0, (), 1.0)
    assert {one.passed for one in now.skipped} == {1.0}
    assert {one.step for one in before.skipped} <= {one.step for one in now.skipped}
    assert "(finished)" in str(now)
    with pytest.raises(el.InputError, match="finished"):
        follow.tell("close door")
    assert follow.finish() == now
    assert follow.undo() == before
    assert follow.tell("close door").count == 3


@pytest.mark.parametrize("told", [["boil water", "drink tea"], ["fill kettle"], [], ["sneeze"]])
def test_scores_name_what_is_alarming_at_the_end(tea, told):
    follow = tea.follow()
    follow.tell_all(told)
    due = [one.step for one in follow.finish().skipped if one.told >= EXPECTED]
    assert due
    found = tea.score(told)
    assert list(found.untold) == due
    assert str(found).endswith("nearly all tell it: " + ", ".join(due))
    assert tea.conform([told]).to_rows()[0]["untold"] == "; ".join(due)
    assert tea.score([*told, ...]).untold == ()


def test_what_tells_little_is_usual_for_what_it_tells(doorbell):
    usually = np.mean([len(set(one)) for one in el.examples.doorbell_tellings()])
    found = doorbell.score(["hear doorbell", "walk to door", "open door", "take parcel"])
    assert found.steps == (4, pytest.approx(usually))
    assert not found.brief
    assert not found.untold
    assert found.verdict == "usual: "
    for told, untold in (
        (["hear doorbell", "walk to door", "take parcel", "close door"], ("open door",)),
        (["open door"], ()),
    ):
        found = doorbell.score(told)
        last = str(found).splitlines()[-1]
        assert found.untold == untold
        assert last.startswith("usual for what it tells: ")
        assert last.endswith(
            "not told, though nearly all tell it: open door"
            if untold
            else "; it tells 1 of the 5 steps that are usual"
        )
        assert ("steps that are usual" in last) == (2 * len(told) < usually) == found.brief
    assert doorbell.score(["open door", ...]).steps is None
    assert doorbell.score(["open door", ...]).verdict == ""


def test_what_is_usual_may_be_one_step():
    script = el.ScriptLearner().fit(3 * [["ring"]]).script_
    assert "it tells 0 of the 1 step that is usual" in str(script.score([]))


@pytest.mark.parametrize("unknown", ["error", "ignore"])
def test_weights_of_nothing_are_refused(doorbell, unknown):
    follow = doorbell.follow(unknown=unknown)
    follow.tell("hear doorbell")
    with pytest.raises(el.InputError, match="no event has a positive weight"):
        follow.tell({})
    assert follow.told == ("hear doorbell",)
    assert follow.undo().count == 0


def test_what_is_perhaps_told_is_not_untold(tea, clinic):
    told = ["fill kettle", "boil water", "warm pot", "add tea", "drink tea"]
    assert tea.score(told).untold == ("pour water",)
    # Whatever it rather is: before or after the place of what it may be.
    for place in (0, 4):
        vague = [*told[:place], {"wait": 0.45, "pour water": 0.06}, *told[place:]]
        assert tea.score(vague).untold == ()
        follow = tea.follow()
        follow.tell_all(vague)
        assert follow.finish().alarms == ()
        vague[place] = {"wait": 0.6, "drink tea": 0.06}
        assert tea.score(vague).untold == ("pour water",)
    # Nor is a choice, if a branch of it is perhaps told.
    maybe = ["come", {"come": 0.4, "refer": 0.3}, "go"]
    follow = clinic.follow()
    follow.tell_all(maybe)
    assert follow.finish().alarms == ()
    assert clinic.score(maybe).untold == ()


def test_a_choice_in_parts_is_perhaps_told_by_any_part():
    tellings = [["come", f"{one}1", "test", "wait", f"{one}2", "go"] for one in "ab"]
    script = el.ScriptLearner().fit(35 * tellings[:1] + 45 * tellings[1:]).script_
    assert len(script.outline().apart) == 1
    assert len(script.score(["come", "test", "wait", "go"]).untold) == 1
    for place, maybe in ((1, {"a1": 0.45, "b1": 0.45}), (3, {"a2": 0.45, "b2": 0.45})):
        told = ["come", "test", "wait", "go"]
        told.insert(place, maybe)
        assert script.score(told).untold == ()
        follow = script.follow()
        follow.tell_all(told)
        assert follow.finish().alarms == ()


def test_no_step_is_expected_because_of_an_uncertain_sentence(clinic):
    assert clinic.score(["come", "ward", "go"]).untold == ("surgery",)
    assert clinic.score(["come", {"ward": 0.45, "surgery": 0.4}, "go"]).untold == ()


def test_scores_expect_nothing_that_something_else_was_told_for():
    tellings = [["come", one, "go"] for one in 19 * ["pay cash"] + ["pay by card"]]
    script = el.ScriptLearner().fit(4 * tellings).script_
    assert script.score(["come", "go"]).untold == ("pay cash",)
    assert script.score(["come", "pay by card", "go"]).untold == ()
    assert script.score(["come", "pay cash", "go"]).untold == ()


@pytest.fixture(scope="module")
def clinic():
    """Some are operated on and then lie in the ward, the others get a medicine or are sent on."""
    ways = 4 * [["surgery", "ward"]] + 3 * [["medicine"]] + 3 * [["refer"]]
    return el.ScriptLearner().fit(6 * [["come", *way, "go"] for way in ways]).script_


@pytest.mark.parametrize(
    ("told", "missing", "within"),
    [
        (["come", "surgery", "go"], "ward", "surgery"),
        (["come", "ward", "go"], "surgery", "ward"),
        (["come", "surgery"], "go", None),
    ],
)
def test_at_the_end_a_step_of_a_branch_is_missed_where_the_branch_was_told(
    clinic, told, missing, within
):
    follow = clinic.follow()
    assert follow.tell_all(told).alarms == ()
    alarms = {one.event: one for one in follow.finish().alarms}
    assert (alarms[missing].within, alarms[missing].alarm) == (within, True)
    assert alarms[missing].told >= EXPECTED
    assert missing in clinic.score(told).untold
    words = [str(line) for line in str(follow.now()).splitlines() if f"skipped: {missing}" in line]
    assert (f"tell it with {within}" in words[0]) == (within is not None)


def test_at_the_end_a_choice_that_was_skipped_whole_is_one_alarm(clinic):
    follow = clinic.follow()
    assert follow.tell_all(["come", "go"]).alarms == ()
    (alarm,) = follow.finish().alarms
    assert alarm.step.startswith("one of ")
    assert set(alarm.step.removeprefix("one of ").split(", ")) == {"surgery", "medicine", "refer"}
    assert (alarm.event, alarm.passed, alarm.before) == ("surgery", 1.0, "go")
    assert alarm.told == pytest.approx(1.0)
    assert clinic.score(["come", "go"]).untold == (alarm.step,)
    # In what is told as usual, nothing is missed.
    for way in (["surgery", "ward"], ["medicine"], ["refer"]):
        follow = clinic.follow()
        follow.tell_all(["come", *way, "go"])
        assert follow.finish().alarms == ()
        assert clinic.score(["come", *way, "go"]).untold == ()


def test_no_choice_is_missed_that_many_skip_nor_a_branch_that_few_tell():
    ways = 2 * [[]] + 3 * [["surgery"]] + 3 * [["medicine"]]
    script = el.ScriptLearner().fit(6 * [["come", *way, "go"] for way in ways]).script_
    assert [len(unit.branches) for unit in script.outline().units].count(2) == 1
    assert script.score(["come", "go"]).untold == ()
    for few, untold in ((4, ()), (5, ("ward",))):
        ways = 56 * [["medicine"]] + few * [["surgery", "ward"]]
        script = el.ScriptLearner().fit([["come", *way, "go"] for way in ways]).script_
        assert script.score(["come", "surgery", "go"]).untold == untold


def test_what_is_untold_at_the_end_stands_in_the_order_of_the_outline(tea):
    now = tea.follow().finish()
    order = [step.name for step in tea.outline().steps]
    for alarm in (True, False):
        found = [order.index(one.step) for one in now.skipped if one.alarm == alarm]
        assert len(found) > 1
        assert found == sorted(found)


def test_at_the_end_what_nearly_everybody_tells_is_missed(tea):
    follow = tea.follow()
    before = follow.tell_all(["fill kettle", "boil water"])
    assert before.alarms == ()
    missed = {one.step for one in follow.finish().alarms}
    shares = {step.name: step.told for step in tea.outline().steps}
    assert missed == {name for name, share in shares.items() if share >= EXPECTED} - {"boil water"}


def test_unknown_events_are_noted_or_refused(doorbell):
    follow = doorbell.follow()
    follow.tell("hear doorbell")
    before = follow.now()
    now = follow.tell("sneeze")
    assert now.unknown == ("sneeze",)
    assert (now.count, now.next, now.skipped) == (1, before.next, before.skipped)
    assert follow.tell("open door").unknown == ("sneeze",)
    assert follow.told == ("hear doorbell", "open door")
    follow.undo()
    assert follow.undo() == before
    strict = doorbell.follow(unknown="error")
    with pytest.raises(el.InputError, match="'sneeze' is no event"):
        strict.tell("sneeze")
    assert strict.now() == doorbell.follow().now()


def test_what_is_no_event_is_refused(doorbell):
    follow = doorbell.follow()
    for bad in (None, ..., 3, ["open door"]):
        with pytest.raises(el.InputError):
            follow.tell(bad)
    assert follow.now() == doorbell.follow().now()
    # Of several that it may have been, the likeliest is taken.
    assert follow.tell({"open door": 0.7, "close door": 0.3}).count == 1
    assert follow.told == ("open door",)
    for rate in (0, 1, -0.1, "often", float("nan")):
        with pytest.raises(el.InputError, match="false_alarms"):
            doorbell.follow(false_alarms=rate)


def test_events_told_again_and_again(doorbell):
    follow = doorbell.follow()
    once = follow.tell("hear doorbell")
    again = follow.tell_all(["hear doorbell"] * 5)
    assert again.count == 6
    assert again.out_of_order == ()
    assert [(one.step, one.passed) for one in again.skipped] == [
        (one.step, one.passed) for one in once.skipped
    ]


def test_a_story_so_far(doorbell):
    told = ["hear doorbell", "open door"]
    follow = doorbell.follow()
    follow.tell_all(told)
    assert follow.story().told == tuple(told)


def test_a_script_without_an_outline_knows_no_alarms():
    follow = Follower(el.examples.doorbell())
    assert not follow.knows_alarms
    now = follow.tell_all(["open door", "hear doorbell", "close door"])
    assert now.skipped
    assert now.out_of_order
    assert now.alarms == ()


def test_alarms_are_the_worst_of_what_is_listed(tea):
    follow = tea.follow(false_alarms=0.9)
    now = follow.tell_all(["drink tea", "fill kettle"])
    assert set(now.alarms) <= {*now.skipped, *now.out_of_order}
    assert all(one.alarm for one in now.alarms)
    kinds = {type(one) for one in now.alarms}
    assert kinds <= {Skipped, OutOfOrder}
    assert OutOfOrder in kinds


SENTENCES = [
    ["I heard the bell.", "I walked to the door.", "I opened the door.", "I greeted my friend."],
    ["heard the bell ring", "went to the door", "opened the door", "greeted the visitor"],
    ["the bell rang and I heard it", "walk to door", "open the door", "greet them"],
    ["hear bell", "go to the door", "open door", "greet friend"],
] * 3


@pytest.fixture(scope="module")
def spoken():
    corpus = el.Corpus(
        el.Narrative(None, tuple(one), "bell", str(n)) for n, one in enumerate(SENTENCES)
    )
    extractor = el.EventExtractor()
    script = el.ScriptLearner().fit(extractor.fit_transform(corpus).events).script_
    return script.annotated(extractor=extractor.to_dict())


def test_sentences_are_followed_as_their_events(spoken):
    by_words, by_name = spoken.follow(), spoken.follow()
    for sentence in ["I heard the bell", "I opened the door"]:
        heard = by_words.tell(sentence)
    assert heard.count == len(by_words.told) >= 2
    assert set(by_words.told) <= set(spoken.events)
    assert by_name.tell_all(by_words.told) == heard
    # One sentence is taken back at once, however many events it told.
    both = spoken.follow()
    before = both.now()
    both.tell("I heard the bell and I opened the door.")
    assert both.undo() == before
    assert both.told == ()
    assert both.tell("The moon is made of cheese.").unknown == ("The moon is made of cheese.",)


# Imports

LIGHT = """
import sys
before = set(sys.modules)
import elision as el
{loaded}
follow = {followed}.follow()
for event in events[:4]:
    follow.tell(event)
follow.tell("no such event")
follow.finish()
follow.undo()
str(follow.undo())
names = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(names - set(sys.stdlib_module_names)))
"""


def imported(loaded, followed, path):
    program = LIGHT.replace("{loaded}", loaded).replace("{followed}", followed)
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    return set(run.stdout.split())


# Where the last one is installed, msgspec looks at it.
LITTLE = {"elision", "numpy", "msgspec", "typing_extensions"}


def test_following_needs_little(tea, tmp_path):
    path = tmp_path / "tea.json"
    tea.save(path)
    loaded = "script = el.load(sys.argv[1]); events = script.events"
    assert imported(loaded, "script", path) <= LITTLE


def test_a_repeat_in_a_row_is_no_step_out_of_order():
    follower = el.ScriptLearner().fit(washing()).script_.follow()
    now = follower.tell_all(["knead", "bake", "wash hands", "wash hands"])
    assert not any(late.event == "wash hands" for late in now.out_of_order[1:])
    assert [late.position for late in now.out_of_order] in ([], [2])


def test_a_wrong_rate_is_refused_at_once():
    for rate in (0, 1, 3, "often"):
        with pytest.raises(el.InputError, match="false_alarms"):
            el.examples.doorbell().follow(false_alarms=rate)
