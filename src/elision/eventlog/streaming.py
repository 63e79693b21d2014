"""Logs that need not fit in memory: read once to know them, and once more piece by piece."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from elision.errors import InputError, shown
from elision.eventlog.reading import (
    Known,
    codec,
    csv_log,
    frame_log,
    narratives_log,
    parsed,
    xes_log,
)
from elision.eventlog.records import Fields
from elision.eventlog.xes import KeptXes, table_columns
from elision.readers.cases import LIFECYCLE_KEY
from elision.readers.columns import time_of
from elision.readers.frames import failures, known_frame, labels_of, times_of
from elision.readers.guess import guessed
from elision.readers.records import narratives_of_lines
from elision.readers.source import opened
from elision.readers.table import (
    arrow,
    csv_rows,
    label_of,
    parquet_columns,
    parquet_errors,
)
from elision.readers.times import TimeColumn, no_time
from elision.readers.xes import XesParser, keys_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elision.eventlog.log import EventLog
    from elision.readers.cases import Reading
    from elision.readers.columns import Columns, Roles
    from elision.readers.formats import Format
    from elision.readers.times import Form
    from elision.readers.xes import Trace

_BATCH = 20_000
"""Rows that are looked at together."""


def stream_log(
    path: str | os.PathLike[str], *, cases: int = 1000, **options: Any
) -> Iterator[EventLog]:
    """Go through a log piece by piece; see `EventLog.stream`."""
    roles, reading, encoding, kind = parsed(options)
    if not isinstance(path, str | os.PathLike) or path == "-":
        hint = "give the path of a file, or read the log whole"
        raise InputError("a log is streamed in two passes, which this cannot be", hint=hint)
    if isinstance(cases, bool) or not isinstance(cases, int) or cases < 1:
        raise InputError(f"cases={shown(cases)}; expected a whole number, 1 or above")
    with opened(path, encoding) as file:
        found = kind or guessed(file, roles)
    if found not in _STREAMS:
        problem = f"a log in the format {found!r} cannot be streamed"
        raise InputError(problem, where=str(path), hint="read the log whole")
    made = _STREAMS[found](_Plan(path, found, roles, reading, encoding, cases))
    return _not_empty(made, str(path))


def _not_empty(pieces: Iterator[EventLog], name: str) -> Iterator[EventLog]:
    any_case = False
    for piece in pieces:
        any_case |= bool(piece.cases)
        yield piece
    if not any_case:
        raise InputError("there are no narratives in it", where=name)


class _Plan:
    """What is to be streamed, and how."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: Format,
        roles: Roles,
        reading: Reading,
        encoding: str,
        cases: int,
    ) -> None:
        self.path = path
        self.delimiter = "\t" if kind == "tsv" else None
        self.roles = roles
        self.reading = reading
        self.encoding = encoding
        self.cases = cases
        self.name = os.fspath(path)


class _Survey:
    """What the whole of a log says, from all its rows in turn.

    Parameters
    ----------
    plan
        What is streamed.
    where
        How messages call all times.
    """

    def __init__(self, plan: _Plan, where: str) -> None:
        self._column = TimeColumn(plan.reading.time_format)
        self._where = where
        self._times: list[object] = []
        self._places: list[str] = []
        self._timed = False
        self._seen: set[int] = set()
        self._last: tuple[str, str] | None = None
        self.marks_ends = False

    def see(
        self, case: tuple[str, str] | None, time: object, phase: str | None, place: str
    ) -> None:
        """Look at a row; without a case, where cases cannot be scattered."""
        if case is not None and case != self._last:
            if hash(case) in self._seen:
                raise InputError(
                    f"the rows of case {shown(case[1])} do not stand together",
                    where=place,
                    hint="sort the log by case, or read it whole",
                )
            self._seen.add(hash(case))
            self._last = case
        if phase is not None and phase.lower() == "complete":
            self.marks_ends = True
        if time is not None:
            self._times.append(time)
            self._places.append(place)
            if len(self._times) >= _BATCH:
                self._see_times()

    def _see_times(self) -> None:
        self._column.see(self._times, self._places.__getitem__)
        self._timed = True
        self._times, self._places = [], []

    def known(self, names: list[str] | None = None, form: Form | None = None) -> Known:
        """Return what is known once all rows were seen."""
        if self._times:
            self._see_times()
        if form is None and self._timed:
            form = self._column.form(self._where)
        return Known(form, self.marks_ends, names)


