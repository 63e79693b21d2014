"""Gaps in training narratives that are held out, and what can be learned from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.last_step import FEATURES
from elision.contexts import Context, every_context

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.observations import Observation

MOST_GAPS = 4000
"""Gaps that weights and last step are learned from."""

MOST_NUMBERS = 6_000_000
"""And features of them in memory: fewer gaps if there are very many events."""

ROUNDS = 100
SHARED_COUNT = 2.0
"""Of the EM for the weights: steps, and pseudocounts that each manner starts with."""


def some_gaps(
    told: list[tuple[int, ...]], folds: list[NDArray[np.int64]], events: int, seed: int
) -> list[list[tuple[Context, int]]]:
    """Every place of every held-out narrative as a gap; a random part if they are too many."""
    gaps = [every_context([told[k] for k in fold.tolist()]) for fold in folds]
    most = min(MOST_GAPS, MOST_NUMBERS // (FEATURES * max(1, events)))
    rng = np.random.default_rng([seed, 1])
    total = sum(map(len, gaps))
    if total <= most:
        return gaps
    kept = np.sort(rng.choice(total, most, replace=False))
    first = np.cumsum([0, *map(len, gaps)])
    return [
        [part[k - start] for k in kept[(kept >= start) & (kept < start + len(part))].tolist()]
        for part, start in zip(gaps, first[:-1].tolist(), strict=True)
    ]


def named(gaps: list[tuple[Context, int]], events: tuple[str, ...]) -> list[list[Observation]]:
    """The gaps as narratives of names."""
    return [
        [*(events[o] for o in context.before), None, *(events[o] for o in context.after)]
        for context, _ in gaps
    ]


def manner_weights(given: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a mixture that make known answers most probable, by EM.

    ``given`` holds what each manner gave to the right answer, (gaps, manners).

    Examples
    --------
    >>> manner_weights(np.array([[0.9, 0.1]] * 100)).round(2).tolist()
    [0.98, 0.02]
    """
    chance = given + np.finfo(float).tiny
    weights = np.full(given.shape[1], 1 / given.shape[1])
    for _ in range(ROUNDS):
        part = chance * weights
        part /= part.sum(axis=1, keepdims=True)
        weights = part.sum(axis=0) + SHARED_COUNT
        weights /= weights.sum()
    return np.asarray(weights)
