"""Libraries as folders: an index, and a file for each script that is read when it is needed.

``library.json`` holds what is needed to tell which scripts may be meant: names, priors, events with
their rates, words. The scripts lie beside it in files of their own, as `save` writes them, named
after their content. The index is written last and names the files, so that a reader sees the old
library or the new one, never half of each.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from elision import files
from elision._files import one_writer, shown_path, temporary_in, write_atomically
from elision.errors import FileFormatError, InputError
from elision.files.envelope import Envelope
from elision.files.script import FORMAT as SCRIPT
from elision.values.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from os import PathLike

    from elision.values.script import Script

FORMAT = "elision-library"
INDEX = "library.json"
ENVELOPE = Envelope(FORMAT, "library")
SCRIPTS = "scripts"
MOST_TOLD = 1e12
"""How often an event is told in a telling, at most; no script tells one nearly as often."""

_HEAD = 1 << 12
"""Bytes of a file in which it says what it is."""


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    file: str
    prior: float
    events: list[tuple[str, float, float]]
    words: dict[str, int] | None


class _Index(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    checksum: str
    scripts: list[_Entry]


class Stored(msgspec.Struct, frozen=True):
    """A script in a file, and what the index says of it."""

    path: Path
    prior: float
    sheet: Sheet

    def load(self) -> Script:
        """Read the script."""
        return files.script.load(self.path)


def save(folder: str | PathLike[str], entries: Iterator[tuple[str, float, Sheet, Any]]) -> None:
    """Write a library: scripts first, the index last, and then delete what it names no more.

    Parameters
    ----------
    folder
        Where to; it is made if need be.
    entries
        Name, prior, sheet and the script of each, or a path where it is already in a file.
    """
    root = Path(folder)
    where = shown_path(root)
    try:
        if root.exists() and not root.is_dir():
            raise InputError("there is a file, expected a folder or nothing", where=where)
        root.mkdir(parents=True, exist_ok=True)
        with one_writer(root):
            _save(root, where, entries)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        problem = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, where=where) from None


def _save(root: Path, where: str, entries: Iterator[tuple[str, float, Sheet, Any]]) -> None:
    if not (root / INDEX).exists() and any(root.iterdir()):
        raise InputError(
            "the folder holds something other than a library", where=where, hint="name another"
        )
    (root / SCRIPTS).mkdir(exist_ok=True)
    listed = [
        _Entry(
            name=name,
            file=_store(root / SCRIPTS, name, script),
            prior=prior,
            events=list(zip(sheet.events, sheet.rates, sheet.bounds, strict=True)),
            words=None if sheet.words is None else dict(sheet.words),
        )
        for name, prior, sheet, script in entries
    ]
    write_atomically(root / INDEX, ENVELOPE.written({"scripts": msgspec.to_builtins(listed)}))
    named = {entry.file for entry in listed}
    for path in (root / SCRIPTS).iterdir():
        if path.name not in named and path.suffix == ".json":
            path.unlink()


def _store(folder: Path, name: str, script: Any) -> str:
    """Write one script under a name that depends on its content, and return it."""
    with temporary_in(folder) as temporary:
        if isinstance(script, Path):
            temporary.write_bytes(script.read_bytes())
        else:
            script.save(temporary)
        digest = hashlib.sha256(temporary.read_bytes()).hexdigest()[:16]
        clean = re.sub(r"[^\w-]+", "-", name).strip("-")[:60] or "script"
        file = f"{clean}-{digest}.json".encode("ascii", "ignore").decode()
        temporary.replace(folder / file)
    return file


def is_library(folder: str | PathLike[str]) -> bool:
    """Whether there is a library, and not merely a folder, perhaps of script files."""
    root = Path(folder)
    return root.name == INDEX or not root.is_dir() or (root / INDEX).exists()


def load_files(folder: str | PathLike[str]) -> dict[str, Script]:
    """Read every script file of a folder, by the domain that it notes or else by its file's name.

    JSON files that do not say that they are scripts are left alone.

    Raises
    ------
    FileFormatError
        If there is no script file in the folder, or a damaged one.
    """
    root = Path(folder)
    try:
        paths = [path for path in sorted(root.glob("*.json")) if claims_to_be_script(path)]
    except OSError as error:
        problem = f"no scripts can be read: {error.strerror}"
        raise FileFormatError(problem, where=shown_path(root)) from None
    if not paths:
        raise FileFormatError("no script file in this folder", where=shown_path(root))
    scripts = ((path, files.script.load(path)) for path in paths)
    return distinct((named(script, path.stem), script) for path, script in scripts)


def named(script: Script, otherwise: str) -> str:
    """Return the domain that a script notes, or else another name.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> named(script, "bell"), named(script.annotated(domain="a bell rings"), "bell")
    ('bell', 'a bell rings')
    """
    noted = script.about.get("domain")
    return noted if isinstance(noted, str) and noted.strip() else otherwise


def distinct(scripts: Iterable[tuple[str, Script]]) -> dict[str, Script]:
    """Return scripts by name, or by numbered ones where a name is taken.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> list(distinct([("bell", script), ("bell", script)]))
    ['bell', 'bell (2)']
    """
    found: dict[str, Script] = {}
    for name, script in scripts:
        found[free_name(name, found)] = script
    return found


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, or the first numbered one that is not taken.

    Examples
    --------
    >>> free_name("bell", {"bell", "bell (2)"})
    'bell (3)'
    """
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free


def claims_to_be_script(path: Path) -> bool:
    """Whether a file says in its beginning that it is a script."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return f'"{SCRIPT}"'.encode() in file.read(_HEAD)


def load(folder: str | PathLike[str]) -> dict[str, Stored]:
    """Read the index of a library.

    Parameters
    ----------
    folder
        The folder, or the index in it.

    Raises
    ------
    FileFormatError
        If there is no library, or a damaged one.
    """
    root = Path(folder)
    root = root.parent if root.name == INDEX else root
    where = shown_path(root / INDEX)
    raw = ENVELOPE.opened(ENVELOPE.read(root / INDEX), where)
    index = ENVELOPE.converted(raw, _Index, where)
    found: dict[str, Stored] = {}
    for number, entry in enumerate(index.scripts):
        place = f"{where}, script {number}"
        _check(entry, place)
        if entry.name in found:
            raise FileFormatError(f"the name {entry.name!r} stands twice", where=place)
        events, rates, bounds = zip(*entry.events, strict=True) if entry.events else ((), (), ())
        sheet = Sheet(events, rates, bounds, entry.words)
        found[entry.name] = Stored(root / SCRIPTS / entry.file, entry.prior, sheet)
    return found


def _check(entry: _Entry, where: str) -> None:
    if os.path.basename(entry.file) != entry.file or entry.file in ("", ".", ".."):  # noqa: PTH119
        raise FileFormatError(f"{entry.file!r} is no name of a file", where=where)
    numbers = [value for _, rate, bound in entry.events for value in (rate, bound)]
    if not 0 < entry.prior < math.inf or not all(0 <= value <= MOST_TOLD for value in numbers):
        raise FileFormatError("a prior, rate or bound that is no positive number", where=where)
    if any(number < 1 for number in (entry.words or {}).values()):
        raise FileFormatError("a word that was found in no sentence", where=where)
