"""What is asked: splits, removals and beginnings, against a twin that makes them naively."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest

import elision as el
from elision.bench.tasks import check_tasks, make_task, other_task
from mornings import EVENTS, TEN, corpus, put_back


def test_a_split_is_that_of_a_naive_twin():
    """The same draws in the same order, so that figures can be compared over the years."""
    part, seed = corpus(3, domain="dawn"), 5
    told = [one.events for one in part if len(one.events) >= 2]
    order = el.Corpus.of(told, domain="dawn").split(0.4, random_state=seed)
    train, test = ([one.events for one in some] for some in order)
    rng = np.random.default_rng([seed, zlib.crc32(b"dawn")])
    removed = [int(rng.integers(len(one))) for one in test]
    one = make_task(part, seed)
    assert one.train == train
    assert one.gaps == [[*t[:k], None, *t[k + 1 :]] for t, k in zip(test, removed, strict=True)]
    answers = [EVENTS.index(t[k]) for t, k in zip(test, removed, strict=True)]
    assert one.answers.tolist() == answers
    rng = np.random.default_rng([seed, zlib.crc32(b"dawn"), zlib.crc32(b"hidden")])
    hidden = [rng.random(len(one)) < 0.2 for one in test]
    shown = [
        [e for e, out in zip(t, h, strict=True) if not out]
        for t, h in zip(test, hidden, strict=True)
    ]
    expected = [s for s, h in zip(shown, hidden, strict=True) if h.any() and not h.all()]
    assert other_task(one, "hidden").gaps == expected


def test_splits_and_removals_are_the_same_for_all_and_hold_no_answer():
    one, two = make_task(corpus(), seed=3), make_task(corpus(), seed=3)
    assert one.gaps == two.gaps
    assert one.train == two.train
    assert len(one.train) == 36
    assert len(one.gaps) == 24
    other = make_task(corpus(), seed=4)
    assert other.gaps != one.gaps
    whole = sorted(tuple(telling) for telling in TEN * 6)
    put_back = [
        tuple(one.events[answer] if item is None else item for item in gap)
        for gap, answer in zip(one.gaps, one.answers, strict=True)
    ]
    assert sorted([*one.train, *put_back]) == whole


def test_short_narratives_are_left_out_and_places_are_chosen_evenly():
    tellings = [["a", "b", "c", "d"]] * 1000 + [["a"]] * 500
    task = make_task(el.Corpus.of(tellings, domain="x"), seed=0)
    assert len(task.train) + len(task.gaps) == 1000
    places = np.bincount([gap.index(None) for gap in task.gaps], minlength=4)
    assert places.min() > 70


def test_other_tasks_keep_the_split_and_can_be_put_back():
    one = make_task(corpus(), seed=1)
    assert other_task(one, "one") is one
    for name, removed in (("two", 2), ("three", 3)):
        task = other_task(one, name)
        assert task.train == one.train
        assert put_back(task) == put_back(one)
        counts = [
            (gap.count(None), len(whole))
            for gap, whole in zip(task.gaps, put_back(one), strict=True)
        ]
        assert all(count == min(removed, length - 1) for count, length in counts)
        assert len(task.answers) == sum(count for count, _ in counts)
        assert other_task(make_task(corpus(), seed=1), name).gaps == task.gaps
        assert other_task(make_task(corpus(), seed=2), name).gaps != task.gaps


def test_where_the_place_is_unknown_the_removals_are_those_of_the_paper():
    one = make_task(corpus(), seed=0)
    task = other_task(one, "anywhere")
    assert task.answers is one.answers
    for seen, gap in zip(task.gaps, one.gaps, strict=True):
        assert seen == [event for event in gap if event is not None]


def test_places_of_several_gaps_are_chosen_evenly():
    tellings = el.Corpus.of([["a", "b", "c", "d"]] * 1000, domain="x")
    two = other_task(make_task(tellings, seed=0), "two")
    places = np.bincount(
        [place for gap in two.gaps for place, event in enumerate(gap) if event is None], minlength=4
    )
    assert places.sum() == 800
    assert places.min() > 160


def test_tasks_by_name():
    assert check_tasks([]) == ("one",)
    assert check_tasks(["three", "anywhere", "three"]) == ("one", "three", "anywhere")
    with pytest.raises(el.InputError, match="task 'four', expected some of one, two"):
        check_tasks(["four"])


def hidden_put_back(task):
    """Test narratives, what was hidden put back; events at one place in their usual order."""
    whole = [[[] for _ in range(len(told) + 1)] for told in task.gaps]
    for narrative, place, event in task.answers.tolist():
        whole[narrative][place].append(task.events[event])
    return [
        [event for place, some in enumerate(places) for event in (*some, *told[place : place + 1])]
        for places, told in zip(whole, task.gaps, strict=True)
    ]


def test_hidden_events_can_be_put_back_at_their_places():
    events = [f"{place:02}" for place in range(30)]  # sorted as they are told
    one = make_task(el.Corpus.of([events] * 50, domain="x"), seed=0)
    task = other_task(one, "hidden")
    assert task.train == one.train
    assert hidden_put_back(task) == [events] * len(task.gaps)
    assert len(task.gaps) == len(one.gaps)
    assert 0.15 < len(task.answers) / (30 * len(task.gaps)) < 0.25
    again, other = (other_task(replace(one, seed=seed), "hidden") for seed in (0, 1))
    assert again.gaps == task.gaps
    assert other.gaps != task.gaps


def test_narratives_with_nothing_or_everything_hidden_are_left_out():
    one = make_task(el.Corpus.of([["a", "b"]] * 1000, domain="x"), seed=0)
    task = other_task(one, "hidden")
    assert {tuple(told) for told in task.gaps} == {("a",), ("b",)}
    assert len(task.answers) == len(task.gaps)
    assert 0.25 < len(task.gaps) / len(one.gaps) < 0.39  # 0.32


def test_equal_events_hidden_at_one_place_are_one_pair():
    one = make_task(el.Corpus.of([["a"] * 12 + ["b"]] * 100, domain="x"), seed=0)
    task = other_task(one, "hidden")
    rows = [tuple(row) for row in task.answers.tolist()]
    assert len(rows) == len(set(rows))
    out = sum(13 - len(told) for told in task.gaps)
    assert len(rows) < out


def test_every_beginning_is_asked_and_the_end_is_an_answer():
    one = make_task(corpus(), seed=0)
    task = other_task(one, "next")
    told = put_back(one)
    at = 0
    for narrative in told:
        for place in range(len(narrative) + 1):
            assert task.gaps[at] == list(narrative[:place])
            following = (*(EVENTS.index(event) for event in narrative), len(EVENTS))
            assert task.answers[at] == following[place]
            at += 1
    assert at == len(task.gaps) == len(task.answers)
