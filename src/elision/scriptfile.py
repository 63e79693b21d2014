"""Scripts as JSON files: one versioned format with a checksum (``docs/format.md``)."""

from __future__ import annotations

import hashlib
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
import numpy as np

from elision._files import write_atomically
from elision.errors import FileFormatError, ScriptError
from elision.script import END, START, Script

if TYPE_CHECKING:
    from os import PathLike

FORMAT = "elision-script"
VERSION = 1
LARGEST_BYTES = 64 << 20
MOST_STATES = 20_000
"""A larger file or script is refused before it can exhaust the memory."""

_CHECKSUM = re.compile(rb'"checksum": ?"sha256:([0-9a-f]{64})"')


class _State(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    elision: float
    tells: list[tuple[int, float]]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    about: dict[str, Any]
    events: list[str]
    states: list[_State]
    edges: list[tuple[int, int, float]]


def dumps(script: Script) -> bytes:
    """Return the bytes of a script file.

    Examples
    --------
    >>> import elision as el
    >>> script = el.Script.build({"ring": "ring"}, {"start": {"ring": 1}, "ring": {"end": 1}})
    >>> loads(dumps(script)) == script
    True
    """
    states = [
        {"name": name, "elision": elision, "tells": _pairs(row)}
        for name, elision, row in zip(
            script.states[1:-1], script.elision[1:-1].tolist(), script.emission[1:-1], strict=True
        )
    ]
    edges = script.parameters
    triples = zip(
        edges.source.tolist(), edges.target.tolist(), edges.transition.tolist(), strict=True
    )
    try:
        about = _json(script.about)
    except (TypeError, ValueError) as error:
        raise ScriptError(f"`about` does not fit into JSON: {error}") from None
    text = "\n".join(
        [
            "{",
            f'"format": "{FORMAT}",',
            f'"version": {VERSION},',
            f'"checksum": "sha256:{"0" * 64}",',
            f'"about": {about},',
            f'"events": {_lines(script.events)},',
            f'"states": {_lines(states)},',
            f'"edges": {_lines(list(triples))}',
            "}\n",
        ]
    ).encode()
    digest = hashlib.sha256(text).hexdigest().encode()
    return _CHECKSUM.sub(b'"checksum": "sha256:' + digest + b'"', text, count=1)


def loads(content: bytes, *, where: str = "script", checksum: bool = True) -> Script:
    """Read a script from the bytes of its file."""
    raw = _parse(content, where)
    _check_header(raw, where)
    if checksum:
        _check_sum(content, where)
    try:
        file = msgspec.convert(raw, _File, strict=True)
    except msgspec.ValidationError as error:
        raise FileFormatError(f"damaged script file: {error}", where=where) from None
    return _script(file, where)


def save(script: Script, path: str | PathLike[str]) -> None:
    """Write a script file, whole or not at all."""
    write_atomically(path, dumps(script))


def load(path: str | PathLike[str], *, checksum: bool = True) -> Script:
    """Read a script from a file that `Script.save` wrote.

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
    where = str(path)
    try:
        size = Path(path).stat().st_size
        if size > LARGEST_BYTES:
            problem = f"{size} bytes, expected a script file of at most {LARGEST_BYTES}"
            raise FileFormatError(problem, where=where)
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror or error}", where=where) from None
    return loads(content, where=where, checksum=checksum)


def _pairs(row: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[int, float]]:
    return [(int(o), float(row[o])) for o in np.flatnonzero(row)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(items: list[Any] | tuple[Any, ...]) -> str:
    if not items:
        return "[]"
    return "[\n" + ",\n".join(_json(item) for item in items) + "\n]"


def _parse(content: bytes, where: str) -> dict[str, Any]:
    def no_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no number here")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {twice[:60]!r} stands twice")
        return result

    try:
        raw = json.loads(content, parse_constant=no_constant, object_pairs_hook=distinct)
    except RecursionError:
        raise FileFormatError("no script file: nested too deeply", where=where) from None
    except (ValueError, UnicodeDecodeError) as error:
        raise FileFormatError(f"no script file: {str(error)[:200]}", where=where) from None
    if not isinstance(raw, dict):
        problem = f"no script file: a {type(raw).__name__}, expected an object"
        raise FileFormatError(problem, where=where)
    return raw


def _check_header(raw: dict[str, Any], where: str) -> None:
    kind = raw.get("format")
    if kind != FORMAT:
        problem = f"no script file: format is {str(kind)[:60]!r}, expected {FORMAT!r}"
        raise FileFormatError(problem, where=where)
    version = raw.get("version")
    if version != VERSION:
        raise FileFormatError(
            f"script file of version {str(version)[:60]}, this release reads version {VERSION}",
            where=where,
            hint="a newer release may read it" if isinstance(version, int) else None,
        )


def _check_sum(content: bytes, where: str) -> None:
    found = _CHECKSUM.search(content)
    if found is not None:
        start, end = found.span(1)
        blank = content[:start] + b"0" * 64 + content[end:]
        if hashlib.sha256(blank).hexdigest().encode() == found.group(1):
            return
    raise FileFormatError(
        "damaged script file: the checksum does not fit",
        where=where,
        hint="load(..., checksum=False) reads a file that was edited by hand",
    )


def _script(file: _File, where: str) -> Script:
    size = len(file.states) + 2
    if size > MOST_STATES:
        raise FileFormatError(f"{size} states, expected at most {MOST_STATES}", where=where)
    transition = np.zeros((size, size))
    emission = np.zeros((size, len(file.events)))
    elision = np.zeros(size)
    for number, (source, target, probability) in enumerate(file.edges):
        place = f"{where}, edge {number}"
        if not (0 <= source < size and 0 <= target < size):
            raise FileFormatError(f"{source} -> {target}: no such state", where=place)
        if transition[source, target]:
            raise FileFormatError(f"{source} -> {target} stands twice", where=place)
        transition[source, target] = _positive(probability, place)
    for k, state in enumerate(file.states, start=1):
        place = f"{where}, state {k}"
        elision[k] = state.elision
        for event, probability in state.tells:
            if not 0 <= event < len(file.events):
                raise FileFormatError(f"event {event}: no such event", where=place)
            if emission[k, event]:
                raise FileFormatError(f"event {event} stands twice", where=place)
            emission[k, event] = _positive(probability, place)
    names = [START, *(state.name for state in file.states), END]
    try:
        return Script(file.events, transition, emission, elision, states=names, about=file.about)
    except ScriptError as error:
        raise FileFormatError(f"no valid script: {error}", where=where) from None


def _positive(probability: float, place: str) -> float:
    if not (math.isfinite(probability) and probability > 0):
        raise FileFormatError(f"probability {probability}, expected a positive one", where=place)
    return probability
