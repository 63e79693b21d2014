"""Distinct narratives in temporary files, by their hashes, and how such files become one.

A narrative's hash decides its *bucket*, so that equal ones meet whatever file they came from, and
a few buckets at a time can be put together in little memory.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels
from elision.scale._arrays import map_arrays, write_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

BITS = 12
BUCKETS = 1 << BITS
"""So many, whatever the data: parts of a packed corpus are made of whole buckets."""

ROW_BYTES = 120
EVENT_BYTES = 20
"""What a narrative, and each event of it, takes in memory while buckets are put together."""


class Rows(NamedTuple):
    """Narratives as arrays.

    Attributes
    ----------
    symbol
        Numbers of events, end to end.
    offset
        Narrative k is ``symbol[offset[k]:offset[k + 1]]``.
    weight
        How often each was told.
    """

    symbol: NDArray[np.uint32]
    offset: NDArray[np.int64]
    weight: NDArray[np.int64]


class Hashed(NamedTuple):
    """Distinct narratives in the order of their hashes."""

    rows: Rows
    hashes: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Spill:
    """A file of distinct narratives in the order of their hashes.

    Attributes
    ----------
    path
        The file.
    names
        What its symbols stand for.
    rows, told
        (buckets,): narratives of each bucket, and events of these.
    """

    path: Path
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    told: NDArray[np.int64]

    def section(self, first: int, last: int) -> Hashed:
        """Map the narratives of the buckets from ``first`` to before ``last``."""
        rows, told = int(self.rows.sum()), int(self.told.sum())
        kinds = (("<u8", rows), ("<i8", rows + 1), ("<i8", rows), ("<u4", told))
        hashes, offset, weight, symbol = map_arrays(self.path, kinds)
        begin, end = int(self.rows[:first].sum()), int(self.rows[:last].sum())
        start, stop = int(offset[begin]), int(offset[end])
        made = Rows(symbol[start:stop], offset[begin : end + 1] - start, weight[begin:end])
        return Hashed(made, hashes[begin:end])


def hashed(rows: Rows, names: Sequence[str]) -> NDArray[np.uint64]:
    """Hash narratives by the names of their events."""
    digests = [_digest(name) for name in names]
    found = np.zeros(len(rows.weight), np.uint64)
    digest = np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
    kernels.packing.narrative_hashes(rows.symbol, rows.offset, digest, found)
    return found


def _digest(name: str) -> bytes:
    return hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()


def distinct(rows: Rows, hashes: NDArray[np.uint64]) -> Hashed:
    """Count identical narratives once."""
    order = np.argsort(hashes)
    kept, total = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    number = kernels.packing.find_distinct(order, hashes, *rows, kept, total)
    return Hashed(taken(rows, kept[:number])._replace(weight=total[:number]), hashes[kept[:number]])


def taken(rows: Rows, which: NDArray[np.int64], code: NDArray[np.uint32] | None = None) -> Rows:
    """Take some narratives, in this order, with symbols renamed by ``code``."""
    offset = np.zeros(len(which) + 1, np.int64)
    np.cumsum(np.diff(rows.offset)[which], out=offset[1:])
    symbol = np.zeros(int(offset[-1]), np.uint32)
    if code is None:
        code = np.arange(int(rows.symbol.max(initial=0)) + 1, dtype=np.uint32)
    kernels.packing.gather(rows.symbol, rows.offset, which, code, symbol, offset)
    return Rows(symbol, offset, rows.weight[which])


def joined(several: Sequence[Hashed]) -> Hashed:
    """Put narratives one after the other."""
    lengths = [np.diff(one.rows.offset) for one in several]
    offset = np.concatenate([[0], *lengths]).astype(np.int64)
    np.cumsum(offset, out=offset)
    empty = Rows(np.zeros(0, np.uint32), offset, np.zeros(0, np.int64))
    symbol = np.concatenate([empty.symbol, *(one.rows.symbol for one in several)])
    weight = np.concatenate([empty.weight, *(one.rows.weight for one in several)])
    hashes = np.concatenate([np.zeros(0, np.uint64), *(one.hashes for one in several)])
    return Hashed(Rows(symbol, offset, weight), hashes)


def spill(rows: Rows, names: Sequence[str], path: Path) -> Spill:
    """Write narratives to a file, identical ones once; names that none of them tells are let go."""
    used = np.flatnonzero(np.bincount(rows.symbol, minlength=len(names)))
    told = tuple(names[code] for code in used.tolist())
    code = np.zeros(len(names), np.uint32)
    code[used] = np.arange(len(used))
    rows = rows._replace(symbol=code[rows.symbol])
    return _written(distinct(rows, hashed(rows, told)), told, path)


def merge(
    spills: Sequence[Spill], buckets: tuple[int, int], names: tuple[str, ...], path: Path
) -> Spill:
    """Write some buckets of several files to one, in which ``names`` number the events."""
    number = {name: code for code, name in enumerate(names)}
    several = []
    for one in spills:
        code = np.array([number[name] for name in one.names] or [0], np.uint32)
        found = one.section(*buckets)
        every = np.arange(len(found.hashes))
        several.append(found._replace(rows=taken(found.rows, every, code)))
    together = joined(several)
    return _written(distinct(*together), names, path)


def _written(found: Hashed, names: tuple[str, ...], path: Path) -> Spill:
    bucket = (found.hashes >> np.uint64(64 - BITS)).astype(np.int64)
    lengths = np.diff(found.rows.offset)
    rows = np.bincount(bucket, minlength=BUCKETS)
    told = np.bincount(bucket, lengths, BUCKETS).astype(np.int64)
    write_arrays(path, [found.hashes, found.rows.offset, found.rows.weight, found.rows.symbol])
    return Spill(path, names, rows, told)


def size_of(one: Spill) -> int:
    """What the narratives of a file take in memory while they are put together with others."""
    return ROW_BYTES * int(one.rows.sum()) + EVENT_BYTES * int(one.told.sum())


def ranges(sizes: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Cut buckets of these sizes into ranges, each of at most this size or of one bucket.

    Examples
    --------
    >>> ranges(np.array([3, 3, 9, 0, 1]), 6)
    [(0, 2), (2, 3), (3, 5)]
    """
    found = []
    first, size = 0, 0
    for bucket, more in enumerate(sizes.tolist()):
        if bucket > first and size + more > most:
            found.append((first, bucket))
            first, size = bucket, 0
        size += more
    return [*found, (first, len(sizes))]
