"""Logs in XES: kept byte for byte with events put in between, or made of the rows of others."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from elision.eventlog.insertion import EARLIEST, INSERTED, LATEST, MARKS
from elision.eventlog.kept import (
    CASE_PREFIX,
    in_order,
    mark_values,
    marked_names,
    plain_row,
    text_of,
)
from elision.readers.cases import LIFECYCLE_KEY
from elision.readers.columns import Columns
from elision.readers.xes import CONCEPT, MOMENT, Attribute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elision.eventlog.insertion import Case, Placed
    from elision.eventlog.kept import Kept
    from elision.readers.times import Form
    from elision.readers.xes import Element, Trace

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xes.features="" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
"""
FOOT = "</log>\n"
_DECLARED = re.compile(rb"(^\s*<\?xml[^>]*encoding\s*=\s*)[\"'][^\"'>]*[\"']")
_WORDS = {"true": True, "1": True, "false": False, "0": False}


def table_columns(keys: Columns) -> Columns:
    """Return how the columns of a log are called if it is a table."""
    return Columns(CASE_PREFIX + keys.case, keys.activity, keys.time, None, keys.lifecycle)


@dataclass(slots=True)
class KeptXes:
    """Bytes of a log, and where its traces and events stand in them.

    Attributes
    ----------
    content
        All bytes from one trace's end to another's; of the whole file, if it is all in memory.
    offset
        Where the content begins in the file.
    encoding
        How its text is written.
    keys
        Of the attributes that say case, activity and time.
    names
        The columns, if the log is made into a table.
    traces
        That end in the content.
    was_text
        Whether the log came as text, so that it is UTF-8 whatever it says of itself.
    """

    content: bytes
    offset: int
    encoding: str
    keys: Columns
    names: list[str]
    traces: list[Trace]
    was_text: bool = False
    columns: Columns = field(init=False)
    _rows: list[tuple[Trace, Element]] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = table_columns(self.keys)
        self._rows = [(trace, event) for trace in self.traces for event in trace.events]

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> list[object]:
        """Return the values of an event and of its trace."""
        trace, event = self._rows[number]
        found: dict[str, object] = {
            CASE_PREFIX + key: _value(one) for key, one in trace.values.items()
        }
        found[self.columns.case] = trace.name
        found |= {key: _value(one) for key, one in event.values.items() if key != self.keys.time}
        if self.keys.time in event.values:
            found[self.keys.time] = event.values[self.keys.time].value
        found[self.keys.activity] = event.values[self.keys.activity].value
        return [found.get(name) for name in self.names]

    def written(self, additions: Sequence[Placed]) -> bytes:
        """Return the bytes with the inserted events in between."""
        edits: dict[int, list[str]] = {}
        ends: dict[int, int] = {}
        for one in additions:
            if one.anchor is None:
                self._into_empty(self.traces[one.insertion.case], one, edits, ends)
                continue
            _, event = self._rows[one.anchor]
            indent = self._indent(event.start)
            text = self._element(one, event.tag, event.values, indent)
            if one.before:
                edits.setdefault(event.start, []).append(text + indent)
            else:
                edits.setdefault(self._after(event.end), []).append(indent + text)
        parts, last = [], 0
        for place in sorted(edits):
            parts += [self.content[last : place - self.offset]]
            parts += [self._encoded("".join(edits[place]))]
            last = ends.get(place, place) - self.offset
        made = b"".join([*parts, self.content[last:]])
        return _DECLARED.sub(rb'\1"UTF-8"', made, count=1) if self.was_text else made

    def _into_empty(
        self, trace: Trace, one: Placed, edits: dict[int, list[str]], ends: dict[int, int]
    ) -> None:
        """Put an event into a trace that has none, be it written as <trace/>."""
        text = self._element(one, trace.tag.removesuffix("trace") + "event", {}, "")
        if self.content.startswith(self._encoded("</"), trace.end - self.offset):
            edits.setdefault(trace.end, []).append(text)
            return
        opening, closing = f"<{trace.tag}>", f"</{trace.tag}>"
        before = edits.setdefault(trace.start, [opening, closing])
        before.insert(-1, text)
        ends[trace.start] = self._after(trace.start)

    def _after(self, end_tag: int) -> int:
        """Return where a tag that begins at a place of the file ends."""
        mark = self._encoded(">")
        found = self.content.index(mark, end_tag - self.offset)
        while (found - end_tag + self.offset) % len(mark):
            found = self.content.index(mark, found + 1)
        return found + len(mark) + self.offset

    def _indent(self, start: int) -> str:
        """Return the space that stands before an element."""
        wide = len(self._encoded(" "))
        end = start - self.offset
        text = self.content[max(0, end - 200 * wide) : end].decode(self.encoding, "replace")
        return text[len(text.rstrip()) :]

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.encoding, "xmlcharrefreplace")

    def _element(self, one: Placed, tag: str, like: dict[str, Attribute], indent: str) -> str:
        prefix = tag.removesuffix("event")
        found = {self.keys.activity: Attribute("string", one.insertion.event)}
        if self.keys.time is not None and one.time is not None:
            kind = like[self.keys.time].type if self.keys.time in like else "date"
            found[self.keys.time] = Attribute(kind, str(one.time))
        if LIFECYCLE_KEY in like:
            found[LIFECYCLE_KEY] = Attribute("string", "complete")
        for name, value in mark_values(one).items():
            if value is not None:
                timed = name in (EARLIEST, LATEST)
                found[name] = Attribute("date", str(value)) if timed else typed(value)
        inner = indent + "\t" if "\n" in indent else ""
        lines = [_attribute(key, one, prefix) for key, one in found.items()]
        return f"<{tag}>{''.join(inner + line for line in lines)}{indent}</{tag}>"


