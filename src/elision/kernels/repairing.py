"""Counting and sampling: hash tables of counts, completed traces, and contexts of gaps.

A table of counts is a pair of arrays, keys and counts; key 0 is a free slot, collisions go to the
next one. Keys are made so that no two different things share one.
"""

from __future__ import annotations

import numba as nb
import numpy as np

LONGEST_FILLING = 12
"""Events put into one gap at most."""

ORDER = 3
"""Predecessors that the chance of an event depends on."""

KINDS = 3
"""Kinds of entries of gap tables: gaps of a context, with an event told elsewhere, hidden there."""

GAPS, TOLD, HIDDEN = range(KINDS)
LEVELS = 4
"""Contexts of a gap: one neighbour on each side, and one more behind, before, or both."""


@nb.njit(cache=True)
def slot(keys, key):
    """Return where a key stands, or would stand."""
    mask = len(keys) - 1
    mixed = key * nb.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> nb.uint64(29)
    at = nb.int64(mixed & nb.uint64(mask))
    while keys[at] != 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@nb.njit(cache=True)
def count_of(keys, counts, key):
    """Return the count of a key; 0 if there is none."""
    return counts[slot(keys, key)]


@nb.njit(cache=True)
def raised(keys, counts, key, by):
    """Add to the count of a key, for which there must be room; return what it is now."""
    at = slot(keys, key)
    keys[at] = key
    counts[at] += by
    return counts[at]


@nb.njit(cache=True)
def count_event(keys, counts, followers, trace, at, base, by):
    """Count the event at a place of a completed trace behind its 0 to `ORDER` predecessors.

    followers[s] is how many different events follow the context at slot s.
    """
    context = nb.uint64(1)
    event = nb.uint64(trace[at] + 1)
    for order in range(min(ORDER, at) + 1):
        if order > 0:
            context = context * nb.uint64(base) + nb.uint64(trace[at - order] + 1)
        key = context * nb.uint64(base)
        now = raised(keys, counts, key + event, by)
        raised(keys, counts, key, by)
        if by > 0 and now == by:
            followers[slot(keys, key)] += 1
        elif by < 0 and now == 0:
            followers[slot(keys, key)] -= 1


@nb.njit(cache=True)
def count_all(size, starts, traces, lengths, base):
    """Return a new table of ``size`` slots with the events of all completed traces."""
    keys = np.zeros(size, np.uint64)
    counts, followers = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for number in range(len(lengths)):
        trace = traces[starts[number] : starts[number + 1]]
        for at in range(1, lengths[number]):
            count_event(keys, counts, followers, trace, at, base, 1)
    return keys, counts, followers


@nb.njit(cache=True)
def event_chance(keys, counts, followers, trace, at, base):
    """P(event at a place | predecessors), backing off as Witten and Bell do.

    P(v|c) = (n(cv) + d(c) P(v|shorter c)) / (n(c) + d(c)), with d(c) different followers of c.
    """
    chance = 1.0 / (base - 1)
    context = nb.uint64(1)
    event = nb.uint64(trace[at] + 1)
    for order in range(min(ORDER, at) + 1):
        if order > 0:
            context = context * nb.uint64(base) + nb.uint64(trace[at - order] + 1)
        key = context * nb.uint64(base)
        here = slot(keys, key)
        if counts[here] <= 0:
            break
        different = followers[here]
        chance = (count_of(keys, counts, key + event) + different * chance) / (
            counts[here] + different
        )
    return chance


@nb.njit(cache=True)
def passages(transition, silent):
    """Chances to come from each event to each told one, whatever is left out in between.

    P = T + T S P, with S the chances to be left out; solved by elimination, which needs no pivots
    as S is below 1, and gives the same bits however many threads there are.
    """
    size = len(silent)
    system = -transition * silent
    for row in range(size):
        system[row, row] += 1.0
    found = transition.copy()
    for pivot in range(size):
        scale = 1.0 / system[pivot, pivot]
        system[pivot, pivot:] *= scale
        found[pivot] *= scale
        for row in range(size):
            part = system[row, pivot]
            if row != pivot and part != 0.0:
                system[row, pivot:] -= part * system[pivot, pivot:]
                found[row] -= part * found[pivot]
    return found


@nb.njit(cache=True)
def fill_gap(rng, left, right, transition, silent, passage, filling):
    """Sample what was left out between two told events; return how many events it is.

    By a chain of first order: passage[u, b] is the sum over all fillings of the chance to come from
    u to the told b, so P(v next | u, b told next) = transition[u, v] silent[v] passage[v, b]
    / passage[u, b], and P(b next) = transition[u, b] / passage[u, b].
    """
    here, filled = left, 0
    while filled < LONGEST_FILLING:
        rest = rng.random() * passage[here, right] - transition[here, right]
        if rest < 0:
            break
        chosen = -1
        for event in range(len(silent)):
            part = transition[here, event] * silent[event] * passage[event, right]
            if part > 0:
                chosen = event
                rest -= part
                if rest < 0:
                    break
        if chosen < 0:
            break
        filling[filled] = chosen
        filled += 1
        here = chosen
    return filled


