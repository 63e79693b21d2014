"""What is put in and what is not, by definition; and how a log is thinned and smoothed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.repairing import completing, repairer
from elision.repairing.gaps import Found, GapTables, _thinned, learn_gaps
from elision.repairing.omission import given_omission
from elision.repairing.repairer import Repairer

CHANCES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0.01, 1.0)), max_size=12
)


@settings(max_examples=50)
@given(CHANCES)
def test_as_many_places_of_an_event_as_are_due_the_most_probable_first(rows):
    found = Found(
        np.array([row[0] for row in rows], np.int64),
        np.arange(len(rows)),
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows]),
    )
    due = repairer._due(found)
    for trace in range(3):
        for event in range(3):
            places = [k for k, row in enumerate(rows) if row[:2] == (trace, event)]
            if not places:
                continue
            many = max(round(sum(rows[k][2] for k in places)), 1)
            places.sort(key=lambda k: (-rows[k][2], k))
            assert [k for k in places if due[k]] == places[:many]


@settings(max_examples=50)
@given(st.lists(st.floats(0.01, 1.0), max_size=10))
def test_the_threshold_has_the_largest_f1_to_be_expected(chances):
    found = repairer._balanced(np.array(chances))
    if not chances:
        assert found == 0.5
        return

    def f1(threshold):
        said = [p for p in chances if p >= threshold]
        return 2 * sum(said) / (len(said) + sum(chances))

    best = max(f1(p) for p in chances)
    wanted = [p for p in chances if f1(p) >= best - 1e-12]
    assert any(found == min(max(p, 0.3), 0.5) for p in wanted)


def tables(before):
    nothing = np.zeros(0, np.int64)
    return GapTables(5, nothing.astype(np.uint64), nothing, nothing, nothing, np.array(before))


def test_what_was_hidden_in_one_gap_comes_in_the_order_that_most_pairs_have():
    found = tables([[0, 1, 9], [8, 0, 7], [0, 0, 0]])
    assert found.in_order([0, 1, 2]) == [1, 0, 2]
    assert found.in_order([2, 1]) == [1, 0]
    assert found.in_order([2, 0, 1]) == [2, 1, 0]
    assert found.in_order([]) == []
    assert found._lead(0, 2) == 0.9
    assert found._lead(2, 0) == -0.9
    assert found._lead(0, 1) == pytest.approx(-0.7)
    # By plain counts 1 would be first: frequent pairs outvote no others.
    assert tables([[0, 5, 0], [0, 0, 9], [5, 1, 0]]).in_order([0, 1, 2]) == [2, 0, 1]


def test_a_chain_backs_off_to_how_often_events_are_done():
    direct = np.array([[0.0, 3, 1, 0], [2, 0, 0, 4], [5, 0, 0, 0], [0, 0, 0, 0]])
    start, end = 2, 3
    found = completing._smoothed(direct, start, end)
    common = [direct[:, k].sum() + 0.1 if k != start else 0.0 for k in range(4)]
    for j in range(4):
        different = sum(direct[j] > 0) + 0.5
        for k in range(4):
            expected = direct[j, k] + different * common[k] / sum(common)
            expected /= direct[j].sum() + different
            if j == end or k == start:
                expected = 0.0
            assert found[j, k] == pytest.approx(expected)


def test_thinning_hides_by_rate_and_says_where():
    traces = [np.array([0, 1, 2, 1])] * 200 + [np.array([1])] * 5
    starts, joined, hidden_starts, places, hidden = _thinned(
        traces, np.array([0.0, 1.0, 0.4]), np.random.default_rng(0), 5
    )
    assert len(starts) == len(hidden_starts) == 201  # of the others nothing is left
    kept = 0
    for k in range(200):
        trace = joined[starts[k] : starts[k + 1]].tolist()
        gone = slice(hidden_starts[k], hidden_starts[k + 1])
        if trace == [3, 3, 0, 2, 4, 4]:
            kept += 1
            assert (places[gone].tolist(), hidden[gone].tolist()) == ([1, 2], [1, 1])
        else:
            assert trace == [3, 3, 0, 4, 4]
            assert (places[gone].tolist(), hidden[gone].tolist()) == ([1, 1, 1], [1, 2, 1])
    assert 100 < kept < 140


def test_pairs_hidden_in_one_gap_are_counted_in_their_order():
    log = [np.array([0, 1, 2, 1, 3])]
    rates = np.array([0.0, 1.0, 1.0, 0.0])
    found = learn_gaps([log, log], 4, rates, np.random.default_rng(0))
    expected = np.zeros((4, 4), int)
    expected[1, 2] = expected[2, 1] = expected[1, 1] = 2
    np.testing.assert_array_equal(found.before, expected)
    pair = 0 * found.base + 3
    first, last = found.candidate_starts[pair], found.candidate_starts[pair + 1]
    assert found.candidates[first:last].tolist() == [1, 2]
    assert len(found.candidates) == 2
    assert len(found.candidate_starts) == found.base**2 + 1


def test_what_is_put_in_and_what_is_only_an_alternative():
    repair = Repairer(("a", "b", "c"), given_omission(0.1, 4), 0.5, tables(np.zeros((4, 4), int)))
    chances = [(0, 0.5, True), (1, 0.49, True), (2, 0.9, False)]
    (found,) = repair._chosen(3, chances, 0.5)
    assert (found.gap, found.event, found.probability) == (3, "a", 0.5)
    assert found.alternatives == (("b", 0.49),)  # c was there as well as a, at no certain place
    assert repair._chosen(3, chances, 0.51) == []
    rest = [(1, 0.05, True), (2, 0.049, True)]
    assert repair._chosen(0, [chances[0], *rest], 0.5)[0].alternatives == (("b", 0.05),)
    both = [(0, 0.6, True), (1, 0.95, True), (2, 0.3, True)]
    said = {one.event: one.alternatives for one in repair._chosen(0, both, 0.5)}
    assert said == {"a": (("c", 0.3),), "b": ()}


def test_only_the_most_frequent_events_are_known_and_only_some_cases_looked_at(monkeypatch):
    traces = [("a", "b"), ("b", "c"), ("c", "b"), ("d",)]
    monkeypatch.setattr(repairer, "MOST_EVENTS", 2)
    assert repairer._known(traces) == ("b", "c")
    monkeypatch.setattr(repairer, "MOST_EVENTS", 3)
    assert repairer._known(traces) == ("a", "b", "c")
    assert [one.tolist() for one in repairer._numbered(traces, ("b", "c"))] == [
        [2, 0],
        [0, 1],
        [1, 0],
        [2],
    ]
    monkeypatch.setattr(repairer, "MOST_CASES", 3)
    part = repairer._part(traces, 0)
    assert len(part) == 3
    assert [traces.index(one) for one in part] == sorted(traces.index(one) for one in part)
    assert repairer._part(traces[:3], 0) == traces[:3]


def test_as_many_copies_as_asked_for_with_all_that_was_told():
    traces = [[0, 2], [0, 1, 2], [1, 2]] * 4
    completion = completing.Completion(traces, 3, np.full(3, 0.2))
    copies = list(completion.copies(4))
    assert len(copies) == 4
    for copy in copies:
        assert len(copy) == len(traces)
        for whole, told in zip(copy, traces, strict=True):
            left = iter(whole.tolist())
            assert all(event in left for event in told)  # in their order
    assert completion._odds() == pytest.approx([0.25, 0.25, 0.25, 0.0, 0.0])
    assert len(list(completing.Completion(traces, 3, np.zeros(3)).copies(1))) == 1


def test_where_nothing_is_left_out_copies_are_the_log():
    traces = [[0, 2], [0, 1, 2], [1]]
    (copy,) = completing.Completion(traces, 3, np.zeros(3)).copies(1)
    assert [whole.tolist() for whole in copy] == traces


def test_as_much_is_put_in_as_the_rates_say_was_left_out():
    """Each rate of r takes away r of what was done: r / (1 - r) of what is told comes back."""
    rng = np.random.default_rng(1)
    traces = [[e for e in range(6) if rng.random() >= 0.2] for _ in range(300)]
    completion = completing.Completion(traces, 6, np.full(6, 0.2))
    told = sum(map(len, traces))
    for copy in completion.copies(3):
        put_in = sum(map(len, copy)) - told
        assert put_in == pytest.approx(0.25 * told, rel=0.2)
