"""How often an event may be left out at most, by what stands beside it in a case.

Take an event that is done at least once whenever a case shows some *sign*: another event, another
event twice, two events directly behind one another once this one is taken out, or anything else
at all. If each occurrence is left out with chance e, by itself, a case with the sign still has it k
times with chance q(k), and the generating function of what was done, which is 0 at 0, gives

    sum over k of q(k) z**k = 0    at    z = -e / (1 - e).

So e is found from the counts alone (for an event that is never repeated it is the share of cases
with the sign that lack it). Which sign is needed is not known either: each gives a rate that is too
high if the event is sometimes not done, so the lowest counts.

An event that is left out by chance is left out whatever else the case holds; one that is sometimes
not done depends on the case. That tells the two apart: the mean of z**count is compared between
cases with and without each other sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAST = 30
"""Cases needed with an event, with a sign, and with and without a second sign."""

MOST_READ = 300_000_000
"""Recorded events times kinds of events that are looked at; of more cases a random part is taken.

A log of 20,000 cases and 1,000 kinds of events is looked at whole.
"""

MOST_PAIRED = 150
"""Kinds of events, the most frequent ones, of which it is a sign what follows them directly."""

MOST_COUNTED = 30
"""An event that stands in a case more often counts as often as this."""

RATES = np.concatenate([[0.0], np.geomspace(0.0005, 0.95, 400)])

COMPANY = 0.05
"""A sign is shown by this many cases for each one with the event: else its rate is luck."""

CAUTION = 3.0
"""Standard errors from a rate to where it may be at most; the sign with the lowest bound counts."""

ALIKE = 2.5
"""Standard errors by which the rate of a sign of more cases may be higher and still be the same."""

TESTS = 10.0
"""Signs, of all that are compared, on which an event that is sometimes not done depends."""

DIFFERENCE = 0.5
"""How much such a sign typically changes the rate, in standard deviations of a single case."""

MOST_EVIDENCE = 5.0
"""Log-odds for chance at most, however little the case matters: some choices depend on nothing."""

LEAST_RATE = 0.003
"""Lower rates differ as this one does."""


class Found(NamedTuple):
    """What the company of an event says of it.

    Attributes
    ----------
    rate
        How often it is missing where it is missing least.
    error
        Standard error of that.
    evidence
        Log-odds that it is missing by chance, whatever else the case holds.
    """

    rate: float
    error: float
    evidence: float


class _Sign(NamedTuple):
    sign: int
    rate: float
    error: float
    cases: float
    bound: float


def in_company(
    traces: Sequence[Sequence[int] | NDArray[np.int64]], events: int, rng: np.random.Generator
) -> tuple[dict[int, Found], NDArray[np.int64]]:
    """Say of each event what its company says, if there is enough; and in how many cases it stands.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> traces = [[e for e in range(3) if rng.random() >= e / 10] for _ in range(2000)]
    >>> found, _ = in_company(traces, 3, rng)
    >>> [round(found[event].rate, 1) for event in range(3)]
    [0.0, 0.1, 0.2]
    """
    chosen = _part(traces, events, rng)
    lengths = [len(trace) for trace in chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    joined = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int64)
    case = np.repeat(np.arange(len(chosen)), lengths)
    cases = np.bincount(np.unique(case * events + joined) % events, minlength=events)
    paired, pairs = _paired(cases)
    found = {}
    for event in np.flatnonzero(cases >= LEAST).tolist():
        reading = _Reading(starts, joined, event, paired, pairs)
        if (one := reading.found(int(cases[event]))) is not None:
            found[event] = one
    return found, cases


def products(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of products of each row with each other one, the same bits for any number of threads."""
    return np.asarray(np.einsum("ik,jk->ij", rows, others), np.float64)


