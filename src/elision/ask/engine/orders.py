"""All orders of a multiset of events at once, by dynamic programming over what was told so far.

A *node* is how many of each kind were told: one number in a mixed radix. Every sum and every bound
over orders and paths goes from node to node, by layers of equally many events.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from elision.ask.engine.best_first import Branch, Effort, Path, likeliest, unrolled
from elision.ask.engine.precedence import more_told
from elision.ask.engine.told_chain import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from elision.ask.engine.told_chain import ToldChain

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
