"""The beginning of a table, for somebody who has to say which column is which."""

from __future__ import annotations

import csv
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from elision.errors import InputError
from elision.readers.formats import TABLES
from elision.readers.guess import guessed
from elision.readers.source import opened
from elision.readers.table import (
    csv_rows,
    list_columns,
    parquet_columns,
    parquet_errors,
    parquet_file,
    sniffed,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from elision.readers.columns import Roles
    from elision.readers.formats import Format
    from elision.readers.source import Source

ROWS = 5
LONGEST_CELL = 80


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
            return _parquet(file)
        return _text_table(file, kind) if kind in TABLES else Preview(kind, [], [])


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
        if kind != "parquet":
            return csv_rows(file, roles, "\t" if kind == "tsv" else None).columns.time is None
        table = parquet_file(file)
        if list_columns(table.schema_arrow, roles, file.name):
            return False
        return parquet_columns(table, roles, file.name).time is None


def _text_table(file: Source, kind: Format) -> Preview:
    lines = file.lines(newline="")
    header = next(lines, "")
    mark = "\t" if kind == "tsv" else sniffed(header)[1]
    reader = csv.reader(chain([header], lines), delimiter=mark)
    try:
        columns, *rows = [*islice(reader, ROWS + 1)] or [[]]
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", where=file.name) from None
    return Preview(kind, [name.strip() for name in columns], [_cells(row) for row in rows])


def _parquet(file: Source) -> Preview:
    table = parquet_file(file)
    with parquet_errors(file.name):
        first = next(table.iter_batches(batch_size=ROWS), None)
        rows = [] if first is None else [_cells(row.values()) for row in first.to_pylist()]
        return Preview("parquet", [*table.schema_arrow.names], rows)


def _cells(row: Iterable[object]) -> list[str]:
    return ["" if cell is None else str(cell)[:LONGEST_CELL] for cell in row]
