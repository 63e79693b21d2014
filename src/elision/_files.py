"""Writing files whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_PATH = 200
"""Characters of a path that a message shows."""


_TEMPORARY = re.compile(r"\.elision-(?:([0-9a-f]{8})-(\d+)-)?[0-9a-f]{16}")
_FOREIGN_DAYS = 1.0
"""Temporary files that other machines have left are deleted when they are so old."""

_swept: set[Path] = set()
_unfinished: set[Path] = set()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)  # the parent is writing them


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary name in the same folder, then rename.

    A link is followed; what is neither a file nor a link to one is refused.
    """
    with atomic_file(path) as file:
        file.write(content)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the name of `path` when all of it is written.

    Where anything fails, nothing is left, and a file that was there stays as it was.
    """
    try:
        target = _regular(path)
        with temporary_in(target.parent) as temporary:
            with temporary.open("xb") as file:
                if target.exists():  # before a word is written: it may be a secret
                    temporary.chmod(target.stat().st_mode & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        problem = f"cannot be written: {getattr(error, 'strerror', None) or error}"
        raise InputError(problem, where=shown_path(path)) from None


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as one line for a message, its end if it is very long."""
    text = str(path)
    if not text.isprintable():
        text = repr(text)[1:-1]
    return text if len(text) <= LONGEST_PATH else "..." + text[3 - LONGEST_PATH :]


def _regular(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError("there is something other than a file")
    return target


@contextmanager
def temporary_in(folder: Path) -> Iterator[Path]:
    """Give a new name for a file that is being written; it says which process writes it.

    The file is gone afterwards, unless it was renamed. What processes that are no more have left in
    the folder is deleted, once a run.
    """
    if folder not in _swept:
        _swept.add(folder)
        sweep(folder)
    found = folder / f".elision-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}"
    _unfinished.add(found)
    try:
        yield found
    finally:
        _unfinished.discard(found)
        found.unlink(missing_ok=True)


def discard_unfinished() -> None:
    """Delete what this process is writing: it ends now."""
    for path in tuple(_unfinished):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Delete what processes of this machine that are no more have left, and what is very old."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.name.startswith(".elision-")]
    except OSError:
        return
    for entry in entries:
        match = _TEMPORARY.fullmatch(entry.name)
        with suppress(OSError):
            if match and not entry.is_symlink() and _is_left(match, entry):
                Path(entry.path).unlink()


def _is_left(name: re.Match[str], entry: os.DirEntry[str]) -> bool:
    machine, process = name.groups()
    if machine != _machine() or os.name == "nt":  # where asking after a process would end it
        age = time.time() - entry.stat(follow_symlinks=False).st_mtime
        return age > _FOREIGN_DAYS * 86_400
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # somebody else's process, or no number of one
        return False
    return False


def _machine() -> str:
    """Which machine this is, or which container: a number of a process is known only there."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    node = os.uname().nodename if hasattr(os, "uname") else ""
    return f"{zlib.crc32(f'{node} {space}'.encode()):08x}"


def file_names(domains: tuple[str, ...]) -> dict[str, str]:
    """Names of files, distinct even where capitals count for nothing."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for domain in domains:
        clean = re.sub(r"[^\w.-]+", "-", domain).strip("-.")[:100] or "script"
        clean = name = clean.encode()[:200].decode(errors="ignore")
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{clean}-{number}"
        taken.add(name.casefold())
        names[domain] = name
    return names
