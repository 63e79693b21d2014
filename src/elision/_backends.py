"""The libraries of data frames that answers can be given in; none of them is imported here."""

from __future__ import annotations

BACKENDS = ("pandas", "polars", "pyarrow")


def library_of(value: object) -> str | None:
    """Return the library that a frame or a column is of, if it is one of those known."""
    name = type(value).__module__.partition(".")[0]
    return name if name in BACKENDS else None


def is_frame(value: object) -> bool:
    """Whether something has columns, as the frames of every library have."""
    # The type is asked, because a lazy frame begins to work when it is asked for its columns.
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")
