"""Telling models in script files: tables as 32-bit numbers, which the model itself holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision.errors import FileFormatError, ScriptError
from elision.values.near_words import NearWords, WordChances
from elision.values.telling import Calibration, Chain, Missing, TellingModel
from elision.values.telling_kinds import Kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike, NDArray

TABLES = ("after", "memory", "told", "place", "history")
NUMBERS = ("singles", "fade", "again", "total", "average")


class _Chain(msgspec.Struct, forbid_unknown_fields=True):
    """A chain: arrays as bytes, little-endian, float32 or int64 (``keys``)."""

    after: bytes
    memory: bytes
    told: bytes
    place: bytes
    history: bytes
    keys: bytes
    singles: int
    fade: float
    again: float
    total: float
    average: float


class _Calibration(msgspec.Struct, forbid_unknown_fields=True):
    """Oddness of usual tellings, as float32, and the share of strange events."""

    oddness: bytes
    strange: float


class _Kinds(msgspec.Struct, forbid_unknown_fields=True):
    """Kinds of events: arrays as bytes, little-endian, int32 and float32."""

    of: bytes
    share: bytes


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    """What words say of a gap around which they are told: arrays as bytes, little-endian, float16.

    The two of ``ahead`` are of what comes next.
    """

    words: list[str]
    table: bytes
    constant: bytes
    ahead: tuple[bytes, bytes]
    share: float


class TellingFields(msgspec.Struct, forbid_unknown_fields=True):
    """A telling model without its events, which are those of the script."""

    forward: _Chain
    backward: _Chain | None
    missing: tuple[float, float, float] | None
    usual: _Calibration | None
    kinds: _Kinds | None
    near_words: _Words | None


def telling_fields(model: TellingModel) -> TellingFields:
    """Return what a file holds of a telling model."""
    return TellingFields(
        forward=_chain_fields(model.forward),
        backward=_made(_chain_fields, model.backward),
        missing=_made(tuple, model.missing),
        usual=_made(
            lambda one: _Calibration(_bytes(one.oddness, "<f4"), one.strange), model.calibration
        ),
        kinds=_made(
            lambda one: _Kinds(_bytes(one.of, "<i4"), _bytes(one.share, "<f4")), model.kinds
        ),
        near_words=_made(_words_fields, model.near_words),
    )


def _made(make: Callable[[Any], Any], part: object) -> Any:
    """Make something of a part, if there is one."""
    return None if part is None else make(part)


def _chain_fields(chain: Chain) -> _Chain:
    tables: dict[str, Any] = {name: _bytes(getattr(chain, name), "<f4") for name in TABLES}
    numbers = {name: getattr(chain, name) for name in NUMBERS}
    return _Chain(**tables, keys=_bytes(chain.keys, "<i8"), **numbers)


def _words_fields(words: NearWords) -> _Words:
    around, ahead = (
        (_bytes(one.table, "<f2"), _bytes(one.constant, "<f2"))
        for one in (words.around, words.ahead)
    )
    return _Words(list(words.around.words), *around, ahead, words.around.share)


def _bytes(values: NDArray[Any], kind: str) -> bytes:
    return values.astype(kind).tobytes()


def read_telling(file: TellingFields, events: Sequence[str], where: str) -> TellingModel:
    """Return the telling model that a file holds.

    Raises
    ------
    FileFormatError
        If its arrays do not fit.
    """
    try:
        kinds = _made(_kinds, file.kinds)
        size = len(events) if kinds is None else kinds.number
        return TellingModel(
            events,
            _chain(file.forward, size),
            _made(lambda chain: _chain(chain, size), file.backward),
            missing=_made(lambda numbers: Missing(*numbers), file.missing),
            calibration=_made(_calibration, file.usual),
            kinds=kinds,
            near_words=_made(lambda words: _near_words(words, len(events)), file.near_words),
        )
    except ScriptError as error:
        raise FileFormatError(f"damaged script file: {error}", where=where) from None


def _calibration(file: _Calibration) -> Calibration:
    return Calibration.of(_array(file.oddness, "<f4"), file.strange)


def _chain(file: _Chain, size: int) -> Chain:
    tables: dict[str, Any] = {}
    for name in TABLES:
        table = _array(getattr(file, name), "<f4")
        if table.size % (size + 1):
            raise ScriptError(f"{name} has no whole rows")
        tables[name] = table.reshape(-1, size + 1)
    numbers = {name: getattr(file, name) for name in NUMBERS}
    return Chain(**tables, keys=_array(file.keys, "<i8"), **numbers)


def _kinds(file: _Kinds) -> Kinds:
    return Kinds(_array(file.of, "<i4"), _array(file.share, "<f4"))


def _near_words(file: _Words, events: int) -> NearWords:
    words = tuple(file.words)

    def chances(arrays: tuple[bytes, bytes], sides: int, outcomes: int) -> WordChances:
        table, constant = (_array(one, "<f2") for one in arrays)
        shape = (sides, len(words), outcomes)
        if table.size != math.prod(shape):
            raise ScriptError("words and their table do not fit")
        return WordChances(words, table.reshape(shape), constant, file.share)

    return NearWords(
        chances((file.table, file.constant), 2, events), chances(file.ahead, 1, events + 1)
    )


def _array(content: bytes, kind: DTypeLike) -> NDArray[Any]:
    if len(content) % np.dtype(kind).itemsize:
        raise ScriptError("half a number")
    found = np.frombuffer(content, kind)
    if not np.isfinite(found).all():  # before it is cast, which some of these cannot be
        raise ScriptError("a number that is none")
    return found.astype(np.int64 if found.dtype.kind == "i" else float)
