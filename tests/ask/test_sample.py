"""Tellings and stories drawn from scripts: how often, which, and the same again."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import elision as el
import naive
import naive_ask
from asked import named, script_of
from models import EXAMPLES, models

pytestmark = pytest.mark.numerical

DRAWS = 2_000
LEAST_P = 1e-6
"""A right sampler fails one test in a million; the examples are the same each time."""


def agree(counts, chances):
    """Chi-square of counts against probabilities, all that is rare put together."""
    total = sum(counts.values())
    common = [key for key, chance in chances.items() if chance * total >= 10]
    observed = [counts.get(key, 0) for key in common]
    expected = [chances[key] * total for key in common]
    if sum(chances[key] for key in common) < 1 - 10 / total:
        observed.append(total - sum(observed))
        expected.append(total - sum(expected))
    else:
        expected = (np.array(expected) * sum(observed) / sum(expected)).tolist()
    assert all(chances.get(key, 1.0) > 0 for key in counts)
    if len(observed) > 1:
        assert chisquare(observed, expected).pvalue > LEAST_P


@settings(max_examples=min(EXAMPLES, 50))
@given(models(most_states=3, most_events=2), st.integers(0, 2**32 - 1))
def test_tellings_are_drawn_as_often_as_they_are_probable(model, seed):
    script = script_of(model)
    drawn = script.sample(DRAWS, random_state=seed)
    chances = {}
    for length in range(4):
        for told in itertools.product(range(len(script.events)), repeat=length):
            names = tuple(named(told, len(script.events)))
            chances[names] = naive_ask.probability(model, told)
    agree(Counter(map(tuple, drawn)), chances)


@settings(max_examples=min(EXAMPLES, 50))
@given(models(most_states=3, most_events=2), st.integers(0, 2**32 - 1), st.integers(1, 2))
def test_tellings_of_a_length_are_drawn_as_often_as_they_are_probable(model, seed, length):
    script = script_of(model)
    whole = np.exp(naive.log_prob(*model, [None] * length))
    if whole == 0:
        with pytest.raises(el.InputError, match="cannot tell"):
            script.sample(1, length=length)
        return
    drawn = script.sample(DRAWS, random_state=seed, length=length)
    assert {len(telling) for telling in drawn} == {length}
    chances = {
        tuple(named(told, len(script.events))): naive_ask.probability(model, told) / whole
        for told in itertools.product(range(len(script.events)), repeat=length)
    }
    agree(Counter(map(tuple, drawn)), chances)


@settings(max_examples=min(EXAMPLES, 50))
@given(models(most_states=3, most_events=2), st.integers(0, 2**32 - 1))
def test_stories_behind_a_telling_leave_out_what_was_probably_left_out(model, seed):
    script = script_of(model)
    if not np.isfinite(naive.log_prob(*model, [0])):
        return
    drawn = script.sample(DRAWS, random_state=seed, given=[script.events[0]], complete=True)
    assert {one.told for one in drawn} == {(script.events[0],)}
    expected = naive_ask.passed_over(model, [0])
    for place, event in itertools.product(range(2), range(len(script.events))):
        hits = sum(passed(one.story, place, script.events[event]) for one in drawn)
        chance = expected[place, event]
        spread = np.sqrt(DRAWS * chance * (1 - chance))
        assert abs(hits - DRAWS * chance) <= 6 * spread + 1e-6


def passed(story, place, event):
    told = 0
    for one in story:
        told += one.told
        if told == place and not one.told and one.event == event:
            return True
    return False


def test_the_same_seed_gives_the_same_tellings_and_their_stories():
    script = el.examples.doorbell()
    tellings = script.sample(50, random_state=3)
    assert tellings == script.sample(50, random_state=3)
    assert tellings == script.sample(50, random_state=np.random.default_rng(3))
    assert tellings != script.sample(50, random_state=4)
    assert tellings[:20] == script.sample(20, random_state=3)
    stories = script.sample(50, random_state=3, complete=True)
    assert [list(one.told) for one in stories] == tellings
    for one in stories:
        assert [step.event for step in one.story if step.told] == list(one.told)
        assert one.story[0].state == "hear doorbell"
    assert script.sample(1) != []
    assert script.sample(0) == []


def test_tellings_fit_what_is_given():
    script = el.examples.doorbell()
    either = {"greet visitor": 0.5, "take parcel": 0.5}
    for telling in script.sample(50, random_state=0, given=["open door", either, ...]):
        assert telling[0] == "open door"
        assert telling[1] in either
    drawn = script.sample(400, random_state=0, given=["open door", either])
    chances = {
        one.event: one.probability for one in script.resolve(["open door", either])[0].candidates
    }
    agree(Counter(telling[1] for telling in drawn), chances)


@settings(max_examples=min(EXAMPLES, 50))
@given(models(most_states=3, most_events=3), st.integers(0, 2**32 - 1))
def test_uncertain_items_are_drawn_as_they_are_resolved(model, seed):
    script = script_of(model)
    weights = [1.0, 0.25, 0.5][: len(script.events)]
    if not np.isfinite(naive.log_prob(*model, [weights])):
        return
    asked = named([weights], len(script.events))
    drawn = script.sample(DRAWS, random_state=seed, given=asked)
    chances = naive.fill(*model, [weights], 0).tolist()
    agree(Counter(one for (one,) in drawn), dict(zip(script.events, chances, strict=True)))


def test_stretches_are_drawn_as_long_as_they_are():
    script = el.examples.doorbell()
    asked = ["hear doorbell", ..., "close door"]
    drawn = script.sample(DRAWS, random_state=0, given=asked)
    assert {(telling[0], telling[-1]) for telling in drawn} == {("hear doorbell", "close door")}
    every = script.sample(20 * DRAWS, random_state=1)
    lengths = Counter(
        len(one) - 2 for one in every if one[:1] + one[-1:] == ["hear doorbell", "close door"]
    )
    shares = {length: number / lengths.total() for length, number in lengths.items()}
    agree(Counter(len(telling) - 2 for telling in drawn), shares)


def test_a_story_in_words():
    script = el.Script.build(
        states={"mute": {None: 1.0}, "quiet": {"a": 1e-300, None: 1.0}, "b": "b"},
        edges={
            "start": {"mute": 1},
            "mute": {"quiet": 1},
            "quiet": {"b": 1},
            "b": {"end": 1},
        },
    )
    (story,) = script.sample(complete=True)
    assert str(story) == "  (a)\nb"
    assert [step.state for step in story.story] == ["quiet", "b"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"n": -1}, "n is -1"),
        ({"n": 2.0}, "n is 2.0"),
        ({"length": -1}, "length is -1"),
        ({"length": 1, "given": []}, "one of them"),
        ({"random_state": "x"}, "random_state is 'x'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"given": ["fly"]}, "unknown event"),
        ({"given": ["close door", "open door"]}, "cannot tell"),
        ({"length": 50}, "cannot tell"),
    ],
)
def test_what_cannot_be_drawn(options, problem):
    with pytest.raises(el.InputError, match=problem):
        el.examples.doorbell().sample(**options)