def _csv_stream(plan: _Plan) -> Iterator[EventLog]:
    with opened(plan.path, plan.encoding) as file:
        table = csv_rows(file, plan.roles, plan.delimiter)
        where = f"column {shown(table.columns.time)}"
        survey = _Survey(plan, f"{plan.name}, {where}")
        for line, cells, _ in table:
            case, _, time, domain, phase = table.roles(cells)
            place = f"{plan.name} line {line}, {where}"
            survey.see((label_of(domain) or "", case or ""), time, phase, place)
        known = survey.known()
    with opened(plan.path, plan.encoding) as file:
        table = csv_rows(file, plan.roles, plan.delimiter)

        def key(row: tuple[int, list[str], str]) -> tuple[object, object]:
            case, _, _, domain, _ = table.roles(row[1])
            return case, label_of(domain)

        for rows in _by_cases(table, key, plan.cases):
            yield csv_log(table, rows, plan.reading, plan.name, known)


def _by_cases(rows: Any, key: Callable[[Any], object], cases: int) -> Iterator[list[Any]]:
    """Go through rows by so many cases at a time, whole ones."""
    piece: list[Any] = []
    last: object = None
    count = 0
    for row in rows:
        now = key(row)
        if now != last:
            if count == cases:
                yield piece
                piece, count = [], 0
            last = now
            count += 1
        piece.append(row)
    if piece:
        yield piece


def _parquet_stream(plan: _Plan) -> Iterator[EventLog]:
    pa, pq = arrow(plan.name)
    with opened(plan.path, plan.encoding), parquet_errors(plan.name):
        file = pq.ParquetFile(plan.path)
    columns = parquet_columns(file, plan.roles, plan.name)
    known = _parquet_survey(plan, file, columns)
    left: Any = None
    first = 0
    batches = file.iter_batches(batch_size=_BATCH)
    while True:
        with parquet_errors(plan.name):
            batch = next(batches, None)
        if batch is None:
            break
        table = pa.Table.from_batches([batch])
        left = table if left is None else pa.concat_tables([left, table])
        starts = _case_starts(left, columns, plan.name)
        # The last case may go on in the next batch.
        while len(starts) > plan.cases:
            cut = starts[plan.cases]
            yield _parquet_piece(left.slice(0, cut), columns, plan, first, known)
            first += cut
            left, starts = left.slice(cut), [start - cut for start in starts[plan.cases :]]
    if left is not None and len(left):
        yield _parquet_piece(left, columns, plan, first, known)


def _parquet_piece(table: Any, columns: Columns, plan: _Plan, first: int, known: Known) -> EventLog:
    frame = known_frame(table, plan.name)
    return frame_log(frame, columns, plan.reading, plan.name, first, known)


def _case_starts(table: Any, columns: Columns, name: str) -> list[int]:
    """Return the rows of a table with which another case begins."""
    frame: Any = known_frame(table, name)
    keys = list(zip(*_key_columns(frame, columns, name), strict=True))
    return [row for row, key in enumerate(keys) if row == 0 or key != keys[row - 1]]


def _key_columns(frame: Any, columns: Columns, name: str) -> list[list[str]]:
    found = [[label_of(value) or "" for value in labels_of(frame[columns.case], name)]]
    if columns.domain is not None:
        found.append([label_of(value) or "" for value in labels_of(frame[columns.domain], name)])
    return found


