"""Ensembles as JSON files: the script to read as in a script file, the others as packed numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision._files import write_atomically
from elision.ask.last_step import FEATURES, Counted, LastStep, shared_words
from elision.ensemble import Ensemble
from elision.errors import FileFormatError, ScriptError
from elision.script import Script
from elision.scriptfile import (
    check_header,
    check_sum,
    converted,
    parse,
    script_from_fields,
    script_lines,
    too_many_cells,
    with_checksum,
)

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import DTypeLike, NDArray

FORMAT = "elision-ensemble"
VERSION = 1


class PackedScript(msgspec.Struct, forbid_unknown_fields=True):
    """A script as bytes, little-endian: edges as uint32, probabilities as float64."""

    states: int
    source: bytes
    target: bytes
    transition: bytes
    emission: bytes
    elision: bytes


class _LastStep(msgspec.Struct, forbid_unknown_fields=True):
    """Tables as float32, weights as they are."""

    bigram: bytes
    absent: bytes
    present: bytes
    weights: list[float]
    context: bytes | None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    weights: list[float]
    members: list[PackedScript]
    last_step: _LastStep | None
    script: dict[str, Any]


def dumps(ensemble: Ensemble) -> bytes:
    """Return the bytes of an ensemble file.

    Examples
    --------
    >>> import elision as el
    >>> ensemble = Ensemble([el.examples.doorbell()])
    >>> loads(dumps(ensemble)) == ensemble
    True
    """
    last_step = None if ensemble.last_step is None else _last_step_out(ensemble.last_step)
    packed = [pack(script) for script in ensemble.scripts]
    text = "\n".join(
        [
            "{",
            f'"format": "{FORMAT}",',
            f'"version": {VERSION},',
            f'"checksum": "sha256:{"0" * 64}",',
            '"script": {',
            *script_lines(ensemble.script),
            "},",
            f'"weights": {_text(ensemble.weights.tolist())},',
            f'"members": {_text(packed)},',
            f'"last_step": {_text(last_step)}',
            "}\n",
        ]
    )
    return with_checksum(text)


def loads(content: bytes, *, where: str = "ensemble", checksum: bool = True) -> Ensemble:
    """Read an ensemble from the bytes of its file, see `elision.scriptfile.loads`."""
    raw = parse(content, where)
    check_header(raw, where, FORMAT, VERSION)
    if checksum:
        check_sum(content, raw.get("checksum"), where)
    file = converted(raw, _File, where)
    script = script_from_fields(file.script, where)
    try:
        members = [
            unpack(member, script.events, f"{where}, member {number}")
            for number, member in enumerate(file.members)
        ]
        last_step = _last_step_in(file.last_step, script.events, where)
        return Ensemble(members, file.weights, script=script, last_step=last_step)
    except ScriptError as error:
        raise FileFormatError(f"no valid ensemble: {error}", where=where) from None


def save(ensemble: Ensemble, path: str | PathLike[str]) -> None:
    """Write an ensemble file, whole or not at all."""
    write_atomically(path, dumps(ensemble))


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def pack(script: Script) -> PackedScript:
    """Pack the numbers of a script; the names of its states are lost."""
    edges = script.parameters
    return PackedScript(
        states=script.size,
        source=edges.source.astype("<u4").tobytes(),
        target=edges.target.astype("<u4").tobytes(),
        transition=edges.transition.astype("<f8").tobytes(),
        emission=script.emission.astype("<f8").tobytes(),
        elision=script.elision.astype("<f8").tobytes(),
    )


def unpack(member: PackedScript, events: tuple[str, ...], where: str) -> Script:
    """Read a packed script."""
    size = member.states
    edges = len(member.source) // 4
    problem = too_many_cells(size, len(events))
    if problem:
        raise FileFormatError(problem, where=where)
    if not 2 <= size <= len(member.elision) // 8:
        raise FileFormatError(f"{size} states for {len(member.elision)} bytes", where=where)
    source = _array(member.source, "<u4", (edges,), where)
    target = _array(member.target, "<u4", (edges,), where)
    if edges and max(source.max(), target.max()) >= size:
        raise FileFormatError("an edge between states that are not there", where=where)
    transition = np.zeros((size, size))
    transition[source, target] = _array(member.transition, "<f8", (edges,), where)
    return Script(
        events,
        transition,
        _array(member.emission, "<f8", (size, len(events)), where),
        _array(member.elision, "<f8", (size,), where),
    )


def _last_step_out(last_step: LastStep) -> _LastStep:
    counted = last_step.counted
    context = last_step.context
    return _LastStep(
        bigram=counted.bigram.astype("<f4").tobytes(),
        absent=counted.absent.astype("<f4").tobytes(),
        present=counted.present.astype("<f4").tobytes(),
        weights=last_step.weights.tolist(),
        context=None if context is None else context.astype("<f4").tobytes(),
    )


def _last_step_in(found: _LastStep | None, events: tuple[str, ...], where: str) -> LastStep | None:
    if found is None:
        return None
    count = len(events)
    place = f"{where}, last step"
    if len(found.weights) != FEATURES:
        problem = f"{len(found.weights)} weights, expected {FEATURES}"
        raise FileFormatError(problem, where=place)
    counted = Counted(
        _array(found.bigram, "<f4", (count + 1, count + 1), place),
        _array(found.absent, "<f4", (count,), place),
        _array(found.present, "<f4", (2, count, count), place),
    )
    context = None
    if found.context is not None:
        context = _array(found.context, "<f4", (4 * count + 2, count), place)
    return LastStep(counted, shared_words(events), np.array(found.weights), context)


def _array(content: bytes, kind: DTypeLike, shape: tuple[int, ...], where: str) -> NDArray[Any]:
    wanted = int(np.prod(shape)) * np.dtype(kind).itemsize
    if len(content) != wanted:
        raise FileFormatError(f"{len(content)} bytes, expected {wanted}", where=where)
    found = np.frombuffer(content, kind).reshape(shape)
    if not np.isfinite(found).all():
        raise FileFormatError("a number that is not finite", where=where)
    return found.astype(np.dtype(kind).newbyteorder("="))
