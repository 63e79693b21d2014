"""The compiled loops of learning a telling model: the loss over all beginnings, and its slope."""

from __future__ import annotations

import math

import numpy as np

from elision.kernels.passes import jit


@jit
def spread_down(parent, row_of, rows, fade, result):
    """For each node of a tree, the sum of the rows on the way to it, each fainter than the next.

    ``result[k] = fade * result[parent[k]] + rows[row_of[k]]``; parents come first, and a root, its
    own parent, has the row that it has in ``result``.
    """
    for k in range(parent.shape[0]):
        if parent[k] == k:
            continue
        above = result[parent[k]]
        row = rows[row_of[k]]
        for e in range(row.shape[0]):
            result[k, e] = fade * above[e] + row[e]


@jit
def add_rows(target, source, weight, rows, result):
    """Add weight[j] * rows[source[j]] to result[target[j]], for all j."""
    for j in range(target.shape[0]):
        if weight[j] == 0.0:
            continue
        row = rows[source[j]]
        out = result[target[j]]
        for e in range(row.shape[0]):
            out[e] += weight[j] * row[e]


@jit
def loss_and_slope(
    parent, event, fade, row_of, features, shared, outcome, first, weight, weights, after, memory,
    remembered, residual, slope_weights, slope_after, slope_memory,
):  # fmt: skip
    """Minus the log-likelihood of what follows each beginning, and its derivatives.

    Node k is a beginning; its logits are weights . features + after[event] + remembered, where
    ``features[k]`` holds those of its own and ``shared[f, row_of[k, f]]`` those that many nodes
    have. What follows it are the outcomes first[k]..first[k + 1], each with its weight.
    """
    nodes, symbols = remembered.shape
    own = features.shape[1]
    tables = shared.shape[0]
    spread_down(parent, event, memory, fade, remembered)
    loss = 0.0
    z = np.empty(symbols)
    for k in range(nodes):
        here = residual[k]
        total_weight = 0.0
        for j in range(first[k], first[k + 1]):
            total_weight += weight[j]
        if total_weight == 0.0:
            for e in range(symbols):
                here[e] = 0.0
            continue
        row = after[event[k]]
        past = remembered[k]
        for e in range(symbols):
            z[e] = row[e] + past[e]
        for f in range(own):
            w = weights[f]
            values = features[k, f]
            for e in range(symbols):
                z[e] += w * values[e]
        for f in range(tables):
            w = weights[own + f]
            values = shared[f, row_of[k, f]]
            for e in range(symbols):
                z[e] += w * values[e]
        largest = z[0]
        for e in range(1, symbols):
            largest = max(largest, z[e])
        for e in range(symbols):
            here[e] = math.exp(z[e] - largest)
        total = 0.0
        for e in range(symbols):  # by itself: in a loop that also writes, the order of a sum would
            total += here[e]  # depend on how near in memory the two arrays lie
        loss += total_weight * (largest + math.log(total))
        scale = total_weight / total
        for e in range(symbols):
            here[e] *= scale
        for j in range(first[k], first[k + 1]):
            loss -= weight[j] * z[outcome[j]]
            here[outcome[j]] -= weight[j]
        for f in range(own):
            values = features[k, f]
            found = 0.0
            for e in range(symbols):
                found += here[e] * values[e]
            slope_weights[f] += found
        for f in range(tables):
            values = shared[f, row_of[k, f]]
            found = 0.0
            for e in range(symbols):
                found += here[e] * values[e]
            slope_weights[own + f] += found
        row = slope_after[event[k]]
        for e in range(symbols):
            row[e] += here[e]
    for k in range(nodes - 1, -1, -1):
        if parent[k] == k:
            continue
        here = residual[k]
        row = slope_memory[event[k]]
        above = residual[parent[k]]
        for e in range(symbols):
            row[e] += here[e]
            above[e] += fade * here[e]
    return loss
