"""The beginning of a table, for somebody who has to say which column is which; and wide tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from elision.errors import InputError
from elision.io.formats import TABLES, guessed
from elision.io.source import opened
from elision.io.tables import Table, is_of_lists, parquet_table, text_of
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from elision.io.columns import Roles
    from elision.io.formats import Format
    from elision.io.source import Source

ROWS = 5
LONGEST_CELL = 80
WIDE = ("csv", "tsv")
"""Formats of which each row can be a telling."""

LOOKED_AT = 200
"""Rows by which a heading is told from a telling."""


class Preview(NamedTuple):
    """What a file seems to be, and, if it is a table, its columns and first rows."""

    format: Format
    columns: list[str]
    rows: list[list[str]]


def preview(path: str | os.PathLike[str]) -> Preview:
    """Look at the beginning of a file.

    Raises
    ------
    InputError
        Where it cannot be read.
    """
    with opened(path, "utf-8") as file:
        kind = guessed(file, dict.fromkeys(("case", "activity", "time", "domain")))
        if kind == "parquet":
            table = parquet_table(file, beginning=True)
            columns = [table.column(number).head(ROWS) for number in range(len(table.names))]
            return Preview(kind, table.names, [_cells(row) for row in zip(*columns, strict=True)])
        if kind not in TABLES:
            return Preview(kind, [], [])
        rows = text_of(file, "\t" if kind == "tsv" else None, beginning=True).ragged()
        columns, *first = [*rows][: ROWS + 1] or [[]]
        return Preview(kind, [name.strip() for name in columns], [_cells(row) for row in first])


def is_untimed(
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002 - the word that users know
    encoding: str = "utf-8",
    **asked: str | None,
) -> bool:
    """Whether a file that can be read is a table of events without a column of their times.

    ``asked`` are ``case``, ``activity``, ``time`` and ``domain``, as `read` takes them; with
    ``time=""`` no such column is missed.
    """
    roles: Roles = {role: asked.get(role) for role in ("case", "activity", "time", "domain")}
    with opened(path, encoding) as file:
        kind = format or guessed(file, roles)
        if kind not in TABLES or roles["time"] is not None:
            return False
        table = _beginning(file, kind)
        return not is_of_lists(table, roles) and table.columns(roles).time is None


def _beginning(file: Source, kind: Format) -> Table:
    if kind == "parquet":
        return parquet_table(file, beginning=True)
    return text_of(file, "\t" if kind == "tsv" else None, beginning=True).table()


def _cells(row: Iterable[object]) -> list[str]:
    return ["" if cell is None else str(cell)[:LONGEST_CELL] for cell in row]


def read_wide(path: str | os.PathLike[str], kind: str) -> Corpus:
    """Read a table, each row of which is a telling; empty cells are passed over.

    The first row is a heading if nothing in it stands in the rows below.

    Raises
    ------
    InputError
        Where it cannot be read, or holds no telling.
    """
    with opened(path, "utf-8") as file:
        rows = [
            [cell.strip() for cell in row if cell.strip()]
            for row in text_of(file, "\t" if kind == "tsv" else None).ragged()
        ]
        below = {cell for row in rows[1:LOOKED_AT] for cell in row}
        has_heading = len(rows) > 1 and below.isdisjoint(rows[0])
        told = [row for row in rows[has_heading:] if row]
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
