"""How often each kind of event is left out of a log, though nobody wrote down what was left out.

What stands beside an event says how often it is left out at most, and whether what else the case
holds makes a difference (`elision.repairing.company`). Two things remain open: whether it was left
out, or not done by a choice that nothing else shows; and how often events are left out of which
nothing more is known. Both are answered by the other events: the rates of a log are drawn from one
beta distribution, whose mean and size are not known either. Where little is left out, or the same
share of each event, a step that most cases lack is taken to be optional; where rates differ widely
it may be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.errors import InputError
from elision.repairing.company import LEAST, RATES, Found, in_company, products
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MEANS = np.geomspace(1e-5, 0.9, 50)
SIZES = 2.0 ** np.arange(10)
"""Means and sizes (both parameters together) of the distributions of rates that are weighed."""

OPTIONAL = 3.0
"""Steps that are missing by a choice for each one that is left out, before looking."""

_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Omission:
    """How often events are left out.

    Attributes
    ----------
    rates
        For each event the chance that it is left out of the log where it was done.
    overall
        The mean rate of a case that has any one of the events: what holds for events of which
        nothing more is known. It is no share of all that is done, which the rates and the record
        say.
    known
        For each event how surely the rate is its own, from 0 to 1; above 0.5 it is.
    """

    rates: NDArray[np.float64]
    overall: float
    known: NDArray[np.float64]


def given_omission(rate: float, events: int) -> Omission:
    """Return one rate for all events.

    Examples
    --------
    >>> given_omission(0.2, 3).rates.tolist()
    [0.2, 0.2, 0.2]
    """
    if not 0 <= rate < 1:
        raise InputError(f"omission is {short(rate)}, expected at least 0 and below 1")
    return Omission(np.full(events, rate), rate, np.ones(events))


def learn_omission(
    traces: Sequence[Sequence[int] | NDArray[np.int64]], events: int, *, random_state: int = 0
) -> Omission:
    """Estimate how often each event is left out.

    With too few cases to tell, nothing is taken to be left out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> traces = [[e for e in range(4) if rng.random() < 0.8] for _ in range(2000)]
    >>> learn_omission(traces, 4).rates.round(1).tolist()
    [0.2, 0.2, 0.2, 0.2]
    >>> traces = [[0, 1 + k % 2, 3] for k in range(2000)]
    >>> learn_omission(traces, 4).rates.round(1).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    found, cases = in_company(traces, events, np.random.default_rng([random_state, 11]))
    nothing = Omission(np.zeros(events), 0.0, np.zeros(events))
    if not found:
        return nothing
    which = np.array(list(found))
    own, assumed, sure = _weighed(list(found.values()))
    weight = cases[which] * sure
    if weight.sum() < LEAST:
        return nothing
    overall = float((weight * [one.rate for one in found.values()]).sum() / weight.sum())
    rates, known = np.full(events, overall), np.zeros(events)
    if overall > 0:  # else nothing is missing anywhere
        rates[which] = np.where(sure > 0.5, own, assumed)
    known[which] = sure
    return Omission(np.minimum(rates, RATES[-1]), overall, known)


def _weighed(
    found: Sequence[Found],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of each event its rate if it is left out, its rate if it is also optional, and which it is.

    Given the distribution of rates, events are independent; all distributions are weighed by how
    well they explain all events.
    """
    from scipy.special import betainc, ndtr  # noqa: PLC0415 - slow to load

    rate, error, evidence = np.array(found, float).T
    edges = np.concatenate([[0.0], (RATES[1:] + RATES[:-1]) / 2, [1.0]])
    mean, size = np.repeat(MEANS, len(SIZES)), np.tile(SIZES, len(MEANS))
    upto = betainc((mean * size)[:, None], ((1 - mean) * size)[:, None], edges)
    chance, width = np.diff(upto, axis=1), np.diff(edges)
    spread = np.maximum(error[:, None], width / 2)
    seen = np.exp(-0.5 * ((rate[:, None] - RATES) / spread) ** 2) / spread
    at_most = ndtr((rate[:, None] - RATES) / error[:, None])  # some of it is left out, some undone
    left_out = products(chance, seen) + _TINY
    odds = np.log(left_out) + evidence - np.log((seen * width).sum(axis=1)) - np.log(OPTIONAL)
    own = products(chance, seen * RATES) / left_out
    part = products(chance, at_most * RATES) / (products(chance, at_most) + _TINY)
    fit = np.logaddexp(odds, 0.0).sum(axis=1)
    weight = np.exp(fit - fit.max())[:, None]
    weight /= weight.sum()
    surely = weight / (1 + np.exp(-np.clip(odds, -500, 500)))
    known, unknown = surely.sum(axis=0), (weight - surely).sum(axis=0)
    return (
        (surely * own).sum(axis=0) / np.maximum(known, _TINY),
        ((weight - surely) * part).sum(axis=0) / np.maximum(unknown, _TINY),
        known,
    )
