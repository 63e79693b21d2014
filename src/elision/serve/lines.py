"""Lines as people type or paste them, into items that a script can be asked about."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from elision import text as texts
from elision.serve.messages import MOST_LINES
from elision.serve.shelf import folded
from elision.values.observations import HeardSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elision.ask.sentences import Part
    from elision.serve.messages import ItemKind
    from elision.serve.shelf import Held
    from elision.values.observations import Observation

GAPS = frozenset({"?", "…", "..."})

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
