"""How well events are put in order, beside their mean position and counts of pairs in training."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.precedence import improved
from elision.errors import InputError
from elision.evaluate.cloze import LEAST_EVENTS, TEST_SHARE
from elision.evaluate.learned import learn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.corpus import Corpus


def order_domain(domain: Corpus, seed: int, method: str) -> dict[str, float]:
    """Order the events of each test telling, and return the share of pairs that are right.

    Repeated events count where they were first told. The answers of what was learned stand under
    the name of its method.
    """
    told = domain.filter(min_events=LEAST_EVENTS)
    train, test = told.split(TEST_SHARE, random_state=seed)
    script = learn(train, seed, method, events=told.vocabulary)
    position = mean_positions(train.events)
    pairs = pair_counts(train.events, told.vocabulary)
    number = {event: o for o, event in enumerate(told.vocabulary)}
    shares: dict[str, list[float]] = {}
    for telling in test.events:
        truth = list(dict.fromkeys(telling))
        if len(truth) < 2:
            continue
        events = sorted(truth)
        chosen = np.array([number[event] for event in events])
        by_pairs = improved(
            pairs[np.ix_(chosen, chosen)],
            np.argsort([position.get(event, 0.5) for event in events], kind="stable"),
        )
        try:
            found = script.order(events)
        except InputError:  # the script cannot tell them together
            answers = {method: tuple(events), "likeliest telling": tuple(events)}
        else:
            answers = {method: found.events, "likeliest telling": found.likeliest[0].events}
        answers["mean position"] = tuple(sorted(events, key=lambda e: position.get(e, 0.5)))
        answers["pairs in training"] = tuple(events[place] for place in by_pairs.tolist())
        for name, answer in answers.items():
            shares.setdefault(name, []).append(pairs_right(answer, truth))
    return {name: float(np.mean(values)) for name, values in shares.items()}


def pairs_right(answer: Sequence[str], truth: Sequence[str]) -> float:
    """Share of pairs that stand in the same order.

    Examples
    --------
    >>> round(pairs_right(["a", "c", "b"], ["a", "b", "c"]), 3)
    0.667
    """
    place = {event: at for at, event in enumerate(truth)}
    return float(np.mean([place[a] < place[b] for a, b in combinations(answer, 2)]))


def mean_positions(narratives: Sequence[Sequence[str]]) -> dict[str, float]:
    """Mean position of each event, from 0 to 1."""
    found: dict[str, list[float]] = {}
    for telling in narratives:
        for place, event in enumerate(telling):
            found.setdefault(event, []).append((place + 0.5) / len(telling))
    return {event: float(np.mean(places)) for event, places in found.items()}


def pair_counts(
    narratives: Sequence[Sequence[str]], events: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Share of tellings of both in which one event comes before another, half a count added."""
    number = {event: o for o, event in enumerate(events)}
    count = np.full((len(events), len(events)), 0.5)
    for telling in narratives:
        for first, second in combinations(dict.fromkeys(telling), 2):
            count[number[first], number[second]] += 1
    return np.asarray(count / (count + count.T))
