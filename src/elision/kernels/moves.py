"""Compiled moves of the structure search: what a merge or a deletion gains, and making it.

The model is its expected counts; parameters are the MAP estimates that these counts give. Every
local score is a sum of *pieces*, one for each count and one for each row total, so that a move's
gain needs only the pieces that it changes:

* transitions of state j: sum over k of piece(C(j->k), t) - piece(C(j), t * degree of j)
* events of state k: sum over o of piece(C(k,o), c_o) - piece(C(k, told), sum of c)
* elision of state k: piece(C(k,lambda), a) + piece(C(k, told), b) - piece(C(k), a + b)

with piece(n, x) = n log(n + x) for the expected complete-data log-likelihood and
log Gamma(n + x) - log Gamma(x) for the Dirichlet-multinomial marginal likelihood.

State 0 is the start, 1 the end. Sets of states are rows of 32-bit words.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.kernels.passes import jit

if TYPE_CHECKING:
    from numpy.typing import NDArray


WORD = 32
"""Bits a word: half of an int64, so that shifts never meet the sign."""

MARGINAL = 1
"""`Scoring.kind` of the marginal likelihood; 0 is the expected complete-data log-likelihood."""


class Model(NamedTuple):
    """Expected counts over states, some of which may have been merged away."""

    alive: NDArray[np.bool_]
    transition: NDArray[np.float64]
    """C(j->k), (states, states)."""
    successors: NDArray[np.int64]
    predecessors: NDArray[np.int64]
    degree: NDArray[np.int64]
    leaving: NDArray[np.float64]
    """C(j): sum of a row of ``transition``."""
    emission: NDArray[np.float64]
    told: NDArray[np.float64]
    silent: NDArray[np.float64]


class Pieces(NamedTuple):
    """Pieces of the score, kept up to date: per edge, per row total, per event, per state."""

    edge: NDArray[np.float64]
    leaving: NDArray[np.float64]
    event: NDArray[np.float64]
    state: NDArray[np.float64]


class Scoring(NamedTuple):
    """Kind of score, pseudocounts or concentrations, and the costs of the structure."""

    kind: int
    elisions: bool
    transition: float
    event: NDArray[np.float64]
    events: float
    silent: float
    telling: float
    state_cost: float
    edge_cost: float


class Way(NamedTuple):
    """Scratch space for the silent detours of one edge."""

    order: NDArray[np.int64]
    """States in topological order."""
    place: NDArray[np.int64]
    """Place of each state in ``order``."""
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    flow: NDArray[np.float64]
    """What the edge source -> target gains, one entry for each edge on a detour."""
    added: NDArray[np.float64]
    passed: NDArray[np.float64]
    """What a state gains in transitions leaving it and in silent entries."""


@jit
def has(words, k):
    """Whether state k is in the set."""
    return (words[k // WORD] >> (k % WORD)) & 1 == 1


@jit
def put(words, k):
    """Add state k to the set."""
    words[k // WORD] |= 1 << (k % WORD)


@jit
def drop(words, k):
    """Take state k out of the set."""
    words[k // WORD] &= ~(1 << (k % WORD))


@jit
def lowest(word):
    """Number of the lowest bit of a word that is not 0."""
    return int(math.log2(word & -word))


@jit
def piece(kind, count, added):
    """One term of the local score."""
    if count <= 0.0:
        return 0.0
    if kind == MARGINAL:
        return math.lgamma(count + added) - math.lgamma(added)
    return count * math.log(count + added)


@jit
def state_piece(scoring, told, silent):
    """The score of a state's telling and silence, its events' own pieces aside."""
    value = -piece(scoring.kind, told, scoring.events)
    if scoring.elisions:
        value += piece(scoring.kind, silent, scoring.silent)
        value += piece(scoring.kind, told, scoring.telling)
        value -= piece(scoring.kind, told + silent, scoring.silent + scoring.telling)
    return value


@jit
def refresh_row(model, pieces, scoring, j):
    """Recompute all pieces of state j."""
    kind = scoring.kind
    for w in range(model.successors.shape[1]):
        word = model.successors[j, w]
        while word:
            k = w * WORD + lowest(word)
            word &= word - 1
            pieces.edge[j, k] = piece(kind, model.transition[j, k], scoring.transition)
    pieces.leaving[j] = piece(kind, model.leaving[j], scoring.transition * model.degree[j])
    for o in range(model.emission.shape[1]):
        pieces.event[j, o] = piece(kind, model.emission[j, o], scoring.event[o])
    pieces.state[j] = state_piece(scoring, model.told[j], model.silent[j])


@jit
def local_score(model, pieces, scoring):
    """The whole local score: all pieces, less the costs of states and edges."""
    total = 0.0
    for j in range(model.alive.shape[0]):
        if not model.alive[j]:
            continue
        for w in range(model.successors.shape[1]):
            word = model.successors[j, w]
            while word:
                total += pieces.edge[j, w * WORD + lowest(word)]
                word &= word - 1
        total -= pieces.leaving[j] + scoring.edge_cost * model.degree[j]
        if j > 1:
            total += pieces.state[j] - scoring.state_cost
            for o in range(model.emission.shape[1]):
                total += pieces.event[j, o]
    return total


@jit
def merge_allowed(model, after, before, p, q):
    """Whether merging p and q makes no cycle but a self-loop: no way between by a third state.

    ``after[p]`` holds the states that p can reach, ``before[p]`` those that can reach p.
    """
    through = False
    for w in range(after.shape[1]):
        onward = (model.successors[p, w] & before[q, w]) | (model.successors[q, w] & before[p, w])
        if onward:
            for k in (p, q):
                if k // WORD == w:
                    onward &= ~(1 << (k % WORD))
            through |= onward != 0
    return not through


@jit
def _merged_loop(model, p, q):
    """Count on the self-loop of p and q merged, and how many edges it is made of."""
    count = 0.0
    edges = 0
    for j in (p, q):
        for k in (p, q):
            if has(model.successors[j], k):
                count += model.transition[j, k]
                edges += 1
    return count, edges


@jit
def merge_gain(model, pieces, scoring, p, q):
    """What merging p and q adds to the local score."""
    kind = scoring.kind
    gain = -pieces.state[p] - pieces.state[q]
    gain += state_piece(scoring, model.told[p] + model.told[q], model.silent[p] + model.silent[q])
    for o in range(model.emission.shape[1]):
        x, y = model.emission[p, o], model.emission[q, o]
        if x > 0.0 and y > 0.0:
            gain += piece(kind, x + y, scoring.event[o]) - pieces.event[p, o] - pieces.event[q, o]
    loop, inner = _merged_loop(model, p, q)
    if inner > 1:
        gain += piece(kind, loop, scoring.transition)
        for j in (p, q):
            for k in (p, q):
                if has(model.successors[j], k):
                    gain -= pieces.edge[j, k]
    edges_saved = max(0, inner - 1)
    from_both = 0
    for w in range(model.successors.shape[1]):
        word = model.successors[p, w] & model.successors[q, w]
        while word:
            k = w * WORD + lowest(word)
            word &= word - 1
            if k not in (p, q):
                from_both += 1
                gain += piece(
                    kind, model.transition[p, k] + model.transition[q, k], scoring.transition
                )
                gain -= pieces.edge[p, k] + pieces.edge[q, k]
        word = model.predecessors[p, w] & model.predecessors[q, w]
        while word:
            j = w * WORD + lowest(word)
            word &= word - 1
            if j not in (p, q):
                edges_saved += 1
                gain += piece(
                    kind, model.transition[j, p] + model.transition[j, q], scoring.transition
                )
                gain -= pieces.edge[j, p] + pieces.edge[j, q]
                rest = scoring.transition * (model.degree[j] - 1)
                gain -= piece(kind, model.leaving[j], rest) - pieces.leaving[j]
    degree = model.degree[p] + model.degree[q] - from_both - max(0, inner - 1)
    leaving = model.leaving[p] + model.leaving[q]
    gain -= piece(kind, leaving, scoring.transition * degree)
    gain += pieces.leaving[p] + pieces.leaving[q]
    edges_saved += from_both
    return gain + scoring.state_cost + scoring.edge_cost * edges_saved


@jit
def merge_counts(model, p, q):
    """Merge q into p in the counts and the edges."""
    loop, inner = _merged_loop(model, p, q)
    for j in (p, q):
        for k in (p, q):
            if has(model.successors[j], k):
                drop(model.successors[j], k)
                drop(model.predecessors[k], j)
                model.degree[j] -= 1
            model.transition[j, k] = 0.0
    for w in range(model.successors.shape[1]):
        word = model.successors[q, w]
        while word:
            k = w * WORD + lowest(word)
            word &= word - 1
            if not has(model.successors[p], k):
                put(model.successors[p], k)
                put(model.predecessors[k], p)
                model.degree[p] += 1
                model.transition[p, k] = 0.0
            model.transition[p, k] += model.transition[q, k]
            drop(model.predecessors[k], q)
        word = model.predecessors[q, w]
        while word:
            j = w * WORD + lowest(word)
            word &= word - 1
            if has(model.successors[j], p):
                model.degree[j] -= 1
                model.transition[j, p] += model.transition[j, q]
            else:
                put(model.successors[j], p)
                put(model.predecessors[p], j)
                model.transition[j, p] = model.transition[j, q]
            drop(model.successors[j], q)
    if inner:
        put(model.successors[p], p)
        put(model.predecessors[p], p)
        model.degree[p] += 1
        model.transition[p, p] = loop
    model.leaving[p] += model.leaving[q]
    model.told[p] += model.told[q]
    model.silent[p] += model.silent[q]
    model.emission[p] += model.emission[q]
    model.alive[q] = False
    model.successors[q] = 0
    model.predecessors[q] = 0
    model.degree[q] = 0


@jit
def merge_reach(model, after, before, p, q):
    """Update reachability after q was merged into p."""
    drop(after[p], q)
    drop(before[p], q)
    for w in range(after.shape[1]):
        after[p, w] |= after[q, w]
        before[p, w] |= before[q, w]
        after[q, w] = 0
        before[q, w] = 0
    looped = has(model.successors[p], p)
    for words in (after[p], before[p]):
        drop(words, q)
        drop(words, p)
        if looped:
            put(words, p)
    for k in range(model.alive.shape[0]):
        if k == p or not model.alive[k]:
            continue
        if has(before[p], k):
            for w in range(after.shape[1]):
                after[k, w] |= after[p, w]
            put(after[k], p)
            drop(after[k], q)
            if not has(model.successors[k], k):
                drop(after[k], k)
        if has(after[p], k):
            for w in range(after.shape[1]):
                before[k, w] |= before[p, w]
            put(before[k], p)
            drop(before[k], q)
            if not has(model.successors[k], k):
                drop(before[k], k)


@jit
def topological(model, way):
    """Write the living states in topological order (self-loops aside); return how many."""
    order, place = way.order, way.place
    size = model.alive.shape[0]
    waiting = np.zeros(size, np.int64)
    for j in range(size):
        if model.alive[j]:
            for w in range(model.successors.shape[1]):
                word = model.successors[j, w]
                while word:
                    waiting[w * WORD + lowest(word)] += 1
                    word &= word - 1
            if has(model.successors[j], j):
                waiting[j] -= 1
    found = 0
    for j in range(size):
        if model.alive[j] and waiting[j] == 0:
            order[found] = j
            found += 1
    done = 0
    while done < found:
        j = order[done]
        place[j] = done
        done += 1
        for w in range(model.successors.shape[1]):
            word = model.successors[j, w]
            while word:
                k = w * WORD + lowest(word)
                word &= word - 1
                if k != j:
                    waiting[k] -= 1
                    if waiting[k] == 0:
                        order[found] = k
                        found += 1
    return found


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
