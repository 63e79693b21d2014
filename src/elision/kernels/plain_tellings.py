"""What `_telling_kernels` computes, in numpy alone: for the few first questions of a process.

Loading compiled code takes longer than answering some questions without it. Each function takes a
chain and writes where its compiled twin does; the numbers agree up to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.telling import Chain


class Past(NamedTuple):
    """What a chain knows after some events."""

    remembered: NDArray[np.float64]
    known: NDArray[np.float64]
    seen: NDArray[np.bool_]
    different: int


LONGEST_HISTORY = 4
"""Events that a history goes back at most."""


def nothing(chain: Chain) -> Past:
    """What a chain knows before anything is told."""
    symbols = len(chain.after)
    return Past(np.zeros(symbols), np.zeros(symbols), np.zeros(symbols, bool), 0)


def told_event(chain: Chain, past: Past, event: int) -> Past:
    """What a chain knows after one more event."""
    remembered = chain.fade * past.remembered + chain.memory[event]
    if past.seen[event]:
        return past._replace(remembered=remembered)
    seen = past.seen.copy()
    seen[event] = True
    return Past(remembered, past.known + chain.told[event], seen, past.different + 1)


def _share(chain: Chain, count: int) -> float:
    return chain.total + chain.average / max(count, 1)


def _history(chain: Chain, latest_first: Sequence[int]) -> int:
    """Row of the longest history that ends in these events, -1 if there is none."""
    node = 0
    for event in latest_first[:LONGEST_HISTORY]:
        child = chain.nodes.get(node * len(chain.after) + event)
        if child is None:
            break
        node = child
    return node - chain.singles - 1 if node > chain.singles else -1


def logits(chain: Chain, latest: Sequence[int], t: int, past: Past) -> NDArray[np.float64]:
    """Log-weights of each event, the end last, after t events of which ``latest`` are the last."""
    start = len(chain.memory)
    z = chain.after[latest[-1] if t else start] + chain.place[min(t, len(chain.place) - 1)]
    z = z + past.remembered + _share(chain, past.different) * past.known + chain.again * past.seen
    before = latest[::-1] if t >= LONGEST_HISTORY else [*latest[::-1], start]
    row = _history(chain, before)
    return np.asarray(z + chain.history[row] if row >= 0 else z)


def log_sum(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the sum of exponentials, over the last axis."""
    largest = z.max(axis=-1)
    return np.asarray(largest + np.log(np.exp(z - largest[..., None]).sum(axis=-1)))


def _latest(told: list[int], t: int) -> list[int]:
    return told[max(t - LONGEST_HISTORY, 0) : t]


def step_log_probs(
    chain: Chain,
    events: NDArray[np.int64],
    offset: NDArray[np.int64],
    first: int,
    last: int,
    result: NDArray[np.float64],
) -> None:
    """See `elision.kernels.tellings.step_log_probs`."""
    for s in range(first, last):
        told = events[offset[s] : offset[s + 1]].tolist()
        past = nothing(chain)
        for t, event in enumerate([*told, len(chain.memory)]):
            z = logits(chain, _latest(told, t), t, past)
            result[offset[s] + s + t] = z[event] - log_sum(z)
            if t < len(told):
                past = told_event(chain, past, event)


def next_log_probs(chain: Chain, events: NDArray[np.int64], result: NDArray[np.float64]) -> None:
    """See `elision.kernels.tellings.next_log_probs`."""
    past = nothing(chain)
    told = events.tolist()
    for event in told:
        past = told_event(chain, past, event)
    z = logits(chain, _latest(told, len(told)), len(told), past)
    result[:] = z - log_sum(z)


def insertions(
    chain: Chain, events: NDArray[np.int64], low: int, high: int, result: NDArray[np.float64]
) -> None:
    """See `elision.kernels.tellings.insertions`."""
    told = events.tolist()
    ends = [*told, len(chain.memory)]
    pasts = [nothing(chain)]
    for event in told:
        pasts.append(told_event(chain, pasts[-1], event))
    weights = np.array([logits(chain, _latest(told, t), t, past) for t, past in enumerate(pasts)])
    steps = weights - log_sum(weights)[:, None]
    base = steps[np.arange(len(ends)), ends]
    for i in range(low, high + 1):
        result[i - low] = steps[i, :-1] + _after_insertion(chain, told, i, pasts) - base[i:].sum()


def _after_insertion(
    chain: Chain, told: list[int], i: int, pasts: list[Past]
) -> NDArray[np.float64]:
    """Log-probability of all that follows each event put before the place i."""
    size = len(chain.memory)
    each = np.arange(size)
    faded = chain.fade * pasts[i].remembered
    strength = 1.0
    total = np.zeros(size)
    for t in range(i, len(told) + 1):
        _, known, seen, count = pasts[t]
        place = chain.place[min(t + 1, len(chain.place) - 1)]
        new = ~seen[:-1]
        share = np.where(new, _share(chain, count + 1), _share(chain, count))
        z = place + faded + chain.again * seen + strength * chain.memory
        z += share[:, None] * (known + new[:, None] * chain.told)
        z[each, each] += chain.again * new
        z += chain.after[:-1] if t == i else chain.after[told[t - 1]]
        _add_histories(chain, told, i, t, z)
        following = told[t] if t < len(told) else size
        total += z[:, following] - log_sum(z)
        if t < len(told):
            faded = chain.fade * faded + chain.memory[told[t]]
            strength *= chain.fade
    return total


def _add_histories(chain: Chain, told: list[int], i: int, t: int, z: NDArray[np.float64]) -> None:
    if not len(chain.history):
        return
    since, before = told[i:t][::-1], told[:i][::-1]
    start = len(chain.memory)
    if len(since) >= LONGEST_HISTORY:  # whatever was put in is too long ago
        row = _history(chain, since)
        if row >= 0:
            z += chain.history[row]
        return
    for x in range(len(z)):
        row = _history(chain, [*since, x, *before, start])
        if row >= 0:
            z[x] += chain.history[row]


def insert_each(
    chain: Chain,
    events: NDArray[np.int64],
    offset: NDArray[np.int64],
    places: NDArray[np.int64],
    result: NDArray[np.float64],
) -> None:
    """See `elision.kernels.tellings.insert_each`."""
    for s, place in enumerate(places.tolist()):
        told = events[offset[s] : offset[s + 1]]
        insertions(chain, told, place, place, result[s : s + 1])
