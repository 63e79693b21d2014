"""Alignments, posteriors and ambiguous observations, against enumeration and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
import naive
import naive_ask
from asked import close, named, script_of, told
from models import EXAMPLES, cases

pytestmark = pytest.mark.numerical


@settings(max_examples=EXAMPLES)
@given(cases(most_narratives=1, most_length=4))
def test_an_alignment_sets_the_fewest_events_aside_and_is_the_best_of_those(case):
    model, (narrative,) = case
    script = script_of(model)
    asked = named(narrative, len(script.events))
    aside, best = naive_ask.fewest_aside(model, narrative)
    if aside is None:
        with pytest.raises(el.InputError, match="cannot tell"):
            script.align(asked)
        return
    found = script.align(asked)
    assert len(found.spurious) == aside
    close(found.log_prob, best)
    told_ = [step for step in found.steps if step.state is not None]
    close(sum(math.log(one.probability) for one in told_) + math.log(found.ending), best)
    positions = [step.position for step in found.steps if step.position is not None]
    assert positions == list(range(len(narrative)))
    assert all(0 <= step.certainty <= 1 + 1e-12 for step in found.steps)


@given(told(soft=True))
def test_steps_are_as_sure_as_all_paths_make_them(case):
    model, narrative = case
    script = script_of(model)
    found = script.align(named(narrative, len(script.events)))
    assert found.spurious == ()
    twin = naive.posterior(*model, narrative)
    ways = naive_ask.silent_ways(model, narrative)
    place = 0
    for step in found.steps:
        state = script.states.index(step.state)
        if step.event is None:
            passed = sum(chance for states, chance in ways[place].items() if state in states)
            close(step.certainty, passed)
        else:
            close(step.certainty, twin.told_by[place, state])
            place += 1


def test_an_alignment_in_words():
    script = el.examples.doorbell()
    found = script.align(["open door", "cough", "greet visitor", "hear doorbell"], unknown="ignore")
    assert str(found).splitlines() == [
        "  (hear doorbell)  100%",
        "  (walk to door)  100%",
        "open door  [open door]  100%",
        "cough  [spurious]",
        "greet visitor  [greet visitor]  100%",
        "hear doorbell  [spurious]",
        "  (let visitor in)  50%",
        "  (close door)  100%",
    ]
    assert found.spurious == (1, 3)
    assert script.align(["cough"], unknown="ignore").spurious == (0,)


def test_an_uncertain_event_is_what_its_state_tells():
    script = el.examples.doorbell()
    unsure = {"greet visitor": 0.2, "hear doorbell": 0.8}
    told = [step.event for step in script.align(["open door", unsure, None]).steps if step.event]
    assert told == ["open door", "greet visitor", "?"]


@given(told(soft=True))
def test_the_posterior_agrees_with_enumeration(case):
    model, narrative = case
    script = script_of(model)
    found = script.posterior(named(narrative, len(script.events)))
    twin = naive.posterior(*model, narrative)
    close(found.log_prob, twin.log_prob)
    close(found.told, twin.told_by)
    close(found.silent, twin.unsaid)
    close(found.visited[:, :-1], twin.visits[:, :-1])
    assert not found.told.flags.writeable


def test_a_posterior_becomes_a_data_frame():
    found = el.examples.doorbell().posterior(["open door", {"close door": 1.0}])
    frame = found.to_frame()
    assert list(frame.index) == ["open door", "close door"]
    assert frame.loc["open door", "open door"] == pytest.approx(1)
    silent = found.to_frame("silent")
    assert silent.shape == (3, 12)
    assert silent.loc[0, "hear doorbell"] == pytest.approx(1)
    assert str(found).splitlines()[1] == "close door  [close door]  100%"
    with pytest.raises(el.InputError, match="expected 'told'"):
        found.to_frame("heard")
    with pytest.raises(el.InputError, match="cannot tell"):
        el.examples.doorbell().posterior(["close door", "open door"])


def test_without_pandas_there_is_no_data_frame(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(el.InputError, match="pandas is not installed"):
        el.examples.doorbell().posterior(["open door"]).to_frame()


@given(told(soft=True))
def test_what_is_ambiguous_is_resolved_as_by_enumeration(case):
    model, narrative = case
    script = script_of(model)
    asked = named(narrative, len(script.events))
    unsure = [place for place, item in enumerate(narrative) if not isinstance(item, int)]
    if not unsure:
        with pytest.raises(el.InputError, match="ambiguous"):
            script.resolve(asked)
        return
    found = script.resolve(asked)
    assert [one.position for one in found] == unsure
    for one in found:
        expected = naive.fill(*model, narrative, one.position)
        weights = naive.weights_of(narrative[one.position], len(script.events))
        numbers = [script.events.index(candidate.event) for candidate in one.candidates]
        assert sorted(numbers) == np.flatnonzero(weights).tolist()
        close([candidate.probability for candidate in one.candidates], expected[numbers])
        weights_given = weights[numbers] / weights.sum()
        close([candidate.weight for candidate in one.candidates], weights_given)
        values = [candidate.probability for candidate in one.candidates]
        assert values == sorted(values, reverse=True)
        close(sum(values), 1)


@given(told(most_length=3), st.data())
def test_a_vague_line_is_one_of_its_candidates(case, data):
    model, narrative = case
    script = script_of(model)
    count = len(script.events)
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1))
    weights = [float(event in chosen) for event in range(count)]
    vague = [*narrative, weights]
    asked = [*named(narrative, count), None]
    names = [script.events[event] for event in sorted(chosen)]
    if not np.isfinite(naive.log_prob(*model, vague)):
        with pytest.raises(el.InputError, match="cannot tell"):
            script.resolve(asked, candidates=names)
        return
    (found,) = script.resolve(asked, candidates=names)
    expected = naive.fill(*model, vague, len(narrative))
    for one in found.candidates:
        close(one.probability, expected[script.events.index(one.event)])
    (weighed,) = script.resolve(asked, candidates=dict.fromkeys(names, 0.5), top=1)
    assert weighed.candidates[0].event == found.candidates[0].event


def test_ambiguity_in_words_and_what_is_no_candidate():
    script = el.examples.doorbell()
    unsure = {"greet visitor": 0.5, "take parcel": 0.5}
    (found,) = script.resolve(["open door", unsure, "say goodbye"])
    assert str(found) == "greet visitor  50% -> 61%\ntake parcel  50% -> 39%"
    (one,) = script.resolve([None, "open door"], candidates="walk to door")
    assert [candidate.event for candidate in one.candidates] == ["walk to door"]
    with pytest.raises(el.UnknownEventError, match="fly"):
        script.resolve([None], candidates=["fly"])
    with pytest.raises(el.InputError, match="stretch"):
        script.resolve([None, ...])
