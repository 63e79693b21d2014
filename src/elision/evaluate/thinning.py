"""Event logs of which events are removed by chance, and what was removed where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from elision.values.corpus import Corpus

TEST_SHARE = 0.3

EVENNESS = 3.0
"""Both parameters of the beta distribution of uneven rates together: the lower, the more uneven."""


class Thinned(NamedTuple):
    """Traces with events removed, and what was removed from each at which place."""

    traces: list[tuple[str, ...]]
    removed: list[Counter[tuple[int, str]]]


def thin(
    traces: Iterable[Sequence[str]], rates: Mapping[str, float], rng: np.random.Generator
) -> Thinned:
    """Remove events by chance, each type with its rate; traces of which nothing is left are gone.

    Examples
    --------
    >>> thin([["ring", "walk", "open"]], {"ring": 0, "walk": 1, "open": 0}, np.random.default_rng())
    Thinned(traces=[('ring', 'open')], removed=[Counter({(1, 'walk'): 1})])
    """
    found = Thinned([], [])
    for one in traces:
        kept: list[str] = []
        removed: Counter[tuple[int, str]] = Counter()
        for event, chance in zip(one, rng.random(len(one)).tolist(), strict=True):
            if chance < rates[event]:
                removed[len(kept), event] += 1
            else:
                kept.append(event)
        if kept:
            found.traces.append(tuple(kept))
            found.removed.append(removed)
    return found


def rates_of(
    events: Sequence[str], share: float, rng: np.random.Generator, *, uneven: bool
) -> dict[str, float]:
    """How often each type of event is removed."""
    if not uneven:
        return dict.fromkeys(events, share)
    drawn = rng.beta(EVENNESS * share, EVENNESS * (1 - share), len(events))
    return dict(zip(events, drawn.tolist(), strict=True))


def thinned_parts(log: Corpus, share: float, seed: int, *, uneven: bool) -> tuple[Thinned, Thinned]:
    """Split a log into what is learned from and what is tested on, and thin both alike."""
    events = log.vocabulary
    rng = np.random.default_rng([seed, round(1000 * share), uneven])
    rates = rates_of(events, share, rng, uneven=uneven)
    train, test = log.split(TEST_SHARE, random_state=seed)
    parts = thin(train.events, rates, rng), thin(test.events, rates, rng)
    for part, use in zip(parts, ("learn from", "test on"), strict=True):
        if not part.traces:
            raise InputError(f"with {share:.0%} removed nothing is left to {use}")
    return parts


def limited(log: Corpus, most: int | None) -> Corpus:
    """At most so many cases, taken by chance, in their order."""
    if most is not None and most < 2:
        raise InputError(f"--max-cases is {most}, expected a whole number from 2")
    if most is None or most >= len(log):
        return log
    chosen = np.random.default_rng(0).permutation(len(log))[:most]
    return type(log)(log[k] for k in np.sort(chosen).tolist())
