"""Writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from elision.errors import InputError


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write to a temporary name in the same folder, then rename."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(_mode(target))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}", where=str(target)
        ) from None


def _mode(target: Path) -> int:
    """Permissions of the file to be replaced, or those that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
