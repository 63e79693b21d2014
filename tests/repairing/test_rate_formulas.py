"""Rates of omission by their formulas, case by case: a plain twin of the estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elision.repairing import omission
from elision.repairing.omission import learn_omission

GRID = [0.0, *np.geomspace(0.0005, 0.95, 400).tolist()]


def mean(values):
    return math.fsum(values) / len(values)


def z_of(rate):
    return -rate / (1 - rate)


def root_of(counts):
    """The rate at which the mean of z**count first is 0, straight between points of the grid."""
    before = None
    for place, rate in enumerate(GRID):
        value = mean([z_of(rate) ** count for count in counts])
        if value <= 1e-12:
            if place == 0:
                return 0.0
            part = before / max(before - value, 1e-12)
            return GRID[place - 1] + (rate - GRID[place - 1]) * part
        before = value
    return None


def error_of(rate, counts):
    """By the delta method: the error of the mean of z**count, over its slope in the rate."""
    z = z_of(rate)
    powers = [z**count for count in counts]
    variance = max(mean([value**2 for value in powers]) - mean(powers) ** 2, 0.5 / len(counts))
    slope = mean([count * z ** (count - 1) if count else 0.0 for count in counts])
    return math.sqrt(variance / len(counts)) / max(abs(slope) / (1 - rate) ** 2, 1e-6)


def lowest(cases, event, events):
    enough = max(omission.LEAST, omission.COMPANY * sum(case[event] > 0 for case in cases))
    best, bound = None, math.inf
    for companion in [*range(events), None]:
        counts = [case[event] for case in cases if companion is None or case[companion]]
        if companion == event or len(counts) < enough or (rate := root_of(counts)) is None:
            continue
        if rate > omission.MOST_BELIEVED:
            continue
        error = error_of(rate, counts)
        few = 2 / (len(counts) + 4)
        cautious = rate + few + omission.CAUTION * max(error, few / math.sqrt(2))
        if cautious < bound:
            best, bound = (rate, error, companion), cautious
    return best


def by_chance(cases, event, events, rate, companion):
    """Log-odds that cases with and without each other event differ by chance."""
    there = [case for case in cases if companion is None or case[companion]]
    values = [z_of(rate) ** case[event] for case in there]
    spread = max(float(np.std(values)), math.sqrt(0.5 / len(there))) * (1 - rate)
    odds = []
    for other in range(events):
        for least in (1, 2):  # told at all, and told again
            if other == event or (other == companion and least == 1):
                continue
            inside = [v for v, case in zip(values, there, strict=True) if case[other] >= least]
            outside = [v for v, case in zip(values, there, strict=True) if case[other] < least]
            if min(len(inside), len(outside)) < omission.LEAST:
                continue
            difference = (mean(inside) - mean(outside)) * (1 - rate)
            error = spread * math.sqrt(1 / len(inside) + 1 / len(outside))
            wide = math.hypot(error, omission.DIFFERENCE)
            odds.append(
                (-math.log(error) - 0.5 * (difference / error) ** 2)
                - (-math.log(wide) - 0.5 * (difference / wide) ** 2)
            )
    if not odds:
        return 0.0
    odds.sort()
    return sum(odds[: omission.TESTS]) + (math.log(len(odds)) if odds[0] < 0 else 0.0)


def beforehand(rate):
    """Densities of Beta(1, 3) and Beta(4, 2)."""
    rate = min(max(rate, 0.003), 0.99)
    return math.log(3 * (1 - rate) ** 2 / (20 * rate**3 * (1 - rate)))


def twin(traces, events):
    cases = [
        [min(trace.count(e), omission.MOST_COUNTED) for e in range(events)] for trace in traces
    ]
    rates, errors, known = [1.0] * events, [1.0] * events, [0.0] * events
    told = [sum(case[e] > 0 for case in cases) for e in range(events)]
    for event in range(events):
        if told[event] >= omission.LEAST and (found := lowest(cases, event, events)):
            rates[event], errors[event], companion = found
            odds = by_chance(cases, event, events, rates[event], companion)
            odds = min(max(odds + beforehand(rates[event]), -50), 50)
            known[event] = 1 / (1 + math.exp(-odds))
    weight = [many * sure for many, sure in zip(told, known, strict=True)]
    total = sum(weight)
    if total < omission.LEAST:
        return np.zeros(events), 0.0, np.zeros(events)
    overall = sum(w * rate for w, rate in zip(weight, rates, strict=True)) / total
    spread = sum(
        w * ((rate - overall) ** 2 - error**2)
        for w, rate, error in zip(weight, rates, errors, strict=True)
    )
    spread = max(spread / total, 1e-6)
    pooled = []
    for rate, error, sure in zip(rates, errors, known, strict=True):
        own = (rate * spread + overall * error**2) / (spread + error**2)
        pooled.append(min(sure * own + (1 - sure) * min(overall, rate + error), GRID[-1]))
    return np.array(pooled), overall, np.array(known)


def logs(kind):
    """Small logs: some events left out, some done at will, some repeated, some rare."""
    rng = np.random.default_rng(len(kind))
    if kind == "left out":
        return [[e for e in range(4) if rng.random() >= 0.1 * e] for _ in range(150)], 4
    if kind == "repeated":
        return [
            [e for e in (0, 1, 1, 2, 2, 2) if rng.random() >= 0.25] + [3] * int(rng.integers(3))
            for _ in range(200)
        ], 4
    if kind == "at will":
        done = [[0, *([1, 2] if rng.random() < 0.6 else [3]), 4] for _ in range(160)]
        return [[e for e in one if rng.random() >= 0.15] for one in done], 5
    if kind == "rare":
        return [[0, 1] * (number % 3 > 0) + [2] * (number % 5 == 0) for number in range(155)], 3
    return [[0] * 40 + [1] * int(rng.integers(0, 4)) for _ in range(70)] + [[1]] * 25, 2


@pytest.mark.parametrize("kind", ["left out", "repeated", "at will", "rare", "ever again"])
def test_rates_agree_with_the_twin(kind):
    traces, events = logs(kind)
    rates, overall, known = twin(traces, events)
    found = learn_omission(traces, events)
    np.testing.assert_allclose(found.rates, rates, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.overall, overall, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.known, known, rtol=1e-7, atol=1e-9)


def test_rates_are_those_of_the_least_number_of_cases():
    traces = [[0, 1] if number % 4 else [1] for number in range(40)]
    for many in (omission.LEAST - 1, omission.LEAST, omission.LEAST + 4, 40):
        found = learn_omission(traces[:many], 2)
        np.testing.assert_allclose(found.rates, twin(traces[:many], 2)[0], rtol=1e-7, atol=1e-9)


def test_of_a_large_log_as_many_cases_as_fit_are_looked_at(monkeypatch):
    traces = [[number % 2] for number in range(300)]
    monkeypatch.setattr(omission, "MOST_CELLS", 2 * 200)
    assert omission._counted(traces, 2, np.random.default_rng(0)).shape == (200, 2)
    monkeypatch.setattr(omission, "MOST_CELLS", 2)
    assert len(omission._counted(traces, 2, np.random.default_rng(0))) == 2 * omission.LEAST
    assert len(omission._counted(traces[:60], 2, np.random.default_rng(0))) == 60
