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
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


class PackedChain(msgspec.Struct, forbid_unknown_fields=True):
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


class PackedKinds(msgspec.Struct, forbid_unknown_fields=True):
    """Kinds of events: arrays as bytes, little-endian, int32 and float32."""

    of: bytes
    share: bytes


class PackedWords(msgspec.Struct, forbid_unknown_fields=True):
    """What words say of a gap around which they are told: arrays as bytes, little-endian, float16.

    The two of ``ahead`` are of what comes next.
    """

    words: list[str]
    table: bytes
    constant: bytes
    ahead: tuple[bytes, bytes]
    share: float


class PackedTelling(msgspec.Struct, forbid_unknown_fields=True):
    """A telling model without its events, which are those of the script."""

    forward: PackedChain
    backward: PackedChain | None
    missing: tuple[float, float, float] | None
    calibration: bytes | None = msgspec.field(default=None, name="usual")
    strange: float | None = None
    kinds: PackedKinds | msgspec.UnsetType = msgspec.UNSET
    near_words: PackedWords | msgspec.UnsetType = msgspec.UNSET

    @property
    def has_kinds(self) -> bool:
        """Whether its chains speak of kinds of events."""
        return not isinstance(self.kinds, msgspec.UnsetType)

    @property
    def has_words(self) -> bool:
        """Whether it knows words."""
        return not isinstance(self.near_words, msgspec.UnsetType)


def pack(model: TellingModel) -> PackedTelling:
    """Return what a file holds of a telling model."""
    backward = None if model.backward is None else _packed(model.backward)
    found = model.missing
    missing = None if found is None else (found.constant, found.odds, found.rivals)
    packed = PackedTelling(_packed(model.forward), backward, missing)
    if model.calibration is not None:
        packed.calibration = model.calibration.oddness.astype("<f4").tobytes()
        packed.strange = model.calibration.strange
    if model.kinds is not None:
        of, share = model.kinds.of.astype("<i4"), model.kinds.share.astype("<f4")
        packed.kinds = PackedKinds(of.tobytes(), share.tobytes())
    if model.near_words is not None:
        around, ahead = map(_packed_chances, model.near_words)
        first = model.near_words.around
        packed.near_words = PackedWords(list(first.words), *around, ahead, first.share)
    return packed


def _packed_chances(chances: WordChances) -> tuple[bytes, bytes]:
    return chances.table.astype("<f2").tobytes(), chances.constant.astype("<f2").tobytes()


def unpack(packed: PackedTelling, events: Sequence[str], where: str) -> TellingModel:
    """Return the telling model that `pack` packed.

    Raises
    ------
    FileFormatError
        If its arrays do not fit.
    """
    try:
        kinds = _kinds(packed.kinds, where)
        size = len(events) if kinds is None else kinds.number
        return TellingModel(
            events,
            _chain(packed.forward, size, where),
            None if packed.backward is None else _chain(packed.backward, size, where),
            missing=None if packed.missing is None else Missing(*packed.missing),
            calibration=_calibration(packed, where),
            kinds=kinds,
            near_words=_near_words(packed.near_words, len(events), where),
        )
    except ScriptError as error:
        raise FileFormatError(f"damaged script file: {error}", where=where) from None


def _kinds(packed: PackedKinds | msgspec.UnsetType, where: str) -> Kinds | None:
    if isinstance(packed, msgspec.UnsetType):
        return None
    of, share = _array(packed.of, "<i4", where), _array(packed.share, "<f4", where)
    return Kinds(of.astype(np.int64), share.astype(float))


def _near_words(
    packed: PackedWords | msgspec.UnsetType, events: int, where: str
) -> NearWords | None:
    if isinstance(packed, msgspec.UnsetType):
        return None
    words = tuple(packed.words)

    def chances(arrays: tuple[bytes, bytes], sides: int, outcomes: int) -> WordChances:
        table, constant = (_array(one, "<f2", where).astype(float) for one in arrays)
        shape = (sides, len(words), outcomes)
        if table.size != math.prod(shape):
            problem = "damaged script file: words and their table do not fit"
            raise FileFormatError(problem, where=where)
        return WordChances(words, table.reshape(shape), constant, packed.share)

    return NearWords(
        chances((packed.table, packed.constant), 2, events), chances(packed.ahead, 1, events + 1)
    )


def _calibration(packed: PackedTelling, where: str) -> Calibration | None:
    if packed.calibration is None or packed.strange is None:
        return None
    return Calibration.of(_array(packed.calibration, "<f4", where), packed.strange)


def _packed(chain: Chain) -> PackedChain:
    arrays: dict[str, Any] = {
        name: getattr(chain, name).astype("<f4").tobytes()
        for name in ("after", "memory", "told", "place", "history")
    }
    return PackedChain(
        **arrays,
        keys=chain.keys.astype("<i8").tobytes(),
        singles=chain.singles,
        fade=chain.fade,
        again=chain.again,
        total=chain.total,
        average=chain.average,
    )


def _chain(packed: PackedChain, size: int, where: str) -> Chain:
    def rows(name: str) -> NDArray[np.float64]:
        table = _array(getattr(packed, name), "<f4", where).astype(float)
        if table.size % (size + 1):
            raise FileFormatError(f"damaged script file: {name} has no whole rows", where=where)
        return table.reshape(-1, size + 1)

    return Chain(
        after=rows("after"),
        memory=rows("memory"),
        told=rows("told"),
        place=rows("place"),
        fade=packed.fade,
        again=packed.again,
        total=packed.total,
        average=packed.average,
        keys=_array(packed.keys, "<i8", where).astype(np.int64),
        singles=packed.singles,
        history=rows("history"),
    )


def _array(content: bytes, kind: DTypeLike, where: str) -> NDArray[Any]:
    if len(content) % np.dtype(kind).itemsize:
        raise FileFormatError("damaged script file: half a number", where=where)
    found = np.frombuffer(content, kind)
    if not np.isfinite(found).all():  # before it is cast, which some of these cannot be
        raise FileFormatError("damaged script file: a number that is none", where=where)
    return found
