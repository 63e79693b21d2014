"""Long tables, one row an event: CSV and TSV, Parquet, data frames; read by polars."""

from __future__ import annotations

import csv
import io
import math
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision._backends import silenced
from elision.errors import InputError, shown
from elision.io.cases import Cases, in_order
from elision.io.columns import FIRST_CELLS, LIFECYCLE_KEY, Columns, choose
from elision.io.records import from_items
from elision.io.source import HEAD, one_line
from elision.io.times import no_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from elision.io.cases import Known, Reading
    from elision.io.columns import Roles
    from elision.io.source import Source
    from elision.values.corpus import Corpus

DELIMITERS = ",;\t|"
LARGEST_WHOLE = 2**53
"""Larger floats are no longer each a whole number of its own."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose columns are to be chosen.

    Attributes
    ----------
    name
        How messages call it.
    names
        Its columns; two may have one name.
    column
        Gives one of them by its number, as polars has it.
    place
        How messages call a row, by its number.
    head
        How they call the line of names.
    """

    name: str
    names: list[Any]
    column: Callable[[int], pl.Series]
    place: Callable[[int], str]
    head: str

    def columns(self, roles: Roles) -> Columns:
        """Find the columns of case, activity, time and domain."""
        return choose(self.names, roles, self.head, self._first)

    def _first(self, some: list[str]) -> dict[str, list[Any]]:
        found = {name: self.column(self.names.index(name)) for name in some}
        return {name: one.head(FIRST_CELLS).to_list() for name, one in found.items()}

    def cases(self, columns: Columns, reading: Reading, known: Known | None = None) -> Cases:
        """Return the rows by cases.

        Raises
        ------
        InputError
            Where a row has no case, no activity or no time.
        """
        import polars as pl  # noqa: PLC0415 - slow to import

        def place(row: int, name: str | None) -> str:
            return f"{self.place(row)}, column {shown(name)}"

        given = {
            role: None if name is None else self.column(self.names.index(name))
            for role, name in zip(
                ("case", "activity", "time", "domain", "phase"), columns.roles, strict=True
            )
        }
        made = {}
        for role, one in given.items():
            if role != "time" and one is not None:
                with failures(f"{self.name}, column {shown(one.name)}"):
                    made[role] = labels(one)
        lacking = []
        for role in ("case", "activity"):
            if made[role].null_count():
                row = made[role].is_null().arg_true()[0]
                lacking.append((row, getattr(columns, role), _cell(given[role], row)))
        if lacking:
            row, name, value = min(lacking, key=lambda one: one[0])
            raise no_label(value, place(row, name))
        if given["time"] is not None:
            made["time"] = _times(given["time"], lambda row: place(row, columns.time))
        rows = pl.DataFrame(made)
        rows = rows.with_columns(
            pl.lit(None, pl.String).alias(name)
            for name in ("time", "phase", "domain")
            if name not in made
        ).with_columns(pl.col("domain").fill_null(""))
        lifecycle = None if columns.lifecycle == LIFECYCLE_KEY else columns.lifecycle
        where = f"{self.name}, column {shown(columns.time)}"
        return in_order(
            rows, reading, lambda row: place(row, columns.time), where, lifecycle, known
        )


def _cell(column: Any, row: int) -> object:
    """Return what stands in a cell, as messages show it."""
    if column.dtype.is_temporal():
        return _Mark(column.dtype)
    return column[row]


class _Mark:
    """Stands for a date or a duration where text is expected."""

    def __init__(self, kind: object) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"a {self._kind}"


def labels(column: pl.Series) -> pl.Series:
    """Return the texts of a column, null where a cell holds none.

    Whole numbers are written alike: a column of them has floats where one is missing.

    Examples
    --------
    >>> import polars as pl
    >>> labels(pl.Series(["a", " ", None])).to_list(), labels(pl.Series([1.0, 1.5])).to_list()
    (['a', None, None], ['1', None])
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    if column.dtype == pl.Object:
        return pl.Series(column.name, [_label(value) for value in column], dtype=pl.String)
    made = label(pl.col(column.name), column.dtype)
    return column.to_frame().with_columns(made.alias(column.name)).to_series()


def label(one: pl.Expr, dtype: Any) -> pl.Expr:
    """Return the texts of a column of this type, as `labels` does."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if dtype in (pl.String, pl.Categorical) or isinstance(dtype, pl.Enum):
        text = one.cast(pl.String)
        return pl.when(text.str.strip_chars() != "").then(text)
    if dtype.is_integer():
        return one.cast(pl.String)
    if dtype.is_float():
        whole = (one == one.floor()) & (one.abs() <= LARGEST_WHOLE)
        return pl.when(whole).then(one).cast(pl.Int64, strict=False).cast(pl.String)
    return pl.lit(None, pl.String)


