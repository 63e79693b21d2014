"""What a method learns from, what it is asked, and how its answers are judged."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from elision.errors import InputError
from elision.learn.answers import ScriptAnswers
from elision.learn.learner import ScriptLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.bench.tasks import Task
    from elision.values.observations import Observation

TIE = 1e-12
"""Probabilities nearer than this are tied, and the answer loses every tie."""

LEAST_PROBABILITY = 1e-6
"""Floor of the log-loss, so that one impossible answer does not decide it all."""

BINS = 10
"""Of the calibration error, of equal width."""


class Filler(Protocol):
    """What can be measured: learns from narratives, gives each event a probability in a gap.

    Of the predictions only those of the tasks are needed that it is measured in.
    """

    def fit(self, X: Any, y: object = None) -> Any:
        """Learn."""
        ...

    def predict_gap(self, X: Any) -> NDArray[np.float64]:
        """Probabilities, (narratives, events)."""
        ...

    def predict_gaps(self, X: Any) -> list[NDArray[np.float64]]:
        """Probabilities, (gaps, events) for each narrative."""
        ...

    def predict_anywhere(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of an event that is missing somewhere, (narratives, events)."""
        ...

    def predict_hidden(self, X: Any) -> list[NDArray[np.float64]]:
        """How likely each event is missing at each place, (events told + 1, events) each."""
        ...

    def predict_next(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the next event, the end being the last: (narratives, events + 1)."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method answered, removed event by removed event."""

    rank: NDArray[np.int64]
    """Place of the removed event, 1 the first; ties go against it."""
    probability: NDArray[np.float64]
    """Given to the removed event."""
    confidence: NDArray[np.float64]
    """The largest probability given to any event."""
    seconds: float

    @property
    def top1(self) -> float:
        """Share of removed events that are the first answer."""
        return float((self.rank == 1).mean())

    @property
    def top3(self) -> float:
        """Share of removed events that are among the first three answers."""
        return float((self.rank <= 3).mean())

    @property
    def log_loss(self) -> float:
        """Mean of -log P(removed event)."""
        return float(-np.log(np.maximum(self.probability, LEAST_PROBABILITY)).mean())


@dataclass(frozen=True, slots=True)
class HiddenOutcome:
    """How well a method found the hidden events of one domain, all narratives pooled."""

    average_precision: float
    """Mean precision at each hidden event; ties go against it."""
    f1: float
    """The best that any threshold gives."""
    seconds: float


def learn(filler: Filler, task: Task) -> Any:
    """Let a method learn, from what was heard as well if it can."""
    if isinstance(filler, ScriptLearner):
        return filler.fit(task.train, heard=task.train_heard, words=task.train_words)
    return filler.fit(task.train)


def measure(filler: Filler, task: Task, seconds: float = 0.0) -> Outcome | HiddenOutcome:
    """Let a method that has learned, in so many seconds, answer, and judge its answers."""
    start = time.perf_counter()
    if task.name == "hidden":
        hidden = filler.predict_hidden(_asked(filler, task))
        return judge_hidden(hidden, task, seconds + time.perf_counter() - start)
    found = answer(filler, task)
    return judge(found, task.answers, seconds + time.perf_counter() - start)


def answer(filler: Filler, task: Task) -> NDArray[np.float64]:
    """What a method that has learned answers, a row for each removed or next event."""
    asked = _asked(filler, task)
    if task.name == "one":
        return filler.predict_gap(asked)
    if task.name == "anywhere":
        return filler.predict_anywhere(asked)
    if task.name == "next":
        return _after_each(filler, asked, len(task.events))
    return np.concatenate(filler.predict_gaps(asked))


def _asked(filler: Filler, task: Task) -> Sequence[Sequence[Observation]]:
    """What is asked: sentences as heard, if they are such and the method takes them."""
    if task.heard is not None and isinstance(filler, ScriptAnswers):
        return task.heard
    return task.gaps


def _after_each(
    filler: Filler, beginnings: Sequence[Sequence[Observation]], events: int
) -> NDArray[np.float64]:
    """Beginnings that several narratives share are asked once."""
    keys = [tuple(e if isinstance(e, str) else id(e) for e in one) for one in beginnings]
    different = dict(zip(keys, beginnings, strict=True))
    row = {key: k for k, key in enumerate(different)}
    found = filler.predict_next([list(one) for one in different.values()])
    if found.shape != (len(row), events + 1):
        expected = f"{len(row)} beginnings and {events} events"
        raise InputError(f"answers of shape {found.shape} for {expected}")
    return np.asarray(found[[row[key] for key in keys]])


def judge_hidden(
    found: Sequence[NDArray[np.float64]], task: Task, seconds: float = 0.0
) -> HiddenOutcome:
    """Rank all places and events of all narratives together; ties go against what is hidden.

    Examples
    --------
    >>> from elision.bench.tasks import Task
    >>> hidden = np.array([[0, 1, 0], [1, 0, 1]])
    >>> task = Task("abc", 0, ("a", "b"), [], [["a"], ["a", "b"]], hidden, "hidden")
    >>> rows = [np.array([[0.1, 0.2], [0.1, 0.9]]), np.array([[0.1, 0.3], [0, 0], [0, 0]])]
    >>> outcome = judge_hidden(rows, task)
    >>> round(outcome.average_precision, 4), round(outcome.f1, 4)
    (0.4167, 0.5)
    """
    expected = [(len(told) + 1, len(task.events)) for told in task.gaps]
    if [one.shape for one in found] != expected:
        raise InputError("places or events of a narrative do not match what was asked")
    value = np.concatenate([one.ravel() for one in found])
    if not (np.isfinite(value) & (value >= 0) & (value <= 1 + TIE)).all():
        raise InputError("a place and event got no number from 0 to 1")
    first = np.cumsum([0, *(places * events for places, events in expected)])
    narrative, place, event = task.answers.T
    right = np.zeros(len(value), bool)
    right[first[narrative] + place * len(task.events) + event] = True
    average_precision, f1 = precision_and_f1(value, right)
    return HiddenOutcome(average_precision, f1, seconds)


def precision_and_f1(value: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[float, float]:
    """Average precision and best F1 of finding what is right; among equals the wrong come first.

    Examples
    --------
    >>> precision_and_f1(np.array([0.9, 0.5, 0.5]), np.array([True, False, True]))
    (0.8333333333333333, 0.8)
    """
    part, power = np.frexp(value)
    order = np.lexsort((right, -np.ldexp(np.round(part, 12), power)))  # equal but for rounding
    place = np.flatnonzero(right[order]) + 1
    hits = np.arange(1, len(place) + 1)
    return float((hits / place).mean()), float((2 * hits / (place + len(place))).max())


def judge(found: NDArray[np.float64], answers: NDArray[np.int64], seconds: float = 0.0) -> Outcome:
    """Rank the removed events; whatever is tied with one stands before it.

    Examples
    --------
    >>> judge(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 0])).rank.tolist()
    [2, 1]
    """
    rows = np.arange(len(answers))
    if found.shape[0] != len(answers) or not np.isfinite(found).all() or (found < 0).any():
        raise InputError(f"answers of shape {found.shape} for {len(answers)} gaps, or not finite")
    if not np.allclose(found.sum(axis=1), 1, rtol=0, atol=1e-6):
        raise InputError("probabilities of a gap do not sum to 1")
    given = found[rows, answers]
    rank = (found >= given[:, None] - TIE).sum(axis=1)  # the answer itself counts as one
    return Outcome(rank, given, found.max(axis=1), seconds)


class Bin(NamedTuple):
    """Answers of nearly the same confidence: how many, how sure on average, and the share right."""

    answers: int
    confidence: float
    right: float


def bins_of(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Bin]:
    """Sort answers into bins of equal width by the confidence in them; empty bins are left out."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    inside = [place == number for number in np.unique(place)]
    return [
        Bin(int(one.sum()), float(confidence[one].mean()), float(right[one].mean()))
        for one in inside
    ]


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Expected calibration error.

    Examples
    --------
    >>> calibration_error(np.array([0.8, 0.8, 0.8, 0.8]), np.array([1, 1, 1, 0], bool))
    0.05
    """
    error = sum(
        one.answers / len(right) * abs(one.right - one.confidence)
        for one in bins_of(confidence, right)
    )
    return round(float(error), 12)


def chance_error(bins: Sequence[Bin]) -> float:
    """The calibration error that is to be expected of answers that are right as often as they say.

    It is not 0 but for infinitely many answers: in each bin the share of right ones differs from
    the mean confidence by chance, about normally.

    Examples
    --------
    >>> round(chance_error([Bin(100, 0.85, 0.9), Bin(50, 0.25, 0.2)]), 4)
    0.0353
    >>> rng = np.random.default_rng(0)
    >>> rates = [rng.binomial([100, 50], [0.85, 0.25]) / [100, 50] for _ in range(2000)]
    >>> drawn = np.abs(np.array(rates) - [0.85, 0.25]) @ [2 / 3, 1 / 3]
    >>> round(float(drawn.mean()), 3)
    0.035
    """
    number = np.array([one.answers for one in bins], float)
    sure = np.array([one.confidence for one in bins])
    return float(np.sqrt(2 / np.pi * number * sure * (1 - sure)).sum() / max(number.sum(), 1))
