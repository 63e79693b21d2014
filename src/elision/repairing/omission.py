"""How often each kind of event is left out of a log, though nobody wrote down what was left out.

Take an event that is done at least once whenever another one, its *companion*, is done. If each
occurrence is left out with chance e, by itself, a case with the companion still has it k times with
chance q(k), and the generating function of what was done, which is 0 at 0, gives

    sum over k of q(k) z**k = 0    at    z = -e / (1 - e).

So e is found from the counts alone (for an event that is never repeated it is the share of cases
with the companion that lack it). Which companion is needed is not known either: each gives a rate
that is too high if the event is sometimes not done, so the lowest counts.

An event that is left out by chance is left out whatever else the case holds; one that is sometimes
not done depends on the case. That tells the two apart: the mean of z**count is compared between
cases with and without each other event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST = 30
"""Cases needed with an event, with its companion, and with or without a third one."""

MOST_CELLS = 20_000_000
"""Cases times events that are looked at; of more cases a random part is taken."""

MOST_COUNTED = 30
"""An event that stands in a case more often counts as often as this."""

RATES = np.concatenate([[0.0], np.geomspace(0.0005, 0.95, 400)])
MOST_BELIEVED = 0.6
"""What is missing more often is taken for a step that is often not done."""

DIFFERENCE = 0.25
"""Typical difference in rate between cases, of an event that is sometimes not done."""

TESTS = 5
"""The least likely differences that are weighed."""

COMPANY = 0.05
"""A companion stands in this many cases for each one with the event: else its rate is luck."""

CAUTION = 3.0
"""Standard errors that are added to the rate a companion gives before the lowest is taken."""


class _Rate(NamedTuple):
    rate: float
    error: float
    companion: int


@dataclass(frozen=True, slots=True, eq=False)
class Omission:
    """How often events are left out.

    Attributes
    ----------
    rates
        For each event the chance that it is left out of the log where it was done.
    overall
        The mean over what was recorded; what holds for events of which nothing more is known.
    known
        For each event how surely the rate is its own, from 0 to 1.
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
    counts = _counted(traces, events, np.random.default_rng([random_state, 11]))
    holds = np.concatenate(
        [counts > 0, counts > 1, np.ones((len(counts), 1), bool)], axis=1
    ).astype(np.float64)
    with_event = (counts > 0).sum(axis=0)
    rates, errors, known = np.ones(events), np.ones(events), np.zeros(events)
    for event in np.flatnonzero(with_event >= LEAST).tolist():
        found = _lowest(counts[:, event], holds, event, events)
        if found is not None:
            rates[event], errors[event] = found.rate, found.error
            odds = _by_chance(counts[:, event], holds, event, found) + _beforehand(found.rate)
            known[event] = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
    weight = with_event * known
    if weight.sum() < LEAST:
        return Omission(np.zeros(events), 0.0, np.zeros(events))
    overall = float(weight @ rates / weight.sum())
    spread = max(float(weight @ ((rates - overall) ** 2 - errors**2)) / weight.sum(), 1e-6)
    own = (rates * spread + overall * errors**2) / (spread + errors**2)
    pooled = known * own + (1 - known) * np.minimum(overall, rates + errors)
    return Omission(np.minimum(pooled, RATES[-1]), overall, known)


