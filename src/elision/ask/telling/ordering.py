"""In which order some events happened, by a telling model: whole tellings of them compared."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

from elision.ask._checks import whole
from elision.ask._precedence import improved
from elision.ask.heard import check_top, hear, name_of, single
from elision.ask.order import Ordering, Ranked
from elision.ask.telling.slots import model_of, softmax

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.observations import Observation, Unknown
    from elision.script import Script
    from elision.telling import TellingModel

MOST_ORDERS = 720
"""Orders that are all weighed: those of six different events."""

ROUNDS = 20
"""In each, one event of the best order found so far is moved to where it is worth most."""


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
    given = sorted(events) if isinstance(events, AbstractSet) else events  # type: ignore[type-var]
    listed = list(given) if isinstance(given, Iterator) else given
    items = single(hear(script, listed, unknown=unknown), "order")
    told = np.array([model.numbers[name_of(item)] for item in items], np.int64)
    exact = factorial(len(told)) <= MOST_ORDERS
    found = _all_orders(told) if exact else _improved(model, told, _beam(model, told, beam))
    worth = model.worths([told[one] for one in found])
    shares = softmax(worth)
    before = _before(found, shares)
    agreed = found[int(worth.argmax())]
    if len(told) > 1:
        agreed = improved(before, agreed)
    return Ordering(
        events=tuple(model.events[o] for o in told[agreed].tolist()),
        likeliest=_likeliest(model, told, found, shares, top, exact=exact),
        precedence=before[np.ix_(agreed, agreed)],
        before=before[np.ix_(agreed, agreed)] if exact else None,
        exact=exact,
    )


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


def _beam(
    model: TellingModel, told: NDArray[np.int64], width: int
) -> list[NDArray[np.int64]]:
    """Likely orders, from left to right."""
    begun: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _ in range(len(told)):
        grown: dict[tuple[int, ...], float] = {}
        for one, value in begun:
            ahead = model.next_log_probs(told[list(one)])
            left = {int(told[place]): place for place in range(len(told)) if place not in one}
            for event, place in left.items():
                grown[*one, place] = value + float(ahead[event])
        begun = sorted(grown.items(), key=lambda entry: -entry[1])[:width]
    return [np.array(one, np.int64) for one, _ in begun]


def _improved(
    model: TellingModel, told: NDArray[np.int64], found: list[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Move single events of the best order while that makes it worth more."""
    best = found[int(model.worths([told[one] for one in found]).argmax())]
    tried = list(found)
    for _ in range(ROUNDS):
        moved = [
            np.insert(np.delete(best, item), place, best[item])
            for item in range(len(best))
            for place in range(len(best))
            if place != item
        ]
        worth = model.worths([told[one] for one in [best, *moved]])
        tried += moved
        if worth.argmax() == 0:
            break
        best = moved[int(worth.argmax()) - 1]
    return [np.array(one) for one in dict.fromkeys(tuple(one.tolist()) for one in tried)]


def _before(
    found: list[NDArray[np.int64]], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
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
