"""Constraints "x never follows y", learned from narratives by a one-sided z-test."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from elision.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.values.observations import Packed


def learn_constraints(
    packed: Packed, events: int, *, error_rate: float = 0.1, level: float = 0.01
) -> NDArray[np.bool_]:
    """Return ``never[y, x]``: whether event x never follows event y.

    Of the n narratives in which y is told, v tell some x later. The rule is kept if the rate v / n
    is below ``error_rate`` at this ``level`` of a one-sided z-test.

    Examples
    --------
    >>> from elision.values.observations import Packer
    >>> packed = Packer(("open", "close")).pack([["open", "close"]] * 80)
    >>> learn_constraints(packed, 2)
    array([[False, False],
           [ True, False]])
    """
    if not 0 < error_rate < 1:
        raise InputError(f"error_rate is {error_rate}, expected a number between 0 and 1")
    if not 0 < level < 1:
        raise InputError(f"level is {level}, expected a number between 0 and 1")
    told = np.zeros(events)
    violated = np.zeros((events, events))
    for number, weight in enumerate(packed.weight):
        narrative = packed.symbol[packed.offset[number] : packed.offset[number + 1]]
        hard = narrative[narrative < events]
        later = np.zeros(events, bool)
        after = np.zeros((events, events), bool)
        for event in hard[::-1].tolist():
            after[event] |= later
            later[event] = True
        told[later] += weight
        violated += weight * after
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(error_rate * (1 - error_rate) / told)
        z = (violated / told[:, None] - error_rate) / spread[:, None]
    kept = (told[:, None] > 0) & (z < NormalDist().inv_cdf(level))
    kept &= told[None, :] > 0
    np.fill_diagonal(kept, val=False)
    return kept
