"""Exact inference over every silent path: probabilities, expected counts, alignments."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from elision._kernels import Model, Narratives, Tally
    from elision.observations import Packed

MOST_CHUNKS = 32
CHUNK_UPDATES = 2_000_000
"""Edge updates that are worth a task of their own."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A script's numbers over a sparse edge list.

    ``source`` and ``target`` list the edges in order of (source, target), self-loops included;
    states are in topological order, 0 the start, the last the end. ``emission`` is (states, events)
    and ``elision`` (states,); both are 0 for start and end.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    elision: NDArray[np.float64]

    @property
    def states(self) -> int:
        """Number of states, start and end included."""
        return len(self.elision)

    @classmethod
    def from_dense(
        cls,
        transition: NDArray[np.float64],
        emission: NDArray[np.float64],
        elision: NDArray[np.float64],
    ) -> Parameters:
        """Take the edges where ``transition`` is positive."""
        source, target = np.nonzero(transition)
        return cls(source, target, transition[source, target], emission, elision)

    def dense_transition(self) -> NDArray[np.float64]:
        """Transition probabilities as a (states, states) array."""
        dense = np.zeros((self.states, self.states))
        dense[self.source, self.target] = self.transition
        return dense


class Counts(NamedTuple):
    """Expected counts: per edge in the order of `Parameters`, per state and event, per state."""

    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    elision: NDArray[np.float64]
    log_prob: NDArray[np.float64]
    """Log-probability of each distinct narrative."""


class Posterior(NamedTuple):
    """What happened where, for one narrative of m events.

    ``told`` (m, states) is the probability that a state told an event; ``entered`` (m + 1, states)
    is, after i events, the density of entering a state there: times its elision the expected number
    of silent passes, times its Omega(x) the weight of an event x put there; ``visited`` (m + 1,
    states) is the expected number of visits having told i events.
    """

    told: NDArray[np.float64]
    entered: NDArray[np.float64]
    visited: NDArray[np.float64]
    log_prob: float


class Alignment(NamedTuple):
    """The most probable path: states in order, and the event each told (None: silent)."""

    log_prob: float
    states: tuple[int, ...]
    events: tuple[int | None, ...]


