"""Repairing thinned logs: what is removed, how answers are judged, and how the peer counts."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
from elision.evaluate import repairing
from elision.evaluate.neighbours import COPIES, LEVELS, SMOOTHING, Neighbours
from elision.evaluate.repairing import judge, measure
from elision.evaluate.thinning import limited, rates_of, thin, thinned_parts

EVENTS = ("ask", "check", "pay", "ship", "close")


def orders(cases=200):
    """A log: some are checked, some twice; some ship before they are paid for."""
    rng = np.random.default_rng(3)
    traces = []
    for _ in range(cases):
        middle = ["pay", "ship"] if rng.random() < 0.7 else ["ship", "pay"]
        traces.append(["ask", *["check"] * int(rng.integers(3)), *middle, "close"])
    return el.Corpus.of(traces, domain="orders")


def test_what_was_removed_and_what_is_left_are_the_trace_again():
    log = orders()
    part = thin(log.events, dict.fromkeys(EVENTS, 0.4), np.random.default_rng(0))
    events = Counter(event for one in log.events for event in one)
    left = Counter(event for one in part.traces for event in one)
    gone = Counter()
    for trace, removed in zip(part.traces, part.removed, strict=True):
        assert all(0 <= place <= len(trace) for place, _ in removed)
        for (_, event), times in removed.items():
            gone[event] += times
    assert left + gone <= events
    share = gone.total() / events.total()
    assert 0.35 < share < 0.45


def test_traces_of_which_nothing_is_left_are_gone():
    part = thin([["a"], ["a", "b"]], {"a": 1.0, "b": 0.0}, np.random.default_rng(0))
    assert part.traces == [("b",)]
    assert part.removed == [Counter({(0, "a"): 1})]


def test_uneven_rates_differ_and_have_the_mean_that_was_asked_for():
    rng = np.random.default_rng(0)
    names = [str(k) for k in range(4000)]
    drawn = np.array(list(rates_of(names, 0.2, rng, uneven=True).values()))
    np.testing.assert_allclose(drawn.mean(), 0.2, atol=0.02)
    assert drawn.std() > 0.15
    assert set(rates_of(names, 0.2, rng, uneven=False).values()) == {0.2}


def test_parts_are_the_same_each_time_and_differ_between_seeds():
    log = orders()
    assert thinned_parts(log, 0.2, 1, uneven=False) == thinned_parts(log, 0.2, 1, uneven=False)
    assert thinned_parts(log, 0.2, 1, uneven=False) != thinned_parts(log, 0.2, 2, uneven=False)


SAID = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.sampled_from([0.02, 0.3, 0.5, 0.8, 1.0]))
)
REMOVED = st.dictionaries(
    st.tuples(st.integers(0, 2), st.sampled_from("ab")), st.integers(1, 3), max_size=4
)


def plain_f1(answers, removed, threshold):
    """F1 by its definition, for what is said with at least a probability."""
    hits = said = wanted = 0
    for one, truth in zip(answers, removed, strict=True):
        inserted = Counter((place, event) for place, event, p in one if p >= threshold)
        hits += (inserted & Counter(truth)).total()
        said += inserted.total()
        wanted += sum(truth.values())
    return 2 * hits / (said + wanted) if said + wanted else 1.0


@given(st.lists(st.tuples(SAID, REMOVED), min_size=1, max_size=4))
def test_scores_are_those_of_multisets(cases):
    answers, removed = [said for said, _ in cases], [truth for _, truth in cases]
    found = judge(answers, removed)
    assert found.default == pytest.approx(plain_f1(answers, removed, 0.5))
    thresholds = {p for one in answers for _, _, p in one}
    tuned = [plain_f1(answers, removed, threshold) for threshold in thresholds]
    assert found.tuned == pytest.approx(max(tuned, default=plain_f1(answers, removed, 2)))
    assert 0 <= found.ece <= 1


def test_calibration_by_hand():
    answers = [[(0, "a", 0.9)], [(0, "a", 0.9)], [(0, "a", 0.3), (0, "b", 0.04)]]
    removed = [{(0, "a"): 1}, {}, {(0, "b"): 1}]
    # In the bin from .9 half is right, in that from .3 nothing; below .05 nothing counts.
    assert judge(answers, removed).ece == pytest.approx((2 * 0.4 + 0.3) / 3)
    assert judge([[]], [{(0, "a"): 1}]) == (0.0, 0.0, 0.0, 1.0)
    assert judge([[]], [{}]).default == 1.0


def test_said_twice_is_right_once_where_it_was_removed_once():
    twice = [[(1, "a", 0.9), (1, "a", 0.6)]]
    assert judge(twice, [{(1, "a"): 1}]).default == pytest.approx(2 / 3)
    assert judge(twice, [{(1, "a"): 2}]).default == 1.0


def test_neighbours_find_what_stands_between():
    peer = Neighbours()
    peer.fit(orders().events)
    (found,) = peer.insertions([["ask", "pay", "close"]])
    assert max(found, key=lambda one: one[2])[:2] == (2, "ship")
    assert all(0 <= p <= 1 for _, _, p in found)


def test_neighbours_do_not_stumble_over_what_they_never_saw():
    peer = Neighbours()
    peer.fit([["a", "b", "c"]] * 30)
    first, second = peer.insertions([["new", "a", "c"], []])
    assert (2, "b") in {(place, event) for place, event, _ in first}
    assert all(place == 0 for place, _, _ in second)


def test_neighbours_count_as_a_plain_count_does():
    traces = [["a", "b", "b", "c"], ["a", "c"], ["b", "a", "b", "b", "b", "c"]] * 3
    peer = Neighbours(hidden=0.4, times=1, seed=5)
    peer.fit(traces)
    gone = np.random.default_rng(5).random(sum(map(len, traces))) < 0.4
    gaps = []
    at = 0
    for one in traces:
        told, hidden = [], [Counter()]
        for event in one:
            if gone[at]:
                hidden[-1][event] += 1
            else:
                told.append(event)
                hidden.append(Counter())
            at += 1
        row = ["<", "<", *told, ">", ">"]
        gaps += [(tuple(row[place : place + 4]), one) for place, one in enumerate(hidden)]

    def chance(context, event, copy, level):
        if level < 0:
            return 0.0
        values = []
        for of in LEVELS[level]:
            alike = [h for c, h in gaps if [c[k] for k in of] == [context[k] for k in of]]
            times = sum(h[event] > copy for h in alike)
            below = chance(context, event, copy, level - 1)
            values.append((times + SMOOTHING * below) / (len(alike) + SMOOTHING))
        return sum(values) / len(values)

    asked = ["a", "b", "c"]
    row = ["<", "<", *asked, ">", ">"]
    wanted = []
    for place in range(4):
        for event in "abc":
            values = [chance(row[place : place + 4], event, k, len(LEVELS) - 1) for k in range(3)]
            wanted += [(place, event, value) for value in values[:COPIES] if value >= 0.02]
    found = peer.insertions([asked])[0]
    assert [one[:2] for one in found] == [one[:2] for one in wanted]
    np.testing.assert_allclose([p for *_, p in found], [p for *_, p in wanted], rtol=1e-12)


class Silent:
    """Says nothing."""

    def fit(self, traces):
        assert all(traces)

    def insertions(self, traces):
        return [[] for _ in traces]


def test_the_measure_asks_every_method_for_every_share_and_seed():
    methods = {"silent": lambda seed: Silent(), "neighbours": lambda seed: Neighbours(seed=seed)}
    told = []
    result = measure(orders(), shares=(0.1, 0.3), seeds=2, methods=methods, progress=told.append)
    assert [(cell["share"], cell["method"]) for cell in result["cells"]] == [
        (0.1, "silent"),
        (0.1, "neighbours"),
        (0.3, "silent"),
        (0.3, "neighbours"),
    ]
    assert len(told) == 8
    assert [cell["tuned"] for cell in result["cells"]][::2] == [0, 0]
    assert all(cell["tuned"] > 0.6 for cell in result["cells"][1::2])
    for cell in result["cells"]:
        assert cell["tuned"] >= cell["default"]
        assert cell["tuned"] == pytest.approx(np.mean([one["tuned"] for one in cell["seeds"]]))


class Choosy(Silent):
    """Repairs the first trace alone, and well."""

    def insertions(self, traces):
        return [[(0, "ask", 0.9)], *[None] * (len(traces) - 1)]


def test_traces_that_a_method_gives_up_on_are_not_judged():
    result = measure(orders(), shares=(0.3,), seeds=1, methods={"choosy": lambda seed: Choosy()})
    (cell,) = result["cells"]
    (only,) = cell["seeds"]
    _, test = thinned_parts(orders(), 0.3, 0, uneven=False)
    assert only["answered"] == 1
    assert cell["default"] == judge([[(0, "ask", 0.9)]], test.removed[:1]).default


def test_a_part_of_a_log_is_taken_by_chance_and_in_order():
    log = orders()
    part = limited(log, 50)
    places = [int(one.id) for one in part]
    assert len(places) == 50
    assert places == sorted(places)
    assert places != list(range(50))
    assert limited(log, 5000) is log
    assert limited(log, None) is log


def test_the_script_of_a_learner_repairs_and_passes_over_what_it_does_not_know():
    method = repairing.METHODS["script"](0)
    method.fit(orders().events)
    first, second = method.insertions([["ask", "new", "pay", "close"], ["ask", "new", "pay"]])
    assert max(first, key=lambda one: one[2])[:2] == (3, "ship")
    assert max(second, key=lambda one: one[2])[:2] in {(3, "ship"), (3, "close")}


def test_the_command(tmp_path, capsys):
    file = tmp_path / "orders.jsonl"
    orders(60).to_jsonl(file)
    given = [str(file), "--share", ".2", "--seeds", "1", "--peers", "neighbours"]
    assert repairing.main(given) == 0
    assert "| 20% | neighbours |" in capsys.readouterr().out
    assert repairing.main([*given, "--uneven", "--max-cases", "40", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["cases"], result["uneven"]) == (40, True)
    for wrong, said in (
        (["--share", "1.5"], "--share is 1.5"),
        (["--seeds", "0"], "--seeds is 0"),
        (["--max-cases", "1"], "--max-cases is 1"),
    ):
        assert repairing.main([*given, *wrong]) == 2
        assert said in capsys.readouterr().err
