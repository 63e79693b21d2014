"""Compiled search over partial orders: see `elision.learn.precedence` for what it maximises."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@nb.njit(cache=True, nogil=True)
def telling_log_prob(told: Ints, order: Bools, slip: float) -> float:
    """Log-probability of an order of telling: each time one of those whose turn it may be.

    Whose predecessors have all been told comes next, each of them alike; with the probability
    ``slip`` any that is left does.
    """
    length = len(told)
    waiting = np.zeros(length, np.int64)
    for i in range(length):
        for j in range(length):
            waiting[i] += order[told[j], told[i]]
    total = 0.0
    for now in range(length - 1):
        free = 0
        for i in range(now, length):
            free += waiting[i] == 0
        chance = slip / (length - now)
        if waiting[now] == 0:
            chance += (1 - slip) / free
        total += np.log(chance)
        for i in range(now + 1, length):
            waiting[i] -= order[told[now], told[i]]
    return total


@nb.njit(cache=True, nogil=True)
def _stays_transitive(order: Bools, a: int, b: int) -> bool:
    """Whether an order stays one when a comes to stand before b, or no longer does."""
    n = len(order)
    if order[a, b]:
        for k in range(n):
            if order[a, k] and order[k, b]:
                return False
        return True
    if order[b, a]:
        return False
    for k in range(n):
        if (order[k, a] and not order[k, b]) or (order[b, k] and not order[a, k]):
            return False
    return True


@nb.njit(cache=True, nogil=True)
def best_order(worth: Floats) -> Bools:
    """Climb to a partial order of large total worth of its pairs, from none related."""
    n = len(worth)
    order = np.zeros((n, n), np.bool_)
    for _ in range(4 * n * n):
        best, first, second = 1e-9, -1, -1
        for a in range(n):
            for b in range(n):
                if a == b or order[b, a]:
                    continue
                if order[a, b]:
                    gain = -worth[a, b] if _stays_transitive(order, a, b) else 0.0
                else:
                    gain = 0.0
                    for x in range(n):
                        if x == a or order[x, a]:
                            for y in range(n):
                                if (y == b or order[b, y]) and not order[x, y]:
                                    gain += worth[x, y]
                if gain > best:
                    best, first, second = gain, a, b
        if first < 0:
            break
        if order[first, second]:
            order[first, second] = False
            continue
        earlier = order[:, first].copy()
        earlier[first] = True
        later = order[second].copy()
        later[second] = True
        for x in range(n):
            for y in range(n):
                if earlier[x] and later[y]:
                    order[x, y] = True
    return order


@nb.njit(cache=True, nogil=True)
def sampled_orders(
    order: Bools,
    worth: Floats,
    told: Ints,
    ends: Ints,
    weight: Floats,
    slip: float,
    sweeps: int,
    seed: int,
) -> Floats:
    """Share of sampled partial orders in which each stands before each.

    Orders come with a probability that grows with the worth of their pairs and with the
    probability of the tellings ``told[ends[i] : ends[i + 1]]``.
    """
    np.random.seed(seed)
    n, tellings = len(worth), len(weight)
    has = np.zeros((tellings, n), np.bool_)
    now = np.zeros(tellings)
    then = np.zeros(tellings)
    for i in range(tellings):
        one = told[ends[i] : ends[i + 1]]
        for event in one:
            has[i, event] = True
        now[i] = telling_log_prob(one, order, slip)
    share = np.zeros((n, n))
    kept = 0
    steps, burn = sweeps * n * n, sweeps * n * n // 5
    for step in range(steps):
        a, b = np.random.randint(n), np.random.randint(n)
        if a != b and _stays_transitive(order, a, b):
            gain = -worth[a, b] if order[a, b] else worth[a, b]
            order[a, b] = not order[a, b]
            for i in range(tellings):
                if has[i, a] and has[i, b]:
                    then[i] = telling_log_prob(told[ends[i] : ends[i + 1]], order, slip)
                    gain += weight[i] * (then[i] - now[i])
            if np.log(np.random.random()) < gain:
                for i in range(tellings):
                    if has[i, a] and has[i, b]:
                        now[i] = then[i]
            else:
                order[a, b] = not order[a, b]
        if step >= burn and step % n == 0:
            kept += 1
            for x in range(n):
                for y in range(n):
                    share[x, y] += order[x, y]
    return share / max(kept, 1)
