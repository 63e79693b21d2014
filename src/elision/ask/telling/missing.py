"""The probability that an event is missing from the record at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.telling import Missing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.telling import TellingModel


def evidence(model: TellingModel, told: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the probability is made of, (places, events, numbers): one, log-odds, and rivals."""
    odds = model.insertions(told)
    largest = odds.max()
    rivals = largest + np.log(np.exp(odds - largest).sum())
    result = np.empty((*odds.shape, len(Missing._fields)))
    result[..., 0] = 1.0
    result[..., 1] = odds
    result[..., 2] = rivals
    return result


def missing_chances(model: TellingModel, told: NDArray[np.int64]) -> NDArray[np.float64]:
    """Probability that each event is missing at each place, (events told + 1, events)."""
    if model.missing is None:
        return np.zeros((len(told) + 1, len(model.events)))
    value = evidence(model, told) @ np.array(model.missing)
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -500, 500))))
