"""Compiled betting against exchangeability: see `elision.learn.exchangeable` for what it means."""

from __future__ import annotations

import numpy as np

from elision.kernels.passes import jit


@jit
def bet_on_numbers(p, exponents, least, odds):
    """What each bet makes of one unit, at a p-value, into ``odds``."""
    kinds = len(exponents)
    low = np.log(max(p, least))
    high = np.log(max(1 - p, least))
    for k in range(kinds):
        small = exponents[k] * np.exp((exponents[k] - 1) * low)
        large = exponents[k] * np.exp((exponents[k] - 1) * high)
        odds[k] = small
        odds[kinds + k] = large
        odds[2 * kinds + k] = (small + large) / 2
    odds[3 * kinds] = 6 * p * (1 - p)


@jit
def bet_on_share(p, share, ratios, odds):
    """The same where p-values below ``share`` are expected to be ``ratios`` as frequent."""
    for k in range(len(ratios)):
        odds[k] = (ratios[k] if p < share else 1.0) / (1 - share + ratios[k] * share)


@jit
def see(
    bins,
    sizes,
    draws,
    shares,
    exponents,
    least,
    ratios,
    wanted,
    counts,
    capital,
    run,
    began,
    tested,
):
    """Take in rows of bins until some column's capital is what is wanted.

    Parameters
    ----------
    bins, draws
        (rows, columns): where each number falls, and what decides among those alike.
    sizes
        Number of bins of each column; two for zeros and ones.
    shares
        Of the unit, what is put on a change at each row.
    wanted
        The capital of each column that is an alarm.
    counts, capital, run, began
        (columns, bins) and (columns, bets), changed in place.
    tested
        Rows taken in before.

    Returns
    -------
    rows taken in, column of the alarm or -1
    """
    columns = bins.shape[1]
    bets = capital.shape[1]
    odds = np.empty(bets)
    for row in range(len(bins)):
        alarm = -1
        for c in range(columns):
            place = bins[row, c]
            below = 0
            for k in range(place):
                below += counts[c, k]
            above = 0
            for k in range(place + 1, sizes[c]):
                above += counts[c, k]
            alike = counts[c, place] + 1
            total = below + alike + above
            p = (above + draws[row, c] * alike) / total
            if sizes[c] == 2:  # the share of ones so far
                bet_on_share(p, (counts[c, 1] + 0.5) / total, ratios, odds)
            else:
                bet_on_numbers(p, exponents, least, odds)
            counts[c, place] += 1
            for k in range(bets):
                capital[c, k] = (capital[c, k] + shares[row]) * odds[k]
                if run[c, k] <= 1:
                    began[c, k] = tested + row + 1
                    run[c, k] = 1.0
                run[c, k] *= odds[k]
            worth = 0.0
            for k in range(bets):  # by itself, see `loss_and_slope` of `telling_learning`
                worth += capital[c, k]
            if worth / bets >= wanted[c] and alarm < 0:
                alarm = c
        if alarm >= 0:
            return row + 1, alarm
    return len(bins), -1
