"""Scripts that never leave something out: tellings that lack it or are not finished."""

from __future__ import annotations

import math

import numpy as np
import pytest

import elision as el
from elision._threads import batch


@pytest.fixture(scope="module")
def strict():
    """Tells a, b and c, always."""
    return el.Script.build(
        {"A": "a", "B": "b", "C": "c"},
        {"start": {"A": 1}, "A": {"B": 1}, "B": {"C": 1}, "C": {"end": 1}},
    )


@pytest.fixture(scope="module")
def branching():
    """Tells a, perhaps b, then c or d."""
    return el.Script.build(
        {"A": "a", "B": {"b": 0.6, None: 0.4}, "C": "c", "D": "d"},
        {
            "start": {"A": 1},
            "A": {"B": 1},
            "B": {"C": 0.3, "D": 0.7},
            "C": {"end": 1},
            "D": {"end": 1},
        },
    )


@pytest.mark.parametrize(
    ("told", "missing"),
    [(["b"], "'a', 'c'"), (["c", "a"], "'a', 'b'"), ([], "'a', 'b', 'c'"), ([None], "'a', 'b'")],
)
def test_align_says_what_a_telling_lacks_and_not_to_ask_align(strict, told, missing):
    with pytest.raises(
        el.InputError, match="cannot tell this narrative, nor any part of it"
    ) as caught:
        strict.align(told)
    assert f"always has {missing}: put in" in str(caught.value)
    assert "align" not in str(caught.value)


def test_align_names_few_of_what_a_telling_lacks():
    names = [f"s{k}" for k in range(9)]
    ways = {one: {other: 1} for one, other in zip(["start", *names], [*names, "end"], strict=True)}
    script = el.Script.build(dict(zip(names, names, strict=True)), ways)
    with pytest.raises(
        el.InputError, match=r"always has 's1', 's2', 's3', 's4', 's5', \.\.\.: put"
    ):
        script.align(["s0"])


def test_other_questions_send_to_align_which_answers_or_says_why(strict):
    with pytest.raises(el.InputError, match="score says which"):
        strict.between(["a", "b", "b", "c"])
    assert strict.align(["a", "b", "b", "c"]).spurious in {(1,), (2,)}


def test_align_as_far_as_a_telling_goes(branching):
    found = branching.align(["a", ...])
    assert [(step.event, step.position) for step in found.steps] == [("a", 0)]
    assert found.log_prob == pytest.approx(0.0)
    found = branching.align(["b", "a", "b", ...])
    assert found.spurious == (0,)
    assert [step.event for step in found.steps] == ["b", "a", "b"]
    assert found.log_prob == pytest.approx(math.log(0.6))
    found = branching.align(["cough", "a"], unknown="ignore", finished=False)
    assert [(step.event, step.state) for step in found.steps] == [("cough", None), ("a", "A")]
    with pytest.raises(el.InputError, match="always has 'a', 'd': put in"):
        branching.align(["b", ...])


def test_nothing_is_always_told_on_the_way_from_start_to_end():
    script = el.Script.build({"A": "a"}, {"start": {"A": 0.5, "end": 0.5}, "A": {"end": 1}})
    found = script.align([])
    assert found.steps == ()
    assert found.log_prob == pytest.approx(math.log(0.5))


def test_score_as_far_as_a_telling_goes(strict, branching):
    found = strict.score(["a", ...])
    assert found.told == ("a",)
    assert found.log_prob == pytest.approx(0.0)
    assert found.surprises == pytest.approx((0.0,))
    assert (found.flags, found.p_value, found.ending) == ((), None, 0.0)
    found = branching.score(iter(["a", "b"]), finished=False)
    assert found.told == ("a", "b")
    assert found.log_prob == pytest.approx(math.log(0.6))
    assert not np.isnan(strict.score(["b", ...]).log_prob)
    assert strict.score(["b", ...]).flags[0].kind == "impossible"
    with pytest.raises(el.InputError, match="expected a list of events"):
        strict.score("a", finished=False)


def test_score_of_a_beginning_that_may_end_is_as_before(branching):
    told = ["a", "b", "d"]
    whole, begun = branching.score(told, samples=0), branching.score([*told, ...])
    assert begun.surprises == whole.surprises
    assert begun.log_prob == pytest.approx(whole.log_prob + whole.ending)


