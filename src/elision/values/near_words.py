"""What the words of the sentences around a gap say of the event in it, or of what comes next.

Event types are a summary of sentences, and words say more: who "pours the batter" has mixed it.
With the words of the sentences told before and after a gap, the nearer the more,

    log P(e | words) = constant[e] + sum over sides and words of fade^(d-1) table[side, word, e] - Z

where d is how far the nearest sentence on that side with the word is from the gap. What comes next
is asked likewise, with one side only, and the end among the events. The answer of a telling model
and this one are pooled in their logarithms, see `WordChances.pooled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import ScriptError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

FADE = 0.45
"""What is left of a word with each further sentence between it and the gap."""

YIELDED = 0.75
"""So much of the share of the words is taken from the telling model's, which is 1 without them. The
two sum to more than one: neither knows all that the other knows."""

REACH = 20
"""Sentences on a side that are looked at: what is left of a word farther off is next to nothing."""

LARGEST = 1e4
"""Of any number of the tables, in size."""


@dataclass(frozen=True, eq=False)
class WordChances:
    """A distribution over events at a place of a telling, given the words around it.

    Attributes
    ----------
    words
        The words that count, in order.
    table
        (sides, words, events): what each says before the place, and after it if there are two.
    constant
        (events,): what holds whatever the words are.
    share
        The exponent of this distribution where it is pooled with that of a telling model.
    """

    words: tuple[str, ...]
    table: NDArray[np.float64]
    constant: NDArray[np.float64]
    share: float

    def __post_init__(self) -> None:
        """Freeze the arrays, with the numbers that a file can hold."""
        object.__setattr__(self, "words", tuple(self.words))
        for name in ("table", "constant"):
            with np.errstate(over="ignore"):
                value = np.asarray(getattr(self, name)).astype(np.float16).astype(np.float64)
            if not (np.abs(value) <= LARGEST).all():
                raise ScriptError(f"near words: {name} has a number that is out of range")
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "share", float(self.share))
        if not 0 <= self.share <= 1:
            raise ScriptError(f"near words: share is {self.share}, expected 0 to 1")
        shape = (len(self.table), len(self.words), self.constant.size)
        if self.constant.ndim != 1 or self.table.shape != shape:
            raise ScriptError(f"near words: table is {self.table.shape}, expected {shape}")
        if any(a >= b for a, b in zip(self.words, self.words[1:], strict=False)):
            raise ScriptError("near words: the words are not in order")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def log_chances(
        self, told: Sequence[Collection[str] | None], place: int
    ) -> NDArray[np.float64]:
        """Log-probability of each event at one place of a telling.

        Parameters
        ----------
        told
            The words of each sentence; None for a gap.
        place
            The gap, or how many sentences there are where what comes next is asked.

        Examples
        --------
        >>> model = WordChances(("bell",), [[[0, 2]], [[1, 0]]], [0, 0], 0.4)
        >>> np.exp(model.log_chances([("bell",), None], 1)).round(2).tolist()
        [0.12, 0.88]
        """
        found = self.constant.copy()
        for side, number, strength in near(told, place, self.numbers):
            found += strength * self.table[side, number]
        found -= found.max()
        return np.asarray(found - np.log(np.exp(found).sum()))

    def pooled(
        self, log_chances: NDArray[np.float64], told: Sequence[Collection[str] | None], place: int
    ) -> NDArray[np.float64]:
        """The telling model's log-probabilities and those of the words, up to a constant.

        P(e) is proportional to P(e | events)^(1 - YIELDED share) P(e | words)^share.
        """
        return self.weighed(log_chances, self.log_chances(told, place))

    def weighed(
        self, log_chances: NDArray[np.float64], by_words: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The same of what words say already."""
        return np.asarray((1 - YIELDED * self.share) * log_chances + self.share * by_words)

    def same(self, other: WordChances) -> bool:
        """Whether all words and numbers are the same."""
        return (
            self.words == other.words
            and self.share == other.share
            and np.array_equal(self.table, other.table)
            and np.array_equal(self.constant, other.constant)
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle by making it anew: arrays would come back writable."""
        return WordChances, (self.words, self.table, self.constant, self.share)


class NearWords(NamedTuple):
    """What words say of a gap they are around, and of what comes next, the end being the last."""

    around: WordChances
    ahead: WordChances

    def same(self, other: NearWords | None) -> bool:
        """Whether all words and numbers are the same."""
        return other is not None and self.around.same(other.around) and self.ahead.same(other.ahead)


def near(
    told: Sequence[Collection[str] | None], place: int, numbers: dict[str, int]
) -> list[tuple[int, int, float]]:
    """Side, number and strength of each known word around a place, each once a side.

    Examples
    --------
    >>> near([("ring",), ("walk", "ring"), None], 2, {"ring": 0, "walk": 1})
    [(0, 0, 1.0), (0, 1, 1.0)]
    >>> near([("ring",), ("walk",), None], 2, {"ring": 0, "walk": 1})
    [(0, 0, 0.45), (0, 1, 1.0)]
    """
    found = []
    before = told[max(place - REACH, 0) : place][::-1]
    for side, sentences in enumerate((before, told[place + 1 : place + 1 + REACH])):
        strengths: dict[int, float] = {}
        for distance, words in enumerate(sentences):
            for word in words or ():
                if word in numbers:
                    strengths.setdefault(numbers[word], FADE**distance)
        found += [(side, number, strengths[number]) for number in sorted(strengths)]
    return found
