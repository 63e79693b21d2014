"""Long tables, one row an event: CSV and TSV, Parquet, data frames."""

from __future__ import annotations

import csv
import io
import math
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn

from elision.errors import InputError, shown
from elision.readers.cases import LIFECYCLE_KEY, Cases
from elision.readers.columns import FIRST_CELLS, Columns, choose
from elision.readers.frames import (
    collected,
    failures,
    first_cells,
    known_frame,
    labels_of,
    times_of,
)
from elision.readers.records import from_items
from elision.readers.source import HEAD, one_line
from elision.readers.times import no_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import narwhals as nw

    from elision.readers.cases import Reading
    from elision.readers.columns import Roles
    from elision.readers.source import Source
    from elision.readers.times import Form
    from elision.values.corpus import Corpus

    # The number of the row, then its cells in the order of `Columns.roles`.
    Row = tuple[int, Iterable[object]]

DELIMITERS = ",;\t|"

LARGEST_WHOLE = 2.0**53
"""Larger floats are no longer each a whole number of its own."""


@dataclass(frozen=True, slots=True)
class CsvRows:
    """A table in text that is being read.

    Attributes
    ----------
    header
        The first line as it stands.
    names
        The columns.
    columns
        Which of them is what.
    delimiter
        What stands between cells.
    """

    header: str
    names: list[str]
    columns: Columns
    delimiter: str
    _reader: Any
    _taken: list[str]
    _places: list[int | None]
    _name: str

    def __iter__(self) -> Iterator[tuple[int, list[str], str]]:
        """Go through the rows: number of the line, cells, and the row as it stands."""
        with _csv_errors(self._reader, self._name):
            for row in self._reader:
                text = "".join(self._taken)
                self._taken.clear()
                if len(row) == len(self.names):
                    yield self._reader.line_num, row, text
                elif row:
                    problem = f"{len(row)} cells; expected {len(self.names)} as in the header"
                    raise InputError(problem, where=f"{self._name} line {self._reader.line_num}")

    def roles(self, cells: list[str]) -> list[str | None]:
        """Return the cells of a row in the order of `Columns.roles`."""
        return [None if place is None else cells[place] for place in self._places]


@contextmanager
def _csv_errors(reader: Any, name: str) -> Iterator[None]:
    try:
        yield
    except csv.Error as error:
        place = f"{name} line {reader.line_num}"
        raise InputError(f"not valid CSV: {error}", where=place) from None


def csv_rows(source: Source, roles: Roles, delimiter: str | None) -> CsvRows:
    """Begin to read a table; the delimiter is found in the header where it is not given."""
    lines = source.lines(newline="")
    header = next(lines, "")
    mark = delimiter or sniffed(header)[1]
    taken: list[str] = []

    def noted() -> Iterator[str]:
        for line in chain([header], lines):
            taken.append(line)
            yield line

    # Strict: a quote that is never closed would otherwise swallow the rest of the file unseen.
    reader = csv.reader(noted(), delimiter=mark, strict=True)
    with _csv_errors(reader, source.name):
        names = [name.strip() for name in next(reader, [])]
    columns = choose(
        names, roles, f"{source.name} line 1", lambda some: _first_cells(source, names, some, mark)
    )
    text = "".join(taken)
    taken.clear()
    places = [None if name is None else names.index(name) for name in columns.roles]
    return CsvRows(text, names, columns, mark, reader, taken, places, source.name)


def _first_cells(
    source: Source, names: list[str], some: list[str], mark: str
) -> dict[str, list[str]]:
    """Return the cells of the first rows, as far as the beginning of a file has them whole."""
    head = source.head.decode(source.encoding, "ignore")
    lines = io.StringIO(head if len(source.head) < HEAD else head.rpartition("\n")[0], newline="")
    try:
        rows = [*islice(csv.reader(lines, delimiter=mark), 1 + FIRST_CELLS)][1:]
    except csv.Error:  # of which the reading will complain
        return {}
    rows = [row for row in rows if len(row) == len(names)]
    return {name: [row[names.index(name)] for row in rows] for name in some}


def sniffed(header: str) -> tuple[list[str], str]:
    """Return the cells of a header, and the delimiter that makes the most of them."""
    start = header[: 1 << 16]  # csv has a limit, of which the whole reading will complain
    options = [(next(csv.reader([start], delimiter=mark), []), mark) for mark in DELIMITERS]
    cells, mark = max(options, key=lambda option: len(option[0]))
    return [cell.strip() for cell in cells], mark


def read_csv(source: Source, roles: Roles, reading: Reading, delimiter: str | None) -> Cases:
    """Read a table in text."""
    table = csv_rows(source, roles, delimiter)
    rows = ((line, table.roles(cells)) for line, cells, _ in table)
    return gathered(rows, table.columns, reading, f"{source.name} line")


def read_parquet(source: Source, roles: Roles, reading: Reading) -> Corpus:
    """Read the columns that are needed from a Parquet file: a row an event, or a narrative."""
    file = parquet_file(source)
    lists = list_columns(file.schema_arrow, roles, source.name)
    used = lists or parquet_columns(file, roles, source.name).used
    with parquet_errors(source.name):
        table = file.read(columns=[name for name in used if name])
    if lists is None:
        return read_frame(table, roles, reading, source.name).corpus()
    events, domain = lists
    told = table.column(events).to_pylist()
    domains = table.column(domain).to_pylist() if domain else [None] * len(told)
    records = zip(told, domains, strict=True)
    return from_items(({"events": one, "domain": of} for one, of in records), "", source.name + " ")


