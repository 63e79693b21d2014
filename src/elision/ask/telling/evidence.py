"""What a telling says for a script, by its telling model, relative to none of these."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.ask.engine.evidence import BROKEN_OFF, shares_of, told_rates
from elision.ask.telling.slots import model_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.ask.engine.evidence import Background, Symbol


BY_MEMORY = 0.35
"""Share of an event's probability that the telling model gives; the rest is how often it is told.

Few tellings say little of what follows what, and much of what belongs to an activity. Chosen on
VirtualHome, where activities share most of their events.
"""


def evidence_of(
    witness: Any,
    symbols: Sequence[Symbol],
    tellings: Sequence[NDArray[np.int64]],
    background: Background,
    stray: float,
    *,
    begun: bool = False,
) -> NDArray[np.float64]:
    """Log-evidence of each telling, a list of numbers of observations.

    Each event is a stray with probability ``stray``, and the telling breaks off before it with
    `BROKEN_OFF`. Else it comes as the telling model says after the events before it that the script
    knows, or as often as it is told anywhere, r(x):

        sum over events x of log( stray + (1 - stray - BROKEN_OFF) p(x) / b(x) ),
        p(x) = BY_MEMORY P(x | past) + (1 - BY_MEMORY) r(x)
    """
    model = model_of(witness.script)
    rates = told_rates(witness.script)
    rates = rates / max(rates.sum(), np.finfo(float).tiny)
    weights = np.zeros((len(symbols), len(model.events)))
    means = np.full(len(symbols), -1, np.int64)
    for row, symbol in enumerate(symbols):
        for event, share in shares_of(symbol):
            if event in model.numbers:
                weights[row, model.numbers[event]] = share / background.weight(symbol)
        if weights[row].any():
            means[row] = int(weights[row].argmax())
    going_on = 1 - stray - BROKEN_OFF
    return np.array(
        [
            _one(model, rates, weights, means, symbols, one, stray, going_on, begun)
            for one in tellings
        ]
    )


def _one(
    model: Any,
    rates: NDArray[np.float64],
    weights: NDArray[np.float64],
    means: NDArray[np.int64],
    symbols: Sequence[Symbol],
    telling: NDArray[np.int64],
    stray: float,
    going_on: float,
    begun: bool,
) -> float:
    numbers = telling.tolist()
    past = means[telling]
    known = past[past >= 0]
    simple = all(isinstance(symbols[k], str) for k in numbers)
    total = 0.0
    if simple:  # one pass over the known events serves all of them
        steps = np.exp(model.step_log_probs([known])[0])
        place = 0
        for k in numbers:
            chance = 0.0
            if means[k] >= 0:
                mixed = BY_MEMORY * steps[place] + (1 - BY_MEMORY) * rates[means[k]]
                chance = float(mixed * weights[k, means[k]])
                place += 1
            total += math.log(stray + going_on * chance)
        ending = float(steps[-1])
    else:
        told: list[int] = []
        for k in numbers:
            if symbols[k] is None:
                continue  # says nothing for or against any script
            ahead = np.exp(model.next_log_probs(np.array(told, np.int64)))[:-1]
            mixed = BY_MEMORY * ahead + (1 - BY_MEMORY) * rates
            total += math.log(stray + going_on * float(mixed @ weights[k]))
            if means[k] >= 0:
                told.append(int(means[k]))
        ending = float(np.exp(model.next_log_probs(np.array(told, np.int64))[-1]))
    return total if begun else total + math.log(going_on * ending + BROKEN_OFF)
