"""Checks of options that several questions share."""

from __future__ import annotations

import numpy as np

from elision.errors import InputError
from elision.values.observations import short


def whole(value: object, name: str, least: int = 0) -> int:
    """Return a whole number from ``least`` on, or complain.

    Examples
    --------
    >>> whole(np.int64(3), "samples")
    3
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is {short(value)}, expected a whole number from {least}")
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
