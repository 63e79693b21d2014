"""Long tables, one row an event: CSV and TSV, Parquet, data frames."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, NoReturn

from elision.errors import InputError, relocated, shown
from elision.readers.cases import Cases, Clock, Lifecycle, Logged
from elision.readers.columns import Columns, choose
from elision.readers.source import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import narwhals as nw

    from elision.corpus import Corpus
    from elision.readers.columns import Roles
    from elision.readers.source import Source

    # The number of the row, then its cells in the order of `Columns.roles`.
    Row = tuple[int, Iterable[object]]

DELIMITERS = ",;\t|"


def read_csv(source: Source, roles: Roles, lifecycle: Lifecycle, delimiter: str | None) -> Corpus:
    """Read a table in text; the delimiter is found in the header where it is not given."""
    lines = source.lines(newline="")
    header = next(lines, "")
    mark = delimiter or sniffed(header)[1]
    # Strict: a quote that is never closed would otherwise swallow the rest of the file unseen.
    reader = csv.reader(chain([header], lines), delimiter=mark, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        columns = choose(names, roles, f"{source.name} line 1")
        rows = _csv_rows(reader, names, columns, source.name)
        return _corpus(rows, columns, lifecycle, f"{source.name} line")
    except csv.Error as error:
        place = f"{source.name} line {reader.line_num}"
        raise InputError(f"not valid CSV: {error}", where=place) from None


def sniffed(header: str) -> tuple[list[str], str]:
    """Return the cells of a header, and the delimiter that makes the most of them."""
    start = header[: 1 << 16]  # csv has a limit, of which the whole reading will complain
    options = [(next(csv.reader([start], delimiter=mark), []), mark) for mark in DELIMITERS]
    cells, mark = max(options, key=lambda option: len(option[0]))
    return [cell.strip() for cell in cells], mark


def _csv_rows(reader: Any, names: list[str], columns: Columns, name: str) -> Iterator[Row]:
    places = [None if role is None else names.index(role) for role in columns.roles]
    for row in reader:
        if len(row) == len(names):
            yield reader.line_num, [None if place is None else row[place] for place in places]
        elif row:
            problem = f"{len(row)} cells; expected {len(names)} as in the header"
            raise InputError(problem, where=f"{name} line {reader.line_num}")


def read_parquet(source: Source, roles: Roles, lifecycle: Lifecycle) -> Corpus:
    """Read the columns that are needed from a Parquet file."""
    with parquet_file(source) as file:
        columns = choose(file.schema_arrow.names, roles, source.name)
        table = file.read(columns=columns.used)
    return read_frame(table, roles, lifecycle, source.name)


@contextmanager
def parquet_file(source: Source) -> Iterator[Any]:
    """Open a Parquet file, and complain in one line of whatever is wrong in it.

    Raises
    ------
    InputError
        If it is none, or pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional part, and slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415 - the same
    except ImportError:
        raise InputError(
            "reading Parquet needs pyarrow, which is not installed",
            where=source.name,
            hint="pip install 'elision[files]'",
        ) from None
    try:
        yield pq.ParquetFile(pa.BufferReader(source.stream.read()))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"not valid Parquet: {one_line(error)}", where=source.name) from None


def is_frame(source: object) -> bool:
    """Whether something has columns, as the frames of every library have."""
    # The type is asked, because a lazy frame begins to work when it is asked for its columns.
    return hasattr(type(source), "columns") or hasattr(type(source), "column_names")


def read_frame(native: Any, roles: Roles, lifecycle: Lifecycle, name: str) -> Corpus:
    """Read a data frame of any library that narwhals knows, eager or lazy."""
    import narwhals as nw  # noqa: PLC0415 - slow to import, and only frames need it

    try:
        frame = nw.from_native(native)
    except TypeError:
        hint = "give a pandas, polars or pyarrow frame"
        raise InputError(f"{shown(native)} is not a known frame", where=name, hint=hint) from None
    except nw.exceptions.NarwhalsError as error:
        raise InputError(one_line(error), where=name) from None
    columns = choose(frame.collect_schema().names(), roles, name)
    picked = frame.select(columns.used)
    eager = picked.collect() if isinstance(picked, nw.LazyFrame) else picked
    values = [
        None if role is None else _values(eager[role], is_time=role == columns.time)
        for role in columns.roles
    ]
    absent: list[object] = [None] * len(eager)
    cells = zip(*(absent if column is None else column for column in values), strict=True)
    return _corpus(enumerate(cells), columns, lifecycle, f"{name} row index")


def _values(series: nw.Series[Any], *, is_time: bool) -> list[object]:
    """Return the values, with None for each of the ways that libraries have to say null."""
    import narwhals as nw  # noqa: PLC0415 - as above

    nulls = series.is_null()
    if is_time and isinstance(series.dtype, nw.Datetime):
        # Some libraries cannot give nanoseconds as Python times.
        series = series.dt.timestamp("us")
    values: list[object] = series.to_list()
    if nulls.any():
        pairs = zip(values, nulls.to_list(), strict=True)
        values = [None if null else value for value, null in pairs]
    return values


def _corpus(rows: Iterable[Row], columns: Columns, lifecycle: Lifecycle, place: str) -> Corpus:
    """Gather the rows of each case, in order of first appearance."""

    def refuse(number: int, column: str | None, value: object) -> NoReturn:
        raise InputError(
            f"{shown(value)}; expected text or a whole number",
            where=f"{place} {number}, column {shown(column)}",
        )

    clock = Clock()
    found: dict[tuple[str, str], list[Logged]] = {}
    for number, (case, activity, time, domain, phase) in rows:
        case_text, activity_text = _label(case), _label(activity)
        if case_text is None:
            refuse(number, columns.case, case)
        if activity_text is None:
            refuse(number, columns.activity, activity)
        try:
            moment = None if columns.time is None else clock.read(time)
        except InputError as error:
            where = f"{place} {number}, column {shown(columns.time)}"
            raise relocated(error, where) from None
        logged = Logged(activity_text, moment, _label(phase))
        found.setdefault((_label(domain) or "", case_text), []).append(logged)
    cases = Cases(lifecycle)
    for (domain_text, case_text), events in found.items():
        cases.add(domain_text, case_text, events)
    return cases.corpus()


def _label(value: object) -> str | None:
    """Return the text of a cell, or None where it holds none."""
    if isinstance(value, str):
        return value if value.strip() else None
    if value is None or isinstance(value, bool) or not isinstance(value, Integral):
        return None
    return str(value)
