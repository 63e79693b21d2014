"""The compiled loops of the telling model: arrays in, arrays out.

Symbols follow ``docs/formulas.md``. Of one chain, with V events, the start and the end both number
V, and the next event e after the events s_1 .. s_t has the logit

    z(e) = after[s_t, e] + place[t, e] + sum_i fade^(t-i) memory[s_i, e]
           + (total + average / n) * sum over the n different events d told of told[d, e]
           + again if e is told + history[last few of s, e]
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from elision.kernels.passes import jit
from elision.kernels.plain_tellings import LONGEST_HISTORY


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
    total: float
    average: float
    keys: Any
    singles: int
    history: Any


class Powers(NamedTuple):
    """Exponentials of a chain's tables.

    ``memory[k]`` = exp(fade^k memory), ``told[n]`` = exp(told) where n + 1 different events are
    told, ``after`` = exp(after) without the start's row.
    """

    memory: Any
    told: Any
    after: Any


SMALLEST_SUM, LARGEST_SUM = 1e-250, 1e250
"""Sums of products outside of these may have lost what matters."""

LARGEST_POWER = 700.0
"""Exponents are cut here, short of overflow: such sums are out of the range above."""


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
    return tables.total + tables.average / max(count, 1)


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
def insertions(tables, powers, events, low, high, result):
    """By how much each event x, put before the place i, changes the log-probability of all.

    ``result[i - low, x]`` for the places low..high; the place n is the end.
    """
    symbols = tables.after.shape[0]
    length = events.shape[0]
    remembered = np.zeros(symbols)
    known = np.zeros(symbols)
    seen = np.zeros(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    z = np.empty(symbols)
    base = np.zeros(length + 1)
    count = 0
    for t in range(length + 1):
        if t >= low:
            _logits(tables, events, t, remembered, known, seen, count, recent, z)
            base[t] = z[events[t] if t < length else symbols - 1] - _log_sum(z)
        if t < length:
            count += _tell(tables, events[t], remembered, known, seen)
    remembered[:] = 0.0
    known[:] = 0.0
    seen[:] = False
    count = 0
    for i in range(high + 1):
        if i >= low:
            _insert_at(
                tables, powers, events, i, remembered, known, seen, count, base, recent, z,
                result[i - low],
            )  # fmt: skip
        if i < length:
            count += _tell(tables, events[i], remembered, known, seen)


@jit
def insert_each(tables, powers, events, offset, places, result):
    """For many narratives the row of `insertions` of one place each."""
    for s in range(places.shape[0]):
        told = events[offset[s] : offset[s + 1]]
        insertions(tables, powers, told, places[s], places[s], result[s : s + 1])


@jit
def _insert_at(
    tables, powers, events, i, remembered, known, seen, count, base, recent, z, result
):  # fmt: skip
    """One row of `insertions`.

    With x told, the step t has the logits common[e] + fade^k memory[x, e] + told[x, e] * share,
    where k counts the events since. The sum of their exponentials over e is a product of the three
    exponentials, two of which are kept in ``powers``: no exponential has to be taken for each x.
    """
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
    fresh_logit = np.empty(symbols)
    stale_logit = np.empty(symbols)
    fresh = np.empty(symbols)
    stale = np.empty(symbols)
    again = math.exp(min(tables.again, LARGEST_POWER)) - 1.0
    strength = 1.0
    for t in range(i, length + 1):
        since = t - i
        following = events[t] if t < length else size
        place = tables.place[min(t + 1, tables.place.shape[0] - 1)]
        for e in range(symbols):
            common[e] = place[e] + faded[e]
            if seen[e]:
                common[e] += tables.again
        if since:
            row = tables.after[events[t - 1]]
            for e in range(symbols):
                common[e] += row[e]
        near = since < LONGEST_HISTORY  # else x is too long ago for the last few events
        if not near:
            _add_history(tables, events, t, -1, 0, recent, common)
        share_fresh, share_stale = _diluted(tables, count + 1), _diluted(tables, count)
        largest_fresh = _exponentials(common, share_fresh, known, fresh_logit, fresh)
        largest_stale = _exponentials(common, share_stale, known, stale_logit, stale)
        kept = since < powers.memory.shape[0] and count < powers.told.shape[0]
        for x in range(size):
            row = -1
            if near and tables.history.shape[0] > 0:
                reach = _recent(events, t, i, x, size, recent)
                row = _history_row(tables, recent, reach)
            total = 0.0
            if kept and row < 0:
                memory = powers.memory[since, x]
                if seen[x]:
                    largest = largest_stale
                    if since:
                        total = _sum_of_two(stale, memory)
                    else:
                        total = _sum_of_three(stale, memory, powers.after[x])
                else:
                    largest = largest_fresh
                    told = powers.told[count, x]
                    own = fresh[x] * memory[x] * told[x]
                    if since:
                        total = _sum_of_three(fresh, memory, told)
                    else:
                        total = _sum_of_four(fresh, memory, told, powers.after[x])
                        own *= powers.after[x, x]
                    total += again * own
            value = stale_logit[following] if seen[x] else fresh_logit[following]
            value += strength * tables.memory[x, following]
            if not seen[x]:
                value += share_fresh * tables.told[x, following]
                if following == x:
                    value += tables.again
            if not since:
                value += tables.after[x, following]
            if SMALLEST_SUM < total < LARGEST_SUM:
                result[x] += value - largest - math.log(total) - base[t]
                continue
            for e in range(symbols):  # a long history, or numbers out of range: one by one
                z[e] = strength * tables.memory[x, e]
                if seen[x]:
                    z[e] += stale_logit[e]
                else:
                    z[e] += fresh_logit[e] + share_fresh * tables.told[x, e]
                if not since:
                    z[e] += tables.after[x, e]
            if not seen[x]:
                z[x] += tables.again
            if row >= 0:
                extra = tables.history[row]
                for e in range(symbols):
                    z[e] += extra[e]
            result[x] += z[following] - _log_sum(z) - base[t]
        if t < length:
            count += _tell(tables, events[t], faded, known, seen)
            strength *= tables.fade


@jit
def _exponentials(common, share, known, logit, result):
    """exp(common + share * known - largest); the largest is returned."""
    largest = -np.inf
    for e in range(common.shape[0]):
        logit[e] = common[e] + share * known[e]
        largest = max(largest, logit[e])
    for e in range(common.shape[0]):
        result[e] = math.exp(logit[e] - largest)
    return largest


@jit
def _sum_of_two(a, b):
    total = 0.0
    for e in range(a.shape[0]):
        total += a[e] * b[e]
    return total


@jit
def _sum_of_three(a, b, c):
    total = 0.0
    for e in range(a.shape[0]):
        total += a[e] * b[e] * c[e]
    return total


@jit
def _sum_of_four(a, b, c, d):
    total = 0.0
    for e in range(a.shape[0]):
        total += a[e] * b[e] * c[e] * d[e]
    return total


@jit
def powers_of(tables, ages, counts):
    """Exponentials that `insertions` needs again and again: see `Powers`."""
    size, symbols = tables.memory.shape
    memory = np.empty((ages, size, symbols))
    told = np.empty((counts, size, symbols))
    strength = 1.0
    for k in range(ages):
        for x in range(size):
            for e in range(symbols):
                memory[k, x, e] = math.exp(min(strength * tables.memory[x, e], LARGEST_POWER))
        strength *= tables.fade
    for n in range(counts):
        share = _diluted(tables, n + 1)
        for x in range(size):
            for e in range(symbols):
                told[n, x, e] = math.exp(min(share * tables.told[x, e], LARGEST_POWER))
    return memory, told, np.exp(np.minimum(tables.after[:size], LARGEST_POWER))


@jit
def _choose(z, size, rng):
    """Draw one of the first ``size`` symbols in proportion to exp(z)."""
    largest = z[0]
    for e in range(1, size):
        largest = max(largest, z[e])
    total = 0.0
    for e in range(size):
        total += math.exp(z[e] - largest)
    wanted = rng.random() * total
    for e in range(size - 1):
        wanted -= math.exp(z[e] - largest)
        if wanted < 0.0:
            return e
    return size - 1


@jit
def draw(tables, told, longest, rng):
    """Go on with a telling by drawing events until it ends."""
    symbols = tables.after.shape[0]
    events = np.empty(max(told.shape[0] + 16, 32), np.int64)
    events[: told.shape[0]] = told
    remembered = np.zeros(symbols)
    known = np.zeros(symbols)
    seen = np.zeros(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    z = np.empty(symbols)
    count = 0
    for t in range(told.shape[0]):
        count += _tell(tables, told[t], remembered, known, seen)
    length = told.shape[0]
    while length < longest:
        _logits(tables, events, length, remembered, known, seen, count, recent, z)
        event = _choose(z, symbols, rng)
        if event == symbols - 1:
            break
        if length == events.shape[0]:
            larger = np.empty(2 * length, np.int64)
            larger[:length] = events
            events = larger
        events[length] = event
        length += 1
        count += _tell(tables, event, remembered, known, seen)
    return events[:length].copy()


@jit
def draw_going_on(tables, length, rng):
    """Draw so many events, none of them the end; and the log-weight of ending just then."""
    symbols = tables.after.shape[0]
    events = np.empty(length, np.int64)
    remembered = np.zeros(symbols)
    known = np.zeros(symbols)
    seen = np.zeros(symbols, np.bool_)
    recent = np.empty(LONGEST_HISTORY, np.int64)
    z = np.empty(symbols)
    count = 0
    weight = 0.0
    for t in range(length):
        _logits(tables, events, t, remembered, known, seen, count, recent, z)
        weight += math.log1p(-math.exp(z[symbols - 1] - _log_sum(z)))
        events[t] = _choose(z, symbols - 1, rng)
        count += _tell(tables, events[t], remembered, known, seen)
    _logits(tables, events, length, remembered, known, seen, count, recent, z)
    return events, weight + z[symbols - 1] - _log_sum(z)
