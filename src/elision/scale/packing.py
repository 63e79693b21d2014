"""From files larger than memory to packed corpora.

Files are cut into slices. Each slice becomes a temporary file of distinct narratives by their
hashes; then a few buckets of all these files at a time are put together, and become parts. Slices
and buckets are work for `elision.scale.engine`.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import _threads
from elision._files import file_names, one_writer, replace_folder, shown_path, temporary_folder_in
from elision.errors import InputError, counted
from elision.scale import engine
from elision.scale._arrays import write_arrays
from elision.scale._cases import ROW_BYTES as CASE_BYTES
from elision.scale._cases import narratives_of, settled, spill_rows
from elision.scale._spill import (
    BUCKETS,
    EVENT_BYTES,
    ROW_BYTES,
    Spill,
    joined,
    merge,
    ranges,
    size_of,
    spill,
    taken,
)
from elision.scale.memory import DEFAULT, parsed, written
from elision.scale.packed_corpus import (
    HEADER,
    PackedCorpus,
    entry_of,
    is_packed,
    packed_in,
    write_header,
)
from elision.scale.rows import events_in
from elision.scale.slices import told_in
from elision.scale.sources import Options, planned
from elision.values.narrative import NO_EVENTS_HINT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from elision.scale._cases import CaseSpill, Order
    from elision.scale.rows import Log
    from elision.scale.slices import Slice, Told
    from elision.scale.sources import Plan

PART_EVENTS = 1 << 20
"""Events of the distinct narratives of a part, about: some megabytes, whatever the corpus."""

MADE = "made"
"""Where in the temporary folder the packed corpora are made."""

MOST_EVENT_TYPES = 1 << 20
"""More kinds of events are no kinds of events; their names would fill the memory."""


@dataclass(frozen=True, slots=True)
class Packing:
    """What was packed.

    Attributes
    ----------
    corpora
        By domain.
    memory
        Bytes that were to be used at most.
    files, slices
        How many files came, and into how many pieces they were cut to keep to that.
    spilled
        Bytes of the temporary files.
    whole
        Files that could not be read in parts.
    """

    corpora: dict[str, PackedCorpus]
    memory: int
    files: int
    slices: int
    spilled: int
    whole: tuple[str, ...] = ()

    @property
    def corpus(self) -> PackedCorpus:
        """The only packed corpus.

        Raises
        ------
        InputError
            If there are several domains.
        """
        if len(self.corpora) > 1:
            raise InputError(
                f"narratives of {len(self.corpora)} domains were packed, expected one",
                hint="take one of `corpora` by its domain",
            )
        return next(iter(self.corpora.values()))

    def __str__(self) -> str:
        narratives = sum(one.narratives for one in self.corpora.values())
        different = sum(one.distinct for one in self.corpora.values())
        lines = [f"{counted(narratives, 'narrative', ',')}, {different:,} of them different."]
        if self.slices > self.files:
            lines.append(
                f"Read in {self.slices:,} pieces to keep to {written(self.memory)}"
                f" ({written(self.spilled)} on disk meanwhile)."
            )
        lines += [f"{shown_path(name)} cannot be read in parts: read whole." for name in self.whole]
        return "\n".join(lines)


def pack(
    files: str | os.PathLike[str] | Iterable[Any],
    folder: str | os.PathLike[str],
    *,
    memory: str | int = DEFAULT,
    format: str | None = None,  # noqa: A002 - the word that users know
    domain: str | None = None,
    case: str | None = None,
    activity: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    lifecycle: str = "complete",
    encoding: str = "utf-8",
) -> Packing:
    """Pack the narratives of files into a folder, identical ones once, in bounded memory.

    JSONL, CSV, TSV and Parquet are read in parts; Parquet may have a row for each event, or a row
    for each narrative with its events as a list in the column ``events``. Other formats are read
    whole. Several domains become a folder each in the folder.

    Parameters
    ----------
    files
        Paths; anything else that `elision.read` takes may stand among them.
    folder
        Where to; a packed corpus that is there is replaced.
    memory
        How much memory to use for what is read, such as "1 GiB"; the program itself takes some 200
        MiB more, in each process.
    format, domain, case, activity, time, time_format, lifecycle, encoding
        As `elision.read` takes them.

    Raises
    ------
    InputError
        Where something cannot be read or written; says where and why.
    """
    limit = parsed(memory)
    several = [files] if isinstance(files, str | os.PathLike) else list(files)
    if not several:
        raise InputError("no files came, expected at least one")
    options = Options(format, domain, case, activity, time, time_format, lifecycle, encoding)
    target = Path(folder)
    _check_target(target, several)
    each = limit // _threads.get_threads()
    plan = planned(several, options, each)
    with _scratch(target) as scratch:
        spills = _spilled(plan, scratch, each)
        size = sum(one.path.stat().st_size for _, one in spills)
        _write(spills, scratch, each)
        with one_writer(scratch.parent):
            replace_folder(scratch / MADE, target, scratch)
            made = packed_in(target)
    pieces = len(plan.slices) + len(plan.rows) + len(plan.told)
    return Packing(made, limit, len(several), pieces, size, tuple(plan.whole))


def _spilled(plan: Plan, scratch: Path, limit: int) -> list[tuple[str, Spill]]:
    """Write what each slice tells to files, by domain."""
    items = [(one, scratch / f"slice-{number}", limit) for number, one in enumerate(plan.slices)]
    found = [one for some in engine.current().map(_spill_slice, items) for one in some]
    found += _spilled_cases(plan, scratch, limit)
    for number, (domain, rows, names) in enumerate(plan.told):
        found.append((domain, spill(rows, names, scratch / f"told-{number}")))
    return found


def _spill_slice(item: tuple[Slice, Path, int]) -> list[tuple[str, Spill]]:
    one, path, limit = item
    return _spill_told(told_in(one), path, limit)


def _spill_told(several: Iterable[Told], path: Path, limit: int) -> list[tuple[str, Spill]]:
    """Write narratives, those of a domain together as far as memory goes: not too many files."""
    found: dict[str, list[Spill]] = {}
    for number, (domain, rows, names) in enumerate(several):
        spills = found.setdefault(domain, [])
        spills.append(spill(rows, names, path.with_name(f"{path.name}-{number}")))
    return [(domain, one) for domain, spills in found.items() for one in _fewer(spills, limit)]


def _fewer(spills: list[Spill], limit: int) -> list[Spill]:
    """Put small files together, as many as fit half of the memory."""
    sizes = np.array([size_of(one) for one in spills])
    found = []
    for first, last in ranges(sizes, limit // 2):
        some = spills[first:last]
        if len(some) > 1:
            names = tuple(sorted({name for one in some for name in one.names}))
            path = some[0].path.with_name(f"{some[0].path.name}-merged")
            found.append(merge(some, (0, BUCKETS), names, path))
            for one in some:
                one.path.unlink()
        else:
            found += some
    return found


def _spilled_cases(plan: Plan, scratch: Path, limit: int) -> list[tuple[str, Spill]]:
    """Write the rows of logs to files by case, put those of each case in order, and write these."""
    items = [(one, scratch / f"rows-{number}") for number, one in enumerate(plan.rows)]
    spills = [one for some in engine.current().map(_spill_log, items) for one in some]
    if not spills:
        return []
    order = settled(spills, plan.rows[0].reading.lifecycle)
    rows = np.sum([one.rows for one in spills], axis=0)
    cut = [
        (group, scratch / f"cases-{group[0]}", limit) for group in ranges(CASE_BYTES * rows, limit)
    ]
    done = engine.current().map(_spill_cases, cut, shared=(spills, order))
    for one in spills:
        one.path.unlink()
    return [one for some in done for one in some]


def _spill_log(item: tuple[Log, Path]) -> list[CaseSpill]:
    log, path = item
    return [
        spill_rows(events, path.with_name(f"{path.name}-{number}"))
        for number, events in enumerate(events_in(log))
    ]


def _spill_cases(
    item: tuple[tuple[int, int], Path, int], shared: tuple[list[CaseSpill], Order]
) -> list[tuple[str, Spill]]:
    buckets, path, limit = item
    spills, order = shared
    return _spill_told(narratives_of(spills, buckets, order), path, limit)


def _write(spills: Sequence[tuple[str, Spill]], scratch: Path, limit: int) -> None:
    """Write a packed corpus for each domain: in a folder each if there are several."""
    by_domain: dict[str, list[Spill]] = {}
    for domain, one in spills:
        by_domain.setdefault(domain, []).append(one)
    domains = sorted(by_domain)
    if not domains:
        raise InputError("there are no narratives in these files")
    names = {domains[0]: ""} if len(domains) == 1 else file_names(tuple(domains))
    for domain in domains:
        made = scratch / MADE / names[domain]
        made.mkdir(parents=True)
        _write_domain(domain, by_domain[domain], made, scratch, limit)


class _Work(NamedTuple):
    """What merging and the making of parts need to know: where it is sent once."""

    spills: Sequence[Spill]
    names: tuple[str, ...]


def _write_domain(
    domain: str, spills: Sequence[Spill], made: Path, scratch: Path, limit: int
) -> None:
    names = tuple(sorted(set().union(*(one.names for one in spills))))
    if len(names) > MOST_EVENT_TYPES:
        raise InputError(
            f"{len(names):,} kinds of events, expected at most {MOST_EVENT_TYPES:,}",
            hint=NO_EVENTS_HINT,
        )
    rows = np.sum([one.rows for one in spills], axis=0)
    told = np.sum([one.told for one in spills], axis=0)
    groups = ranges(ROW_BYTES * rows + EVENT_BYTES * told, limit // 2)
    items = [(group, scratch / f"merged-{group[0]}") for group in groups]
    merged = engine.current().map(_merge, items, shared=_Work(spills, names))
    for one in spills:
        one.path.unlink()
    told = np.sum([one.told for one in merged], axis=0)
    items = [
        (group, made / f"part-{number:05d}.bin")
        for number, group in enumerate(ranges(told, PART_EVENTS))
    ]
    parts = engine.current().map(_write_part, items, shared=_Work(merged, names))
    for one in merged:
        one.path.unlink()
    write_header(made, domain, names, parts)


def _merge(item: tuple[tuple[int, int], Path], work: _Work) -> Spill:
    buckets, path = item
    return merge(work.spills, buckets, work.names, path)


def _write_part(item: tuple[tuple[int, int], Path], work: _Work) -> tuple[Any, int]:
    """Write some buckets as a part, longest narratives first, else in the order of their hashes."""
    buckets, path = item
    rows = joined([one.section(*buckets) for one in work.spills]).rows
    rows = taken(rows, np.argsort(-np.diff(rows.offset), kind="stable"))
    write_arrays(path, [rows.offset, rows.weight.astype(np.float64), rows.symbol])
    return entry_of(path, rows)


def _check_target(target: Path, sources: Sequence[Any]) -> None:
    where = shown_path(target)
    if not target.parent.is_dir():
        raise InputError(f"no folder {shown_path(target.parent)!r} to write to", where=where)
    ours = target.is_dir() and (_is_ours(target) or not any(target.iterdir()))
    if target.exists() and not ours:
        raise InputError(
            "there is something other than a packed corpus",
            where=where,
            hint="name a folder that is not there yet",
        )
    inside = [one for one in sources if isinstance(one, str | os.PathLike)]
    if target.exists() and any(target.resolve() in Path(one).resolve().parents for one in inside):
        raise InputError("the narratives are in this folder, expected another", where=where)


def _is_ours(folder: Path) -> bool:
    return is_packed(folder) or any(folder.glob(f"*/{HEADER}"))


@contextmanager
def _scratch(target: Path) -> Iterator[Path]:
    """Make a folder beside the target that is gone in the end, whatever happens."""
    try:
        with temporary_folder_in(target.resolve().parent) as folder:
            yield folder
    except OSError as error:
        problem = f"cannot be written: {error.strerror or error}"
        raise InputError(problem, where=shown_path(target)) from None
