"""The last step: what a first-order script cannot see, weighed in where a gap is filled.

    P(event | rest) is proportional to exp(weights . features(event, rest) + context[event] . rest)

The features of an event are the log-probabilities that the scripts, a bidirectional bigram and
naive Bayes on the sets before and after give it; whether it is told already, and where; and how
many words of its name it shares with the events around. ``context`` is a multinomial logistic
regression on the events around, on top of that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elision.contexts import steps_on, surroundings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.contexts import Context

FLOOR = 1e-4
"""Added to probabilities before their logarithm is taken: none can rule an event out."""

FEATURES = 11
TOLD_BEFORE, TOLD_AFTER = 3, 4
"""How many features there are, and the places of two of them."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, eq=False)
class Counted:
    """What is counted in training narratives beside the scripts.

    P(next | event) with start and end as the last row and column; log-weight of each event where
    nothing else is told; what an event told before or after adds to it, (2, events, events). In
    float32, so that a saved one answers to the last bit as before.
    """

    bigram: NDArray[np.float32]
    absent: NDArray[np.float32]
    present: NDArray[np.float32]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted) and _same(self, other, ("bigram", "absent", "present"))

    __hash__ = None  # type: ignore[assignment]

    def log_chances(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        """Log-probability of each event by pairs and by sets, (contexts, events, 2)."""
        result = np.empty((len(contexts), len(self.absent), 2))
        for row, (before, after, hidden_before, hidden_after) in zip(result, contexts, strict=True):
            last, following = before[-1] if before else -1, after[0] if after else -1
            row[:, 0] = self._onward(hidden_before)[last, :-1]
            row[:, 0] *= self._onward(hidden_after)[:-1, following]
            by_set = self.absent.astype(float)
            for side, told in zip(self.present, (before, after), strict=True):
                by_set += side[:, list(set(told))].sum(axis=1)
            row[:, 1] = np.exp(by_set - by_set.max())
        result /= result.sum(axis=1, keepdims=True)
        return np.asarray(np.log(result + FLOOR))

    def _onward(self, hidden: int) -> NDArray[np.float64]:
        return steps_on(self._bigram, hidden) if hidden else self._bigram

    @cached_property
    def _bigram(self) -> NDArray[np.float64]:
        return self.bigram.astype(float)


@dataclass(frozen=True, eq=False)
class LastStep:
    """A learned last step: what was counted, weights of features, context."""

    counted: Counted
    shared_words: NDArray[np.float64]
    weights: NDArray[np.float64]
    context: NDArray[np.float32] | None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LastStep)
            and self.counted == other.counted
            and _same(self, other, ("weights", "context"))
        )

    __hash__ = None  # type: ignore[assignment]

    def told_again(self, before: bool, after: bool) -> float:
        """By what factor the odds of an event change where it is told before or after."""
        return float(np.exp(self.weights[TOLD_BEFORE] * before + self.weights[TOLD_AFTER] * after))

    def chances(
        self, contexts: Sequence[Context], by_scripts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Probability of each event in each gap, given what the scripts say."""
        events = by_scripts.shape[1]
        value = features(contexts, by_scripts, self.counted, self.shared_words) @ self.weights
        if self.context is not None:
            value += surroundings(contexts, events) @ self.context.astype(float)
        return _softmax(value)


def features(
    contexts: Sequence[Context],
    by_scripts: NDArray[np.float64],
    counted: Counted,
    shared: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Features of every event in every gap, (contexts, events, features)."""
    gaps, events = by_scripts.shape
    told = np.zeros((gaps, events, 8))
    for row, (before, after, hidden_before, hidden_after) in zip(told, contexts, strict=True):
        row[list(before), 0] = 1.0
        row[list(after), 1] = 1.0
        if before:
            row[:, 6] = shared[list(before)].max(axis=0)
            if not hidden_before:
                row[before[-1], 2] = 1.0
                row[:, 4] = shared[before[-1]]
        if after:
            row[:, 7] = shared[list(after)].max(axis=0)
            if not hidden_after:
                row[after[0], 3] = 1.0
                row[:, 5] = shared[after[0]]
    said = np.log(by_scripts + FLOOR)[:, :, None]
    return np.concatenate([said, counted.log_chances(contexts), told], axis=2)


def shared_words(events: Sequence[str]) -> NDArray[np.float64]:
    """Share of words that the names of two different events have in common, (events, events).

    Examples
    --------
    >>> shared_words(["open(door)", "close(door)"])[0].round(2).tolist()
    [0.0, 0.33]
    """
    words = [set(_WORD.findall(event.lower())) for event in events]
    known = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    holds = np.zeros((len(events), len(known)))
    for row, some in zip(holds, words, strict=True):
        row[[known[word] for word in some]] = 1.0
    both = holds @ holds.T
    size = holds.sum(axis=1)
    either = size[:, None] + size[None, :] - both
    share = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    np.fill_diagonal(share, 0.0)
    return np.asarray(share)


def _same(one: object, other: object, names: tuple[str, ...]) -> bool:
    """Whether the arrays of these names are equal, or both None."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(
        (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
        for a, b in pairs
    )


def _softmax(value: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = np.exp(value - value.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))
