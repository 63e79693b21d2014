"""The compiled loops behind the questions: arrays in, arrays out.

Symbols follow ``docs/formulas.md`` and ``_kernels``; ``model`` and ``log_model`` are those of
inference. Given a narrative, the visits are a Markov chain again: being in j with i events told,
the next entry is that of k, in silence, with the probability T(k|j) e(k) after[i,k] / after[i,j].
"""

from __future__ import annotations

import math

import numpy as np

from elision.kernels.log_passes import _log_add, _log_combine, log_tables
from elision.kernels.passes import _buffers, _combine, _solve, _width, jit

SILENT, AMONG, ITEM = 0, 1, 2
"""How a state is entered: in silence, telling within an open row, or telling the next item."""

SMALLEST_AFTER = 1e-290
"""A state with a smaller scaled B has no share that matters, and 1 / B might overflow."""


@jit
def _later_chances(model, silent_step, share, series, needed, chance, passed):
    """Chance that each event is passed over from a state on, before anything more is told.

    ``silent_step[e]`` is the probability of the silent step along edge e, given the rest;
    ``share[k, x]`` that a silent pass of k stands for x; ``series`` is 1 / (1 - x(k) (1 - share)).
    With passed[k] = share + (1 - share) * chance[k],

    chance[j] = (sum_k silent_step(j -> k) passed[k] + x(j) share[j]) * series[j].

    Only for the states that are ``needed``: those that may be passed from where the row begins.
    """
    _, _, _, out_first, out_target, _, loop, elision, _ = model
    events = share.shape[1]
    for j in range(elision.shape[0] - 2, -1, -1):
        if not needed[j]:
            continue
        found = chance[j]
        _combine(found, silent_step, passed, out_target, out_first[j], out_first[j + 1], events)
        turn = loop[j] * elision[j]
        here = share[j]
        sums = series[j]
        past = passed[j]
        for x in range(events):
            found[x] = (found[x] + turn * here[x]) * sums[x]
            past[x] = here[x] + (1.0 - here[x]) * found[x]


@jit
def unsaid(
    model, narratives, first, last, row_of, share, series, chances, passes, result, doubtful
):
    """Chance that each event is passed over at each place of the narratives first..last.

    Row ``row_of[s] + i`` is the place after i events; ``passes`` are the expected
    silent passes of each state.
    """
    _, _, _, out_first, out_target, out_weight, _, elision, likelihood = model
    states = elision.shape[0]
    buffers = _buffers(narratives, states, first, last)
    weight = np.ones(result.shape[0])
    silent_step = np.empty(out_weight.shape[0])
    silent = np.zeros(states)
    began = np.zeros(states)
    needed = np.zeros(states, np.bool_)
    chance = np.zeros(share.shape)
    passed = np.zeros(share.shape)
    start = first
    while start < last:
        length = narratives.offset[start + 1] - narratives.offset[start]
        width = _width(length, states, last - start)
        _, arrive, after, _, lift, block, active, length = _solve(
            model, narratives, weight, start, width, buffers, result, doubtful
        )
        for i in range(length + 1):
            for lane in range(active[i]):
                row = row_of[start + lane] + i
                began[0] = 1.0 if i == 0 else 0.0
                for k in range(1, states - 1):
                    silent[k] = elision[k] * after[i, k, lane]
                    passes[row, k] = arrive[i, k, lane] * silent[k]
                    if i > 0:
                        told = arrive[i - 1, k, lane] * likelihood[k, block[i - 1, lane]]
                        began[k] = told * (lift[i - 1, lane] * after[i, k, lane])
                    else:
                        began[k] = 0.0
                for k in range(states):
                    needed[k] = began[k] > 0.0
                for j in range(states - 1):
                    if not needed[j]:
                        continue
                    here = after[i, j, lane]
                    share_of = 1.0 / here if here > SMALLEST_AFTER else 0.0
                    for edge in range(out_first[j], out_first[j + 1]):
                        step = out_weight[edge] * silent[out_target[edge]] * share_of
                        silent_step[edge] = step
                        needed[out_target[edge]] |= step > 0.0
                _later_chances(model, silent_step, share, series, needed, chance, passed)
                found = chances[row]
                for k in range(states - 1):
                    if began[k] > 0.0:
                        for x in range(share.shape[1]):
                            found[x] += began[k] * chance[k, x]
        start += width


