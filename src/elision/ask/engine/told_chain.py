"""A script from one told event to the next, what lies between them in silence summed out.

With T the transitions and e the elisions, the expected entries of k between an event told by j
(or the start) and the next event told, or the end, are

    onward[j, k] = sum over n of (T (diag(e) T)^n)[j, k] = ((I - T diag(e))^-1 T)[j, k]

so that telling is a plain hidden Markov chain: P(k tells x next | j told) = onward[j, k] Omega(x|k)
and P(nothing more is told | j told) = onward[j, end]. The matrix is never made: products with it
cost one multiply-add for each edge of the script.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from elision.kernels.passes import Model
    from elision.values.observations import Packed
    from elision.values.script import Script

SAFE_LOG_PROB = -600.0
"""Below this a path that matters may have left the range of a double: log space takes over."""


class Tables(NamedTuple):
    """What was told so far and what comes after, for N narratives of m events each.

    ``before[n, i, k] * exp(before_scale[n, i])`` is the probability of telling the first i events,
    the last one by k, and with ``arrived`` for ``before`` the expected entries of k before the next
    event; ``after[n, i, k] * exp(after_scale[n, i])`` is the probability of telling the others and
    nothing more from k. Rows of ``before`` and ``after`` sum to one.
    """

    before: NDArray[np.float64]
    arrived: NDArray[np.float64]
    before_scale: NDArray[np.float64]
    after: NDArray[np.float64]
    after_scale: NDArray[np.float64]


class ToldChain:
    """The chain of told events of a script.

    Parameters
    ----------
    script
        The script.

    Attributes
    ----------
    emission
        (states, events): probability of telling an event on being entered.
    telling
        (states,): probability of telling something; 0 for start and end.

    Examples
    --------
    >>> import elision as el
    >>> chain = ToldChain(el.examples.doorbell())
    >>> start = np.eye(len(chain.telling))[:1]
    >>> entered = chain.arrivals(start)[0]
    >>> round(float(entered @ chain.telling + entered[-1]), 12)
    1.0
    """

    def __init__(self, script: Script) -> None:
        self.model: Model = script.lattice.model(script.pack([]))
        self.log_model: Model = script.lattice.log_model(self.model)
        self.emission = script.emission
        self.telling = script.emission.sum(axis=1)

    @property
    def states(self) -> int:
        """Number of states, start and end included."""
        return len(self.telling)

    def arrivals(self, told: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected entries before the next event is told: rows (N, states) times ``onward``."""
        return self._by_lanes(kernels.told_chain.arrivals, told)

    def departures(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected value of the next state that tells: rows times ``onward`` transposed."""
        return self._by_lanes(kernels.told_chain.departures, value)

    def _by_lanes(
        self, kernel: Callable[..., None], rows: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        lanes = np.ascontiguousarray(rows.reshape(-1, self.states).T)
        result = np.empty_like(lanes)
        kernel(self.model, lanes, result, lanes.shape[1])
        return np.ascontiguousarray(result.T).reshape(rows.shape)

    @cached_property
    def ending(self) -> NDArray[np.float64]:
        """Probability that nothing more is told, by the state that told last."""
        return self.departures(np.eye(self.states)[-1])

    def surprises(self, packed: Packed) -> NDArray[np.float64]:
        """Return -log P(event | those before it) of every event, and of ending after them.

        Narrative s of m events has m + 1 values from row ``packed.offset[s] + s`` on, which sum to
        the negative logarithm of its probability. They are infinite from where it is impossible.
        """
        likelihood = np.ascontiguousarray(packed.likelihood(self.emission).T)
        length = np.diff(packed.offset)
        first = packed.offset[:-1] + np.arange(len(packed))
        result = np.full(len(packed.symbol) + len(packed), np.inf)
        told = np.zeros((len(packed), self.states))
        told[:, 0] = 1.0
        for i in range(int(length.max(initial=-1)) + 1):
            here, going_on = int((length >= i).sum()), int((length > i).sum())
            arrived = self.arrivals(told[:here])
            chance = arrived[:going_on] * likelihood[packed.symbol[packed.offset[:going_on] + i]]
            told, gained = normalised(chance)
            result[first[:going_on] + i] = -gained
            with np.errstate(divide="ignore"):
                result[first[going_on:here] + i] = -np.log(arrived[going_on:, -1])
        sums = np.add.reduceat(result, first) if len(packed) else result
        for s in np.flatnonzero(~(sums <= -SAFE_LOG_PROB)).tolist():
            symbol = packed.symbol[packed.offset[s] : packed.offset[s + 1]]
            result[first[s] : first[s] + length[s] + 1] = self._log_surprises(likelihood[symbol])
        return result

    def _log_surprises(self, likelihood: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the same for one narrative, in log space; ``likelihood`` is (events, states)."""
        symbol = np.arange(len(likelihood))
        table = np.ascontiguousarray(likelihood.T)
        with np.errstate(divide="ignore"):
            log_table = np.log(table)
        _, arrive, _, _, log_prob = kernels.log_passes.log_tables(
            self.model._replace(likelihood=table),
            self.log_model._replace(likelihood=log_table),
            symbol,
        )
        told = arrive[:-1] + log_table.T
        prefix = np.concatenate([[0.0], np.logaddexp.reduce(told, axis=1), [log_prob]])
        result = np.full(len(prefix) - 1, np.inf)
        possible = prefix[1:] > -np.inf
        result[possible] = prefix[:-1][possible] - prefix[1:][possible]
        return result

    def tables(self, likelihood: NDArray[np.float64]) -> Tables:
        """Both passes over narratives of the same length; ``likelihood`` is (N, m, states)."""
        number, events, states = likelihood.shape
        before = np.zeros((number, events + 1, states))
        arrived = np.zeros((number, events + 1, states))
        after = np.zeros((number, events + 1, states))
        before_scale = np.zeros((number, events + 1))
        after_scale = np.zeros((number, events + 1))
        before[:, 0, 0] = 1.0
        for i in range(events + 1):
            arrived[:, i] = self.arrivals(before[:, i])
            if i < events:
                before[:, i + 1], gained = normalised(arrived[:, i] * likelihood[:, i])
                before_scale[:, i + 1] = before_scale[:, i] + gained
        after[:, events], after_scale[:, events] = normalised(np.tile(self.ending, (number, 1)))
        for i in range(events - 1, -1, -1):
            row = self.departures(likelihood[:, i] * after[:, i + 1])
            after[:, i], gained = normalised(row)
            after_scale[:, i] = after_scale[:, i + 1] + gained
        return Tables(before, arrived, before_scale, after, after_scale)

    def never(self) -> NDArray[np.float64]:
        """Probability that each event is not told any more, by the state that told last.

        never(j) = sum_k T(k|j) (1 - Omega(x|k)) never(k), and 1 for the end.

        Returns
        -------
        numpy.ndarray
            (states, events); row 0 is the probability that a telling does not tell the event.
        """
        model = self.model
        result = np.zeros_like(self.emission)
        result[-1] = 1.0
        passing = 1.0 - self.emission
        for j in range(self.states - 2, -1, -1):
            edges = slice(model.out_first[j], model.out_first[j + 1])
            target = model.out_target[edges]
            came = model.out_weight[edges] @ (passing[target] * result[target])
            result[j] = came / (1.0 - model.loop[j] * passing[j])
        return result


def visits(script: Script) -> NDArray[np.float64]:
    """How often each state is visited in a telling, on average; 1 for the start, 0 for the end."""
    found = np.zeros(script.size)
    found[0] = 1.0
    into = np.ascontiguousarray(script.transition.T)
    for k in range(1, script.size - 1):
        found[k] = found[:k] @ into[k, :k] / (1.0 - into[k, k])
    return found


def normalised(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows that sum to one, or are 0, and the logarithm of what they summed to."""
    total = rows.sum(axis=1)
    with np.errstate(divide="ignore"):
        scale = np.log(total)
    sums = total[:, None]
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0), scale
