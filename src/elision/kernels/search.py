"""Compiled greedy search: the best move first, gains kept up to date instead of recomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.kernels.moves import (
    WORD,
    Model,
    Pieces,
    Scoring,
    Way,
    delete_counts,
    delete_gain,
    has,
    lowest,
    merge_allowed,
    merge_counts,
    merge_gain,
    merge_reach,
    piece,
    put,
    refresh_row,
    topological,
)
from elision.kernels.passes import jit

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIE = 1e-9
"""Gains that differ by less are equal; the move with the smaller numbers is made then."""

MERGE, DELETE = 0, 1


class Rules(NamedTuple):
    """Constraints "x never follows y" as sets of events."""

    support: NDArray[np.int64]
    """Events that each state was built from."""
    never: NDArray[np.int64]
    """``never[y]``: events that never follow y."""
    follows: NDArray[np.int64]
    """``follows[y]``: events that the structure lets follow y."""
    above: NDArray[np.int64]
    """Events of the states before each state."""
    below: NDArray[np.int64]
    cost: float


class Search(NamedTuple):
    """All that a search works on."""

    model: Model
    pieces: Pieces
    scoring: Scoring
    after: NDArray[np.int64]
    before: NDArray[np.int64]
    rules: Rules
    way: Way
    merge_gain: NDArray[np.float64]
    delete_gain: NDArray[np.float64]


@jit
def bits(word):
    """Number of bits set."""
    found = 0
    while word:
        word &= word - 1
        found += 1
    return found


@jit
def refresh_reach(model, after, before, way, states):
    """Reachability from nothing, in reverse topological order."""
    after[:] = 0
    before[:] = 0
    for at in range(states - 1, -1, -1):
        j = way.order[at]
        for w in range(after.shape[1]):
            word = model.successors[j, w]
            while word:
                k = w * WORD + lowest(word)
                word &= word - 1
                put(after[j], k)
                if k != j:
                    for v in range(after.shape[1]):
                        after[j, v] |= after[k, v]
    for j in range(model.alive.shape[0]):
        for k in range(model.alive.shape[0]):
            if model.alive[j] and model.alive[k] and has(after[j], k):
                put(before[k], j)


@jit
def refresh_rules(model, after, before, rules):
    """Events above and below each state, from the reachability as it is."""
    rules.above[:] = 0
    rules.below[:] = 0
    for k in range(model.alive.shape[0]):
        if not model.alive[k]:
            continue
        for w in range(after.shape[1]):
            word = before[k, w]
            while word:
                j = w * WORD + lowest(word)
                word &= word - 1
                for v in range(rules.support.shape[1]):
                    rules.above[k, v] |= rules.support[j, v]
            word = after[k, w]
            while word:
                j = w * WORD + lowest(word)
                word &= word - 1
                for v in range(rules.support.shape[1]):
                    rules.below[k, v] |= rules.support[j, v]


@jit
def refresh_follows(model, rules):
    """Which events can follow which, from nothing."""
    rules.follows[:] = 0
    for k in range(model.alive.shape[0]):
        if model.alive[k]:
            _add_follows(rules, rules.support[k], rules.below[k])


@jit
def _add_follows(rules, earlier, later):
    for y in range(rules.never.shape[0]):
        if has(earlier, y):
            for v in range(later.shape[0]):
                rules.follows[y, v] |= later[v]


@jit
def violations(rules):
    """Number of constraints that the structure violates."""
    found = 0
    for y in range(rules.never.shape[0]):
        for v in range(rules.never.shape[1]):
            found += bits(rules.never[y, v] & rules.follows[y, v])
    return found


@jit
def _loops(model, p, q):
    edges = has(model.successors[p], p) or has(model.successors[p], q)
    return edges or has(model.successors[q], p) or has(model.successors[q], q)


@jit
def merge_violations(model, rules, p, q):
    """How many more constraints are violated once p and q are one."""
    looped = _loops(model, p, q)
    found = 0
    for y in range(rules.never.shape[0]):
        earlier = has(rules.above[p], y) or has(rules.above[q], y)
        inside = has(rules.support[p], y) or has(rules.support[q], y)
        if not (earlier or inside):
            continue
        for v in range(rules.never.shape[1]):
            later = rules.below[p, v] | rules.below[q, v]
            if earlier or looped:
                later |= rules.support[p, v] | rules.support[q, v]
            found += bits(rules.never[y, v] & ~rules.follows[y, v] & later)
    return found


@jit
def merge_rules(model, after, before, rules, p):
    """Update the rules after another state was merged into p."""
    refresh_rules(model, after, before, rules)
    around = rules.below[p] | rules.support[p]
    _add_follows(rules, rules.above[p], around)
    _add_follows(rules, rules.support[p], rules.below[p])


@jit
def start_search(search):
    """Compute everything that the search then keeps up to date."""
    model, pieces, scoring, after, before, rules, way, merges, deletions = search
    size = model.alive.shape[0]
    states = topological(model, way)
    refresh_reach(model, after, before, way, states)
    refresh_rules(model, after, before, rules)
    refresh_follows(model, rules)
    for j in range(size):
        if model.alive[j]:
            refresh_row(model, pieces, scoring, j)
    for p in range(2, size):
        if model.alive[p]:
            for q in range(p + 1, size):
                if model.alive[q]:
                    merges[p, q] = merge_gain(model, pieces, scoring, p, q)
    for s in range(size):
        for e in range(size):
            if s != e and has(model.successors[s], e):
                deletions[s, e] = delete_gain(model, pieces, scoring, before, way, s, e)


@jit
def best_move(search):
    """The move with the largest gain: its kind, states and gain (0 if none gains anything)."""
    model, _, _, after, before, rules, _, merges, deletions = search
    size = model.alive.shape[0]
    kind, first, second, best = MERGE, 0, 0, 0.0
    for p in range(2, size):
        if not model.alive[p]:
            continue
        for q in range(p + 1, size):
            gain = merges[p, q]
            if gain <= best + TIE or not model.alive[q]:
                continue
            if not merge_allowed(model, after, before, p, q):
                continue
            if rules.cost > 0.0:
                gain -= rules.cost * merge_violations(model, rules, p, q)
            if gain > best + TIE:
                kind, first, second, best = MERGE, p, q, gain
    for s in range(size):
        for e in range(size):
            if has(model.successors[s], e) and s != e and deletions[s, e] > best + TIE:
                kind, first, second, best = DELETE, s, e, deletions[s, e]
    return kind, first, second, best


@jit
def _refresh_pair(search, p, q):
    if p > 1 and q > 1 and p != q:
        low, high = min(p, q), max(p, q)
        search.merge_gain[low, high] = merge_gain(
            search.model, search.pieces, search.scoring, low, high
        )


@jit
def _members(words, members):
    """Write the states of a set; return how many."""
    found = 0
    for w in range(words.shape[0]):
        word = words[w]
        while word:
            members[found] = w * WORD + lowest(word)
            found += 1
            word &= word - 1
    return found


@jit
def _refresh_among(search, words, members):
    found = _members(words, members)
    for a in range(found):
        for b in range(a + 1, found):
            _refresh_pair(search, members[a], members[b])


@jit
def _refresh_gains(search, changed, end):
    """Recompute the gains that depend on ``changed`` rows or on edges to ``end``."""
    model, pieces, scoring, after, before, _, way, _, deletions = search
    size = model.alive.shape[0]
    members = np.empty(size, np.int64)
    for k in range(size):
        if not has(changed, k):
            continue
        for x in range(2, size):
            if model.alive[x]:
                _refresh_pair(search, k, x)
        _refresh_among(search, model.successors[k], members)
    if end >= 0:
        _refresh_among(search, model.predecessors[end], members)
    for s in range(size):
        found = _members(model.successors[s], members)
        for at in range(found):
            e = members[at]
            if s == e:
                continue
            affected = e == end or has(changed, s)
            for w in range(changed.shape[0]):
                affected |= after[s, w] & before[e, w] & changed[w] != 0
            if affected:
                deletions[s, e] = delete_gain(model, pieces, scoring, before, way, s, e)


@jit
def make_merge(search, p, q):
    """Merge q into p and bring everything up to date."""
    model, pieces, scoring, after, before, rules, way, _, _ = search
    changed = model.predecessors[p] & model.predecessors[q]
    for k in (p, q):
        changed[k // WORD] &= ~(1 << (k % WORD))
    merge_counts(model, p, q)
    merge_reach(model, after, before, p, q)
    rules.support[p] |= rules.support[q]
    rules.support[q] = 0
    if rules.cost > 0.0:
        merge_rules(model, after, before, rules, p)
    topological(model, way)
    refresh_row(model, pieces, scoring, p)
    members = np.empty(model.alive.shape[0], np.int64)
    found = _members(model.predecessors[p], members)
    for at in range(found):
        j = members[at]
        pieces.edge[j, p] = piece(scoring.kind, model.transition[j, p], scoring.transition)
        pieces.leaving[j] = piece(
            scoring.kind, model.leaving[j], scoring.transition * model.degree[j]
        )
    put(changed, p)
    _refresh_gains(search, changed, p)


@jit
def make_deletion(search, s, e):
    """Delete s -> e and bring everything up to date; reachability stays, by the ways round."""
    model, pieces, scoring, _, before, _, way, _, _ = search
    found = delete_counts(model, scoring, before, way, s, e)
    changed = np.zeros(model.successors.shape[1], np.int64)
    put(changed, s)
    for entry in range(found):
        put(changed, way.source[entry])
    for j in range(model.alive.shape[0]):
        if has(changed, j):
            refresh_row(model, pieces, scoring, j)
    topological(model, way)
    _refresh_gains(search, changed, -1)
    # s is no longer a predecessor that e shares with its former siblings.
    members = np.empty(model.alive.shape[0], np.int64)
    for at in range(_members(model.successors[s], members)):
        _refresh_pair(search, e, members[at])


@jit
def run(search, most_moves, kinds, firsts, seconds, gains):
    """Make the best move again and again; log the moves and return how many were made."""
    for made in range(most_moves):
        kind, first, second, gain = best_move(search)
        if gain <= TIE:
            return made
        if kind == MERGE:
            make_merge(search, first, second)
        else:
            make_deletion(search, first, second)
        kinds[made] = kind
        firsts[made] = first
        seconds[made] = second
        gains[made] = gain
    return most_moves
