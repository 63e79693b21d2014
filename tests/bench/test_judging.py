"""How answers are judged: ties, what is no answer, and methods that peek."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score

import elision as el
from elision.bench import judging
from elision.bench.judging import (
    LEAST_PROBABILITY,
    calibration_error,
    judge,
    judge_hidden,
    precision_and_f1,
)
from elision.bench.measuring import METHODS, can, make
from elision.bench.tasks import TASKS, Task, make_task, other_task
from elision.learn.search import Costs
from mornings import EVENTS, corpus


def measure(filler, task):
    judging.learn(filler, task)
    return judging.measure(filler, task)


class Peeking:
    """Knows the answers; in its own way it answers every task."""

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

    def predict_gap(self, X):
        self.handed.append(X)
        return np.eye(len(self.task.events))[self.task.answers]


class Indifferent(Peeking):
    """Says the same of everything; a tie broken kindly would make it perfect."""

    def predict_hidden(self, X):
        return [np.full((len(told) + 1, len(self.task.events)), 0.5) for told in X]

    def predict_next(self, X):
        return np.full((len(X), len(self.task.events) + 1), 1 / (len(self.task.events) + 1))

    def predict_gap(self, X):
        return np.full((len(X), len(self.task.events)), 1 / len(self.task.events))


@pytest.fixture(scope="module")
def asked():
    one = make_task(corpus(2), seed=0)
    return {name: other_task(one, name) for name in TASKS}


def test_a_method_that_peeks_is_seen_to_be_perfect_and_ties_are_never_kind(asked):
    outcome = measure(Peeking(asked["hidden"]), asked["hidden"])
    assert (outcome.average_precision, outcome.f1) == (1.0, 1.0)
    lazy = measure(Indifferent(asked["hidden"]), asked["hidden"])
    pairs = sum((len(told) + 1) * len(EVENTS) for told in asked["hidden"].gaps)
    wanted = len(asked["hidden"].answers)
    assert lazy.f1 == pytest.approx(2 * wanted / (pairs + wanted), rel=1e-12)
    assert lazy.average_precision < lazy.f1
    assert measure(Indifferent(asked["next"]), asked["next"]).top1 == 0.0
    assert measure(Peeking(asked["one"]), asked["one"]).top1 == 1.0
    lazy = measure(Indifferent(asked["one"]), asked["one"])
    assert (lazy.top1, lazy.top3) == (0.0, 0.0)
    assert (lazy.rank == len(EVENTS)).all()
    single = replace(asked["next"], gaps=[["wake"]], answers=np.array([5]))
    assert measure(Peeking(single), single).top1 == 1.0


def test_a_method_is_handed_training_narratives_and_what_is_told_only(asked):
    for name in ("one", "hidden", "next"):
        task = asked[name]
        spy = Peeking(task)
        measure(spy, task)
        fitted, told = spy.handed
        assert fitted == (task.train, None)
        assert [list(one) for one in told] == (
            task.gaps if name != "next" else list(map(list, dict.fromkeys(map(tuple, task.gaps))))
        )


def answers_of(filler, task):
    if task.name == "hidden":
        return np.concatenate([one.ravel() for one in filler.predict_hidden(task.gaps)])
    return judging.answer(filler, task)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_answers_what_it_can_and_does_not_follow_the_answers(name, asked):
    learner = make(name, EVENTS, batch=5, seed=0, costs=Costs())
    one, two = (clone(learner).fit(asked["one"].train) for _ in range(2))
    for kind, task in asked.items():
        if not can(name, kind):
            continue
        other = replace(task, answers=task.answers[::-1] * 0)
        np.testing.assert_array_equal(answers_of(one, task), answers_of(two, other))
        outcome = judging.measure(one, task, 2.0)
        assert outcome.seconds > 2.0
        if kind == "hidden":
            assert outcome.average_precision > 0
            assert len(np.unique(answers_of(one, task))) > 5  # it does tell events apart
        else:
            assert 0 <= outcome.top1 <= outcome.top3 <= 1
            assert len(outcome.rank) == len(task.answers)
        if kind == "next" and name != "Frequency":  # which does not see what is told
            assert outcome.log_loss < measure(Indifferent(task), task).log_loss
    spoiled = replace(asked["hidden"], answers=asked["hidden"].answers[:1])  # what a leak is like
    assert not np.array_equal(
        answers_of(Peeking(spoiled), spoiled), answers_of(Peeking(asked["hidden"]), spoiled)
    )


def test_the_log_loss_of_what_is_next_has_a_floor():
    outcome = judge(np.array([[1.0, 0.0]]), np.array([1]))
    assert outcome.log_loss == pytest.approx(-np.log(LEAST_PROBABILITY), rel=1e-12)


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