@nb.njit(cache=True)
def _gain(keys, counts, followers, trace, start, told, length, transition, base):
    """Log-chance of a filling and what follows it, by the counts, less that of the proposal."""
    total = 0.0
    for at in range(start, min(length, told + ORDER)):
        total += np.log(event_chance(keys, counts, followers, trace, at, base))
    for at in range(start, told + 1):
        total -= np.log(transition[trace[at - 1], trace[at]])
    return total


@nb.njit(cache=True)
def sweep(
    rng, starts, traces, told, lengths, keys, counts, followers, transition, silent, passage, base
):
    """Sample anew what was left out in each gap of each trace, by Metropolis and Hastings.

    Proposals are those of `fill_gap`; the target is the chain of order `ORDER` with the counts of
    all other traces. Traces stand in rows of their own in ``traces``, with room to grow;
    ``told`` says which of their events were told; first and last events are start and end.
    """
    filling = np.empty(LONGEST_FILLING, np.int64)
    other = np.empty(int(np.max(starts[1:] - starts[:-1])), np.int64)
    for number in range(len(lengths)):
        trace = traces[starts[number] : starts[number + 1]]
        said = told[starts[number] : starts[number + 1]]
        length = lengths[number]
        for at in range(1, length):
            count_event(keys, counts, followers, trace, at, base, -1)
        left = 0
        while left < length - 1:
            right = left + 1
            while not said[right]:
                right += 1
            new = fill_gap(rng, trace[left], trace[right], transition, silent, passage, filling)
            old = right - left - 1
            same = new == old
            for k in range(new):
                same = same and filling[k] == trace[left + 1 + k]
            longer = length + new - old
            if not same and longer <= len(trace):
                other[: left + 1] = trace[: left + 1]
                other[left + 1 : left + 1 + new] = filling[:new]
                other[left + 1 + new : longer] = trace[right:length]
                gain = _gain(
                    keys,
                    counts,
                    followers,
                    other,
                    left + 1,
                    left + 1 + new,
                    longer,
                    transition,
                    base,
                ) - _gain(keys, counts, followers, trace, left + 1, right, length, transition, base)
                if np.log(rng.random()) < gain:
                    said[left + 1 + new : longer] = said[right:length].copy()
                    said[left + 1 : left + 1 + new] = False
                    trace[:longer] = other[:longer]
                    length, right = longer, left + 1 + new
            left = right
        lengths[number] = length
        for at in range(1, length):
            count_event(keys, counts, followers, trace, at, base, 1)


@nb.njit(cache=True)
def pairs(starts, traces, lengths, size):
    """Return how often each event follows each other one directly."""
    found = np.zeros((size, size))
    for number in range(len(lengths)):
        for at in range(starts[number] + 1, starts[number] + lengths[number]):
            found[traces[at - 1], traces[at]] += 1
    return found


@nb.njit(cache=True)
def context_key(trace, gap, level, base):
    """Key of the neighbours of a gap; ``trace`` has two starts in front and two ends behind."""
    at = gap + 1
    key = nb.uint64(trace[at]) * nb.uint64(base) + nb.uint64(trace[at + 1])
    key = key * nb.uint64(base) + nb.uint64(trace[at + 2] if level % 2 == 1 else 0)
    key = key * nb.uint64(base) + nb.uint64(trace[at - 1] if level > 1 else 0)
    return key * nb.uint64(LEVELS) + nb.uint64(level)


@nb.njit(cache=True)
def entry_key(context, kind, event, state, base):
    """Key of an entry of gap tables; never 0."""
    key = context * nb.uint64(KINDS) + nb.uint64(kind)
    key = key * nb.uint64(base) + nb.uint64(event)
    return key * nb.uint64(4) + nb.uint64(state) + nb.uint64(1)


@nb.njit(cache=True)
def enlarged(keys, counts):
    """Return a table with the same counts and twice the room."""
    wider, moved = np.zeros(2 * len(keys), np.uint64), np.zeros(2 * len(keys), np.int64)
    for at in range(len(keys)):
        if keys[at] != 0:
            to = slot(wider, keys[at])
            wider[to] = keys[at]
            moved[to] = counts[at]
    return wider, moved


@nb.njit(cache=True)
def first_and_last(trace, first, last, different):
    """Where each told event stands first and last; return how many different ones there are."""
    found = 0
    for at in range(2, len(trace) - 2):
        event = trace[at]
        if last[event] < 0:
            first[event] = at - 2
            different[found] = event
            found += 1
        last[event] = at - 2
    return found


@nb.njit(cache=True)
def state_of(event, gap, first, last):
    """1 if an event is told before a gap, and 2 more if it is told behind it."""
    if last[event] < 0:
        return 0
    return (first[event] < gap) + 2 * (last[event] >= gap)


