"""Gap filling, each gap by itself or together, against enumeration and at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import elision as el
import naive
import naive_ask
from asked import close, named, script_of, told, with_gaps
from elision.ask.engine import best_first
from elision.ask.fill import overall
from elision.values.questions import Questions
from models import models

pytestmark = pytest.mark.numerical


def as_row(script, answers):
    """Probabilities by event number."""
    found = {one.event: one.probability for one in answers}
    return [found.get(event, 0.0) for event in script.events]


@given(with_gaps(st.integers(1, 3), soft=True))
def test_each_gap_by_itself_agrees_with_enumeration(case):
    model, narrative = case
    script = script_of(model)
    fillings = script.fill(named(narrative, len(script.events)))
    places = [place for place, item in enumerate(narrative) if item is None]
    assert [filling.position for filling in fillings] == places
    for filling in fillings:
        assert not filling.fallback
        close(as_row(script, filling.answers), naive.fill(*model, narrative, filling.position))
        values = [one.probability for one in filling.answers]
        assert values == sorted(values, reverse=True)
        close(sum(values), 1)


@given(with_gaps(st.integers(1, 3)))
def test_gaps_together_agree_with_enumeration(case):
    model, narrative = case
    script = script_of(model)
    expected = naive_ask.joint(model, narrative)
    found = script.fill(named(narrative, len(script.events)), joint=True, top=len(expected))
    assert found.exact
    assert found.positions == tuple(i for i, item in enumerate(narrative) if item is None)
    numbers = {
        tuple(map(script.events.index, one.events)): one.probability for one in found.answers
    }
    close([numbers.get(one, 0.0) for one in expected], list(expected.values()))
    values = [one.probability for one in found.answers]
    assert values == sorted(values, reverse=True)
    close(sum(values), 1)


@given(with_gaps(st.integers(1, 3)), st.data())
def test_excluded_events_are_excluded_from_every_gap(case, data):
    model, narrative = case
    script = script_of(model)
    banned = data.draw(st.integers(0, len(script.events) - 1))
    expected = {
        events: chance
        for events, chance in naive_ask.joint(model, narrative).items()
        if banned not in events
    }
    total = sum(expected.values())
    asked = named(narrative, len(script.events))
    if total == 0:
        with pytest.raises(el.InputError, match="excluded"):
            script.fill(asked, exclude=[script.events[banned]])
        with pytest.raises(el.InputError, match="excluded"):
            script.fill(asked, exclude=[script.events[banned]], joint=True)
        return
    together = script.fill(asked, exclude=[script.events[banned]], joint=True, top=len(expected))
    numbers = {
        tuple(map(script.events.index, one.events)): one.probability for one in together.answers
    }
    close([numbers.get(one, 0.0) for one in expected], [p / total for p in expected.values()])
    for gap, filling in enumerate(script.fill(asked, exclude=[script.events[banned]])):
        row = np.zeros(len(script.events))
        for events, chance in expected.items():
            row[events[gap]] += chance / total
        close(as_row(script, filling.answers), row)


@given(with_gaps(st.integers(2, 3)), st.integers(1, 4))
def test_a_beam_returns_true_probabilities(case, top):
    """With the exact search cut short, what is found is still weighed exactly."""
    model, narrative = case
    script = script_of(model)
    expected = naive_ask.joint(model, narrative)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best_first, "MOST_EXPANDED", 1)
        patch.setattr(best_first, "BEAM", 2)
        found = script.fill(named(narrative, len(script.events)), joint=True, top=top)
    assert found.answers
    assert not found.exact or len(found.answers) == top
    for one in found.answers:
        close(one.probability, expected[tuple(map(script.events.index, one.events))])


@given(told(soft=True), st.data())
def test_many_at_once_are_each_by_itself(case, data):
    model, narrative = case
    assume(model[1].any())
    script = script_of(model)
    count = len(script.events)
    places = data.draw(st.lists(st.integers(0, len(narrative)), min_size=1, max_size=4))
    asked = [named([*narrative[:p], None, *narrative[p:]], count) for p in places]
    together = script.fill_many(asked, top=2)
    for one, alone in zip(together, map(script.fill, asked), strict=True):
        for filling, expected in zip(one, alone, strict=True):
            assert filling.position == expected.position
            close(
                [answer.probability for answer in filling.answers],
                [answer.probability for answer in expected.answers[:2]],
            )


@given(told(most_length=3, soft=True))
def test_a_missing_event_anywhere_agrees_with_enumeration(case):
    model, narrative = case
    script = script_of(model)
    expected = naive.fill_anywhere(*model, narrative, method="paths")
    asked = named(narrative, len(script.events))
    if not expected.any():
        with pytest.raises(el.InputError, match="cannot tell"):
            script.fill(asked, anywhere=True)
        return
    found = script.fill(asked, anywhere=True)
    table = np.zeros(expected.shape)
    for one in found.answers:
        table[:, script.events.index(one.event)] = one.places
        close(sum(one.places), one.probability)
    close(table, expected)
    close(found.places, expected.sum(axis=1))


def test_the_missing_event_may_be_what_makes_a_telling_possible():
    script = el.Script.build(
        states={"a": "a", "b": "b"}, edges={"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}}
    )
    assert script.log_prob(["b"]) == -np.inf
    found = script.fill(["b"], anywhere=True)
    assert str(found) == "a  100%  (before b)"
    assert found.places == (1, 0)
    with pytest.raises(el.InputError, match="excluded"):
        script.fill(["b"], anywhere=True, exclude=["a"])


def test_a_missing_event_of_a_telling_beyond_the_range_of_a_double():
    """A thousand improbable events: weights of places must not underflow."""
    script = el.Script.build(
        states={"a": {"a": 1e-3, "b": 0.5, None: 0.499}},
        edges={"start": {"a": 1}, "a": {"a": 0.5, "end": 0.5}},
    )
    found = script.fill(["a"] * 1000, anywhere=True)
    assert [one.event for one in found.answers] == ["b", "a"]
    close(found.answers[0].probability, 0.5 / 0.501)


def test_a_missing_event_where_only_a_mute_state_fits_well():
    """Putting an event where nothing can be told must not drown the places where one can."""
    tiny = 1e-200
    script = el.Script.build(
        states={
            "mute": {None: 1.0},
            "a": {"a": tiny, "b": 1.0},
            "b": {"a": 1.0, "b": tiny},
            "c": {"c": tiny, "d": 1.0},
        },
        edges={
            "start": {"mute": 0.5, "c": 0.5},
            "mute": {"a": 1},
            "a": {"b": 1},
            "b": {"end": 1},
            "c": {"c": 0.5, "end": 0.5},
        },
    )
    assert [one.event for one in script.fill(["a"], anywhere=True).answers] == ["b", "a"]
    assert [one.event for one in script.fill(["c", "c"], anywhere=True).answers] == ["d", "c"]


def test_many_gaps_that_depend_on_nothing_are_searched_by_a_beam():
    names = [f"e{o}" for o in range(12)]
    script = el.Script.build(
        states={"any": dict.fromkeys(names, 1 / 12)},
        edges={"start": {"any": 1}, "any": {"any": 0.9, "end": 0.1}},
    )
    found = script.fill([None] * 8, joint=True, top=3)
    assert not found.exact
    assert len(found.answers) == 3
    for one in found.answers:
        close(one.probability, 12.0**-8)


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


def test_of_an_uncertain_event_only_the_unknown_part_is_ignored():
    script = el.examples.doorbell()
    partly = {"cough": 0.5, "walk to door": 0.25, "open door": 0.25}
    known = {"walk to door": 0.25, "open door": 0.25}
    assert script.fill([partly, None], unknown="ignore") == script.fill([known, None])
    with pytest.raises(el.UnknownEventError, match="cough"):
        script.fill([partly, None])
    with pytest.raises(el.InputError, match="from 0 to 1"):
        script.fill([{"cough": 2.0, "open door": 1.0}, None], unknown="ignore")


def test_the_model_is_made_once_for_questions_alike():
    script = el.examples.doorbell()
    gap, plain = script.pack([[None, "open door"]]), script.pack([["open door"]])
    soft = script.pack([[{"open door": 0.5}]])
    model = script.lattice.model(gap)
    assert script.lattice.model(script.pack([["close door", None]])) is model
    assert script.lattice.model(plain) is script.lattice.model(script.pack([[]]))
    assert script.lattice.model(soft) is not model
    assert script.lattice.model(gap) is model
    assert script.log_prob([{"open door": 0.5}]) < script.log_prob([None])


def test_whatever_has_a_script_can_be_asked():
    class Holder(Questions):
        @property
        def asked(self):
            return script

    script = el.examples.doorbell()
    assert script.asked is script
    holder = Holder()
    told = ["hear doorbell", "open door"]
    assert holder.fill([*told, None]) == script.fill([*told, None])
    assert holder.fill_many([[*told, None]]) == script.fill_many([[*told, None]])
    assert holder.fill(told, anywhere=True) == script.fill(told, anywhere=True)
    assert holder.between(told) == script.between(told)
    assert holder.next(told) == script.next(told)
    assert holder.align(told) == script.align(told)
    assert holder.resolve([*told, None]) == script.resolve([*told, None])
    assert holder.sample(3, random_state=0) == script.sample(3, random_state=0)


def test_a_telling_the_script_cannot_tell_gets_the_usual_answer():
    script = el.examples.doorbell()
    wrong = ["close door", None, "hear doorbell"]
    (filling,) = script.fill(wrong)
    assert filling.fallback
    usual = dict(zip(script.events, overall(script), strict=True))
    assert {one.event: one.probability for one in filling.answers} == pytest.approx(usual)
    right, again = script.fill_many([["open door", None], wrong])
    assert not right[0].fallback
    assert again == [filling]
    with pytest.raises(el.InputError, match="cannot tell"):
        script.fill(wrong, joint=True)


@given(models(), st.integers(0, 2), st.integers(1, 3))
def test_fewer_answers_are_the_first_of_all(model, banned, top):
    script = script_of(model)
    if not np.isfinite(naive.log_prob(*model, [None])):
        return
    exclude = [event for event in script.events if event == f"e{banned}"]
    try:
        whole = script.fill([None], exclude=exclude)
    except el.InputError:
        return
    (filling,) = script.fill([None], exclude=exclude, top=top)
    assert filling.answers == whole[0].answers[:top]


@pytest.mark.parametrize(
    ("narrative", "options", "problem"),
    [
        (["open door"], {}, "no gap"),
        (["open door"], {"joint": True}, "no gap"),
        ([None], {"top": 0}, "top is 0"),
        ([None], {"top": 1.5, "joint": True}, "top is 1.5"),
        ([None], {"exclude": el.examples.doorbell().events}, "excluded"),
        ([None], {"joint": True, "anywhere": True}, "one of them"),
        ([None, "fly"], {}, "unknown event"),
        ([None], {"unknown": "skip"}, "expected 'error' or 'ignore'"),
        ([{"open door": 2.0}, None], {}, "from 0 to 1"),
        ("open door", {}, "expected a list"),
        (7, {}, "expected a list"),
        ({"open door"}, {}, "expected a list"),
        ([None, 3], {}, "is no event"),
        (["open door", ...], {"anywhere": True}, "stretch"),
    ],
)
def test_questions_that_cannot_be_answered(narrative, options, problem):
    with pytest.raises(el.InputError, match=problem):
        el.examples.doorbell().fill(narrative, **options)


def test_no_narratives_have_no_answers():
    script = el.examples.doorbell()
    assert script.fill_many([]) == []
    assert script.between_many([]) == []


def test_names_are_escaped_in_notebooks():
    script = el.Script.build(
        states={"a": {"<script>": 0.5, "b & c": 0.5}}, edges={"start": {"a": 1}, "a": {"end": 1}}
    )
    for answer in (
        script.fill([None])[0],
        script.fill([None], joint=True),
        script.fill([], anywhere=True),
        script.next([]),
        script.align(["<script>"]),
        script.posterior(["<script>"]),
        script.between(["<script>"]),
        script.resolve([None])[0],
        script.sample(1, random_state=0, given=["<script>"], complete=True)[0],
    ):
        shown = answer._repr_html_()
        assert "&lt;script&gt;" in shown
        assert "<script>" not in shown
