"""What a telling model says comes next, in which order, and what it draws, against its twin."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

import elision as el
import naive_telling as naive
from elision.ask.telling import ahead
from models import RTOL
from telling_cases import (
    SEEDS,
    close,
    named,
    numbers_of,
    one_line,
    row_of,
    small_case,
    told_events,
)

pytestmark = pytest.mark.usefixtures("settings_of_the_package")


# From left to right


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "items", [[], [0, 2], [1, 1, 0, 2, 2, 1, 0], [None, 1], [{0: 0.5, 2: 1.0}]]
)
def test_next_events_are_those_of_every_continuation(seed, items):
    case = small_case(seed, size=3 + seed % 2)
    found = case.script.next(named(case, items), steps=3)
    begun = [case.teller.begins(told) + w for told, w in naive.ways(items, case.size)]
    close(found.log_prob, naive.log_sum(begun))
    assert found.answers == found.steps[0].answers
    assert found.ended == found.steps[0].ended
    for number, step in enumerate(found.steps, start=1):
        if len(begun) * case.size ** (number - 1) > ahead.FOLLOWED:
            continue
        chances, ended = naive.followed(case.teller, items, number)
        close(row_of(case, step.answers), chances)
        close(step.ended, ended, atol=1e-9)
        close(math.fsum([step.ended, *(one.probability for one in step.answers)]), 1.0)
    first = case.script.next(named(case, items), top=2)
    assert len(first.steps) == 1
    assert [one.event for one in first.answers] == [one.event for one in found.answers[:2]]


@pytest.mark.parametrize("ending", [-3.0, 0.0, 8.0])
def test_far_ahead_probabilities_still_sum_to_one(ending):
    case = small_case(3, size=4, ending=ending)
    found = case.script.next(["e0", None, None], steps=60)
    for step in found.steps:
        close(math.fsum([step.ended, *(one.probability for one in step.answers)]), 1.0)
    ended = [step.ended for step in found.steps]
    assert ended == sorted(ended)
    assert ended[-1] <= 1 + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_log_probabilities_sum_over_what_is_open(seed):
    case = small_case(seed)
    tellings = [[], [0], told_events(case, 9), [None], [0, None, 1], [{0: 0.5, 2: 0.25}, None, 1]]
    expected = [
        naive.log_sum([case.teller.log_prob(told) + w for told, w in naive.ways(items, case.size)])
        for items in tellings
    ]
    narratives = [named(case, items) for items in tellings]
    close(case.script.log_probs(narratives), expected)
    assert [case.script.log_prob(one) for one in narratives] == pytest.approx(expected, rel=RTOL)
    assert case.script.log_probs([]).shape == (0,)


# Orders


def orders_of(case, events):
    """Share of each order of some events among all of them."""
    return naive.shares({told: case.teller.worth(told) for told in set(permutations(events))})


def right_pairs(chances, told):
    """Expected number of pairs of different events in the right order; equal ones stay."""
    total = 0.0
    counted = copies(told)
    for other, share in chances.items():
        rank = {one: place for place, one in enumerate(copies(other))}
        total += share * sum(rank[one] < rank[two] for one, two in combinations(counted, 2))
    return total


def copies(told):
    """Each event with how often it was told before."""
    return [(event, told[:place].count(event)) for place, event in enumerate(told)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("events", [[1], [0, 1, 2], [2, 0, 0, 1], [0, 1, 2, 1, 0], [1, 1]])
def test_all_orders_are_weighed(seed, events):
    case = small_case(seed)
    chances = orders_of(case, events)
    found = case.script.order(named(case, events), top=1000)
    assert found.exact
    assert len(found.likeliest) == len(chances)
    assert Counter(found.events) == Counter(named(case, events))
    values = [one.share for one in found.likeliest]
    assert values == sorted(values, reverse=True)
    for one in found.likeliest:
        told = tuple(case.names.index(event) for event in one.events)
        close(one.share, chances[told])
        close(one.log_prob, case.teller.log_prob(told))
    agreed = tuple(case.names.index(event) for event in found.events)
    close(
        right_pairs(chances, agreed), max(right_pairs(chances, told) for told in chances), rtol=1e-9
    )
    places = copies(agreed)
    for i, one in enumerate(places):
        for j, two in enumerate(places):
            expected = sum(
                share
                for told, share in chances.items()
                if copies(told).index(one) < copies(told).index(two)
            )
            close(found.precedence[i, j], expected)
    assert case.script.order(named(case, events)).likeliest == found.likeliest[:1]


def test_five_different_events_are_put_into_the_order_of_most_right_pairs():
    for seed in range(20):
        case = small_case(seed, size=5)
        chances = orders_of(case, range(5))
        found = case.script.order(case.names)
        agreed = tuple(case.names.index(event) for event in found.events)
        best = max(right_pairs(chances, told) for told in chances)
        close(right_pairs(chances, agreed), best)


def test_the_given_order_says_nothing():
    case = small_case(2)
    names = [case.names[event] for event in (2, 0, 1)]
    listed = case.script.order(names)
    for given in (set(names), frozenset(names), iter(names), tuple(sorted(names))):
        found = case.script.order(given)
        assert found.events == listed.events
        assert found.likeliest[0].events == listed.likeliest[0].events


def test_an_ambiguous_event_is_ordered_as_its_likeliest():
    case = small_case(2)
    found = case.script.order(["e2", {"e0": 0.25, "e1": 0.5}])
    assert found.events == case.script.order(["e2", "e1"]).events


@pytest.mark.parametrize("seed", SEEDS)
def test_many_events_are_ordered_by_a_search(seed):
    case = small_case(seed, size=4)
    events = [0, 0, 1, 1, 2, 3, 3]
    chances = orders_of(case, events)
    found = case.script.order(named(case, events), top=50)
    assert not found.exact
    assert Counter(found.events) == Counter(named(case, events))
    tellings = [one.events for one in found.likeliest]
    assert len(set(tellings)) == len(tellings) == 50
    first = chances[tuple(case.names.index(event) for event in tellings[0])]
    assert first > max(chances.values()) / 2
    assert all(one.share is None for one in found.likeliest)
    assert found.precedence.shape == (7, 7)
    pairs = found.precedence + found.precedence.T
    close(pairs[~np.eye(7, dtype=bool)], 1.0)
    placed = copies(list(found.events))
    for i, j in combinations(range(7), 2):
        if placed[i][0] == placed[j][0]:
            assert found.precedence[i, j] == pytest.approx(1.0)


def test_orders_without_a_meaning_are_refused():
    script = small_case(2).script
    for events in (
        ["e0", None],
        [None],
        ["e0", "other"],
        ["e0", ...],
        ["e0", 5],
        "e0",
        [{"e0": 7}],
    ):
        with pytest.raises(el.InputError) as caught:
            script.order(events)
        one_line(caught)
    assert script.order(["e0", "other"], unknown="ignore").events == ("e0",)


def test_nothing_is_in_order():
    found = small_case(2).script.order([])
    assert found.events == ()
    assert found.likeliest[0].events == ()
    assert found.likeliest[0].share == 1.0


# Drawn tellings


def fits(drawn, chances):
    """Whether frequencies are as far from probabilities as chance has it (chi-square)."""
    often = Counter(drawn)
    expected = {one: chance * len(drawn) for one, chance in chances.items()}
    usual = {one: value for one, value in expected.items() if value >= 5}
    rest = len(drawn) - sum(usual.values())
    total = sum((often[one] - value) ** 2 / value for one, value in usual.items())
    if rest > 5:
        total += (len(drawn) - sum(often[one] for one in usual) - rest) ** 2 / rest
    bins = len(usual) + 1
    return total < bins + 5 * math.sqrt(2 * bins)


def distance(drawn, chances):
    """Total variation between frequencies and probabilities."""
    often = Counter(drawn)
    found = sum(abs(often[one] / len(drawn) - chances.get(one, 0.0)) for one in {*often, *chances})
    return found / 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tellings_are_drawn_as_often_as_they_are_probable(seed):
    case = small_case(seed, size=3, ending=1.0)
    drawn = numbers_of(case, case.script.sample(6000, random_state=5))
    chances = {
        told: math.exp(case.teller.log_prob(told))
        for length in range(5)
        for told in naive.all_tellings(3, length)
    }
    assert fits(drawn, chances)
    assert case.script.sample(3, random_state=5) == case.script.sample(3, random_state=5)
    assert case.script.sample(0) == []


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_tellings_of_a_length_are_drawn_by_their_probability(seed, length):
    case = small_case(seed, size=3)
    drawn = numbers_of(case, case.script.sample(5000, random_state=3, length=length))
    chances = naive.completed(naive.Teller(case.teller.forward), [None] * length)
    assert {len(one) for one in drawn} == {length}
    assert distance(drawn, chances) < 0.06
    assert case.script.sample(0, length=length) == []


def test_a_single_telling_of_a_length_is_drawn_like_many():
    case = small_case(3, size=3)
    alone = [case.script.sample(1, random_state=k, length=2)[0] for k in range(500)]
    chances = naive.completed(naive.Teller(case.teller.forward), [None] * 2)
    assert distance(numbers_of(case, alone), chances) < 0.08


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tellings_are_drawn_to_fit_a_narrative(seed):
    case = small_case(seed, size=3)
    items = [0, None, {1: 0.5, 2: 0.25}]
    drawn = numbers_of(case, case.script.sample(4000, random_state=3, given=named(case, items)))
    assert fits(drawn, naive.completed(naive.Teller(case.teller.forward), items))
    assert case.script.sample(2, given=["e0", "e1"]) == [["e0", "e1"]] * 2
    assert case.script.sample(2, given=[]) == [[], []]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stretch_at_the_end_is_drawn(seed):
    case = small_case(seed, size=3, ending=1.0)
    given = [None, "e1", ...]
    drawn = numbers_of(case, case.script.sample(4000, random_state=3, given=given))
    begun = naive.log_sum([case.teller.begins((event, 1)) for event in range(3)])
    chances = {
        (event, 1, *more): math.exp(case.teller.log_prob((event, 1, *more)) - begun)
        for event in range(3)
        for length in range(4)
        for more in naive.all_tellings(3, length)
    }
    assert all(one[1] == 1 for one in drawn)
    assert fits(drawn, chances)
    anything = case.script.sample(5, random_state=3, given=[...])
    assert anything == case.script.sample(5, random_state=3, given=iter([...]))


def test_drawing_that_cannot_be_is_refused():
    script = small_case(1).script
    for options in (
        {"given": ["e0", ..., "e1"]},
        {"given": [..., "e1"]},
        {"given": ["e0"], "length": 1},
        {"length": -1},
        {"given": ["other"]},
        {"random_state": -1},
    ):
        with pytest.raises(el.InputError) as caught:
            script.sample(2, **options)
        one_line(caught)
    assert script.sample(1, given=["e0", "other"], unknown="ignore") == [["e0"]]
