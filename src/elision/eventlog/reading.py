"""Logs from files, frames and lists, with everything that these say."""

from __future__ import annotations

import os
import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from elision._backends import is_frame
from elision.errors import InputError, ReadingWarning, shown
from elision.eventlog.frames import KeptFrame
from elision.eventlog.insertion import Case
from elision.eventlog.log import EventLog
from elision.eventlog.records import Fields, kept_records
from elision.eventlog.texts import KeptText
from elision.eventlog.xes import KeptXes, table_columns
from elision.readers.cases import Reading
from elision.readers.columns import choose, time_of
from elision.readers.frames import collected, failures, first_cells, known_frame
from elision.readers.guess import guessed
from elision.readers.reading import check_options, read
from elision.readers.source import is_readable, opened
from elision.readers.table import csv_rows, frame_cases, gathered, parquet_errors, parquet_file
from elision.readers.times import TimeColumn
from elision.readers.xes import XesCases, XesParser, keys_of
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.eventlog.kept import Kept
    from elision.readers.cases import Cases
    from elision.readers.columns import Columns, Roles
    from elision.readers.formats import Format
    from elision.readers.source import Source
    from elision.readers.table import CsvRows
    from elision.readers.times import Form
    from elision.readers.xes import Trace
    from elision.values.narrative import Narrative

ROLES = ("case", "activity", "time", "domain")


class Known(NamedTuple):
    """What the whole of a log says, for those who see a part of it.

    Attributes
    ----------
    form
        How its times are written.
    marks_ends
        Whether any event is said to be complete.
    names
        The columns that it has as a table.
    of_events
        In narratives, the fields that are lists of one value an event.
    """

    form: Form | None = None
    marks_ends: bool | None = None
    names: list[str] | None = None
    of_events: frozenset[str] = frozenset()


def read_log(source: Any, **options: Any) -> EventLog:
    """Read a log; see `EventLog.read`."""
    roles, reading, encoding, kind = parsed(options)
    if isinstance(source, EventLog):
        return source
    reading = replace(reading, remarks=[])
    if is_frame(source):
        name = "data frame"
        log = _frame_log(source, roles, reading, name)
    elif isinstance(source, str | os.PathLike) or is_readable(source):
        with opened(source, encoding) as file:
            name = file.name
            log = _file_log(file, kind or guessed(file, roles), roles, reading, options)
    else:
        name = type(source).__name__
        plain = {name: value for name, value in options.items() if name != "time"}
        log = narratives_log(read(source, **plain), roles["time"], reading)
    if not log.cases:
        raise InputError("there are no narratives in it", where=name)
    for one in reading.remarks or ():
        warnings.warn(one, ReadingWarning, stacklevel=3)
    return log


def parsed(options: dict[str, Any]) -> tuple[Roles, Reading, str, Format | None]:
    """Return options as columns, ways of reading, encoding and format."""
    known = {*ROLES, "format", "time_format", "lifecycle", "encoding"}
    for name in options:
        if name not in known:
            raise InputError(
                f"there is no option {shown(name)}; expected {', '.join(sorted(known))}"
            )
    given = {"lifecycle": "complete", "format": None, "time_format": None} | options
    check_options(given["format"], given["lifecycle"], given["time_format"])
    roles: Roles = {role: options.get(role) for role in ROLES}
    reading = Reading(given["lifecycle"], given["time_format"], exact=True)
    return roles, reading, options.get("encoding", "utf-8"), given["format"]


def _file_log(
    file: Source, kind: Format, roles: Roles, reading: Reading, options: dict[str, Any]
) -> EventLog:
    if kind == "parquet":
        whole = parquet_file(file)
        with parquet_errors(file.name):
            table = whole.read()
        return _frame_log(table, roles, reading, file.name)
    if kind in ("csv", "tsv"):
        table = csv_rows(file, roles, "\t" if kind == "tsv" else None)
        return csv_log(table, list(table), reading, file.name)
    if kind == "xes":
        return _xes_log(file, roles, reading)
    plain = {
        "format": kind,
        "domain": roles["domain"],
        "encoding": options.get("encoding", "utf-8"),
    }
    return narratives_log(read(_Again(file), **plain), roles["time"], reading)


