"""How probable it is that an event is missing: learned by hiding told events.

Telling models are learned without a part of the narratives each; told events of that part are
hidden, and a logistic regression turns the log-odds of inserting each event at each place into the
probability that it was hidden there. What is more probable together than it can be is lowered
afterwards (`elision.ask.telling.missing.agreed_odds`), so the regression is learned again with that
in it, until what comes out fits no better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _threads
from elision.ask.telling.missing import agreed_odds, chance, evidence, log_odds
from elision.learn.held_out import hold_out
from elision.values.telling import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.learn.held_out import HeldOut
    from elision.values.telling import TellingModel

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

MOST_WEIGHED = 1e8
"""Of (places times events) squared, over all narratives that agreement is sought in: its time."""

FEWEST_WEIGHED = 20
"""Narratives of which fewer say nothing of agreement."""

MOST_ROUNDS = 5
"""Times that the regression is learned again with what agreement lowers."""

STRIDES = (2.0, 1.0)
"""How far to go towards what was learned again: it moves on the same way, so twice as far first."""

LEAST_GAIN = 1.0
"""Of log-likelihood, in a round: with less, rounds are at their end."""

NO_LUCK = 4.0
"""Of log-likelihood, in all rounds: three numbers gain less by luck in nineteen of twenty cases."""


class _Asked(NamedTuple):
    """A narrative with events hidden: places and events that were, and odds of putting some in."""

    model: TellingModel
    told: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    odds: NDArray[np.float64]
    tried: dict[tuple[int, int], NDArray[np.float64]]

    def lowered(self, missing: Missing) -> NDArray[np.float64]:
        """Log-odds, flat, by which agreement lowers what each says by itself."""

        def put_in(place: int, event: int) -> NDArray[np.float64]:
            if (place, event) not in self.tried:
                more = np.insert(self.told, place, event)
                self.tried[place, event] = self.model.insertions(more)
            return log_odds(missing, self.tried[place, event])

        alone = log_odds(missing, self.odds)
        return np.asarray(agreed_odds(alone, put_in) - alone).ravel()


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
    parts = held_out or hold_out(narratives, events, random_state=random_state)
    each = [(part.model, one) for part in parts for one in part.narratives]
    asked = []
    for model, one in each[:MOST_HELD_OUT]:
        told, gone = hide(np.array(one, np.int64), len(events), rng)
        if len(told):  # also where nothing was hidden: then nothing is missing
            asked.append(_Asked(model, told, gone, model.insertions(told), {}))
    if not asked:
        return PRIOR
    values, truth = _tables(asked)
    alone = _regression(values, truth, np.array(PRIOR), np.zeros(len(truth)))
    weighed = np.cumsum([float(one.odds.size) ** 2 for one in asked]) <= MOST_WEIGHED
    agreeing = asked[: int(weighed.sum())]
    found = _agreed(agreeing, alone) if len(agreeing) >= FEWEST_WEIGHED else alone
    return Missing(*found.tolist())


def _tables(asked: Sequence[_Asked]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What speaks for each event's being hidden at each place, and whether it is."""
    values = np.concatenate([evidence(one.odds).reshape(-1, len(PRIOR)) for one in asked])
    return values, np.concatenate([one.hidden.ravel() for one in asked])


def _agreed(asked: Sequence[_Asked], alone: NDArray[np.float64]) -> NDArray[np.float64]:
    """Learn by what is left of what each says by itself where all agree."""
    values, truth = _tables(asked)
    weights = alone
    lowered = _lowered(asked, weights)
    loss = first = _loss(values, truth, weights, lowered)[0]
    for _ in range(MOST_ROUNDS):
        towards = _regression(values, truth, weights, lowered) - weights
        for stride in STRIDES:
            tried = weights + stride * towards
            found = _lowered(asked, tried)
            less = _loss(values, truth, tried, found)[0]
            if less <= loss - LEAST_GAIN:
                weights, lowered, loss = tried, found, less
                break
        else:
            break
    return weights if first - loss >= NO_LUCK else alone


def _lowered(asked: Sequence[_Asked], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    found: list[NDArray[np.float64]] = [np.empty(0)] * len(asked)

    def work(number: int) -> None:
        found[number] = asked[number].lowered(Missing(*weights.tolist()))

    _threads.run(work, range(len(asked)))
    return np.concatenate(found)


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


def _loss(
    values: NDArray[np.float64],
    truth: NDArray[np.bool_],
    weights: NDArray[np.float64],
    lowered: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Negative log-likelihood, with a normal prior around `PRIOR`, and its gradient."""
    prior = np.array(PRIOR)
    odds = values @ weights + lowered
    change = (weights - prior) / SPREAD
    total = np.logaddexp(0, odds).sum() - odds[truth].sum() + 0.5 * change @ change
    return float(total), values.T @ (chance(odds) - truth) + change / SPREAD


def _regression(
    values: NDArray[np.float64],
    truth: NDArray[np.bool_],
    start: NDArray[np.float64],
    lowered: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Logistic regression of log-odds that are lowered by so much."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    found = minimize(
        lambda weights: _loss(values, truth, weights, lowered), start, jac=True, method="L-BFGS-B"
    )
    return np.asarray(found.x)