def _value(one: Attribute) -> object:
    """Return the value of an attribute as its type says, or as text."""
    try:
        if one.type == "int":
            return int(one.value)
        if one.type == "float":
            return float(one.value)
    except ValueError:
        return one.value
    return _WORDS.get(one.value.lower(), one.value) if one.type == "boolean" else one.value


def typed(value: object) -> Attribute:
    """Return a plain value as an attribute."""
    kinds = ((bool, "boolean"), (int, "int"), (float, "float"), ((date, datetime), "date"))
    kind = next((name for types, name in kinds if isinstance(value, types)), "string")
    return Attribute(kind, text_of(value))


def _attribute(key: str, one: Attribute, prefix: str = "") -> str:
    value = escape(one.value, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    return f'<{prefix}{one.type} key={quoteattr(key)} value="{_allowed(value)}"/>'


def _allowed(text: str) -> str:
    """Return text without the control characters that XML does not have."""
    if text.isprintable():
        return text
    return "".join(letter for letter in text if letter >= " " and letter not in "\ufffe\uffff")


def xes_traces(
    kept: Kept,
    cases: Sequence[Case],
    additions: Sequence[Placed],
    form: Form | None,
    *,
    marked: bool,
) -> Iterator[str]:
    """Go through a log that is no XES as traces: events in order of time."""
    names = marked_names(kept.names) if marked else kept.names
    by_case: dict[int, list[Placed]] = {}
    for new in additions:
        by_case.setdefault(new.insertion.case, []).append(new)
    for number, case in enumerate(cases):
        lines = ["  <trace>", f"    {_attribute(CONCEPT, Attribute('string', case.id))}"]
        if case.all_rows:
            first = dict(zip(kept.names, kept.row(case.all_rows[0]), strict=True))
            lines += [
                f"    {_attribute(name.removeprefix(CASE_PREFIX), typed(value))}"
                for name, value in first.items()
                if value is not None and _is_of_case(name) and name != kept.columns.case
            ]
        own = by_case.get(number, [])
        for row, which in in_order(case.all_rows, own):
            one = None if which < 0 else own[which]
            values = plain_row(kept, row, one, marked=marked)
            lines += _event_lines(kept.columns, names, values, form)
        yield "\n".join([*lines, "  </trace>", ""])


def _is_of_case(name: object) -> bool:
    return isinstance(name, str) and name.startswith(CASE_PREFIX)


def _event_lines(
    columns: Columns, names: Sequence[str], values: Sequence[object], form: Form | None
) -> list[str]:
    lines = ["    <event>"]
    plain = dict(zip(names, values, strict=True))
    inserted = plain.get(INSERTED) in (True, "true")
    for name, value in plain.items():
        skipped = name == columns.case or _is_of_case(name) or (name in MARKS and not inserted)
        if value is None or skipped:
            continue
        key, one = str(name), typed(value)
        if name in (columns.time, EARLIEST, LATEST):
            one = _date(value, form)
            key = MOMENT if name == columns.time and one.type == "date" else key
        elif name == columns.activity:
            key, one = CONCEPT, Attribute("string", str(value))
        elif name in (CONCEPT, MOMENT):
            key = f"original:{name}"
        lines.append(f"      {_attribute(key, one)}")
    return [*lines, "    </event>"]


def _date(value: object, form: Form | None) -> Attribute:
    """Return a time as a date, if the log says dates and not only numbers."""
    if isinstance(value, str):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            if not value.isdecimal():
                return Attribute("date", value)
    read = None if form is None else form.read(value)
    text = None if form is None or read is None else form.iso(read[1])
    return typed(value) if text is None else Attribute("date", text)
