"""The compiled loops of inference: arrays in, arrays out.

Narratives are processed in blocks of *lanes*: up to `LANES` narratives, longest first, stand side
by side, and every innermost loop runs over lanes, so that it vectorises. After ``i`` events the
first ``active[i]`` lanes are still there (``active`` falls with ``i``), so nothing is padded.

Symbols follow ``docs/formulas.md``. For a state ``k`` and ``i`` events told:

* ``arrive[i, k]``: expected transitions into k,
* ``visit[i, k]``: A_k(i) = elision_k * arrive[i, k] + likelihood_k(o_i) * arrive[i-1, k],
* ``after[i, k]``: B_k(i),
* ``enter[i, k]``: elision_k * B_k(i) + likelihood_k(o_i+1) * B_k(i+1).

``visit`` and ``arrive`` are kept in range by powers of two (exact in floating point), summed up in
``exponent``; ``after`` and ``enter`` carry the same powers and weight / P(narrative), so that
``visit * after`` is a posterior expectation as it stands.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LANES = 64
"""Narratives side by side: eight vectors of eight doubles; wider gains nothing more."""

UNROLLED = 8
"""Lanes in one vector; what is left over would go one at a time."""

WORKSPACE_DOUBLES = 1 << 17
"""Size of one table of a block: long narratives get fewer lanes, to stay in the cache."""

RESCALE_BELOW = 2.0**-120
"""Visits are brought back to order one when they sum to less than this."""

SAFE_LOG_PROB = -600.0
"""Above this log-probability no entry that matters can have left the range of a double."""

LARGEST_AFTER = 1e250
"""A larger scaled B means that paths which matter had forward values near underflow."""

SMALLEST_SUM = 1e-250
"""A smaller sum has lost digits: it is taken for 0, and the narrative is settled in log space."""


class Model(NamedTuple):
    """A script as the loops want it: edges by target and by source, self-loops apart."""

    in_first: NDArray[np.int64]
    in_source: NDArray[np.uint32]
    in_weight: NDArray[np.float64]
    out_first: NDArray[np.int64]
    out_target: NDArray[np.uint32]
    out_weight: NDArray[np.float64]
    loop: NDArray[np.float64]
    elision: NDArray[np.float64]
    likelihood: NDArray[np.float64]


class Narratives(NamedTuple):
    """Packed narratives, longest first: ``symbol[offset[s]:offset[s + 1]]`` is the s-th."""

    symbol: NDArray[np.uint32]
    offset: NDArray[np.int64]
    weight: NDArray[np.float64]


class Tally(NamedTuple):
    """Where expected counts are added, edges in the order of `Model.out_target`."""

    edge: NDArray[np.float64]
    loop: NDArray[np.float64]
    symbol: NDArray[np.float64]
    silence: NDArray[np.float64]


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile, keep the result on disk, and let go of the interpreter lock.

    Sums may be reordered to vectorise, but infinities and NaN keep their meaning.
    """
    compiled: Callable[..., Any] = numba.njit(
        nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
    )(function)
    return compiled


@jit
def _combine(out, weight, rows, index, first, last, lanes):
    """Sum ``weight[e] * rows[index[e]]`` over the edges first..last into ``out``.

    Up to four edges at a time, the odd ones first: most states have few, and are done in one go.
    """
    edge = first + (last - first) % 4
    if edge == first:
        for lane in range(lanes):
            out[lane] = 0.0
    else:
        w0, r0 = weight[first], rows[index[first]]
        if edge == first + 1:
            for lane in range(lanes):
                out[lane] = w0 * r0[lane]
        else:
            w1, r1 = weight[first + 1], rows[index[first + 1]]
            if edge == first + 2:
                for lane in range(lanes):
                    out[lane] = w0 * r0[lane] + w1 * r1[lane]
            else:
                w2, r2 = weight[first + 2], rows[index[first + 2]]
                for lane in range(lanes):
                    out[lane] = (w0 * r0[lane] + w1 * r1[lane]) + w2 * r2[lane]
    while edge < last:
        w0, w1, w2, w3 = weight[edge], weight[edge + 1], weight[edge + 2], weight[edge + 3]
        r0, r1 = rows[index[edge]], rows[index[edge + 1]]
        r2, r3 = rows[index[edge + 2]], rows[index[edge + 3]]
        for lane in range(lanes):
            out[lane] += (w0 * r0[lane] + w1 * r1[lane]) + (w2 * r2[lane] + w3 * r3[lane])
        edge += 4


@jit
def _width(length, states, narratives):
    """How many narratives of this length to put side by side."""
    fitting = WORKSPACE_DOUBLES // ((length + 1) * states)
    return min(narratives, max(1, min(LANES, fitting)))


