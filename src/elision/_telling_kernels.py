"""The compiled loops of the telling model: arrays in, arrays out.

Symbols follow ``docs/formulas.md``. Of one chain, with V events, the start and the end both number
V, and the next event e after the events s_1 .. s_t has the logit

    z(e) = after[s_t, e] + place[t, e] + sum_i fade^(t-i) memory[s_i, e]
           + sum over the set of s of told[s, e] + history[last few of s, e]
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from elision._kernels import jit

LONGEST_HISTORY = 4
"""Events that a history goes back at most."""


class Tables(NamedTuple):
    """The arrays of one chain.

    ``keys`` are the sorted edges of the suffix tree of histories, node * (V + 1) + event; the edge
    at index k leads to the node k + 1. The first ``singles`` nodes are histories of one event,
    which ``after`` speaks for; ``history`` has a row for each of the others.
    """

    after: Any
    memory: Any
    told: Any
    place: Any
    fade: float
    again: float
    average: float
    keys: Any
    singles: int
    history: Any


@jit
def _node(keys, key):
    """The node that an edge leads to, or -1."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < keys.shape[0] and keys[low] == key:
        return low + 1
    return -1


@jit
def _history_row(tables, recent, known):
    """Row of the longest history that ends in these events, latest first; -1 if there is none."""
    symbols = tables.after.shape[0]
    node = 0
    for j in range(known):
        child = _node(tables.keys, node * symbols + recent[j])
        if child < 0:
            break
        node = child
    return node - tables.singles - 1 if node > tables.singles else -1


@jit
def _recent(events, t, put, x, start, recent):
    """The latest events before step t, latest first, and the start if it is as near.

    x counts as told just before ``events[put]``; with put < 0 nothing is put. Returns how many.
    """
    count = 0
    i = t - 1
    inserted = put < 0
    while count < LONGEST_HISTORY:
        if not inserted and i < put:
            recent[count] = x
            inserted = True
        elif i >= 0:
            recent[count] = events[i]
            i -= 1
        else:
            recent[count] = start
            return count + 1
        count += 1
    return count


@jit
def _add_history(tables, events, t, put, x, recent, z):
    """Add what the last few events before step t say together."""
    if tables.history.shape[0] == 0:
        return
    known = _recent(events, t, put, x, tables.after.shape[0] - 1, recent)
    row = _history_row(tables, recent, known)
    if row >= 0:
        extra = tables.history[row]
        for e in range(z.shape[0]):
            z[e] += extra[e]


@jit
def _log_sum(z):
    largest = z[0]
    for e in range(1, z.shape[0]):
        largest = max(largest, z[e])
    total = 0.0
    for e in range(z.shape[0]):
        total += math.exp(z[e] - largest)
    return largest + math.log(total)


@jit
def _diluted(tables, count):
    """How much each of so many different events told counts."""
    return 1.0 + tables.average / max(count, 1)


@jit
def _tell(tables, event, remembered, known, seen):
    """Add an event to what is remembered and known; return whether it is new."""
    fade = tables.fade
    row = tables.memory[event]
    for e in range(remembered.shape[0]):
        remembered[e] = fade * remembered[e] + row[e]
    if not seen[event]:
        seen[event] = True
        row = tables.told[event]
        for e in range(known.shape[0]):
            known[e] += row[e]
        return 1
    return 0


@jit
def _logits(tables, events, t, remembered, known, seen, count, recent, z):
    """Logits of what comes after the first t events."""
    last = z.shape[0] - 1
    row = tables.after[last if t == 0 else events[t - 1]]
    place = tables.place[min(t, tables.place.shape[0] - 1)]
    share = _diluted(tables, count)
    for e in range(z.shape[0]):
        z[e] = row[e] + place[e] + remembered[e] + share * known[e]
        if seen[e]:
            z[e] += tables.again
    _add_history(tables, events, t, -1, 0, recent, z)


