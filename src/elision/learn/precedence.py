"""Which steps come before which: a partial order behind tellings that leave out and mix up.

Two steps are ordered or free. Ordered ones come the other way round by an inversion: of neighbours,
which is common, or over a distance, which is rare; or because one of them is *misplaced* in that
telling, and then its order with all others says nothing. Free ones come in either order, with a
preference of their own. The rates of inversions and misplacements and the shares of ordered pairs
are estimated from the tellings, so that clean recordings and careless ones need no setting. Steps
that sometimes follow each other directly and sometimes do not are more often free than others, so
they have a share of their own.

Some tellings may be careless: told in no particular order, such as recordings of people who make
one mistake after the other. What they say of pairs then counts little. That there are such is
believed only where whole tellings are the likelier for it: a few tellings of free steps also look
like those of one order and exceptions from it.

What pairs say is joined with what whole tellings say (each time one of those whose turn it may be
comes next, each alike) and with what orders usually look like in a posterior over partial orders,
sampled by Metropolis' rule. Usually a step has one direct successor, that which needs it; and steps
that do the same to different things, such as adding this and adding that, are not direct successors
of each other.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, expit, logit

from elision.kernels.precedence import sampled_orders, telling_log_probs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


BRANCHING = 3.0
"""Cost of each doubling of what stands directly after a step. More, such as 4, finds task graphs as
well, but stages of several free steps worse."""

ALIKE = 8.0
"""Cost of standing directly one after the other for steps that are alike. Some eight tellings that
all agree overrule it, however many there are: where evidence is scaled down, so is this."""

MOST_EVIDENCE = 40.0
"""Tellings that evidence is counted as at most: beyond, even a rare exception would be significant,
and a step that comes first in 97 of 100 cases comes first to a reader."""

MOST_TELLINGS = 300
"""Different tellings that are looked at, the most frequent ones."""

MOST_CELLS = 6_000_000
"""Of tables by telling, step and step: where there are many steps, fewer tellings are looked at."""

SWEEPS = (6, 60)
"""Times each pair is tried by the sampler: as often as is affordable, or not at all."""

MOST_WORK = 1.5e9
"""Events of tellings looked at by the sampler. Where each pair cannot be tried often enough within
it, what pairs say by themselves must do."""


@dataclass(frozen=True, slots=True)
class Precedence:
    """A partial order of n steps.

    Attributes
    ----------
    order
        (n, n): whether the first comes before the second; transitive.
    probability
        (n, n): share of the posterior in which it does.
    near_inversion, far_inversion, misplaced
        Estimated rates.
    careless
        Share of the tellings that are careless.
    """

    order: NDArray[np.bool_]
    probability: Floats
    near_inversion: float
    far_inversion: float
    misplaced: float
    careless: float = 0.0

    @property
    def covers(self) -> NDArray[np.bool_]:
        """The transitive reduction: who stands directly before whom."""
        return covers(self.order)


def covers(order: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Transitive reduction of a transitive order."""
    steps = order.astype(np.int64)
    reduced: NDArray[np.bool_] = order & ~(steps @ steps > 0)
    return reduced