@jit
def _table(buffer, rows, states, lanes):
    return buffer[: rows * states * lanes].reshape((rows, states, lanes))


@jit
def _lay_out(narratives, first, last, block, active):
    """Transpose narratives first..last to event-major lanes; return the longest one's length."""
    symbol, offset, _ = narratives
    longest = offset[first + 1] - offset[first]
    active[: longest + 2] = 0
    for lane in range(last - first):
        start = offset[first + lane]
        length = offset[first + lane + 1] - start
        for i in range(length):
            block[i, lane] = symbol[start + i]
        for i in range(length + 1):
            active[i] += 1
    return longest


@jit
def _rescale(visit, arrive, norm, exponent, lanes, states):
    """Bring lanes whose visits have become small back to order one."""
    for lane in range(lanes):
        if 0.0 < norm[lane] < RESCALE_BELOW:
            factor = 0.0
            if norm[lane] > SMALLEST_SUM:
                power = math.frexp(norm[lane])[1]
                factor = math.ldexp(1.0, -power)
                exponent[lane] += power
            for k in range(states):
                visit[k, lane] *= factor
                arrive[k, lane] *= factor


@jit
def _forward(model, block, active, length, visit, arrive, exponent, ended):
    """Forward pass of one block; ``visit`` and ``arrive`` hold all rows or just the last two.

    Lanes beyond the active ones, up to a multiple of `UNROLLED`, are carried along: what they hold
    is never read, and a loop over whole vectors is several times faster than one with a rest.
    ``ended[lane]`` becomes P(narrative) / 2 ** exponent[length of the lane, lane].
    """
    in_first, in_source, in_weight, _, _, _, loop, elision, likelihood = model
    end = elision.shape[0] - 1
    rows = visit.shape[0]
    width = visit.shape[2]
    norm = np.empty(width)
    for i in range(length + 1):
        lanes = active[i]
        span = min(width, -(-lanes // UNROLLED) * UNROLLED)
        going_on = active[i + 1]
        here = visit[i % rows]
        came = arrive[i % rows]
        before = arrive[(i + rows - 1) % rows]
        for lane in range(span):
            here[0, lane] = 1.0 if i == 0 else 0.0
            came[0, lane] = 0.0
            norm[lane] = here[0, lane]
        for lane in range(lanes):
            exponent[i, lane] = 0 if i == 0 else exponent[i - 1, lane]
        for k in range(1, end):
            a = here[k]
            c = came[k]
            _combine(c, in_weight, here, in_source, in_first[k], in_first[k + 1], span)
            silent = elision[k]
            stay = loop[k]
            series = 1.0 / (1.0 - stay * silent)
            if i == 0:
                for lane in range(span):
                    c[lane] *= series
                    a[lane] = silent * c[lane]
                    norm[lane] += a[lane]
            else:
                told = block[i - 1]
                b = before[k]
                row = likelihood[k]
                for lane in range(span):
                    emitted = row[told[lane]] * b[lane]
                    total = (c[lane] + stay * emitted) * series
                    c[lane] = total
                    a[lane] = silent * total + emitted
                    norm[lane] += a[lane]
        if going_on < lanes:
            _combine(here[end], in_weight, here, in_source, in_first[end], in_first[end + 1], span)
            for lane in range(going_on, lanes):
                ended[lane] = here[end, lane]
        smallest = 1.0
        for lane in range(going_on):
            smallest = min(smallest, norm[lane])
        if smallest < RESCALE_BELOW:
            _rescale(here, came, norm, exponent[i], going_on, end)


@jit
def _backward(model, block, active, length, exponent, seed, after, enter, lift):
    """Backward pass of one block, scaled by the forward pass and by ``seed`` = weight / ended."""
    _, _, _, out_first, out_target, out_weight, loop, elision, likelihood = model
    end = elision.shape[0] - 1
    for i in range(length, -1, -1):
        lanes = active[i]
        going_on = active[i + 1]
        entry = enter[i]
        for lane in range(going_on):
            entry[end, lane] = 0.0
            lift[i, lane] = math.ldexp(1.0, int(exponent[i, lane] - exponent[i + 1, lane]))
        for lane in range(going_on, lanes):
            entry[end, lane] = seed[lane]
        for k in range(end - 1, -1, -1):
            b = after[i, k]
            g = entry[k]
            _combine(b, out_weight, entry, out_target, out_first[k], out_first[k + 1], lanes)
            silent = elision[k]
            stay = loop[k]
            series = 1.0 / (1.0 - stay * silent)
            if going_on > 0:
                told = block[i]
                later = after[i + 1, k]
                row = likelihood[k]
                up = lift[i]
                for lane in range(going_on):
                    emitted = row[told[lane]] * later[lane] * up[lane]
                    total = (b[lane] + stay * emitted) * series
                    b[lane] = total
                    g[lane] = silent * total + emitted
            for lane in range(going_on, lanes):
                b[lane] *= series
                g[lane] = silent * b[lane]


@jit
def _judge(ended, exponent, active, length, weight, first, log_prob, seed):
    """Log-probability and backward seed of each lane; return whether any needs a closer look."""
    doubtful = False
    for i in range(length + 1):
        for lane in range(active[i + 1], active[i]):
            if ended[lane] > SMALLEST_SUM:
                log_prob[first + lane] = math.log(ended[lane]) + exponent[i, lane] * math.log(2.0)
                seed[lane] = weight[first + lane] / ended[lane]
            else:
                log_prob[first + lane] = -math.inf
                seed[lane] = 0.0
            doubtful |= log_prob[first + lane] < SAFE_LOG_PROB
    return doubtful


@jit
def _withdraw_doubtful(active, length, first, log_prob, weight, after, enter, lift, doubtful):
    """Mark lanes whose tables may have lost paths that matter, and silence them in the tables."""
    end = enter.shape[1] - 1
    for lane in range(active[0]):
        if log_prob[first + lane] >= SAFE_LOG_PROB:
            continue
        last = 0
        while last < length and active[last + 1] > lane:
            last += 1
        largest = LARGEST_AFTER * max(1.0, weight[first + lane])
        lost = log_prob[first + lane] == -math.inf
        for i in range(last + 1):
            # Row i was summed in the scale of the row before it, and lost there what was too small.
            up = 1.0 if i == 0 else lift[i - 1, lane]
            for k in range(end):
                # Written so that an overflow to infinity or NaN counts as lost.
                lost |= not after[i, k, lane] * up <= largest
                lost |= not enter[i, k, lane] * up <= largest
        if lost:
            doubtful[first + lane] = True
            for i in range(last + 1):
                for k in range(end):
                    after[i, k, lane] = 0.0
                    enter[i, k, lane] = 0.0
                enter[i, end, lane] = 0.0


@jit
def _count_edges(model, active, length, visit, enter, tally):
    """Add the sum over i and lanes of visit_j(i) * enter_k(i), for every edge and self-loop."""
    _, _, _, out_first, out_target, _, _, _, _ = model
    edge_count, loop_count, _, _ = tally
    end = loop_count.shape[0] - 1
    for i in range(length + 1):
        lanes = active[i]
        entry = enter[i]
        for j in range(0 if i == 0 else 1, end):
            a = visit[i, j]
            edge = out_first[j]
            last = out_first[j + 1]
            while edge + 4 <= last:
                g0, g1 = entry[out_target[edge]], entry[out_target[edge + 1]]
                g2, g3 = entry[out_target[edge + 2]], entry[out_target[edge + 3]]
                s0 = s1 = s2 = s3 = 0.0
                for lane in range(lanes):
                    x = a[lane]
                    s0 += x * g0[lane]
                    s1 += x * g1[lane]
                    s2 += x * g2[lane]
                    s3 += x * g3[lane]
                edge_count[edge] += s0
                edge_count[edge + 1] += s1
                edge_count[edge + 2] += s2
                edge_count[edge + 3] += s3
                edge += 4
            while edge < last:
                g0 = entry[out_target[edge]]
                s0 = 0.0
                for lane in range(lanes):
                    s0 += a[lane] * g0[lane]
                edge_count[edge] += s0
                edge += 1
            g0 = entry[j]
            s0 = 0.0
            for lane in range(lanes):
                s0 += a[lane] * g0[lane]
            loop_count[j] += s0


@jit
def _count_emissions(block, active, length, arrive, after, lift, tally):
    """Add arrive_k(i) * after_k(i) for silence, arrive_k(i) * after_k(i+1) for telling o_i+1."""
    _, _, symbol_count, silence_count = tally
    end = silence_count.shape[0] - 1
    for i in range(length + 1):
        lanes = active[i]
        going_on = active[i + 1]
        for k in range(1, end):
            c = arrive[i, k]
            b = after[i, k]
            total = 0.0
            for lane in range(lanes):
                total += c[lane] * b[lane]
            silence_count[k] += total
            if going_on > 0:
                told = block[i]
                later = after[i + 1, k]
                row = symbol_count[k]
                up = lift[i]
                for lane in range(going_on):
                    row[told[lane]] += c[lane] * later[lane] * up[lane]


@jit
def log_prob(model, narratives, first, last, result):
    """Forward log-probability of the narratives first..last into ``result``."""
    states = model.elision.shape[0]
    longest = narratives.offset[first + 1] - narratives.offset[first]
    width = _width(1, states, last - first)
    room = -(-width // UNROLLED) * UNROLLED
    visit = np.zeros((2, states, room))
    arrive = np.zeros((2, states, room))
    exponent = np.empty((longest + 1, width), np.int64)
    block = np.zeros((longest, room), np.uint32)
    active = np.empty(longest + 2, np.int64)
    ended = np.empty(width)
    seed = np.empty(width)
    start = first
    while start < last:
        stop = min(last, start + width)
        length = _lay_out(narratives, start, stop, block, active)
        _forward(model, block, active, length, visit, arrive, exponent, ended)
        _judge(ended, exponent, active, length, narratives.weight, start, result, seed)
        start = stop


@jit
def _buffers(narratives, states, first, last):
    """Four tables large enough for every block of the narratives first..last."""
    longest = narratives.offset[first + 1] - narratives.offset[first]
    size = max(WORKSPACE_DOUBLES, (longest + 1) * states)
    size = min(size, (longest + 1) * states * min(LANES, last - first))
    return np.empty((4, size))


@jit
def _solve(model, narratives, weight, first, width, buffers, result, doubtful):
    """Both passes over one block of ``width`` narratives; its tables and layout."""
    states = model.elision.shape[0]
    rows = narratives.offset[first + 1] - narratives.offset[first] + 1
    visit = _table(buffers[0], rows, states, width)
    arrive = _table(buffers[1], rows, states, width)
    after = _table(buffers[2], rows, states, width)
    enter = _table(buffers[3], rows, states, width)
    exponent = np.empty((rows, width), np.int64)
    lift = np.empty((rows, width))
    block = np.zeros((rows - 1, width), np.uint32)
    active = np.empty(rows + 1, np.int64)
    ended = np.empty(width)
    seed = np.empty(width)
    length = _lay_out(narratives, first, first + width, block, active)
    _forward(model, block, active, length, visit, arrive, exponent, ended)
    unsure = _judge(ended, exponent, active, length, weight, first, result, seed)
    _backward(model, block, active, length, exponent, seed, after, enter, lift)
    if unsure:
        _withdraw_doubtful(active, length, first, result, weight, after, enter, lift, doubtful)
    return visit, arrive, after, enter, lift, block, active, length


@jit
def expected_counts(model, narratives, first, last, tally, result, doubtful):
    """Add the expected counts of the narratives first..last, without the factors of the edge.

    The caller multiplies edges by T(k|j), silences by elision_k and symbols by their likelihood:
    once, instead of once a narrative. Narratives marked ``doubtful`` are not counted.
    """
    states = model.elision.shape[0]
    weight = narratives.weight
    buffers = _buffers(narratives, states, first, last)
    start = first
    while start < last:
        length = narratives.offset[start + 1] - narratives.offset[start]
        width = _width(length, states, last - start)
        visit, arrive, after, enter, lift, block, active, length = _solve(
            model, narratives, weight, start, width, buffers, result, doubtful
        )
        _count_edges(model, active, length, visit, enter, tally)
        _count_emissions(block, active, length, arrive, after, lift, tally)
        start += width


@jit
def posterior(model, narratives, first, last, row_of, told, entered, visited, result, doubtful):
    """Posterior of each narrative first..last, row ``row_of[s] + i`` for i events told.

    ``told[., k]`` is the probability that k told event i+1, ``entered`` is arrive * after (times
    elision_k: the expected silent passes; times Omega(x|k): an event x put here) and ``visited``
    is visit * after.
    """
    states = model.elision.shape[0]
    buffers = _buffers(narratives, states, first, last)
    weight = np.ones(result.shape[0])
    start = first
    while start < last:
        length = narratives.offset[start + 1] - narratives.offset[start]
        width = _width(length, states, last - start)
        visit, arrive, after, _, lift, block, active, length = _solve(
            model, narratives, weight, start, width, buffers, result, doubtful
        )
        for i in range(length + 1):
            for lane in range(active[i]):
                row = row_of[start + lane] + i
                visited[row, 0] = visit[i, 0, lane] * after[i, 0, lane]
                for k in range(1, states - 1):
                    visited[row, k] = visit[i, k, lane] * after[i, k, lane]
                    entered[row, k] = arrive[i, k, lane] * after[i, k, lane]
                if lane < active[i + 1]:
                    likelihood = model.likelihood[:, block[i, lane]]
                    for k in range(1, states - 1):
                        share = arrive[i, k, lane] * after[i + 1, k, lane] * lift[i, lane]
                        told[row, k] = share * likelihood[k]
        start += width
