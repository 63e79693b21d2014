"""Writing files whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_PATH = 200
"""Characters of a path that a message shows."""


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
        temporary = target.with_name(f".elision-{secrets.token_hex(8)}")
        try:
            with temporary.open("xb") as file:
                if target.exists():  # before a word is written: it may be a secret
                    temporary.chmod(target.stat().st_mode & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
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
