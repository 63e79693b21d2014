"""In which order some events happened, by a telling model: whole tellings of them compared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.checks import whole
from elision.ask.engine.precedence import improved
from elision.ask.heard import check_top, hear, single
from elision.ask.order import Ordering, Ranked
from elision.ask.telling.slots import model_of, sketch, softmax
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script
    from elision.values.telling import TellingModel

MOST_ORDERS = 720
"""Orders that are all weighed: those of six different events."""

ROUNDS = 20
"""In each, one event of the best order found so far is moved to where it is worth most."""

MOST_MOVED = 250_000
"""Events of all tellings that are tried in a round: with many, only moves over a few places."""

MOST_ORDERED = 5_000_000
"""Events squared, times kinds of events, that are ordered: it takes some 20 seconds."""

MOST_KEPT = 400
"""Of them, those that count as orders found: the best."""


def order(
    script: Script,
    events: Iterable[Observation],
    *,
    top: int = 1,
    beam: int = 100,
    unknown: Unknown = "error",
) -> Ordering:
    """Put events into the order in which they probably happened, see `elision.ask.order.order`.

    Up to 720 orders are all weighed; of more, a beam finds the likeliest. ``precedence`` and
    ``before`` are then those of the orders that were found. An ambiguous event counts as its
    likeliest.
    """
    check_top(top)
    beam = whole(beam, "beam", 1)
    model = model_of(script)
    given = sorted(events) if isinstance(events, AbstractSet) else events
    listed = list(given) if isinstance(given, Iterator) else given
    items = single(hear(script, listed, unknown=unknown), "order")
    _check_number(len(items), len(model.events))
    told = _likeliest_events(model, items)
    exact = factorial(len(told)) <= MOST_ORDERS
    found = _all_orders(told) if exact else _improved(model, told, _beam(model, told, beam))
    worth = model.worths([told[one] for one in found])
    shares = softmax(worth)
    before = _before(found, shares)
    agreed = _agreed(before, found) if exact else improved(before, found[int(worth.argmax())])
    return Ordering(
        events=tuple(model.events[o] for o in told[agreed].tolist()),
        likeliest=_likeliest(model, told, found, shares, top, exact=exact),
        precedence=before[np.ix_(agreed, agreed)],
        before=before[np.ix_(agreed, agreed)] if exact else None,
        exact=exact,
    )


def _check_number(events: int, kinds: int) -> None:
    most = math.isqrt(MOST_ORDERED // kinds)
    if events > most:
        raise InputError(
            f"{events:,} events of {kinds:,} kinds to order, expected at most {most:,}",
            hint="order a part of them",
        )


def _likeliest_events(model: TellingModel, items: list[Observation]) -> NDArray[np.int64]:
    sketched = sketch(model, items)
    told = sketched.told
    for slot in sketched.slots:
        if items[slot.index] is None:
            raise InputError(
                "order does not take a gap (None)",
                where=f"event {slot.index}",
                hint="leave it out, or give weights by event",
            )
        told = np.insert(told, slot.index, slot.options[slot.log_weights.argmax()])
    return told


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


def _beam(model: TellingModel, told: NDArray[np.int64], width: int) -> list[NDArray[np.int64]]:
    """Likely orders, from left to right."""
    often = np.bincount(told, minlength=len(model.events))
    begun = [(np.empty(0, np.int64), 0.0)]
    for _ in range(len(told)):
        grown: list[tuple[float, int, int]] = []
        for row, (one, value) in enumerate(begun):
            ahead = model.next_log_probs(one)
            left = np.flatnonzero(often > np.bincount(one, minlength=len(often)))
            grown += [(value + float(ahead[event]), row, event) for event in left.tolist()]
        grown.sort(key=lambda entry: -entry[0])
        begun = [(np.append(begun[row][0], event), value) for value, row, event in grown[:width]]
    return [_placed(told, one) for one, _ in begun]


def _placed(told: NDArray[np.int64], events: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of places that makes these events, equal events staying in theirs."""
    places = np.empty(len(told), np.int64)
    places[np.argsort(events, kind="stable")] = np.argsort(told, kind="stable")
    return places


def _improved(
    model: TellingModel, told: NDArray[np.int64], found: list[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Move single events of the best order while that makes it worth more."""
    best = told[found[int(model.worths([told[one] for one in found]).argmax())]]
    reach = max(1, MOST_MOVED // (2 * len(told) ** 2))
    tried = [told[one] for one in found]
    for _ in range(ROUNDS):
        moved = [
            np.insert(np.delete(best, item), place, best[item])
            for item in range(len(best))
            for place in range(max(0, item - reach), min(len(best), item + reach + 1))
            if place != item
        ]
        worth = model.worths([best, *moved])
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


def _likeliest(
    model: TellingModel,
    told: NDArray[np.int64],
    found: list[NDArray[np.int64]],
    shares: NDArray[np.float64],
    top: int,
    *,
    exact: bool,
) -> tuple[Ranked, ...]:
    best = np.argsort(-shares, kind="stable")[:top].tolist()
    log_probs = model.log_probs([told[found[k]] for k in best])
    return tuple(
        Ranked(
            tuple(model.events[o] for o in told[found[k]].tolist()),
            float(log_prob),
            float(shares[k]) if exact else None,
        )
        for k, log_prob in zip(best, log_probs, strict=True)
    )
