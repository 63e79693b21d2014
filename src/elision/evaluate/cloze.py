"""The paper's task: one event of each test narrative is removed; predict it from the rest."""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Task:
    """One domain, split with one seed, one event removed from every test narrative.

    The answers are apart from the questions: a learner is handed ``train`` and ``gaps`` only.
    """

    domain: str
    seed: int
    events: tuple[str, ...]
    train: list[tuple[str, ...]]
    gaps: list[list[str | None]]
    answers: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method answered, narrative by narrative."""

    rank: NDArray[np.int64]
    """Place of the removed event, 1 the first; ties go against it."""
    probability: NDArray[np.float64]
    """Given to the removed event."""
    confidence: NDArray[np.float64]
    """The largest probability given to any event."""
    seconds: float

    @property
    def top1(self) -> float:
        """Share of narratives whose first answer is the removed event."""
        return float((self.rank == 1).mean())

    @property
    def top3(self) -> float:
        """Share of narratives whose first three answers hold the removed event."""
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
    number = {event: o for o, event in enumerate(events)}
    gaps: list[list[str | None]] = []
    answers = []
    for narrative in test:
        place = int(rng.integers(len(narrative)))
        gaps.append([*narrative[:place], None, *narrative[place + 1 :]])
        answers.append(number[narrative[place]])
    return Task(domain, seed, events, list(train), gaps, np.array(answers))


def measure(filler: Filler, task: Task) -> Outcome:
    """Let a method learn and answer, and judge its answers."""
    start = time.perf_counter()
    found = filler.fit(task.train).predict_gap(task.gaps)
    seconds = time.perf_counter() - start
    return judge(found, task.answers, seconds)


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
