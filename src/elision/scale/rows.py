"""Event logs in parts: rows of CSV and Parquet as numbers, by the cases that they belong to."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import kernels
from elision.errors import InputError, shown
from elision.readers.cases import FINISHED, Reading
from elision.readers.frames import known_frame, times_of
from elision.readers.source import opened
from elision.readers.table import (
    arrow,
    csv_rows,
    label_of,
    no_label,
    parquet_columns,
    parquet_errors,
)
from elision.readers.times import Dated, Numbers, TimeColumn, no_time
from elision.scale.slices import Slice, batches, cut_lines, cut_row_groups, is_plain, lines_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from elision.readers.columns import Columns, Roles
    from elision.readers.times import Form


@dataclass(frozen=True, slots=True)
class Log:
    """A slice of a file whose rows are events.

    Attributes
    ----------
    slice
        Where.
    columns
        Which column is what.
    names
        All columns, in text.
    delimiter
        What stands between cells, in text.
    reading
        How rows are read.
    """

    slice: Slice
    columns: Columns
    reading: Reading
    names: tuple[str, ...] = ()
    delimiter: str = ","


class Events(NamedTuple):
    """Some rows of a log as numbers.

    Attributes
    ----------
    case
        (rows, 2): hashes of the case and its domain, which are as good as the case.
    symbol, names
        Activities as numbers, and what these stand for.
    domain, domains
        Domains as numbers, and what these stand for.
    finished
        Whether an event counts in a log in which any is complete.
    ends
        Whether any event is complete.
    moments
        When each event was, in each form of time stamps that these rows may have.
    differing
        A time stamp that means different moments in these forms.
    """

    case: NDArray[np.uint64]
    symbol: NDArray[np.uint32]
    names: tuple[str, ...]
    domain: NDArray[np.uint32]
    domains: tuple[str, ...]
    finished: NDArray[np.bool_]
    ends: bool
    moments: dict[str, NDArray[Any]]
    differing: object


def cut_log(one: Slice, roles: Roles, reading: Reading, limit: int) -> list[Log]:
    """Cut an event log; text with quotes stays whole, as lines may end within them."""
    if one.kind == "parquet":
        _, pq = arrow(str(one.path))
        with parquet_errors(str(one.path)):
            columns = parquet_columns(pq.ParquetFile(one.path), roles, str(one.path))
        return [Log(cut, columns, reading) for cut in cut_row_groups(one, limit)]
    arrow(str(one.path), "packing a table")
    with opened(one.path, one.encoding) as file:
        table = csv_rows(file, roles, "\t" if one.kind == "tsv" else None)
    log = Log(one, table.columns, reading, tuple(table.names), table.delimiter)
    if not is_plain(one) or _has_quotes(one):
        return [log]
    return [replace(log, slice=cut) for cut in cut_lines(one, limit)]


def _has_quotes(one: Slice) -> bool:
    with one.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as all_:
        return all_.find(b'"') >= 0


def events_in(log: Log) -> Iterator[Events]:
    """Go through the rows of a slice of a log."""
    if log.slice.kind == "parquet":
        for first, batch in batches(log.slice, log.columns.used):
            yield _events(log, batch, first)
        return
    first = 0
    for batch in _csv_batches(log):
        if len(batch):
            yield _events(log, batch, first)
        first += len(batch)


def _csv_batches(log: Log) -> Iterator[Any]:
    pa, _ = arrow(str(log.slice.path), "packing a table")
    from pyarrow import csv  # noqa: PLC0415 - an optional part, and slow to import

    whole = log.slice.first is None
    encoding = "utf8" if is_plain(log.slice) else log.slice.encoding
    reading = csv.ReadOptions(
        column_names=list(log.names),
        skip_rows=0 if log.slice.first else 1,
        block_size=max(1 << 16, min(log.slice.at_once, 1 << 26)),
        encoding=encoding,
        use_threads=False,
    )
    parsing = csv.ParseOptions(
        delimiter=log.delimiter, newlines_in_values=whole, quote_char='"' if whole else False
    )
    converting = csv.ConvertOptions(
        include_columns=log.columns.used,
        column_types=dict.fromkeys(log.columns.used, pa.string()),
        strings_can_be_null=False,
    )
    options = {"read_options": reading, "parse_options": parsing, "convert_options": converting}
    try:
        with opened(log.slice.path, log.slice.encoding) as file:
            if log.slice.first is None or log.slice.last is None:
                stream: Any = file.stream
            else:
                content = lines_between(log.slice.path, log.slice.first, log.slice.last)
                if content.count(b"\n", 0, -1) < reading.skip_rows:
                    return
                stream = pa.BufferReader(content)
            yield from csv.open_csv(stream, **options)
    except (pa.ArrowException, UnicodeError) as error:
        _complain(log)
        problem = f"not valid CSV: {' '.join(str(error).split())[:200]}"
        raise InputError(problem, where=str(log.slice.path)) from None


def _complain(log: Log) -> None:
    """Say what is wrong with a table in text as the usual reader does, if that finds anything."""
    columns = log.columns
    with opened(log.slice.path, log.slice.encoding) as file:
        found = zip(("case", "activity", "time", "domain"), columns.roles, strict=False)
        roles: Roles = {role: name or "" for role, name in found}
        table = csv_rows(file, roles, log.delimiter)
        for line, cells, _ in table:
            for role, cell in zip(columns.roles[:2], table.roles(cells)[:2], strict=True):
                if label_of(cell) is None:
                    where = f"{log.slice.path} line {line}, column {shown(role)}"
                    raise no_label(cell, where)


def _events(log: Log, batch: Any, first: int) -> Events:
    columns = log.columns
    case_code, cases = _labels(log, batch, columns.case, first)
    symbol, names = _labels(log, batch, columns.activity, first)
    domain = np.zeros(len(batch), np.uint32)
    domains: tuple[str, ...] = ("",)
    if columns.domain is not None:
        domain, domains = _labels(log, batch, columns.domain, first, optional=True)
    finished, ends = np.ones(len(batch), bool), False
    if columns.lifecycle is not None:
        phase, phases = _labels(log, batch, columns.lifecycle, first, optional=True)
        folded = [one.lower() for one in phases]
        finished = np.array([one in FINISHED for one in folded] or [True])[phase]
        ends = "complete" in folded
    moments: dict[str, NDArray[Any]] = {}
    differing: object = None
    if columns.time is not None:
        moments, differing = _moments(log, batch, first)
    case = _hashes(cases)[case_code]
    case ^= _hashes(domains)[domain] * np.uint64(0x9E3779B97F4A7C15)
    return Events(case, symbol, names, domain, domains, finished, ends, moments, differing)


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash texts to 128 bits each."""
    content = [text.encode(errors="surrogatepass") for text in texts]
    offset = np.concatenate([[0], np.cumsum([len(one) for one in content])]).astype(np.int64)
    joined = np.frombuffer(b"".join(content), np.uint8)
    found = np.zeros((2, len(texts)), np.uint64)
    for number, start in enumerate((0x243F6A8885A308D3, 0x13198A2E03707344)):
        kernels.packing.byte_hashes(joined, offset, np.uint64(start), found[number])
    return np.ascontiguousarray(found.T)


