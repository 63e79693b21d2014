"""Outlines as values: what is refused, what happened by enumeration, and which step is told."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import time
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import elision as el
import naive_outlines as naive
from elision.values.outline import FIRM, UNSEEN, Outline, Relation, Step, Unit, steps_told

RTOL = 1e-9


def step(name, **changes):
    return Step(**{"name": name, "event": name, "told": 0.5, "telling": 0.5} | changes)


def single(number, happens=1.0):
    return Unit(((number,),), (1.0,), happens)


def singles(n):
    return [single(number) for number in range(n)]


def table_of(order, n):
    table = np.zeros((n, n), dtype=bool)
    for a, b in order:
        table[a, b] = True
    return table


def outline_of(steps, units, order=(), pairs=None, **more):
    n = len(units)
    counts = np.zeros((n, n), np.int64) if pairs is None else np.array(pairs)
    return Outline(tuple(steps), tuple(units), table_of(naive.closure(order), n), counts, **more)


def tea():
    """Boil water, then in any order take a cup and a bag or leaves; then pour."""
    return outline_of(
        [step("boil"), step("cup"), step("bag"), step("pot"), step("leaves"), step("pour")],
        [single(0), single(1, 0.8), Unit(((2,), (3, 4)), (0.75, 0.25), 0.9), single(5)],
        {(0, 1), (0, 2), (1, 3), (2, 3)},
        [[0, 7, 5, 9], [1, 0, 3, 6], [0, 3, 0, 8], [0, 0, 1, 0]],
        tellings=10,
        title="making tea",
    )


def visit():
    """Knock, enter, knock again at an inner door, sit: one event with two steps."""
    steps = [
        step("knock"),
        step("enter"),
        step("knock (again)", event="knock"),
        step("sit"),
    ]
    return outline_of(steps, singles(4), {(0, 1), (1, 2), (2, 3)})


# What is refused

WRONG = {
    "exactly one unit": lambda o: {"units": o.units[:-1]},
    "one unit": lambda o: {"units": (*o.units[:-1], single(0))},
    "in exactly one": lambda o: {"units": (*o.units[:-1], single(9))},
    "same name": lambda o: {"steps": (o.steps[1], *o.steps[1:])},
    "a table of": lambda o: {"order": o.order[:-1]},
    r"expected \(4, 4\)": lambda o: {"pairs": o.pairs[:, :-1]},
    "without cycles": lambda o: {"order": o.order | o.order.T},
    "cycles": lambda o: {"order": o.order | np.eye(4, dtype=bool)},
    "transitive": lambda o: {"order": o.covers},
    "needs a branch": lambda o: {"units": (*o.units, Unit((), (), 1.0))},
    "a branch a step": lambda o: {"units": (*o.units, Unit(((),), (1.0,), 1.0))},
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_makes_no_outline_is_refused(problem):
    outline = tea()
    changes = WRONG[problem](outline)
    if len(changes.get("units", ())) == 5:
        changes |= {"order": table_of((), 5), "pairs": np.zeros((5, 5), np.int64)}
    with pytest.raises(el.ScriptError, match=problem) as caught:
        dataclasses.replace(outline, **changes)
    assert str(caught.value).isprintable()


SHARES = {
    "a share for each": (1.0,),
    "share for each branch": (-0.5, 1.5),
    "sum to": (0.5, 0.6),
    "expected 1": (0.0, 0.0),
    "shares? ": (float("nan"), 0.5),
    "(share|sum)": (0.5, float("nan")),
}


@pytest.mark.parametrize("problem", SHARES)
def test_shares_that_are_no_distribution_are_refused(problem):
    units = [single(0), Unit(((1,), (2,)), SHARES[problem], 1.0)]
    with pytest.raises(el.ScriptError, match=problem):
        outline_of([step("a"), step("b"), step("c")], units)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_what_is_no_probability_is_refused(value):
    with pytest.raises(el.ScriptError, match="happens with"):
        outline_of([step("a")], [single(0, value)])
    for name in ("told", "telling", "again", "place"):
        with pytest.raises(el.ScriptError, match="is no probability"):
            outline_of([step("a", **{name: value})], [single(0)])


def test_an_outline_of_nothing_is_one():
    empty = outline_of([], [])
    assert empty.relations == ()
    assert empty.happened([]).shape == (0,)
    assert steps_told(empty, ["a", None]) == [None, None]


# Values


def test_equal_outlines_have_equal_hashes():
    one, same = tea(), tea()
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same}) == 1
    assert one != "outline"
    others = [
        dataclasses.replace(one, steps=(step("boil", telling=0.4), *one.steps[1:])),
        dataclasses.replace(one, units=(single(0, 0.5), *one.units[1:])),
        dataclasses.replace(one, order=np.zeros((4, 4), dtype=bool)),
        dataclasses.replace(one, pairs=one.pairs + 1),
        dataclasses.replace(one, tellings=11),
        dataclasses.replace(one, title="tea"),
    ]
    assert all(one != other for other in others)


ARRAYS = ["order", "pairs"] + [
    name
    for name, value in vars(Outline).items()
    if isinstance(value, cached_property) and isinstance(getattr(tea(), name), np.ndarray)
]
COPIES = {
    "itself": lambda value: value,
    "copied": copy.copy,
    "deeply copied": copy.deepcopy,
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_arrays_cannot_be_changed(copied, name):
    outline = tea()
    getattr(outline, name)
    same = copied(outline)
    assert same == outline
    assert hash(same) == hash(outline)
    array = getattr(same, name)
    assert np.array_equal(array, getattr(outline, name))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_attributes_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        tea().title = "coffee"
    with pytest.raises(dataclasses.FrozenInstanceError):
        tea().steps[0].told = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        tea().units[0].happens = 1.0


def test_arrays_belong_to_the_outline_alone():
    order, pairs = table_of({(0, 1)}, 2), np.array([[0, 4], [1, 0]])
    steps, units = (step("a"), step("b")), (single(0), single(1))
    outline = Outline(steps, units, order[:], pairs[:])
    order[0, 1] = False
    pairs[0, 1] = 0
    assert outline.order[0, 1]
    assert outline.pairs[0, 1] == 4


# Order


@st.composite
def orders(draw):
    n = draw(st.integers(1, 6))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    counts = draw(st.lists(st.integers(0, 20), min_size=n * n, max_size=n * n))
    return n, naive.closure(chosen), np.array(counts, np.int64).reshape(n, n)


@given(orders())
def test_relations_are_what_does_not_follow_from_others(case):
    n, order, pairs = case
    outline = outline_of([step(f"s{i}") for i in range(n)], singles(n), order, pairs)
    expected = naive.reduction(order)
    assert naive.pairs_of(outline.covers) == expected
    assert outline.relations == tuple(
        Relation(a, b, int(pairs[a, b]), int(pairs[b, a])) for a, b in sorted(expected)
    )
    assert naive.closure(naive.pairs_of(outline.covers)) == order


@given(orders())
def test_what_comes_ahead_is_a_probability_by_evidence_and_order(case):
    n, order, pairs = case
    outline = outline_of([step(f"s{i}") for i in range(n)], singles(n), order, pairs)
    for a in range(n):
        for b in range(n):
            one, other = (
                pairs[x, y] + UNSEEN + FIRM * ((x, y) in order) for x, y in ((a, b), (b, a))
            )
            np.testing.assert_allclose(outline.ahead[a, b], one / (one + other), rtol=RTOL)
    np.testing.assert_allclose(outline.ahead + outline.ahead.T, 1.0, rtol=RTOL)


def test_units_of_steps_and_steps_of_events():
    assert tea().unit_of == (0, 1, 2, 2, 2, 3)
    assert tea().units[2].steps == (2, 3, 4)
    assert visit().steps_of == {"knock": (0, 2), "enter": (1,), "sit": (3,)}


# What happened

probabilities = st.floats(0.01, 0.99) | st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def told_outlines(draw):
    """A small outline, and steps of it that are told: of each unit those of one branch at most."""
    units, told, count = [], [], 0
    for _ in range(draw(st.integers(1, 3))):
        sizes = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
        if count + sum(sizes) > 6:
            break
        branches = []
        for size in sizes:
            branches.append(tuple(range(count, count + size)))
            count += size
        weights = [draw(st.integers(1, 9)) for _ in sizes]
        shares = tuple(one / sum(weights) for one in weights)
        units.append(Unit(tuple(branches), shares, draw(probabilities)))
        taken = draw(st.sampled_from([(), *branches]))
        told += [number for number in taken if draw(st.booleans())]
    steps = [step(f"s{i}", telling=draw(probabilities)) for i in range(count)]
    return outline_of(steps, units), told


def enumerated(outline, told):
    units = [(unit.branches, unit.shares, unit.happens) for unit in outline.units]
    return naive.happened(units, [one.telling for one in outline.steps], told)


@given(told_outlines())
def test_what_happened_agrees_with_all_that_may(case):
    outline, told = case
    try:
        expected = enumerated(outline, told)
    except ZeroDivisionError:  # such a telling cannot be
        assume(False)
    found = outline.happened(told)
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=1e-15)
    np.testing.assert_allclose(outline.happened(told[::-1] * 2), found, rtol=RTOL)
    assert (found[told] == 1).all()
    for unit in outline.units:
        assert sum(found[branch[0]] for branch in unit.branches) <= 1 + 1e-9


def in_parts(whole):
    """Each branch's first step in one unit, the others in another."""
    return [
        Unit(tuple(part), whole.shares, whole.happens)
        for part in ([b[:1] for b in whole.branches], [b[1:] for b in whole.branches])
    ]


