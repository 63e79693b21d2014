"""Gaps of a log as it was recorded, and those that its events would leave, were they left out.

Tables of counts are those of `elision.kernels.repairing`. Whole traces around a gap are known by
two numbers, that of what stands before it and that of what stands behind it: nodes of two trees.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from elision.kernels.repairing import (
    GAPS,
    HIDDEN,
    LEVELS,
    TOLD,
    context_key,
    count_of,
    enlarged,
    entry_key,
    first_and_last,
    raised,
    slot,
    state_of,
    without,
)


@nb.njit(cache=True)
def _node(nodes, numbers, used, parent, event, side, base, adding):
    """Return the number of what an event makes of a beginning or an end; -1 if there is none."""
    if parent < 0:
        return -1
    key = (nb.uint64(parent) * nb.uint64(base) + nb.uint64(event)) * nb.uint64(2)
    key += nb.uint64(side) + nb.uint64(1)
    at = slot(nodes, key)
    if nodes[at] == 0:
        if not adding:
            return -1
        nodes[at] = key
        numbers[at] = used
    return numbers[at]


@nb.njit(cache=True)
def around(nodes, numbers, used, starts, traces, base, adding):
    """Number what stands before and behind each gap; -1 where it was never added.

    Returns
    -------
    nodes, numbers, used
        The table of nodes, with the new ones if ``adding``; 0 is nothing at all.
    before, behind
        By place in ``traces`` of the event before the gap.
    """
    before, behind = np.full(len(traces), -1), np.full(len(traces), -1)
    for number in range(len(starts) - 1):
        start, end = starts[number] + 1, starts[number + 1] - 3
        while adding and 2 * (used + 2 * (end - start)) > len(nodes):
            nodes, numbers = enlarged(nodes, numbers)
        before[start] = 0
        for at in range(start + 1, end + 1):
            here = _node(nodes, numbers, used, before[at - 1], traces[at], 0, base, adding)
            used += here == used
            before[at] = here
        behind[end] = 0
        for at in range(end - 1, start - 1, -1):
            here = _node(nodes, numbers, used, behind[at + 1], traces[at + 1], 1, base, adding)
            used += here == used
            behind[at] = here
    return nodes, numbers, used, before, behind


@nb.njit(cache=True)
def whole_key(before, behind, used, event, base):
    """Key of an event left out of a whole trace, or of the gap itself: event ``base``."""
    key = nb.uint64(before) * nb.uint64(used) + nb.uint64(behind)
    return key * nb.uint64(base + 1) + nb.uint64(event) + nb.uint64(1)


@nb.njit(cache=True)
def count_left_out(keys, counts, used, starts, traces, base):
    """Count for each event the gap that it would leave, at all levels; return the table."""
    first, last = np.empty(base, np.int64), np.full(base, -1)
    different = np.empty(base, np.int64)
    window = np.empty(4, np.int64)
    for number in range(len(starts) - 1):
        trace = traces[starts[number] : starts[number + 1]]
        while 2 * (used + LEVELS * len(trace)) > len(keys):
            keys, counts = enlarged(keys, counts)
        if len(trace) < 6:
            continue  # without its only event it would not be in the log
        found = first_and_last(trace, first, last, different)
        for at in range(2, len(trace) - 2):
            event = trace[at]
            state = without(trace, at, first, last, window)
            for level in range(LEVELS):
                context = context_key(window, 0, level, base)
                key = entry_key(context, HIDDEN, event, state, base)
                used += raised(keys, counts, key, 1) == 1
        for k in range(found):
            last[different[k]] = -1
    return keys, counts, used


@nb.njit(cache=True)
def count_whole(starts, traces, before, behind, nodes, base):
    """Count gaps in, and events left out of, whole traces; return the table."""
    keys, counts, used = np.zeros(1024, np.uint64), np.zeros(1024, np.int64), 0
    for number in range(len(starts) - 1):
        start, end = starts[number] + 1, starts[number + 1] - 3
        while 2 * (used + 2 * (end - start) + 1) > len(keys):
            keys, counts = enlarged(keys, counts)
        for at in range(start, end + 1):
            key = whole_key(before[at], behind[at], nodes, base, base)
            used += raised(keys, counts, key, 1) == 1
            if at < end and start + 1 < end:  # else it would not be in the log
                key = whole_key(before[at], behind[at + 1], nodes, traces[at + 1], base)
                used += raised(keys, counts, key, 1) == 1
    return keys, counts


@nb.njit(cache=True)
def shrunk(left, gaps, odds, chance, strength):
    """P(event was left out | gap of a context), given the chance of the narrower contexts.

    Of ``left`` events that would leave such a gap, and ``strength`` more of the narrower contexts,
    odds times as many were left out; all other ``gaps`` lack nothing.
    """
    told = chance / (chance + odds)
    missing = odds * (left + strength * told)
    if missing == 0.0:
        return 0.0
    rest = max(gaps + strength * (1.0 - told) - missing, 0.0)
    return missing / (missing + rest)


@nb.njit(cache=True)
def _backed_off(keys, counts, trace, gap, level, event, state, odds, chance, strength, base):
    context = context_key(trace, gap, level, base)
    gaps = count_of(keys, counts, entry_key(context, GAPS, 0, 0, base))
    if state > 0:
        gaps = count_of(keys, counts, entry_key(context, TOLD, event, state, base))
    elif gaps > 0:
        for told in range(1, 4):
            gaps -= count_of(keys, counts, entry_key(context, TOLD, event, told, base))
    left = count_of(keys, counts, entry_key(context, HIDDEN, event, state, base))
    return shrunk(left, gaps, odds, chance, strength)


@nb.njit(cache=True)
def _chance(keys, counts, trace, gap, event, state, odds, strength, base):
    """P(event was left out | neighbours of a gap), from the narrowest context to the widest."""
    narrow = _backed_off(keys, counts, trace, gap, 0, event, state, odds, 0.0, strength, base)
    right = _backed_off(keys, counts, trace, gap, 1, event, state, odds, narrow, strength, base)
    left = _backed_off(keys, counts, trace, gap, 2, event, state, odds, narrow, strength, base)
    middle = 0.5 * (right + left)
    return _backed_off(keys, counts, trace, gap, 3, event, state, odds, middle, strength, base)


@nb.njit(cache=True)
def _in_whole(keys, counts, before, behind, nodes, event, odds, chance, strength, base):
    """P(event was left out | all that stands before and behind), given that by its neighbours."""
    if before < 0 or behind < 0:
        return chance
    gaps = count_of(keys, counts, whole_key(before, behind, nodes, base, base))
    left = count_of(keys, counts, whole_key(before, behind, nodes, event, base))
    return shrunk(left, gaps, odds, chance, strength)


@nb.njit(cache=True)
def left_out_chances(
    keys,
    counts,
    whole_keys,
    whole_counts,
    nodes,
    starts,
    traces,
    before,
    behind,
    numbers,
    gaps,
    events,
    odds,
    strength,
    base,
):
    """P(event was left out of a gap) for entries of trace, gap and event, by trace."""
    first, last = np.empty(base, np.int64), np.full(base, -1)
    different = np.empty(base, np.int64)
    found, current = 0, -1
    chances = np.zeros(len(numbers))
    for k in range(len(numbers)):
        number, gap, event = numbers[k], gaps[k], events[k]
        trace = traces[starts[number] : starts[number + 1]]
        if number != current:
            for other in range(found):
                last[different[other]] = -1
            found, current = first_and_last(trace, first, last, different), number
        one = odds[event]
        if one == 0.0:
            continue
        state = state_of(event, gap, first, last)
        chance = _chance(keys, counts, trace, gap, event, state, one, strength, base)
        at = starts[number] + 1 + gap
        chances[k] = _in_whole(
            *(whole_keys, whole_counts, before[at], behind[at], nodes, event, one),
            *(chance, strength, base),
        )
    return chances


@nb.njit(cache=True)
def told_chances(
    keys,
    counts,
    whole_keys,
    whole_counts,
    nodes,
    starts,
    traces,
    before,
    behind,
    odds,
    strength,
    base,
):
    """P(event was left out) for each told event, were it taken out, by place in ``traces``.

    It is 0 at starts and ends, and for an only event: nothing would be left.
    """
    first, last = np.empty(base, np.int64), np.full(base, -1)
    different = np.empty(base, np.int64)
    window = np.empty(4, np.int64)
    chances = np.zeros(len(traces))
    for number in range(len(starts) - 1):
        trace = traces[starts[number] : starts[number + 1]]
        if len(trace) < 6:
            continue
        found = first_and_last(trace, first, last, different)
        for at in range(2, len(trace) - 2):
            event = trace[at]
            one = odds[event]
            if one == 0.0:
                continue
            state = without(trace, at, first, last, window)
            chance = _chance(keys, counts, window, 0, event, state, one, strength, base)
            here = starts[number] + at
            chances[here] = _in_whole(
                *(whole_keys, whole_counts, before[here - 1], behind[here], nodes, event, one),
                *(chance, strength, base),
            )
        for k in range(found):
            last[different[k]] = -1
    return chances
