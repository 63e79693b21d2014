"""The libraries of data frames that answers can be given in; none of them is imported here."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_silencing = threading.RLock()

BACKENDS = ("pandas", "polars", "pyarrow")


def library_of(value: object) -> str | None:
    """Return the library that a frame or a column is of, if it is one of those known."""
    name = type(value).__module__.partition(".")[0]
    return name if name in BACKENDS else None


def is_frame(value: object) -> bool:
    """Whether something has columns, as the frames of every library have."""
    # The type is asked, because a lazy frame begins to work when it is asked for its columns.
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


@contextmanager
def silenced() -> Iterator[None]:
    """Let nothing reach standard error: libraries in Rust say there, at length, where they gave up.

    What they raise is told of in one line by who calls them.
    """
    with _silencing:
        try:
            kept = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
