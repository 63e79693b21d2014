"""In which order some events happened.

All orders of a multiset of events are weighed at once, by dynamic programming over what was told so
far. A *node* is how many of each kind were told: one number in a mixed radix. Every sum and every
bound over orders and paths goes from node to node, by layers of equally many events.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from elision import _html
from elision.ask.engine.best_first import Branch, Effort, Path, likeliest, unrolled
from elision.ask.engine.checks import whole
from elision.ask.engine.precedence import improved, more_told, precedence
from elision.ask.engine.told_chain import ToldChain, normalised, visits
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
    much out: it orders test tellings better. Up to twelve different events (more if the script is
    small) both are exact; beyond, ``events`` is improved step by step and ``likeliest`` found by a
    beam.

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


MOST_WEIGHED = 1_000_000_000
"""Events, kinds of events and states, multiplied, that a beam may weigh in all."""

Course = tuple[int, ...]
"""Kinds in the order in which they are told."""

Begun: TypeAlias = "tuple[int, Path, NDArray[np.float64]]"


class Orders:
    """The orders in which a script may tell some events, each given number of times.

    Parameters
    ----------
    chain
        The chain of told events.
    likelihood
        (kinds, states): of each kind of event in each state.
    copies
        (kinds,): how often each is told.
    """

    def __init__(
        self, chain: ToldChain, likelihood: NDArray[np.float64], copies: NDArray[np.int64]
    ) -> None:
        self._chain = chain
        self._copies = copies
        largest = likelihood.max(axis=1, keepdims=True, initial=0.0)
        largest[largest == 0] = 1.0
        # Brought to order one, so that many events cannot underflow.
        self._likelihood = likelihood / largest
        self.log_scale = float(copies @ np.log(largest[:, 0]))
        self._stride = np.concatenate([[1], np.cumprod(copies + 1)[:-1]]).astype(np.int64)
        nodes = np.arange(int(np.prod(copies + 1)))
        self.counts = nodes[:, None] // self._stride % (copies + 1)
        told = self.counts.sum(axis=1)
        self._layers = [np.flatnonzero(told == events) for events in range(int(copies.sum()) + 1)]

    @staticmethod
    def nodes(copies: NDArray[np.int64]) -> int:
        """How many nodes there are, as a Python number: it may be huge."""
        total = 1
        for number in copies.tolist():
            total *= number + 1
        return total

    def _steps(self, layer: int) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Each kind that may come next, the nodes of a layer where it may, and those it makes."""
        here = self._layers[layer]
        for kind, most in enumerate(self._copies.tolist()):
            nodes = here[self.counts[here, kind] < most]
            yield kind, nodes, nodes + self._stride[kind]

    @cached_property
    def arrived(self) -> NDArray[np.float64]:
        """(nodes, states): expected entries of a state after the events of a node, in any order."""
        told = np.zeros((len(self.counts), self._chain.states))
        arrived = np.zeros_like(told)
        told[0, 0] = 1.0
        for layer in range(len(self._layers)):
            here = self._layers[layer]
            arrived[here] = self._chain.arrivals(told[here])
            for kind, nodes, made in self._steps(layer):
                told[made] += arrived[nodes] * self._likelihood[kind]
        return arrived

    @cached_property
    def after(self) -> NDArray[np.float64]:
        """(nodes, states): probability of telling the rest in any order, and nothing more."""
        ahead = np.zeros((len(self.counts), self._chain.states))
        result = np.zeros_like(ahead)
        result[-1] = self._chain.ending
        for layer in range(len(self._layers) - 2, -1, -1):
            for kind, nodes, made in self._steps(layer):
                ahead[nodes] += result[made] * self._likelihood[kind]
            here = self._layers[layer]
            result[here] = self._chain.departures(ahead[here])
        return result

    @cached_property
    def _bound(self) -> NDArray[np.float64]:
        """The same for the best order of the rest; every state may choose its own, so a bound."""
        result = np.zeros((len(self.counts), self._chain.states))
        result[-1] = self._chain.ending
        for layer in range(len(self._layers) - 2, -1, -1):
            for kind, nodes, made in self._steps(layer):
                there = self._chain.departures(result[made] * self._likelihood[kind])
                result[nodes] = np.maximum(result[nodes], there)
        return result

    @property
    def total(self) -> float:
        """Probability of telling these events in any order, over exp(``log_scale``)."""
        return float(self.arrived[-1, -1])

    def possible_part(self) -> NDArray[np.int64]:
        """How many of each kind can be told together, as many as possible in all."""
        able = self.arrived[:, -1] > 0
        best = max(
            np.flatnonzero(able).tolist(), key=lambda node: self.counts[node].sum(), default=0
        )
        return np.asarray(self.counts[best])

    def before(self) -> NDArray[np.float64]:
        """Probability that one event comes before another, all orders and paths summed.

        Returns
        -------
        numpy.ndarray
            (events, events), copies of a kind side by side: the first of a kind told, the second.
        """
        kinds = np.repeat(np.arange(len(self._copies)), self._copies)
        copy = copy_numbers(self._copies)
        first = np.cumsum(self._copies) - self._copies
        told = self.counts[:, kinds] > copy  # (nodes, events): already told there
        result = np.zeros((len(kinds), len(kinds)))
        for layer in range(len(self._layers) - 1):
            for kind, nodes, made in self._steps(layer):
                chance = (self.arrived[nodes] * self._likelihood[kind] * self.after[made]).sum(
                    axis=1
                )
                already = self.counts[nodes, kind]
                for number in np.unique(already).tolist():
                    now = already == number
                    result[:, first[kind] + number] += chance[now] @ told[nodes[now]]
        return result / self.total

    def likeliest(self, top: int) -> tuple[list[tuple[Course, float]], bool]:
        """Find the most probable orders, all paths of each summed.

        Returns
        -------
        tuple
            Orders with their share of ``total``, best first; and whether they are certainly best.
        """
        if len(self._layers) == 1:  # nothing to order
            return [((), 1.0)], True
        start = np.zeros(self._chain.states)
        start[0] = 1.0
        root: Begun = (0, None, start)
        cost = len(self._chain.model.in_source) + self._likelihood.size
        effort = Effort.of(cost, longest=int(self._copies.sum()))
        found, certain = likeliest(root, self._expand, top, effort)
        return [(unrolled(branch.node[1]), branch.probability) for branch in found], certain

    def _expand(self, begun: Begun, least: float, _: int) -> Iterator[Branch[Begun]]:
        node, course, told = begun
        arrived = self._chain.arrivals(told)
        for kind in np.flatnonzero(self.counts[node] < self._copies).tolist():
            made = node + int(self._stride[kind])
            now = arrived * self._likelihood[kind]
            done = made == len(self.counts) - 1
            share = float(now @ self._bound[made]) / self.total
            if share > 0 and share >= least:
                yield Branch(share, done, (made, (course, kind), now))

    def consensus(self, before: NDArray[np.float64]) -> NDArray[np.int64]:
        """Find the order in which most pairs are expected to be right.

        Parameters
        ----------
        before
            (events, events): probability that one comes before another, copies side by side.

        Returns
        -------
        numpy.ndarray
            The events in that order.
        """
        first = np.concatenate([[0], np.cumsum(self._copies)[:-1]])
        kinds = np.repeat(np.arange(len(self._copies)), self._copies)
        copy = copy_numbers(self._copies)
        told = self.counts[:, kinds] > copy
        best = np.full(len(self.counts), -np.inf)
        last = np.zeros(len(self.counts), np.int64)
        best[0] = 0.0
        for layer in range(len(self._layers) - 1):
            for kind, nodes, made in self._steps(layer):
                event = first[kind] + self.counts[nodes, kind]
                value = best[nodes] + (told[nodes] * before[:, event].T).sum(axis=1)
                better = value > best[made] + 1e-12  # so that the last bit does not decide
                best[made[better]] = value[better]
                last[made[better]] = kind
        order = []
        node = len(self.counts) - 1
        while node:
            kind = last[node]
            node -= int(self._stride[kind])
            order.append(int(first[kind] + self.counts[node, kind]))
        return np.array(order[::-1], np.int64)


