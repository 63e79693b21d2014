"""A test that may run for ever, of whether numbers still come as they came at first.

Each number gets a conformal p-value among all before it: the share of those that are at least as
large, with those that are alike in an order that is drawn (Vovk, Gammerman and Shafer, 2005). While
rows are exchangeable, the p-values of a column are independent and uniform, whatever the numbers
are. Bets against that multiply a capital. Each column has one unit, which is divided among the bets
and among all places at which things may have changed; its capital is a martingale, and by Ville's
inequality it ever becomes w times as large with a probability of at most 1 / w. So the columns
divide the rate of false alarms among them, and it holds for all of them and all times together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BINS = 1024
"""Numbers that fall into the same bin are alike."""

SPREADS = 8.0
"""The bins reach so many standard deviations to either side of the mean."""

EXPONENTS = np.array([0.1, 0.25, 0.5, 0.75])
"""Bets on small p-values, on large ones, and on both have the density e p^(e - 1)."""

BETS = 3 * len(EXPONENTS) + 1
"""With one on those in the middle."""

RATIOS = 2.0 ** np.array([-3, -2, -1.25, -0.75, -0.375, 0.375, 0.75, 1.25, 2, 3, 4, 5, 6])
"""Bets on zeros and ones: that ones come so many times as often, in odds."""

LEAST_P = 1e-9
"""What a bet can win at once is bounded: smaller p-values count as this one."""


class Grid(NamedTuple):
    """Bins of equal width; what lies beyond them is in the first or the last."""

    low: float
    width: float
    size: int

    @classmethod
    def around(cls, values: NDArray[np.float64]) -> Grid:
        """Bins for numbers like these, which are not to be among those that are tested."""
        spread = max(float(values.std()), 1e-6)
        low = float(values.mean()) - SPREADS * spread
        return cls(low, 2 * SPREADS * spread / (BINS - 2), BINS)

    def bins(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bin of each number."""
        place = np.floor((values - self.low) / self.width) + 1
        return np.asarray(np.clip(place, 0, self.size - 1), np.int64)


YES_OR_NO = Grid(0.5, 1.0, 2)
"""For a column of zeros and ones."""


class ExchangeTest:
    """Tests whether rows of numbers still come as they did.

    Parameters
    ----------
    grids
        Bins for each column.
    reference
        Rows to begin with, (rows, columns).
    rates
        For each column the probability that it ever raises an alarm while nothing changes.

    Attributes
    ----------
    tested
        Rows seen after the reference.
    counts
        (columns, bins): numbers so far.
    capital, run, began
        (columns, bets): what each bet has; what it would have, had it begun at the best row; that
        row, from 1.
    """

    def __init__(
        self, grids: Sequence[Grid], reference: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> None:
        self.grids = tuple(grids)
        self.rates = np.asarray(rates, float)
        self.tested = 0
        self.counts = np.zeros((len(self.grids), BINS), np.int64)
        for counts, places in zip(self.counts, self._bins(reference).T, strict=True):
            counts += np.bincount(places, minlength=BINS)
        self.capital = np.zeros((len(self.grids), BETS))
        self.run = np.ones((len(self.grids), BETS))
        self.began = np.zeros((len(self.grids), BETS), np.int64)

    def see(
        self, values: NDArray[np.float64], draws: NDArray[np.float64]
    ) -> tuple[int, int | None]:
        """Take in rows, with a uniform draw for each number, until there is an alarm.

        Returns
        -------
        how many were taken in, and the column that raised an alarm after the last of them, if any
        """
        rows = self.tested + 1 + np.arange(len(values))
        sizes = np.array([grid.size for grid in self.grids])
        taken, alarm = kernels.exchange.see(
            self._bins(values), sizes, draws, shares(rows), EXPONENTS, LEAST_P, RATIOS,
            1 / self.rates, self.counts, self.capital, self.run, self.began, self.tested,
        )  # fmt: skip
        self.tested += taken
        return taken, None if alarm < 0 else alarm

    def changed(self, column: int) -> int:
        """The row, from 1, since which the best bet on a column has been winning."""
        return int(self.began[column, self.capital[column].argmax()])

    def _bins(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        columns = [grid.bins(values[:, c]) for c, grid in enumerate(self.grids)]
        return np.stack(columns, axis=1)


def shares(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of a unit, what is put on a change at each row, from 1; over all rows it is one.

    Examples
    --------
    >>> float(shares(np.arange(1, 1000)).sum()).__round__(2)
    0.86
    """
    return np.asarray(1 / np.log(rows + np.e - 1) - 1 / np.log(rows + np.e))
