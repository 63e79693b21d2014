"""Which of two events is told first, whatever else is told; and the order that agrees best."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.checks import check_cells
from elision.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.engine.told_chain import ToldChain

CELLS = 1 << 21
"""Size of one table of pairs that are looked at side by side."""

MOST_UPDATES = 20_000_000_000
"""Multiply-adds, some 20 seconds, that comparing all pairs may take; more are refused."""

STEP_UPDATES = 20_000
"""Multiply-adds that take as long as one step of a loop over states and copies."""

MOST_COMPARED = 1 << 29
"""Pairs that are looked at in all while an order is improved."""

HINT = "order fewer events, and those that come often fewer times"


def precedence(chain: ToldChain, events: NDArray[np.int64], copies: int = 1) -> NDArray[np.float64]:
    """Probability that one event comes before another, given that a telling tells both.

    With arrive[i, j] the expected entries of k while x was told i times and y j times, and
    more[r] the probability that y is told r times more,

        P(c-th x before d-th y, both told) = sum over j < d, k of
            arrive[c-1, j](k) Omega(x|k) more[d-j](k)

    Parameters
    ----------
    chain
        The chain of told events.
    events
        Numbers of the events, distinct.
    copies
        How many times each may be told.

    Returns
    -------
    numpy.ndarray
        (copies, copies, events, events): ``[c, d, x, y]`` for the (c+1)-th x and the (d+1)-th y; a
        half where no telling tells both.
    """
    count = len(events)
    check_work(chain, count, copies)
    first = np.zeros((copies, copies, count, count))
    told = chain.emission[:, events].T
    more = more_told(chain, told, copies if count > 1 else 0)
    pairs = np.array(list(combinations(range(count), 2)), np.int64).reshape(-1, 2)
    size = _at_once(chain, copies)
    for start in range(0, len(pairs), size):
        x, y = pairs[start : start + size].T
        arrive = _arrivals(chain, told[x], told[y], copies)
        for c in range(copies):
            for d in range(copies):
                left = more[d::-1]
                one, other = arrive[c, : d + 1], arrive[: d + 1, c]
                first[c, d, x, y] = np.einsum("jpk,pk,jpk->p", one, told[x], left[:, y])
                first[c, d, y, x] = np.einsum("jpk,pk,jpk->p", other, told[y], left[:, x])
    both = first + first.transpose(1, 0, 3, 2)
    result = np.divide(first, both, out=np.full_like(first, 0.5), where=both > 0)
    for x in range(count):
        result[:, :, x, x] = np.triu(np.ones((copies, copies)), 1) + 0.5 * np.eye(copies)
    return result


def check_work(chain: ToldChain, count: int, copies: int) -> None:
    """Refuse to compare all pairs of very many events, or of events that come very often."""
    often = f" that come up to {copies:,} times" if copies > 1 else ""
    check_cells((count * copies) ** 2, f"pairs of events{often}", HINT)
    pairs = count * (count - 1) // 2
    chunks = -(-pairs // _at_once(chain, copies))
    steps = chunks * copies**2 * (chain.states + copies)
    edges = len(chain.model.in_source) + copies * chain.states
    work = pairs * copies**2 * edges + STEP_UPDATES * steps
    if work > MOST_UPDATES:
        raise InputError(
            f"{pairs:,} pairs of events{often}, compared in a script of {chain.states:,} states:"
            f" {work:.0e} multiply-adds, expected at most {MOST_UPDATES:.0e}",
            hint=HINT,
        )


def _at_once(chain: ToldChain, copies: int) -> int:
    return max(1, CELLS // (copies * copies * chain.states))


def more_told(chain: ToldChain, told: NDArray[np.float64], copies: int) -> NDArray[np.float64]:
    """Return ``[r, x, k]``: probability that x is told r + 1 times or more after k told.

    more[r](j) = sum_k T(k|j) ( Omega(x|k) more[r-1](k) + (1 - Omega(x|k)) more[r](k) )
    """
    model = chain.model
    other = 1.0 - told
    result = np.zeros((copies, *told.shape))
    for r in range(copies):
        fewer = told * (result[r - 1] if r else 1.0)
        for j in range(chain.states - 2, -1, -1):
            edges = slice(model.out_first[j], model.out_first[j + 1])
            target = model.out_target[edges]
            later = fewer[:, target] + other[:, target] * result[r][:, target]
            came = later @ model.out_weight[edges] + model.loop[j] * fewer[:, j]
            result[r, :, j] = came / (1.0 - model.loop[j] * other[:, j])
    return result


def _arrivals(
    chain: ToldChain, x: NDArray[np.float64], y: NDArray[np.float64], copies: int
) -> NDArray[np.float64]:
    """Return ``[i, j, pair, k]``: expected entries of k while x was told i times and y j times.

    The entry's own telling does not count.
    """
    model = chain.model
    other = np.maximum(1.0 - x - y, 0.0)
    arrive = np.zeros((copies, copies, *x.shape))
    visit = np.zeros_like(arrive)
    visit[0, 0, :, 0] = 1.0
    for k in range(1, chain.states - 1):
        stay = model.loop[k]
        edges = slice(model.in_first[k], model.in_first[k + 1])
        came = visit[..., model.in_source[edges]] @ model.in_weight[edges]
        for i in range(copies):
            for j in range(copies):
                one_more = np.zeros(len(x))
                if i:
                    one_more += arrive[i - 1, j, :, k] * x[:, k]
                if j:
                    one_more += arrive[i, j - 1, :, k] * y[:, k]
                here = (came[i, j] + stay * one_more) / (1.0 - stay * other[:, k])
                arrive[i, j, :, k] = here
                visit[i, j, :, k] = here * other[:, k] + one_more
    return arrive


def improved(before: NDArray[np.float64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move single items while that lets more pairs agree, the best move first.

    Parameters
    ----------
    before
        (items, items): probability that one comes before another.
    order
        The items in the order to begin with.
    """
    for _ in range(max(1, MOST_COMPARED // max(len(order), 1) ** 2) if len(order) else 0):
        here = before[np.ix_(order, order)]
        swapped = here.T - here  # what a pair gains if the one of the row comes later
        later = np.cumsum(np.triu(swapped, 1), axis=1)
        earlier = np.cumsum(np.tril(-swapped, -1)[:, ::-1], axis=1)[:, ::-1]
        gain = np.triu(later, 1) + np.tril(earlier, -1)
        item, place = divmod(int(gain.argmax()), len(order))
        if gain[item, place] <= 1e-9:
            break
        order = np.insert(np.delete(order, item), place, order[item])
    return order