@pytest.fixture(scope="module")
def doorbells():
    """The doorbell as it was built, and as it was learned."""
    return [el.examples.doorbell(), el.examples.learned_doorbell()]


def test_what_comes_next_is_asked_of_a_beginning_anyway(doorbells):
    told = ["hear doorbell", "open door"]
    for script in doorbells:
        assert script.next([*told, ...]) == script.next(told)


def test_nothing_is_missing_after_what_is_not_finished(doorbells):
    told = ["hear doorbell", "open door"]
    for script in doorbells:
        whole, begun = (script.missing(one, min_probability=0.2) for one in (told, [*told, ...]))
        assert begun == script.missing(told, min_probability=0.2, finished=False)
        assert [[one.event for one in place] for place in begun.places[:-1]] == [
            [one.event for one in place] for place in whole.places[:-1]
        ]
        assert begun.places[-1] == ()
        assert whole.places[-1] != ()
        assert begun.repaired[-1].event == "open door"


def test_what_a_plain_script_says_is_missing_from_a_beginning_is_what_it_passed(branching):
    begun = branching.missing(["a", "d", ...], min_probability=0.0)
    story = branching.between(["a", "d", ...], min_probability=0.0)
    assert [
        [(one.event, pytest.approx(one.probability)) for one in place] for place in begun.places
    ] == [[(one.event, one.probability) for one in gap] for gap in story.unsaid]
    assert begun.places[1][0].event == "b"


@pytest.fixture(scope="module")
def in_parallel():
    """Learned from tellings in which b, which c follows, comes before or after d, both always."""
    tellings = [list("abcde"), list("abdce"), list("adbce")] * 8
    return el.ScriptLearner().fit(tellings).script_, tellings


def beginnings_of(tellings):
    every = {tuple(one[:k]) for one in tellings for k in range(1, len(one))}
    return [[*one, ...] for one in sorted(every)]


def test_beginnings_of_what_it_learned_from_are_not_odd(in_parallel):
    script, tellings = in_parallel
    for begun in beginnings_of(tellings):
        found = script.score(begun)
        assert found.oddness < 0, begun
        assert (found.flags, found.untold, found.p_value) == ((), (), None)
        assert found.fitness == pytest.approx(1.0)
    # Only what follows is left out of the reckoning.
    assert script.score(["a", "e", "b", ...]).oddness > 0
    assert script.score(["a", "sneeze", ...]).flags[0].kind == "unknown"


def test_what_is_told_next_was_neither_passed_nor_is_it_missing(in_parallel):
    script, _ = in_parallel
    told = ["a", "d", ...]
    assert script.next(told).answers[0].event == "b"
    assert script.next(told).answers[0].probability > 0.9
    assert all(not gap.unsaid for gap in script.between(told, min_probability=0.1).gaps)
    assert script.missing(told, min_probability=0.1).places == ((), (), ())
    following = script.follow()
    following.tell_all(told[:-1])
    assert following.skipped == ()
    # What has been passed was left out all the same.
    assert [one.event for one in script.between(["a", "d", "e", ...]).gaps[2].unsaid] == ["b", "c"]


def test_what_was_left_out_so_far_is_what_following_says_was_done(in_parallel):
    script, _ = in_parallel
    told = ["a", "d", "e"]
    following = script.follow()
    done = {one.event: one.done for one in following.tell_all(told).skipped}
    found = script.between([*told, ...], min_probability=0.0)
    for event in "bc":
        unsaid = sum(
            one.probability for gap in found.gaps for one in gap.unsaid if one.event == event
        )
        assert 0.5 < unsaid <= done[event] + 1e-9


def test_many_beginnings_are_judged_as_each_by_itself(in_parallel, doorbells):
    script, tellings = in_parallel
    many = [*beginnings_of(tellings)[:4], tellings[0], ["a", "x", None, ...]]
    for one, judged in zip(many, script.conform(one for one in many), strict=True):
        alone = script.score(one)  # by numpy, which takes sums in another order
        assert judged.log_prob == pytest.approx(alone.log_prob, rel=1e-9)
        assert judged.oddness == pytest.approx(alone.oddness, rel=1e-9)
        assert (judged.flags, judged.p_value, judged.late) == (
            alone.flags,
            alone.p_value,
            alone.late,
        )
    asked = many[:-1]
    with batch():
        assert list(script.between_many(asked)) == [script.between(one) for one in asked]
