"""Logs in CSV and TSV, kept line by line as they stand."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.eventlog.insertion import EARLIEST, LATEST, MARKS
from elision.eventlog.kept import (
    in_order,
    mark_values,
    marked_names,
    plain_row,
    plain_rows,
    text_of,
)
from elision.readers.times import Ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from elision.eventlog.insertion import Placed
    from elision.eventlog.kept import Kept
    from elision.readers.columns import Columns
    from elision.readers.times import Form


@dataclass(frozen=True, slots=True)
class KeptText:
    """Rows of a table in text."""

    header: str
    names: list[str]
    columns: Columns
    delimiter: str
    lines: list[str]

    def __len__(self) -> int:
        return len(self.lines)

    def row(self, number: int) -> list[object]:
        """Return the cells of a row, None for those that are empty."""
        cells = next(csv.reader([self.lines[number]], delimiter=self.delimiter))
        return [cell or None for cell in cells]


def csv_head(kept: Kept, *, marked: bool) -> str:
    """Return the first line of a log as CSV."""
    if not isinstance(kept, KeptText):
        return csv_line(marked_names(kept.names) if marked else kept.names, ",")
    added = [mark for mark in MARKS if mark not in kept.names] if marked else []
    body = kept.header.rstrip("\r\n")
    end = kept.header[len(body) :] or "\n"
    return body + kept.delimiter + csv_line(added, kept.delimiter, end) if added else body + end


def csv_lines(
    kept: Kept, additions: Sequence[Placed], form: Form | None, *, marked: bool
) -> Iterator[str]:
    """Go through the rows of a log as lines of CSV; lines that were CSV stay as they are."""
    if not isinstance(kept, KeptText):
        names = marked_names(kept.names) if marked else kept.names
        for _, values in plain_rows(kept, additions, marked=marked):
            yield csv_line(shown_times(values, names, kept.columns.time, form), ",")
        return
    added = [mark for mark in MARKS if mark not in kept.names] if marked else []
    end = "\r\n" if kept.header.endswith("\r\n") else "\n"
    # Each line that came gets the same marks.
    rest = kept.delimiter + csv_line(
        [mark_values(None)[mark] for mark in added], kept.delimiter, ""
    )
    rest = rest if added else ""
    for row, number in in_order(range(len(kept)), additions):
        if number < 0:
            line = kept.lines[row]
            body = line.rstrip("\r\n")
            yield body + rest + (line[len(body) :] or end)
        else:
            values = plain_row(kept, row, additions[number], marked=marked)
            yield csv_line(values, kept.delimiter, end)


def _extended(line: str, cells: Sequence[object], delimiter: str, end: str = "\n") -> str:
    """Return a line with more cells at its end, and with an end."""
    body = line.rstrip("\r\n")
    end = line[len(body) :] or end
    if not cells:
        return body + end
    return body + delimiter + csv_line(cells, delimiter, end)


def csv_line(values: Iterable[object], delimiter: str, end: str = "\n") -> str:
    """Return values as one line of CSV."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerow(map(text_of, values))
    return text.getvalue()


def shown_times(
    values: Sequence[object], names: Sequence[str], time: str | None, form: Form | None
) -> list[object]:
    """Return values with those times in ISO 8601 that are numbers of ticks in their column."""
    if not isinstance(form, Ticks):
        return list(values)
    timed = (time, EARLIEST, LATEST)
    return [
        form.iso(value) if name in timed and isinstance(value, int) else value
        for name, value in zip(names, values, strict=True)
    ]
