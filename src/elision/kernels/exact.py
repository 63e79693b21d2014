"""Compiled search by the exact score: the forward likelihood of every narrative seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.kernels import passes
from elision.kernels.moves import (
    WORD,
    Model,
    Way,
    chance,
    delete_counts,
    has,
    lowest,
    merge_allowed,
    merge_counts,
    silence,
    topological,
)
from elision.kernels.passes import jit
from elision.kernels.search import DELETE, MERGE, TIE, make_deletion, make_merge, merge_violations

if TYPE_CHECKING:
    from numpy.typing import NDArray


MARGIN = 0.25
"""By how much a move may have become better since it was last tried, and still be noticed."""


OPTIMISM = 2.0
"""Surplus of a move that was never tried: nine in ten of the best moves have less."""


class Book(NamedTuple):
    """What is known of moves: [merge or delete, first state, second state]."""

    surplus: NDArray[np.float64]
    """Exact less local gain when last tried."""
    tried: NDArray[np.int64]
    """Step in which it was last tried."""
    step: NDArray[np.int64]
    todo: NDArray[np.int64]
    """Moves to be tried, one a row."""


class Trial(NamedTuple):
    """Room to try moves in, and the narratives to try them on."""

    model: Model
    way: Way
    narratives: passes.Narratives
    log_prob: NDArray[np.float64]


@jit
def _compile(model, scoring, way, states):
    """The MAP parameters of the counts, as the inference kernels want them."""
    order, place = way.order, way.place
    events = model.emission.shape[1]
    edges = 0
    for at in range(states):
        edges += model.degree[order[at]]
    in_first = np.zeros(states + 1, np.int64)
    in_source = np.empty(edges, np.uint32)
    in_weight = np.empty(edges)
    loop = np.zeros(states)
    elision = np.zeros(states)
    likelihood = np.zeros((states, events))
    found = 0
    for at in range(states):
        k = order[at]
        in_first[at] = found
        for w in range(model.predecessors.shape[1]):
            word = model.predecessors[k, w]
            while word:
                j = w * WORD + lowest(word)
                word &= word - 1
                if j == k:
                    loop[at] = chance(model, scoring, k, k)
                else:
                    in_source[found] = place[j]
                    in_weight[found] = chance(model, scoring, j, k)
                    found += 1
        if k > 1:
            elision[at] = silence(model, scoring, k)
            total = model.told[k] + scoring.events
            scale = (1.0 - elision[at]) / total if total > 0.0 else 0.0
            for o in range(events):
                likelihood[at, o] = (model.emission[k, o] + scoring.event[o]) * scale
    in_first[states] = found
    # Only the forward pass is run: the edges by source are never looked at.
    return passes.Model(
        in_first, in_source, in_weight, in_first, in_source, in_weight, loop, elision, likelihood
    )


@jit
def log_likelihood(model, scoring, way, narratives, log_prob):
    """Log-likelihood of the narratives under the MAP parameters of the counts."""
    states = topological(model, way)
    compiled = _compile(model, scoring, way, states)
    passes.log_prob(compiled, narratives, 0, log_prob.shape[0], log_prob)
    total = 0.0
    for s in range(log_prob.shape[0]):
        total += narratives.weight[s] * log_prob[s]
    return total


@jit
def _copy(source, target):
    target.alive[:] = source.alive
    target.transition[:] = source.transition
    target.successors[:] = source.successors
    target.predecessors[:] = source.predecessors
    target.degree[:] = source.degree
    target.leaving[:] = source.leaving
    target.emission[:] = source.emission
    target.told[:] = source.told
    target.silent[:] = source.silent


@jit
def structure_cost(model, scoring):
    """What the states and edges cost."""
    states = 0
    edges = 0
    for k in range(model.alive.shape[0]):
        if model.alive[k]:
            edges += model.degree[k]
            if k > 1:
                states += 1
    return scoring.state_cost * states + scoring.edge_cost * edges


@jit
def exact_score(search, trial):
    """Log-likelihood less the cost of states and edges, the constraints aside."""
    value = log_likelihood(
        search.model, search.scoring, trial.way, trial.narratives, trial.log_prob
    )
    return value - structure_cost(search.model, search.scoring)


@jit
def try_move(search, trial, kind, first, second):
    """The exact score after a move, the constraints aside."""
    _copy(search.model, trial.model)
    if kind == MERGE:
        merge_counts(trial.model, first, second)
    else:
        delete_counts(trial.model, search.scoring, search.before, search.way, first, second)
    value = log_likelihood(trial.model, search.scoring, trial.way, trial.narratives, trial.log_prob)
    return value - structure_cost(trial.model, search.scoring)


@jit
def _list_all(search, todo):
    """List every move that can be made; return how many."""
    model, _, _, after, before, _, _, _, deletions = search
    size = model.alive.shape[0]
    found = 0
    for p in range(2, size):
        if model.alive[p]:
            for q in range(p + 1, size):
                if model.alive[q] and merge_allowed(model, after, before, p, q):
                    todo[found, 0], todo[found, 1], todo[found, 2] = MERGE, p, q
                    found += 1
    for s in range(size):
        for e in range(size):
            if s != e and has(model.successors[s], e) and deletions[s, e] > -math.inf:
                todo[found, 0], todo[found, 1], todo[found, 2] = DELETE, s, e
                found += 1
    return found


@jit
def _most_promising(search, book, step):
    """The move with the largest expected gain: local gain and the surplus it had when last tried.

    What was not tried in this step is given a margin: it may have become better since.
    """
    model, _, _, after, before, rules, _, merges, deletions = search
    size = model.alive.shape[0]
    kind, first, second, best = MERGE, 0, 0, -math.inf
    for p in range(2, size):
        if not model.alive[p]:
            continue
        for q in range(p + 1, size):
            if not model.alive[q]:
                continue
            gain = merges[p, q] + book.surplus[MERGE, p, q]
            if book.tried[MERGE, p, q] != step:
                gain += MARGIN
            if gain <= best + TIE or not merge_allowed(model, after, before, p, q):
                continue
            if rules.cost > 0.0:
                gain -= rules.cost * merge_violations(model, rules, p, q)
            if gain > best + TIE:
                kind, first, second, best = MERGE, p, q, gain
    for s in range(size):
        for e in range(size):
            if s != e and has(model.successors[s], e) and deletions[s, e] > -math.inf:
                gain = deletions[s, e] + book.surplus[DELETE, s, e]
                if book.tried[DELETE, s, e] != step:
                    gain += MARGIN
                if gain > best + TIE:
                    kind, first, second, best = DELETE, s, e, gain
    return kind, first, second, best


@jit
def _inherit(search, book, p, q):
    """A merged state's moves are expected to have the larger surplus of its parts'."""
    for x in range(search.model.alive.shape[0]):
        if x in (p, q) or not search.model.alive[x]:
            continue
        here = book.surplus[MERGE, min(p, x), max(p, x)]
        there = book.surplus[MERGE, min(q, x), max(q, x)]
        book.surplus[MERGE, min(p, x), max(p, x)] = max(here, there)
        for a, b, c, d in ((p, x, q, x), (x, p, x, q)):
            book.surplus[DELETE, a, b] = max(book.surplus[DELETE, a, b], book.surplus[DELETE, c, d])


@jit
def run_exact(search, trial, book, score, exhaustive, most_moves, kinds, firsts, seconds, gains):
    """Make the best move again and again; return how many were made.

    ``score`` is an array of one: the exact score, the constraints aside. All trials go through one
    call, because what is compiled there is large.
    """
    for made in range(most_moves):
        step = book.step[0]
        pending = _list_all(search, book.todo) if exhaustive else 0
        while True:
            for entry in range(pending):
                kind, first, second = book.todo[entry]
                gain = try_move(search, trial, kind, first, second) - score[0]
                local = search.merge_gain if kind == MERGE else search.delete_gain
                book.surplus[kind, first, second] = gain - local[first, second]
                book.tried[kind, first, second] = step
            kind, first, second, gain = _most_promising(search, book, step)
            if gain <= TIE:
                return made
            if book.tried[kind, first, second] == step:
                break
            book.todo[0, 0], book.todo[0, 1], book.todo[0, 2] = kind, first, second
            pending = 1
        local = search.merge_gain if kind == MERGE else search.delete_gain
        score[0] += local[first, second] + book.surplus[kind, first, second]
        if kind == MERGE:
            _inherit(search, book, first, second)
            make_merge(search, first, second)
        else:
            make_deletion(search, first, second)
        kinds[made], firsts[made], seconds[made], gains[made] = kind, first, second, gain
        book.step[0] += 1
    return most_moves
