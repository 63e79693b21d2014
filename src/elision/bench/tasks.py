"""What is asked of each method: splits of narratives, and what is taken out of the test ones.

In the paper's task one event of each test narrative is removed, to be predicted from the rest.
Besides it: two or three events are removed; or one, or an unknown number, and it is not told where;
or what comes next is asked.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.errors import InputError
from elision.text.extract import EventExtractor
from elision.text.wording import content_words
from elision.values.observations import likeliest_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.corpus import Corpus
    from elision.values.observations import HeardSentence, Observation

TEST_SHARE = 0.4
LEAST_EVENTS = 2
"""Narratives of fewer are left out: a gap needs something beside it."""

TASKS = {
    "one": "one event removed from each test narrative, its place known",
    "two": "two events removed, their places known",
    "three": "three events removed, their places known",
    "anywhere": "one event removed, its place unknown",
    "hidden": "each event hidden with a chance of 0.2, how many and where unknown",
    "next": "what follows each beginning of a test narrative, the end included",
}
"""What can be asked, "one" as in the paper; "anywhere" has the removals of "one"."""

REMOVED = {"two": 2, "three": 3}

HIDDEN_SHARE = 0.2
"""Chance of each event to be hidden in the task of that name."""


@dataclass(frozen=True, slots=True)
class Task:
    """One domain, split with one seed, events removed from every test narrative.

    The answers are apart from the questions: a learner is handed ``train`` and ``gaps`` only. There
    is an answer for each gap (None) in the order in which they stand; where the place is unknown,
    there is no gap and one answer a narrative. Of hidden events the answers are rows of narrative,
    place and event, a place being the number of events told before it. Where the next event is
    asked, ``gaps`` has beginnings, and the number of events stands for the end. Of sentences,
    ``heard`` are the gaps once more with the words of each sentence and the weights of the types
    that it may tell, for methods that take them; a sentence is weighed by itself, and
    ``test_heard`` has all of them, also those taken out. ``train_heard`` are the narratives of
    ``train`` with the type of each sentence by itself, for methods that learn how tellings are
    heard; ``train_words`` are the words of the sentences of ``train``, for methods that go by them.
    """

    domain: str
    seed: int
    events: tuple[str, ...]
    train: list[tuple[str, ...]]
    gaps: list[list[str | None]]
    answers: NDArray[np.int64]
    name: str = "one"
    heard: list[list[Observation]] | None = None
    test_heard: list[list[HeardSentence]] | None = None
    train_heard: list[list[HeardSentence | None]] | None = None
    train_words: list[list[tuple[str, ...]]] | None = None


def make_task(domain: Corpus, seed: int, *, max_train: int | None = None) -> Task:
    """Split a domain, of events or of sentences, and remove an event from each test narrative.

    Narratives of fewer than two events are left out; 60 % train, 40 % test; the removed event is
    chosen uniformly. The vocabulary is that of the whole domain.

    Examples
    --------
    >>> from elision import Corpus
    >>> task = make_task(Corpus.of([["a", "b", "c"]] * 10, domain="abc"), seed=0)
    >>> len(task.train), len(task.gaps), task.gaps[0].count(None)
    (6, 4, 1)
    """
    if not domain.has_events:
        return make_text_task(domain, seed, extractor=EventExtractor(), max_train=max_train)
    told = domain.filter(min_events=LEAST_EVENTS)
    if len(told) < 3:
        raise InputError(f"{len(told)} narratives of two events or more, expected at least three")
    train, test = told.split(TEST_SHARE, random_state=seed)
    return _task(train.events[:max_train], test.events, told.vocabulary, domain.domains[0], seed)


def make_text_task(
    domain: Corpus, seed: int, *, extractor: Any, max_train: int | None = None
) -> Task:
    """The same for raw sentences.

    Event types are induced from the training sentences alone, which have the types that they were
    grouped with, as when a script is learned. Every test sentence is mapped to a type by itself:
    which one will be removed is decided afterwards and changes nothing.
    """
    train, test = domain.split(TEST_SHARE, random_state=seed)
    if max_train is not None:
        train = train[:max_train]
    grouped = extractor.fit_transform(train)
    alone = extractor.heard(train, left_out=True)
    kept = [k for k, one in enumerate(grouped) if len(one.events or ()) >= LEAST_EVENTS]
    told, told_heard = ([of[k] for k in kept] for of in (grouped.events, alone))
    words = [[content_words(step) for step in grouped[k].steps or ()] for k in kept]
    asked, weighed = [], []
    for steps in test.steps:
        mapped = _mapped(extractor, steps, domain.domains[0])
        if len(mapped) >= LEAST_EVENTS:
            asked.append(tuple(event for event, _ in mapped))
            weighed.append([weights for _, weights in mapped])
    if not told or not asked:
        raise InputError("no narratives of two event types or more are left after extraction")
    vocabulary = tuple(
        sorted({e for items in (*told, *told_heard, *asked) for e in likeliest_events(items)})
    )
    task = _task(told, asked, vocabulary, domain.domains[0], seed)
    known = set(vocabulary)
    test_heard = [[one.among(known) for one in weights] for weights in weighed]
    task = replace(task, test_heard=test_heard, train_heard=told_heard, train_words=words)
    return replace(task, heard=_heard(task, task.gaps))


def _heard(task: Task, gaps: Sequence[Sequence[str | None]]) -> list[list[Observation]] | None:
    """The gaps of each test narrative with what was heard for names."""
    if task.test_heard is None:
        return None
    return [
        [None if event is None else one for event, one in zip(gap, whole, strict=True)]
        for gap, whole in zip(gaps, task.test_heard, strict=True)
    ]


def _mapped(extractor: Any, steps: Sequence[str], domain: str) -> list[tuple[str, HeardSentence]]:
    """The likeliest type of each sentence and the weights of all, without those that are none."""
    heard = extractor.observe(steps, domain=domain)
    return [(max(weights, key=weights.get), weights) for weights in heard if weights is not None]


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
    always stays. "anywhere" takes the gaps of "one" out of sight. "hidden" leaves out narratives of
    which nothing is hidden, or everything; "next" has every beginning, the empty one included.

    Examples
    --------
    >>> from elision import Corpus
    >>> one = make_task(Corpus.of([["a", "b", "c"]] * 10, domain="abc"), seed=0)
    >>> two, anywhere = other_task(one, "two"), other_task(one, "anywhere")
    >>> two.gaps[0].count(None), len(two.answers), len(anywhere.gaps[0])
    (2, 8, 2)
    >>> after = other_task(one, "next")
    >>> after.gaps[:4], after.answers[:4].tolist()
    ([[], ['a'], ['a', 'b'], ['a', 'b', 'c']], [0, 1, 2, 3])
    """
    check_tasks([name])
    if name == task.name:
        return task
    if name == "anywhere":
        return replace(
            task,
            gaps=[_told(gap) for gap in task.gaps],
            name=name,
            heard=None if task.heard is None else [_told(gap) for gap in task.heard],
        )
    whole = [
        [task.events[answer] if event is None else event for event in gap]
        for gap, answer in zip(task.gaps, task.answers.tolist(), strict=True)
    ]
    if name == "hidden":
        return _hidden(task, whole)
    if name == "next":
        return _beginnings(task, whole)
    count = REMOVED[name]
    rng = np.random.default_rng([task.seed, zlib.crc32(task.domain.encode()), count])
    places = [
        rng.choice(len(one), min(count, len(one) - 1), replace=False).tolist() for one in whole
    ]
    gaps, answers = _removed(whole, places, task.events)
    return replace(task, gaps=gaps, answers=answers, name=name, heard=_heard(task, gaps))


