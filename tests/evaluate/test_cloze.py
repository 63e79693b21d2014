"""The protocol itself: splits, removals, ties, leaks, and the baselines by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import elision as el
from elision.evaluate import bench, methods, report
from elision.evaluate.cloze import calibration_error, judge, make_task, measure
from mornings import EVENTS, TEN, corpus, without_seconds

FILLERS = {
    name: methods.make(name, EVENTS, batch=5, seed=0, costs=bench.Costs())
    for name in methods.ALL
    if methods.can(name, "one")
}


def test_frequency_by_hand():
    found = el.Frequency().fit(TEN).predict_gap([["wake", None], ["wake", "leave", None]])
    told = {"dress": 7, "eat": 5, "leave": 9, "wake": 9, "wash": 7}
    for event, times in told.items():
        assert sum(one.count(event) for one in TEN) == times
    assert EVENTS[found[0].argmax()] == "leave"
    assert EVENTS[found[1].argmax()] in ("dress", "wash")
    assert found[1][EVENTS.index("dress")] == found[1][EVENTS.index("wash")]


def test_conditional_by_hand():
    found = el.Conditional().fit(TEN).predict_gap([["wake", None, "leave"], [None, "wash"]])
    # After "wake": wash 6 times, dress 2, eat 1.
    total = 9 + 0.3 * 6
    np.testing.assert_allclose(found[0][EVENTS.index("wash")], 6.3 / (total - 0.3), rtol=1e-12)
    assert EVENTS[found[1].argmax()] == "wake"  # what a telling begins with


def test_bidirectional_bigram_by_hand():
    found = el.BidirectionalBigram().fit(TEN).predict_gap([["wash", None, "eat"]])
    after_wash = {"dress": 5.3, "eat": 1.3, "leave": 1.3, "wake": 0.3, "wash": 0.3}
    before_eat = {"dress": 3.3 / 8.8, "eat": 0.3 / 6.8, "leave": 0.3 / 10.8, "wake": 1.3 / 10.8}
    before_eat["wash"] = 1.3 / 8.8
    weight = np.array([after_wash[event] * before_eat[event] for event in EVENTS])
    np.testing.assert_allclose(found[0], weight / weight.sum(), rtol=1e-12)


def test_skip_naive_bayes_by_hand():
    two = [["a", "b"], ["c"]]
    found = el.SkipNaiveBayes().fit(two).predict_gap([["a", None]])
    weights = []
    for event, told_after_a in (("a", 0), ("b", 1), ("c", 0)):
        weight = 1.3
        for side in ("before", "after"):
            for other in "abc":
                times = 0
                if side == "before" and event == "b" and other == "a":
                    times = told_after_a
                if side == "after" and event == "a" and other == "b":
                    times = 1
                share = (times + 0.3) / 1.6
                present = side == "before" and other == "a"
                weight *= share if present else 1 - share
        weights.append(weight)
    np.testing.assert_allclose(found[0], np.array(weights) / sum(weights), rtol=1e-12)


def test_logistic_regression_is_scikit_learns_on_the_features_named():
    from sklearn.linear_model import LogisticRegression

    fitted = el.LogisticGap().fit(TEN)
    rows, answers = [], []
    for one in TEN:
        for place, event in enumerate(one):
            before, after = one[:place], one[place + 1 :]
            row = [float(before[-1:] == [other]) for other in EVENTS] + [float(not before)]
            row += [float(after[:1] == [other]) for other in EVENTS] + [float(not after)]
            row += [float(other in before) for other in EVENTS]
            row += [float(other in after) for other in EVENTS]
            rows.append(row)
            answers.append(EVENTS.index(event))
    peer = LogisticRegression(C=0.3, max_iter=500).fit(np.array(rows), answers)
    gap = rows[5]
    expected = peer.predict_proba([gap])[0]
    found = fitted.predict_gap([["wake", None, "leave"]])[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("name", FILLERS)
def test_every_method_answers_with_probabilities(name):
    task = make_task(corpus(), seed=0)
    outcome = measure(clone(FILLERS[name]).set_params(events=task.events), task)
    assert len(outcome.rank) == len(task.gaps) == 24
    assert 0 <= outcome.top1 <= outcome.top3 <= 1
    assert outcome.log_loss > 0


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


class Peeking:
    """Knows the answers: what a leak would look like."""

    def __init__(self, task):
        self.task = task

    def fit(self, X, y=None):
        return self

    def predict_gap(self, X):
        found = np.full((len(X), len(self.task.events)), 1e-9)
        found[np.arange(len(X)), self.task.answers] = 1
        return found / found.sum(axis=1, keepdims=True)


class Indifferent(Peeking):
    """Gives every event the same probability; a tie broken kindly would make it perfect."""

    def predict_gap(self, X):
        return np.full((len(X), len(self.task.events)), 1 / len(self.task.events))


def test_a_method_that_peeks_is_seen_to_be_perfect_and_ties_are_never_kind():
    task = make_task(corpus(), seed=0)
    assert measure(Peeking(task), task).top1 == 1.0
    lazy = measure(Indifferent(task), task)
    assert lazy.top1 == 0.0
    assert lazy.top3 == 0.0
    assert (lazy.rank == len(task.events)).all()


def follows_the_answers(make, task):
    """Whether other answers to the same gaps change what a method says: it must have seen them."""
    other = replace(task, answers=(task.answers + 1) % len(task.events))
    one, two = (make(each).fit(each.train).predict_gap(each.gaps) for each in (task, other))
    return not np.array_equal(one, two)


def test_no_method_depends_on_the_answers_and_one_that_peeks_is_caught():
    task = make_task(corpus(), seed=0)
    for name, filler in FILLERS.items():
        honest = clone(filler).set_params(events=task.events)
        assert not follows_the_answers(lambda _, honest=honest: clone(honest), task), name
    assert follows_the_answers(Peeking, task)


def test_a_learner_is_handed_training_narratives_and_gaps_only():
    task = make_task(corpus(), seed=0)
    handed = []

    class Spy(Indifferent):
        def fit(self, X, y=None):
            handed.append((X, y))
            return self

        def predict_gap(self, X):
            handed.append(X)
            return super().predict_gap(X)

    measure(Spy(task), task)
    assert handed == [(task.train, None), task.gaps]
    assert all(gap.count(None) == 1 for gap in task.gaps)


def test_ties_within_rounding_are_ties():
    found = np.array([[0.3, 0.3 + 1e-15, 0.4 - 1e-15]])
    assert judge(found, np.array([1])).rank.tolist() == [3]
    assert judge(np.array([[0.2, 0.8]]), np.array([1])).rank.tolist() == [1]


@pytest.mark.parametrize(
    "found", [[[0.5, 0.4]], [[np.nan, 1.0]], [[1.5, -0.5]], [[0.5, 0.5], [0.5, 0.5]]]
)
def test_what_is_no_distribution_is_refused(found):
    with pytest.raises(el.InputError):
        judge(np.array(found), np.array([0]))


def test_calibration():
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, True])) == 0
    assert calibration_error(np.array([0.9, 0.9]), np.array([False, False])) == pytest.approx(0.9)


@pytest.fixture
def corpus_file(tmp_path):
    path = tmp_path / "mornings.jsonl"
    parts = [*corpus(4, domain="one"), *corpus(4, domain="two"), *corpus(3, domain="three")]
    parts += list(corpus(1, domain="too small"))
    el.Corpus(parts).to_jsonl(path)
    return str(path)


def small_plan(path, third="SEMHMM-approx", **options):
    return bench.Plan((path,), ("Frequency", "BMM", third), (5,), 2, 20, **options)


def test_a_benchmark_is_the_same_whatever_the_jobs_and_can_be_resumed(corpus_file, tmp_path):
    plan = small_plan(corpus_file, "Conditional")
    keep = tmp_path / "cells.jsonl"
    cells, costs = bench.run(plan, keep=keep)
    whole = report.report(cells, plan, costs)
    lines = keep.read_text().splitlines(keepends=True)
    assert len(lines) == 6  # three domains, two seeds
    keep.write_text("".join(lines[:2]) + lines[2][:50])
    seen = []
    again, costs = bench.run(plan, keep=keep, progress=lambda *at: seen.append(at))
    assert seen[0] == (2, 6)
    assert without_seconds(report.report(again, plan, costs)) == without_seconds(whole)
    parallel, costs = bench.run(plan, jobs=2)
    assert without_seconds(report.report(parallel, plan, costs)) == without_seconds(whole)
    assert {cell["domain"] for cell in whole["cells"]} == {"one", "two", "three"}
    assert len(whole["cells"]) == 3 * 2 * 3
    names = {"corpus", "method", "batch", "domains", "top1", "stderr", "top3", "log_loss", "ece"}
    assert names <= set(whole["summary"][0])
    for row in whole["tests"]:
        assert row["difference"] > 0
        assert row["p"] <= row["p_corrected"] <= 1
    assert {row["n_train"] for row in whole["curve"]} == {10, 20, None}


def test_costs_are_chosen_without_test_narratives(corpus_file):
    plan = small_plan(corpus_file, curve=False)
    domains = bench._domains(corpus_file, 20)
    chosen = bench.choose_costs(domains, plan)
    spoiled = {}
    for name, part in domains.items():
        train, test = part.filter(min_events=2).split(0.4, random_state=0)
        assert len(train) > len(test)
        ruined = [
            el.Narrative(events=one.events[::-1], domain=one.domain, id=one.id)
            if one in list(test) and one not in list(train)
            else one
            for one in part
        ]
        spoiled[name] = el.Corpus(ruined)
    assert bench.choose_costs(spoiled, plan) == chosen


def test_no_domain_large_enough(corpus_file):
    with pytest.raises(el.InputError, match="--min-narratives"):
        bench.run(bench.Plan((corpus_file,), min_narratives=1000))
    with pytest.raises(el.InputError, match="method 'Oracle'"):
        methods.check_methods(["Oracle"])
