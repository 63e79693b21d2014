"""What is to be packed: which files can be cut into slices, and which must be read whole."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.errors import InputError, shown
from elision.readers.cases import Reading
from elision.readers.guess import guessed
from elision.readers.reading import check_options, read
from elision.readers.source import opened
from elision.scale.rows import Log, cut_log
from elision.scale.slices import (
    COLUMN_GROWS,
    TEXT_GROWS,
    Slice,
    Told,
    counted_narratives,
    cut_lines,
    cut_row_groups,
    lists_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class Options(NamedTuple):
    """How files are read, as `elision.read` takes it."""

    format: Any = None
    domain: str | None = None
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    time_format: str | None = None
    lifecycle: Any = "complete"
    encoding: str = "utf-8"

    @property
    def roles(self) -> dict[str, str | None]:
        """The columns that were asked for."""
        return {"case": self.case, "activity": self.activity, "time": self.time,
                "domain": self.domain}  # fmt: skip


class Plan(NamedTuple):
    """What there is to do.

    Attributes
    ----------
    slices
        Parts of files that tell narratives.
    rows
        Parts of files whose rows are events.
    told
        Narratives that are in memory already.
    whole
        Files that were read whole.
    """

    slices: list[Slice]
    rows: list[Log]
    told: list[Told]
    whole: list[str]


def planned(sources: Sequence[Any], options: Options, limit: int) -> Plan:
    """Look at each source, and cut what can be cut into slices that take so many bytes."""
    check_options(options.format, options.lifecycle, options.time_format)
    plan = Plan([], [], [], [])
    for source in sources:
        if isinstance(source, str | os.PathLike) and str(source) != "-":
            _plan_file(plan, Path(source), options, limit)
        else:
            plan.told.extend(_read_whole(source, options))
    return plan


def _plan_file(plan: Plan, path: Path, options: Options, limit: int) -> None:
    with opened(path, options.encoding) as file:
        kind = options.format or guessed(file, options.roles)
    whole = Slice(path, kind, options.encoding, limit // COLUMN_GROWS, options.domain)
    if kind == "jsonl":
        _check_no_columns(options, kind)
        plan.slices.extend(cut_lines(whole, limit // TEXT_GROWS))
        return
    if kind == "parquet":
        lists = lists_in(path, options.roles)
        if lists is not None:
            column, domain = lists
            one = replace(whole, column=column, domain=domain)
            plan.slices.extend(cut_row_groups(one, limit // COLUMN_GROWS))
            return
    if kind in ("csv", "tsv", "parquet"):
        reading = Reading(options.lifecycle, options.time_format)
        plan.rows.extend(cut_log(whole, options.roles, reading, limit // COLUMN_GROWS))
        return
    plan.told.extend(_read_whole(path, options))
    plan.whole.append(str(path))


def _read_whole(source: Any, options: Options) -> list[Told]:
    corpus = read(source, **options._asdict())
    return list(counted_narratives(corpus, str(source) if _is_path(source) else "narratives"))


def _is_path(source: object) -> bool:
    return isinstance(source, str | os.PathLike)


def _check_no_columns(options: Options, kind: str) -> None:
    for role in ("case", "activity", "time"):
        if options.roles[role] is not None:
            raise InputError(
                f"{role}={shown(options.roles[role])} names a column, but {kind} has none",
                hint=f"leave out {role}=",
            )
