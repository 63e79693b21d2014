"""In which order some events happened: whole tellings of them compared.

Up to `MOST_ORDERS` orders are all weighed, each by the probability of the telling that has just
these events. Of more, a beam from left to right finds likely ones, and single events of the best
are moved while that makes it likelier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.ask.engine.checks import whole
from elision.ask.engine.filters import first_filter
from elision.ask.heard import check_top, hear, single
from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

MOST_ORDERS = 720
"""Orders that are all weighed: those of six different events."""

ROUNDS = 20
"""In each, one event of the best order found so far is moved to where it is worth most."""

MOST_MOVED = 250_000
"""Events of all tellings that are tried in a round: with many, only moves over a few places."""

MOST_ORDERED = 5_000_000
"""Events squared, times kinds of events, that are ordered: it takes some 20 seconds."""

MOST_KEPT = 400
"""Of the orders tried, those that count as found: the best."""

MOST_COMPARED = 1 << 29
"""Pairs that are looked at in all while an order is improved."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One order: its log-probability as a telling, and its share of all orders if that is known."""

    events: tuple[str, ...]
    log_prob: float
    share: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Ordering:
    """In which order some events happened.

    Attributes
    ----------
    events
        The order in which most pairs of events are expected to be right, by ``precedence``.
    likeliest
        The most probable tellings of just these events, most probable first.
    precedence
        (events, events), in the order of ``events``: probability that the one of the row comes
        before the one of the column, given that just these events are told; over the orders that
        were found, where there are too many to weigh them all.
    exact
        Whether all orders were weighed.
    """

    events: tuple[str, ...]
    likeliest: tuple[Ranked, ...]
    precedence: NDArray[np.float64]
    exact: bool

    def __str__(self) -> str:
        return "\n".join(self.events)

    def _repr_html_(self) -> str:
        rows: list[list[str | float]] = []
        for place, event in enumerate(self.events):
            last = place + 1 == len(self.events)
            rows.append([event, "" if last else float(self.precedence[place, place + 1])])
        return _html.table(["event", "before the next one"], rows)


