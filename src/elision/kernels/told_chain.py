"""The compiled loops from one told event to the next: arrays in, arrays out.

Tables are (states, lanes), and every innermost loop runs over lanes. Symbols follow
``docs/formulas.md``: T(k|j) are transitions, e(k) elisions, s(k) = 1 / (1 - T(k|k) e(k)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elision.kernels.passes import jit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.kernels.passes import Model


@jit
def arrivals(
    model: Model, told: NDArray[np.float64], arrived: NDArray[np.float64], lanes: int
) -> None:
    """Expected entries of each state before the next event is told, after ``told`` told.

    arrived(k) = s(k) * ( sum_{j<k} T(k|j) * (told(j) + e(j) arrived(j))  +  T(k|k) told(k) )
    """
    end = model.elision.shape[0] - 1
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
def departures(
    model: Model, value: NDArray[np.float64], result: NDArray[np.float64], lanes: int
) -> None:
    """Expected value of the next state that tells, or the end, from each state.

    result(j) = s(j) * ( sum_{k>j} T(k|j) * (value(k) + e(k) result(k))  +  T(j|j) value(j) )
    """
    end = model.elision.shape[0] - 1
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
def onward(
    first: NDArray[np.int64],
    target: NDArray[np.int64],
    silent: NDArray[np.float64],
    telling: NDArray[np.float64],
    here: NDArray[np.float64],
    passed: NDArray[np.float64],
    ahead: NDArray[np.float64],
) -> None:
    """Go on by edges that are passed in silence, then by one that tells: here (I - S)^-1 T.

    Edges of state j are those from ``first[j]`` on, a loop first. ``passed`` are the states in
    which the way may be before it tells, ``ahead`` those that tell; all are (states, lanes).
    """
    lanes = here.shape[1]
    passed[:] = here
    ahead[:] = 0.0
    for j in range(here.shape[0]):
        if first[j] < first[j + 1] and target[first[j]] == j:
            series = 1.0 / (1.0 - silent[first[j]])
            for lane in range(lanes):
                passed[j, lane] *= series
        for edge in range(first[j], first[j + 1]):
            k = target[edge]
            for lane in range(lanes):
                ahead[k, lane] += telling[edge] * passed[j, lane]
                if k != j:
                    passed[k, lane] += silent[edge] * passed[j, lane]


@jit
def _normalise(table: NDArray[np.float64], scale: NDArray[np.float64], lanes: int) -> None:
    """Let each lane sum to one, and add the logarithm of what it summed to to its scale."""
    for lane in range(lanes):
        total = 0.0
        for k in range(table.shape[0]):
            total += table[k, lane]
        factor = 1.0 / total if total > 0.0 else 0.0
        scale[lane] += math.log(total) if total > 0.0 else -math.inf
        for k in range(table.shape[0]):
            table[k, lane] *= factor


@jit
def later_moves(
    model: Model,
    likelihood: NDArray[np.float64],
    arrived: NDArray[np.float64],
    before_scale: NDArray[np.float64],
    after: NDArray[np.float64],
    after_scale: NDArray[np.float64],
    moved: NDArray[np.float64],
) -> None:
    """Log-probability with event i told as number p, for all i < p.

    ``likelihood`` is (events, states), ``arrived`` and ``after`` (events + 1, states). Lane i of
    the tables holds the events up to p without event i.
    """
    events, states = likelihood.shape
    told = np.zeros((states, events))
    came = np.zeros((states, events))
    scale = np.zeros(events)
    for p in range(1, events):
        for k in range(states):
            came[k, p - 1] = arrived[p - 1, k]
            for i in range(p):
                told[k, i] = came[k, i] * likelihood[p, k]
        scale[p - 1] = before_scale[p - 1]
        _normalise(told, scale, p)
        arrivals(model, told, came, p)
        for i in range(p):
            total = 0.0
            for k in range(states):
                total += came[k, i] * likelihood[i, k] * after[p + 1, k]
            logarithm = math.log(total) if total > 0.0 else -math.inf
            moved[i, p] = logarithm + scale[i] + after_scale[p + 1]


@jit
def earlier_moves(
    model: Model,
    likelihood: NDArray[np.float64],
    arrived: NDArray[np.float64],
    before_scale: NDArray[np.float64],
    after: NDArray[np.float64],
    after_scale: NDArray[np.float64],
    moved: NDArray[np.float64],
) -> None:
    """The same for all i > p: lane i holds the events from p on without event i."""
    events, states = likelihood.shape
    value = np.zeros((states, events))
    rest = np.zeros((states, events))
    scale = np.zeros(events)
    for p in range(events - 2, -1, -1):
        # Lanes are counted from the last event, so that those in use stand side by side.
        lanes = events - 1 - p
        for k in range(states):
            rest[k, lanes - 1] = after[p + 2, k]
            for lane in range(lanes):
                value[k, lane] = rest[k, lane] * likelihood[p, k]
        scale[lanes - 1] = after_scale[p + 2]
        departures(model, value, rest, lanes)
        _normalise(rest, scale, lanes)
        for lane in range(lanes):
            i = events - 1 - lane
            total = 0.0
            for k in range(states):
                total += arrived[p, k] * likelihood[i, k] * rest[k, lane]
            logarithm = math.log(total) if total > 0.0 else -math.inf
            moved[i, p] = logarithm + before_scale[p] + scale[lane]


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
