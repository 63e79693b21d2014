"""Scripts as JSON files: one versioned format with a checksum (``docs/format.md``)."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, ScriptError
from elision.files.arrays import PackedArrays, is_large, pack_arrays, unpack_arrays
from elision.files.envelope import NO_CHECKSUM, Envelope
from elision.files.outline import PackedOutline, pack_outline, unpack_outline
from elision.files.telling import PackedTelling, pack, unpack
from elision.values._script_parts import END, START
from elision.values.observations import short
from elision.values.script import Script

if TYPE_CHECKING:
    from os import PathLike

FORMAT = "elision-script"
NEWEST_VERSION = 4
LARGE_VERSION = 3
VERSION = 2
BARE_VERSION = 1
"""Versions of files of scripts that know the words around a gap or have a choice in parts, of other
very large scripts, of others with a telling model or an outline, and of those with neither."""

MOST_CELLS = 1 << 26
"""More cells in the arrays of a script are refused before the memory runs out."""

ENVELOPE = Envelope(
    FORMAT,
    (BARE_VERSION, VERSION, LARGE_VERSION, NEWEST_VERSION),
    "script file",
    edited="load(..., checksum=False) reads a file that was edited by hand",
)


class _State(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    elision: float
    tells: list[tuple[int, float]]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    about: dict[str, Any]
    events: list[str]
    states: list[_State]
    edges: list[tuple[int, int, float]]
    format: str
    version: int
    checksum: str
    outline: PackedOutline | None = None
    telling: PackedTelling | None = None
    arrays: PackedArrays | None = None


def dumps(script: Script) -> bytes:
    """Return the bytes of a script file.

    Raises
    ------
    ScriptError
        If the script is so large that `loads` would refuse the file.

    Examples
    --------
    >>> import elision as el
    >>> script = el.Script.build({"ring": "ring"}, {"start": {"ring": 1}, "ring": {"end": 1}})
    >>> loads(dumps(script)) == script
    True
    """
    text = "\n".join(
        [
            "{",
            f'"format": "{FORMAT}",',
            f'"version": {_version(script)},',
            f'"checksum": "{NO_CHECKSUM}",',
            *script_lines(script),
            "}\n",
        ]
    )
    return ENVELOPE.sealed(text)


def _version(script: Script) -> int:
    if script.telling is not None and script.telling.near_words is not None:
        return NEWEST_VERSION
    if script.made_from is not None and script.made_from.apart:
        return NEWEST_VERSION
    if is_large(script) or (script.telling is not None and script.telling.kinds is not None):
        return LARGE_VERSION
    return BARE_VERSION if script.telling is None and script.made_from is None else VERSION


def script_lines(script: Script) -> list[str]:
    """Lines of JSON with the fields of a script: about, events, states, edges."""
    problem = too_many_cells(script.size, len(script.events))
    if problem:
        raise ScriptError(problem)
    large = is_large(script)
    states = [
        {"name": name, "elision": elision, "tells": [] if large else _pairs(row)}
        for name, elision, row in zip(
            script.states[1:-1], script.elision[1:-1].tolist(), script.emission[1:-1], strict=True
        )
    ]
    edges = script.parameters
    triples = zip(
        edges.source.tolist(), edges.target.tolist(), edges.transition.tolist(), strict=True
    )
    lines = [
        f'"about": {_json(script.about)},',
        f'"events": {_lines(script.events)},',
        f'"states": {_lines(states)},',
        f'"edges": {_lines([] if large else list(triples))}',
    ]
    if large:
        arrays = msgspec.json.encode(pack_arrays(script)).decode()
        lines[-1] += ","
        lines.append(f'"arrays": {arrays}')
    if script.made_from is not None:
        outline = msgspec.json.encode(pack_outline(script.made_from)).decode()
        lines[-1] += ","
        lines.append(f'"outline": {outline}')
    if script.telling is not None:
        packed = msgspec.json.encode(pack(script.telling)).decode()
        lines[-1] += ","
        lines.append(f'"telling": {packed}')
    return lines


def loads(content: bytes, *, where: str = "script", checksum: bool = True) -> Script:
    """Read a script from the bytes of its file.

    Parameters
    ----------
    content
        All bytes of the file.
    where
        The name of the file, for messages.
    checksum
        False reads a file that was edited by hand, whose checksum no longer fits.

    Raises
    ------
    FileFormatError
        If these are not the bytes of a script file; the message is one line.
    """
    raw = ENVELOPE.opened(content, where, checksum=checksum)
    file = ENVELOPE.converted(raw, _File, where)
    _check_version(file, where)
    return _script(file, where)


def _check_version(file: _File, where: str) -> None:
    bare = file.telling is None and file.outline is None
    large = file.arrays is not None or (file.telling is not None and file.telling.has_kinds)
    words = file.telling is not None and file.telling.has_words
    apart = file.outline is not None and file.outline.has_apart
    holds = None
    if words or apart or file.version == NEWEST_VERSION:
        if file.version != NEWEST_VERSION:
            holds = "with " + ("words around gaps" if words else "choices in parts")
        elif not (words or apart):
            holds = "without words around gaps or choices in parts"
    elif (file.version == LARGE_VERSION) != large:
        holds = ("with" if large else "without") + " arrays or kinds of events"
    elif not large and (file.version == BARE_VERSION) != bare:
        holds = ("without" if bare else "with") + " telling model or outline"
    if holds:
        problem = f"damaged script file: version {file.version} {holds}"
        raise FileFormatError(problem, where=where)


def save(script: Script, path: str | PathLike[str]) -> None:
    """Write a script file, whole or not at all."""
    write_atomically(path, dumps(script))


def load(path: str | PathLike[str], *, checksum: bool = True) -> Script:
    """Read a script from a file that `save` wrote.

    Parameters
    ----------
    path
        The file.
    checksum
        False reads a file that was edited by hand, whose checksum no longer fits.

    Raises
    ------
    FileFormatError
        If the file is missing, damaged, too large or of another format.
    """
    where, content = shown_path(path), ENVELOPE.read(path)
    if not content:
        problem = "no script file: the file is empty"
        raise FileFormatError(problem, where=where, hint="elision learn writes one")
    return loads(content, where=where, checksum=checksum)


def _pairs(row: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[int, float]]:
    return [(int(o), float(row[o])) for o in np.flatnonzero(row)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(items: list[Any] | tuple[Any, ...]) -> str:
    if not items:
        return "[]"
    return "[\n" + ",\n".join(_json(item) for item in items) + "\n]"


def too_many_cells(states: int, events: int) -> str | None:
    """What to complain of where the arrays of a script would not fit the memory."""
    if states * (states + events) <= MOST_CELLS:
        return None
    return (
        f"{states} states and {events} events need {states * (states + events)} cells,"
        f" expected at most {MOST_CELLS}"
    )


def _script(file: _File, where: str) -> Script:
    size = len(file.states) + 2
    problem = too_many_cells(size, len(file.events))
    if problem:
        raise FileFormatError(problem, where=where)
    transition = np.zeros((size, size))
    emission = np.zeros((size, len(file.events)))
    elision = np.zeros(size)
    for number, (source, target, probability) in enumerate(file.edges):
        place = f"{where}, edge {number}"
        if not (0 <= source < size and 0 <= target < size):
            raise FileFormatError(f"{short(source)} -> {short(target)}: no such state", where=place)
        if transition[source, target]:
            raise FileFormatError(f"{source} -> {target} stands twice", where=place)
        transition[source, target] = _positive(probability, place)
    for k, state in enumerate(file.states, start=1):
        place = f"{where}, state {k}"
        elision[k] = state.elision
        for event, probability in state.tells:
            if not 0 <= event < len(file.events):
                raise FileFormatError(f"event {short(event)}: no such event", where=place)
            if emission[k, event]:
                raise FileFormatError(f"event {event} stands twice", where=place)
            emission[k, event] = _positive(probability, place)
    if file.arrays is not None:
        if file.edges or any(state.tells for state in file.states):
            raise FileFormatError("damaged script file: edges and arrays of them", where=where)
        transition, emission = unpack_arrays(file.arrays, size, len(file.events), where)
    names = [START, *(state.name for state in file.states), END]
    telling = None if file.telling is None else unpack(file.telling, tuple(file.events), where)
    outline = None if file.outline is None else unpack_outline(file.outline, where)
    try:
        return Script(
            file.events,
            transition,
            emission,
            elision,
            states=names,
            about=file.about,
            telling=telling,
            outline=outline,
        )
    except ScriptError as error:
        raise FileFormatError(f"no valid script: {error}", where=where) from None


def _positive(probability: float, place: str) -> float:
    if not (math.isfinite(probability) and probability > 0):
        raise FileFormatError(f"probability {probability}, expected a positive one", where=place)
    return probability