@jit
def log_unsaid(model, log_model, symbol, first, share, series, chances, passes):
    """The same for one narrative, to the rows from ``first``; return its log-probability."""
    _, _, _, out_first, out_target, out_weight, _, elision, _ = model
    _, arrive, after, _, log_prob = log_tables(model, log_model, symbol)
    if log_prob == -math.inf:
        return log_prob
    states = elision.shape[0]
    silent_step = np.empty(out_weight.shape[0])
    began = np.zeros(states)
    needed = np.zeros(states, np.bool_)
    chance = np.zeros(share.shape)
    passed = np.zeros(share.shape)
    for i in range(symbol.shape[0] + 1):
        began[0] = 1.0 if i == 0 else 0.0
        for k in range(1, states - 1):
            silent = arrive[i, k] + log_model.elision[k] + after[i, k]
            passes[first + i, k] = math.exp(silent - log_prob)
            began[k] = 0.0
            if i > 0:
                told = arrive[i - 1, k] + log_model.likelihood[k, symbol[i - 1]] + after[i, k]
                began[k] = math.exp(told - log_prob)
        for k in range(states):
            needed[k] = began[k] > 0.0
        for j in range(states - 1):
            if not needed[j]:
                continue
            here = after[i, j]
            for edge in range(out_first[j], out_first[j + 1]):
                k = out_target[edge]
                step = log_model.out_weight[edge] + log_model.elision[k] + after[i, k]
                silent_step[edge] = math.exp(step - here) if step > -math.inf else 0.0
                needed[k] |= silent_step[edge] > 0.0
        _later_chances(model, silent_step, share, series, needed, chance, passed)
        for k in range(states - 1):
            if began[k] > 0.0:
                chances[first + i] += began[k] * chance[k]
    return log_prob


@jit
def open_tables(model, log_model, symbol, passing, arrive, after):
    """Log of arrive and after, where row i passes a state with ``passing[i, k]``, not its elision.

    A row that passes e(k) is the lattice's own. One that passes e(k) + sum_x Omega(x|k) is open: at
    this place any number of events may be told.
    """
    end = model.elision.shape[0] - 1
    length = symbol.shape[0]
    visit = np.empty(end + 1)
    enter = np.empty(end + 1)
    arrive[:] = -math.inf
    after[:] = -math.inf
    for i in range(length + 1):
        visit[0] = 0.0 if i == 0 else -math.inf
        for k in range(1, end):
            first, last = model.in_first[k], model.in_first[k + 1]
            came = _log_combine(log_model.in_weight, visit, model.in_source, first, last)
            emitted = -math.inf
            if i > 0:
                emitted = log_model.likelihood[k, symbol[i - 1]] + arrive[i - 1, k]
            series = -math.log1p(-model.loop[k] * passing[i, k])
            silent = math.log(passing[i, k]) if passing[i, k] > 0.0 else -math.inf
            arrive[i, k] = _log_add(came, log_model.loop[k] + emitted) + series
            visit[k] = _log_add(silent + arrive[i, k], emitted)
    for i in range(length, -1, -1):
        enter[end] = 0.0 if i == length else -math.inf
        for k in range(end - 1, -1, -1):
            first, last = model.out_first[k], model.out_first[k + 1]
            left = _log_combine(log_model.out_weight, enter, model.out_target, first, last)
            emitted = -math.inf
            if i < length:
                emitted = log_model.likelihood[k, symbol[i]] + after[i + 1, k]
            series = -math.log1p(-model.loop[k] * passing[i, k])
            silent = math.log(passing[i, k]) if passing[i, k] > 0.0 else -math.inf
            after[i, k] = _log_add(left, log_model.loop[k] + emitted) + series
            enter[k] = _log_add(silent + after[i, k], emitted)