@given(told_outlines())
def test_choices_in_parts_happen_as_whole_ones(case):
    """Only their order is another."""
    outline, told = case
    units, apart = [], []
    for unit in outline.units:
        long = len(unit.branches) > 1 and all(len(branch) == 2 for branch in unit.branches)
        units += in_parts(unit) if long else [unit]
        apart += [unit] if long else []
    parted = outline_of(outline.steps, units, apart=tuple(apart))
    np.testing.assert_array_equal(parted.happened(told), outline.happened(told))
    assert sorted(parted.decisions, key=lambda one: one.steps) == list(outline.units)
    assert all(step in parted.decisions[d].steps for step, d in enumerate(parted.decided_by))


def ward_or_clinic(**more):
    """A choice with a test between its parts."""
    whole = Unit(((0, 3), (1, 4)), (0.5, 0.5), 1.0)
    units = [in_parts(whole)[0], single(2), in_parts(whole)[1]]
    names = ["ward", "clinic", "test", "operate", "treat"]
    steps = [step(name, telling=0.9) for name in names]
    return outline_of(steps, units, {(0, 1), (1, 2)}, **{"apart": (whole,), **more})


def test_parts_say_what_they_go_with():
    lines = ward_or_clinic().text().splitlines()
    assert lines[2:4] == ["       ward (50%)", "       clinic (50%)"]
    assert lines[6:] == ["       operate (50%), if ward", "       treat (50%), if clinic"]
    assert ward_or_clinic() != ward_or_clinic(apart=())
    assert copy.deepcopy(ward_or_clinic()) == ward_or_clinic()


