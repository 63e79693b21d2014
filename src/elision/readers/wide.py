"""Tables in which each row is one telling and each cell an event, as people write spreadsheets."""

from __future__ import annotations

import csv
from itertools import chain, islice
from typing import TYPE_CHECKING

from elision.errors import InputError
from elision.readers.source import opened
from elision.readers.table import sniffed
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from elision.readers.source import Source

WIDE = ("csv", "tsv")
"""Formats of which each row can be a telling."""

LOOKED_AT = 200
"""Rows by which a heading is told from a telling."""


def read_wide(path: str | os.PathLike[str], kind: str) -> Corpus:
    """Read a table, each row of which is a telling; empty cells are passed over.

    The first row is a heading if nothing in it stands in the rows below.

    Raises
    ------
    InputError
        Where it cannot be read, or holds no telling.
    """
    with opened(path, "utf-8") as file:
        rows = _rows(file, kind)
        first = [*islice(rows, LOOKED_AT)]
        below = {cell for row in first[1:] for cell in row}
        has_heading = len(first) > 1 and below.isdisjoint(first[0])
        told = [row for row in chain(first[has_heading:], rows) if row]
        if not told:
            raise InputError("there is no telling in the table", where=file.name)
    return Corpus.of(told)


def looks_wide(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the same words stand in different columns, as events of tellings do.

    Examples
    --------
    >>> looks_wide(["first", "second"], [["ring", "open"], ["open", ""]])
    True
    >>> looks_wide(["who", "what"], [["1", "open"], ["2", "ring"]])
    False
    """
    found: dict[str, int] = {}
    for row in [columns, *rows]:
        for place, cell in enumerate(row):
            text = cell.strip()
            if any(map(str.isalpha, text)) and found.setdefault(text, place) != place:
                return True
    return False


def _rows(file: Source, kind: str) -> Iterator[list[str]]:
    lines = file.lines(newline="")
    header = next(lines, "")
    mark = "\t" if kind == "tsv" else sniffed(header)[1]
    try:
        for row in csv.reader(chain([header], lines), delimiter=mark):
            yield [cell.strip() for cell in row if cell.strip()]
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", where=file.name) from None
