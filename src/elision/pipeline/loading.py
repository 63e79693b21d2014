"""`load`: whatever of ours lies in a file or folder, by what it says that it is."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision import text, values
from elision.files import script

if TYPE_CHECKING:
    from os import PathLike

_HEAD = 1 << 12
"""Bytes of a file in which it says what it is."""

_FORMAT = re.compile(rb'"format": ?"([a-z-]+)"')

EXTRACTOR = "elision-extractor"


def load(path: str | PathLike[str], *, checksum: bool = True) -> Any:
    """Read a script, a library or an extractor, as it was saved.

    Parameters
    ----------
    path
        A file: of a script, or of an extractor. Or a folder: a library, or script files such as
        ``elision learn`` writes.
    checksum
        False reads a script that was edited by hand, whose checksum no longer fits.

    Returns
    -------
    Script or Library or EventExtractor

    Raises
    ------
    FileFormatError
        If it is missing, damaged, too large or of another format.

    Examples
    --------
    >>> import tempfile
    >>> import elision as el
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     el.examples.doorbell().save(f"{folder}/doorbell.json")
    ...     load(f"{folder}/doorbell.json"), load(folder)
    (Script(10 states, 16 edges, 10 events), Library(1 script, 10 events))
    """
    place = Path(path)
    if os.path.isdir(path):  # noqa: PTH112 - which never raises
        return values.library.Library.load(place)
    kind = _format_of(place)
    if kind == EXTRACTOR:
        return text.extract.EventExtractor.load(place)
    return script.load(place, checksum=checksum)


def _format_of(path: Path) -> str | None:
    """What a file says that it is, first of all."""
    try:
        if not os.path.isfile(path):  # noqa: PTH113 - a pipe can be read only once
            return None
        with path.open("rb") as file:
            found = _FORMAT.search(file.read(_HEAD))
    except (OSError, ValueError):  # said by whoever reads it
        return None
    return found[1].decode() if found else None
