"""Files cut into slices of bounded size, and the narratives that each tells."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from elision.errors import InputError, shown
from elision.readers.records import narratives_of_lines
from elision.readers.source import GZIP, Source, failures, opened
from elision.readers.table import arrow, list_columns, parquet_errors
from elision.scale._spill import Rows, taken
from elision.values.narrative import NO_EVENTS_HINT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from elision.readers.columns import Roles
    from elision.values.narrative import Narrative

TEXT_GROWS = 16
"""Bytes of memory for each byte of JSON that is read at once: strings are objects of their own."""

COLUMN_GROWS = 6
"""The same for each byte of a column."""

VALUE_BYTES = 24
"""Of a short text in a column, with where it begins."""

_BOM = b"\xef\xbb\xbf"
_Strings = tuple[Annotated[str, msgspec.Meta(min_length=1)], ...]

Told = tuple[str, Rows, tuple[str, ...]]
"""A domain, narratives of it, and what their symbols stand for."""


class _Record(msgspec.Struct):
    """What must be right in a record; whatever else it has is let pass."""

    events: _Strings
    domain: str | None = None
    id: str | int | None = None
    steps: _Strings | None = None


_decoder = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a file.

    Attributes
    ----------
    path, kind, encoding
        The file, its format, and how text is written in it.
    first, last
        Bytes or row groups, to before the last. None for a file that is gone through as a whole.
    at_once
        Bytes that are held at the same time.
    domain
        In a table the column of the domain, elsewhere the domain of narratives that state none.
    column
        The column of lists of events.
    """

    path: Path
    kind: str
    encoding: str
    at_once: int
    domain: str | None = None
    column: str | None = None
    first: int | None = None
    last: int | None = None


def told_in(one: Slice) -> Iterator[Told]:
    """Go through the narratives of a slice, some at a time, by domain."""
    return _jsonl(one) if one.column is None else _lists(one)


def counted(told: Mapping[tuple[str, ...], int]) -> tuple[Rows, tuple[str, ...]]:
    """Return narratives, each with how often it was told, as arrays."""
    names = tuple(sorted(set(chain.from_iterable(told))))
    number = {name: code for code, name in enumerate(names)}
    offset = np.zeros(len(told) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, told), np.int64, len(told)), out=offset[1:])
    events = map(number.__getitem__, chain.from_iterable(told))
    symbol = np.fromiter(events, np.uint32, int(offset[-1]))
    return Rows(symbol, offset, np.fromiter(told.values(), np.int64, len(told))), names


def counted_narratives(narratives: Iterable[Narrative], where: str) -> Iterator[Told]:
    """Count narratives by domain."""
    by_domain: dict[str, Counter[tuple[str, ...]]] = {}
    for one in narratives:
        if one.events is None:
            raise _no_events(where)
        by_domain.setdefault(one.domain, Counter())[one.events] += 1
    for domain, told in by_domain.items():
        yield domain, *counted(told)


def _no_events(where: str) -> InputError:
    problem = "sentences cannot be packed, only events"
    return InputError(problem, where=where, hint=NO_EVENTS_HINT)


# JSONL


def cut_lines(one: Slice, limit: int) -> list[Slice]:
    """Cut a file of lines; one that is packed with gzip or not UTF-8 stays whole."""
    if not is_plain(one):
        return [one]
    size = one.path.stat().st_size
    cuts = [*range(0, size, limit), size]
    return [replace(one, first=first, last=last) for first, last in pairwise(cuts)]


def is_plain(one: Slice) -> bool:
    """Whether a file is UTF-8 and not packed, so that it can be cut between any two lines."""
    with opened(one.path, one.encoding) as file, one.path.open("rb") as packed:
        return file.encoding == "utf-8-sig" and packed.read(2) != GZIP


def lines_between(path: Path, first: int, last: int) -> bytes:
    """Return the lines of a file that begin between two bytes."""
    with failures(str(path)), path.open("rb") as file:
        if first:
            file.seek(first - 1)
            file.readline()
        begin = file.tell()
        if begin >= last:
            return b""
        content = file.read(last - begin)
        if not content.endswith(b"\n"):
            content += file.readline()
        return content.removeprefix(_BOM) if not first else content


def _jsonl(one: Slice) -> Iterator[Told]:
    if one.first is None or one.last is None:
        with opened(one.path, one.encoding) as file:
            yield from _in_batches(narratives_of_lines(file, one.domain or ""), one)
        return
    content = lines_between(one.path, one.first, one.last)
    try:
        records = _decoder.decode_lines(content)
        whole = all(each.steps is None or len(each.steps) == len(each.events) for each in records)
    except (ValueError, RecursionError):
        whole = False
    if not whole:  # lists, sentences or mistakes: the usual reader knows what to say
        yield from _slowly(one, content)
        return
    by_domain: dict[str, list[tuple[str, ...]]] = {}
    for each in records:
        by_domain.setdefault(each.domain or one.domain or "", []).append(each.events)
    for domain, told in by_domain.items():
        yield domain, *counted(Counter(told))


