"""Where steps happened unsaid, by an outline: plain twins, written from what the pages say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_outlines as naive
from elision.ask import outlined
from elision.ask.outlined import SIBLING, nothing_unsaid, places, silences
from elision.values.outline import Alarms, Outline, Step, Unit, steps_told

RTOL = 1e-9
ATOL = 1e-12


@st.composite
def outlines(draw):
    """A few units in some order, choices among them; the first event has two steps now and then."""
    shapes = draw(
        st.lists(st.sampled_from(["one", "two branches", "branch of two"]), min_size=1, max_size=4)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps, units = [], []
    for shape in shapes:
        first = len(steps)
        count = {"one": 1, "two branches": 3, "branch of two": 2}[shape]
        steps += [
            Step(f"s{k}", f"e{k}", *rng.random(2).round(3).tolist())
            for k in range(first, first + count)
        ]
        branches = {
            "one": ((first,),),
            "two branches": ((first,), (first + 1, first + 2)),
            "branch of two": ((first, first + 1),),
        }[shape]
        shares = rng.dirichlet(np.ones(len(branches)))
        units.append(Unit(branches, tuple(shares.tolist()), float(rng.random())))
    if len(units) > 1 and draw(st.booleans()):
        last = steps[-1]
        steps[-1] = Step(last.name, "e0", last.told, last.telling)
    n = len(units)
    order = naive.closure({(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.4})
    table = np.zeros((n, n), bool)
    for a, b in order:
        table[a, b] = True
    pairs = rng.integers(0, 9, (n, n))
    np.fill_diagonal(pairs, 0)
    outline = Outline(tuple(steps), tuple(units), table, pairs, tellings=20)
    told = draw(st.lists(st.one_of(st.none(), st.integers(0, len(steps) - 1)), max_size=5))
    return outline, told


def first_places(told):
    found = {}
    for place, step in enumerate(told):
        if step is not None and step not in found:
            found[step] = place
    return found


def comes_first(outline, one, other):
    """Probability that a step told comes before another one that happens."""
    a, b = outline.unit_of[one], outline.unit_of[other]
    if a != b:
        return outline.ahead[a, b]
    for branch in outline.units[a].branches:
        if one in branch and other in branch:
            return SIBLING if branch.index(one) < branch.index(other) else 1 - SIBLING
    return 0.5


def places_twin(outline, told):
    first = first_places(told)
    result = np.zeros((len(told) + 1, len(outline.steps)))
    for step in range(len(outline.steps)):
        for place in range(len(told) + 1):
            weight = 1.0
            for other, at in first.items():
                chance = comes_first(outline, other, step)
                chance = chance if at < place else 1 - chance
                same = outline.unit_of[other] == outline.unit_of[step]
                parts = sum(outline.unit_of[one] == outline.unit_of[other] for one in first)
                weight *= chance if same else chance ** (1 / parts)
            if 0 < place < len(told) and told[place] is not None and told[place - 1] == told[place]:
                weight = 0.0
            result[place, step] = weight
    return result / result.sum(axis=0)


@settings(max_examples=60)
@given(outlines())
def test_places_are_products_over_the_units_told(case):
    outline, told = case
    expected = places_twin(outline, told)
    np.testing.assert_allclose(places(outline, told), expected, rtol=RTOL, atol=ATOL)
    known = [step for step in told if step is not None]
    happened = outline.happened(known)
    happened[known] = 0.0
    np.testing.assert_allclose(silences(outline, told), expected * happened, rtol=RTOL, atol=ATOL)


@settings(max_examples=60)
@given(outlines())
def test_that_nothing_was_left_out_is_a_product_over_units(case):
    outline, told = case
    at = silences(outline, told)
    known = {step for step in told if step is not None}
    for place, row in enumerate(at):
        expected = 1.0
        for unit in outline.units:
            if known & set(unit.steps):
                for step in unit.steps:
                    expected *= 1 - row[step]
            else:  # its branches exclude each other, and one of them comes at one place
                expected *= 1 - sum(max(row[step] for step in branch) for branch in unit.branches)
        found = nothing_unsaid(outline, told, at)[place]
        np.testing.assert_allclose(found, min(max(expected, 0.0), 1.0), rtol=RTOL, atol=ATOL)


def test_parts_of_a_choice_are_left_out_together():
    """Whoever leaves out the one part that is at a place has left out the other."""
    steps = [Step(f"s{k}", f"e{k}", 0.4, 0.5) for k in range(6)]
    part = [Unit(((k,), (k + 1,)), (0.5, 0.5), 0.8) for k in (1, 3)]
    single = [Unit(((k,),), (1.0,), 1.0) for k in (0, 5)]
    units = (single[0], *part, single[1])
    whole = Unit(((1, 3), (2, 4)), (0.5, 0.5), 0.8)
    order = np.triu(np.ones((4, 4), bool), 1)
    outline = Outline(tuple(steps), units, order, 20 * order, tellings=20, apart=(whole,))
    for told in ([0, 5], [0, None, 5]):
        at = silences(outline, told)
        found = nothing_unsaid(outline, told, at)
        happened = outline.happened([0, 5])
        assert found[0] > 0.9
        if len(told) == 2:
            np.testing.assert_allclose(found[1], 1 - happened[1] - happened[2], rtol=0.05)
    # Once something of it is told, what is left of it stands by itself, as in any choice.
    at = silences(outline, [0, 1, 5])
    np.testing.assert_allclose(
        nothing_unsaid(outline, [0, 1, 5], at), np.prod(1 - at, axis=1), rtol=RTOL
    )


@settings(max_examples=60)
@given(outlines())
def test_an_event_of_two_steps_was_unsaid_if_either_was(case):
    outline, told = case
    for row in silences(outline, told):
        found = {one.event: one for one in outlined._unsaid(outline, row, 0.0)}
        for event, steps in outline.steps_of.items():
            none = np.prod([1 - row[step] for step in steps])
            if none == 1:
                assert event not in found
                continue
            np.testing.assert_allclose(found[event].probability, 1 - none, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(found[event].expected, row[list(steps)].sum(), rtol=1e-9)
        limit = 0.3
        shown = {one.event for one in outlined._unsaid(outline, row, limit)}
        assert shown == {event for event, one in found.items() if one.probability >= limit}


@settings(max_examples=60)
@given(outlines())
def test_an_event_of_two_steps_tells_the_one_that_agrees_better(case):
    outline, told = case
    events = [None if step is None else outline.steps[step].event for step in told]
    found = steps_told(outline, events)
    single = {event: steps[0] for event, steps in outline.steps_of.items() if len(steps) == 1}
    expected = []
    for place, event in enumerate(events):
        best, chosen = -np.inf, None
        for step in outline.steps_of.get(event, ()):
            total = 0.0
            for where, other in enumerate(events):
                if where != place and other in single:
                    a, b = outline.unit_of[single[other]], outline.unit_of[step]
                    total += np.log(outline.ahead[a, b] if where < place else outline.ahead[b, a])
            if total > best:
                best, chosen = total, step
        expected.append(chosen)
    for event, steps in outline.steps_of.items():
        where = [place for place, one in enumerate(events) if one == event]
        apart = any(b - a > 1 for a, b in pairwise(where))
        if len(steps) > 1 and apart and len({expected[place] for place in where}) == 1:
            for place in where:
                expected[place] = steps[-1] if place - where[0] > 1 else steps[0]
    assert found == expected


def test_thresholds_of_alarms_by_hand():
    seen = (9.0, 7.0, 4.0, 2.0)
    alarms = Alarms(seen, seen[::-1])
    # Five places between and beside four tellings: of a rate of 2 / 5 the second largest.
    expected = {0.2: 9.0, 0.4: 7.0, 0.59: 7.0, 0.6: 4.0, 0.99: 2.0, 1.0: 2.0}
    for rate, value in expected.items():
        assert alarms.threshold("skipped", rate) == value
    assert alarms.threshold("skipped", 0.1) == 9.0  # half a telling
    np.testing.assert_allclose(
        alarms.threshold("skipped", 0.01), 9.0 + np.log(0.5 / 0.05), rtol=1e-12
    )
    assert alarms.threshold("out_of_order", 0.2) == 2.0
    assert [alarms.known(rate) for rate in (0.19, 0.2, 0.5)] == [False, True, True]
    assert Alarms((), ()).threshold("skipped", 0.5) == np.inf


@settings(max_examples=10)
@given(outlines())
def test_an_outline_as_frame_and_dictionary(case):
    outline, _ = case
    names = [step.name for step in outline.steps]
    assert len(outline.to_frame()) == len(names)
    assert isinstance(outline.to_dict(), dict)
    steps, units = len(names), len(outline.units)
    said = f"Outline({steps} step{'s' * (steps != 1)}, {units} unit{'s' * (units != 1)}, "
    assert repr(outline).startswith(said)