APART = {
    "an unknown one": Unit(((0, 9), (1, 4)), (0.5, 0.5), 1.0),
    "a step twice": Unit(((0, 3), (0, 4)), (0.5, 0.5), 1.0),
    "no part of choice 0": Unit(((0, 1), (3, 4)), (0.5, 0.5), 1.0),
    "part of choice": Unit(((0, 3), (4,)), (0.5, 0.5), 1.0),
    "needs a branch": Unit((), (), 1.0),
    "expected 1": Unit(((0, 3), (1, 4)), (0.5, 0.6), 1.0),
}


@pytest.mark.parametrize("problem", APART)
def test_what_is_no_choice_in_parts_is_refused(problem):
    with pytest.raises(el.ScriptError, match=problem):
        ward_or_clinic(apart=(APART[problem],))
    with pytest.raises(el.ScriptError, match="in common"):
        ward_or_clinic(apart=ward_or_clinic().apart * 2)


def test_a_branch_of_a_part_lies_in_one_branch_of_the_whole():
    steps = [step(name) for name in "abc"]
    unit = Unit(((0, 1), (2,)), (0.5, 0.5), 1.0)
    whole = Unit(((0,), (1, 2)), (0.5, 0.5), 1.0)
    with pytest.raises(el.ScriptError, match="no part of choice 0"):
        outline_of(steps, [unit], apart=(whole,))


def test_many_choices_in_parts_are_checked_as_quickly_as_none():
    """Compared with none: each against each unit took many times as long."""
    count = 1500
    steps = [step(f"s{k}") for k in range(count)]
    units = [single(k) for k in range(count)]
    many = tuple(Unit(((k,), (k + 1,)), (0.5, 0.5), 1.0) for k in range(0, count, 2))
    seconds = []
    for apart in ((), many):
        begun = time.process_time()
        assert len(outline_of(steps, units, apart=apart).apart) == len(apart)
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 3 * seconds[0] + 0.2


def test_what_happened_in_a_cup_of_tea():
    outline = tea()
    silent = [0.75 * 0.5, 0.25 * 0.25]
    bag, leaves = (0.9 * one / (0.1 + 0.9 * sum(silent)) for one in silent)
    expected = [1.0, 0.8 * 0.5 / 0.6, bag, leaves, leaves, 1.0]
    np.testing.assert_allclose(outline.unsaid, expected, rtol=RTOL)
    np.testing.assert_allclose(outline.happened([3])[2:5], [0.0, 1.0, 1.0], rtol=RTOL)
    np.testing.assert_allclose(outline.happened(iter([2]))[2:5], [1.0, 0.0, 0.0], rtol=RTOL)


def test_what_is_told_of_several_branches_speaks_for_each():
    happened = tea().happened([2, 3])  # a bag, and a pot for leaves
    assert happened[2:5].tolist() == [1.0, 1.0, 0.5]
    assert tea().happened([2, 3, 4])[2:5].tolist() == [1.0, 1.0, 1.0]
    assert ward_or_clinic().happened([1, 3]).tolist() == [0.5, 1.0, 1.0, 1.0, 0.5]


