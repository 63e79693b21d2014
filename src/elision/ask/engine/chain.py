"""What a narrative makes of a script: given it, the visits are a Markov chain again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels
from elision.ask.heard import excluded, impossible
from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation
    from elision.values.script import Script


SPARSE = 8
"""A table is gone through by what is not 0 where that is less than one in so many."""


class Entries(NamedTuple):
    """Probability, by edge of the script's parameters, of the next entry in one row.

    In silence, telling an event of the open row, or telling the row's item. Those of one source sum
    to one, where it can be at all.
    """

    silent: NDArray[np.float64]
    among: NDArray[np.float64]
    item: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Onward:
    """How a row goes on from the state that told last, at the cost of its edges.

    Attributes
    ----------
    first, target
        Edges of state j are those from ``first[j]`` on, which lead to ``target``.
    silent, telling
        Probability of each edge, in silence and telling something.
    stop
        (states,): probability of what ends the row.
    """

    first: NDArray[np.int64]
    target: NDArray[np.int64]
    silent: NDArray[np.float64]
    telling: NDArray[np.float64]
    stop: NDArray[np.float64]

    def steps(self, here: NDArray[np.float64]) -> NDArray[np.float64]:
        """Which state tells next, (states, lanes), where each lane is in a state by ``here``."""
        return self._gone(here, self.silent)[1]

    def next(self, here: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Which state tells next, and the probability that none does."""
        passed, ahead = self._gone(here[:, None], self.silent)
        return ahead[:, 0], float(passed[:, 0] @ self.stop)

    def _gone(
        self, here: NDArray[np.float64], silent: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        passed, ahead = np.empty((2, *here.shape))
        kernels.told_chain.onward(
            self.first,
            self.target,
            silent,
            self.telling,
            np.ascontiguousarray(here),
            passed,
            ahead,
        )
        return passed, ahead


class Chain:
    """A script given a narrative.

    Row i is the place before item i, and the last row that before the end, which counts as an item.
    A row is *open* where the narrative has ``...``: any number of events may have been told there.
    Everything is a probability given the narrative, so that nothing can underflow that matters.

    Attributes
    ----------
    kept, open_rows
        The narrative without its stretches, and the rows where they were.
    symbol, soft
        The items as symbols; soft ones have their weights in ``soft``.
    told
        (items, states): probability that each state told each item.
    shares
        (states, events): what a state tells in a gap or stretch.
    log_prob
        Log-probability of the narrative.

    Parameters
    ----------
    script
        The script that is asked.
    items
        The narrative as `hear` returns it.
    allowed
        (events,): which events may stand in gaps and stretches; all by default.

    Raises
    ------
    InputError
        If the script cannot tell the narrative.
    """

    def __init__(
        self, script: Script, items: list[Item], *, allowed: NDArray[np.bool_] | None = None
    ) -> None:
        self._parameters = script.parameters
        self.allowed = np.ones(len(script.events), bool) if allowed is None else allowed
        self.kept, self.open_rows = _without_stretches(items)
        packed = Packer(script.events).pack([self._restricted(script.events)])
        self.symbol, self.soft = packed.symbol, packed.soft
        model = script.lattice.model(packed)
        told = script.emission @ self.allowed
        rows = len(self.symbol) + 1
        among = np.zeros((rows, script.size))
        among[self.open_rows] = told
        passing = np.minimum(script.elision + among, 1.0)
        arrive, after = np.empty((2, rows, script.size))
        log_model = script.lattice.log_model(model)
        kernels.asking.open_tables(model, log_model, self.symbol, passing, arrive, after)
        self.log_prob = float(after[0, 0])
        if self.log_prob == -np.inf:
            raise impossible() if self.allowed.all() else excluded()
        # The end is the last item: only the end tells it, and nothing is left to do then.
        mark = np.zeros(script.size)
        mark[-1] = 1.0
        likelihood = log_model.likelihood[:, self.symbol].T
        with np.errstate(divide="ignore"):
            self._log_among = np.log(among)
            self._log_transition = np.log(self._parameters.transition)
            self._log_likelihood = np.vstack([likelihood, np.log(mark)])
            self._after = np.vstack([after, np.log(mark)])
        self._log_elision = log_model.elision
        self.told = np.exp(arrive[:-1] + likelihood + after[1:] - self.log_prob)
        self.shares = np.zeros_like(script.emission)
        np.divide(
            script.emission * self.allowed, told[:, None], out=self.shares, where=told[:, None] > 0
        )

    @property
    def start(self) -> NDArray[np.float64]:
        """Where the chain begins, (states,)."""
        begin = np.zeros(self._parameters.states)
        begin[0] = 1.0
        return begin

    def entries(self, row: int) -> Entries:
        """Probabilities of the next entry in a row, by edge."""
        source, target = self._parameters.source, self._parameters.target
        here = self._after[row, source]
        # All in one exponent: a ratio of B alone may overflow. A state without a future leads
        # nowhere, so that anything finite will do for its B.
        step = self._log_transition - np.where(here > -np.inf, here, 0.0)
        stay = step + self._after[row, target]
        go = step + self._after[row + 1, target]
        return Entries(
            silent=np.exp(stay + self._log_elision[target]),
            among=np.exp(stay + self._log_among[row, target]),
            item=np.exp(go + self._log_likelihood[row, target]),
        )

    def step(self, row: int) -> Onward:
        """Which state tells the row's item, given the state in which the row began."""
        silent, among, item = self.entries(row)
        return self._onward(silent + among, item, np.zeros(self._parameters.states))

    def stretch(self, row: int) -> Onward:
        """How an open row goes on: which state tells its next event, and whether it stops."""
        silent, among, item = self.entries(row)
        stop = np.bincount(self._parameters.source, item, minlength=self._parameters.states)
        return self._onward(silent, among, np.asarray(stop, np.float64))

    def chances(self, told: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is told in a gap or stretch, (events,), where each state tells by ``told``."""
        if self._tells is None:
            return np.asarray(told @ self.shares)
        state, event, share = self._tells
        found = np.bincount(event, told[state] * share, minlength=self.shares.shape[1])
        return np.asarray(found, np.float64)

    @cached_property
    def _tells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None:
        """The states and events of the shares that are not 0, if there are few."""
        state, event = np.nonzero(self.shares)
        few = SPARSE * len(state) < self.shares.size
        return (state, event, self.shares[state, event]) if few else None

    @property
    def cost(self) -> int:
        """Multiply-adds to go on from an event and to weigh what may be told next."""
        tells = self.shares.size if self._tells is None else len(self._tells[0])
        return int(len(self._parameters.source) + tells + SPARSE * self.shares.shape[1])

    def dense(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the edges as a (states, states) array."""
        matrix = np.zeros((self._parameters.states, self._parameters.states))
        matrix[self._parameters.source, self._parameters.target] = values
        return matrix

    def _onward(
        self, silent: NDArray[np.float64], telling: NDArray[np.float64], stop: NDArray[np.float64]
    ) -> Onward:
        states = np.arange(self._parameters.states + 1)
        first = np.searchsorted(self._parameters.source, states)
        return Onward(first, self._parameters.target, silent, telling, stop)

    def _restricted(self, events: tuple[str, ...]) -> list[Observation]:
        if self.allowed.all():
            return self.kept
        candidates = {event: 1.0 for event, kept in zip(events, self.allowed, strict=True) if kept}
        if not candidates:
            raise excluded()
        return [candidates if item is None else item for item in self.kept]


def _without_stretches(items: list[Item]) -> tuple[list[Observation], list[int]]:
    kept: list[Observation] = []
    rows: list[int] = []
    for item in items:
        if not isinstance(item, EllipsisType):
            kept.append(item)
        elif rows[-1:] == [len(kept)]:
            raise InputError(
                "two stretches (...) stand side by side", hint="one stands for any number of events"
            )
        else:
            rows.append(len(kept))
    return kept, rows
