"""Outlines learned from tellings: steps, places, repeats, choices and the order of all."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_outlines as naive
from elision import io
from elision.learn import outline as learning
from elision.learn.outline import learn_outline, same_beginnings
from elision.values.outline import steps_told

RTOL = 1e-9
LIBRARY = ["enter", "search", "ask", "read", "borrow", "leave", "sneeze"]


def library(seed, count=60):
    """Enter; search or ask; read and borrow in any order; leave: some of it told."""
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(count):
        middle = [3, 4] if rng.random() < 0.5 else [4, 3]
        done = [0, 1 if rng.random() < 0.6 else 2, *middle, 5]
        told.append(naive.told_at_random(rng, done, omitted=0.2))
    return told


def units_of(outline):
    """Units as sets of branches of names."""
    return [
        {tuple(outline.steps[number].name for number in branch) for branch in unit.branches}
        for unit in outline.units
    ]


def order_of(outline):
    """The order as pairs of names of first steps."""
    first = [outline.steps[unit.steps[0]].name for unit in outline.units]
    return {(first[a], first[b]) for a, b in naive.pairs_of(outline.order)}


@pytest.mark.parametrize("seed", range(5))
def test_a_library_visit_is_learned(seed):
    outline = learn_outline(library(seed), LIBRARY, title="library visit")
    assert outline.title == "library visit"
    assert outline.tellings == 60
    units = units_of(outline)
    assert [unit for unit in units if len(unit) > 1] == [{("search",), ("ask",)}]
    assert units[0] == {("enter",)}
    assert units[-1] == {("leave",)}
    assert {("read",)} in units
    number = {step.name: s for s, step in enumerate(outline.steps)}
    choice = outline.units[outline.unit_of[number["ask"]]]
    assert 0.4 < choice.shares[choice.branches.index((number["search"],))] < 0.8
    order = order_of(outline)
    assert ("read", "borrow") not in order
    assert ("borrow", "read") not in order
    assert {("enter", "read"), ("enter", "borrow"), ("read", "leave"), ("enter", "leave")} <= order
    # Told by four of five, with nothing instead: it happened all the same.
    assert outline.unsaid[0] > 0.9
    happened = outline.happened([number["ask"]])
    assert happened[number["ask"]] == 1
    assert happened[number["search"]] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_tellings_does_not_matter(seed):
    told = library(seed, 30)
    shuffled = [told[i] for i in np.random.default_rng(seed).permutation(len(told))]
    one, other = learn_outline(told, LIBRARY), learn_outline(shuffled, LIBRARY)
    assert one == other
    assert hash(one) == hash(other)
    assert one == learn_outline(map(tuple, told), tuple(LIBRARY), random_state=0)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_events_do_not_matter(seed):
    told = library(seed)
    new = np.random.default_rng(seed).permutation(len(LIBRARY))
    names = [""] * len(LIBRARY)
    for old, number in enumerate(new):
        names[number] = LIBRARY[old]
    one = learn_outline(told, LIBRARY)
    other = learn_outline([[int(new[event]) for event in telling] for telling in told], names)
    assert sorted(map(sorted, units_of(one))) == sorted(map(sorted, units_of(other)))
    by_name = {step.name: step for step in other.steps}
    for step in one.steps:
        same = by_name[step.name]
        np.testing.assert_allclose(
            [step.told, step.telling, step.again, step.place],
            [same.told, same.telling, same.again, same.place],
            rtol=1e-6,
        )
    single = [one.steps[unit.steps[0]].name for unit in one.units if len(unit.steps) == 1]
    for a in single:
        for b in single:
            assert ((a, b) in order_of(one)) == ((a, b) in order_of(other))


# Counting

tellings = st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=10)
EVENTS = list("abcdef")


@given(tellings)
@settings(max_examples=60)
def test_whatever_is_told_counts_are_right_and_probabilities_valid(told):
    outline = learn_outline(told, EVENTS)
    assert outline.tellings == len(told)
    # Units and steps are numbered in their order.
    assert not np.tril(outline.order).any()
    assert [s for unit in outline.units for s in unit.steps] == list(range(len(outline.steps)))
    for unit in outline.units:
        assert 0 < unit.happens <= 1
    assert ((outline.unsaid >= 0) & (outline.unsaid <= 1)).all()
    plain = [step for step in outline.steps if len(outline.steps_of[step.event]) == 1]
    for step in plain:
        event = EVENTS.index(step.event)
        mentions = sum(telling.count(event) for telling in told)
        by = sum(event in telling for telling in told)
        np.testing.assert_allclose(step.told, by / len(told), rtol=RTOL)
        np.testing.assert_allclose(step.again, 1 - by / mentions, rtol=RTOL, atol=1e-12)
        assert 0 < step.telling <= 1
    if len(plain) == len(outline.steps):
        check_pairs(outline, told)


def check_pairs(outline, told):
    home = {EVENTS.index(step.event): outline.unit_of[s] for s, step in enumerate(outline.steps)}
    expected = np.zeros_like(outline.pairs)
    for telling in told:
        first = list(dict.fromkeys(home[event] for event in telling if event in home))
        for i, a in enumerate(first):
            for b in first[i + 1 :]:
                expected[a, b] += 1
    assert np.array_equal(outline.pairs, expected)


def test_places_are_from_first_to_last():
    outline = learn_outline([[0, 1, 2, 3]] * 3 + [[0, 3]] * 3, EVENTS)
    assert [step.name for step in outline.steps] == ["a", "b", "c", "d"]
    places = [step.place for step in outline.steps]
    np.testing.assert_allclose(places, [0.1875, 0.375, 0.625, 0.8125], rtol=RTOL)


def test_what_hardly_anybody_tells_is_no_step():
    often = [[0, 1]] * 38
    few = learn_outline([*often, [0, 2, 1], [0, 3, 1]], EVENTS)
    assert [step.name for step in few.steps] == ["a", "b"]
    more = learn_outline([*often, [0, 2, 1], [0, 2, 1]], EVENTS)
    assert [step.name for step in more.steps] == ["a", "c", "b"]
    assert len(learn_outline([[0], [1], [2]], EVENTS).steps) == 3
    assert len(learn_outline([[0], [1], [2], [3], [4], [0]], EVENTS).steps) == 1


def test_only_the_most_told_events_are_steps_where_there_are_very_many(monkeypatch):
    told = [[0, 1, 2, 3], [0, 1, 2], [0, 2], [0, 1]] * 3
    monkeypatch.setattr(learning, "MOST_EVENTS", 3)
    assert [step.name for step in learn_outline(told, EVENTS).steps] == ["a", "b", "c"]


def test_wording_is_kept():
    wording = {"a": ["walk in", "come in"]}
    outline = learn_outline([[0, 1]] * 3, EVENTS, wording=wording)
    assert [step.wording for step in outline.steps] == [("walk in", "come in"), ()]


# Places and repeats


def test_an_event_at_two_places_is_two_steps():
    told = [[0, 1, 2, 0, 3]] * 8 + [[0, 1, 2, 3]] * 4 + [[1, 2, 0, 3]] * 4
    outline = learn_outline(told, EVENTS)
    assert [step.name for step in outline.steps] == ["a", "b", "c", "a (again)", "d"]
    assert [step.event for step in outline.steps] == ["a", "b", "c", "a", "d"]
    assert [step.told for step in outline.steps] == [0.75, 1.0, 1.0, 0.75, 1.0]
    assert {("a", "b"), ("c", "a (again)"), ("a", "a (again)")} <= order_of(outline)
    assert steps_told(outline, ["a", "b", "a"]) == [0, 1, 3]
    assert steps_told(outline, ["c", "a", "d"]) == [2, 3, 4]


def test_an_event_told_twice_in_a_row_is_one_step_that_repeats():
    outline = learn_outline([[0, 1, 1, 2, 3]] * 8 + [[0, 1, 2, 3]] * 8, EVENTS)
    assert [step.name for step in outline.steps] == ["a", "b", "c", "d"]
    np.testing.assert_allclose([step.again for step in outline.steps], [0, 1 / 3, 0, 0], atol=1e-12)


def test_an_event_that_rarely_comes_back_is_one_step():
    outline = learn_outline([[0, 1, 2, 0, 3]] * 4 + [[0, 1, 2, 3]] * 16, EVENTS)
    assert [step.name for step in outline.steps] == ["a", "b", "c", "d"]
    np.testing.assert_allclose(outline.steps[0].again, 1 / 6, rtol=RTOL)


def test_an_event_that_comes_ever_again_is_one_step():
    outline = learn_outline([[0, 1, 0, 2, 0, 3, 0]] * 8, EVENTS)
    assert sorted(step.name for step in outline.steps) == ["a", "b", "c", "d"]


def test_only_some_events_are_two_steps():
    told = [[*range(6), *range(6)]] * 8
    assert len(learn_outline(told, EVENTS).steps) == int(learning.MOST_STEPS * 6)


def test_the_second_step_of_an_event_has_a_name_of_its_own():
    events = ["knock", "open", "go", "sit", "knock (again)"]
    outline = learn_outline([[0, 1, 0, 2, 3, 4]] * 8, events)
    names = [step.name for step in outline.steps]
    assert len(set(names)) == len(names) == 6
    assert set(events) < set(names)
    assert [step.event for step in outline.steps].count("knock") == 2


# Nothing left out


def test_where_nothing_was_left_out_nothing_happened_unsaid():
    told = library(0)
    outline = learn_outline(told, LIBRARY, complete=True)
    assert {step.telling for step in outline.steps} == {1.0}
    assert sorted(map(sorted, units_of(outline))) == sorted(
        map(sorted, units_of(learn_outline(told, LIBRARY)))
    )
    for unit in outline.units:
        by = np.mean([any(outline.steps[s].event in heard(t) for s in unit.steps) for t in told])
        np.testing.assert_allclose(unit.happens, by, rtol=RTOL)
        if by < 1:
            assert not outline.unsaid[list(unit.steps)].any()


def heard(telling):
    return {LIBRARY[event] for event in telling}


# Little and much


@pytest.mark.parametrize("told", [[], [[]], [[], []]])
@pytest.mark.parametrize("events", [[], ["a"]])
def test_of_no_tellings_the_outline_is_empty(told, events):
    outline = learn_outline(told, events)
    assert outline.steps == outline.units == ()
    assert outline.order.shape == outline.pairs.shape == (0, 0)
    assert outline.tellings == len(told)


def test_one_telling_is_its_own_outline():
    outline = learn_outline([[2, 0, 1]], EVENTS)
    assert [step.name for step in outline.steps] == ["c", "a", "b"]
    assert {(step.told, step.telling) for step in outline.steps} == {(1.0, 0.75)}
    assert naive.pairs_of(outline.order) == {(0, 1), (1, 2), (0, 2)}
    single = learn_outline([[0, 0]], ["a"])
    np.testing.assert_allclose(single.steps[0].again, 0.5, rtol=RTOL)


def test_many_long_tellings():
    rng = np.random.default_rng(0)
    told = []
    for _ in range(500):
        done = np.flatnonzero(rng.random(40) < 0.7)
        told.append(done[np.argsort(done + rng.normal(0, 0.7, len(done)))].tolist())
    outline = learn_outline(told, [f"event {number}" for number in range(40)])
    assert len(outline.steps) == len(outline.units) == 40
    assert all(outline.unsaid > 0.9)


# Branches of several steps

BRANCHES = {
    "two and two": [("approve", "sign"), ("reject", "notify")],
    "three and two": [("approve", "offer", "sign"), ("reject", "notify")],
    "four and one": [("approve", "offer", "sign", "pay"), ("reject",)],
    "two, two and two": [("approve", "sign"), ("reject", "notify"), ("wait", "ask")],
}


def branched(branches, rng, omitted=0.0, count=150):
    """Cases that take one of the branches each, between two steps that all have."""
    told = []
    for number in range(count):
        whole = ("receive", *branches[number % len(branches)], "archive")
        told.append([step for step in whole if rng.random() >= omitted])
    return told


def own_tellings(domain):
    """The events of tellings that come with the package."""
    corpus = io.read(str(files("elision") / "data" / "tellings.jsonl"))
    return corpus.domain(domain).events


def numbered(told):
    names = sorted({step for one in told for step in one})
    return [[names.index(step) for step in one] for one in told], names


@pytest.mark.parametrize("omitted", [0.0, 0.2])
@pytest.mark.parametrize("branches", BRANCHES.values(), ids=BRANCHES)
def test_long_branches_are_one_choice(branches, omitted):
    told, names = numbered(branched(branches, np.random.default_rng(0), omitted))
    outline = learn_outline(told, names)
    (choice,) = [unit for unit in outline.units if len(unit.branches) > 1]
    found = {tuple(outline.steps[step].name for step in branch) for branch in choice.branches}
    assert found == set(branches)


@pytest.mark.parametrize("seed", range(5))
def test_a_branch_may_end_long_after_the_others(seed):
    """Tea made in a pot is poured later on, when what is done with tea in a cup is long done."""
    rng = np.random.default_rng(seed)
    told = []
    for number in range(90):
        first, last = (["pot"], ["serve"]) if number % 3 == 0 else (["cup"], [])
        done = ["fetch", "boil", *first, "water", "wait", "remove", *last, "drink"]
        told.append([step for step in done if rng.random() < 0.9 or step in ("pot", "serve")])
    outline = learn_outline(*numbered(told))
    steps = {step.name: number for number, step in enumerate(outline.steps)}
    (choice,) = outline.apart
    assert set(choice.branches) == {(steps["pot"], steps["serve"]), (steps["cup"],)}
    assert outline.happened([steps["serve"]])[[steps["pot"], steps["cup"]]].tolist() == [1, 0]


def hospital(rng, omitted, count=150):
    """Ward or clinic; two tests for all, in any order; what belongs to the ward or the clinic."""
    told = []
    for _ in range(count):
        first, last = ("ward", "operate") if rng.random() < 0.42 else ("clinic", "treat")
        tests = ["lab", "scan"] if rng.random() < 0.5 else ["scan", "lab"]
        done = ["come", first, *tests, last, "rest", "go"]
        told.append([step for step in done if rng.random() >= omitted])
    return told


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("omitted", [0.0, 0.1, 0.2])
def test_what_all_do_stands_between_the_parts_of_a_choice(omitted, complete):
    told, names = numbered(hospital(np.random.default_rng(1), omitted))
    outline = learn_outline(told, names, complete=complete)
    assert [unit for unit in units_of(outline) if len(unit) > 1] == [
        {("ward",), ("clinic",)},
        {("operate",), ("treat",)},
    ]
    steps = {step.name: number for number, step in enumerate(outline.steps)}
    unit = {name: outline.unit_of[number] for name, number in steps.items()}
    for test in ("lab", "scan"):
        assert outline.order[unit["ward"], unit[test]]
        assert outline.order[unit[test], unit["operate"]]
    assert not outline.order[unit["lab"], unit["scan"]]
    # What is told of one part says what happened in the other.
    for heard, surely, never in (
        ("ward", "operate", "treat"),
        ("clinic", "treat", "operate"),
        ("operate", "ward", "clinic"),
    ):
        happened = outline.happened([steps[heard]])
        assert (happened[steps[surely]], happened[steps[never]]) == (1, 0)
    assert "operate (" in outline.text()
    assert ", if ward" in outline.text()


def test_a_choice_is_parted_only_by_what_goes_with_all_its_branches():
    """Of three in ten of those in the ward something is asked, of nobody else."""
    rng = np.random.default_rng(2)
    told = []
    for _ in range(200):
        ward = ["ward", *(["ask"] if rng.random() < 0.3 else []), "operate"]
        told.append(["come", *(ward if rng.random() < 0.5 else ["clinic", "treat"]), "go"])
    outline = learn_outline(*numbered(told))
    assert outline.apart == ()
    assert {("ward", "operate"), ("clinic", "treat")} in units_of(outline)


def test_a_part_of_one_branch_only_is_done_as_often_as_that():
    rng = np.random.default_rng(3)
    told = []
    for _ in range(200):
        ward = rng.random() < 0.4
        done = ["come", *(["ward"] if ward else ["clinic"]), "test", *(["operate"] if ward else [])]
        told.append([step for step in [*done, "go"] if rng.random() >= 0.05])
    outline = learn_outline(*numbered(told))
    (whole,) = outline.apart
    names = {tuple(outline.steps[s].name for s in branch) for branch in whole.branches}
    assert names == {("ward", "operate"), ("clinic",)}
    steps = {step.name: number for number, step in enumerate(outline.steps)}
    (alone,) = [unit for unit in outline.units if unit.steps == (steps["operate"],)]
    assert alone.happens == pytest.approx(0.4, abs=0.1)


def test_tea_in_a_pot_is_not_put_in_the_cup():
    """None of the package's own tellings puts it in both."""
    outline = learn_outline(*numbered(own_tellings("making tea")))
    steps = {step.name: number for number, step in enumerate(outline.steps)}
    told = [steps[name] for name in ("heat_water", "put_tea_in_pot", "pour_tea")]
    assert outline.happened(told)[steps["put_tea_in_cup"]] == 0
    assert outline.happened(told[:1])[steps["put_tea_in_cup"]] > 0.5