def test_a_telling_that_cannot_be_says_what_it_can():
    always = [step("a", telling=1.0), step("b", telling=1.0)]
    outline = outline_of(always, [Unit(((0,), (1,)), (0.75, 0.25), 1.0)])
    np.testing.assert_allclose(outline.unsaid, [0.75, 0.25], rtol=RTOL)
    np.testing.assert_allclose(outline.happened([0, 1]), [1.0, 1.0], rtol=RTOL)


# Which step is told

TOLD = [
    ([], []),
    (["enter", "dance", None, "sit"], [1, None, None, 3]),
    (["knock"], [0]),
    (["knock", "enter"], [0, 1]),
    (["enter", "knock"], [1, 2]),
    (["knock", "sit"], [0, 3]),
    (["knock", "enter", "knock", "sit"], [0, 1, 2, 3]),
    (["knock", "knock", "enter"], [0, 0, 1]),
    (["enter", "knock", "knock", "sit"], [1, 2, 2, 3]),
    (["knock", "knock"], [0, 0]),
    (["knock", None, "knock"], [0, None, 2]),
    (["knock", "knock", "dance", "knock", "knock"], [0, 0, None, 2, 2]),
    (["knock", "enter", "enter", "knock"], [0, 1, 1, 2]),
    (["sit", "knock", "enter"], [3, 0, 1]),
]


@pytest.mark.parametrize(("told", "expected"), TOLD)
def test_an_event_tells_the_step_whose_place_it_has(told, expected):
    assert steps_told(visit(), told) == expected


def test_evidence_decides_between_places_that_are_not_ordered():
    steps = [step("knock"), step("enter"), step("knock (again)", event="knock")]
    pairs = [[0, 2, 5], [8, 0, 9], [0, 1, 0]]
    outline = outline_of(steps, singles(3), (), pairs)
    assert steps_told(outline, ["enter", "knock"]) == [1, 2]
    assert steps_told(outline, ["knock", "enter"]) == [0, 1]


@given(st.lists(st.sampled_from(["knock", "enter", "sit", "dance", None]), max_size=7))
def test_a_step_told_is_one_of_its_event(told):
    outline = visit()
    found = steps_told(outline, told)
    assert len(found) == len(told)
    for event, number in zip(told, found, strict=True):
        assert (number is None) == (event in {None, "dance"})
        assert number is None or outline.steps[number].event == event
    places = [place for place, event in enumerate(told) if event == "knock"]
    if any(b - a > 1 for a, b in pairwise(places)):
        assert {found[place] for place in places} == {0, 2}


# In words


@st.composite
def partial_orders(draw):
    """Eight steps at most, some of them after some others."""
    n = draw(st.integers(2, 8))
    place = draw(st.permutations(range(n)))
    pairs = [(place[a], place[b]) for b in range(n) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return outline_of([step(f"s{number}") for number in range(n)], singles(n), chosen)


def blocks_of(outline):
    """The lines of an outline as words and the lines below them, by their margins."""
    found = []
    open_blocks = [(-1, found)]
    for line in str(outline).splitlines()[1:]:
        margin = len(line) - len(line.lstrip(" 0123456789"))
        while open_blocks[-1][0] >= margin:
            open_blocks.pop()
        below = []
        open_blocks[-1][1].append((line[margin:], below))
        open_blocks.append((margin, below))
    return found


def said_order(blocks, way, after):
    """Note what each step comes after, as a person reads it; return all steps of the blocks."""
    above = []
    for words, below in blocks:
        words, _, aside = words.partition(";")
        if below:
            inside = said_order(below, words, after)
        else:
            inside = [part.partition(" (")[0] for part in words.split(", then ")]
            after |= {name: set(inside[:place]) for place, name in enumerate(inside)}
        named = set(re.findall(r"s\d", aside))
        if way == "in any order":
            earlier = set()
        elif aside.startswith(" before or after "):
            earlier = set(above) - named
        else:
            assert aside.startswith(" or at any earlier time") or not aside
            earlier = named if aside else set(above)
        for name in inside:
            after[name] |= earlier
        above += inside
    return above


@given(partial_orders())
def test_words_say_the_whole_order(outline):
    after = {}
    said_order(blocks_of(outline), "in this order", after)
    for _ in after:
        after = {name: some.union(*(after[one] for one in some)) for name, some in after.items()}
    names = [one.name for one in outline.steps]
    assert after == {
        name: {other for a, other in enumerate(names) if outline.order[a, b]}
        for b, name in enumerate(names)
    }
