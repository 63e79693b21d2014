"""Hidden events and what comes next: the questions, how they are judged, the baselines by hand."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from typer.testing import CliRunner

import elision as el
from elision.cli.entry import app
from elision.evaluate import bench, methods, report, tables, together
from elision.evaluate.cloze import (
    LEAST_PROBABILITY,
    Task,
    judge,
    judge_hidden,
    make_task,
    measure,
    measure_learned,
    other_task,
    precision_and_f1,
)
from elision.learn.baselines import NGram
from mornings import EVENTS, TEN, cell_of, corpus, put_back

RESULTS = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "results.py"))


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


def test_average_precision_and_f1_by_hand():
    value = np.array([0.9, 0.8, 0.8, 0.8, 0.1])
    right = np.array([False, True, False, True, False])
    # In order: wrong; of the three equals the wrong one first, then the two right ones.
    precision, f1 = precision_and_f1(value, right)
    assert precision == pytest.approx((1 / 3 + 2 / 4) / 2, rel=1e-12)
    assert f1 == pytest.approx(2 * 2 / (4 + 2), rel=1e-12)
    nearly = value + np.array([0, 1e-15, 0, -1e-15, 0])
    assert precision_and_f1(nearly, right) == (precision, f1)
    # What is equal but for rounding is equal at any size, and what differs is not.
    assert precision_and_f1(value * 1e-200, right) == (precision, f1)
    assert precision_and_f1(np.array([1e-30, 2e-30]), np.array([False, True])) == (1.0, 1.0)


def test_average_precision_is_scikit_learns_where_nothing_is_tied():
    rng = np.random.default_rng(0)
    value, right = rng.permutation(200) / 200, rng.random(200) < 0.2
    precision, f1 = precision_and_f1(value, right)
    assert precision == pytest.approx(average_precision_score(right, value), rel=1e-12)
    best = 0.0
    for threshold in value:
        found = value >= threshold
        best = max(best, 2 * (found & right).sum() / (found.sum() + right.sum()))
    assert f1 == pytest.approx(best, rel=1e-12)


HIDDEN = Task(
    "x", 0, ("a", "b"), [], [["a"], ["b", "a"]], np.array([[0, 1, 1], [1, 0, 0]]), "hidden"
)


def test_numbers_stand_for_places_and_events():
    found = [np.zeros((2, 2)), np.zeros((3, 2))]
    found[0][1, 1] = 0.5
    found[1][0, 0] = 0.4
    assert judge_hidden(found, HIDDEN).average_precision == 1.0
    found[1][2, 0] = 0.6
    outcome = judge_hidden(found, HIDDEN, 3.0)
    assert outcome.average_precision == pytest.approx((1 / 2 + 2 / 3) / 2, rel=1e-12)
    assert outcome.f1 == pytest.approx(2 * 2 / (3 + 2), rel=1e-12)
    assert outcome.seconds == 3.0


@pytest.mark.parametrize(
    "found",
    [
        [np.zeros((2, 2))],
        [np.zeros((2, 2)), np.zeros((2, 2))],
        [np.zeros((2, 2)), np.full((3, 2), np.nan)],
        [np.zeros((2, 2)), np.full((3, 2), 1.5)],
        [np.zeros((2, 2)), np.full((3, 2), -0.5)],
    ],
)
def test_what_is_no_answer_about_hidden_events_is_refused(found):
    with pytest.raises(el.InputError):
        judge_hidden(found, HIDDEN)


class Peeking:
    """Knows the answers."""

    def __init__(self, task):
        self.task = task
        self.handed = []

    def fit(self, X, y=None):
        self.handed.append((X, y))
        return self

    def predict_hidden(self, X):
        self.handed.append(X)
        found = [np.zeros((len(told) + 1, len(self.task.events))) for told in X]
        for narrative, place, event in self.task.answers.tolist():
            found[narrative][place, event] = 1.0
        return found

    def predict_next(self, X):
        self.handed.append(X)
        found = np.zeros((len(X), len(self.task.events) + 1))
        row = {tuple(beginning): k for k, beginning in enumerate(X)}
        for beginning, answer in zip(self.task.gaps, self.task.answers.tolist(), strict=True):
            found[row[tuple(beginning)], answer] = 1.0
        return found / found.sum(axis=1, keepdims=True)


class Indifferent(Peeking):
    """Says the same of everything; a tie broken kindly would make it perfect."""

    def predict_hidden(self, X):
        return [np.full((len(told) + 1, len(self.task.events)), 0.5) for told in X]

    def predict_next(self, X):
        return np.full((len(X), len(self.task.events) + 1), 1 / (len(self.task.events) + 1))


@pytest.fixture(scope="module")
def asked():
    one = make_task(corpus(2), seed=0)
    return {name: other_task(one, name) for name in ("hidden", "next")}


def test_a_method_that_peeks_is_seen_to_be_perfect_and_ties_are_never_kind(asked):
    outcome = measure(Peeking(asked["hidden"]), asked["hidden"])
    assert (outcome.average_precision, outcome.f1) == (1.0, 1.0)
    lazy = measure(Indifferent(asked["hidden"]), asked["hidden"])
    pairs = sum((len(told) + 1) * len(EVENTS) for told in asked["hidden"].gaps)
    wanted = len(asked["hidden"].answers)
    assert lazy.f1 == pytest.approx(2 * wanted / (pairs + wanted), rel=1e-12)
    assert lazy.average_precision < lazy.f1
    assert measure(Indifferent(asked["next"]), asked["next"]).top1 == 0.0
    single = replace(asked["next"], gaps=[["wake"]], answers=np.array([5]))
    assert measure(Peeking(single), single).top1 == 1.0


def test_a_method_is_handed_training_narratives_and_what_is_told_only(asked):
    for name, task in asked.items():
        spy = Peeking(task)
        measure(spy, task)
        fitted, told = spy.handed
        assert fitted == (task.train, None)
        assert [list(one) for one in told] == (
            task.gaps if name == "hidden" else list(map(list, dict.fromkeys(map(tuple, task.gaps))))
        )


def answers_of(filler, task):
    if task.name == "hidden":
        return np.concatenate([one.ravel() for one in filler.predict_hidden(task.gaps)])
    return filler.predict_next(task.gaps)


@pytest.mark.parametrize("name", methods.ALL)
def test_every_method_answers_what_it_can_and_does_not_follow_the_answers(name, asked):
    filler = methods.make(name, EVENTS, batch=5, seed=0, costs=bench.Costs())
    for kind, task in asked.items():
        if not methods.can(name, kind):
            continue
        turned = (task.answers + 1) % len(EVENTS) if kind == "next" else task.answers[::-1] * 0
        other = replace(task, answers=turned)
        one, two = (clone(filler).fit(each.train) for each in (task, other))
        np.testing.assert_array_equal(answers_of(one, task), answers_of(two, other))
        outcome = measure_learned(one, task, 2.0)
        assert outcome.seconds > 2.0
        if kind == "hidden":
            assert outcome.average_precision > 0
            assert len(np.unique(answers_of(one, task))) > 5  # it does tell events apart
        else:
            lazy = measure(Indifferent(task), task).log_loss
            assert outcome.log_loss < lazy or name == "Frequency"  # which does not see what is told
            rows = one.predict_next([[], ["wake"], ["leave", "leave"]])
            np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-9)
    task = replace(asked["hidden"], answers=asked["hidden"].answers[:1])
    assert not np.array_equal(
        answers_of(Peeking(task), task), answers_of(Peeking(asked["hidden"]), task)
    )


def test_methods_that_have_no_answer():
    assert methods.check_methods([]) == tuple(name for name in methods.ALL if name != "NGram")
    assert methods.check_methods([], ("one", "next")) == methods.ALL
    with pytest.raises(el.InputError, match="method 'NGram' has no answer to one or hidden"):
        methods.check_methods(["NGram"], ("one", "hidden"))
    assert not hasattr(NGram(), "predict_gap")
    plain = el.BMM(events=EVENTS).fit(TEN)
    assert not methods.can("BMM", "hidden")
    assert not np.any(plain.predict_hidden([["wake", "leave"]])[0])


def test_the_log_loss_of_what_is_next_has_a_floor():
    outcome = judge(np.array([[1.0, 0.0]]), np.array([1]))
    assert outcome.log_loss == pytest.approx(-np.log(LEAST_PROBABILITY), rel=1e-12)


# Baselines


def test_frequency_takes_every_place_alike():
    (found,) = el.Frequency().fit(TEN).predict_hidden([["wake", "leave"]])
    assert found.shape == (3, 5)
    weight = np.array([7.3, 5.3, 9.3e-3, 9.3e-3, 7.3])
    np.testing.assert_allclose(found, np.tile(weight / weight.sum() / 3, (3, 1)), rtol=1e-12)


def test_the_bigram_gives_the_odds_of_an_insertion():
    fitted = el.BidirectionalBigram().fit(TEN)
    (found,) = fitted.predict_hidden([["wake", "leave"]])
    # wake -> wash 6 times of 9, wash -> leave once of 7, wake -> leave never.
    odds = (6.3 / 10.8) * (1.3 / 8.8) / (0.3 / 10.8)
    assert found[1, EVENTS.index("wash")] == pytest.approx(odds / (1 + odds), rel=1e-12)
    # Nothing -> wash once of 10; wash -> wake never; nothing -> wake 9 times.
    odds = (1.3 / 11.8) * (0.3 / 8.8) / (9.3 / 11.8)
    assert found[0, EVENTS.index("wash")] == pytest.approx(odds / (1 + odds), rel=1e-12)
    # After "leave" comes the end 9 times of 9.
    odds = (0.3 / 10.8) * (0.3 / 6.8) / (9.3 / 10.8)
    assert found[2, EVENTS.index("eat")] == pytest.approx(odds / (1 + odds), rel=1e-12)


@pytest.mark.parametrize("name", ["Frequency", "BidirectionalBigram", "LogisticGap"])
def test_hidden_events_of_odd_narratives(name):
    fitted = methods.BASELINES[name](events=EVENTS).fit(TEN)
    assert fitted.predict_hidden([]) == []
    empty, unknown = fitted.predict_hidden([[], ["wake", "whistle", "leave"]])
    assert empty.shape == (1, 5)
    assert unknown.shape == (4, 5)
    np.testing.assert_array_equal(unknown[1], unknown[2])  # what is unknown is not there
    for found in (empty, unknown):
        assert ((found >= 0) & (found <= 1)).all()


def test_what_is_next_by_frequency_and_by_the_last_event():
    frequency = el.Frequency().fit(TEN).predict_next([[], ["wake", "leave"]])
    total = 37 + 10 + 6 * 0.3
    told = [7, 5, 9, 9, 7, 10]
    np.testing.assert_allclose(frequency, np.tile((np.array(told) + 0.3) / total, (2, 1)))
    found = el.Conditional().fit(TEN).predict_next([[], ["wash", "wake"], ["whistle"]])
    assert found[0] == pytest.approx(np.array([0.3, 0.3, 0.3, 9.3, 1.3, 0.3]) / 11.8, rel=1e-12)
    assert found[1] == pytest.approx(np.array([2.3, 1.3, 0.3, 0.3, 6.3, 0.3]) / 10.8, rel=1e-12)
    np.testing.assert_array_equal(found[2], found[0])


def test_n_grams_by_hand():
    fitted = NGram(events=("a", "b", "c")).fit([["a", "b"], ["a", "b", "b"], ["b"]])
    # Told: a twice, b four times, the end thrice: 9 of three kinds; c has what is left.
    single = (np.array([2, 4, 0, 3]) + 3 / 4) / (9 + 3)
    start = (np.array([2, 1, 0, 0]) + 2 * single) / (3 + 2)
    after_b = (np.array([0, 1, 0, 3]) + 2 * single) / (4 + 2)
    after_a = (np.array([0, 2, 0, 0]) + 1 * single) / (2 + 1)
    after_ab = (np.array([0, 1, 0, 1]) + 2 * after_b) / (2 + 2)
    after_start_a = (np.array([0, 2, 0, 0]) + 1 * after_a) / (2 + 1)
    rows = fitted.predict_next([[], ["a"], ["a", "b"], ["b", "c", "b"], ["c", "a"], ["c"]])
    np.testing.assert_allclose(
        rows, [start, after_start_a, after_ab, after_b, after_a, single], rtol=1e-12
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    alone = clone(fitted).set_params(order=1).fit([["a", "b"], ["a", "b", "b"], ["b"]])
    np.testing.assert_allclose(alone.predict_next([["a", "b"], []]), [single, single], rtol=1e-12)
    assert alone.predict_next([]).shape == (0, 4)


def naive(narratives, events, order, beginning):
    """Witten-Bell straight from the formula, counting anew at each step."""
    lines = [("<", *one, ">") for one in narratives]

    def chance(event, history):
        shorter = chance(event, history[1:]) if history else 1 / (len(events) + 1)
        after = [
            line[place]
            for line in lines
            for place in range(1, len(line))
            if line[max(0, place - len(history)) : place] == history
        ]
        kinds = len(set(after))
        return (after.count(event) + kinds * shorter) / (len(after) + kinds) if after else shorter

    history = ("<", *beginning)[-(order - 1) :] if order > 1 else ()
    return [chance(event, history) for event in (*events, ">")]


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_n_grams_of_any_order_follow_the_formula(order):
    told = [tuple(one) for one in TEN]
    fitted = NGram(order=order, events=(*EVENTS, "whistle")).fit(told)
    beginnings = [one[:place] for one in told for place in range(len(one) + 1)]
    beginnings += [("leave", "leave"), ("eat", "wake", "wash"), ("whistle",)]
    for beginning, row in zip(beginnings, fitted.predict_next(beginnings), strict=True):
        expected = naive(told, (*EVENTS, "whistle"), order, beginning)
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@pytest.mark.parametrize("order", [0, -1, 1.5, True, "2"])
def test_orders_that_are_none(order):
    with pytest.raises(el.InputError, match="order is"):
        NGram(order=order).fit(TEN)


# Reports


def hidden_cell(domain, method, seed, precision, f1):
    cell = cell_of("x", domain, method, seed, 5)
    empty = {"rank": [], "probability": [], "confidence": [], "times_told": [], "length": []}
    return replace(cell, task="hidden", average_precision=precision, f1=f1, **empty)


def test_seeds_of_a_domain_are_averaged_first():
    cells = [
        hidden_cell("a", "default", 0, 0.2, 0.3),
        hidden_cell("a", "default", 1, 0.4, 0.5),
        hidden_cell("b", "default", 0, 0.9, 0.6),
    ]
    cells += [cell_of("x", "a", "default", seed, 5) for seed in (0, 1)]
    plan = bench.Plan(("x.jsonl",), ("default",), tasks=("one", "hidden"))
    found = json.loads(json.dumps(report.report(cells, plan, {})))
    (row,) = found["other_tasks"]
    assert row["task"] == "hidden"
    assert row["domains"] == 2
    assert row["average_precision"] == pytest.approx(0.6, rel=1e-12)
    assert row["f1"] == pytest.approx(0.5, rel=1e-12)
    assert row["stderr"] == pytest.approx(0.3, rel=1e-12)
    measured = {"average_precision": 0.2, "f1": 0.3}
    assert measured.items() <= found["cells"][0].items()
    assert "top1" not in found["cells"][0]
    assert found["summary"][0]["domains"] == 1
    shown = {one.title: one.rows for one in together.tables_together(found)}
    assert shown["Hidden events: average precision"] == [["default", "", "60.0"]]
    assert shown["Hidden events: best F1"] == [["default", "", "50.0"]]


TOPS = {"SEMHMM": (6, 7, 5), "Frequency": (2, 4, 3), "Conditional": (5, 3, 3)}


def cells_of(*names, batch=10):
    return [
        cell_of("x", domain, name, 0, top, batch if name == "SEMHMM" else None)
        for name in names
        for domain, top in zip("abc", TOPS[name], strict=True)
    ]


def test_claims_are_tested_over_runs_and_only_where_both_were_measured():
    plan = bench.Plan(("x.jsonl",))
    apart = [
        report.report(cells_of(*names), plan, {})
        for names in (("SEMHMM",), ("Frequency",), ("SEMHMM",))
    ]
    for one in apart:
        assert tables.claim_rows(one, "x") == []
    (row,) = tables.claim_rows(report.merged(apart), "x")
    assert (row["better"], row["worse"], row["batch"]) == ("SEMHMM", "Frequency", 10)
    expected = ttest_1samp([0.4, 0.3, 0.2], 0, alternative="greater").pvalue
    assert row["p"] == pytest.approx(expected, rel=1e-9)
    together_ = report.report(cells_of("SEMHMM", "Frequency"), plan, {})
    assert [row] == tables.claim_rows(together_, "x")


def test_later_results_replace_only_the_tasks_that_they_measured():
    plan = bench.Plan(("x.jsonl",), ("default",), tasks=("one", "hidden"))
    first = [cell_of("x", "a", "default", 0, 3), hidden_cell("a", "default", 0, 0.2, 0.3)]
    later = [cell_of("x", "a", "default", 0, 8)]
    results = [report.report(some, plan, {}) for some in (first, later)]
    found = report.merged(results)
    assert [row["top1"] for row in found["summary"]] == [0.8]
    assert [row["average_precision"] for row in found["other_tasks"]] == [0.2]
    assert {(row["task"], row.get("top1")) for row in found["cells"]} == {
        ("one", 0.8),
        ("hidden", None),
    }
    assert [row["average_precision"] for row in report.merged(results[::-1])["other_tasks"]] == [
        0.2
    ]


def test_what_is_said_of_the_papers_order_is_about_what_was_measured():
    plan = bench.Plan(("x.jsonl",), batches=(2, 10))
    say = RESULTS["says"]
    assert say(report.report(cells_of("SEMHMM", "Frequency", "Conditional"), plan, {}), "x") == [
        "At r = 10: SEMHMM 60.0% > Conditional 36.7% > Frequency 30.0%: the paper's order."
    ]
    assert say(report.report(cells_of("SEMHMM"), plan, {}), "x") == []
    assert say(report.report(cells_of("Frequency"), plan, {}), "x") == []
    (line,) = say(report.report(cells_of("Frequency", "Conditional"), plan, {}), "x")
    assert line == "At any r: Conditional 36.7% > Frequency 30.0%: the paper's order."
    both = cells_of("SEMHMM", "Frequency") + cells_of("SEMHMM", batch=2)
    lines = say(report.report(both, plan, {}), "x")
    assert lines[-1] == "SEMHMM rises with r in the paper; here it goes 60.0% at 2, 60.0% at 10."


# The command


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "days.jsonl"
    corpus(2).to_jsonl(path)
    return str(path)


def run(*arguments):
    common = ["--seeds", "1", "--min-narratives", "10", "--jobs", "1"]
    return CliRunner().invoke(app, ["bench", *arguments, *common])


def test_json_is_printed_and_output_is_a_file(file, tmp_path):
    chosen = ["--task", "next", "--task", "hidden", "--methods", "NGram", "--methods", "Frequency"]
    kept = tmp_path / "found.json"
    shown = run(file, *chosen, "-o", str(kept))
    assert shown.exit_code == 0
    assert "Next event: accuracy" in shown.stdout
    assert "Hidden events: best F1" in shown.stdout
    found = json.loads(kept.read_text())
    assert not list(tmp_path.glob("*.cells"))
    assert {(row["task"], row["method"]) for row in found["other_tasks"]} == {
        ("hidden", "Frequency"),
        ("next", "Frequency"),
        ("next", "NGram"),
    }
    printed = run(file, *chosen, "--json")
    assert printed.exit_code == 0
    again = json.loads(printed.stdout)  # nothing else is printed
    assert again["protocol"] == json.loads(json.dumps(found["protocol"]))
    for one, two in zip(again["other_tasks"], found["other_tasks"], strict=True):
        assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_a_method_without_an_answer_is_refused(file):
    result = run(file, "--methods", "NGram")
    assert isinstance(result.exception, el.InputError)
    assert "method 'NGram' has no answer to one" in str(result.exception)