def _label(value: object) -> str | None:
    """Return the text of a cell of a column of anything, or None where it holds none."""
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


def _times(column: pl.Series, place: Callable[[int], str]) -> pl.Series:
    """Return times as text, or as the dates that they are.

    Raises
    ------
    InputError
        Where a row has none.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    dtype = column.dtype
    if dtype == pl.Object:
        values = [None if value is None or value != value else str(value) for value in column]  # noqa: PLR0124
        column = pl.Series(column.name, values, dtype=pl.String)
    elif dtype in (pl.Duration, pl.Time) or dtype == pl.Boolean or dtype.is_nested():
        raise no_time(_Mark(dtype), place(0))
    elif not dtype.is_temporal():
        column = column.cast(pl.String)
    if column.null_count():
        raise no_time(None, place(column.is_null().arg_true()[0]))
    return column


def no_label(value: object, where: str) -> InputError:
    """Return the complaint that a cell names no case or event."""
    is_empty = value is None or (isinstance(value, float) and math.isnan(value))
    is_empty |= isinstance(value, str) and not value.strip()
    hint = "fill it in, or leave out such rows" if is_empty else "write such values as text"
    return InputError(f"{shown(value)}; expected text or a whole number", where=where, hint=hint)


# ---- text


def sniffed(header: str) -> tuple[list[str], str]:
    """Return the cells of a header, and the delimiter that makes the most of them."""
    start = header[: 1 << 16]  # csv has a limit
    options = [(next(csv.reader([start], delimiter=mark), []), mark) for mark in DELIMITERS]
    cells, mark = max(options, key=lambda option: len(option[0]))
    return [cell.strip() for cell in cells], mark


@dataclass(frozen=True, slots=True)
class Text:
    """A table in text as it stands.

    Attributes
    ----------
    content
        All of it, in UTF-8 without a byte order mark; or the file that has it.
    names
        Its columns.
    delimiter
        What stands between cells.
    name
        How messages call it.
    """

    content: bytes | Path
    names: list[str]
    delimiter: str
    name: str

    def _lines(self) -> io.TextIOWrapper:
        if isinstance(self.content, Path):
            return self.content.open(encoding="utf-8-sig", newline="")
        return io.TextIOWrapper(io.BytesIO(self.content), "utf-8", newline="")

    def rows(self) -> Iterator[tuple[int, list[str], str]]:
        """Go through the line of names and the rows: number of the line, cells, and as it stands.

        Blank lines, and rows of nothing but delimiters, stand with the row after them; those at the
        end of all with no cells.

        Raises
        ------
        InputError
            Where the text is no table, at its line.
        """
        taken: list[str] = []

        def noted() -> Iterator[str]:
            with self._lines() as lines:
                for line in lines:
                    taken.append(line)
                    yield line

        # Strict: a quote that is never closed would otherwise swallow the rest of the file unseen.
        reader = csv.reader(noted(), delimiter=self.delimiter, strict=True)
        try:
            for row in reader:
                if any(row):
                    if len(row) != len(self.names):
                        problem = f"{len(row)} cells; expected {len(self.names)} as in the header"
                        raise InputError(problem, where=f"{self.name} line {reader.line_num}")
                    yield reader.line_num, row, "".join(taken)
                    taken.clear()
            if taken:
                yield reader.line_num, [], "".join(taken)
        except csv.Error as error:
            place = f"{self.name} line {reader.line_num}"
            raise InputError(f"not valid CSV: {error}", where=place) from None

    def ragged(self) -> Iterator[list[str]]:
        """Go through the rows, of however many cells."""
        try:
            with self._lines() as lines:
                yield from csv.reader(lines, delimiter=self.delimiter)
        except csv.Error as error:
            raise InputError(f"not valid CSV: {error}", where=self.name) from None

    def frame(self) -> pl.DataFrame:
        """Return the rows, all columns as text, named by their numbers."""
        import polars as pl  # noqa: PLC0415 - slow to import

        names = [str(number) for number in range(len(self.names))]
        if not names:
            return pl.DataFrame()
        found = None
        with suppress(pl.exceptions.PolarsError):  # what is wrong with it, the slow way says
            found = pl.read_csv(
                self.content,
                separator=self.delimiter,
                infer_schema=False,
                new_columns=names,
                raise_if_empty=False,
            )
        # A row with too few cells ends in nulls, like one whose last cells are empty.
        if found is None or found.columns != names or found[names[-1]].null_count():
            rows = [row for _, row, _ in self.rows() if row][1:]
            return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
        return found.filter(~pl.all_horizontal(pl.all().is_null())).with_columns(
            pl.all().fill_null("")
        )

    def named_frame(self) -> pl.DataFrame:
        """Return the rows with the names of the columns; null for cells that are empty."""
        import polars as pl  # noqa: PLC0415 - slow to import

        frame = self.frame().select(pl.when(pl.all() != "").then(pl.all()))
        names: dict[str, None] = {}
        for name in self.names:  # of columns that are called the same, the later ones are numbered
            free, number = name, 1
            while free in names:
                number += 1
                free = f"{name} ({number})"
            names[free] = None
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def place(self, row: int) -> str:
        """Return how messages call a row."""
        for number, (line, _, _) in enumerate(self.rows(), -1):
            if number == row:
                return f"{self.name} line {line}"
        return self.name

    def table(self) -> Table:
        """Return the table."""
        frame = self.frame()
        names: list[Any] = self.names
        return Table(self.name, names, frame.to_series, self.place, f"{self.name} line 1")


def text_of(source: Source, delimiter: str | None, *, beginning: bool = False) -> Text:
    """Return a table in text, the delimiter found in the header where it is not given.

    With ``beginning`` only its first lines are read.
    """
    if beginning:
        whole = len(source.head) < HEAD
        head = source.head if whole else source.head[: source.head.rfind(b"\n") + 1] or source.head
        source = replace(source, stream=io.BufferedReader(io.BytesIO(head)))
    if source.encoding == "utf-8-sig":
        content = source.stream.read().removeprefix(b"\xef\xbb\xbf")
        try:
            content.decode()
        except UnicodeDecodeError:
            # The lines say where.
            again = replace(source, stream=io.BufferedReader(io.BytesIO(content)))
            content = again.text().encode()
    else:
        content = source.text().removeprefix("\ufeff").encode()
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    header = next(lines, "")
    mark = delimiter or sniffed(header)[1]
    try:
        names = next(csv.reader(chain([header], lines), delimiter=mark, strict=True), [])
    except csv.Error as error:
        raise InputError(f"not valid CSV: {error}", where=f"{source.name} line 1") from None
    return Text(content, [name.strip() for name in names], mark, source.name)


def read_csv(source: Source, roles: Roles, reading: Reading, delimiter: str | None) -> Corpus:
    """Read a table in text."""
    table = text_of(source, delimiter).table()
    return table.cases(table.columns(roles), reading).corpus()


# ---- Parquet


def read_parquet(source: Source, roles: Roles, reading: Reading) -> Corpus:
    """Read the columns that are needed from a Parquet file: a row an event, or a narrative."""
    table = parquet_table(source)
    if not is_of_lists(table, roles):
        return table.cases(table.columns(roles), reading).corpus()
    told = table.column(table.names.index(roles["activity"] or "events")).to_list()
    domain = roles["domain"]
    if domain and domain not in table.names:
        problem = f"no column {shown(domain)} for the domain"
        raise InputError(problem, where=source.name, hint="give one of the columns as domain=")
    if domain is None and "domain" in table.names:
        domain = "domain"
    domains = table.column(table.names.index(domain)).to_list() if domain else [None] * len(told)
    records = ({"events": one, "domain": of} for one, of in zip(told, domains, strict=True))
    return from_items(records, "", source.name + " ")


def parquet_table(source: Source, *, beginning: bool = False) -> Table:
    """Return a Parquet file, each column of which is read when it is asked for."""
    import polars as pl  # noqa: PLC0415 - slow to import

    content = io.BytesIO(source.stream.read())
    with failures(source.name, "not valid Parquet"), silenced():
        names = [*pl.read_parquet_schema(content)]
    rows = FIRST_CELLS if beginning else None

    def column(number: int) -> pl.Series:
        with failures(source.name, "not valid Parquet"), silenced():
            content.seek(0)
            return pl.read_parquet(content, columns=[number], n_rows=rows).to_series()

    return Table(
        source.name, names, column, lambda row: f"{source.name} row index {row}", source.name
    )


def parquet_rows(source: Source) -> int:
    """Return how many rows a Parquet file says that it has."""
    import polars as pl  # noqa: PLC0415 - slow to import

    with failures(source.name, "not valid Parquet"), silenced():
        frame = pl.scan_parquet(io.BytesIO(source.stream.read())).select(pl.len()).collect()
    return int(frame.item())


def parquet_frame(source: Source) -> pl.DataFrame:
    """Return all of a Parquet file."""
    import polars as pl  # noqa: PLC0415 - slow to import

    with failures(source.name, "not valid Parquet"), silenced():
        return pl.read_parquet(io.BytesIO(source.stream.read()))


def is_of_lists(table: Table, roles: Roles) -> bool:
    """Whether a row is a narrative: its events are a list, in ``events`` or where it was said."""
    import polars as pl  # noqa: PLC0415 - slow to import

    name = roles["activity"] or "events"
    if name not in table.names:
        return False
    return isinstance(table.column(table.names.index(name)).dtype, pl.List)


# ---- frames


@contextmanager
def failures(where: str, problem: str = "cannot be read") -> Iterator[None]:
    """Turn whatever a library of frames raises into one line."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except BaseException as error:  # each library has exceptions of its own
        # What polars, which is in Rust, calls a panic is no Exception.
        if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
            raise
        said = one_line(error)[:200] or type(error).__name__
        raise InputError(f"{problem}: {said}", where=where) from None


