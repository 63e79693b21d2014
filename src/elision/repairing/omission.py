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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

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

OFTEN = 0.5
"""A step that is left out more often may be one that is often not done."""

LEAST_DOUBTED = 0.05
"""Rates of steps taken to be optional that are worth a doubt, up to `OFTEN`."""

SURE = 3.0
"""Standard errors by which such a rate is above 0."""

_TINY = 1e-300


Rates: TypeAlias = "float | Mapping[str | None, float]"
"""One rate for all events, or of some by name: `None` stands for all others."""


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
    trust
        For each event the share of what is missing by its rate that is to be expected: less than 1
        where a rate above `OFTEN` may come of a step that is often not done.
    doubted
        For each event the rate that it would have if it were left out, where it is taken for a step
        that is not always done instead; 0 where there is no such doubt.
    """

    rates: NDArray[np.float64]
    overall: float
    known: NDArray[np.float64]
    trust: NDArray[np.float64]
    doubted: NDArray[np.float64]


def given_omission(rate: float, events: int) -> Omission:
    """Return one rate for all events.

    Examples
    --------
    >>> given_omission(0.2, 3).rates.tolist()
    [0.2, 0.2, 0.2]
    """
    checked(rate)
    sure = np.ones(events)
    return Omission(np.full(events, rate, float), rate, sure, sure, np.zeros(events))


def rates_given(omission: Rates, events: Sequence[str]) -> NDArray[np.float64]:
    """Return the rate that is given for each event, not a number where none is.

    Examples
    --------
    >>> rates_given({"call": 0, None: 0.1}, ["call", "pay"]).tolist()
    [0.0, 0.1]
    >>> rates_given({"call": 0}, ["call", "pay"]).tolist()
    [0.0, nan]
    """
    if not isinstance(omission, Mapping):
        return np.full(len(events), checked(omission))
    others = omission.get(None)
    rest = np.nan if others is None else checked(others)
    return np.array(
        [checked(omission[one], one) if one in omission else rest for one in events], float
    )


def checked(rate: object, event: str | None = None) -> float:
    """Return a rate that may hold, of an event if one is named."""
    if not isinstance(rate, int | float | np.integer | np.floating) or not 0 <= float(rate) < 1:
        what = "omission" if event is None else f"omission of {short(event)}"
        raise InputError(f"{what} is {short(rate)}, expected at least 0 and below 1")
    return float(rate)


def learn_omission(
    traces: Sequence[Sequence[int] | NDArray[np.int64]],
    events: int,
    *,
    given: NDArray[np.float64] | None = None,
    complete: Sequence[NDArray[np.int64]] = (),
    random_state: int = 0,
) -> Omission:
    """Estimate how often each event is left out.

    With too few cases to tell, nothing is taken to be left out.

    Parameters
    ----------
    given
        Rates that need no estimate, by event; not a number where there is none.
    complete
        Traces of which nothing is left out, if there are any: what lacks an event there was done
        without it.

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
    given = np.full(events, np.nan) if given is None else given
    found, cases = in_company(traces, events, np.random.default_rng([random_state, 11]))
    found = {event: one for event, one in found.items() if np.isnan(given[event])}
    if complete:
        undone, _ = in_company(complete, events, np.random.default_rng([random_state, 15]))
        found = {event: _beyond(one, undone.get(event)) for event, one in found.items()}
    learned = _learned(found, cases, events)
    which = ~np.isnan(given)
    learned.rates[which] = given[which]
    learned.known[which] = learned.trust[which] = 1.0
    learned.doubted[which] = 0.0
    return learned


def _beyond(found: Found, undone: Found | None) -> Found:
    """What is left out beyond what is not done anyway: both leave less of what comes with a sign.

    Of the cases with the sign, 1 - rate have the event: of those that do it, 1 - undone, those that
    tell it.
    """
    if undone is None or undone.rate == 0:
        return found
    done = 1 - undone.rate
    error = float(np.hypot(found.error, (1 - found.rate) / done * undone.error)) / done
    return found._replace(rate=max(1 - (1 - found.rate) / done, 0.0), error=error)


def _learned(found: dict[int, Found], cases: NDArray[np.int64], events: int) -> Omission:
    doubted = np.zeros(events)
    nothing = Omission(np.zeros(events), 0.0, np.zeros(events), np.ones(events), doubted)
    if not found:
        return nothing
    which = np.array(list(found))
    own, assumed, sure = _weighed(list(found.values()))
    doubted[which] = [
        one.rate if by <= 0.5 and _is_doubtful(one) else 0.0
        for one, by in zip(found.values(), sure, strict=True)
    ]
    weight = cases[which] * sure
    if weight.sum() < LEAST:
        return nothing
    overall = float((weight * [one.rate for one in found.values()]).sum() / weight.sum())
    rates, known, trust = np.full(events, overall), np.zeros(events), np.ones(events)
    if overall > 0:  # else nothing is missing anywhere
        rates[which] = np.where(sure > 0.5, own, assumed)
        often = (sure > 0.5) & (own > OFTEN)
        trust[which] = np.where(often, _trust(own, assumed, sure), 1.0)
    known[which] = sure
    return Omission(np.minimum(rates, RATES[-1]), overall, known, trust, doubted)


def _is_doubtful(found: Found) -> bool:
    return LEAST_DOUBTED <= found.rate <= OFTEN and found.rate >= SURE * found.error


def _trust(
    own: NDArray[np.float64], assumed: NDArray[np.float64], sure: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many are missing whether or not the rate is its own, for each one missing if it is.

    An event that was told n times is missing n e / (1 - e) times.
    """
    own = np.minimum(own, RATES[-1])
    fewer = np.minimum(assumed * (1 - own) / (own * (1 - assumed) + _TINY), 1.0)
    return np.asarray(sure + (1 - sure) * fewer)


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
