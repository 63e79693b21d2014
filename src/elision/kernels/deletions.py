"""Compiled deletion of an edge: its count goes to the silent ways round (see `_moves`)."""

from __future__ import annotations

import math

from elision.kernels.moves import WORD, drop, has, lowest, piece, state_piece
from elision.kernels.passes import jit


@jit
def chance(model, scoring, j, k):
    """T(k|j): the MAP estimate of an edge."""
    total = model.leaving[j] + scoring.transition * model.degree[j]
    if total > 0.0:
        return (model.transition[j, k] + scoring.transition) / total
    return 1.0 / model.degree[j]


@jit
def silence(model, scoring, k):
    """Omega(lambda|k): the MAP estimate of a state's elision."""
    if not scoring.elisions:
        return 0.0
    total = model.told[k] + model.silent[k] + scoring.silent + scoring.telling
    return (model.silent[k] + scoring.silent) / total if total > 0.0 else 0.0


@jit
def _detour_step(model, scoring, s, e, i, k):
    """Probability of going on from i to k in silence, the edge s -> e being gone."""
    if i == s and k == e:
        return 0.0
    step = chance(model, scoring, i, k)
    if i == s:
        step /= 1.0 - chance(model, scoring, s, e)
    return step if k == e else step * silence(model, scoring, k)


@jit
def _find_ways(model, scoring, before, way, s, e):
    """Alpha and beta of the silent ways from s to e other than the edge; return Z.

    alpha(i): expected silent visits to i on leaving s; beta(i): probability of coming from i to e
    in silence; Z = alpha(e). 0 if there is no way round.
    """
    order, place, alpha, beta = way.order, way.place, way.alpha, way.beta
    if model.degree[s] < 2 or not scoring.elisions or chance(model, scoring, s, e) >= 1.0:
        return 0.0
    first, last = place[s], place[e]
    for at in range(first, last + 1):
        alpha[order[at]] = 0.0
        beta[order[at]] = 0.0
    alpha[s] = 1.0
    for at in range(first, last):
        i = order[at]
        if alpha[i] == 0.0:
            continue
        if has(model.successors[i], i):
            alpha[i] /= 1.0 - _detour_step(model, scoring, s, e, i, i)
        for w in range(model.successors.shape[1]):
            word = model.successors[i, w]
            while word:
                k = w * WORD + lowest(word)
                word &= word - 1
                if k != i and (k == e or has(before[e], k)):
                    alpha[k] += alpha[i] * _detour_step(model, scoring, s, e, i, k)
    beta[e] = 1.0
    for at in range(last - 1, first - 1, -1):
        i = order[at]
        if alpha[i] == 0.0:
            continue
        for w in range(model.successors.shape[1]):
            word = model.successors[i, w]
            while word:
                k = w * WORD + lowest(word)
                word &= word - 1
                if k != i and (k == e or has(before[e], k)):
                    beta[i] += _detour_step(model, scoring, s, e, i, k) * beta[k]
        if has(model.successors[i], i):
            beta[i] /= 1.0 - _detour_step(model, scoring, s, e, i, i)
    return alpha[e]


@jit
def find_flows(model, scoring, before, way, s, e):
    """Share the count of s -> e out over its silent detours; return how many edges gain.

    0 if there is no way round in silence: then the edge cannot be deleted.
    """
    z = _find_ways(model, scoring, before, way, s, e)
    if z == 0.0:
        return 0
    carried = model.transition[s, e] / z
    for at in range(way.place[s], way.place[e] + 1):
        way.added[way.order[at]] = 0.0
        way.passed[way.order[at]] = 0.0
    found = 0
    for at in range(way.place[s], way.place[e]):
        i = way.order[at]
        if way.alpha[i] == 0.0 or way.beta[i] == 0.0:
            continue
        for w in range(model.successors.shape[1]):
            word = model.successors[i, w]
            while word:
                k = w * WORD + lowest(word)
                word &= word - 1
                if (k != e and not has(before[e], k)) or (i == s and k == e):
                    continue
                step = _detour_step(model, scoring, s, e, i, k)
                flow = carried * way.alpha[i] * way.beta[k] * step
                way.source[found] = i
                way.target[found] = k
                way.flow[found] = flow
                found += 1
                way.added[i] += flow
                if k != e:
                    way.passed[k] += flow
    return found


@jit
def delete_gain(model, pieces, scoring, before, way, s, e):
    """What deleting s -> e adds to the local score; -inf if there is no way round in silence."""
    found = find_flows(model, scoring, before, way, s, e)
    if found == 0:
        return -math.inf
    kind = scoring.kind
    gain = scoring.edge_cost - pieces.edge[s, e]
    for entry in range(found):
        i, k = way.source[entry], way.target[entry]
        gain += piece(kind, model.transition[i, k] + way.flow[entry], scoring.transition)
        gain -= pieces.edge[i, k]
    for at in range(way.place[s], way.place[e]):
        i = way.order[at]
        if i == s:
            leaving = model.leaving[s] + way.added[s] - model.transition[s, e]
            gain -= piece(kind, leaving, scoring.transition * (model.degree[s] - 1))
            gain += pieces.leaving[s]
        elif way.added[i] > 0.0:
            leaving = model.leaving[i] + way.added[i]
            gain -= piece(kind, leaving, scoring.transition * model.degree[i]) - pieces.leaving[i]
        if way.passed[i] > 0.0:
            gain += state_piece(scoring, model.told[i], model.silent[i] + way.passed[i])
            gain -= pieces.state[i]
    return gain


@jit
def delete_counts(model, scoring, before, way, s, e):
    """Delete s -> e and give its count to the silent ways round; return how many edges gained."""
    found = find_flows(model, scoring, before, way, s, e)
    for entry in range(found):
        model.transition[way.source[entry], way.target[entry]] += way.flow[entry]
    for at in range(way.place[s], way.place[e]):
        i = way.order[at]
        model.leaving[i] += way.added[i]
        model.silent[i] += way.passed[i]
    model.leaving[s] -= model.transition[s, e]
    model.transition[s, e] = 0.0
    model.degree[s] -= 1
    drop(model.successors[s], e)
    drop(model.predecessors[e], s)
    return found
