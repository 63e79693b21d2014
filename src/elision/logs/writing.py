"""Repaired logs in files: what came in the same format stays as it was, with more in between."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
from collections import Counter
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import PurePath
from typing import TYPE_CHECKING, cast
from xml.sax.saxutils import escape, quoteattr

from elision._files import atomic_file, shown_path
from elision.errors import InputError, shown
from elision.io.columns import LIFECYCLE_KEY
from elision.io.tables import Text, failures
from elision.io.xes import CASE_PREFIX, CONCEPT, MOMENT, Attribute, XesLog
from elision.logs.frames import in_polars, with_rows
from elision.logs.log import (
    EARLIEST,
    INSERTED,
    LATEST,
    MARKS,
    text_of_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    import polars as pl

    from elision.logs.log import Log, Placed

FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".xes": "xes",
}

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xes.features="" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
"""
_DECLARED = re.compile(rb"(^\s*<\?xml[^>]*encoding\s*=\s*)[\"'][^\"'>]*[\"']")


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format in which a log goes to a file, as the suffix says.

    Raises
    ------
    InputError
        Where it is none that logs are written in.
    """
    suffix = PurePath(os.fspath(path).lower().removesuffix(".gz")).suffix
    if suffix not in FORMATS:
        raise InputError(
            f"cannot tell the format from the suffix {shown(suffix)}",
            where=shown_path(path),
            hint="end the name in .csv, .parquet or .xes",
        )
    return FORMATS[suffix]


def write(log: Log, placed: Sequence[Placed], path: str | os.PathLike[str]) -> None:
    """Write a log with what is put in to a file that appears whole or not at all.

    Raises
    ------
    InputError
        Where the place cannot be written, or a value not in this format.
    """
    kind = format_of(path)
    with opened_to_write(path, packed=kind != "parquet") as file:
        if kind == "csv" and isinstance(log.came, Text):
            file.writelines(one.encode() for one in csv_lines(log.came, log, placed))
        elif kind == "xes" and isinstance(log.came, XesLog):
            file.write(xes_bytes(log.came, log, placed))
        else:
            ordered = [row for case in log.cases for row in case.all_rows]
            rows = ordered if kind == "xes" else None
            made = with_rows(log.frame(), log.columns, placed, log.form, rows)
            with failures(shown_path(path), "cannot be written"):
                content = _content(in_polars(made), kind, path, log, placed)
            file.write(content)


@contextmanager
def opened_to_write(path: str | os.PathLike[str], *, packed: bool = True) -> Iterator[BinaryIO]:
    """Open a file that appears when all is written; packed with gzip if its name ends in .gz."""
    with ExitStack() as stack:
        file = stack.enter_context(atomic_file(path))
        if packed and os.fspath(path).endswith(".gz"):
            # Without name and time of writing, so that the same log makes the same bytes.
            made = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = cast("BinaryIO", stack.enter_context(made))
        yield file


def _content(
    frame: pl.DataFrame,
    kind: str,
    path: str | os.PathLike[str],
    log: Log,
    placed: Sequence[Placed],
) -> bytes:
    """Return a frame as a file of CSV, Parquet or XES."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if kind == "parquet":
        made = io.BytesIO()
        frame.write_parquet(made)
        return made.getvalue()
    if kind == "xes":
        text = "".join([HEAD, *xes_traces(frame, log, placed), "</log>\n"])
    else:
        nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
        frame = frame.with_columns(
            pl.Series(name, [text_of_value(one) for one in frame[name].to_list()], pl.String)
            for name in nested
        )
        name = os.fspath(path).lower().removesuffix(".gz")
        text = frame.write_csv(separator="\t" if name.endswith((".tsv", ".tab")) else ",")
    return text.encode("utf-8", "surrogatepass")


# ---- CSV


def csv_lines(text: Text, log: Log, placed: Sequence[Placed]) -> Iterator[str]:
    """Go through a table in text: its lines as they stand, and those that are put in."""
    rows = text.rows()
    _, _, header = next(rows)
    added = [mark for mark in MARKS if mark not in log.names]
    end = "\r\n" if header.endswith("\r\n") else "\n"
    mark = text.delimiter
    yield _extended(header, mark + _line(added, mark, "") if added else "", end)
    before: dict[int, list[Placed]] = {}
    after: dict[int, list[Placed]] = {}
    for one in placed:
        (before if one.before else after).setdefault(one.anchor, []).append(one)
    rest = mark + _line(["false"] + [""] * (len(added) - 1), mark, "") if added else ""
    for number, (_, cells, line) in enumerate(rows):
        own = dict(zip(log.names, cells, strict=False))
        for one in before.get(number, ()):
            yield _line(_cells(log, own, one, added), mark, end)
        yield _extended(line, rest, end) if cells else line
        for one in after.get(number, ()):
            yield _line(_cells(log, own, one, added), mark, end)


def _extended(line: str, rest: str, end: str) -> str:
    body = line.rstrip("\r\n")
    return body + rest + (line[len(body) :] or end)


def _cells(log: Log, like: Mapping[str, str], one: Placed, added: Sequence[str]) -> list[object]:
    """Return the cells of a row that is put in: its event and time, and those of its case."""
    columns, marks = log.columns, {**one.marks, INSERTED: "true"}
    found: list[object] = []
    for name in [*log.names, *added]:
        if name == columns.activity:
            found.append(one.insertion.event)
        elif name == columns.time:
            found.append(one.time)
        elif name in (columns.case, columns.domain) or name.startswith(CASE_PREFIX):
            found.append(like[name])
        elif name in (columns.lifecycle, LIFECYCLE_KEY):
            found.append("complete")
        else:
            found.append(marks.get(name))
    return found


