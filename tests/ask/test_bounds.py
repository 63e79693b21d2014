"""Questions of sizes that nobody asks on purpose: answered soon, or refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

import elision as el
from elision.ask import missing, order, sample
from elision.ask.engine import at_once, best_first, checks, conformance
from elision.ask.engine.best_first import Effort
from elision.ask.heard import Heard
from elision.ask.telling import ahead, gaps, slots
from models import row


@pytest.fixture(scope="module")
def large():
    return row(300)


@pytest.fixture(scope="module")
def learned():
    return el.examples.learned_doorbell()


# --- stretches and gaps ---------------------------------------------------------------------------


def test_sparse_and_dense_tables_say_the_same(large, monkeypatch):
    told = ["s0", None, "s9", None, "s12"]
    few = large.fill(told, joint=True, top=4)
    monkeypatch.setattr("elision.ask.engine.chain.SPARSE", 301)
    many = large.fill(told, joint=True, top=4)
    for one, other in zip(few.answers, many.answers, strict=True):
        assert one.events == other.events
        assert one.probability == pytest.approx(other.probability)


def test_gaps_far_apart_and_side_by_side_are_filled_together(large):
    told = [f"s{k}" for k in range(0, 300, 2)]
    found = large.fill([None, *told[1:-1], None], joint=True, top=2)
    assert found.exact
    assert found.positions == (0, len(told) - 1)
    for course in found.answers:
        filled = [course.events[0], *told[1:-1], course.events[1]]
        gain = large.log_prob(filled) - large.log_prob([None, *told[1:-1], None])
        assert course.probability == pytest.approx(np.exp(gain))
    found = large.fill([None] * 30, joint=True, top=1)
    assert len(found.answers[0].events) == 30
    gain = large.log_prob(found.answers[0].events) - large.log_prob([None] * 30)
    assert found.answers[0].probability == pytest.approx(np.exp(gain))


def test_efforts_by_cost(monkeypatch):
    usual = Effort(best_first.MOST_EXPANDED, best_first.LONGEST_BEAM, best_first.BEAM)
    assert Effort.of(1) == Effort.of(best_first.LEAST_COST) == usual
    assert Effort.of(1, longest=7).steps == 7
    dear = Effort.of(best_first.MOST_WORK)
    assert (dear.expanded, dear.width) == (best_first.FEWEST_EXPANDED, 1)
    some = Effort.of(1, searches=200)
    assert best_first.FEWEST_EXPANDED < some.expanded < best_first.MOST_EXPANDED


def test_only_as_many_as_matter_are_followed():
    chances = np.array([0.2, 0.0, 0.5, 0.2, 0.1])
    assert best_first.worthwhile(chances, 0.0, 9) == [0, 2, 3, 4]
    assert best_first.worthwhile(chances, 0.2, 9) == [0, 2, 3]
    assert best_first.worthwhile(chances, 0.0, 2) == [0, 2]


# --- long narratives ------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["between", "posterior", "align", "next", "missing", "order"])
def test_narratives_that_do_not_fit_are_refused(question, monkeypatch):
    monkeypatch.setattr("elision.ask.heard.MOST_CELLS", 12 * 20)
    script = el.examples.doorbell()
    told = ["open door"] * 21
    with pytest.raises(el.InputError, match="21 events for a script of 12 states and 10 kinds"):
        getattr(script, question)(told)
    assert script.align(told[:1]).steps


def test_many_narratives_are_answered_in_slices_that_fit(monkeypatch):
    script = el.examples.doorbell()
    told = [["hear doorbell", None], [None], ["open door", None, None]] * 3
    whole = script.fill_many(told)
    sliced = at_once._sliced
    monkeypatch.setattr(at_once, "MOST_CELLS", 5 * script.size)
    heard = [Heard(one, range(len(one))) for one in told]
    sizes = [[len(one.items) for one in part] for part in sliced(heard, script.size)]
    assert sizes == [[2, 1], [3], [2, 1], [3], [2, 1], [3]]
    assert list(script.fill_many(told)) == list(whole)
    monkeypatch.setattr(at_once, "AT_ONCE", 1)
    assert list(sliced(heard, 1)) == [[one] for one in heard]
    assert list(sliced([], 1)) == []


def test_what_is_missing_from_long_narratives(monkeypatch):
    script = row(40, told=0.9, loop=0.0)
    told = [f"s{k}" for k in range(40) if k % 5]
    usual = script.missing(told)
    monkeypatch.setattr(missing, "LONG", 0)
    several = script.missing(told)
    assert several.places == usual.places
    assert [one.event for one in several.repaired] == [one.event for one in usual.repaired]


def test_cumulated_either_way():
    first = np.array([0, 2, 2, 7, 8])
    chances = np.random.default_rng(0).random((3, 8))
    few = chances.copy()
    sample._cumulate(few, first)
    expected = np.hstack([np.cumsum(chances[:, a:b], axis=1) for a, b in [(0, 2), (2, 7), (7, 8)]])
    np.testing.assert_array_equal(few, expected)
    many = np.random.default_rng(1).random((2, 9))
    places = np.array([0, 1, 2, 3, 4, 5, 6, 9])
    found = many.copy()
    sample._cumulate(found, places)
    assert np.array_equal(found[:, 6:], np.cumsum(many[:, 6:], axis=1))
    assert np.array_equal(found[:, :6], many[:, :6])


def test_samples_whose_tables_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(checks, "MOST_CELLS", 100)
    with pytest.raises(el.InputError, match="places times edges of the script, expected at most"):
        row(8).sample(1, length=50)


def test_fewer_are_drawn_where_each_takes_long(monkeypatch):
    script = el.examples.doorbell()
    told = ["hear doorbell", "open door", "close door"]
    usual = script.score(told)
    assert usual.p_value is not None
    monkeypatch.setattr(conformance, "QUICK", 1)
    edges = (script.transition > 0).sum() + script.size
    monkeypatch.setattr(conformance, "MOST_UPDATES", int(200 * 4 * edges))
    some = script.score(told)
    assert some.p_value is not None
    assert 1 / some.p_value <= 260
    monkeypatch.setattr(conformance, "MOST_UPDATES", int(50 * 4 * edges))
    few = script.score(told)
    assert few.p_value is None
    assert few.log_prob == usual.log_prob
    assert script.score(told, samples=20).p_value is not None


# --- orders ---------------------------------------------------------------------------------------


def test_many_copies_are_in_order():
    script = el.Script.build(
        {"A": {"a": 0.9, None: 0.1}}, {"start": {"A": 1}, "A": {"A": 0.95, "end": 0.05}}
    )
    found = script.order(["a"] * 150)
    assert found.events == ("a",) * 150
    assert found.likeliest[0].log_prob == pytest.approx(script.log_prob(["a"] * 150))
    assert np.array_equal(found.precedence, np.triu(np.ones((150, 150)), 1))


def test_an_order_is_improved_for_a_while(monkeypatch):
    before = np.triu(np.ones((6, 6)), 1)
    start = np.arange(6)[::-1].copy()
    assert order.improved(before, start).tolist() == list(range(6))
    monkeypatch.setattr(order, "MOST_COMPARED", 36)
    assert order.improved(before, start).tolist() != list(range(6))
    assert sorted(order.improved(before, start).tolist()) == list(range(6))


# --- telling models -------------------------------------------------------------------------------


def test_a_telling_model_fills_only_so_many_places(learned, monkeypatch):
    told = ["hear doorbell", None, "open door", None, "close door", None]
    assert len(learned.fill(told)) == 3
    monkeypatch.setattr(slots, "MOST_READ", 2 * 6 * len(learned.events) ** 1.5)
    said = "3 open places among 3 events of 10 kinds, expected at most 2 "
    with pytest.raises(el.InputError, match=said):
        learned.fill(told)
    with pytest.raises(el.InputError, match="open places among 3 events"):
        learned.fill(told, joint=True)
    assert len(learned.fill(told[:4])) == 2
    monkeypatch.setattr(slots, "MOST_READ", 1)
    assert len(learned.fill(told[:2])) == 1


def test_a_telling_model_orders_and_completes_only_so_many_events(learned, monkeypatch):
    with pytest.raises(el.InputError, match="801 events of 10 kinds to order, expected"):
        learned.order(["open door"] * 801)
    monkeypatch.setattr(gaps, "MOST_PUT_IN", 3**2 * len(learned.events) ** 1.5 + 1)
    told = ["hear doorbell", "walk to door", "open door", "close door"]
    assert learned.fill(told[:3], anywhere=True).answers
    for ask in (learned.missing, lambda one: learned.fill(one, anywhere=True)):
        with pytest.raises(el.InputError, match="4 events of 10 kinds, expected at most 3"):
            ask(told)
    with pytest.raises(el.InputError, match="expected at most 1"):
        learned.missing([*told[:2], None])


def test_a_telling_model_looks_only_so_far_ahead(learned, monkeypatch):
    told = ["hear doorbell", "open door"]
    monkeypatch.setattr(ahead, "MOST_READ", 3 * ahead.FOLLOWED * 2)
    assert len(learned.next(told, steps=3).steps) == 3
    with pytest.raises(el.InputError, match="4 steps ahead of 2 events, expected at most 3"):
        learned.next(told, steps=4)
    assert len(learned.next([told[0], None, told[1]]).steps) == 1
    with pytest.raises(el.InputError, match="4 events with open places among them, expected at mo"):
        learned.next([*told, None, None])
