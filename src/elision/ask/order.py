"""In which order some events happened."""

from __future__ import annotations

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _html
from elision.ask.engine.checks import whole
from elision.ask.engine.orders import Orders, beam_search, copy_numbers
from elision.ask.engine.precedence import improved, precedence
from elision.ask.engine.told_chain import ToldChain, visits
from elision.ask.heard import check_top, hear, name_of, single
from elision.errors import InputError
from elision.values.observations import SMALLEST, Packer, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

MOST_CELLS = 1 << 22
"""Sub-multisets times states up to which all orders are weighed.

Enough for twelve different events and a thousand states, or fifteen and a hundred.
"""

MOST_TOLD = 1 << 24
"""Sub-multisets times events up to which all orders are weighed."""


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
        before the one of the column in a telling that tells both, whatever else it tells.
    before
        The same given that just these events are told, all orders and paths summed; None where
        there are too many orders.
    exact
        Whether ``events`` and ``likeliest`` are certainly the best there are.
    """

    events: tuple[str, ...]
    likeliest: tuple[Ranked, ...]
    precedence: NDArray[np.float64]
    before: NDArray[np.float64] | None
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
        The events, in any order; one that happened twice is given twice.
    top
        How many of the most probable orders to return.
    beam
        How many beginnings to follow where there are too many orders to weigh them all.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If no telling of the script tells all these events.

    Notes
    -----
    Two answers differ. ``likeliest`` is the most probable telling of just these events: its
    probability, summed over all paths, is maximised exactly, by a search that is bounded by what
    every state could still achieve. ``events`` maximises the expected number of pairs that are in
    the right order, with P(a before b) taken over all tellings of both, since real tellings leave
    much out: it orders test tellings better (``python -m elision.evaluate.questions order``). Up to
    twelve different events (more if the script is small) both are exact; beyond, ``events`` is
    improved step by step and ``likeliest`` found by a beam.

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
    kinds = _kinds(script, events, unknown)
    chain = ToldChain(script)
    likelihood = kinds.weights @ script.emission.T
    first = _precedence(script, chain, kinds)
    before: NDArray[np.float64] | None = None
    shares: list[float] | None = None
    orders = None
    nodes = Orders.nodes(kinds.copies)
    if nodes * script.size <= MOST_CELLS and nodes * int(kinds.copies.sum()) <= MOST_TOLD:
        orders = Orders(chain, likelihood, kinds.copies)
    if orders is not None and orders.total > SMALLEST:
        agreed, before = orders.consensus(first), orders.before()
        found, exact = orders.likeliest(top)
        courses, shares = [course for course, _ in found], [share for _, share in found]
        if not courses:  # each of very many is next to impossible
            courses, shares = [tuple(kinds.of_event[agreed].tolist())], None
    else:
        agreed, exact = improved(first, np.argsort(-first.sum(axis=1), kind="stable")), False
        courses = beam_search(chain, likelihood, kinds.copies, top=top, width=beam)
        courses.append(tuple(kinds.of_event[agreed].tolist()))
    ranked = _ranked(script, kinds, courses, shares)
    if orders is not None and ranked[0].log_prob == -math.inf:
        raise _impossible(kinds, orders)
    return Ordering(
        events=tuple(kinds.names[kind] for kind in kinds.of_event[agreed].tolist()),
        likeliest=ranked[:top],
        precedence=first[np.ix_(agreed, agreed)],
        before=None if before is None else before[np.ix_(agreed, agreed)],
        exact=exact,
    )


class _Kinds(NamedTuple):
    """The different events that were given: events of a kind stand side by side."""

    names: list[str]
    items: list[Observation]
    copies: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def of_event(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.copies)), self.copies)


def _kinds(script: Script, events: Iterable[Observation], unknown: Unknown) -> _Kinds:
    given = sorted(events) if isinstance(events, AbstractSet) else events
    listed = list(given) if isinstance(given, Iterator) else given
    heard = hear(script, listed, unknown=unknown)
    items = single(heard, "order")
    named = list(listed)
    packed = Packer(script.events).pack([items])
    symbols, where, copies = np.unique(packed.symbol, return_index=True, return_counts=True)
    weights = np.vstack([np.eye(len(script.events)), packed.soft])[symbols]
    return _Kinds(
        names=[name_of(named[heard.positions[place]]) for place in where.tolist()],
        items=[items[place] for place in where.tolist()],
        copies=copies.astype(np.int64),
        weights=weights,
    )


def _precedence(script: Script, chain: ToldChain, kinds: _Kinds) -> NDArray[np.float64]:
    """Probability that one event comes before another, (events, events)."""
    rates = visits(script) @ script.emission
    weights = kinds.weights * np.where(rates > 0, rates, 1e-300)
    weights = weights / weights.sum(axis=1, keepdims=True)
    used = np.flatnonzero(weights.any(axis=0))
    most = int(kinds.copies.max(initial=1))
    by_event = precedence(chain, used, most)
    of_event = kinds.of_event
    copy = copy_numbers(kinds.copies)
    by_kind = weights[:, used] @ by_event @ weights[:, used].T
    result = np.asarray(by_kind[copy[:, None], copy, of_event[:, None], of_event])
    same = of_event[:, None] == of_event
    result[same] = (copy[:, None] < copy)[same]
    return result


def _ranked(
    script: Script, kinds: _Kinds, courses: list[tuple[int, ...]], shares: list[float] | None
) -> tuple[Ranked, ...]:
    courses = list(dict.fromkeys(courses))
    log_probs = script.log_probs([[kinds.items[kind] for kind in one] for one in courses]).tolist()
    ranked = [
        Ranked(
            tuple(kinds.names[kind] for kind in course),
            log_probs[number],
            shares[number] if shares else None,
        )
        for number, course in enumerate(courses)
    ]
    return tuple(sorted(ranked, key=lambda one: -one.log_prob))


def _impossible(kinds: _Kinds, orders: Orders) -> InputError:
    missing = kinds.copies - orders.possible_part()
    names = [kinds.names[kind] for kind in np.repeat(np.arange(len(missing)), missing).tolist()]
    return InputError(
        "the script cannot tell these events together, in any order",
        hint=f"it could without {', '.join(map(short, names[:5]))}" if names else None,
    )
