"""Which events a text comes nearest to: by the words that they share, then by their letters."""

from __future__ import annotations

import math
import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 200
"""Characters of a text that are looked at."""

ALIKE = 0.75
"""Two words are taken for forms of one where their letters agree so far."""

ENDING = 3
"""Letters that forms of one word may end with."""

LEAST_SHARED, LEAST_ALIKE = 0.3, 0.6
"""Share of an event's words, and likeness of its letters, that make it worth naming."""

_WORD = re.compile(r"\w+")


class Nearest:
    """Finds events by their words; a word that few events have says more.

    Examples
    --------
    >>> found = Nearest(["open door", "close door", "hear doorbell", "shut window"])
    >>> found.to("then I opened the door", top=1)
    ['open door']
    >>> found.to("hear the dorbell")
    ['hear doorbell']
    """

    def __init__(self, events: Sequence[str]) -> None:
        self._events = events
        self._words = [words(event) for event in events]
        counts = Counter(word for found in self._words for word in found)
        self._weight = {word: math.log(1 + len(events) / count) for word, count in counts.items()}

    def to(self, text: str, top: int = 3) -> list[str]:
        """Return the events that come nearest, the nearest first, none if nothing is near."""
        said = words(text[:LONGEST])
        if not said or not self._events:
            return []
        known = {word: max(_alike(word, one) for one in said) for word in self._weight}
        shared = [self._shared(found, known) for found in self._words]
        order = sorted(range(len(shared)), key=lambda event: -shared[event])
        best = [event for event in order[:top] if shared[event] >= LEAST_SHARED]
        if best:
            return [self._events[event] for event in best]
        folded = text[:LONGEST].casefold()
        letters = [
            (SequenceMatcher(None, folded, event[:LONGEST].casefold()).ratio(), event)
            for event in self._events
        ]
        near = sorted((one for one in letters if one[0] >= LEAST_ALIKE), key=lambda one: -one[0])
        return [event for _, event in near[:top]]

    def _shared(self, found: frozenset[str], known: dict[str, float]) -> float:
        whole = sum(self._weight[word] for word in found)
        return sum(self._weight[word] * known[word] for word in found) / whole if whole else 0.0


def words(text: str) -> frozenset[str]:
    """The words of a text, in small letters."""
    return frozenset(_WORD.findall(text.casefold().replace("_", " ")))


def _alike(one: str, other: str) -> float:
    """How surely two words are forms of one, from 0 to 1."""
    if one == other:
        return 1.0
    shorter, longer = sorted((one, other), key=len)
    differing = (at for at, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b)
    begun = next(differing, len(shorter))
    if begun >= max(3, len(shorter) - 1) and len(longer) - begun <= ENDING:
        return 0.9
    if not 0 < len(longer) <= 2 * len(shorter):
        return 0.0
    matcher = SequenceMatcher(None, one, other)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= ALIKE else 0.0
