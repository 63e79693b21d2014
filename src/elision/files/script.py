"""Scripts as JSON files (``docs/format.md``), with their outlines and telling models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, ScriptError
from elision.files.envelope import Envelope
from elision.files.telling import TellingFields, read_telling, telling_fields
from elision.values._script_parts import END, START
from elision.values.observations import short
from elision.values.outline import Alarms, Outline, Step, Unit
from elision.values.script import Script

if TYPE_CHECKING:
    from os import PathLike

FORMAT = "elision-script"

MOST_CELLS = 1 << 26
"""More cells in the arrays of a script are refused before the memory runs out."""

ENVELOPE = Envelope(
    FORMAT,
    "script file",
    edited="load(..., checksum=False) reads a file that was edited by hand",
)


class _State(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    elision: float
    tells: list[tuple[int, float]]


class _Step(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    event: str
    told: float
    telling: float
    again: float
    place: float
    wording: tuple[str, ...]


class _Unit(msgspec.Struct, forbid_unknown_fields=True):
    branches: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    happens: float


class _Alarms(msgspec.Struct, forbid_unknown_fields=True):
    skipped: tuple[float, ...]
    out_of_order: tuple[float, ...]


class _Outline(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    tellings: int
    steps: list[_Step]
    units: list[_Unit]
    before: list[tuple[int, int]]
    pairs: list[list[int]]
    alarms: _Alarms | None
    apart: list[_Unit]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    about: dict[str, Any]
    events: list[str]
    states: list[_State]
    edges: list[tuple[int, int, float]]
    outline: _Outline | None
    telling: TellingFields | None


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
    problem = _too_many_cells(script.size, len(script.events))
    if problem:
        raise ScriptError(problem)
    states = [
        {
            "name": name,
            "elision": elision,
            "tells": [(o, row[o]) for o in np.flatnonzero(row).tolist()],
        }
        for name, elision, row in zip(
            script.states[1:-1], script.elision[1:-1].tolist(), script.emission[1:-1], strict=True
        )
    ]
    edges = script.parameters
    arrays = (edges.source.tolist(), edges.target.tolist(), edges.transition.tolist())
    outline, telling = script.made_from, script.telling
    return ENVELOPE.written(
        {
            "about": script.about,
            "events": script.events,
            "states": states,
            "edges": list(zip(*arrays, strict=True)),
            "outline": None if outline is None else msgspec.to_builtins(_outline_fields(outline)),
            "telling": None if telling is None else msgspec.to_builtins(telling_fields(telling)),
        }
    )


def _outline_fields(outline: Outline) -> _Outline:
    alarms = outline.alarms
    return _Outline(
        outline.title,
        outline.tellings,
        [
            _Step(s.name, s.event, s.told, s.telling, s.again, s.place, tuple(s.wording))
            for s in outline.steps
        ],
        [_Unit(u.branches, u.shares, u.happens) for u in outline.units],
        [(a, b) for a, b in np.argwhere(outline.covers).tolist()],
        outline.pairs.tolist(),
        None if alarms is None else _Alarms(alarms.skipped, alarms.out_of_order),
        [_Unit(u.branches, u.shares, u.happens) for u in outline.apart],
    )


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
    file = ENVELOPE.converted(ENVELOPE.opened(content, where, checksum=checksum), _File, where)
    problem = _too_many_cells(len(file.states) + 2, len(file.events))
    if problem:
        raise FileFormatError(problem, where=where)
    try:
        return Script(
            file.events,
            _transition(file, where),
            *_emission(file, where),
            states=[START, *(state.name for state in file.states), END],
            about=file.about,
            telling=None
            if file.telling is None
            else read_telling(file.telling, tuple(file.events), where),
            outline=None if file.outline is None else _outline(file.outline, where),
        )
    except ScriptError as error:
        raise FileFormatError(f"no valid script: {error}", where=where) from None


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


def _too_many_cells(states: int, events: int) -> str | None:
    """What to complain of where the arrays of a script would not fit the memory."""
    cells = states * (states + events)
    if cells <= MOST_CELLS:
        return None
    return f"{states} states and {events} events need {cells} cells, expected at most {MOST_CELLS}"


def _transition(file: _File, where: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    size = len(file.states) + 2
    transition = np.zeros((size, size))
    for number, (source, target, probability) in enumerate(file.edges):
        place = f"{where}, edge {number}"
        if not (0 <= source < size and 0 <= target < size):
            raise FileFormatError(f"{short(source)} -> {short(target)}: no such state", where=place)
        if transition[source, target]:
            raise FileFormatError(f"{source} -> {target} stands twice", where=place)
        transition[source, target] = _positive(probability, place)
    return transition


def _emission(
    file: _File, where: str
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.float64]]]:
    emission = np.zeros((len(file.states) + 2, len(file.events)))
    elision = np.zeros(len(emission))
    for k, state in enumerate(file.states, start=1):
        place = f"{where}, state {k}"
        elision[k] = state.elision
        for event, probability in state.tells:
            if not 0 <= event < len(file.events):
                raise FileFormatError(f"event {short(event)}: no such event", where=place)
            if emission[k, event]:
                raise FileFormatError(f"event {event} stands twice", where=place)
            emission[k, event] = _positive(probability, place)
    return emission, elision


def _positive(probability: float, place: str) -> float:
    if not (math.isfinite(probability) and probability > 0):
        raise FileFormatError(f"probability {probability}, expected a positive one", where=place)
    return probability


def _outline(file: _Outline, where: str) -> Outline:
    try:
        msgspec.json.encode(file)
    except UnicodeError:
        ENVELOPE.damaged("half a surrogate pair in the outline, expected Unicode", where)
    n = len(file.units)
    order = np.zeros((n, n), dtype=bool)
    for a, b in file.before:
        if not (0 <= a < n and 0 <= b < n):
            ENVELOPE.damaged(f"no unit {short(a)} or {short(b)}", where)
        order[a, b] = True
    for k in range(n):
        order |= np.outer(order[:, k], order[k])
    if any(len(row) != n for row in file.pairs) or len(file.pairs) != n:
        ENVELOPE.damaged("pairs do not fit the units", where)
    if file.tellings < 0 or any(count < 0 for row in file.pairs for count in row):
        ENVELOPE.damaged("fewer than 0 tellings", where)
    try:
        return Outline(
            tuple(Step(*msgspec.structs.astuple(step)) for step in file.steps),
            tuple(Unit(*msgspec.structs.astuple(unit)) for unit in file.units),
            order,
            np.array(file.pairs, dtype=np.int64).reshape(n, n),
            file.tellings,
            file.title,
            None if file.alarms is None else Alarms(*msgspec.structs.astuple(file.alarms)),
            tuple(Unit(*msgspec.structs.astuple(unit)) for unit in file.apart),
        )
    except (ScriptError, OverflowError, IndexError) as error:
        ENVELOPE.damaged(str(error), where)
