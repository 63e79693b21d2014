"""The compiled loops from one told event to the next: arrays in, arrays out.

Tables are (states, lanes), and every innermost loop runs over lanes. Symbols follow
``docs/formulas.md``: T(k|j) are transitions, e(k) elisions, s(k) = 1 / (1 - T(k|k) e(k)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elision._kernels import jit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision._kernels import Model


@jit
def arrivals(model: Model, told: NDArray[np.float64], arrived: NDArray[np.float64]) -> None:
    """Expected entries of each state before the next event is told, after ``told`` told.

    arrived(k) = s(k) * ( sum_{j<k} T(k|j) * (told(j) + e(j) arrived(j))  +  T(k|k) told(k) )
    """
    end = model.elision.shape[0] - 1
    lanes = told.shape[1]
    for lane in range(lanes):
        arrived[0, lane] = 0.0
    for k in range(1, end + 1):
        stay = model.loop[k]
        series = 1.0 / (1.0 - stay * model.elision[k])
        here = arrived[k]
        for lane in range(lanes):
            here[lane] = stay * told[k, lane]
        for edge in range(model.in_first[k], model.in_first[k + 1]):
            j = model.in_source[edge]
            weight = model.in_weight[edge]
            silent = model.elision[j]
            for lane in range(lanes):
                here[lane] += weight * (told[j, lane] + silent * arrived[j, lane])
        for lane in range(lanes):
            here[lane] *= series


@jit
def departures(model: Model, value: NDArray[np.float64], result: NDArray[np.float64]) -> None:
    """Expected value of the next state that tells, or the end, from each state.

    result(j) = s(j) * ( sum_{k>j} T(k|j) * (value(k) + e(k) result(k))  +  T(j|j) value(j) )
    """
    end = model.elision.shape[0] - 1
    lanes = value.shape[1]
    for lane in range(lanes):
        result[end, lane] = 0.0
    for j in range(end - 1, -1, -1):
        stay = model.loop[j]
        series = 1.0 / (1.0 - stay * model.elision[j])
        here = result[j]
        for lane in range(lanes):
            here[lane] = stay * value[j, lane]
        for edge in range(model.out_first[j], model.out_first[j + 1]):
            k = model.out_target[edge]
            weight = model.out_weight[edge]
            silent = model.elision[k]
            for lane in range(lanes):
                here[lane] += weight * (value[k, lane] + silent * result[k, lane])
        for lane in range(lanes):
            here[lane] *= series


@jit
def best_part(
    model: Model,
    log_model: Model,
    log_likelihood: NDArray[np.float64],
    worth: float,
    kept: NDArray[np.bool_],
) -> float:
    """Mark the events of the path that is worth most, each kept event adding ``worth``.

    ``log_likelihood`` is (events, states). Returns what the path is worth, -inf if there is none.
    """
    events, states = log_likelihood.shape
    best = np.full(states, -math.inf)
    best[0] = 0.0
    # What was kept on the way, as lists that share their beginnings.
    last = np.full(states, -1)
    event = np.empty(events * states, np.int64)
    parent = np.empty(events * states, np.int64)
    nodes = 0
    for i in range(events + 1):
        for k in range(1, states):
            silent = 0.0 if k == states - 1 else log_model.elision[k]
            if k == states - 1 and i < events:
                continue
            for edge in range(model.in_first[k], model.in_first[k + 1]):
                j = model.in_source[edge]
                value = best[j] + log_model.in_weight[edge] + silent
                if value > best[k]:
                    best[k] = value
                    last[k] = last[j]
        if i == events:
            break
        told = best.copy()
        tail = last.copy()
        for k in range(1, states - 1):
            source = -1
            most = -math.inf
            for edge in range(model.in_first[k], model.in_first[k + 1]):
                j = model.in_source[edge]
                if best[j] + log_model.in_weight[edge] > most:
                    most = best[j] + log_model.in_weight[edge]
                    source = j
            if best[k] + log_model.loop[k] > most:
                most = best[k] + log_model.loop[k]
                source = k
            value = most + log_likelihood[i, k] + worth
            if value > told[k]:
                told[k] = value
                event[nodes] = i
                parent[nodes] = last[source]
                tail[k] = nodes
                nodes += 1
        best = told
        last = tail
    if best[states - 1] > -math.inf:
        node = last[states - 1]
        while node >= 0:
            kept[event[node]] = True
            node = parent[node]
    return float(best[states - 1])
