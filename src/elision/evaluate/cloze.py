"""The paper's task: one event of each test narrative is removed; predict it from the rest.

Besides it: two or three events are removed, or one and its place is not told.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.corpus import Corpus

TEST_SHARE = 0.4
LEAST_EVENTS = 2
TIE = 1e-12
"""Probabilities nearer than this are tied, and the answer loses every tie."""

TASKS = {
    "one": "one event removed from each test narrative, its place known",
    "two": "two events removed, their places known",
    "three": "three events removed, their places known",
    "anywhere": "one event removed, its place unknown",
}
"""What can be asked, "one" as in the paper; "anywhere" has the removals of "one"."""

REMOVED = {"two": 2, "three": 3}

LEAST_PROBABILITY = 1e-6
"""Floor of the log-loss, so that one impossible answer does not decide it all."""


class Filler(Protocol):
    """What can be measured: learns from narratives, gives each event a probability in a gap."""

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


@dataclass(frozen=True, slots=True)
class Task:
    """One domain, split with one seed, events removed from every test narrative.

    The answers are apart from the questions: a learner is handed ``train`` and ``gaps`` only. There
    is an answer for each gap (None) in the order in which they stand; where the place is unknown,
    there is no gap and one answer a narrative.
    """

    domain: str
    seed: int
    events: tuple[str, ...]
    train: list[tuple[str, ...]]
    gaps: list[list[str | None]]
    answers: NDArray[np.int64]
    name: str = "one"


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


def make_task(domain: Corpus, seed: int, *, max_train: int | None = None) -> Task:
    """Split a domain and remove an event from each test narrative.

    Narratives of fewer than two events are left out; 60 % train, 40 % test; the removed event is
    chosen uniformly. The vocabulary is that of the whole domain.

    Examples
    --------
    >>> from elision import Corpus
    >>> task = make_task(Corpus.of([["a", "b", "c"]] * 10, domain="abc"), seed=0)
    >>> len(task.train), len(task.gaps), task.gaps[0].count(None)
    (6, 4, 1)
    """
    told = domain.filter(min_events=LEAST_EVENTS)
    if len(told) < 3:
        raise InputError(f"{len(told)} narratives of two events or more, expected at least three")
    train, test = told.split(TEST_SHARE, random_state=seed)
    return _task(train.events[:max_train], test.events, told.vocabulary, domain.domains[0], seed)


def make_text_task(
    domain: Corpus, seed: int, *, extractor: Any, max_train: int | None = None
) -> Task:
    """The same for raw sentences.

    Event types are induced from the training sentences alone, and every test sentence is mapped to
    a type by itself: which one will be removed is decided afterwards and changes nothing.
    """
    train, test = domain.split(TEST_SHARE, random_state=seed)
    if max_train is not None:
        train = train[:max_train]
    fitted = extractor.fit(train)
    told = [events for events in fitted.transform(train).events if len(events) >= LEAST_EVENTS]
    asked = [events for events in fitted.transform(test).events if len(events) >= LEAST_EVENTS]
    if not told or not asked:
        raise InputError("no narratives of two event types or more are left after extraction")
    vocabulary = tuple(sorted({event for events in (*told, *asked) for event in events}))
    return _task(told, asked, vocabulary, domain.domains[0], seed)


def _task(
    train: Sequence[tuple[str, ...]],
    test: Sequence[tuple[str, ...]],
    events: tuple[str, ...],
    domain: str,
    seed: int,
) -> Task:
    rng = np.random.default_rng([seed, zlib.crc32(domain.encode())])
    places = [[int(rng.integers(len(narrative)))] for narrative in test]
    return Task(domain, seed, events, list(train), *_removed(test, places, events))


def _removed(
    whole: Sequence[Sequence[str]], places: Sequence[Sequence[int]], events: tuple[str, ...]
) -> tuple[list[list[str | None]], NDArray[np.int64]]:
    """Questions and answers: events at these places are taken out."""
    number = {event: o for o, event in enumerate(events)}
    gaps = [
        [None if place in out else event for place, event in enumerate(narrative)]
        for narrative, out in zip(whole, places, strict=True)
    ]
    answers = [
        number[narrative[place]]
        for narrative, out in zip(whole, places, strict=True)
        for place in sorted(out)
    ]
    return gaps, np.array(answers, np.int64)


def other_task(task: Task, name: str) -> Task:
    """The same split with another question.

    As many events as the name says are removed from each test narrative, chosen uniformly; one
    always stays. "anywhere" takes the gaps of "one" out of sight.

    Examples
    --------
    >>> from elision import Corpus
    >>> one = make_task(Corpus.of([["a", "b", "c"]] * 10, domain="abc"), seed=0)
    >>> two, anywhere = other_task(one, "two"), other_task(one, "anywhere")
    >>> two.gaps[0].count(None), len(two.answers), len(anywhere.gaps[0])
    (2, 8, 2)
    """
    check_tasks([name])
    if name == task.name:
        return task
    if name == "anywhere":
        seen: list[list[str | None]] = [[e for e in gap if e is not None] for gap in task.gaps]
        return replace(task, gaps=seen, name=name)
    whole = [
        [task.events[answer] if event is None else event for event in gap]
        for gap, answer in zip(task.gaps, task.answers.tolist(), strict=True)
    ]
    count = REMOVED[name]
    rng = np.random.default_rng([task.seed, zlib.crc32(task.domain.encode()), count])
    places = [
        rng.choice(len(one), min(count, len(one) - 1), replace=False).tolist() for one in whole
    ]
    gaps, answers = _removed(whole, places, task.events)
    return replace(task, gaps=gaps, answers=answers, name=name)


def check_tasks(names: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks asked for and the paper's, which is always among them.

    Examples
    --------
    >>> check_tasks(["anywhere", "two"])
    ('one', 'two', 'anywhere')
    """
    for name in names:
        if name not in TASKS:
            raise InputError(f"task {name!r}, expected some of {', '.join(TASKS)}")
    return tuple(name for name in TASKS if name == "one" or name in names)


def measure(filler: Filler, task: Task) -> Outcome:
    """Let a method learn and answer, and judge its answers."""
    start = time.perf_counter()
    found = answer(filler.fit(task.train), task)
    seconds = time.perf_counter() - start
    return judge(found, task.answers, seconds)


def answer(filler: Filler, task: Task) -> NDArray[np.float64]:
    """What a method that has learned answers, a row for each removed event."""
    if task.name == "one":
        return filler.predict_gap(task.gaps)
    if task.name == "anywhere":
        return filler.predict_anywhere(task.gaps)
    return np.concatenate(filler.predict_gaps(task.gaps))


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


def calibration_error(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10
) -> float:
    """Expected calibration error over bins of equal width.

    Examples
    --------
    >>> calibration_error(np.array([0.8, 0.8, 0.8, 0.8]), np.array([1, 1, 1, 0], bool))
    0.05
    """
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    error = 0.0
    for number in np.unique(place):
        inside = place == number
        error += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return round(float(error), 12)
