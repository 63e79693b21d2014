"""Lines as people type or paste them, into items that a script can be asked about."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from elision.serve.messages import MOST_LINES
from elision.serve.shelf import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from elision.observations import Observation
    from elision.serve.messages import ItemKind
    from elision.serve.shelf import Held

GAPS = frozenset({"?", "…", "..."})
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


def understood(held: Held, telling: Iterable[str | None]) -> list[Said]:
    """Take each line for an event, a gap, a sentence, several of them, or something unknown.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> door = Held("door", "door", el.examples.doorbell())
    >>> [one.kind for one in understood(door, ["hear doorbell, open door", "?", "sneeze"])]
    ['event', 'event', 'gap', 'unknown']
    """
    return [*islice(_understood(held, telling), MOST_LINES)]


def _understood(held: Held, telling: Iterable[str | None]) -> Iterator[Said]:
    for number, line in enumerate(telling):
        text = "?" if line is None else line.strip()
        if text:
            for part in [text] if text in GAPS else _parts(held, text):
                yield from _part(held, number, part)


def _parts(held: Held, text: str) -> list[str]:
    """A pasted line may hold several events or sentences."""
    if text in held.known:
        return [text]
    listed = [part for part in _COMMA.split(text) if part]
    if len(listed) > 1 and any(part in held.known for part in listed):
        return listed
    return _SENTENCE_END.split(text) if held.hears_sentences else [text]


def _part(held: Held, number: int, text: str) -> Iterator[Said]:
    if text in GAPS:
        yield Said(number, text, "gap", None)
    elif text in held.known:
        yield Said(number, text, "event", text)
    elif (found := held.spelt.get(folded(text))) is not None:
        yield Said(number, text, "event", found)
    else:
        heard = held.sentence(text)
        for one in heard:
            yield Said(number, text, "sentence", one)
        if not heard:
            yield Said(number, text, "unknown", None)
