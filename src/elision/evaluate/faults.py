"""How well cases with one fault are told from those without, and how often odd is said in vain.

Cases are split by case, 70 % to learn from. In half of the others, drawn by chance, one fault is
made: two neighbours that differ are swapped, an event is skipped, one is inserted, or one is
replaced by another, all kinds equally often. Of few cases, each is taken as it is and with a fault
of every kind. Besides, each untouched test case is judged, and the
same with two events swapped and with a step put in that nobody told. The events of all cases are
known beforehand.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

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

FOREIGN = "a step that nobody told"

KINDS = ("swap", "skip", "insert", "replace")

MEASURES: dict[str, Callable[[Conformance], float]] = {
    "oddness": lambda one: one.oddness,
    "p-value": lambda one: -(one.p_value or 0.0),
    "fitness": lambda one: -one.fitness,
    "mean surprise": lambda one: -one.log_prob / (len(one.told) + 1),
    "largest surprise": lambda one: max((one.ending, *(s for s in one.surprises if s is not None))),
}

Case = tuple[str, ...]


def faults_of(
    domain: Corpus, seed: int, method: str
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Areas under the curve by measure and kind of fault, and how often odd is said of what.

    Parameters
    ----------
    domain
        The cases.
    seed
        Of the split and of the faults.
    method
        The learner.
    """
    train, test = domain.split(TEST_SHARE, random_state=seed)
    script = learn(train, seed, method, events=domain.vocabulary)
    rng = np.random.default_rng([seed, zlib.crc32(domain.domains[0].encode())])
    events = sorted(set(train.vocabulary))
    cases = [tuple(test.events[k]) for k in rng.permutation(len(test)).tolist()]
    if len(cases) < FEW:
        untouched, altered = cases, _altered(len(KINDS) * cases, events, rng)
    else:
        half = len(cases) // 2
        untouched, altered = cases[:half], _altered(cases[half:], events, rng)
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
    return areas, _said_odd(script.conform, cases[:MOST_JUDGED], rng)


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


def _said_odd(
    conform: Callable[..., Sequence[Conformance]], cases: Sequence[Case], rng: np.random.Generator
) -> dict[str, float]:
    """Share of cases that are called odd: as they are, swapped, and with a foreign step."""
    swapped = [with_fault(case, "swap", (), rng) for case in cases]
    versions = {
        "untouched": list(cases),
        "two swapped": [case for case in swapped if case is not None],
        "foreign step": [with_fault(case, "insert", (FOREIGN,), rng) for case in cases],
    }
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
