"""The formats of files: by what each is told, and who reads it.

A new format is a module that reads it, and its entry in `FORMATS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from elision.errors import InputError
from elision.readers.plain import read_text
from elision.readers.records import read_json, read_jsonl
from elision.readers.table import read_csv, read_parquet
from elision.readers.xes import read_xes

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.readers.cases import Reading
    from elision.readers.columns import Roles
    from elision.readers.source import Source
    from elision.values.corpus import Corpus

Format = Literal["jsonl", "json", "csv", "tsv", "parquet", "xes", "text"]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of files.

    Attributes
    ----------
    suffixes
        What names of such files end in.
    read
        Reads one: the file, the columns that were named, how to read them, and whether sentences
        are told, if that was said.
    opening
        What such files begin with, after spaces, where that tells them from all others.
    table
        Whether it is a table, whose columns can be chosen.
    """

    suffixes: tuple[str, ...]
    read: Callable[[Source, Roles, Reading, bool | None], Corpus]
    opening: str = ""
    table: bool = False


def checked_domain(roles: Roles, name: str) -> str:
    """Return the domain to give, once it is sure that no column was asked for in vain."""
    for role in ("case", "activity", "time"):
        if roles[role] is not None:
            raise InputError(
                f"{role}={roles[role]!r} names a column, but {name} has none",
                hint=f"leave out {role}=, or say with format= that this is a table or XES",
            )
    return roles["domain"] or ""


def _domain(roles: Roles, kind: Format) -> str:
    return checked_domain(roles, f"the format {kind!r}")


FORMATS: dict[Format, FileFormat] = {
    "jsonl": FileFormat(
        (".jsonl", ".ndjson"),
        lambda file, roles, *_: read_jsonl(file, _domain(roles, "jsonl")),
        opening="{",
    ),
    "json": FileFormat(
        (".json",),
        lambda file, roles, *_: read_json(file, _domain(roles, "json")),
        opening="[",
    ),
    "csv": FileFormat(
        (".csv",),
        lambda file, roles, reading, _: read_csv(file, roles, reading, None).corpus(),
        table=True,
    ),
    "tsv": FileFormat(
        (".tsv", ".tab"),
        lambda file, roles, reading, _: read_csv(file, roles, reading, "\t").corpus(),
        table=True,
    ),
    "parquet": FileFormat(
        (".parquet", ".pq"),
        lambda file, roles, reading, _: read_parquet(file, roles, reading),
        opening="PAR1",
        table=True,
    ),
    "xes": FileFormat(
        (".xes",),
        lambda file, roles, reading, _: read_xes(file, roles, reading).corpus(),
        opening="<",
    ),
    "text": FileFormat(
        (".txt",),
        lambda file, roles, _, sentences: read_text(
            file, _domain(roles, "text"), sentences=sentences
        ),
    ),
}

SUFFIXES: dict[str, Format] = {
    suffix: name for name, one in FORMATS.items() for suffix in one.suffixes
}
OPENINGS: dict[str, Format] = {one.opening: name for name, one in FORMATS.items() if one.opening}
TABLES = tuple(name for name, one in FORMATS.items() if one.table)
