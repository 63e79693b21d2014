"""Learning the last step (see `elision.ask.last_step`) from gaps in training narratives.

The scripts, pairs and sets that speak there must not have seen the narrative: they are learned from
the other folds of a cross-validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.last_step import Counted, LastStep, shared_words
from elision.contexts import surroundings
from elision.learn.baselines import bigrams, skip_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.contexts import Context

PSEUDOCOUNT = 0.3
"""Of pairs and sets."""

USUAL_WEIGHTS = np.array([0.6, 0.3, 0.1, -1, -1, 0, 0, 0, 0, 0, 0])
"""Where learning starts, and what it goes back to where there is little to learn from: mostly the
scripts, and an event that is told already is seldom told again."""

WEIGHT_SPREAD = 0.7
CONTEXT_SPREAD = 0.3
"""Standard deviations of the normal priors of weights and of context."""

MOST_STEPS = 100
MOST_CONTEXT_EVENTS = 400
"""With more event types there is no regression on the events around: it squares their number."""


def count(narratives: list[tuple[int, ...]], events: int) -> Counted:
    """Count pairs and sets in narratives of event numbers."""
    absent, present = skip_counts(narratives, events, PSEUDOCOUNT)
    bigram = bigrams(narratives, events, PSEUDOCOUNT)
    return Counted(bigram.astype(np.float32), absent.astype(np.float32), present.astype(np.float32))


def learn_last_step(
    names: Sequence[str],
    counted: Counted,
    contexts: Sequence[Context],
    values: NDArray[np.float64],
    answers: NDArray[np.int64],
) -> LastStep:
    """Learn weights and context from gaps whose answers are known.

    Parameters
    ----------
    names
        Names of all events.
    counted
        Of all training narratives, for later.
    contexts, values
        Gaps, and the `features` there by scripts that have not seen the narrative.
    answers
        The event in each.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    gaps, events, count = values.shape
    around = surroundings(contexts, events) if events <= MOST_CONTEXT_EVENTS else None
    columns = np.zeros(0, np.int64) if around is None else np.unique(around.indices)
    rows = None if around is None else around[:, columns]
    flat = values.reshape(gaps * events, count)
    right = np.zeros((gaps, events))
    right[np.arange(gaps), answers] = 1.0
    told = right.reshape(-1) @ flat

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights, context = point[:count], point[count:].reshape(len(columns), events)
        value = (flat @ weights).reshape(gaps, events)
        if rows is not None:
            value = value + rows @ context
        largest = value.max(axis=1, keepdims=True)
        chance = np.exp(value - largest)
        total = chance.sum(axis=1, keepdims=True)
        chance /= total
        change = weights - USUAL_WEIGHTS
        result = (np.log(total) + largest).sum() - (right * value).sum()
        result += (change @ change) / (2 * WEIGHT_SPREAD**2)
        result += (context * context).sum() / (2 * CONTEXT_SPREAD**2)
        slope = chance.reshape(-1) @ flat - told + change / WEIGHT_SPREAD**2
        if rows is None:
            return float(result), slope
        turn = rows.T @ (chance - right) + context / CONTEXT_SPREAD**2
        return float(result), np.concatenate([slope, turn.ravel()])

    start = np.concatenate([USUAL_WEIGHTS, np.zeros(len(columns) * events)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS}).x
    context = None
    if around is not None:
        context = np.zeros((around.shape[1], events), np.float32)
        context[columns] = found[count:].reshape(len(columns), events)
    return LastStep(counted, shared_words(names), found[:count], context)
