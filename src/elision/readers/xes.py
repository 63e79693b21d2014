"""XES event logs (IEEE 1849), read as a stream: only the trace at hand is in memory as elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, NoReturn
from xml.parsers import expat

from elision.errors import InputError, shown
from elision.readers.cases import LIFECYCLE_KEY, Cases
from elision.readers.columns import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.readers.cases import Reading
    from elision.readers.columns import Roles
    from elision.readers.source import Source

_CHUNK = 1 << 16
CONCEPT = "concept:name"
MOMENT = "time:timestamp"


class Attribute(NamedTuple):
    """The type and the value of an attribute, both as text."""

    type: str
    value: str


@dataclass(slots=True)
class Element:
    """A trace or an event.

    Attributes
    ----------
    tag
        Its name, with the prefix that it has.
    line
        Where it begins.
    start, end
        The bytes where it begins and where its last tag begins, if it has two.
    values
        Those of its attributes that are wanted.
    """

    tag: str
    line: int
    start: int
    end: int = 0
    values: dict[str, Attribute] = field(default_factory=dict)


@dataclass(slots=True)
class Trace(Element):
    """A trace with its events."""

    name: str = ""
    events: list[Element] = field(default_factory=list)


def keys_of(roles: Roles) -> Columns:
    """Return the keys of the attributes that say the case, the activity and the time."""
    time = MOMENT if roles["time"] is None else roles["time"]
    return Columns(
        roles["case"] or CONCEPT, roles["activity"] or CONCEPT, time or None, None, LIFECYCLE_KEY
    )


class XesParser:
    """Turns the elements of a log into traces as the parser meets them.

    Parameters
    ----------
    source
        The log.
    keys
        Of the attributes to read by.
    whole
        Whether all attributes of traces and events are wanted, or only those.
    """

    def __init__(self, source: Source, keys: Columns, *, whole: bool = False) -> None:
        self._source = source
        self._keys = keys
        self._wanted = None if whole else frozenset(keys.used)
        self._path: list[str] = []
        self._trace: Trace | None = None
        self._event: Element | None = None
        self._traces: list[Trace] = []
        self._number = 0
        self.encoding = "utf-8"
        self._parser = expat.ParserCreate("utf-8" if source.was_text else None)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._declare
        # Without a declaration of the document type there is no entity, internal or external.
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.EntityDeclHandler = self._refuse_doctype

    def chunks(self) -> Iterator[tuple[bytes, list[Trace]]]:
        """Go through the file: some bytes, and the traces that are complete with them."""
        hint = None
        try:
            while chunk := self._source.stream.read(_CHUNK):
                self._parser.Parse(chunk, False)
                traces, self._traces = self._traces, []
                yield chunk, traces
            hint = "the file seems to be cut off"
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            place = f"{self._source.name} line {error.lineno}"
            problem = f"not valid XML: {expat.ErrorString(error.code)}"
            raise InputError(problem, where=place, hint=hint) from None
        except InputError:
            raise
        except (LookupError, ValueError) as error:  # of encodings that expat does not know
            place = f"{self._source.name} line 1"
            raise InputError(f"not valid XML: {error}", where=place) from None

    def _declare(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and not self._source.was_text:
            self.encoding = encoding

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        depth = len(self._path)
        place = self._parser.CurrentLineNumber, self._parser.CurrentByteIndex
        if depth == 0 and name != "log":
            self._refuse(f"the outermost element is <{name}>; expected <log>")
        if name == "trace" and self._path == ["log"]:
            self._trace = Trace(tag, *place)
        elif name == "event" and self._path == ["log", "trace"]:
            self._event = Element(tag, *place)
        elif depth in (2, 3) and "key" in attributes:
            self._note(name, attributes)
        self._path.append(name)

    def _note(self, kind: str, attributes: dict[str, str]) -> None:
        """Keep an attribute of the trace or event it stands in directly, not one nested deeper."""
        parent = self._event if self._path[-1] == "event" else self._trace
        if parent is None or self._path[-1] not in ("trace", "event"):
            return
        key = attributes["key"]
        if self._wanted is not None and key not in self._wanted:
            return
        if "value" in attributes:
            parent.values[key] = Attribute(kind, attributes["value"])
        elif key in self._keys.used:
            self._refuse(f"the attribute '{key}' has no value")

    def _end(self, tag: str) -> None:
        self._path.pop()
        name = tag.rpartition(":")[2]
        if name == "event" and self._event is not None and self._path == ["log", "trace"]:
            self._event.end = self._parser.CurrentByteIndex
            self._check_event(self._event)
            if self._trace is not None:
                self._trace.events.append(self._event)
            self._event = None
        elif name == "trace" and self._trace is not None and self._path == ["log"]:
            self._trace.end = self._parser.CurrentByteIndex
            said = self._trace.values.get(self._keys.case)
            self._trace.name = str(self._number) if said is None else said.value
            self._traces.append(self._trace)
            self._number += 1
            self._trace = None

    def _check_event(self, event: Element) -> None:
        said = event.values.get(self._keys.activity)
        if said is None or not said.value:
            problem = "the event has no" if said is None else "the event has an empty"
            hint = "name the attribute that holds the event type with activity="
            self._refuse(f"{problem} '{self._keys.activity}'", event.line, hint)

    def _refuse(self, problem: str, line: int | None = None, hint: str | None = None) -> NoReturn:
        place = f"{self._source.name} line {line or self._parser.CurrentLineNumber}"
        said = None if self._trace is None else self._trace.values.get(self._keys.case)
        where = place if said is None else f"{place}, trace {shown(said.value)}"
        raise InputError(problem, where=where, hint=hint)

    def _refuse_doctype(self, *_: object) -> NoReturn:
        self._refuse(
            "a document type declaration, which XES does not have",
            hint="take it out: entities can hide other files or grow without end",
        )


class XesCases:
    """Gathers traces as cases.

    Parameters
    ----------
    name
        Of the log, for messages.
    keys
        Of the attributes to read by.
    domain
        Of all traces.
    reading
        How to read them.
    """

    def __init__(self, name: str, keys: Columns, domain: str, reading: Reading) -> None:
        self._name = name
        self._keys = keys
        self._domain = domain
        self._lines: list[tuple[int, str | None]] = []
        self.cases = Cases(reading, self._place, f"{name}, key {shown(keys.time)}")

    def add(self, trace: Trace) -> None:
        """Add a trace."""
        keys, case = self._keys, self.cases.open(self._domain, trace.name)
        named = trace.name if keys.case in trace.values else None
        for event in trace.events:
            time = None if keys.time is None else event.values.get(keys.time)
            phase = event.values.get(LIFECYCLE_KEY)
            self._lines.append((event.line, named))
            self.cases.add(
                case,
                event.values[keys.activity].value,
                None if time is None else time.value,
                None if phase is None else phase.value,
            )

    def _place(self, row: int) -> str:
        line, trace = self._lines[row]
        of = "" if trace is None else f", trace {shown(trace)}"
        return f"{self._name} line {line}{of}, key '{self._keys.time}'"


def read_xes(source: Source, roles: Roles, reading: Reading) -> Cases:
    """Read the traces of a log; the roles name keys of attributes, and the domain."""
    keys = keys_of(roles)
    found = XesCases(source.name, keys, roles["domain"] or "", reading)
    for _, traces in XesParser(source, keys).chunks():
        for trace in traces:
            found.add(trace)
    return found.cases