def _line(values: Sequence[object], delimiter: str, end: str) -> str:
    """Return values as one line of CSV."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(["" if one is None else one for one in values])
    return text.getvalue()


# ---- XES


def xes_bytes(xes: XesLog, log: Log, placed: Sequence[Placed]) -> bytes:
    """Return the bytes of a log as they came, with the events that are put in in between."""
    text = _Bytes(log.content, _codec(log.content, xes.encoding))
    edits: dict[int, list[str]] = {}
    for one in placed:
        event = xes.events[one.anchor]
        indent = text.indent(event.start)
        made = _element(log, one, event.tag, event.values, indent)
        if one.before:
            edits.setdefault(event.start, []).append(made + indent)
        else:
            edits.setdefault(text.after(event.end), []).append(indent + made)
    parts, last = [], 0
    for place in sorted(edits):
        parts += [log.content[last:place], text.encoded("".join(edits[place]))]
        last = place
    found = b"".join([*parts, log.content[last:]])
    return _DECLARED.sub(rb'\1"UTF-8"', found, count=1) if xes.was_text else found


def _codec(content: bytes, encoding: str) -> str:
    marks = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    return marks.get(content[:2], encoding)


class _Bytes:
    """Bytes of text, in which places are found."""

    def __init__(self, content: bytes, encoding: str) -> None:
        self._content, self._encoding = content, encoding

    def encoded(self, text: str) -> bytes:
        return text.encode(self._encoding, "xmlcharrefreplace")

    def after(self, end_tag: int) -> int:
        """Return where a tag that begins at a place ends."""
        mark = self.encoded(">")
        found = self._content.index(mark, end_tag)
        while (found - end_tag) % len(mark):
            found = self._content.index(mark, found + 1)
        return found + len(mark)

    def indent(self, start: int) -> str:
        """Return the space that stands before an element."""
        wide = len(self.encoded(" "))
        text = self._content[max(0, start - 200 * wide) : start].decode(self._encoding, "replace")
        return text[len(text.rstrip()) :]


def _element(log: Log, one: Placed, tag: str, like: Mapping[str, Attribute], indent: str) -> str:
    columns, prefix = log.columns, tag.removesuffix("event")
    found = {columns.activity: Attribute("string", one.insertion.event)}
    if columns.time is not None and one.time is not None:
        kind = like[columns.time].type if columns.time in like else "date"
        found[columns.time] = Attribute(kind, str(one.time))
    if LIFECYCLE_KEY in like:
        found[LIFECYCLE_KEY] = Attribute("string", "complete")
    for name, value in one.marks.items():
        if value is not None:
            timed = name in (EARLIEST, LATEST)
            found[name] = Attribute("date", str(value)) if timed else _typed(value)
    inner = indent + "\t" if "\n" in indent else ""
    lines = [_attribute(key, said, prefix) for key, said in found.items()]
    return f"<{tag}>{''.join(inner + line for line in lines)}{indent}</{tag}>"


def _typed(value: object) -> Attribute:
    """Return a plain value as an attribute."""
    if isinstance(value, date):
        return Attribute("date", value.isoformat())
    if isinstance(value, bool):
        return Attribute("boolean", "true" if value else "false")
    kind = "int" if isinstance(value, int) else "float" if isinstance(value, float) else "string"
    return Attribute(kind, text_of_value(value) or "")


def _attribute(key: str, one: Attribute, prefix: str = "") -> str:
    value = escape(one.value, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if not value.isprintable():  # XML does not have other control characters
        value = "".join(
            letter for letter in value if letter >= " " and letter not in "\ufffe\uffff"
        )
    return f'<{prefix}{one.type} key={quoteattr(key)} value="{value}"/>'


def xes_traces(frame: pl.DataFrame, log: Log, placed: Sequence[Placed]) -> Iterator[str]:
    """Go through a table as traces; its rows stand in the order of the cases and of time."""
    columns = log.columns
    frame = _dated(frame, log)
    of_case = [name for name in frame.columns if name.startswith(CASE_PREFIX)]
    skipped = {columns.case, *of_case}
    more = Counter(one.case for one in placed)
    start = 0
    for number, case in enumerate(log.cases):
        rows = frame[start : start + len(case.all_rows) + more[number]].to_dicts()
        start += len(rows)
        lines = ["  <trace>", f"    {_attribute(CONCEPT, Attribute('string', case.id))}"]
        lines += [
            f"    {_attribute(key.removeprefix(CASE_PREFIX), _typed(rows[0][key]))}"
            for key in of_case
            if rows and rows[0][key] is not None and key != columns.case
        ]
        for row in rows:
            lines.append("    <event>")
            for key, value in row.items():
                marks = key in MARKS and not row.get(INSERTED)
                if value is None or key in skipped or marks:
                    continue
                name = key
                if key == columns.activity:
                    name = CONCEPT
                elif key == columns.time:
                    name = MOMENT if isinstance(value, date) else key
                elif key in (CONCEPT, MOMENT):
                    name = f"original:{key}"
                lines.append(f"      {_attribute(name, _typed(value))}")
            lines.append("    </event>")
        yield "\n".join([*lines, "  </trace>", ""])


def _dated(frame: pl.DataFrame, log: Log) -> pl.DataFrame:
    """Return a table with the times as dates, if the log says dates and not only numbers."""
    import polars as pl  # noqa: PLC0415 - slow to import

    form = log.form
    if form is None or form.order in ("number", "ticks"):
        return frame
    zone = "UTC" if form.is_zoned else None
    return frame.with_columns(
        form.moments(pl.col(name)).cast(pl.Datetime("us", zone)).alias(name)
        for name in (log.columns.time, EARLIEST, LATEST)
        if name is not None and frame.schema[name] == pl.String
    )
