"""The same recursions in log space, one narrative at a time, and the best alignment.

Slower than the scaled ones in ``_kernels`` but beyond the range of a double: for the rare narrative
in which a path that is hopeless early on turns out to be the one that matters.
"""

from __future__ import annotations

import math

import numpy as np

from elision.kernels.passes import jit


@jit
def _log_combine(log_weight, row, index, first, last):
    """Log of the sum of exp(log_weight[e] + row[index[e]]) over the edges first..last."""
    largest = -math.inf
    for edge in range(first, last):
        largest = max(largest, log_weight[edge] + row[index[edge]])
    if largest == -math.inf:
        return largest
    total = 0.0
    for edge in range(first, last):
        total += math.exp(log_weight[edge] + row[index[edge]] - largest)
    return largest + math.log(total)


@jit
def _log_add(x, y):
    larger = max(x, y)
    if larger == -math.inf:
        return larger
    return larger + math.log1p(math.exp(min(x, y) - larger))


@jit
def log_tables(model, log_model, symbol):
    """Log of visit, arrive, after, enter for one narrative, and its log-probability.

    ``log_model`` is the model with the logarithm of every parameter.
    """
    end = model.elision.shape[0] - 1
    length = symbol.shape[0]
    visit = np.full((length + 1, end + 1), -math.inf)
    arrive = np.full((length + 1, end + 1), -math.inf)
    after = np.full((length + 1, end + 1), -math.inf)
    enter = np.full((length + 1, end + 1), -math.inf)
    visit[0, 0] = 0.0
    for i in range(length + 1):
        for k in range(1, end):
            series = -math.log1p(-model.loop[k] * model.elision[k])
            came = _log_combine(
                log_model.in_weight,
                visit[i],
                model.in_source,
                model.in_first[k],
                model.in_first[k + 1],
            )
            emitted = -math.inf
            if i > 0:
                emitted = log_model.likelihood[k, symbol[i - 1]] + arrive[i - 1, k]
            arrive[i, k] = _log_add(came, log_model.loop[k] + emitted) + series
            visit[i, k] = _log_add(log_model.elision[k] + arrive[i, k], emitted)
    log_prob = _log_combine(
        log_model.in_weight,
        visit[length],
        model.in_source,
        model.in_first[end],
        model.in_first[end + 1],
    )
    enter[length, end] = 0.0
    for i in range(length, -1, -1):
        for k in range(end - 1, -1, -1):
            series = -math.log1p(-model.loop[k] * model.elision[k])
            left = _log_combine(
                log_model.out_weight,
                enter[i],
                model.out_target,
                model.out_first[k],
                model.out_first[k + 1],
            )
            emitted = -math.inf
            if i < length:
                emitted = log_model.likelihood[k, symbol[i]] + after[i + 1, k]
            after[i, k] = _log_add(left, log_model.loop[k] + emitted) + series
            enter[i, k] = _log_add(log_model.elision[k] + after[i, k], emitted)
    return visit, arrive, after, enter, log_prob


@jit
def log_counts(model, log_model, symbol, weight, tally):
    """Add the expected counts of one narrative, all factors included; return its log-probability.

    Unlike in the scaled kernel the factors of the edge go in here: without them the sums may
    overflow.
    """
    visit, arrive, after, enter, log_prob = log_tables(model, log_model, symbol)
    if log_prob == -math.inf:
        return log_prob
    end = model.elision.shape[0] - 1
    for i in range(symbol.shape[0] + 1):
        for j in range(end):
            came = visit[i, j] - log_prob
            for edge in range(model.out_first[j], model.out_first[j + 1]):
                share = came + log_model.out_weight[edge] + enter[i, model.out_target[edge]]
                tally.edge[edge] += weight * math.exp(share)
            tally.loop[j] += weight * math.exp(came + log_model.loop[j] + enter[i, j])
        for k in range(1, end):
            came = arrive[i, k] - log_prob
            tally.silence[k] += weight * math.exp(came + log_model.elision[k] + after[i, k])
            if i < symbol.shape[0]:
                share = came + log_model.likelihood[k, symbol[i]] + after[i + 1, k]
                tally.symbol[k, symbol[i]] += weight * math.exp(share)
    return log_prob


@jit
def log_posterior(model, log_model, symbol, first, told, entered, visited):
    """Write one narrative's posterior to the rows from ``first``; return its log-probability."""
    visit, arrive, after, _, log_prob = log_tables(model, log_model, symbol)
    if log_prob == -math.inf:
        return log_prob
    end = model.elision.shape[0] - 1
    for i in range(symbol.shape[0] + 1):
        for k in range(end):
            visited[first + i, k] = math.exp(visit[i, k] + after[i, k] - log_prob)
            entered[first + i, k] = math.exp(arrive[i, k] + after[i, k] - log_prob)
            if i < symbol.shape[0]:
                share = arrive[i, k] + log_model.likelihood[k, symbol[i]] + after[i + 1, k]
                told[first + i, k] = math.exp(share - log_prob)
    return log_prob


@jit
def best_alignment(model, log_model, symbol, path, position):
    """Most probable path; write its states and the events they told (-1: silent).

    Returns the log-probability and the number of steps. A silent self-loop is never taken. Ties go
    to the earlier state, and to telling before silence.
    """
    end = model.elision.shape[0] - 1
    length = symbol.shape[0]
    best = np.full((length + 1, end + 1), -math.inf)
    source = np.zeros((length + 1, end + 1), np.int64)
    tells = np.zeros((length + 1, end + 1), np.bool_)
    best[0, 0] = 0.0
    for i in range(length + 1):
        for k in range(1, end + 1):
            if i > 0 and k < end:
                emitted = log_model.likelihood[k, symbol[i - 1]]
                for edge in range(model.in_first[k], model.in_first[k + 1]):
                    j = model.in_source[edge]
                    value = best[i - 1, j] + log_model.in_weight[edge] + emitted
                    if value > best[i, k]:
                        best[i, k], source[i, k], tells[i, k] = value, j, True
                value = best[i - 1, k] + log_model.loop[k] + emitted
                if value > best[i, k]:
                    best[i, k], source[i, k], tells[i, k] = value, k, True
            silent = 0.0 if k == end else log_model.elision[k]
            for edge in range(model.in_first[k], model.in_first[k + 1]):
                j = model.in_source[edge]
                value = best[i, j] + log_model.in_weight[edge] + silent
                if value > best[i, k]:
                    best[i, k], source[i, k], tells[i, k] = value, j, False
    if best[length, end] == -math.inf:
        return -math.inf, 0
    steps = 0
    i, k = length, source[length, end]
    while k != 0:
        path[steps] = k
        position[steps] = i - 1 if tells[i, k] else -1
        j = source[i, k]
        if tells[i, k]:
            i -= 1
        k = j
        steps += 1
    for step in range(steps // 2):
        other = steps - 1 - step
        path[step], path[other] = path[other], path[step]
        position[step], position[other] = position[other], position[step]
    return best[length, end], steps
