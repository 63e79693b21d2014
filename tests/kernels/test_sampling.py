"""The sampler of partial orders, step by step: the same random numbers, everything recomputed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import naive_outlines as naive
from elision.kernels.precedence import sampled_orders, stays_transitive, turn

pytestmark = pytest.mark.numerical


def log_posterior(order, worth, shape, told, weight, inversion):
    value = sum(worth[a, b] for a, b in order) + naive.shape_worth(order, *shape)
    for one, often in zip(told, weight, strict=True):
        value += often * naive.telling_log_prob(one, order, inversion)
    return value


def twin(start, worth, shape, told, weight, inversion, sweeps, random):
    """Metropolis' rule: a pair at random is turned over, if what comes of it is an order."""
    n = len(worth)
    order = set(start)
    shares = np.zeros((n, n))
    steps = sweeps * n * n
    kept = 0
    for step in range(steps):
        a, b = int(random.random() * n), int(random.random() * n)
        other = order ^ {(a, b)}
        if a != b and naive.is_order(other):
            gain = log_posterior(other, worth, shape, told, weight, inversion)
            gain -= log_posterior(order, worth, shape, told, weight, inversion)
            if math.log(random.random()) < gain:
                order = other
        if step >= steps // 5 and step % n == 0:
            kept += 1
            for pair in order:
                shares[pair] += 1
    return shares / max(kept, 1)


@pytest.mark.parametrize("seed", range(8))
def test_the_sampler_goes_as_metropolis_rule_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    told = [rng.permutation(n)[: int(rng.integers(1, n + 1))].tolist() for _ in range(4)]
    worth = rng.normal(size=(n, n))
    shape = rng.normal(size=(n, n)), float(rng.uniform(0, 3))
    weight = 2 * rng.random(4)
    inversion = float(rng.uniform(0.05, 0.5))
    start = {(0, n - 1)} if seed % 2 else set()
    order = np.zeros((n, n), bool)
    for pair in start:
        order[pair] = True
    found = sampled_orders(
        order,
        worth,
        *shape,
        np.array([step for one in told for step in one], np.int64),
        np.concatenate([[0], np.cumsum([len(one) for one in told])]).astype(np.int64),
        weight,
        inversion,
        7,
        np.random.default_rng(seed),
    )
    expected = twin(start, worth, shape, told, weight, inversion, 7, np.random.default_rng(seed))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
def test_turning_a_pair_changes_the_shape_as_the_twin_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    order, between = np.zeros((n, n), bool), np.zeros((n, n), np.int64)
    direct = np.zeros(n, np.int64)
    unlikely, branching = rng.normal(size=(n, n)), float(rng.uniform(0, 3))
    worth = 0.0
    for a, b in rng.integers(n, size=(300, 2)).tolist():
        if a != b and stays_transitive(order, a, b):
            worth += turn(order, between, direct, unlikely, branching, a, b)
            pairs = naive.pairs_of(order)
            assert worth == pytest.approx(naive.shape_worth(pairs, unlikely, branching), abs=1e-9)
            found = {(c, d) for c, d in pairs if between[c, d] == 0}
            assert found == naive.reduction(pairs)
            assert direct.tolist() == [sum(c == a for c, _ in found) for a in range(n)]


def test_without_sweeps_there_are_no_shares():
    none = np.zeros(0, np.int64)
    found = sampled_orders(
        np.zeros((2, 2), bool), np.zeros((2, 2)), np.zeros((2, 2)), 1.0, none,
        np.zeros(1, np.int64), np.zeros(0), 0.1, 0, np.random.default_rng(0),
    )  # fmt: skip
    np.testing.assert_array_equal(found, np.zeros((2, 2)))
