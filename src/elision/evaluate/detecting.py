"""How well tellings with a deviation in them are told from untouched ones."""

from __future__ import annotations

import zlib
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision.evaluate.cloze import LEAST_EVENTS, TEST_SHARE
from elision.evaluate.learned import learn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elision.ask.score import Conformance
    from elision.values.corpus import Corpus

COMMON = 0.5
"""A key step is told in more than this share of the training tellings."""

DEVIATIONS = ("two swapped", "foreign event", "key step missing")
"""Deviations that the mean is taken over; "own event misplaced" is worth knowing besides."""

Measures = dict[str, list[float]]

MEASURES: dict[str, Callable[[Conformance], float]] = {
    "oddness": lambda one: one.oddness,
    "p-value": lambda one: (
        len([flag for flag in one.flags if flag.kind == "unknown"]) - (one.p_value or 0.0)
    ),
    "log-prob an event": lambda one: -one.log_prob / (len(one.told) + 1),
    "log-prob": lambda one: -one.log_prob,
    "largest surprise": lambda one: max((s for s in one.surprises if s is not None), default=0.0),
}


def detect_domain(
    domain: Corpus, foreign: Sequence[str], seed: int, method: str
) -> dict[tuple[str, str], float]:
    """Alter test tellings and return the area under the curve of each measure for each deviation.

    Parameters
    ----------
    domain
        The tellings.
    foreign
        Events of other domains, as often as they are told there.
    seed
        Of the split and of the deviations.
    method
        The learner.
    """
    told = domain.filter(min_events=LEAST_EVENTS)
    train, test = told.split(TEST_SHARE, random_state=seed)
    script = learn(train, seed, method, events=told.vocabulary)
    bigram = bigram_costs(train.events, told.vocabulary)

    def measured(tellings: Sequence[Sequence[str]]) -> Measures:
        found = script.conform(tellings)
        values = {name: [measure(one) for one in found] for name, measure in MEASURES.items()}
        costs = [bigram(one) for one in tellings]
        values["bigram an event"] = [float(np.mean(one)) for one in costs]
        values["bigram"] = [float(np.sum(one)) for one in costs]
        values["length"] = [float(len(one)) for one in tellings]
        return values

    untouched = measured(test.events)
    rng = np.random.default_rng([seed, zlib.crc32(domain.domains[0].encode())])
    result = {}
    for deviation, tellings in altered(test.events, train.events, foreign, rng).items():
        if tellings:
            for name, values in measured(tellings).items():
                result[deviation, name] = area(values, untouched[name])
    return result


def altered(
    test: Sequence[Sequence[str]],
    train: Sequence[Sequence[str]],
    foreign: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, list[list[str]]]:
    """Make the deviations: each in each telling where it can be made."""
    told_in = Counter(event for telling in train for event in set(telling))
    key = {event for event, number in told_in.items() if number > COMMON * len(train)}
    own = sorted(told_in)
    result: dict[str, list[list[str]]] = {name: [] for name in (*DEVIATIONS, "own event misplaced")}
    for telling in map(list, test):
        differ = [i for i in range(len(telling) - 1) if telling[i] != telling[i + 1]]
        if differ:
            i = differ[rng.integers(len(differ))]
            swapped = [*telling[:i], telling[i + 1], telling[i], *telling[i + 2 :]]
            result["two swapped"].append(swapped)
        for deviation, events in (("foreign event", foreign), ("own event misplaced", own)):
            if events:
                i = int(rng.integers(len(telling) + 1))
                event = events[int(rng.integers(len(events)))]
                result[deviation].append([*telling[:i], event, *telling[i:]])
        usual = [i for i, event in enumerate(telling) if event in key]
        if usual and len(telling) > 1:
            i = usual[rng.integers(len(usual))]
            result["key step missing"].append([*telling[:i], *telling[i + 1 :]])
    return result


def area(odd: Sequence[float], usual: Sequence[float]) -> float:
    """Probability that an odd telling has the larger value; ties count a half.

    Examples
    --------
    >>> area([3.0, 1.0], [1.0, 0.0])
    0.875
    """
    first, second = np.array(odd)[:, None], np.array(usual)
    return float(np.mean((first > second) + 0.5 * (first == second)))


def bigram_costs(
    narratives: Sequence[Sequence[str]], events: Sequence[str], added: float = 0.3
) -> Callable[[Sequence[str]], list[float]]:
    """Return what gives -log P(event | the one before) of each event of a telling, and of its end.

    Events that are not in ``events`` share one more place.
    """
    number = {event: o for o, event in enumerate(events)}
    unknown, edge = len(events), len(events) + 1

    def steps(telling: Sequence[str]) -> list[tuple[int, int]]:
        line = [edge, *(number.get(event, unknown) for event in telling), edge]
        return list(pairwise(line))

    count = np.full((len(events) + 2, len(events) + 2), added)
    for narrative in narratives:
        for before, after in steps(narrative):
            count[before, after] += 1
    cost = -np.log(count / count.sum(axis=1, keepdims=True))
    return lambda telling: [float(cost[step]) for step in steps(telling)]