def _labels(
    log: Log, batch: Any, column: str, first: int, *, optional: bool = False
) -> tuple[NDArray[np.uint32], tuple[str, ...]]:
    """Return a column of labels as numbers, and the labels; "" for none where that may be."""
    values = batch.column(column)
    coded = values if hasattr(values, "dictionary") else values.dictionary_encode()
    labels = [label_of(value) for value in coded.dictionary.to_pylist()]
    index = coded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    labels.append(None)
    bad = np.array([label is None for label in labels])[index]
    if bad.any() and not optional:
        if log.slice.kind != "parquet":
            _complain(log)
        row = int(np.flatnonzero(bad)[0])
        where = f"{log.slice.path} row index {first + row}, column {shown(column)}"
        raise no_label(values[row].as_py(), where)
    # Two values may have one label, as 1 and "1" of a union have, and all that have none.
    names = tuple(dict.fromkeys(label or "" for label in labels))
    number = {name: code for code, name in enumerate(names)}
    code = np.array([number[label or ""] for label in labels], np.uint32)
    return code[index], names


def _moments(log: Log, batch: Any, first: int) -> tuple[dict[str, NDArray[Any]], object]:
    """Return when rows were, in each form of time stamps that all of them have."""
    pa, _ = arrow(str(log.slice.path), "packing a table")
    column = log.columns.time
    values = batch.column(column)
    where = f"{log.slice.path}, column {shown(column)}"
    if pa.types.is_string(values.type) and log.reading.time_format is None:
        quickly = _iso(pa, values)
        if quickly is not None:
            return quickly, None
    frame: Any = known_frame(batch.select([column]), str(log.slice.path))

    def place(row: int) -> str:
        if log.slice.kind == "parquet":
            return f"{log.slice.path} row index {first + row}, column {shown(column)}"
        begins = f" after byte {log.slice.first}" if log.slice.first else " below the header"
        return f"{log.slice.path} row {first + row + 1}{begins}, column {shown(column)}"

    times, form = times_of(frame[column], where)
    if None in times:
        raise no_time(None, place(times.index(None)))
    if form is not None:
        return {f"ticks {form.unit} {form.zone is not None}": np.array(times, np.int64)}, None  # type: ignore[attr-defined]
    different = list(dict.fromkeys(times))
    row_of = {value: row for row, value in reversed([*enumerate(times)])}
    seen = TimeColumn(log.reading.time_format)
    found = seen.see(different, lambda number: place(row_of[different[number]]))
    number = {value: code for code, value in enumerate(different)}
    code = np.fromiter((number[value] for value in times), np.int64, len(times))
    kind = seen.kind
    moments = {f"{_name(form)} {kind}": _numbers(values)[code] for form, values in found}
    return moments, seen.differing


def _name(form: Form) -> str:
    if isinstance(form, Dated):
        return form.order
    return "number" if isinstance(form, Numbers) else "given"


def _numbers(moments: Sequence[float]) -> NDArray[Any]:
    try:
        if all(isinstance(one, int) for one in moments):
            return np.array(moments, np.int64)
    except OverflowError:
        pass
    return np.array(moments, np.float64)


def _iso(pa: Any, values: Any) -> dict[str, NDArray[Any]] | None:
    """Read dates in ISO 8601, with a zone or without, if all are such."""
    for zone, kind in ((None, "time without a zone"), ("UTC", "time with a zone")):
        try:
            found = values.cast(pa.timestamp("us", zone))
        except pa.ArrowInvalid:
            continue
        return {f"ymd {kind}": found.cast(pa.int64()).to_numpy(zero_copy_only=False)}
    return None
