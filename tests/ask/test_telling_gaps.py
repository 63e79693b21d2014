"""What a telling model puts into gaps and stretches, against enumeration with its twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import elision as el
import naive_telling as naive
from elision._threads import batch
from elision.ask.telling import gaps
from elision.kernels.plain_tellings import LONGEST_HISTORY
from elision.values.telling import Chain, TellingModel
from telling_cases import (
    SEEDS,
    close,
    named,
    one_line,
    row_of,
    small_case,
    told_events,
    with_gaps,
)

pytestmark = pytest.mark.usefixtures("settings_of_the_package")


# Gaps


@pytest.mark.parametrize("seed", SEEDS)
def test_one_gap_is_filled_with_every_event_in_turn(seed):
    case = small_case(seed)
    for length in (1, 2, 5, LONGEST_HISTORY + 2):
        items = with_gaps(case, length, 1)
        place = items.index(None)
        (found,) = case.script.fill(named(case, items))
        expected = naive.marginal(naive.completed(case.teller, items), place, case.size)
        assert found.position == place
        assert not found.fallback
        assert len(found.answers) == case.size
        close(row_of(case, found.answers), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_excluded_events_leave_their_probability_to_the_others(seed):
    case = small_case(seed)
    items = with_gaps(case, 4, 1)
    allowed = [event for event in range(case.size) if event not in {0, 2}]
    expected = naive.marginal(
        naive.completed(case.teller, items, allowed), items.index(None), case.size
    )
    (found,) = case.script.fill(named(case, items), exclude=["e0", "e2", "not an event"])
    close(row_of(case, found.answers), expected)
    assert {one.event for one in found.answers} == {case.names[event] for event in allowed}
    (same,) = case.script.fill(named(case, items), exclude=["e0", "e2"], top=1)
    assert same.answers == found.answers[:1]


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_count_beside_the_worth(seed):
    case = small_case(seed)
    items = [0, {0: 0.25, 2: 1.0}, None, 1, {1: 0.5, 0: 0.125}]
    chances = naive.completed(case.teller, items)
    (found,) = case.script.fill(named(case, items))
    assert found.position == 2
    close(row_of(case, found.answers), naive.marginal(chances, 2, case.size))


@pytest.mark.parametrize("seed", SEEDS)
def test_several_gaps_are_filled_each_by_itself(seed):
    case = small_case(seed)
    most = 4 if case.size == 3 else 3
    for number in range(2, most + 1):
        items = with_gaps(case, 5, number)
        chances = naive.completed(case.teller, items)
        found = case.script.fill(named(case, items))
        assert [one.position for one in found] == [
            i for i, item in enumerate(items) if item is None
        ]
        for one in found:
            close(row_of(case, one.answers), naive.marginal(chances, one.position, case.size))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exclude", [(), ("e1",)])
def test_gaps_are_filled_together(seed, exclude):
    case = small_case(seed)
    allowed = [event for event in range(case.size) if case.names[event] not in exclude]
    items = [None, 0, {0: 0.5, 1: 1.0}, None, 2]
    chances = Counter()
    for told, chance in naive.completed(case.teller, items, allowed).items():
        chances[told[0], told[3]] += chance
    found = case.script.fill(named(case, items), joint=True, top=1000, exclude=exclude)
    assert found.exact
    assert found.positions == (0, 3)
    assert len(found.answers) == len(chances) == len(allowed) ** 2
    values = [one.probability for one in found.answers]
    assert values == sorted(values, reverse=True)
    for one in found.answers:
        close(one.probability, chances[tuple(case.names.index(event) for event in one.events)])
    few = case.script.fill(named(case, items), joint=True, top=2, exclude=exclude)
    assert few.answers == found.answers[:2]


@pytest.mark.parametrize("seed", SEEDS)
def test_many_fillings_are_not_all_looked_at(seed):
    case = small_case(seed, size=5)
    items = [0, None, None, 1, None, None]
    found = case.script.fill(named(case, items), joint=True)
    assert not found.exact
    assert len(found.answers) == 10
    chances = naive.completed(case.teller, items)
    best = max(chances, key=chances.get)
    answer = tuple(case.names.index(event) for event in found.answers[0].events)
    assert answer == tuple(best[place] for place in (1, 2, 4, 5))
    for one in case.script.fill(named(case, items)):
        row = row_of(case, one.answers)
        close(row.sum(), 1.0)
        close(row, naive.marginal(chances, one.position, case.size), atol=0.1)


def test_excluding_what_is_far_more_probable_leaves_probabilities():
    case = small_case(0, size=5)
    after = case.model.forward.after.copy()
    after[:, 0] += 2000
    chain = Chain(after, *(getattr(case.model.forward, name) for name in naive.Chain._fields[1:]))
    script = case.bare.with_telling(TellingModel(case.names, chain))
    for one in script.fill([None] * 5, exclude=["e0"]):
        close(row_of(case, one.answers).sum(), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("exclude", [(), ("e0",)])
def test_anywhere_tries_every_event_at_every_place(seed, exclude):
    case = small_case(seed)
    allowed = [event for event in range(case.size) if case.names[event] not in exclude]
    for items in ([], [1], told_events(case, 5), [0, None, 2], [{0: 0.5, 1: 0.25}, 2]):
        table = naive.inserted(case.teller, items, allowed)
        table /= table.sum()
        found = case.script.fill(named(case, items), anywhere=True, exclude=exclude)
        close(found.places, table.sum(axis=1))
        assert len(found.answers) == len(allowed)
        for one in found.answers:
            event = case.names.index(one.event)
            close(one.places, table[:, event])
            close(one.probability, table[:, event].sum())
            assert one.place == int(np.argmax(one.places))
        assert [one.probability for one in found.answers] == sorted(
            (one.probability for one in found.answers), reverse=True
        )
        best = case.script.fill(named(case, items), anywhere=True, exclude=exclude, top=1)
        assert best.answers == found.answers[:1]
        assert best.places == found.places


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_many_narratives_are_filled_as_one_by_one(seed, threads):
    case = small_case(seed)
    told = [with_gaps(case, int(case.rng.integers(1, 8)), 1) for _ in range(2 * gaps.CHUNK + 9)]
    told += [with_gaps(case, 6, number) for number in (2, 3, 5)]
    told.append([None, {0: 0.5, 1: 1.0}, 2])
    narratives = [named(case, items) for items in told]
    el.set_threads(threads)
    try:
        found = case.script.fill_many(narratives, top=2, exclude=["e1"])
    finally:
        el.set_threads(None)
    with batch():
        assert found == [case.script.fill(one, top=2, exclude=["e1"]) for one in narratives]


# Stretches


# What an observation stands for


@pytest.mark.parametrize("seed", SEEDS)
def test_ambiguous_observations_are_resolved_by_the_rest(seed):
    case = small_case(seed)
    items = [{0: 0.5, 1: 0.25}, 2, None, {1: 1.0, 2: 0.125}]
    chances = naive.completed(case.teller, items)
    found = case.script.resolve(named(case, items))
    assert [one.position for one in found] == [0, 2, 3]
    for one in found:
        row = naive.marginal(chances, one.position, case.size)
        weights = items[one.position] or dict.fromkeys(range(case.size), 1.0)
        assert len(one.candidates) == len(weights)
        for candidate in one.candidates:
            event = case.names.index(candidate.event)
            close(candidate.probability, row[event])
            close(candidate.weight, weights[event] / sum(weights.values()))
        values = [candidate.probability for candidate in one.candidates]
        assert values == sorted(values, reverse=True)
    top = case.script.resolve(named(case, items), top=1)
    assert [one.candidates for one in top] == [one.candidates[:1] for one in found]


@pytest.mark.parametrize("candidates", [["e0", "e1"], {"e0": 1.0, "e1": 1.0}])
def test_vague_lines_may_have_candidates(candidates):
    case = small_case(4)
    (found,) = case.script.resolve([None, "e2"], candidates=candidates)
    expected = naive.completed(case.teller, [{0: 1.0, 1: 1.0}, 2])
    assert len(found.candidates) == 2
    for one in found.candidates:
        close(one.probability, expected[case.names.index(one.event), 2])


@pytest.mark.parametrize("candidates", [[], ["other"], {"e0": 2.0}])
def test_candidates_that_are_none_are_refused(candidates):
    with pytest.raises(el.InputError) as caught:
        small_case(4).script.resolve(["e2", None], candidates=candidates)
    one_line(caught)


def test_nothing_ambiguous_is_refused():
    with pytest.raises(el.InputError, match="ambiguous"):
        small_case(4).script.resolve(["e0", "e1"])
