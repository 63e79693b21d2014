"""Plain text: one event a line, a blank line between narratives."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from elision.corpus import Corpus

if TYPE_CHECKING:
    from elision.readers.source import Source


def read_text(source: Source, domain: str) -> Corpus:
    """Read the narratives; spaces around an event do not count."""
    lines = map(str.strip, source.lines(newline=None))
    return Corpus.of([list(block) for told, block in groupby(lines, key=bool) if told], domain)
