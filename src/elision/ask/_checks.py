"""Checks of options that several questions share."""

from __future__ import annotations

import numpy as np

from elision.errors import InputError
from elision.observations import short


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
