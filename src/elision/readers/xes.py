"""XES event logs (IEEE 1849), read as a stream: only the trace at hand is in memory as elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from elision.errors import InputError, relocated, shown
from elision.readers.cases import LIFECYCLE_KEY, Cases, Clock, Lifecycle, Logged

if TYPE_CHECKING:
    from elision.corpus import Corpus
    from elision.readers.source import Source

_CHUNK = 1 << 16


@dataclass(slots=True)
class _Element:
    """A trace or an event: its line, and those of its attributes that are wanted."""

    line: int
    values: dict[str, str] = field(default_factory=dict)


class _Handler:
    """Turns the elements of a log into cases as the parser meets them."""

    def __init__(
        self,
        parser: expat.XMLParserType,
        *,
        name: str,
        domain: str,
        case: str,
        activity: str,
        time: str,
        lifecycle: Lifecycle,
    ) -> None:
        self.cases = Cases(lifecycle)
        self._parser = parser
        self._name = name
        self._domain = domain
        self._case = case
        self._activity = activity
        self._time = time
        self._wanted = frozenset({case, activity, time, LIFECYCLE_KEY} - {""})
        self._clock = Clock()
        self._path: list[str] = []
        self._trace: _Element | None = None
        self._event: _Element | None = None
        self._logged: list[Logged] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        depth = len(self._path)
        if depth == 0 and tag != "log":
            self._refuse(f"the outermost element is <{tag}>; expected <log>")
        if tag == "trace" and self._path == ["log"]:
            self._trace = _Element(self._parser.CurrentLineNumber)
        elif tag == "event" and self._path == ["log", "trace"]:
            self._event = _Element(self._parser.CurrentLineNumber)
        elif depth in (2, 3) and attributes.get("key") in self._wanted:
            self._note(attributes)
        self._path.append(tag)

    def _note(self, attributes: dict[str, str]) -> None:
        """Keep an attribute of the trace or event it stands in directly, not one nested deeper."""
        parent = self._event if self._path[-1] == "event" else self._trace
        if parent is None or self._path[-1] not in ("trace", "event"):
            return
        key = attributes["key"]
        if "value" not in attributes:
            self._refuse(f"the attribute '{key}' has no value")
        parent.values[key] = attributes["value"]

    def end(self, tag: str) -> None:
        self._path.pop()
        tag = tag.rpartition(":")[2]
        if tag == "event" and self._event is not None and self._path == ["log", "trace"]:
            self._logged.append(self._read_event(self._event))
            self._event = None
        elif tag == "trace" and self._trace is not None and self._path == ["log"]:
            case = self._trace.values.get(self._case, str(len(self.cases)))
            self.cases.add(self._domain, case, self._logged)
            self._trace = None
            self._logged = []

    def _read_event(self, event: _Element) -> Logged:
        activity = event.values.get(self._activity)
        if not activity:
            problem = "the event has no" if activity is None else "the event has an empty"
            hint = "name the attribute that holds the event type with activity="
            self._refuse(f"{problem} '{self._activity}'", event.line, hint)
        time = event.values.get(self._time)
        try:
            moment = None if time is None else self._clock.read(time)
        except InputError as error:
            raise relocated(error, f"{self._place(event.line)}, key '{self._time}'") from None
        return Logged(activity, moment, event.values.get(LIFECYCLE_KEY))

    def _place(self, line: int | None = None) -> str:
        place = f"{self._name} line {line or self._parser.CurrentLineNumber}"
        case = self._trace.values.get(self._case) if self._trace is not None else None
        return place if case is None else f"{place}, trace {shown(case)}"

    def _refuse(self, problem: str, line: int | None = None, hint: str | None = None) -> NoReturn:
        raise InputError(problem, where=self._place(line), hint=hint)

    def refuse_doctype(self, *_: object) -> NoReturn:
        self._refuse(
            "a document type declaration, which XES does not have",
            hint="take it out: entities can hide other files or grow without end",
        )


def read_xes(
    source: Source,
    *,
    domain: str = "",
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    lifecycle: Lifecycle = "complete",
) -> Corpus:
    """Read the traces of a log; `case`, `activity` and `time` name keys of attributes."""
    parser = expat.ParserCreate("utf-8" if source.was_text else None)
    handler = _Handler(
        parser,
        name=source.name,
        domain=domain,
        case=case or "concept:name",
        activity=activity or "concept:name",
        time="time:timestamp" if time is None else time,
        lifecycle=lifecycle,
    )
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    # Without a declaration of the document type there is no entity, internal or external.
    parser.StartDoctypeDeclHandler = handler.refuse_doctype
    parser.EntityDeclHandler = handler.refuse_doctype
    hint = None
    try:
        while chunk := source.stream.read(_CHUNK):
            parser.Parse(chunk, False)
        hint = "the file seems to be cut off"
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        place = f"{source.name} line {error.lineno}"
        problem = f"not valid XML: {expat.ErrorString(error.code)}"
        raise InputError(problem, where=place, hint=hint) from None
    except InputError:
        raise
    except (LookupError, ValueError) as error:  # of encodings that expat does not know
        raise InputError(f"not valid XML: {error}", where=f"{source.name} line 1") from None
    return handler.cases.corpus()
