"""Plain text: one event or sentence a line, a blank line between narratives, or running text."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from elision import text
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from elision.io.source import Source

_FEWEST_TELLINGS = 3
_FEWEST_LINES = 12
_FEWEST_STEPS = 3
_WORDS = 3  # of a line, in the middle: names of events are shorter


def read_text(source: Source, domain: str, *, sentences: bool | None = None) -> Corpus:
    """Read the narratives; spaces around a line do not count.

    Lines are events, or sentences where they are worded as differently as people word them.
    Running text is cut into what happens in it, one paragraph a narrative, also beside narratives
    of a sentence a line. ``sentences`` says so: False for events in any case.
    """
    lines = map(str.strip, source.lines(newline=None))
    blocks = [list(block) for told, block in groupby(lines, key=bool) if told]
    if sentences is False:
        return Corpus.of(blocks, domain)
    running = text.prose.is_prose(blocks)
    if running and len(blocks) == 1:
        blocks = [[paragraph] for paragraph in blocks[0]]
    if not (running or sentences or _are_sentences(blocks)):
        return Corpus.of(blocks, domain)
    told = (
        text.prose.telling(" ".join(block), domain, str(number))
        if text.prose.is_prose([block]) or (running and not _is_list(block))
        else Narrative(steps=tuple(block), domain=domain, id=str(number))
        for number, block in enumerate(blocks)
    )
    return Corpus(narrative for narrative in told if narrative is not None)


def _is_list(block: list[str]) -> bool:
    """Say whether a block among running text is a list of steps: no line of it runs on."""
    return len(block) >= _FEWEST_STEPS and not any(text.prose.is_prose([[line]]) for line in block)


def _are_sentences(blocks: list[list[str]]) -> bool:
    """Say whether most lines are told in one narrative only, in as many words as sentences have."""
    lines = [line.casefold() for block in blocks for line in block]
    if len(blocks) < _FEWEST_TELLINGS or len(lines) < _FEWEST_LINES:
        return False
    tellers = Counter(line for block in blocks for line in {line.casefold() for line in block})
    own = sum(tellers[line] == 1 for line in lines)
    return 2 * own > len(lines) and median(len(line.split()) for line in lines) >= _WORDS