def learn_precedence(
    tellings: Sequence[Sequence[int]],
    steps: int,
    *,
    often: Sequence[int] | None = None,
    alike: NDArray[np.bool_] | None = None,
    random_state: int = 0,
) -> Precedence:
    """Learn a partial order of steps from the orders in which tellings tell them.

    Parameters
    ----------
    tellings
        Numbers of steps below ``steps``; each counts where it comes first.
    steps
        How many steps there are.
    often
        How often each telling came; once if it is not said.
    alike
        (n, n): which steps do the same to different things, such as adding this and adding that;
        none if it is not said. They seldom have to come directly one after the other.
    random_state
        Seed of the sampler.

    Examples
    --------
    >>> learned = learn_precedence([[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 3], [2, 1, 3]] * 3, 4)
    >>> learned.order.astype(int)
    array([[0, 1, 1, 1],
           [0, 0, 0, 1],
           [0, 0, 0, 1],
           [0, 0, 0, 0]])
    """
    most = min(MOST_TELLINGS, 1 + MOST_CELLS // max(steps, 1) ** 2)
    told, weight, each = _different(tellings, most, often)
    if steps < 2 or not told:
        none = np.zeros((steps, steps))
        return Precedence(none.astype(bool), none, 0.0, 0.0, 0.0)
    events = np.array([step for one in told for step in one], dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum([len(one) for one in told])]).astype(np.int64)
    pairs = _likelier_pairs(Pairs(told, weight, steps), events, ends)
    probability = pairs.before
    sweeps = _sweeps(told)
    if sweeps:
        probability = sampled_orders(
            _consistent(pairs.worth),
            pairs.worth,
            np.zeros((steps, steps)) if alike is None else each * ALIKE * alike,
            BRANCHING,
            events,
            ends,
            weight,
            pairs.inversion,
            sweeps,
            np.random.default_rng(random_state),
        )
    # Of what was never told together, samples take either order: it must follow from other pairs.
    order = _consistent(np.where(pairs.worth != 0, probability - 0.5, 0.0))
    careless = float(weight @ pairs.careless / weight.sum())
    return Precedence(order, probability, pairs.near, pairs.far, pairs.misplacing, careless)


def _sweeps(told: list[tuple[int, ...]]) -> int:
    """How often the sampler can try each pair of steps within `MOST_WORK`."""
    work = sum(len(one) ** 4 for one in told)
    sweeps = min(int(MOST_WORK / work), SWEEPS[1])
    return sweeps if sweeps >= SWEEPS[0] else 0


def _different(
    tellings: Sequence[Sequence[int]], most: int, often: Sequence[int] | None = None
) -> tuple[list[tuple[int, ...]], Floats, float]:
    """Different orders of first mentions, most frequent first; their weights; that of one telling.

    The weight of a telling is 1, or less where there are more of them than evidence may count.
    """
    counts: dict[tuple[int, ...], int] = {}
    for telling, times in zip(tellings, often or [1] * len(tellings), strict=True):
        first = tuple(dict.fromkeys(telling))
        if len(first) > 1:
            counts[first] = counts.get(first, 0) + times
    found = sorted(counts, key=lambda one: (-counts[one], one))[:most]
    weight = np.array([counts[one] for one in found], dtype=np.float64)
    each = min(1.0, MOST_EVIDENCE / max(float(weight.sum()), 1.0))
    return found, each * weight, each


def _likelier_pairs(pairs: Pairs, events: NDArray[np.int64], ends: NDArray[np.int64]) -> Pairs:
    """What pairs say, all tellings being careful or some careless: what explains tellings better.

    If some are careless, the others keep the order better. And of what carelessness explains, the
    telling that gains most does not count: the order may have been made from it.
    """
    suspicious = copy(pairs)
    pairs.estimate()
    if not suspicious.suspect():
        return pairs
    suspicious.estimate()
    if suspicious.careless.max() < 0.5 or suspicious.inversion > pairs.inversion:
        return pairs
    one, other = (_explained(some, events, ends) for some in (pairs, suspicious))
    gain = other - one
    return suspicious if pairs.weight @ gain > max(float(gain.max()), 0.0) else pairs


