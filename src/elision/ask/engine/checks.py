"""Checks of options that several questions share."""

from __future__ import annotations

import numpy as np

from elision.errors import InputError
from elision.values.observations import short

MOST_DRAWN = 100_000_000
"""Tellings to draw at once: more would take all memory, or for ever."""

MOST_CELLS = 20_000_000
"""Numbers in a table of a question: it needs several, of 160 MB each then."""


def check_cells(cells: int, what: str, hint: str = "ask about a part of it") -> None:
    """Refuse a question whose tables would not fit in memory."""
    if cells > MOST_CELLS:
        raise InputError(f"{cells:,} {what}, expected at most {MOST_CELLS:,}", hint=hint)


def whole(value: object, name: str, minimum: int = 0, maximum: int | None = None) -> int:
    """Return a whole number from ``minimum`` on, and up to ``maximum`` if it is given, or complain.

    Examples
    --------
    >>> whole(np.int64(3), "samples")
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise InputError(f"{name} is {short(value)}, expected a whole number from {minimum}")
    if maximum is not None and value > maximum:
        raise InputError(f"{name} is {short(value)}, expected at most {maximum:,}")
    return int(value)


def share_of(value: object, name: str) -> float:
    """Return a number between 0 and 1, or complain.

    Examples
    --------
    >>> share_of(0.05, "false_alarms")
    0.05
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    if isinstance(value, bool) or not (number and 0 < float(value) < 1):  # type: ignore[arg-type]
        raise InputError(f"{name} is {short(value)}, expected a number between 0 and 1")
    return float(value)  # type: ignore[arg-type]


def probability(value: object, name: str) -> float:
    """Return a number from 0 to 1, both included, or complain.

    Examples
    --------
    >>> probability(1, "minimum")
    1.0
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    if isinstance(value, bool) or not (number and 0 <= float(value) <= 1):  # type: ignore[arg-type]
        raise InputError(f"{name} is {short(value)}, expected a probability")
    return float(value)  # type: ignore[arg-type]
