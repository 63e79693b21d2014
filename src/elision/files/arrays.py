"""The probabilities of very large scripts in files: arrays as compressed bytes, to the last bit."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from elision.errors import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from elision.values.script import Script

LARGE = 200_000
"""Edges and probabilities of events from which on a script is written so: some 6 MB of text."""


class PackedArrays(msgspec.Struct, forbid_unknown_fields=True):
    """Edges, and (states, events) probabilities, little-endian, each array compressed by zlib."""

    source: bytes
    target: bytes
    transition: bytes
    emission: bytes


def is_large(script: Script) -> bool:
    """Whether a script would make a very large file as text."""
    return len(script.parameters.source) + int(np.count_nonzero(script.emission)) > LARGE


def pack_arrays(script: Script) -> PackedArrays:
    """Return what a file holds of a large script's probabilities."""
    edges = script.parameters
    return PackedArrays(
        source=packed(edges.source.astype("<i4")),
        target=packed(edges.target.astype("<i4")),
        transition=packed(edges.transition.astype("<f8")),
        emission=packed(script.emission[1:-1].astype("<f8")),
    )


def unpack_arrays(
    arrays: PackedArrays, states: int, events: int, where: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return transition and emission, first and last state included.

    Raises
    ------
    FileFormatError
        If they do not fit.
    """
    transition = np.zeros((states, states))
    emission = np.zeros((states, events))
    try:
        source = unpacked(arrays.source, "<i4", most=states * states)
        target = unpacked(arrays.target, "<i4", most=states * states)
        chance = unpacked(arrays.transition, "<f8", most=states * states)
        told = unpacked(arrays.emission, "<f8", most=(states - 2) * events)
        known = all(((one >= 0) & (one < states)).all() for one in (source, target))
        if not known or not len(source) == len(target) == len(chance):
            raise ValueError("edges between states that there are not")  # noqa: TRY301
        emission[1:-1] = told.reshape(states - 2, events)
    except (ValueError, zlib.error) as error:
        raise FileFormatError(f"damaged script file: {error}", where=where) from None
    transition[source, target] = chance
    return transition, emission


def packed(values: NDArray[Any]) -> bytes:
    """Compress an array."""
    return zlib.compress(np.ascontiguousarray(values).tobytes(), 6)


def unpacked(content: bytes, kind: DTypeLike, *, most: int) -> NDArray[Any]:
    """Return at most so many numbers: a small file may not blow up.

    Raises
    ------
    ValueError
        If there are more, or half a number.
    """
    size = np.dtype(kind).itemsize
    found = zlib.decompressobj().decompress(content, most * size + 1)
    if len(found) > most * size or len(found) % size:
        raise ValueError("an array that is too short or too long")
    return np.frombuffer(found, kind)