@jit
def fewest_aside(model, log_model, symbol, path, position):
    """Best path that tells all but the fewest events; write its states and their events.

    ``position`` is -1 where a state was silent, and ``path`` is -1 where an event was set aside: no
    state told it. Among paths that set equally few aside the most probable one is taken; telling
    goes before silence, silence before setting aside, and earlier states before later ones. Returns
    the log-probability and the number of steps.
    """
    end = model.elision.shape[0] - 1
    length = symbol.shape[0]
    aside = np.full((length + 1, end + 1), length + 1)
    best = np.full((length + 1, end + 1), -math.inf)
    source = np.zeros((length + 1, end + 1), np.int64)
    how = np.zeros((length + 1, end + 1), np.int64)
    aside[0, 0] = 0
    best[0, 0] = 0.0
    for i in range(length + 1):
        for k in range(end + 1):
            for telling in range(1 if i > 0 and 0 < k < end else 0, -1, -1):
                entry = 0.0 if k == end else log_model.elision[k]
                if telling:
                    entry = log_model.likelihood[k, symbol[i - 1]]
                for edge in range(model.in_first[k], model.in_first[k + 1] + telling):
                    loop = edge == model.in_first[k + 1]
                    j = k if loop else model.in_source[edge]
                    step = log_model.loop[k] if loop else log_model.in_weight[edge]
                    value = best[i - telling, j] + step + entry
                    count = aside[i - telling, j]
                    fewer = count < aside[i, k] or (count == aside[i, k] and value > best[i, k])
                    if value > -math.inf and fewer:
                        aside[i, k], best[i, k], source[i, k] = count, value, j
                        how[i, k] = 1 if telling else 0
            if i > 0 and k < end and best[i - 1, k] > -math.inf:
                count = aside[i - 1, k] + 1
                value = best[i - 1, k]
                if count < aside[i, k] or (count == aside[i, k] and value > best[i, k]):
                    aside[i, k], best[i, k], source[i, k], how[i, k] = count, value, k, 2
    if best[length, end] == -math.inf:
        return -math.inf, 0
    steps = 0
    i, k = length, source[length, end]
    while i > 0 or k != 0:
        path[steps] = -1 if how[i, k] == 2 else k
        position[steps] = i - 1 if how[i, k] else -1
        j = source[i, k]
        if how[i, k]:
            i -= 1
        k = j
        steps += 1
    path[:steps] = path[:steps][::-1].copy()
    position[:steps] = position[:steps][::-1].copy()
    return best[length, end], steps


@jit
def _drawn(weights, events, u):
    """Draw an event with probability proportional to ``weights``; -1 if all are 0."""
    total = 0.0
    for x in range(events):
        total += weights[x]
    if total == 0.0:
        return -1
    chosen, left = -1, u * total
    for x in range(events):
        if weights[x] > 0.0:
            chosen = x
            left -= weights[x]
            if left < 0.0:
                break
    return chosen


@jit
def _grown(array):
    larger = np.empty(2 * array.shape[0], array.dtype)
    larger[: array.shape[0]] = array
    return larger


@jit
def sample(first, target, cumulative, emission, symbol, soft, rng, offset, most):
    """Draw ``len(offset) - 1`` stories from a chain; return state, event and outcome of each entry.

    ``cumulative[i]`` holds for each edge, in order of their source (those of j begin at
    ``first[j]``), the three outcomes of entering its target: sums that begin anew with each source.
    Story s has the entries offset[s]..offset[s + 1]. A silent entry gets the event that the state
    would have told, -1 if it never tells. Every entry takes two random numbers. If there would be
    more than ``most`` entries, drawing ends and the last offset is -1.
    """
    end, events = emission.shape[0] - 1, emission.shape[1]
    state, event = np.empty(1024, np.int64), np.empty(1024, np.int64)
    outcome = np.empty(1024, np.int64)
    size = 0
    offset[0] = 0
    for story in range(offset.shape[0] - 1):
        row, here = 0, 0
        while True:
            choice, last = 3 * first[here], 3 * first[here + 1] - 1
            sums = cumulative[row]
            wanted = rng.random() * sums[last]
            u = rng.random()
            while sums[choice] <= wanted and sums[choice] < sums[last]:
                choice += 1
            here = target[choice // 3]
            if here == end:
                break
            if size == most:
                offset[-1] = -1
                return state[:size], event[:size], outcome[:size]
            if size == state.shape[0]:
                state, event, outcome = _grown(state), _grown(event), _grown(outcome)
            state[size] = here
            outcome[size] = choice % 3
            if choice % 3 != ITEM:
                event[size] = _drawn(emission[here], events, u)
            elif symbol[row] < events:
                event[size] = symbol[row]
            else:
                event[size] = _drawn(emission[here] * soft[symbol[row] - events], events, u)
            if choice % 3 == ITEM:
                row += 1
            size += 1
        offset[story + 1] = size
    return state[:size], event[:size], outcome[:size]
