"""Exact inference over every silent path: probabilities, expected counts, alignments."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import _threads, kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from elision.kernels.passes import Model, Narratives, Tally
    from elision.values.observations import Packed

MOST_CHUNKS = 32
CHUNK_UPDATES = 2_000_000
"""Edge updates that are worth a task of their own."""

GROUP = 2
"""Chunks whose tallies are added up first."""


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

    def silent(self, elision: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected silent passes of each state after i events, (m + 1, states)."""
        # Where a state is never silent, the density of entering it may be infinite.
        passes = np.zeros_like(self.entered)
        np.multiply(self.entered, elision, out=passes, where=elision > 0)
        passes[np.isinf(passes)] = (
            1.0  # an elision below the range of a double: passed all the same
        )
        return passes


class Tables(NamedTuple):
    """Posteriors of many narratives, one below the other.

    Narrative s has the rows ``first[s]`` to ``first[s + 1]`` of each table, one more than events.
    """

    told: NDArray[np.float64]
    entered: NDArray[np.float64]
    visited: NDArray[np.float64]
    first: NDArray[np.int64]
    log_prob: NDArray[np.float64]


class Silences(NamedTuple):
    """What was passed over in silence, for many narratives, one below the other.

    ``chance`` (rows, columns of the shares) is the probability that a silent pass at this place
    stands for each of them, ``passes`` (rows, states) the expected number of silent passes of each
    state; ``first`` is that of `Tables`.
    """

    chance: NDArray[np.float64]
    passes: NDArray[np.float64]
    first: NDArray[np.int64]
    log_prob: NDArray[np.float64]


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
    >>> from elision.values.observations import Packer
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
        self._kept: dict[int, Model] = {}

    def log_prob(self, packed: Packed) -> NDArray[np.float64]:
        """Log-probability of each distinct narrative; -inf if impossible."""
        result = np.full(len(packed), -np.inf)
        model, narratives = self.model(packed), _narratives(packed)
        self._in_chunks(
            packed,
            lambda first, last, _: kernels.passes.log_prob(model, narratives, first, last, result),
        )
        unsure = np.flatnonzero(result < kernels.passes.SAFE_LOG_PROB)
        if len(unsure):  # near underflow: computed with more care
            result[unsure] = self.expected_counts(packed.take(unsure)).log_prob
        return result

    def expected_counts(self, packed: Packed) -> Counts:
        """Expected counts over all narratives with their weights (impossible ones add nothing)."""
        model, narratives = self.model(packed), _narratives(packed)
        result = np.full(len(packed), -np.inf)
        doubtful = np.zeros(len(packed), np.bool_)
        tallies = [self._tally(model) for _ in self.chunks(packed)]
        self._in_chunks(
            packed,
            lambda first, last, chunk: kernels.passes.expected_counts(
                model, narratives, first, last, tallies[chunk], result, doubtful
            ),
        )
        # In the order of chunks, so that threads leave no trace.
        groups = [_summed(tallies[at : at + GROUP]) for at in range(0, len(tallies), GROUP)]
        total = _summed([self._tally(model), *groups])
        for part, factor in zip(
            total, (model.out_weight, model.loop, model.likelihood, model.elision), strict=True
        ):
            part *= factor
        for s in np.flatnonzero(doubtful).tolist():
            result[s] = kernels.log_passes.log_counts(
                model, self.log_model(model), _one(packed, s), packed.weight[s], total
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
        return kernels.passes.Tally(
            edge=np.zeros(len(self._onward)),
            loop=np.zeros(self.parameters.states),
            symbol=np.zeros(model.likelihood.shape),
            silence=np.zeros(self.parameters.states),
        )

    def posterior(self, packed: Packed) -> list[Posterior]:
        """Posterior of each distinct narrative."""
        told, entered, visited, first, log_prob = self.posterior_tables(packed)
        return [
            Posterior(told[a : b - 1], entered[a:b], visited[a:b], probability)
            for (a, b), probability in zip(pairwise(first.tolist()), log_prob.tolist(), strict=True)
        ]

    def posterior_tables(self, packed: Packed) -> Tables:
        """Posteriors of all distinct narratives, one below the other."""
        model, narratives = self.model(packed), _narratives(packed)
        result = np.full(len(packed), -np.inf)
        doubtful = np.zeros(len(packed), np.bool_)
        row_of = packed.offset + np.arange(len(packed) + 1)  # a narrative of m events has m + 1
        shape = (int(row_of[-1]), self.parameters.states)
        told, entered, visited = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._in_chunks(
            packed,
            lambda first, last, _: kernels.passes.posterior(
                model, narratives, first, last, row_of, told, entered, visited, result, doubtful
            ),
        )
        for s in np.flatnonzero(doubtful).tolist():
            result[s] = kernels.log_passes.log_posterior(
                model, self.log_model(model), _one(packed, s), row_of[s], told, entered, visited
            )
        return Tables(told, entered, visited, row_of, result)

    def silences(self, packed: Packed, share: NDArray[np.float64]) -> Silences:
        """Chance of what was passed over in silence, for all distinct narratives.

        ``share[k, x]`` is the probability that a silent pass of k stands for x.
        """
        model, narratives = self.model(packed), _narratives(packed)
        result = np.full(len(packed), -np.inf)
        doubtful = np.zeros(len(packed), np.bool_)
        row_of = packed.offset + np.arange(len(packed) + 1)
        chance = np.zeros((int(row_of[-1]), share.shape[1]))
        passes = np.zeros((int(row_of[-1]), self.parameters.states))
        series = 1 / (1 - (model.loop * model.elision)[:, None] * (1 - share))
        self._in_chunks(
            packed,
            lambda first, last, _: kernels.asking.unsaid(
                *(model, narratives, first, last, row_of, share, series),
                *(chance, passes, result, doubtful),
            ),
        )
        for s in np.flatnonzero(doubtful).tolist():
            result[s] = kernels.asking.log_unsaid(
                *(model, self.log_model(model), _one(packed, s), row_of[s], share, series),
                *(chance, passes),
            )
        return Silences(chance, passes, row_of, result)

    def align(self, packed: Packed) -> list[Alignment]:
        """Most probable path of each distinct narrative (no states if it is impossible)."""
        model = self.model(packed)
        log_model = self.log_model(model)
        found: list[Alignment] = []
        for s in range(len(packed)):
            symbol = _one(packed, s)
            path = np.empty(len(symbol) + self.parameters.states, np.int64)
            position = np.empty_like(path)
            log_prob, steps = kernels.log_passes.best_alignment(
                model, log_model, symbol, path, position
            )
            events = tuple(None if at < 0 else at for at in position[:steps].tolist())
            found.append(Alignment(float(log_prob), tuple(path[:steps].tolist()), events))
        return found

    def model(self, packed: Packed) -> Model:
        """The parameters as the compiled loops want them, with the soft symbols of narratives.

        Kept where there are none, or only "some event": so it is with most questions.
        """
        soft = packed.soft
        usual = len(soft) == 0 or (len(soft) == 1 and bool((soft == 1).all()))
        if usual and len(soft) in self._kept:
            return self._kept[len(soft)]
        model = self._make_model(packed)
        if usual:
            self._kept[len(soft)] = model
        return model

    def _make_model(self, packed: Packed) -> Model:
        parameters = self.parameters
        loop = np.zeros(parameters.states)
        loop[parameters.source[self._staying]] = parameters.transition[self._staying]
        return kernels.passes.Model(
            in_first=self._in_first,
            in_source=self._in_source,
            in_weight=parameters.transition[self._by_target],
            out_first=self._out_first,
            out_target=self._out_target,
            out_weight=parameters.transition[self._onward],
            loop=loop,
            elision=_writable(parameters.elision),
            likelihood=_writable(packed.likelihood(parameters.emission)),
        )

    @staticmethod
    def log_model(model: Model) -> Model:
        """The same with the logarithm of every number."""
        with np.errstate(divide="ignore"):
            return model._replace(
                in_weight=np.log(model.in_weight),
                out_weight=np.log(model.out_weight),
                loop=np.log(model.loop),
                elision=np.log(model.elision),
                likelihood=np.log(model.likelihood),
            )

    def chunks(self, packed: Packed) -> list[tuple[int, int]]:
        """Split narratives into tasks of like size, by the data alone and never by the threads."""
        if not len(packed):
            return []
        rows = np.cumsum(np.diff(packed.offset) + 1)
        wanted = max(1, min(MOST_CHUNKS, self.updates(packed) // CHUNK_UPDATES))
        cuts = np.searchsorted(rows, rows[-1] * np.arange(1, wanted) / wanted)
        edges = np.unique(np.concatenate([[0], cuts, [len(packed)]]))
        return [(int(a), int(b)) for a, b in pairwise(edges)]

    def updates(self, packed: Packed) -> int:
        """Edge updates that one pass over narratives takes."""
        rows = int(packed.offset[-1]) + len(packed)
        return rows * (len(self.parameters.source) + self.parameters.states)

    def _in_chunks(self, packed: Packed, kernel: Callable[[int, int, int], object]) -> None:
        chunks = self.chunks(packed)
        _threads.run(lambda number: kernel(*chunks[number], number), range(len(chunks)))


def _narratives(packed: Packed) -> Narratives:
    return kernels.passes.Narratives(
        _writable(packed.symbol), _writable(packed.offset), _writable(packed.weight)
    )


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """An array that may be written to: loops are compiled for such ones, and nothing is written."""
    return array if array.flags.writeable else array.copy()


def _summed(tallies: Sequence[Tally]) -> Tally:
    """Add tallies to the first one, in their order."""
    total = tallies[0]
    for tally in tallies[1:]:
        for part, added in zip(total, tally, strict=True):
            part += added
    return total


def _one(packed: Packed, number: int) -> NDArray[np.uint32]:
    return packed.symbol[packed.offset[number] : packed.offset[number + 1]]