class _Again:
    """A source that is open already, as a file."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.read = source.stream.read


def made_log(kept: Kept, cases: Cases, known: Known) -> EventLog:
    """Return the log of some rows and their cases."""
    found = tuple(
        Case(
            one.name,
            one.domain,
            tuple(cases.activities[row] for row in one.kept),
            one.kept,
            one.rows,
            one.moments,
        )
        for one in cases.ordered(known.form, known.marks_ends)
    )
    return EventLog(kept, found, cases.times, cases.form)


def _frame_log(native: Any, roles: Roles, reading: Reading, name: str) -> EventLog:
    frame = collected(known_frame(native, name), name)
    with failures(name):
        names = list(frame.columns)
    columns = choose(names, roles, name, lambda some: first_cells(frame, some, name))
    return frame_log(frame, columns, reading, name)


def frame_log(
    frame: Any,
    columns: Columns,
    reading: Reading,
    name: str,
    first: int = 0,
    known: Known = Known(),  # noqa: B008 - it cannot be changed
) -> EventLog:
    """Return the log of a frame whose columns are known."""
    cases = frame_cases(frame, columns, reading, name, first)
    kept = KeptFrame(frame, list(frame.columns), columns, cases.times)
    return made_log(kept, cases, known)


def csv_log(
    table: CsvRows,
    rows: Sequence[tuple[int, list[str], str]],
    reading: Reading,
    name: str,
    known: Known = Known(),  # noqa: B008 - it cannot be changed
) -> EventLog:
    """Return the log of some rows of a table in text."""
    found = ((line, table.roles(cells)) for line, cells, _ in rows)
    cases = gathered(found, table.columns, reading, f"{name} line")
    lines = [text for _, _, text in rows]
    kept = KeptText(table.header, table.names, table.columns, table.delimiter, lines)
    return made_log(kept, cases, known)


def _xes_log(file: Source, roles: Roles, reading: Reading) -> EventLog:
    keys = keys_of(roles)
    parser = XesParser(file, keys, whole=True)
    chunks: list[bytes] = []
    traces: list[Trace] = []
    for chunk, found in parser.chunks():
        chunks.append(chunk)
        traces += found
    kept = KeptXes(
        b"".join(chunks),
        0,
        codec(chunks[0], parser),
        keys,
        xes_names(traces, keys),
        traces,
        file.was_text,
    )
    return xes_log(kept, file.name, roles, reading)


def codec(head: bytes, parser: XesParser) -> str:
    """Return how the text of a log is written; of UTF-16 which of the two."""
    marks = {BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}
    return marks.get(head[:2], parser.encoding)


def xes_names(traces: Iterable[Trace], keys: Columns) -> list[str]:
    """Return the columns that traces and their events make."""
    names = dict.fromkeys([table_columns(keys).case])
    for trace in traces:
        names |= dict.fromkeys(f"case:{key}" for key in trace.values)
        for event in trace.events:
            names |= dict.fromkeys(event.values)
    return list(names)


def xes_log(
    kept: KeptXes,
    name: str,
    roles: Roles,
    reading: Reading,
    known: Known = Known(),  # noqa: B008 - it cannot be changed
) -> EventLog:
    """Return the log of some traces."""
    found = XesCases(name, kept.keys, roles["domain"] or "", reading)
    for trace in kept.traces:
        found.add(trace)
    return made_log(kept, found.cases, known)


def narratives_log(
    narratives: Sequence[Narrative],
    time: str | None,
    reading: Reading,
    known: Known | None = None,
) -> EventLog:
    """Return the log of narratives; their events stay in the order in which they are told."""
    if known is None:
        fields = Fields()
        for one in narratives:
            fields.see(one)
        known = Known(names=fields.names, of_events=fields.of_events)
    events = Corpus(narratives).events
    column = time_of(sorted(known.of_events), time)
    times: list[object] = []
    for one in narratives:
        said = one.extra.get(column, ()) if column is not None else ()
        times += said or [None] * one.length  # type: ignore[arg-type]
    form, moments = _moments(times, reading, known.form)
    cases, first = [], 0
    for one, told in zip(narratives, events, strict=True):
        rows = tuple(range(first, first + len(told)))
        whens = tuple(moments[row] for row in rows)
        timed = None if None in whens or not whens else whens
        cases.append(Case(one.id, one.domain, told, rows, rows, timed))
        first += len(told)
    kept = kept_records(narratives, known.of_events, column, known.names or [])
    return EventLog(kept, tuple(cases), times, form)


def _moments(
    times: Sequence[object], reading: Reading, form: Form | None
) -> tuple[Form | None, Sequence[Any]]:
    rows = [row for row, time in enumerate(times) if time is not None]
    moments: list[Any] = [None] * len(times)
    if not rows:
        return form, moments
    column = TimeColumn(reading.time_format, form)
    readings = column.see([times[row] for row in rows], lambda number: f"event {rows[number]}")
    for row, moment in zip(rows, readings[0][1], strict=True):
        moments[row] = moment
    return column.form("times"), moments
