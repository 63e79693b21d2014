"""Compiled sampling of partial orders: see `elision.learn.precedence` for what is sampled."""

from __future__ import annotations

import numpy as np

from elision.kernels.passes import jit


@jit
def telling_log_prob(told, order, inversion):
    """Log-probability of an order of telling: each time one of those whose turn it may be.

    Whose predecessors have all been told comes next, each of them alike; with the probability
    ``inversion`` any that is left does.
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
        chance = inversion / (length - now)
        if waiting[now] == 0:
            chance += (1 - inversion) / free
        total += np.log(chance)
        for i in range(now + 1, length):
            waiting[i] -= order[told[now], told[i]]
    return total


@jit
def telling_log_probs(told, ends, order, inversion):
    """Log-probabilities of the tellings ``told[ends[i] : ends[i + 1]]``: see `telling_log_prob`."""
    found = np.zeros(len(ends) - 1)
    for i in range(len(found)):
        found[i] = telling_log_prob(told[ends[i] : ends[i + 1]], order, inversion)
    return found


@jit
def stays_transitive(order, a, b):
    """Whether an order stays one when a comes to stand before b, or no longer does."""
    if order[b, a]:
        return False
    related = order[a, b]
    for k in range(len(order)):
        if related:
            if order[a, k] and order[k, b]:
                return False
        elif (order[k, a] and not order[k, b]) or (order[b, k] and not order[a, k]):
            return False
    return True


@jit
def turn(order, between, direct, unlikely, branching, a, b):
    """Put a directly before b, or take it out; return the gain in what the shape is worth.

    Each doubling of what stands directly after a step costs ``branching``, each direct relation
    ``unlikely``. How many stand ``between`` two, and ``direct``, how many directly after each, are
    kept up to date. The order must stay one, see `stays_transitive`.
    """
    put = not order[a, b]
    change = 1 if put else -1
    order[a, b] = put
    gain = -change * unlikely[a, b] + branching * np.log2(max(direct[a], 1))
    direct[a] += change
    for k in range(len(order)):
        if order[b, k]:
            between[a, k] += change
            if between[a, k] == put:
                direct[a] -= change
                gain += change * unlikely[a, k]
        if order[k, a]:
            between[k, b] += change
            if between[k, b] == put:
                gain += branching * np.log2(max(direct[k], 1))
                direct[k] -= change
                gain += change * unlikely[k, b] - branching * np.log2(max(direct[k], 1))
    return gain - branching * np.log2(max(direct[a], 1))


@jit
def sampled_orders(
    order, worth, unlikely, branching, told, ends, weight, inversion, sweeps, random
):
    """Share of sampled partial orders in which each stands before each.

    Orders come with a probability that grows with the worth of their pairs, with that of their
    shape (see `turn`) and with the probability of the tellings ``told[ends[i] : ends[i + 1]]``.
    ``order`` is where sampling starts, and is changed.
    """
    n, tellings = len(worth), len(weight)
    has = np.zeros((tellings, n), np.bool_)
    now = np.zeros(tellings)
    then = np.zeros(tellings)
    for i in range(tellings):
        one = told[ends[i] : ends[i + 1]]
        for event in one:
            has[i, event] = True
        now[i] = telling_log_prob(one, order, inversion)
    between = np.zeros((n, n), np.int64)
    direct = np.zeros(n, np.int64)
    for a in range(n):
        for b in range(n):
            for k in range(n):
                between[a, b] += order[a, k] and order[k, b]
            direct[a] += order[a, b] and between[a, b] == 0
    share = np.zeros((n, n))
    kept = 0
    steps, burn = sweeps * n * n, sweeps * n * n // 5
    for step in range(steps):
        a, b = int(random.random() * n), int(random.random() * n)
        if a != b and stays_transitive(order, a, b):
            gain = -worth[a, b] if order[a, b] else worth[a, b]
            gain += turn(order, between, direct, unlikely, branching, a, b)
            for i in range(tellings):
                if has[i, a] and has[i, b]:
                    then[i] = telling_log_prob(told[ends[i] : ends[i + 1]], order, inversion)
                    gain += weight[i] * (then[i] - now[i])
            if np.log(random.random()) < gain:
                for i in range(tellings):
                    if has[i, a] and has[i, b]:
                        now[i] = then[i]
            else:
                turn(order, between, direct, unlikely, branching, a, b)
        if step >= burn and step % n == 0:
            kept += 1
            for x in range(n):
                for y in range(n):
                    share[x, y] += order[x, y]
    return share / max(kept, 1)