def order(
    script: Script,
    events: Iterable[Observation],
    *,
    top: int = 1,
    beam: int = 100,
    unknown: Unknown = "error",
) -> Ordering:
    """Put events into the order in which they probably happened.

    Parameters
    ----------
    script
        The script of the activity.
    events
        The events, in any order; one that happened twice is given twice. An ambiguous event counts
        as its likeliest.
    top
        How many of the most probable orders to return.
    beam
        How many beginnings to follow where there are too many orders to weigh them all.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If no telling of the script tells just these events.

    Examples
    --------
    >>> import elision as el
    >>> found = order(el.examples.doorbell(), {"open door", "hear doorbell", "close door"})
    >>> print(found)
    hear doorbell
    open door
    close door
    >>> round(found.likeliest[0].share, 3)
    1.0
    """
    check_top(top)
    beam = whole(beam, "beam", 1)
    given = sorted(events) if isinstance(events, AbstractSet) else events
    listed = list(given) if isinstance(given, Iterator) else given
    items = single(hear(script, listed, unknown=unknown), "order")
    most = math.isqrt(MOST_ORDERED // max(1, len(script.events)))
    if len(items) > most:
        raise InputError(
            f"{len(items):,} events of {len(script.events):,} kinds to order, expected at most"
            f" {most:,}",
            hint="order a part of them",
        )
    told = _numbers(script, items)
    exact = factorial(len(told)) <= MOST_ORDERS
    found = _all_orders(told) if exact else _improved(script, told, _beam(script, told, beam))
    worth = _worths(script, [told[one] for one in found])
    if worth.max() == -np.inf:
        raise InputError("the script cannot tell these events together, in any order")
    shares = np.exp(worth - worth.max())
    shares /= shares.sum()
    before = _before(found, shares)
    agreed = _agreed(before, found) if exact else improved(before, found[int(worth.argmax())])
    best = [k for k in np.argsort(-shares, kind="stable")[:top].tolist() if worth[k] > -np.inf]
    log_probs = _log_probs(script, [told[found[k]] for k in best]).tolist()
    return Ordering(
        events=tuple(script.events[o] for o in told[agreed].tolist()),
        likeliest=tuple(
            Ranked(
                tuple(script.events[o] for o in told[found[k]].tolist()),
                log_prob,
                float(shares[k]) if exact else None,
            )
            for k, log_prob in zip(best, log_probs, strict=True)
        ),
        precedence=before[np.ix_(agreed, agreed)],
        exact=exact,
    )


def _numbers(script: Script, items: list[Observation]) -> NDArray[np.int64]:
    """The numbers of events, of ambiguous ones those of their likeliest."""
    if None in items:
        raise InputError(
            "order does not take a gap (None)",
            where=f"event {items.index(None)}",
            hint="leave it out, or give weights by event",
        )
    packed = Packer(script.events).pack([items])
    likeliest = [int(row.argmax()) for row in packed.soft if len(row)]
    return np.array([*range(len(script.events)), *likeliest], np.int64)[packed.symbol]


def _log_probs(script: Script, tellings: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    if script.telling is not None:
        return script.telling.log_probs(tellings)
    return script.log_probs([[script.events[o] for o in one.tolist()] for one in tellings])


def _worths(script: Script, tellings: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """What tellings are compared by."""
    if script.telling is not None:
        return script.telling.worths(tellings)
    return _log_probs(script, tellings)


def _agreed(before: NDArray[np.float64], found: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order in which most pairs are expected to be right."""
    first, second = np.triu_indices(len(before), 1)
    orders = np.array(found)
    return found[int(before[orders[:, first], orders[:, second]].sum(axis=1).argmax())]


def _all_orders(told: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Every order of the places, equal events staying in theirs."""
    orders: list[list[int]] = [[]]
    for place in range(len(told)):
        orders = [
            [*one[:at], place, *one[at:]]
            for one in orders
            for at in range(len(one) + 1)
            if all(told[other] != told[place] for other in one[at:])
        ]
    return [np.array(one, np.int64) for one in orders]


def _beam(script: Script, told: NDArray[np.int64], width: int) -> list[NDArray[np.int64]]:
    """Likely orders, from left to right."""
    often = np.bincount(told, minlength=len(script.events))
    begun = [(np.empty(0, np.int64), 0.0, first_filter(script))]
    for _ in range(len(told)):
        grown: list[tuple[float, int, int]] = []
        for row, (one, value, state) in enumerate(begun):
            ahead = state.next_log_probs()
            left = np.flatnonzero(often > np.bincount(one, minlength=len(often)))
            grown += [(value + float(ahead[event]), row, event) for event in left.tolist()]
        grown.sort(key=lambda entry: -entry[0])
        begun = [
            (np.append(begun[row][0], event), value, begun[row][2].tell(event))
            for value, row, event in grown[:width]
        ]
    return [_placed(told, one) for one, _, _ in begun]


def _placed(told: NDArray[np.int64], events: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of places that makes these events, equal events staying in theirs."""
    places = np.empty(len(told), np.int64)
    places[np.argsort(events, kind="stable")] = np.argsort(told, kind="stable")
    return places


def _improved(
    script: Script, told: NDArray[np.int64], found: list[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Move single events of the best order while that makes it worth more."""
    tried = [told[one] for one in found]
    best = tried[int(_worths(script, tried).argmax())]
    reach = max(1, MOST_MOVED // max(1, 2 * len(told) ** 2))
    for _ in range(ROUNDS):
        moved = [
            np.insert(np.delete(best, item), place, best[item])
            for item in range(len(best))
            for place in range(max(0, item - reach), min(len(best), item + reach + 1))
            if place != item
        ]
        worth = _worths(script, [best, *moved])
        kept = np.argsort(-worth[1:], kind="stable")[:MOST_KEPT].tolist()
        tried += [moved[k] for k in kept]
        if worth.argmax() == 0:
            break
        best = moved[kept[0]]
    distinct = dict.fromkeys(tuple(one.tolist()) for one in tried)
    return [_placed(told, np.array(one, np.int64)) for one in distinct]


def _before(found: list[NDArray[np.int64]], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the orders in which one place comes before another."""
    number = len(found[0])
    result = np.zeros((number, number))
    rank = np.empty(number, np.int64)
    for one, share in zip(found, shares.tolist(), strict=True):
        rank[one] = np.arange(number)
        result += share * (rank[:, None] < rank)
    return result


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
