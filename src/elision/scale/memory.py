"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from elision.errors import InputError, shown

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30

LEAST = 16 * MEBIBYTE
"""Less is not enough to read anything in."""

DEFAULT = GIBIBYTE
"""What is used if nothing is said."""

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?)b?|b)?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parsed(size: str | int) -> int:
    """Return a size in bytes.

    Raises
    ------
    InputError
        If it is none, or less than `LEAST`.

    Examples
    --------
    >>> parsed("1 GiB"), parsed("500MB"), parsed(1 << 25)
    (1073741824, 500000000, 33554432)
    """
    number = size if isinstance(size, int) and not isinstance(size, bool) else None
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is not None:
        unit = (found[2] or "").lower()
        number = int(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[unit])
    if number is None:
        problem = f"{shown(size)} is no size of memory"
        raise InputError(problem, hint="write it as '1 GiB' or '500 MB'")
    if number < LEAST:
        problem = f"{shown(size)} of memory is too little, expected at least {written(LEAST)}"
        raise InputError(problem)
    return number


def written(size: float) -> str:
    """Return a number of bytes for a reader.

    Examples
    --------
    >>> written(1 << 30), written(1500), written(36_000_000)
    ('1 GiB', '1.5 KiB', '34.3 MiB')
    """
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    power = 0
    while size >= 1024 and power < len(units) - 1:
        size /= 1024
        power += 1
    return f"{size:.1f}".removesuffix(".0") + f" {units[power]}"
