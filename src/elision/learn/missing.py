"""How probable it is that an event is missing: learned by hiding told events.

Telling models are learned without a part of the narratives each; told events of that part are
hidden, and a logistic regression turns the log-odds of inserting each event at each place into the
probability that it was hidden there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.telling.missing import evidence
from elision.learn.held_out import hold_out
from elision.values.telling import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.learn.held_out import HeldOut

HIDDEN = 0.2
"""Share of told events that are hidden."""

MOST_HELD_OUT = 200
"""Held-out narratives that are learned from at most."""

FEWEST = 8
"""With fewer narratives nothing is learned: `PRIOR` holds."""

PRIOR = Missing(constant=-1.0, odds=1.0, rivals=-1.0)
"""Where learning starts, and what it goes back to where there is little to learn from."""

SPREAD = 1.0
"""Standard deviation of the normal prior around it."""


def learn_missing(
    narratives: Sequence[Sequence[int]],
    events: Sequence[str],
    *,
    held_out: Sequence[HeldOut] | None = None,
    random_state: int = 0,
) -> Missing:
    """Learn from narratives of event numbers; ``held_out`` if some have been held out already.

    Examples
    --------
    >>> learn_missing([(0, 1)], ["ring", "open"]) == PRIOR
    True
    """
    if len(narratives) < FEWEST:
        return PRIOR
    rng = np.random.default_rng([random_state, 3])
    features: list[NDArray[np.float64]] = []
    hidden: list[NDArray[np.bool_]] = []
    parts = held_out or hold_out(narratives, events, random_state=random_state)
    each = [(part.model, one) for part in parts for one in part.narratives]
    for model, one in each[:MOST_HELD_OUT]:
        told, gone = hide(np.array(one, np.int64), len(events), rng)
        if len(told):  # also where nothing was hidden: then nothing is missing
            features.append(evidence(model.insertions(told)).reshape(-1, len(PRIOR)))
            hidden.append(gone.ravel())
    if not features:
        return PRIOR
    return Missing(*_regression(np.concatenate(features), np.concatenate(hidden)).tolist())


def hide(
    narrative: NDArray[np.int64], events: int, rng: np.random.Generator, share: float = HIDDEN
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Hide events of a narrative, each with the same chance.

    Returns
    -------
    told, hidden
        What is left, and (places, events) whether an event was hidden at a place.
    """
    gone = rng.random(len(narrative)) < share
    place = np.cumsum(~gone)[gone]
    hidden = np.zeros((int((~gone).sum()) + 1, events), bool)
    hidden[place, narrative[gone]] = True
    return narrative[~gone], hidden


def _regression(values: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Logistic regression with a normal prior around `PRIOR`."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    prior = np.array(PRIOR)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value = values @ weights
        change = (weights - prior) / SPREAD
        total = np.logaddexp(0, value).sum() - value[truth].sum() + 0.5 * change @ change
        chance = 0.5 * (1 + np.tanh(value / 2))
        return float(total), values.T @ (chance - truth) + change / SPREAD

    return np.asarray(minimize(loss, prior, jac=True, method="L-BFGS-B").x)