@nb.njit(cache=True)
def count_gaps(keys, counts, used, starts, traces, hidden_starts, places, events, base):
    """Count gaps, events told elsewhere, and hidden events, at all levels; return the table.

    starts, traces
        Told events, two starts in front and two ends behind each trace.
    hidden_starts, places, events
        What was hidden from each trace: the gap and the event, by gap.
    """
    first, last = np.empty(base, np.int64), np.full(base, -1)
    different = np.empty(base, np.int64)
    for number in range(len(starts) - 1):
        trace = traces[starts[number] : starts[number + 1]]
        found = first_and_last(trace, first, last, different)
        hidden = hidden_starts[number]
        for gap in range(len(trace) - 3):
            upto = hidden
            while upto < hidden_starts[number + 1] and places[upto] == gap:
                upto += 1
            while 2 * (used + LEVELS * (1 + found + upto - hidden)) > len(keys):
                keys, counts = enlarged(keys, counts)
            for level in range(LEVELS):
                context = context_key(trace, gap, level, base)
                used += raised(keys, counts, entry_key(context, GAPS, 0, 0, base), 1) == 1
                for k in range(found):
                    state = state_of(different[k], gap, first, last)
                    key = entry_key(context, TOLD, different[k], state, base)
                    used += raised(keys, counts, key, 1) == 1
                for k in range(hidden, upto):
                    repeated = False  # twice in one gap counts once
                    for before in range(hidden, k):
                        repeated = repeated or events[before] == events[k]
                    if not repeated:
                        state = state_of(events[k], gap, first, last)
                        key = entry_key(context, HIDDEN, events[k], state, base)
                        used += raised(keys, counts, key, 1) == 1
            hidden = upto
        for k in range(found):
            last[different[k]] = -1
    return keys, counts, used


@nb.njit(cache=True)
def _backed_off(keys, counts, trace, gap, level, event, state, chance, strength, base):
    """P(event was hidden | context of a level), given the chance of the narrower contexts."""
    context = context_key(trace, gap, level, base)
    seen = count_of(keys, counts, entry_key(context, GAPS, 0, 0, base))
    if state > 0:
        seen = count_of(keys, counts, entry_key(context, TOLD, event, state, base))
    elif seen > 0:
        for told in range(1, 4):
            seen -= count_of(keys, counts, entry_key(context, TOLD, event, told, base))
    hidden = count_of(keys, counts, entry_key(context, HIDDEN, event, state, base))
    return (hidden + strength * chance) / (seen + strength)


@nb.njit(cache=True)
def _chance(keys, counts, trace, gap, event, state, strength, base):
    """P(event was hidden | neighbours of a gap), from the narrowest context to the widest."""
    narrow = _backed_off(keys, counts, trace, gap, 0, event, state, 0.0, strength, base)
    behind = _backed_off(keys, counts, trace, gap, 1, event, state, narrow, strength, base)
    before = _backed_off(keys, counts, trace, gap, 2, event, state, narrow, strength, base)
    middle = 0.5 * (behind + before)
    return _backed_off(keys, counts, trace, gap, 3, event, state, middle, strength, base)


@nb.njit(cache=True)
def gap_chances(keys, counts, starts, traces, candidate_starts, candidates, strength, least, base):
    """P(event was hidden in a gap) for each gap and each candidate of its neighbours.

    candidate_starts, candidates
        For each pair of neighbours, left * base + right, the events that were ever hidden there.

    Returns
    -------
    number, gap, event, chance
        Of all that have at least the chance ``least``.
    """
    first, last = np.empty(base, np.int64), np.full(base, -1)
    different = np.empty(base, np.int64)
    size = 0
    for number in range(len(starts) - 1):
        for at in range(starts[number] + 1, starts[number + 1] - 2):
            pair = traces[at] * base + traces[at + 1]
            size += candidate_starts[pair + 1] - candidate_starts[pair]
    numbers, gaps = np.empty(size, np.int64), np.empty(size, np.int64)
    events, chances = np.empty(size, np.int64), np.empty(size, np.float64)
    size = 0
    for number in range(len(starts) - 1):
        trace = traces[starts[number] : starts[number + 1]]
        found = first_and_last(trace, first, last, different)
        for gap in range(len(trace) - 3):
            pair = trace[gap + 1] * base + trace[gap + 2]
            for k in range(candidate_starts[pair], candidate_starts[pair + 1]):
                event = candidates[k]
                state = state_of(event, gap, first, last)
                chance = _chance(keys, counts, trace, gap, event, state, strength, base)
                if chance >= least:
                    numbers[size], gaps[size] = number, gap
                    events[size], chances[size] = event, chance
                    size += 1
        for k in range(found):
            last[different[k]] = -1
    return numbers[:size], gaps[:size], events[:size], chances[:size]
