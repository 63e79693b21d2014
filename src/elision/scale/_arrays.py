"""Arrays one after the other in a file, mapped into memory when they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Kinds = Sequence[tuple[str, int]]


def write_arrays(path: Path, arrays: Sequence[NDArray[Any]]) -> None:
    """Write arrays, each from a multiple of eight bytes on, the least byte of a number first."""
    with path.open("wb") as file:
        for array in arrays:
            plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            file.write(plain.view(np.uint8).data)  # nothing is copied
            file.write(bytes(-plain.nbytes % 8))


def map_arrays(path: Path, kinds: Kinds) -> list[NDArray[Any]]:
    """Map arrays of known types and lengths; nothing is read before it is used."""
    if not size_of(kinds):
        return [np.zeros(0, kind) for kind, _ in kinds]
    content = np.memmap(path, np.uint8, "c")  # compiled loops want arrays to be writable
    found = []
    begin = 0
    for kind, length in kinds:
        size = np.dtype(kind).itemsize * length
        found.append(np.asarray(content[begin : begin + size]).view(kind))
        begin += size + -size % 8
    return found


def size_of(kinds: Kinds) -> int:
    """How many bytes the file of such arrays has."""
    sizes = [np.dtype(kind).itemsize * length for kind, length in kinds]
    return sum(size + -size % 8 for size in sizes)