class Lattice:
    """Inference with fixed parameters over batches of packed narratives.

    Examples
    --------
    >>> import numpy as np
    >>> from elision.observations import Packer
    >>> parameters = Parameters.from_dense(
    ...     np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0.0]]),
    ...     np.array([[0], [0.75], [0]]),
    ...     np.array([0, 0.25, 0]),
    ... )
    >>> np.exp(Lattice(parameters).log_prob(Packer(("knock",)).pack([["knock"], []]))).tolist()
    [0.75, 0.25]
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        source, target = parameters.source, parameters.target
        states = parameters.states
        self._onward = np.flatnonzero(source != target)
        self._staying = np.flatnonzero(source == target)
        self._by_target = self._onward[np.argsort(target[self._onward], kind="stable")]
        bounds = np.arange(states + 1)
        self._in_first = np.searchsorted(target[self._by_target], bounds)
        self._out_first = np.searchsorted(source[self._onward], bounds)
        self._in_source = source[self._by_target].astype(np.uint32)
        self._out_target = target[self._onward].astype(np.uint32)

    def log_prob(self, packed: Packed) -> NDArray[np.float64]:
        """Log-probability of each distinct narrative; -inf if impossible."""
        from elision import _kernels  # noqa: PLC0415 - numba is slow to import

        result = np.full(len(packed), -np.inf)
        model, narratives = self._model(packed), _narratives(packed)
        self._in_chunks(
            packed, lambda first, last, _: _kernels.log_prob(model, narratives, first, last, result)
        )
        unsure = np.flatnonzero(result < _kernels.SAFE_LOG_PROB)
        if len(unsure):
            result[unsure] = self.expected_counts(packed.take(unsure)).log_prob
        return result

    def expected_counts(self, packed: Packed) -> Counts:
        """Expected counts over all narratives with their weights (impossible ones add nothing)."""
        from elision import _kernels, _log_kernels  # noqa: PLC0415 - numba is slow to import

        model, narratives = self._model(packed), _narratives(packed)
        result = np.full(len(packed), -np.inf)
        doubtful = np.zeros(len(packed), np.bool_)
        tallies = [self._tally(model) for _ in self._chunks(packed)]
        self._in_chunks(
            packed,
            lambda first, last, chunk: _kernels.expected_counts(
                model, narratives, first, last, tallies[chunk], result, doubtful
            ),
        )
        # Added up in the order of the chunks, so that threads leave no trace.
        total = self._tally(model)
        for tally in tallies:
            for part, added in zip(total, tally, strict=True):
                part += added
        for part, factor in zip(
            total, (model.out_weight, model.loop, model.likelihood, model.elision), strict=True
        ):
            part *= factor
        for s in np.flatnonzero(doubtful).tolist():
            result[s] = _log_kernels.log_counts(
                model, self._log_model(model), _one(packed, s), packed.weight[s], total
            )
        return self._counts(total, packed, model, result)

    def _counts(
        self, total: Tally, packed: Packed, model: Model, log_prob: NDArray[np.float64]
    ) -> Counts:
        """Bring a tally into the order of the parameters; share soft symbols out over events."""
        parameters = self.parameters
        transition = np.empty(len(parameters.source))
        transition[self._onward] = total.edge
        transition[self._staying] = total.loop[parameters.source[self._staying]]
        events = parameters.emission.shape[1]
        emission = total.symbol[:, :events].copy()
        if len(packed.soft):
            chance = model.likelihood[:, events:]
            share = np.divide(
                total.symbol[:, events:], chance, out=np.zeros_like(chance), where=chance > 0
            )
            emission += (share @ packed.soft) * parameters.emission
        return Counts(transition, emission, total.silence, log_prob)

    def _tally(self, model: Model) -> Tally:
        from elision import _kernels  # noqa: PLC0415 - numba is slow to import

        return _kernels.Tally(
            edge=np.zeros(len(self._onward)),
            loop=np.zeros(self.parameters.states),
            symbol=np.zeros(model.likelihood.shape),
            silence=np.zeros(self.parameters.states),
        )

    def posterior(self, packed: Packed) -> list[Posterior]:
        """Posterior of each distinct narrative."""
        from elision import _kernels, _log_kernels  # noqa: PLC0415 - numba is slow to import

        model, narratives = self._model(packed), _narratives(packed)
        result = np.full(len(packed), -np.inf)
        doubtful = np.zeros(len(packed), np.bool_)
        row_of = packed.offset + np.arange(len(packed) + 1)  # a narrative of m events has m + 1
        shape = (int(row_of[-1]), self.parameters.states)
        told, entered, visited = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._in_chunks(
            packed,
            lambda first, last, _: _kernels.posterior(
                model, narratives, first, last, row_of, told, entered, visited, result, doubtful
            ),
        )
        for s in np.flatnonzero(doubtful).tolist():
            result[s] = _log_kernels.log_posterior(
                model, self._log_model(model), _one(packed, s), row_of[s], told, entered, visited
            )
        return [
            Posterior(
                told=told[row_of[s] : row_of[s + 1] - 1],
                entered=entered[row_of[s] : row_of[s + 1]],
                visited=visited[row_of[s] : row_of[s + 1]],
                log_prob=float(result[s]),
            )
            for s in range(len(packed))
        ]

    def align(self, packed: Packed) -> list[Alignment]:
        """Most probable path of each distinct narrative (no states if it is impossible)."""
        from elision import _log_kernels  # noqa: PLC0415 - numba is slow to import

        model = self._model(packed)
        log_model = self._log_model(model)
        found: list[Alignment] = []
        for s in range(len(packed)):
            symbol = _one(packed, s)
            path = np.empty(len(symbol) + self.parameters.states, np.int64)
            position = np.empty_like(path)
            log_prob, steps = _log_kernels.best_alignment(model, log_model, symbol, path, position)
            events = tuple(None if at < 0 else at for at in position[:steps].tolist())
            found.append(Alignment(float(log_prob), tuple(path[:steps].tolist()), events))
        return found

    def _model(self, packed: Packed) -> Model:
        from elision import _kernels  # noqa: PLC0415 - numba is slow to import

        parameters = self.parameters
        loop = np.zeros(parameters.states)
        loop[parameters.source[self._staying]] = parameters.transition[self._staying]
        return _kernels.Model(
            in_first=self._in_first,
            in_source=self._in_source,
            in_weight=parameters.transition[self._by_target],
            out_first=self._out_first,
            out_target=self._out_target,
            out_weight=parameters.transition[self._onward],
            loop=loop,
            elision=parameters.elision,
            likelihood=packed.likelihood(parameters.emission),
        )

    @staticmethod
    def _log_model(model: Model) -> Model:
        with np.errstate(divide="ignore"):
            return model._replace(
                in_weight=np.log(model.in_weight),
                out_weight=np.log(model.out_weight),
                loop=np.log(model.loop),
                elision=np.log(model.elision),
                likelihood=np.log(model.likelihood),
            )

    def _chunks(self, packed: Packed) -> list[tuple[int, int]]:
        """Split narratives into tasks of like size, by the data alone and never by the threads."""
        if not len(packed):
            return []
        rows = np.cumsum(np.diff(packed.offset) + 1)
        updates = int(rows[-1]) * (len(self.parameters.source) + self.parameters.states)
        wanted = max(1, min(MOST_CHUNKS, updates // CHUNK_UPDATES))
        cuts = np.searchsorted(rows, rows[-1] * np.arange(1, wanted) / wanted)
        edges = np.unique(np.concatenate([[0], cuts, [len(packed)]]))
        return [(int(a), int(b)) for a, b in pairwise(edges)]

    def _in_chunks(self, packed: Packed, kernel: Callable[[int, int, int], object]) -> None:
        chunks = self._chunks(packed)
        _threads.run(lambda number: kernel(*chunks[number], number), range(len(chunks)))


def _narratives(packed: Packed) -> Narratives:
    from elision import _kernels  # noqa: PLC0415 - numba is slow to import

    return _kernels.Narratives(packed.symbol, packed.offset, packed.weight)


def _one(packed: Packed, number: int) -> NDArray[np.uint32]:
    return packed.symbol[packed.offset[number] : packed.offset[number + 1]]
