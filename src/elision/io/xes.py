"""XES event logs (IEEE 1849): read by rustxes where it is installed and sure, else by expat."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from xml.parsers import expat

from elision._backends import silenced
from elision.errors import InputError, shown
from elision.io.cases import Cases, in_order
from elision.io.columns import LIFECYCLE_KEY, Columns

if TYPE_CHECKING:
    import polars as pl

    from elision.io.cases import Reading
    from elision.io.columns import Roles
    from elision.io.source import Source

CONCEPT = "concept:name"
MOMENT = "time:timestamp"
CASE_PREFIX = "case:"
"""Columns of what is the same in all rows of a case, as in the frames of process mining."""

_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"'>]*)")


class Attribute(NamedTuple):
    """The type and the value of an attribute, both as text."""

    type: str
    value: str


class Element(NamedTuple):
    """A trace or an event.

    Attributes
    ----------
    tag
        Its name, with the prefix that it has.
    line
        Where it begins.
    start, end
        The bytes where it begins and where its last tag begins; of an event.
    values
        Its attributes, or those that are wanted.
    """

    tag: str
    line: int
    start: int
    end: int
    values: dict[str, Attribute]


def keys_of(roles: Roles) -> Columns:
    """Return the keys of the attributes that say the case, the activity and the time."""
    time = MOMENT if roles["time"] is None else roles["time"]
    return Columns(
        roles["case"] or CONCEPT, roles["activity"] or CONCEPT, time or None, None, LIFECYCLE_KEY
    )


class XesLog:
    """The traces of a log and their events, with the places where these stand.

    Parameters
    ----------
    source
        The log, for messages.
    content
        All bytes of it.
    keys
        Of the attributes to read by.
    whole
        Whether all attributes of traces and events are wanted, or only those.

    Attributes
    ----------
    traces, events
        As they came.
    number
        Of the trace that each event is of.
    encoding
        How the text is written, as the log says itself.
    """

    def __init__(
        self, source: Source, content: bytes, keys: Columns, *, whole: bool = False
    ) -> None:
        self.traces: list[Element] = []
        self.events: list[Element] = []
        self.number: list[int] = []
        self.encoding = "utf-8"
        self._name, self.was_text = source.name, source.was_text
        self.keys = keys
        self._wanted = None if whole else frozenset(keys.used)
        self._path: list[str] = []
        self._open: dict[str, Attribute] | None = None
        self._parser = expat.ParserCreate("utf-8" if source.was_text else None)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._declare
        # Without a declaration of the document type there is no entity, internal or external.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype
        self._parse(content)

    def _parse(self, content: bytes) -> None:
        hint = None
        try:
            self._parser.Parse(content, False)
            hint = "the file seems to be cut off"
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            place = f"{self._name} line {error.lineno}"
            problem = f"not valid XML: {expat.ErrorString(error.code)}"
            raise InputError(problem, where=place, hint=hint) from None
        except InputError:
            raise
        except (LookupError, ValueError) as error:  # of encodings that expat does not know
            raise InputError(f"not valid XML: {error}", where=f"{self._name} line 1") from None

    def _declare(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and not self.was_text:
            self.encoding = encoding

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name, depth = tag.rpartition(":")[2], len(self._path)
        if depth == 0 and name != "log":
            self._refuse(f"the outermost element is <{name}>; expected <log>")
        parser = self._parser
        if name == "trace" and depth == 1:
            self._open = {}
            self.traces.append(
                Element(tag, parser.CurrentLineNumber, parser.CurrentByteIndex, 0, self._open)
            )
        elif name == "event" and depth == 2 and self._path[1] == "trace":
            self._open = {}
            self.number.append(len(self.traces) - 1)
            self.events.append(
                Element(tag, parser.CurrentLineNumber, parser.CurrentByteIndex, 0, self._open)
            )
        elif (
            self._open is not None and "key" in attributes and self._path[-1] in ("trace", "event")
        ):
            self._note(name, attributes)
        self._path.append(name)

    def _note(self, kind: str, attributes: dict[str, str]) -> None:
        """Keep an attribute of the trace or event it stands in directly, not one nested deeper."""
        key = attributes["key"]
        if self._wanted is not None and key not in self._wanted:
            return
        values = self.events[-1].values if self._path[-1] == "event" else self.traces[-1].values
        if "value" in attributes:
            values[key] = Attribute(kind, attributes["value"])
        elif key in self.keys.used:
            self._refuse(f"the attribute '{key}' has no value")

    def _end(self, tag: str) -> None:
        self._path.pop()
        name = tag.rpartition(":")[2]
        if name == "event" and self._path == ["log", "trace"]:
            event = self.events[-1]._replace(end=self._parser.CurrentByteIndex)
            self.events[-1] = event
            said = event.values.get(self.keys.activity)
            if said is None or not said.value:
                problem = "the event has no" if said is None else "the event has an empty"
                hint = "name the attribute that holds the event type with activity="
                self._refuse(f"{problem} '{self.keys.activity}'", event.line, hint)
        elif name == "trace" and self._path == ["log"]:
            self._open = None

    def _refuse(self, problem: str, line: int | None = None, hint: str | None = None) -> NoReturn:
        place = f"{self._name} line {line or self._parser.CurrentLineNumber}"
        trace = self.traces[-1] if self.traces and len(self._path) > 1 else None
        said = None if trace is None else trace.values.get(self.keys.case)
        where = place if said is None else f"{place}, trace {shown(said.value)}"
        raise InputError(problem, where=where, hint=hint)

    def _refuse_doctype(self, *_: object) -> NoReturn:
        self._refuse(
            "a document type declaration, which XES does not have",
            hint="take it out: entities can hide other files or grow without end",
        )

    def case(self, number: int) -> str:
        """Return the name of a trace: its number, if it has none."""
        said = self.traces[number].values.get(self.keys.case)
        return str(number) if said is None else said.value

    def rows(self) -> pl.DataFrame:
        """Return the events as `in_order` takes them, and after them traces that have none."""
        import polars as pl  # noqa: PLC0415 - slow to import

        numbers = [*self.number, *sorted({*range(len(self.traces))} - {*self.number})]
        empty = [None] * (len(numbers) - len(self.number))

        def column(key: str | None) -> list[str | None]:
            said = [None if key is None else one.values.get(key) for one in self.events]
            return [None if one is None else one.value for one in said] + empty

        names = {number: self.case(number) for number in range(len(self.traces))}
        return pl.DataFrame(
            {
                "number": numbers,
                "case": [names[number] for number in numbers],
                "activity": column(self.keys.activity),
                "time": column(self.keys.time),
                "phase": column(LIFECYCLE_KEY),
            },
            {"number": pl.UInt32} | dict.fromkeys(("case", "activity", "time", "phase"), pl.String),
        )

    def place(self, row: int) -> str:
        """Return how messages call the time of an event."""
        said = self.traces[self.number[row]].values.get(self.keys.case)
        of = "" if said is None else f", trace {shown(said.value)}"
        return f"{self._name} line {self.events[row].line}{of}, key '{self.keys.time}'"

    def frame(self) -> pl.DataFrame:
        """Return the events as a table: what traces say in columns that begin with case:."""
        import polars as pl  # noqa: PLC0415 - slow to import

        columns: dict[str, list[Attribute | None]] = {CASE_PREFIX + self.keys.case: []}
        for row, (number, event) in enumerate(zip(self.number, self.events, strict=True)):
            of_trace = self.traces[number].values | {
                self.keys.case: Attribute("string", self.case(number))
            }
            said = {CASE_PREFIX + key: one for key, one in of_trace.items()} | event.values
            for key, one in said.items():
                found = columns.setdefault(key, [])
                found += [None] * (row - len(found))
                found.append(one)
        length = len(self.events)
        return pl.DataFrame(
            {
                key: _typed([*values, *[None] * (length - len(values))])
                for key, values in columns.items()
            }
        )


def _typed(values: list[Attribute | None]) -> pl.Series:
    """Return attributes of one key as a column: of numbers or truth values, if all of them are."""
    import polars as pl  # noqa: PLC0415 - slow to import

    texts = pl.Series([None if one is None else one.value for one in values], dtype=pl.String)
    kinds = {one.type for one in values if one is not None}
    try:
        if kinds == {"int"}:
            return texts.cast(pl.Int64)
        if kinds and kinds <= {"int", "float"}:
            return texts.cast(pl.Float64)
        if kinds == {"boolean"}:
            words = {"true": True, "1": True, "false": False, "0": False}
            return texts.str.to_lowercase().replace_strict(words, return_dtype=pl.Boolean)
    except pl.exceptions.PolarsError:
        pass
    return texts


def read_xes(source: Source, roles: Roles, reading: Reading) -> Cases:
    """Read the traces of a log; the roles name keys of attributes, and the domain."""
    import polars as pl  # noqa: PLC0415 - slow to import

    keys, content = keys_of(roles), source.stream.read()
    rows = None
    if reading.time_format is None and not source.was_text:
        rows = _by_rustxes(content, keys)
    log = None if rows is not None else XesLog(source, content, keys)
    if log is not None:
        rows = log.rows()
    rows = rows.with_columns(domain=pl.lit(roles["domain"] or ""))  # type: ignore[union-attr]
    place = str if log is None else log.place
    return in_order(rows, reading, place, f"{source.name}, key {shown(keys.time)}")


def _by_rustxes(content: bytes, keys: Columns) -> pl.DataFrame | None:
    """Return the events as rustxes reads them; None where that may not be all that is there.

    It reads past what is no XML, and tells neither traces of one name apart, nor traces without
    events, nor why it finds no time.
    """
    declared = _DECLARED.search(content[:200])
    plain = declared is None or declared[1].lower() in (b"utf-8", b"ascii")
    if not plain or b"<!DOCTYPE" in content or not content.rstrip().endswith(b"</log>"):
        return None
    try:
        import rustxes  # noqa: PLC0415 - an optional part
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.xes"
        path.write_bytes(content)
        try:
            with silenced():
                frame: Any = rustxes.import_xes(str(path))[0]
        except BaseException as error:  # what is in Rust calls a panic is no Exception
            if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
                raise
            return None
    return _checked(frame, content, keys)


def _checked(frame: pl.DataFrame, content: bytes, keys: Columns) -> pl.DataFrame | None:
    """Return the rows of a frame of rustxes, if each trace and each event is in it."""
    import polars as pl  # noqa: PLC0415 - slow to import

    names = {"case": CASE_PREFIX + keys.case, "activity": keys.activity}
    names |= {"time": keys.time or "", "phase": LIFECYCLE_KEY}
    found = {role: frame[name] for role, name in names.items() if name in frame.columns}
    if not {"case", "activity"} <= found.keys():
        return None
    for role, column in found.items():
        fits = column.dtype.is_temporal() if role == "time" else column.dtype == pl.String
        if not fits or (role != "phase" and column.null_count()):
            return None
    number = found["case"].rle_id()
    traces = content.count(b"<trace>") + content.count(b"<trace ")
    events = content.count(b"<event>") + content.count(b"<event ")
    empty = (found["activity"] == "").any()
    if empty or events != len(frame) or traces != number.n_unique():
        return None
    lacking = [name for name in ("time", "phase") if name not in found]
    rows = pl.DataFrame(found).with_columns(number=number)
    return rows.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