def _part(
    traces: Sequence[Sequence[int] | NDArray[np.int64]], events: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    chosen = [np.asarray(trace, np.int64) for trace in traces]
    cost = events * max(sum(map(len, chosen)), 1)
    many = max(int(len(chosen) * MOST_READ / cost), 2 * LEAST)
    if len(chosen) <= many:
        return chosen
    return [chosen[k] for k in np.sort(rng.choice(len(chosen), many, replace=False)).tolist()]


def _paired(cases: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Numbers of the most frequent events, -1 for the others; and how many have one."""
    pairs = min(len(cases), MOST_PAIRED)
    paired = np.full(len(cases), -1)
    paired[np.sort(np.argsort(-cases, kind="stable")[:pairs])] = np.arange(pairs)
    return paired, pairs


class _Reading(NamedTuple):
    """The log as it is read for one event."""

    starts: NDArray[np.int64]
    joined: NDArray[np.int64]
    event: int
    paired: NDArray[np.int64]
    pairs: int

    def found(self, cases: int) -> Found | None:
        """What the lowest sign says, or a wider one that agrees with it and with chance."""
        everywhere = np.ones(len(self.starts) - 1, bool)
        best = None
        for sign in _lowest(*self._counted(everywhere), cases):
            holds = kernels.company.holding(*self, sign.sign)
            evidence = _by_chance(self._counted(holds)[1], sign)
            best = Found(sign.rate, sign.error, evidence)
            if evidence >= 0:
                break
        return best

    def _counted(self, inside: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        signs, times = kernels.company.company(*self, inside, LEAST, MOST_COUNTED)
        return signs, times.astype(np.float64)


def _lowest(signs: NDArray[np.int64], times: NDArray[np.float64], cases_with: int) -> list[_Sign]:
    """The sign with the lowest bound of the rate; before it one of more cases that is alike."""
    cases = times.sum(axis=1)
    enough = cases >= max(LEAST, COMPANY * cases_with)
    signs, times, cases = signs[enough], times[enough], cases[enough]
    chance = times / cases[:, None]
    powers = (-RATES / (1 - RATES))[:, None] ** np.arange(times.shape[1])
    values = products(powers, chance)
    variance = np.maximum(products(powers**2, chance) - values**2, 0.5 / cases)
    below = values <= 1e-12
    surely = values + CAUTION * np.sqrt(variance / cases) + 1 / cases <= 0
    every = []
    for k in np.flatnonzero(below.any(axis=0) & surely.any(axis=0)).tolist():
        rate = _interpolated(values[:, k], int(below[:, k].argmax()))
        bound = float(RATES[surely[:, k].argmax()])
        error = max((bound - rate) / CAUTION, 0.5 / float(cases[k]))
        every.append(_Sign(int(signs[k]), rate, error, float(cases[k]), bound))
    if not every:
        return []
    lowest = min(every, key=lambda one: (one.bound, -one.cases))
    widest = max((one for one in every if _alike(one, lowest)), key=lambda one: one.cases)
    return [widest] if widest == lowest else [widest, lowest]


def _alike(one: _Sign, lowest: _Sign) -> bool:
    """Whether the rate of a sign may be that of the lowest, which was picked for being low."""
    error = max(lowest.error, (one.rate * (1 - one.rate) / lowest.cases) ** 0.5)
    return one is lowest or one.rate - lowest.rate <= ALIKE * float(np.hypot(one.error, error))


def _interpolated(values: NDArray[np.float64], root: int) -> float:
    if root == 0:
        return 0.0
    before, after = values[root - 1], values[root]
    part = before / max(before - after, 1e-12)
    return float(RATES[root - 1] + (RATES[root] - RATES[root - 1]) * part)


def _by_chance(times: NDArray[np.float64], sign: _Sign) -> float:
    """Log-odds that differences between cases are chance.

    If they are not, each sign makes a difference with the same probability, `TESTS` of them in all.
    """
    powers = (-sign.rate / (1 - sign.rate)) ** np.arange(times.shape[1])
    every = times[-1]  # the last sign is that there is any rest, and has all cases
    cases, having = every.sum(), times.sum(axis=1)
    fair = (having >= LEAST) & (cases - having >= LEAST)
    if not fair.any():
        return 0.0
    having, total = having[fair], (times * powers).sum(axis=1)[fair]
    whole = (every * powers).sum()
    difference = (total / having - (whole - total) / (cases - having)) * (1 - sign.rate)
    variance = max((every * powers**2).sum() / cases - (whole / cases) ** 2, 0.5 / cases)
    error = np.sqrt(variance * (1 / having + 1 / (cases - having))) * (1 - sign.rate)
    typical = DIFFERENCE * (max(sign.rate, LEAST_RATE) * (1 - sign.rate)) ** 0.5
    wider = np.hypot(error, typical)
    odds = np.log(error / wider) + 0.5 * (difference / error) ** 2 - 0.5 * (difference / wider) ** 2
    share = min(0.5, TESTS / len(odds))
    evidence = -np.logaddexp(np.log1p(-share), np.log(share) + odds).sum()
    return min(float(evidence), MOST_EVIDENCE)
