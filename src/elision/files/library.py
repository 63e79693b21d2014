"""Libraries as folders: a file for each script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elision import files
from elision._files import file_names, shown_path
from elision.errors import FileFormatError, InputError
from elision.files.script import FORMAT as SCRIPT

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from os import PathLike

    from elision.values.script import Script

_HEAD = 1 << 12
"""Bytes of a file in which it says what it is."""


def save(folder: str | PathLike[str], scripts: Mapping[str, Script]) -> None:
    """Write a file for each script, which notes its name as domain, into a folder."""
    root = Path(folder)
    where = shown_path(root)
    names = {name: f"{file}.json" for name, file in file_names(tuple(scripts)).items()}
    try:
        if root.exists() and not root.is_dir():
            raise InputError("there is a file, expected a folder or nothing", where=where)
        root.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in root.iterdir() if not path.name.startswith(".")}
        if other := sorted(there - set(names.values())):
            problem = f"the folder holds something other than these scripts: {shown_path(other[0])}"
            raise InputError(problem, where=where, hint="name another")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        problem = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, where=where) from None
    for name, script in scripts.items():
        script.annotated(domain=name).save(root / names[name])


def load(folder: str | PathLike[str]) -> dict[str, Script]:
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
    except (OSError, ValueError) as error:
        problem = f"no scripts can be read: {getattr(error, 'strerror', None) or error}"
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