def _slowly(one: Slice, content: bytes) -> Iterator[Told]:
    with failures(str(one.path)), one.path.open("rb") as file:
        before = _newlines(file, one.first or 0)
    stream: Any = io.BytesIO(content)
    source = Source(stream, content[:1], str(one.path), "utf-8", was_text=False)
    yield from counted_narratives(
        narratives_of_lines(source, one.domain or "", before), str(one.path)
    )


def _newlines(file: Any, end: int) -> int:
    """Count the lines that end before a byte; those of the line that it is in, too."""
    number = 0
    left = max(end - 1, 0)
    while left and (block := file.read(min(left, 1 << 20))):
        number += block.count(b"\n")
        left -= len(block)
    return number + (1 if end else 0)


def _in_batches(narratives: Iterator[Narrative], one: Slice) -> Iterator[Told]:
    """Count narratives, so many at a time as fit the memory."""
    batch: list[Narrative] = []
    size = 0
    for narrative in narratives:
        batch.append(narrative)
        size += 20 * (4 + narrative.length)
        if size > one.at_once:
            yield from counted_narratives(batch, str(one.path))
            batch, size = [], 0
    yield from counted_narratives(batch, str(one.path))


# Parquet with a list of events in each row


def lists_in(path: Path, roles: Roles) -> tuple[str, str | None] | None:
    """Return the columns of the lists of events and of the domain; None if there are no lists."""
    _, pq = arrow(str(path))
    with parquet_errors(str(path)):
        schema = pq.ParquetFile(path).schema_arrow
    return list_columns(schema, roles, str(path))


def cut_row_groups(one: Slice, limit: int) -> list[Slice]:
    """Cut a Parquet file between its row groups."""
    _, pq = arrow(str(one.path))
    with parquet_errors(str(one.path)):
        about = pq.ParquetFile(one.path).metadata
        sizes = [_unpacked(about.row_group(k)) for k in range(about.num_row_groups)]
    found = []
    first, size = 0, 0
    for number, more in enumerate(sizes):
        if number > first and size + more > limit:
            found.append(replace(one, first=first, last=number))
            first, size = number, 0
        size += more
    return [*found, replace(one, first=first, last=len(sizes))]


def _unpacked(group: Any) -> int:
    """About how many bytes a row group takes in memory: texts that repeat are stored once."""
    values = sum(group.column(k).num_values for k in range(group.num_columns))
    return max(int(group.total_byte_size), VALUE_BYTES * int(values))


def batches(one: Slice, columns: list[str]) -> Iterator[tuple[int, Any]]:
    """Go through the rows of a slice of a Parquet file; with each batch, its first row."""
    _, pq = arrow(str(one.path))
    with parquet_errors(str(one.path)):
        file = pq.ParquetFile(one.path)
        about = file.metadata
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
    number = sum(group.num_rows for group in groups[: one.first])
    for group in range(one.first or 0, one.last or 0):  # dictionaries differ between row groups
        share = min(1.0, one.at_once / max(_unpacked(groups[group]), 1))
        each = max(1000, int(groups[group].num_rows * share))
        reading = file.iter_batches(batch_size=each, row_groups=[group], columns=columns)
        while True:
            with parquet_errors(str(one.path)):
                batch = next(reading, None)
            if batch is None:
                break
            if len(batch):
                yield number, batch
            number += len(batch)


def _lists(one: Slice) -> Iterator[Told]:
    columns = [name for name in (one.column, one.domain) if name]
    for first, batch in batches(one, columns):
        lists = batch.column(one.column)
        where = f"{one.path}, column {shown(one.column)}"
        if lists.null_count:
            row = first + int(np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError("null; expected a list of events", where=f"{where}, row index {row}")
        symbol, names = encoded(lists.flatten(), where)
        lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        offset = np.zeros(len(lists) + 1, np.int64)
        np.cumsum(lengths, out=offset[1:])
        rows = Rows(symbol, offset, np.ones(len(lists), np.int64))
        yield from _by_domain(rows, names, batch, one)


def _by_domain(rows: Rows, names: tuple[str, ...], batch: Any, one: Slice) -> Iterator[Told]:
    if not one.domain:
        yield "", rows, names
        return
    of, domains = encoded(batch.column(one.domain).fill_null(""), str(one.path), empty=True)
    for number, domain in enumerate(domains):
        yield domain, taken(rows, np.flatnonzero(of == number)), names


def encoded(
    column: Any, where: str, *, empty: bool = False
) -> tuple[NDArray[np.uint32], tuple[str, ...]]:
    """Return texts of an arrow array as numbers, and what the numbers stand for."""
    coded = column.dictionary_encode() if not hasattr(column, "dictionary") else column
    names = coded.dictionary.to_pylist()
    for name in names:
        if not isinstance(name, str) or not (name or empty):
            problem = f"{shown(name)} is no event; expected non-empty text"
            raise InputError(problem, where=where)
    if coded.null_count:
        raise InputError("null is no event; expected non-empty text", where=where)
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.uint32), tuple(names)