def copy_numbers(copies: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the events of each kind, which stand side by side, from 0.

    Examples
    --------
    >>> copy_numbers(np.array([1, 3])).tolist()
    [0, 0, 1, 2]
    """
    first = np.cumsum(copies) - copies
    return np.arange(int(copies.sum())) - np.repeat(first, copies)


def beam_search(
    chain: ToldChain,
    likelihood: NDArray[np.float64],
    copies: NDArray[np.int64],
    *,
    top: int,
    width: int,
) -> list[Course]:
    """Find good orders of many events, best first as far as the beam can tell.

    Beginnings of the same length are compared by their probability times that of telling each
    event that is left at some time, as if these were independent. Of beginnings that tell the same
    events only the ``top`` best are kept. Of very many events in a large script fewer beginnings
    are followed than ``width``.
    """
    width = max(1, min(width, MOST_WEIGHED // (int(copies.sum()) * likelihood.size or 1)))
    with np.errstate(divide="ignore"):
        later = np.maximum(np.log(more_told(chain, likelihood, 1)[0]), -1e6)  # (kinds, states)
    courses: list[Course] = [()]
    counts = np.zeros((1, len(copies)), np.int64)
    scale = np.zeros(1)
    told = np.zeros((1, chain.states))
    told[0, 0] = 1.0
    for _ in range(int(copies.sum())):
        arrived = chain.arrivals(told)
        hope = (copies - counts) @ later
        promise = np.full(counts.shape, -np.inf)
        for kind in range(len(copies)):
            free = np.flatnonzero(counts[:, kind] < copies[kind])
            ahead = hope[free] - later[kind]
            most = ahead.max(axis=1, keepdims=True)
            worth = (arrived[free] * likelihood[kind] * np.exp(ahead - most)).sum(axis=1)
            with np.errstate(divide="ignore"):
                promise[free, kind] = np.log(worth) + most[:, 0] + scale[free]
        begun, added = _chosen(promise, counts, top, width)
        told, gained = normalised(arrived[begun] * likelihood[added])
        scale = scale[begun] + gained
        counts = counts[begun]
        counts[np.arange(len(added)), added] += 1
        courses = [(*courses[a], b) for a, b in zip(begun.tolist(), added.tolist(), strict=True)]
    return courses


def _chosen(
    promise: NDArray[np.float64], counts: NDArray[np.int64], top: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose the most promising continuations, ``top`` of those that tell the same events."""
    alike: Counter[bytes] = Counter()
    chosen: list[tuple[int, int]] = []
    for place in np.argsort(-promise, axis=None, kind="stable").tolist():
        begun, kind = divmod(place, promise.shape[1])
        if promise[begun, kind] == -np.inf or len(chosen) == width:
            break
        after = counts[begun].copy()
        after[kind] += 1
        alike[after.tobytes()] += 1
        if alike[after.tobytes()] <= top:
            chosen.append((begun, kind))
    pairs = np.array(chosen, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