@jit
def step_log_probs(tables, events, offset, first, last, result):
    """Log-probability of each event given those before it, and of the end, for narratives.

    Narrative s has events[offset[s]:offset[s + 1]] and the results from offset[s] + s on.
    """
    symbols = tables.after.shape[0]
    z = np.empty(symbols)
    remembered = np.empty(symbols)
    known = np.empty(symbols)
    seen = np.empty(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    for s in range(first, last):
        told = events[offset[s] : offset[s + 1]]
        remembered[:] = 0.0
        known[:] = 0.0
        seen[:] = False
        count = 0
        for t in range(told.shape[0] + 1):
            _logits(tables, told, t, remembered, known, seen, count, recent, z)
            following = told[t] if t < told.shape[0] else symbols - 1
            result[offset[s] + s + t] = z[following] - _log_sum(z)
            if t < told.shape[0]:
                count += _tell(tables, told[t], remembered, known, seen)


@jit
def next_log_probs(tables, events, result):
    """Log-probability of each event after all of these, the end last."""
    symbols = tables.after.shape[0]
    remembered = np.zeros(symbols)
    known = np.zeros(symbols)
    seen = np.zeros(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    count = 0
    for t in range(events.shape[0]):
        count += _tell(tables, events[t], remembered, known, seen)
    _logits(tables, events, events.shape[0], remembered, known, seen, count, recent, result)
    total = _log_sum(result)
    for e in range(symbols):
        result[e] -= total


@jit
def insertions(tables, events, low, high, result):
    """By how much each event x, put before the place i, changes the log-probability of all.

    ``result[i - low, x]`` for the places low..high; the place n is the end.
    """
    symbols = tables.after.shape[0]
    size = symbols - 1
    length = events.shape[0]
    remembered = np.zeros(symbols)
    known = np.zeros(symbols)
    seen = np.zeros(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    z = np.empty(symbols)
    base = np.zeros(length + 1)
    count = 0
    for t in range(length + 1):
        _logits(tables, events, t, remembered, known, seen, count, recent, z)
        base[t] = z[events[t] if t < length else size] - _log_sum(z)
        if t < length:
            count += _tell(tables, events[t], remembered, known, seen)
    remembered[:] = 0.0
    known[:] = 0.0
    seen[:] = False
    count = 0
    for i in range(high + 1):
        if i >= low:
            _insert_at(
                tables, events, i, remembered, known, seen, count, base, recent, z, result[i - low]
            )
        if i < length:
            count += _tell(tables, events[i], remembered, known, seen)


@jit
def _insert_at(tables, events, i, remembered, known, seen, count, base, recent, z, result):
    symbols = tables.after.shape[0]
    size = symbols - 1
    length = events.shape[0]
    _logits(tables, events, i, remembered, known, seen, count, recent, z)
    total = _log_sum(z)
    for x in range(size):
        result[x] = z[x] - total
    faded = tables.fade * remembered  # what is remembered of the others, x told after them
    known = known.copy()
    seen = seen.copy()
    common = np.empty(symbols)
    strength = 1.0
    for t in range(i, length + 1):
        following = events[t] if t < length else size
        place = tables.place[min(t + 1, tables.place.shape[0] - 1)]
        fresh, stale = _diluted(tables, count + 1), _diluted(tables, count)
        for e in range(symbols):
            common[e] = place[e] + faded[e]
            if seen[e]:
                common[e] += tables.again
        if t > i:
            row = tables.after[events[t - 1]]
            for e in range(symbols):
                common[e] += row[e]
        near = t - i < LONGEST_HISTORY  # else x is too long ago for the last few events
        if not near:
            _add_history(tables, events, t, -1, 0, recent, common)
        for x in range(size):
            memory = tables.memory[x]
            if seen[x]:
                for e in range(symbols):
                    z[e] = common[e] + strength * memory[e] + stale * known[e]
            else:
                told = tables.told[x]
                for e in range(symbols):
                    z[e] = common[e] + strength * memory[e] + fresh * (known[e] + told[e])
                z[x] += tables.again
            if t == i:
                row = tables.after[x]
                for e in range(symbols):
                    z[e] += row[e]
            if near:
                _add_history(tables, events, t, i, x, recent, z)
            result[x] += z[following] - _log_sum(z) - base[t]
        if t < length:
            count += _tell(tables, events[t], faded, known, seen)
            strength *= tables.fade