def _parquet_survey(plan: _Plan, file: Any, columns: Columns) -> Known:
    where = f"column {shown(columns.time)}"
    survey = _Survey(plan, f"{plan.name}, {where}")
    form: Form | None = None
    first = 0
    batches = file.iter_batches(batch_size=_BATCH, columns=columns.used)
    while True:
        with parquet_errors(plan.name):
            batch = next(batches, None)
        if batch is None:
            return survey.known(form=form)
        frame: Any = known_frame(batch, plan.name)
        with failures(plan.name):
            keys = list(zip(*_key_columns(frame, columns, plan.name), strict=True))
        times: Sequence[Any] = [None] * len(keys)
        if columns.time is not None:
            times, form = times_of(frame[columns.time], f"{plan.name}, {where}")
        phases: Sequence[Any] = [None] * len(keys)
        if columns.lifecycle is not None:
            phases = labels_of(frame[columns.lifecycle], plan.name)
        for row, key in enumerate(keys):
            place = f"{plan.name} row index {first + row}, {where}"
            if columns.time is not None and times[row] is None:
                raise no_time(None, place)
            time = None if form is not None else times[row]
            survey.see(
                (key[-1] if len(key) > 1 else "", key[0]), time, label_of(phases[row]), place
            )
        first += len(keys)


def _xes_stream(plan: _Plan) -> Iterator[EventLog]:
    keys = keys_of(plan.roles)
    known = _xes_survey(plan, keys)
    with opened(plan.path, plan.encoding) as file:
        parser = XesParser(file, keys, whole=True)
        window, offset, encoding = b"", 0, ""
        waiting: list[Trace] = []
        for chunk, traces in parser.chunks():
            window += chunk
            encoding = encoding or codec(window, parser)
            waiting += traces
            while len(waiting) > plan.cases:
                piece, waiting = waiting[: plan.cases], waiting[plan.cases :]
                cut = waiting[0].start - offset
                yield _xes_piece(window[:cut], offset, encoding, keys, piece, plan, known)
                window, offset = window[cut:], offset + cut
        yield _xes_piece(window, offset, encoding, keys, waiting, plan, known)


def _xes_piece(
    content: bytes,
    offset: int,
    encoding: str,
    keys: Columns,
    traces: list[Trace],
    plan: _Plan,
    known: Known,
) -> EventLog:
    kept = KeptXes(content, offset, encoding, keys, known.names or [], traces)
    return xes_log(kept, plan.name, plan.roles, plan.reading, known)


def _xes_survey(plan: _Plan, keys: Columns) -> Known:
    survey = _Survey(plan, f"{plan.name}, key {shown(keys.time)}")
    names = dict.fromkeys([table_columns(keys).case])
    with opened(plan.path, plan.encoding) as file:
        for _, traces in XesParser(file, keys, whole=True).chunks():
            for trace in traces:
                names |= dict.fromkeys(f"case:{key}" for key in trace.values)
                for event in trace.events:
                    names |= dict.fromkeys(event.values)
                    time = event.values.get(keys.time or "")
                    phase = event.values.get(LIFECYCLE_KEY)
                    survey.see(
                        None,
                        time and time.value,
                        phase and phase.value,
                        f"{plan.name} line {event.line}, key {shown(keys.time)}",
                    )
    return survey.known(list(names))


def _jsonl_stream(plan: _Plan) -> Iterator[EventLog]:
    domain = plan.roles["domain"] or ""
    fields = Fields()
    with opened(plan.path, plan.encoding) as file:
        for one in narratives_of_lines(file, domain):
            fields.see(one)
    time = time_of(sorted(fields.of_events), plan.roles["time"])
    form = None
    if time is not None:
        survey = _Survey(plan, f"{plan.name}, field {shown(time)}")
        with opened(plan.path, plan.encoding) as file:
            for one in narratives_of_lines(file, domain):
                for value in one.extra.get(time, ()):  # type: ignore[attr-defined]
                    survey.see(None, value, None, f"{plan.name}, id {shown(one.id)}")
        form = survey.known().form
    known = Known(form, None, fields.names, fields.of_events)
    with opened(plan.path, plan.encoding) as file:
        narratives = narratives_of_lines(file, domain)
        while piece := list(islice(narratives, plan.cases)):
            yield narratives_log(piece, plan.roles["time"], plan.reading, known)


_STREAMS: dict[str, Callable[[_Plan], Iterator[EventLog]]] = {
    "csv": _csv_stream,
    "tsv": _csv_stream,
    "parquet": _parquet_stream,
    "xes": _xes_stream,
    "jsonl": _jsonl_stream,
}