def collected(native: Any, name: str) -> Any:
    """Return a frame of pandas, polars or pyarrow, eager or lazy, as narwhals has it.

    Raises
    ------
    InputError
        Where it is none.
    """
    import narwhals as nw  # noqa: PLC0415 - slow to import

    if type(native).__name__ == "RecordBatch" and hasattr(native, "schema"):
        import pyarrow as pa  # noqa: PLC0415 - it is imported, as somebody has made a batch

        native = pa.Table.from_batches([native])
    try:
        frame: Any = nw.from_native(native)
    except TypeError:
        hint = "give a pandas, polars or pyarrow frame"
        raise InputError(f"{shown(native)} is not a known frame", where=name, hint=hint) from None
    except nw.exceptions.NarwhalsError as error:
        raise InputError(one_line(error), where=name) from None
    with failures(name):
        return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def frame_table(native: Any, name: str) -> Table:
    """Return a frame of pandas, polars or pyarrow, eager or lazy, as a table.

    Raises
    ------
    InputError
        Where it is none.
    """
    frame = collected(native, name)
    with failures(name):
        names = [*frame.columns]

    def column(number: int) -> pl.Series:
        with failures(f"{name}, column {shown(names[number])}"):
            return as_polars(frame[:, number])

    return Table(name, names, column, lambda row: f"{name} row index {row}", name)


def as_polars(series: Any) -> pl.Series:
    """Return a column of any library as one of polars; of objects where it has no type for them."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if isinstance(series.to_native(), pl.Series):
        return series.to_native()
    nulls = series.is_null()
    try:
        found: pl.Series = series.to_polars()
        if found.null_count() >= nulls.sum():
            return found
    except Exception:  # noqa: BLE001, S110 - each library has exceptions of its own
        pass
    pairs = zip(series.to_list(), nulls.to_list(), strict=True)
    values = [None if null else value for value, null in pairs]
    return pl.Series(series.name, values, dtype=pl.Object)


def read_frame(native: Any, roles: Roles, reading: Reading, name: str) -> Corpus:
    """Read a data frame."""
    table = frame_table(native, name)
    return table.cases(table.columns(roles), reading).corpus()
