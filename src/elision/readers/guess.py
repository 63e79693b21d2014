"""Which format a file has: its suffix says, or else its first bytes."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from elision.errors import InputError
from elision.readers.columns import looks_known
from elision.readers.formats import OPENINGS, SUFFIXES
from elision.readers.table import sniffed

if TYPE_CHECKING:
    from elision.readers.columns import Roles
    from elision.readers.formats import Format
    from elision.readers.source import Source


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
