"""How well cases with one fault are told from those without, and how often odd is said in vain.

Cases are split by case, 70 % to learn from. In half of the others, drawn by chance, one fault is
made: two neighbours that differ are swapped, an event is skipped, one is inserted, or one is
replaced by another, all kinds equally often. Of few cases, each is taken as it is and with a fault
of every kind. The events of all cases are known beforehand.

Besides, it is counted how often test cases are called odd: untouched, with two events swapped, with
a step put in that nobody told, with a step skipped, told backwards, and of four of their events
those alone, backwards. This is done with all events known beforehand, and as for a user who has
only the training cases. Raw sentences are so altered as they are, but for the step put in.
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.evaluate.detecting import area
from elision.evaluate.learned import learn
from elision.learn.baselines import NGram

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from elision.ask.score import Conformance
    from elision.values.corpus import Corpus

TEST_SHARE = 0.3
ORDER = 5
"""Of the n-gram that measures are compared with."""

FEW = 400
"""Test cases, below which each is taken more than once."""

MOST_JUDGED = 1000
"""Test cases of which it is asked whether they are odd."""

FOUR = 4
"""Events that are told backwards, alone."""

FOREIGN = "a step that nobody told"
PUT_IN = "foreign step"

KINDS = ("swap", "skip", "insert", "replace")

MEASURES: dict[str, Callable[[Conformance], float]] = {
    "oddness": lambda one: one.oddness,
    "p-value": lambda one: -(one.p_value or 0.0),
    "fitness": lambda one: -one.fitness,
    "mean surprise": lambda one: -one.log_prob / (len(one.told) + 1),
    "largest surprise": lambda one: max((one.ending, *(s for s in one.surprises if s is not None))),
}

Case = tuple[str, ...]


class _Split(NamedTuple):
    train: Corpus
    cases: list[Case]
    untouched: list[Case]
    altered: dict[str, list[Case]]
    rng: np.random.Generator


def _split(domain: Corpus, seed: int) -> _Split:
    train, test = domain.split(TEST_SHARE, random_state=seed)
    rng = np.random.default_rng([seed, zlib.crc32(domain.domains[0].encode())])
    events = sorted(set(train.vocabulary))
    cases = [tuple(test.events[k]) for k in rng.permutation(len(test)).tolist()]
    if len(cases) < FEW:
        return _Split(train, cases, cases, _altered(len(KINDS) * cases, events, rng), rng)
    half = len(cases) // 2
    return _Split(train, cases, cases[:half], _altered(cases[half:], events, rng), rng)


def faults_of(domain: Corpus, seed: int, method: str) -> dict[str, dict[str, float]]:
    """Areas under the curve by measure and kind of fault.

    Parameters
    ----------
    domain
        The cases.
    seed
        Of the split and of the faults.
    method
        The learner.
    """
    train, _, untouched, altered, _ = _split(domain, seed)
    script = learn(train, seed, method, events=domain.vocabulary)
    everything = [*untouched, *(case for some in altered.values() for case in some)]
    distinct = list(dict.fromkeys(everything))
    judged = dict(zip(distinct, script.conform(distinct), strict=True))
    surprise = n_gram_surprise(train.events, domain.vocabulary)
    values: dict[str, Callable[[Case], float]] = {
        name: lambda case, measure=measure: measure(judged[case])  # type: ignore[misc]
        for name, measure in MEASURES.items()
    }
    values[f"mean surprise of a {ORDER}-gram"] = surprise
    areas = {}
    for name, value in values.items():
        usual = [value(case) for case in untouched]
        odd = {kind: [value(case) for case in some] for kind, some in altered.items()}
        areas[name] = {"in total": area([one for some in odd.values() for one in some], usual)}
        areas[name] |= {kind: area(some, usual) for kind, some in odd.items() if some}
    return areas


def said_odd(domain: Corpus, seed: int, method: str) -> dict[str, dict[str, float]]:
    """Share of cases that are called odd by what was done to them, with what is known beforehand.

    Parameters
    ----------
    domain
        The cases.
    seed
        Of the split and of what is done.
    method
        The learner.
    """
    if not domain.has_events:
        return {"sentences": _said_odd_of_sentences(domain, seed, method)}
    train, cases, _, _, rng = _split(domain, seed)
    versions = _versions(cases[:MOST_JUDGED], rng)
    known = {"events known": domain.vocabulary, "as told": None}
    return {
        name: _share_odd(learn(train, seed, method, events=events).conform, versions)
        for name, events in known.items()
    }


def _said_odd_of_sentences(domain: Corpus, seed: int, method: str) -> dict[str, float]:
    train, test = domain.split(TEST_SHARE, random_state=seed)
    rng = np.random.default_rng([seed, zlib.crc32(domain.domains[0].encode())])
    versions = _versions([tuple(one) for one in test.steps if one][:MOST_JUDGED], rng)
    del versions[PUT_IN]
    return _share_odd(partial(learn(train, seed, method).conform, unknown="ignore"), versions)


def _altered(
    cases: Sequence[Case], events: Sequence[str], rng: np.random.Generator
) -> dict[str, list[Case]]:
    """One fault in each case, of each kind in as many; left out where it cannot be made."""
    found: dict[str, list[Case]] = {kind: [] for kind in KINDS}
    kinds = np.arange(len(cases)) * len(KINDS) // len(cases)  # the cases come in any order
    for case, kind in zip(cases, (KINDS[k] for k in kinds.tolist()), strict=True):
        changed = with_fault(case, kind, events, rng)
        if changed is not None:
            found[kind].append(changed)
    return found


def with_fault(
    case: Case, kind: str, events: Sequence[str], rng: np.random.Generator
) -> Case | None:
    """Return a case with one fault, or None where it cannot be made.

    Examples
    --------
    >>> with_fault(("ring", "open"), "swap", (), np.random.default_rng(0))
    ('open', 'ring')
    """
    if kind == "swap":
        differ = [i for i in range(len(case) - 1) if case[i] != case[i + 1]]
        i = differ[int(rng.integers(len(differ)))] if differ else len(case)
        changed = (*case[:i], *case[i : i + 2][::-1], *case[i + 2 :])
    elif kind == "insert":
        i = int(rng.integers(len(case) + 1))
        changed = (*case[:i], events[int(rng.integers(len(events)))], *case[i:])
    else:
        i = int(rng.integers(len(case)))
        others = [event for event in events if event != case[i]] if kind == "replace" else []
        put = [others[int(rng.integers(len(others)))]] if others else []
        changed = (*case[:i], *put, *case[i + 1 :])
    return changed if changed and changed != case else None


def _versions(cases: Sequence[Case], rng: np.random.Generator) -> dict[str, list[Case]]:
    """Cases as they are and with what is done to them, where that can be done."""
    versions: dict[str, list[Case | None]] = {
        "untouched": list(cases),
        "two swapped": [with_fault(case, "swap", (), rng) for case in cases],
        PUT_IN: [with_fault(case, "insert", (FOREIGN,), rng) for case in cases],
        "one skipped": [with_fault(case, "skip", (), rng) for case in cases],
        "four backwards": [backwards(case, rng, FOUR) for case in cases],
        "all backwards": [backwards(case, rng) for case in cases],
    }
    return {name: [case for case in some if case is not None] for name, some in versions.items()}


def backwards(case: Case, rng: np.random.Generator, number: int | None = None) -> Case | None:
    """Return some events of a case in the reverse order, or all; None if that changes nothing.

    Examples
    --------
    >>> backwards(("ring", "open", "greet"), np.random.default_rng(0))
    ('greet', 'open', 'ring')
    >>> backwards(("ring", "open", "ring"), np.random.default_rng(0))
    """
    if number is not None:
        if len(case) < number:
            return None
        chosen = np.sort(rng.choice(len(case), number, replace=False))
        case = tuple(case[k] for k in chosen.tolist())
    turned = case[::-1]
    return turned if turned != case else None


def _share_odd(
    conform: Callable[..., Sequence[Conformance]], versions: dict[str, list[Case]]
) -> dict[str, float]:
    return {
        name: float(np.mean([one.odd for one in conform(some)]))
        for name, some in versions.items()
        if some
    }


def n_gram_surprise(
    narratives: Sequence[Sequence[str]], events: Sequence[str], order: int = ORDER
) -> Callable[[Sequence[str]], float]:
    """Return what gives the mean of -log P(event | those before it), the end included."""
    peer = NGram(events=list(events), order=order).fit(narratives)
    number = {event: o for o, event in enumerate(peer.events_)}
    rows: dict[tuple[str, ...], NDArray[np.float64]] = {}

    def surprise(told: Sequence[str]) -> float:
        total = 0.0
        for place, event in enumerate((*told, None)):
            history = tuple(told[max(0, place - order + 1) : place])
            begun = history if place >= order - 1 else ("", *history)
            if begun not in rows:
                rows[begun] = peer.predict_next([told[:place]])[0]
            total -= float(np.log(rows[begun][-1 if event is None else number[event]]))
        return total / (len(told) + 1)

    return surprise