def parquet_columns(file: Any, roles: Roles, where: str) -> Columns:
    """Find the columns of a Parquet file."""

    def cells(some: list[str]) -> dict[str, list[Any]]:
        with parquet_errors(where):
            batch = next(file.iter_batches(batch_size=FIRST_CELLS, columns=some), None)
        return {} if batch is None else first_cells(known_frame(batch, where), some, where)

    return choose(file.schema_arrow.names, roles, where, cells)


def list_columns(schema: Any, roles: Roles, where: str) -> tuple[str, str | None] | None:
    """Return the columns of the lists of events and of the domain; None if there are no lists.

    The lists are in the column ``events``, or in the one that is named for the activity.
    """
    name = roles["activity"] or "events"
    if name not in schema.names or "list<" not in str(schema.field(name).type):
        return None
    domain = roles["domain"]
    if domain and domain not in schema.names:
        problem = f"no column {shown(domain)} for the domain"
        raise InputError(problem, where=where, hint="give one of the columns as domain=")
    if domain is None and "domain" in schema.names:
        domain = "domain"
    return name, domain or None


def parquet_file(source: Source) -> Any:
    """Return a Parquet file with all of its bytes in memory.

    Raises
    ------
    InputError
        Where it is none, or pyarrow is not installed.
    """
    pa, pq = arrow(source.name)
    content = source.stream.read()
    with parquet_errors(source.name):
        return pq.ParquetFile(pa.BufferReader(content))


@contextmanager
def parquet_errors(where: str) -> Iterator[None]:
    """Turn what pyarrow says of a file into one line."""
    pa, _ = arrow(where)
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"not valid Parquet: {one_line(error)}", where=where) from None


def arrow(where: str, what: str = "Parquet") -> tuple[Any, Any]:
    """Return pyarrow and its part for Parquet.

    Raises
    ------
    InputError
        Where it is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional part, and slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415 - the same
    except ImportError:
        raise InputError(
            f"{what} needs pyarrow, which is not installed",
            where=where,
            hint="pip install 'elision[files]'",
        ) from None
    return pa, pq


def read_frame(native: Any, roles: Roles, reading: Reading, name: str) -> Cases:
    """Read a data frame, eager or lazy."""
    frame = known_frame(native, name)
    with failures(name):
        names = frame.collect_schema().names()
    columns = choose(names, roles, name, lambda some: first_cells(frame, some, name))
    return frame_cases(collected(frame.select(columns.used), name), columns, reading, name)


def frame_cases(
    frame: nw.DataFrame[Any], columns: Columns, reading: Reading, name: str, first: int = 0
) -> Cases:
    """Gather the rows of a frame whose columns are known; `first` is the number of its first."""
    values: list[list[object]] = []
    form: Form | None = None
    for role in columns.roles:
        where = f"{name}, column {shown(role)}"
        if role is None:
            values.append([None] * len(frame))
        elif role == columns.time:
            found, form = times_of(frame[role], where)
            values.append(found)
        else:
            values.append(labels_of(frame[role], where))
    cells = zip(*values, strict=True)
    cases = gathered(enumerate(cells, first), columns, reading, f"{name} row index")
    cases.form = form
    return cases


def gathered(rows: Iterable[Row], columns: Columns, reading: Reading, place: str) -> Cases:
    """Gather the rows of each case, in order of first appearance."""

    def refuse(number: int, column: str | None, value: object) -> NoReturn:
        raise no_label(value, f"{place} {number}, column {shown(column)}")

    numbers: list[int] = []
    cases = Cases(
        reading,
        lambda row: f"{place} {numbers[row]}, column {shown(columns.time)}",
        f"{place.rpartition(' ')[0].removesuffix(' row')}, column {shown(columns.time)}",
    )
    cases.lifecycle = None if columns.lifecycle == LIFECYCLE_KEY else columns.lifecycle
    for number, (case, activity, time, domain, phase) in rows:
        case_text, activity_text = label_of(case), label_of(activity)
        if case_text is None:
            refuse(number, columns.case, case)
        if activity_text is None:
            refuse(number, columns.activity, activity)
        if columns.time is not None and time is None:
            raise no_time(time, f"{place} {number}, column {shown(columns.time)}")
        numbers.append(number)
        known = cases.number(label_of(domain) or "", case_text)
        cases.add(known, activity_text, time, label_of(phase))
    return cases


def no_label(value: object, where: str) -> InputError:
    """Return the complaint that a cell names no case or event."""
    is_empty = value is None or (isinstance(value, float) and math.isnan(value))
    is_empty |= isinstance(value, str) and not value.strip()
    hint = "fill it in, or leave out such rows" if is_empty else "write such values as text"
    return InputError(f"{shown(value)}; expected text or a whole number", where=where, hint=hint)


def label_of(value: object) -> str | None:
    """Return the text of a cell, or None where it holds none.

    Whole numbers are written alike: a column of them has floats where one is missing.

    Examples
    --------
    >>> label_of("a"), label_of(1), label_of(1.0), label_of(1.5), label_of(" ")
    ('a', '1', '1', None, None)
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_WHOLE:
        return str(int(value))
    if value is None or isinstance(value, bool) or not isinstance(value, Integral):
        return None
    try:
        return str(value)
    except ValueError:  # thousands of digits, which Python does not write
        return None