def test_what_comes_instead_far_away_with_a_step_between_is_no_choice():
    """Who walks there does not take the bus home: two steps, and neither instead of the other."""
    rng = np.random.default_rng(0)
    told = []
    for _ in range(100):
        walks = rng.random() < 0.5
        told.append([*(["walk"] if walks else []), "enter", "shop", "pay", "leave"])
        told[-1] += [] if walks else ["bus"]
    outline = learn_outline(*numbered(told))
    assert all(len(unit.branches) == 1 for unit in outline.units)


def test_rework_is_a_step_that_repeats():
    rng = np.random.default_rng(0)
    told = []
    for _ in range(200):
        again = ["ask", "check"] if rng.random() < 0.42 else []
        left, right = ["check", *again], ["rate", "price"]
        merged = ["open"]
        while left or right:
            side = left if left and (not right or rng.random() < 0.5) else right
            merged.append(side.pop(0))
        told.append([*merged, "close"])
    outline = learn_outline(*numbered(told))
    names = [step.name for step in outline.steps]
    assert sorted(names) == ["ask", "check", "close", "open", "price", "rate"]
    check = outline.steps[names.index("check")]
    assert check.told == 1.0
    np.testing.assert_allclose(check.again, 1 - 200 / sum(one.count("check") for one in told))


def test_steps_named_alike_follow_each_other_if_enough_tellings_agree():
    events = ["boil water", "add salt", "add pasta", "drain"]
    told = [(0, 1, 2, 3)]
    rng = np.random.default_rng(0)
    gappy = [tuple(step for step in range(4) if rng.random() > 0.4) for _ in range(6)]

    def ordered(tellings, names):
        found = learn_outline([one for one in tellings if one], names)
        unit = {step.name: found.unit_of[place] for place, step in enumerate(found.steps)}
        return bool(found.order[unit[names[1]], unit[names[2]]])

    assert ordered(12 * told, events)
    assert not ordered(gappy, events)
    # A single letter is a code, so the same tellings order the same steps under such names.
    assert ordered(gappy, ["W_boil", "A_salt", "A_pasta", "W_drain"])
    assert not same_beginnings(["A_ADDED", "A_MIXED"]).any()