def _told(gap: Sequence[Any]) -> list[Any]:
    return [item for item in gap if item is not None]


def _hidden(task: Task, whole: Sequence[Sequence[str]]) -> Task:
    """Every event is hidden by chance."""
    number = {event: o for o, event in enumerate(task.events)}
    rng = np.random.default_rng(
        [task.seed, zlib.crc32(task.domain.encode()), zlib.crc32(b"hidden")]
    )
    seen: list[list[str | None]] = []
    heard: list[list[Observation]] = []
    answers: set[tuple[int, int, int]] = set()  # of equal events at one place, one is to be found
    for index, narrative in enumerate(whole):
        hidden = rng.random(len(narrative)) < HIDDEN_SHARE
        if hidden.any() and not hidden.all():
            told: list[str | None] = []
            for event, out in zip(narrative, hidden.tolist(), strict=True):
                if out:
                    answers.add((len(seen), len(told), number[event]))
                else:
                    told.append(event)
            seen.append(told)
            if task.test_heard is not None:
                pairs = zip(task.test_heard[index], hidden.tolist(), strict=True)
                heard.append([one for one, out in pairs if not out])
    found = np.array(sorted(answers), np.int64).reshape(-1, 3)
    words = None if task.test_heard is None else heard
    return replace(task, gaps=seen, answers=found, name="hidden", heard=words)


def _beginnings(task: Task, whole: Sequence[Sequence[str]]) -> Task:
    """What follows is asked after every beginning."""
    number = {event: o for o, event in enumerate(task.events)}
    seen: list[list[str | None]] = [
        list(one[:place]) for one in whole for place in range(len(one) + 1)
    ]
    answers = [
        answer for one in whole for answer in (*(number[event] for event in one), len(number))
    ]
    heard: list[list[Observation]] | None = None
    if task.test_heard is not None:
        heard = [list(one[:place]) for one in task.test_heard for place in range(len(one) + 1)]
    answered = np.array(answers, np.int64)
    return replace(task, gaps=seen, answers=answered, name="next", heard=heard)


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
