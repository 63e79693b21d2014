"""Plain twins of what streams are learned and watched by, written from the formulas."""

from __future__ import annotations

import math

LEAST = 1e-9
EXPONENTS = (0.1, 0.25, 0.5, 0.75)
RATIOS = [2.0**power for power in (-3, -2, -1.25, -0.75, -0.375, 0.375, 0.75, 1.25, 2, 3, 4, 5, 6)]


def conformal_p(before, value, draw):
    """Share of numbers, this one among them, that are larger, or alike and drawn to be."""
    larger = sum(other > value for other in before)
    alike = 1 + sum(other == value for other in before)
    return (larger + draw * alike) / (len(before) + 1)


def bets_on_number(p):
    low = [e * max(p, LEAST) ** (e - 1) for e in EXPONENTS]
    high = [e * max(1 - p, LEAST) ** (e - 1) for e in EXPONENTS]
    both = [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    return [*low, *high, *both, 6 * p * (1 - p)]


def bets_on_share(p, share):
    return [(r if p < share else 1) / (r * share + 1 - share) for r in RATIOS]


def share_of_row(row):
    return 1 / math.log(row + math.e - 1) - 1 / math.log(row + math.e)


def odds_of_rows(reference, values, draws, *, binary):
    """What each bet on one column pays at each row."""
    before = list(reference)
    odds = []
    for value, draw in zip(values, draws, strict=True):
        p = conformal_p(before, value, draw)
        share = (sum(before) + 0.5) / (len(before) + 1)
        odds.append(bets_on_share(p, share) if binary else bets_on_number(p))
        before.append(value)
    return odds


def best_beginnings(odds):
    """For each row and bet, the most it would have had it begun at the best row, and that row."""
    found = []
    for row in range(1, len(odds) + 1):
        bets = []
        for bet in range(len(odds[0])):
            since = [math.prod(each[bet] for each in odds[b - 1 : row]) for b in range(1, row + 1)]
            bets.append((max(since), since))
        found.append(bets)
    return found


def capitals(odds):
    """The capital of one column after each row: summed over all rows at which a bet may begin."""
    found = []
    for row in range(1, len(odds) + 1):
        total = 0.0
        for bet in range(len(odds[0])):
            for begin in range(1, row + 1):
                won = math.prod(each[bet] for each in odds[begin - 1 : row])
                total += share_of_row(begin) * won / len(odds[0])
        found.append(total)
    return found
