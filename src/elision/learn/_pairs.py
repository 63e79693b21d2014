"""What pairs of steps say of their order, and the rates behind it: see `learn/precedence.py`."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, expit, logit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
