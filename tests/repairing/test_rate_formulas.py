"""Rates of omission by their formulas, case by case: a plain twin of the estimate."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import beta, norm

import naive_repairing
from elision.repairing import company, omission
from elision.repairing.omission import learn_omission

GRID = [0.0, *np.geomspace(0.0005, 0.95, 400).tolist()]
EDGES = [0.0, *((low + high) / 2 for low, high in pairwise(GRID)), 1.0]


def mean(values):
    return math.fsum(values) / len(values)


def z_of(rate):
    return -rate / (1 - rate)


def spread_of(values):
    return max(mean([v**2 for v in values]) - mean(values) ** 2, 0.5 / len(values))


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


def bound_of(counts):
    """The first rate of the grid at which the mean of z**count surely is below 0."""
    for rate in GRID:
        values = [z_of(rate) ** count for count in counts]
        error = math.sqrt(spread_of(values) / len(values))
        if mean(values) + company.CAUTION * error + 1 / len(values) <= 0:
            return rate
    return None


def told(trace, event):
    return min(trace.count(event), company.MOST_COUNTED)


def lowest(traces, event):
    """Signs to try: one of many cases that agrees with the lowest bound, and the one with that."""
    enough = max(company.LEAST, company.COMPANY * sum(event in trace for trace in traces))
    signs = {}
    for trace in traces:
        for sign in naive_repairing.signs(trace, event):
            signs.setdefault(sign, []).append(told(trace, event))
    every = []
    for sign, counts in signs.items():
        if len(counts) < enough:
            continue
        rate, bound = root_of(counts), bound_of(counts)
        if rate is not None and bound is not None:
            error = max((bound - rate) / company.CAUTION, 0.5 / len(counts))
            every.append((bound, -len(counts), rate, error, sign))
    if not every:
        return []
    best = min(every, key=lambda one: one[:2])
    alike = []
    for one in every:
        error = max(best[3], math.sqrt(one[2] * (1 - one[2]) / -best[1]))
        if one is best or one[2] - best[2] <= company.ALIKE * math.hypot(one[3], error):
            alike.append(one)
    widest = min(alike, key=lambda one: one[1])
    return [one[2:] for one in ([widest] if widest[:2] == best[:2] else [widest, best])]


def by_chance(traces, event, rate, sign):
    """Log-odds that cases with and without each other sign differ by chance."""
    there = [trace for trace in traces if sign in naive_repairing.signs(trace, event)]
    values = [z_of(rate) ** told(trace, event) for trace in there]
    shown = [naive_repairing.signs(trace, event) for trace in there]
    typical = company.DIFFERENCE * math.sqrt(max(rate, company.LEAST_RATE) * (1 - rate))
    odds = []
    for other in set().union(*shown):
        inside = [v for v, signs in zip(values, shown, strict=True) if other in signs]
        outside = [v for v, signs in zip(values, shown, strict=True) if other not in signs]
        if min(len(inside), len(outside)) < company.LEAST:
            continue
        difference = (mean(inside) - mean(outside)) * (1 - rate)
        error = math.sqrt(spread_of(values) * (1 / len(inside) + 1 / len(outside))) * (1 - rate)
        wide = math.hypot(error, typical)
        odds.append(norm.pdf(difference, scale=wide) / norm.pdf(difference, scale=error))
    share = min(0.5, company.TESTS / max(len(odds), 1))
    evidence = -sum(math.log(1 - share + share * one) for one in odds)
    return min(evidence, company.MOST_EVIDENCE)


def weighed(found):
    """Rates, and which events have their own, over all distributions of rates."""
    grid, width = np.array(GRID), np.diff(EDGES)
    total = 0.0
    own, part, known = (np.zeros(len(found)) for _ in range(3))
    for average in omission.MEANS:
        for size in omission.SIZES:
            prior = np.diff(beta.cdf(EDGES, average * size, (1 - average) * size))
            fit, here = 1.0, []
            for rate, error, evidence in found:
                spread = np.maximum(error, width / 2)
                seen = norm.pdf(rate, loc=grid, scale=spread)
                left_out = math.exp(evidence) * (prior @ seen)
                undone = omission.OPTIONAL * (width @ seen)
                at_most = prior * norm.cdf((rate - grid) / error)
                fit *= (left_out + undone) / undone
                here.append(
                    (
                        left_out / (left_out + undone),
                        prior @ (seen * grid) / max(prior @ seen, 1e-300),
                        at_most @ grid / max(at_most.sum(), 1e-300),
                    )
                )
            total += fit
            for k, (sure, if_left_out, if_both) in enumerate(here):
                known[k] += fit * sure
                own[k] += fit * sure * if_left_out
                part[k] += fit * (1 - sure) * if_both
    return own / known, part / (total - known), known / total


def twin(traces, events):
    cases = [sum(event in trace for trace in traces) for event in range(events)]
    found = {}
    for event in range(events):
        if cases[event] < company.LEAST:
            continue
        for rate, error, sign in lowest(traces, event):
            found[event] = (rate, error, by_chance(traces, event, rate, sign))
            if found[event][2] >= 0:
                break
    rates, known, trust = np.zeros(events), np.zeros(events), np.ones(events)
    if not found:
        return rates, 0.0, known, trust
    own, part, sure = weighed(list(found.values()))
    weight = [cases[event] * one for event, one in zip(found, sure, strict=True)]
    if sum(weight) < company.LEAST:
        return rates, 0.0, known, trust
    each = [one[0] for one in found.values()]
    overall = sum(w * rate for w, rate in zip(weight, each, strict=True)) / sum(weight)
    rates[:] = overall
    for k, event in enumerate(found):
        known[event] = sure[k]
        rates[event] = 0.0 if overall == 0 else own[k] if sure[k] > 0.5 else part[k]
        if overall > 0 and sure[k] > 0.5 and own[k] > omission.OFTEN:
            missing, fewer = own[k] / (1 - own[k]), part[k] / (1 - part[k])
            trust[event] = (sure[k] * missing + (1 - sure[k]) * min(fewer, missing)) / missing
    return np.minimum(rates, GRID[-1]), overall, known, trust


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
    if kind == "doubted":
        rates = (0.0, 0.3, 0.0, 0.15, 0.6, 0.25)
        return [[e for e in range(6) if rng.random() >= rates[e]] for _ in range(300)], 6
    return [[0] * 40 + [1] * int(rng.integers(0, 4)) for _ in range(70)] + [[1]] * 25, 2


@pytest.mark.parametrize(
    "kind", ["left out", "repeated", "at will", "rare", "doubted", "ever again"]
)
def test_rates_agree_with_the_twin(kind):
    traces, events = logs(kind)
    rates, overall, known, trust = twin(traces, events)
    found = learn_omission(traces, events)
    np.testing.assert_allclose(found.rates, rates, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.overall, overall, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.known, known, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.trust, trust, rtol=1e-7, atol=1e-9)
    assert (found.trust < 1).any() == (kind == "doubted")


def test_rates_are_those_of_the_least_number_of_cases():
    traces = [[0, 1] if number % 4 else [1] for number in range(40)]
    for many in (company.LEAST - 1, company.LEAST, company.LEAST + 4, 40):
        found = learn_omission(traces[:many], 2)
        np.testing.assert_allclose(found.rates, twin(traces[:many], 2)[0], rtol=1e-7, atol=1e-9)


def test_of_a_large_log_as_many_cases_as_fit_are_looked_at(monkeypatch):
    traces = [[number % 2] for number in range(300)]
    monkeypatch.setattr(company, "MOST_READ", 2 * 200)
    assert len(company._part(traces, 2, np.random.default_rng(0))) == 200
    monkeypatch.setattr(company, "MOST_READ", 2)
    assert len(company._part(traces, 2, np.random.default_rng(0))) == 2 * company.LEAST
    assert len(company._part(traces[:60], 2, np.random.default_rng(0))) == 60


def test_neighbours_of_the_most_frequent_events_are_looked_at(monkeypatch):
    monkeypatch.setattr(company, "MOST_PAIRED", 2)
    paired, pairs = company._paired(np.array([3, 9, 3, 4]))
    assert (paired.tolist(), pairs) == ([-1, 0, -1, 1], 2)
