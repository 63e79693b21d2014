"""How many narratives are worth learning from, and which of more than that."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")

MOST_NARRATIVES = 100_000
"""Of more, so many are learned from: more do not help.

Log-loss of a gap and of the next event, on narratives that were not learned from, is 1.025 and
1.496 after 10,000 narratives, 1.018 and 1.488 after 100,000, and 1.025 and 1.488 after 1,000,000,
with standard errors of the differences of 0.007 and 0.003
(``benchmarks/scale.py --learning-curve``).
"""


def drawn(narratives: list[_T], seed: int) -> list[_T]:
    """Return all narratives, or a sample of those of a longer list, in the order given."""
    if len(narratives) <= MOST_NARRATIVES:
        return narratives
    rng = np.random.default_rng([seed, 18])
    chosen = rng.choice(len(narratives), MOST_NARRATIVES, replace=False, shuffle=False)
    return [narratives[k] for k in np.sort(chosen).tolist()]


def checked_seed(seed: object) -> int:
    """Return a seed as a number.

    Raises
    ------
    InputError
        If it is none.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"random_state is {short(seed)}, expected a seed from 0")
    return int(seed)


def said(about: Mapping[str, object]) -> str | None:
    """Say of a script, by what it notes, that it was learned from a sample; None if it was not.

    Examples
    --------
    >>> said({"narratives": 10_000_000, "sample": 100_000})
    'learned from a sample of 100,000 of 10,000,000 narratives'
    """
    sample, of = about.get("sample"), about.get("narratives")
    if not isinstance(sample, int) or not isinstance(of, int):
        return None
    return f"learned from a sample of {sample:,} of {of:,} narratives"
