"""JSONL and JSON: an object a narrative, with `events`, `steps`, `domain`, `id` and others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import msgspec

from elision.errors import InputError, relocated, shown
from elision.values.corpus import Corpus
from elision.values.narrative import FIELDS, Narrative, unchecked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.io.source import Source

_FIELDS = frozenset(FIELDS)
_OURS = {
    "elision-script": "a script",
    "elision-library": "a library",
    "elision-extractor": "an extractor",
}
_BYTE = re.compile(r" \(byte (\d+)\)$")
_decode = msgspec.json.Decoder().decode


_Strings = tuple[Annotated[str, msgspec.Meta(min_length=1)], ...]


class _Plain(msgspec.Struct, forbid_unknown_fields=True):
    """A record with the plain fields and no others, which msgspec can check as it reads."""

    events: _Strings | None = None
    steps: _Strings | None = None
    domain: str | None = None
    id: str | int | None = None

    @property
    def is_whole(self) -> bool:
        if self.events is None or self.steps is None:
            return self.events is not self.steps
        return len(self.events) == len(self.steps)


class Records:
    """Makes narratives of records.

    Parameters
    ----------
    domain
        The domain of records that state none.
    """

    def __init__(self, domain: str) -> None:
        self._domain = domain
        self._count = 0
        self._seen: dict[str, str] = {}

    def made(self, record: object) -> Narrative:
        """Return the narrative of a record: an object with fields, or a list of events alone.

        Raises
        ------
        InputError
            Where it is not a narrative.
        """
        if isinstance(record, dict):
            return self._narrative(record)
        if isinstance(record, Iterable) and not isinstance(record, str | bytes):
            return self._narrative({"events": record})
        problem = f"{shown(record)} is not a narrative; expected an object or a list"
        raise InputError(problem, hint='write it as {"events": ["…", "…"]}')

    def plain(self, record: _Plain) -> Narrative:
        """Return the narrative of a record that is known to be whole."""
        events, name = record.events, record.id
        shared = None if events is None else tuple(map(self._seen.setdefault, events, events))
        text = str(self._count if name is None else name)
        self._count += 1
        return unchecked(shared, record.steps, record.domain or self._domain, text)

    def _narrative(self, record: dict[str, object]) -> Narrative:
        name = record.get("id")
        if name is None:
            name = str(self._count)
        elif isinstance(name, int) and not isinstance(name, bool):
            try:
                name = str(name)
            except ValueError:  # thousands of digits, which Python does not write
                problem = f"{shown(name)}; expected text or a shorter number"
                raise InputError(problem, where="field 'id'") from None
        self._count += 1
        domain = record.get("domain")
        made = (
            self._shared(record.get("events")),
            record.get("steps"),
            self._domain if domain is None or domain == "" else domain,
            name,
        )
        if record.keys() <= _FIELDS:
            return Narrative(*made)  # type: ignore[arg-type]  # Narrative checks what came
        extra = {key: value for key, value in record.items() if key not in _FIELDS}
        return Narrative(*made, extra)  # type: ignore[arg-type]  # the same

    def _shared(self, events: object) -> object:
        """Return the events with one string object an event type: logs repeat few types often."""
        try:
            if isinstance(events, list):
                return tuple(map(self._seen.setdefault, events, events))
        except TypeError:
            pass  # something in it is not even hashable, as Narrative will say
        return events


def read_jsonl(source: Source, domain: str) -> Corpus:
    """Read one JSON object a line; blank lines are passed over."""
    return Corpus(narratives_of_lines(source, domain))


def narratives_of_lines(source: Source, domain: str, before: int = 0) -> Iterator[Narrative]:
    """Go through the narratives of a file of one JSON object a line; lines before it count, too."""
    records = Records(domain)
    decode_plain = msgspec.json.Decoder(_Plain).decode
    plain = True
    for number, line in enumerate(source.lines(newline="\n"), start=before + 1):
        if line.isspace():
            continue
        # Files of plain records go 1.4 times as fast. Where one is not, the slow way says why not,
        # or finds other fields in it, as it then will in the lines that follow.
        if plain:
            try:
                record = decode_plain(line)
                plain = record.is_whole
            except (ValueError, RecursionError):
                plain = False
        if plain:
            yield records.plain(record)
        else:
            yield narrative_of_line(line, records, f"{source.name} line {number}")


def narrative_of_line(line: str, records: Records, where: str) -> Narrative:
    """Return the narrative of one line of JSON."""
    try:
        return records.made(_decode(line))
    except InputError as error:
        raise _placed(error, where) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"not valid JSON: {error}; got {shown(line.strip())}",
            where=where,
            hint="write one JSON object a line",
        ) from None


def read_json(source: Source, domain: str) -> Corpus:
    """Read one JSON list, of objects or of lists of strings."""
    content = source.text().encode()
    try:
        document = msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        place, hint = source.name, None
        found = _BYTE.search(str(error))
        if found:
            line = content.count(b"\n", 0, int(found[1])) + 1
            place += f" line {line}"
        if content.lstrip().startswith(b"{"):
            hint = "for one object a line, pass format='jsonl'"
        problem = f"not valid JSON: {_BYTE.sub('', str(error))}"
        raise InputError(problem, where=place, hint=hint) from None
    if not isinstance(document, list):
        hint = "write a list of objects, or one object a line with format='jsonl'"
        problem = f"{_kind(document)} is not a list of narratives"
        raise InputError(problem, where=source.name, hint=hint)
    return from_items(document, domain, f"{source.name} ")


def _kind(document: object) -> str:
    """A JSON document that is no list, as an error names it: whole files are not shown."""
    if not isinstance(document, dict):
        return shown(document)
    kind = document.get("format")
    ours = _OURS.get(kind) if isinstance(kind, str) else None
    return "one object" if ours is None else f"{ours} of Elision's"


def from_items(items: Iterable[object], domain: str, prefix: str = "") -> Corpus:
    """Return the corpus of records or lists of strings that are in memory already."""
    records = Records(domain)
    narratives = []
    for index, item in enumerate(items):
        try:
            narratives.append(records.made(item))
        except InputError as error:
            raise _placed(error, f"{prefix}narratives[{index}]") from None
    return Corpus(narratives)


def _placed(error: InputError, place: str) -> InputError:
    """Return an error about a field with the record that has the field."""
    return relocated(error, f"{place}, {error.where}" if error.where else place)
