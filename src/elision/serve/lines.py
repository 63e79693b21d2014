"""Lines as people type or paste them: what they stand for, or come nearest to."""

from __future__ import annotations

import math
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from elision import text as texts
from elision.serve.messages import MOST_LINES
from elision.serve.shelf import folded
from elision.values.observations import HeardSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from elision.ask.sentences import Part
    from elision.serve.messages import ItemKind
    from elision.serve.shelf import Held
    from elision.values.observations import Observation

GAPS = frozenset({"?", "…", "..."})

LONGEST_SOUGHT = 200
"""Characters of a text that are looked at."""

ALIKE = 0.75
"""Two words are taken for forms of one where their letters agree so far."""

ENDING = 3
"""Letters that forms of one word may end with."""

LEAST_SHARED, LEAST_ALIKE = 0.3, 0.6
"""Share of an event's words, and likeness of its letters, that make it worth naming."""

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_COMMA = re.compile(r"\s*[,;→>]\s*")


class Said(NamedTuple):
    """One part of a telling: where it was said, in which words, and what the script hears.

    ``heard`` is None for a gap, for what is said not to have happened and for what the script does
    not understand: ``kind`` tells them apart. ``denied`` is the event that did not happen, if it
    is surely one of the script's.
    """

    line: int
    text: str
    kind: ItemKind
    heard: Observation
    denied: str | None = None

    @property
    def is_told(self) -> bool:
        """Whether it is an event of the telling, known or to be found."""
        return self.kind in ("event", "sentence", "gap")


def understood(
    held: Held, telling: Iterable[str | None], *, writing: int | None = None
) -> list[Said]:
    """Take each line for an event, a gap, a sentence, a denial, several, or something unknown.

    The line that is being written may be half a word: no sense is sought in it beyond the events
    that it names.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> door = Held("door", "door", el.examples.doorbell())
    >>> [one.kind for one in understood(door, ["hear doorbell, open door", "?", "sneeze"])]
    ['event', 'event', 'gap', 'unknown']
    """
    return [*islice(_understood(held, telling, writing), MOST_LINES)]


def worded(held: Held, said: Said) -> Observation:
    """What is heard, with the words it was said in, where it is more than the name of an event.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> worded(Held("door", "door", el.examples.doorbell()), Said(0, "Open door", "event", "open"))
    'open'
    """
    heard = said.heard
    if not isinstance(heard, str) or not held.goes_by_words or said.text in held.known:
        return heard
    return HeardSentence({heard: 1.0}, texts.wording.content_words(said.text))


def denied_events(said: Iterable[Said]) -> set[str]:
    """Events that are said not to have happened."""
    return {one.denied for one in said if one.denied is not None}


def fitting_nowhere(held: Held, said: Iterable[Said], exclude: Iterable[str] = ()) -> set[str]:
    """Events that fill no gap: what is excluded or denied, unless nothing else would be left."""
    excluded = {*exclude}
    every = excluded | denied_events(said)
    return every if held.known - every else excluded


def _understood(held: Held, telling: Iterable[str | None], writing: int | None) -> Iterator[Said]:
    for number, line in enumerate(telling):
        text = "?" if line is None else line.strip()
        if text and number == writing:
            yield _begun(held, number, text)
        elif text:
            for part in [text] if text in GAPS else _parts(held, text):
                yield from _part(held, number, part)


def _begun(held: Held, number: int, text: str) -> Said:
    if text in GAPS:
        return Said(number, text, "gap", None)
    event = _named(held, text)
    return Said(number, text, "writing" if event is None else "event", event)


def _named(held: Held, text: str) -> str | None:
    """The event that a text names, in its own words or in those that were kept for it."""
    if text in held.known:
        return text
    return held.spelt.get(folded(text))


def _parts(held: Held, text: str) -> list[str]:
    """A pasted line may hold several events or sentences."""
    if _named(held, text) is not None:
        return [text]
    for listed in (_COMMA.split(text), _SENTENCE_END.split(text)):
        parts = [part for part in listed if part]
        if len(parts) > 1 and any(_named(held, part) is not None for part in parts):
            return parts
    if not held.hears_sentences:
        return [text]
    return _SENTENCE_END.split(text)


def _part(held: Held, number: int, text: str) -> Iterator[Said]:
    if text in GAPS:
        yield Said(number, text, "gap", None)
    elif (found := _named(held, text)) is not None:
        yield Said(number, text, "event", found)
    else:
        heard = [one for part in held.sentence(text) for one in _heard(number, part)]
        yield from heard or [Said(number, text, "unknown", None)]


def _heard(number: int, part: Part) -> Iterator[Said]:
    for one in part.heard:
        yield Said(number, part.words, "sentence", one)
    if not part.heard:
        kind: ItemKind = "denied" if part.denied else "unknown"
        yield Said(number, part.words, kind, None, part.denies)


# --- what comes near ------------------------------------------------------------------------------


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
        said = words(text[:LONGEST_SOUGHT])
        if not said or not self._events:
            return []
        known = {word: max(_alike(word, one) for one in said) for word in self._weight}
        shared = [self._shared(found, known) for found in self._words]
        order = sorted(range(len(shared)), key=lambda event: -shared[event])
        best = [event for event in order[:top] if shared[event] >= LEAST_SHARED]
        if best:
            return [self._events[event] for event in best]
        folded = text[:LONGEST_SOUGHT].casefold()
        letters = [
            (SequenceMatcher(None, folded, event[:LONGEST_SOUGHT].casefold()).ratio(), event)
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