def _explained(pairs: Pairs, events: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    """Log-probabilities of tellings under the order of the pairs, each careful or careless."""
    order = _consistent(pairs.worth)
    careful = np.log1p(-CARELESS) + telling_log_probs(events, ends, order, pairs.inversion)
    careless = np.log(CARELESS) + telling_log_probs(events, ends, order, CARELESS_TELLING)
    either: Floats = np.logaddexp(careful, careless)
    return either


def _consistent(gain: Floats) -> NDArray[np.bool_]:
    """A partial order of the pairs that gain, the largest gain first.

    A pair is taken if all that then follows from it gains together.
    """
    order = np.zeros(gain.shape, dtype=bool)
    likely = np.argwhere(gain > 0)
    ranked = sorted(map(tuple, likely.tolist()), key=lambda pair: (-gain[pair], pair))
    for a, b in ranked:
        if not order[b, a] and not order[a, b]:
            earlier, later = order[:, a].copy(), order[b].copy()
            earlier[a] = later[b] = True
            # Only these rows and columns are looked at: there are far fewer of them than steps.
            grid = np.ix_(np.flatnonzero(earlier), np.flatnonzero(later))
            if gain[grid][~order[grid]].sum() > 0:
                order[grid] = True
    return order


NEAR_INVERSION = (0.5, 20.0)
"""Prior of inversions of neighbours: Beta."""

FAR_INVERSION = (0.5, 100.0)
"""Prior of inversions over a distance: Beta."""

MISPLACED = (1.0, 50.0)
"""Prior of an event's being misplaced in a telling: Beta."""

CARELESS = 0.05
"""Share of tellings that are careless, where there are such."""

CARELESS_PAIRS = 0.25
"""Inversions in a careless telling: of pairs."""

CARELESS_TELLING = 0.5
"""Inversions in a careless telling: events of it that come before it is their turn, or may."""

FREE = 2.0
"""Order of two free steps: Beta(2, 2)."""

ORDERED = (0.95, 0.45, 0.8)
"""Share of ordered pairs among those never, sometimes and always seen as neighbours."""

ORDERED_WEIGHT = 10.0
"""How many pairs these shares are worth before any is seen."""

ROUNDS = 15
"""Of estimating the rates, and what is misplaced under them, in turn."""

INVERSION_FACTOR = 5.0
"""Inversions in a whole telling, by inversions of neighbours: each event has two, and may be passed
over."""

LEAST_INVERSION = 0.01


class Pairs:
    """What pairs of steps say, and the rates behind it.

    Attributes
    ----------
    before, worth
        (n, n): the probability that each comes before each, and the log of its odds to being free.
    near, far, misplacing
        Rates of inversions and misplacements.
    misplaced, careless
        Probabilities that an event is misplaced in a telling, and that a telling is careless.
    """

    def __init__(self, told: list[tuple[int, ...]], weight: Floats, steps: int) -> None:
        place = np.full((len(told), steps), -1)
        for i, one in enumerate(told):
            place[i, list(one)] = np.arange(len(one))
        self.there = place >= 0
        both = self.there[:, :, None] & self.there[:, None, :]
        apart = place[:, None, :] - place[:, :, None]
        self.first = both & (apart > 0)
        self.beside = both & (np.abs(apart) == 1)
        self.first_beside, self.first_apart = self.first & self.beside, self.first & ~self.beside
        self.weight = weight
        self.misplaced = np.zeros(place.shape)
        self.near, self.far, self.misplacing = (
            a / (a + b) for a, b in (NEAR_INVERSION, FAR_INVERSION, MISPLACED)
        )
        beside = self._sum(self.beside)
        others = self._sum(both) - beside
        self.kind = np.where(beside == 0, 0, np.where(others == 0, 2, 1))
        self.shares = np.array(ORDERED)
        self.worth = self.before = np.zeros((steps, steps))
        self.careless = np.zeros(len(told))
        self._suspicious = False
        """Whether careless tellings are looked for."""

    @property
    def inversion(self) -> float:
        """Of what comes in a whole telling, the share that may come whenever."""
        return min(1.0, max(LEAST_INVERSION, INVERSION_FACTOR * self.near))

    def _sum(self, seen: Floats | NDArray[np.bool_]) -> Floats:
        total: Floats = np.tensordot(self.weight, seen.astype(np.float64), axes=1)
        return total

    def suspect(self) -> bool:
        """Whether some would be careless if each pair had the order in which it is told more often.

        From there on, careless tellings are looked for.
        """
        first = self._sum(self.first)
        self._weigh_tellings((first > first.T) + 0.5 * (first == first.T))
        self._suspicious = bool(self.careless.max() > 0.5)
        return self._suspicious

    def estimate(self) -> None:
        """Estimate the rates, and what is ordered, misplaced and careless under them, in turn.

        Where no telling is careless after all, this ends before its time.
        """
        for again in range(ROUNDS):
            self._classify()
            if (again or self._suspicious) and again < ROUNDS - 1:
                self._place()
                if self._suspicious:
                    self._weigh_tellings(self.before)
                    if self.careless.max() < 0.5:
                        return

    def _classify(self) -> None:
        """Probability that each comes before each, and the rates under it."""
        trusted = 1 - self.misplaced
        trust = trusted[:, :, None] * trusted[:, None, :]
        careless = np.zeros(self.kind.shape)
        if self._suspicious:
            careless = self._sum(self.careless[:, None, None] * trust * self.first)
            trust *= 1 - self.careless[:, None, None]
        near = self._sum(trust * self.first_beside)
        far = self._sum(trust * self.first_apart)
        first = near + far + careless
        seen = first + first.T > 1e-9
        off = ~np.eye(len(seen), dtype=bool)
        free = betaln(first + FREE, first.T + FREE) - betaln(FREE, FREE)
        for _ in range(3):
            share = self.shares[self.kind]
            ordered = (
                near.T * np.log(self.near)
                + near * np.log1p(-self.near)
                + far.T * np.log(self.far)
                + far * np.log1p(-self.far)
                + careless.T * np.log(CARELESS_PAIRS)
                + careless * np.log1p(-CARELESS_PAIRS)
                + np.log(share / 2)
            )
            neither = free + np.log1p(-share)
            total = np.logaddexp(np.logaddexp(ordered, ordered.T), neither)
            before: Floats = np.where(seen & off, np.exp(ordered - total), 0.0)
            self.near = _rate(NEAR_INVERSION, before * near.T, before * (near + near.T))
            self.far = _rate(FAR_INVERSION, before * far.T, before * (far + far.T))
            of_kind = [seen & off & (self.kind == kind) for kind in range(len(ORDERED))]
            ordered_pairs = np.array([before[some].sum() for some in of_kind])
            pairs = np.array([some.sum() / 2 for some in of_kind])
            self.shares = (ORDERED_WEIGHT * np.array(ORDERED) + ordered_pairs) / (
                ORDERED_WEIGHT + pairs
            )
        self.worth = np.where(seen & off, ordered - neither, 0.0)
        self.before = before

    def _place(self) -> None:
        """Probability that each event is misplaced in each telling."""
        before = self.before
        broken, kept = self._against(0.5)
        if self._suspicious:
            careless = self.careless[:, None, None]
            broken += careless * (np.log(0.5 / CARELESS_PAIRS) - broken)
            kept += careless * (np.log(0.5 / (1 - CARELESS_PAIRS)) - kept)
        says = self.first * (before * kept + before.T * broken)
        says = says + self.first.transpose(0, 2, 1) * (before.T * kept + before * broken)
        for _ in range(2):
            evidence = np.einsum("iab,ib->ia", says, 1 - self.misplaced)
            odds = np.clip(logit(self.misplacing) + evidence, -50, 50)
            self.misplaced = np.where(self.there, expit(odds), 0.0)
        weight = self.weight[:, None]
        self.misplacing = _rate(MISPLACED, weight * self.misplaced, weight * self.there)

    def _against(self, rate: float) -> tuple[Floats, Floats]:
        """What a pair says for another rate of inversions: breaking the order, keeping it."""
        near, far = self.near, self.far
        other = 1 - rate
        broken: Floats = np.where(self.beside, log(rate / near), log(rate / far))
        kept: Floats = np.where(self.beside, log(other / (1 - near)), log(other / (1 - far)))
        return broken, kept

    def _weigh_tellings(self, before: Floats) -> None:
        """Probability that each telling is careless."""
        broken, kept = self._against(CARELESS_PAIRS)
        trusted = 1 - self.misplaced
        says = self.first * (before * kept + before.T * broken)
        evidence = (np.einsum("iab,ib->ia", says, trusted) * trusted).sum(axis=1)
        self.careless = expit(np.clip(logit(CARELESS) + evidence, -50, 50))


def _rate(prior: tuple[float, float], hits: Floats, cases: Floats) -> float:
    a, b = prior
    return float((a + hits.sum()) / (a + b + cases.sum()))
