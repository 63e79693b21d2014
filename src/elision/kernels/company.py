"""Counting what else a case shows: signs of the rest of a trace, one event being taken out of it.

Signs are numbered: told at all (the number of the event), told again (``events`` more), two that
follow one another directly once the event in question is taken out (their numbers in ``paired``,
row and column, behind the former; start and end of a case share the number ``pairs``), and last
that there is any rest.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True)
def signs_in_all(events, pairs):
    """Return how many signs there are; the last one is that there is any rest."""
    return 2 * events + (pairs + 1) ** 2 + 1


@nb.njit(cache=True)
def signs_of(trace, event, paired, pairs, seen, number, found):
    """Write the signs of the rest of a trace to ``found``, each once; return how many there are.

    paired
        For each event its number below ``pairs``; -1 if its neighbours are not looked at.
    seen
        For each sign the number of the trace it was last seen in.
    """
    events = len(paired)
    many, before = 0, pairs
    for one in trace:
        if one == event:
            continue
        again = events if seen[one] == number else 0
        many = _add(again + one, seen, number, found, many)
        here = paired[one]
        if before >= 0 and here >= 0:
            many = _add(2 * events + before * (pairs + 1) + here, seen, number, found, many)
        before = here
    if many > 0:
        if before >= 0:
            many = _add(2 * events + before * (pairs + 1) + pairs, seen, number, found, many)
        many = _add(signs_in_all(events, pairs) - 1, seen, number, found, many)
    return many


@nb.njit(cache=True)
def _add(sign, seen, number, found, many):
    if seen[sign] == number:
        return many
    seen[sign] = number
    found[many] = sign
    return many + 1


@nb.njit(cache=True)
def _room(starts):
    """Signs that a trace can have at most."""
    longest = 0
    for number in range(len(starts) - 1):
        longest = max(longest, starts[number + 1] - starts[number])
    return 2 * longest + 2


@nb.njit(cache=True)
def company(starts, traces, event, paired, pairs, inside, least, most):
    """Count how often an event is told in cases with each sign that has enough of them.

    starts, traces
        Told events, one trace after the other.
    inside
        Which traces are looked at.
    least
        Cases that a sign needs.
    most
        An event that is told more often counts as often as this.

    Returns
    -------
    signs
        Numbers of the signs, ascending.
    times
        (signs, most + 1) in how many of the cases with a sign the event is told 0, 1, ... times.
    """
    size = signs_in_all(len(paired), pairs)
    seen, cases = np.full(size, -1), np.zeros(size, np.int64)
    found = np.empty(_room(starts), np.int64)
    for number in range(len(starts) - 1):
        if inside[number]:
            trace = traces[starts[number] : starts[number + 1]]
            for k in range(signs_of(trace, event, paired, pairs, seen, number, found)):
                cases[found[k]] += 1
    signs = np.flatnonzero(cases >= least)
    row = np.full(size, -1)
    row[signs] = np.arange(len(signs))
    times = np.zeros((len(signs), most + 1), np.int64)
    seen[:] = -1
    for number in range(len(starts) - 1):
        if inside[number]:
            trace = traces[starts[number] : starts[number + 1]]
            told = 0
            for one in trace:
                told += one == event
            for k in range(signs_of(trace, event, paired, pairs, seen, number, found)):
                if row[found[k]] >= 0:
                    times[row[found[k]], min(told, most)] += 1
    return signs, times


@nb.njit(cache=True)
def holding(starts, traces, event, paired, pairs, sign):
    """Return which traces show a sign when an event is taken out of them."""
    seen = np.full(signs_in_all(len(paired), pairs), -1)
    found = np.empty(_room(starts), np.int64)
    holds = np.zeros(len(starts) - 1, np.bool_)
    for number in range(len(starts) - 1):
        trace = traces[starts[number] : starts[number + 1]]
        signs_of(trace, event, paired, pairs, seen, number, found)
        holds[number] = seen[sign] == number
    return holds
