"""The formats of files: by what each is told, and who reads it.

A new format is a module that reads it, and its entry in `FORMATS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from elision.errors import InputError
from elision.io.columns import looks_known
from elision.io.plain import read_text
from elision.io.records import read_json, read_jsonl
from elision.io.tables import read_csv, read_parquet, sniffed
from elision.io.xes import read_xes

if TYPE_CHECKING:
    from collections.abc import Callable

    from elision.io.cases import Reading
    from elision.io.columns import Roles
    from elision.io.source import Source
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
        lambda file, roles, reading, _: read_csv(file, roles, reading, None),
        table=True,
    ),
    "tsv": FileFormat(
        (".tsv", ".tab"),
        lambda file, roles, reading, _: read_csv(file, roles, reading, "\t"),
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


def guessed(file: Source, roles: Roles) -> Format:
    """Return the format of a file.

    Raises
    ------
    InputError
        Where neither suffix nor content tells.
    """
    path = PurePath(file.name.lower().removesuffix(".gz"))
    return SUFFIXES.get(path.suffix) or _by_content(file, roles)


def _by_content(file: Source, roles: Roles) -> Format:
    text = file.head.decode(file.encoding, "replace").lstrip("\ufeff").lstrip()
    for opening, found in OPENINGS.items():
        if text.startswith(opening) or file.head.startswith(opening.encode()):
            return found
    if "\0" in text:
        hint = "pass format=, or encoding= if it is text in another encoding"
        raise InputError("cannot tell the format of this file", where=file.name, hint=hint)
    header, second = [sniffed(line) for line in [*text.splitlines()[:2], "", ""][:2]]
    named = any(roles[role] for role in ("case", "activity", "time"))
    if len(header[0]) > 1 and (named or looks_known(header[0])):
        return "csv"
    if len(header[0]) > 1 and (len(header[0]), header[1]) == (len(second[0]), second[1]):
        raise InputError(
            "cannot tell whether this is a table or plain text",
            where=file.name,
            hint="pass format='text', or format='csv' with case= and activity=",
        )
    return "text"