def _counted(
    traces: Sequence[Sequence[int] | NDArray[np.int64]], events: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """(cases, events) how often each event stands in each case."""
    most = max(MOST_CELLS // max(events, 1), 2 * LEAST)
    chosen = range(len(traces))
    if len(traces) > most:
        chosen = np.sort(rng.choice(len(traces), most, replace=False)).tolist()
    counts = np.zeros((len(chosen), events), np.int64)
    for row, number in enumerate(chosen):
        np.add.at(counts[row], np.asarray(traces[number], np.int64), 1)
    return np.minimum(counts, MOST_COUNTED)


def _lowest(
    counts: NDArray[np.int64], holds: NDArray[np.float64], event: int, events: int
) -> _Rate | None:
    """The lowest rate that a companion, or all cases together, give."""
    companions = [*range(events), 2 * events]
    times = np.arange(counts.max() + 1)
    joint = (counts[:, None] == times).T.astype(np.float64) @ holds[:, companions]
    cases = joint.sum(axis=0)
    chance = joint / np.maximum(cases, 1)
    values = (-RATES / (1 - RATES))[:, None] ** times @ chance
    enough = max(LEAST, COMPANY * float((counts > 0).sum()))
    best, lowest = None, np.inf
    for column, companion in enumerate(companions):
        roots = np.flatnonzero(values[:, column] <= 1e-12)
        if companion == event or cases[column] < enough or not len(roots):
            continue
        rate = _interpolated(values[:, column], int(roots[0]))
        if rate > MOST_BELIEVED:
            continue
        error = _error(rate, chance[:, column], cases[column])
        few = 2 / (cases[column] + 4)
        if (bound := rate + few + CAUTION * max(error, few / 2**0.5)) < lowest:
            best, lowest = _Rate(rate, error, companion), bound
    return best


def _interpolated(values: NDArray[np.float64], root: int) -> float:
    if root == 0:
        return 0.0
    before, after = values[root - 1], values[root]
    part = before / max(before - after, 1e-12)
    return float(RATES[root - 1] + (RATES[root] - RATES[root - 1]) * part)


def _powers(rate: float, most: int) -> NDArray[np.float64]:
    """z**0, z**1, ... at the z of a rate."""
    return np.asarray((-rate / (1 - rate)) ** np.arange(most + 1), np.float64)


def _error(rate: float, chance: NDArray[np.float64], cases: float) -> float:
    """Standard error of a rate: of the mean of z**count, divided by its slope."""
    powers = _powers(rate, len(chance) - 1)
    variance = max(float(chance @ powers**2 - (chance @ powers) ** 2), 0.5 / cases)
    slope = abs(chance[1:] @ (np.arange(1, len(chance)) * powers[:-1])) / (1 - rate) ** 2
    return float(np.sqrt(variance / cases) / max(slope, 1e-6))


def _by_chance(
    counts: NDArray[np.int64], holds: NDArray[np.float64], event: int, found: _Rate
) -> float:
    """Log-odds that differences between cases are chance, by the `TESTS` least likely ones."""
    events = (holds.shape[1] - 1) // 2
    here = holds[:, found.companion] > 0
    value = _powers(found.rate, int(counts.max()))[counts[here]]
    other = holds[here][:, :-1]
    cases, having = len(value), other.sum(axis=0)
    fair = (having >= LEAST) & (cases - having >= LEAST)
    fair[[event, event + events]] = False
    fair[found.companion : found.companion + 1] = False
    if not fair.any():
        return 0.0
    having, total = having[fair], (value @ other)[fair]
    scale = 1 - found.rate
    difference = (total / having - (value.sum() - total) / (cases - having)) * scale
    spread = max(float(value.std()), (0.5 / cases) ** 0.5) * scale
    error = spread * np.sqrt(1 / having + 1 / (cases - having))
    each = np.sort(_log_normal(difference, error) - _log_normal(difference, _wider(error)))
    return float(each[:TESTS].sum() + np.log(len(each)) * (each[0] < 0))


def _wider(error: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(error**2 + DIFFERENCE**2)


def _log_normal(value: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    return -np.log(spread) - 0.5 * (value / spread) ** 2


def _beforehand(rate: float) -> float:
    """Log-odds that a step that is missing so often is left out, not undone, before looking.

    Low rates are mostly omissions, Beta(1, 3), high ones mostly choices, Beta(4, 2).
    """
    rate = float(np.clip(rate, 0.003, 0.99))
    return float(np.log(3 * (1 - rate) ** 2) - np.log(20 * rate**3 * (1 - rate)))
