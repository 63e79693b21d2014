"""Lines as people type or paste them, into items that a script can be asked about."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from elision import text as texts
from elision.ask.heard import name_of
from elision.serve.messages import MOST_LINES
from elision.serve.shelf import LONGEST_SENTENCE, folded
from elision.values.observations import HeardSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elision.serve.messages import ItemKind
    from elision.serve.shelf import Held
    from elision.values.observations import Observation

GAPS = frozenset({"?", "…", "..."})
SPLIT = 4096
"""Sentences of which it is remembered what they tell."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_COMMA = re.compile(r"\s*[,;→>]\s*")


class Said(NamedTuple):
    """One part of a telling: where it was said, in which words, and what the script hears.

    ``heard`` is None for a gap and for what the script does not understand: ``kind`` tells them
    apart.
    """

    line: int
    text: str
    kind: ItemKind
    heard: Observation


def understood(
    held: Held, telling: Iterable[str | None], *, writing: int | None = None
) -> list[Said]:
    """Take each line for an event, a gap, a sentence, several of them, or something unknown.

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
    return [part for sentence in _SENTENCE_END.split(text) for part in _told(held, sentence)]


def _told(held: Held, sentence: str) -> list[str]:
    """The parts of a sentence, if two of them or more stand for different events."""
    if _named(held, sentence) is not None or len(sentence) > LONGEST_SENTENCE:
        return [sentence]
    parts = _happenings(sentence)
    if len(parts) < 2:
        return [sentence]
    heard = {name_of(one) for part in parts for one in held.sentence(part)}
    return [*parts] if len(heard) > 1 else [sentence]


@lru_cache(SPLIT)
def _happenings(sentence: str) -> tuple[str, ...]:
    return tuple(texts.prose.happenings(sentence))


def _part(held: Held, number: int, text: str) -> Iterator[Said]:
    if text in GAPS:
        yield Said(number, text, "gap", None)
    elif (found := _named(held, text)) is not None:
        yield Said(number, text, "event", found)
    else:
        heard = held.sentence(text)
        for one in heard:
            yield Said(number, text, "sentence", one)
        if not heard:
            yield Said(number, text, "unknown", None)
