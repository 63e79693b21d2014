"""Peers that repair event logs: neighbours of a gap, pm4py's alignments, an LSTM in jax.

Neighbours: events of the training traces are hidden, each with the same chance, several times over.
It is counted what was hidden between which neighbours; the share of each context is smoothed by
those of the smaller contexts inside it.

pm4py is under the AGPL: it is for comparison alone, and nothing of the package imports it.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from common import Thinned, thin
from networks import EMBEDDING, HIDDEN, Network, best_epochs, shapes_of, width_of

Trace: TypeAlias = Sequence[str]
Insertions: TypeAlias = "list[tuple[int, str, float]]"
"""What may be missing from one trace: place, event and probability of each; one may recur."""

Numbers: TypeAlias = NDArray[np.int64]

NOISES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Noise settings of the inductive miner that are tried."""

HIDDEN_SHARE = 0.2
"""Share of the events of training traces that peers learn to find again."""

TIMES = 20
"""How often events of all training traces are hidden anew."""

COPIES = 3
"""One event may be missing so many times in one gap."""

SMOOTHING = 20.0
"""So many observations are the smaller contexts worth."""

LEAST = 0.02
"""What is less probable is not said."""

LEVELS: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((),),
    ((1,), (2,)),
    ((1, 2),),
    ((0, 1, 2), (1, 2, 3)),
    ((0, 1, 2, 3),),
)
"""Contexts, each level to be smoothed by the one before; 0 to 3 are neighbours from left to right.

Where a level has several, their mean is taken.
"""

HELD_OUT_SHARE = 0.1
"""Of the training traces, to choose the number of epochs by."""

HEAD = 96
"""Units between the states on both sides of a gap and the answer."""

BATCH = 128
PATIENCE = 5
"""Epochs without a lower loss on held-out traces; the weights that had the lowest are taken."""

Net = tuple[Any, Any, Any]
"""A Petri net with its first and its last marking."""


class Neighbours:
    """Repairs traces by the two events before and the two events behind each gap.

    Examples
    --------
    >>> peer = Neighbours()
    >>> peer.fit([["ring", "walk", "open"]] * 20)
    >>> [[(place, event) for place, event, p in peer.insertions([["ring", "open"]])[0] if p > 0.5]]
    [[(1, 'walk')]]
    """

    def __init__(self, *, hidden: float = HIDDEN_SHARE, times: int = TIMES, seed: int = 0) -> None:
        self.hidden, self.times, self.seed = hidden, times, seed

    def fit(self, traces: Sequence[Trace]) -> None:
        """Count what is hidden between which neighbours, events of the traces being hidden."""
        self._events = sorted(set(chain.from_iterable(traces)))
        self._number = {event: number for number, event in enumerate(self._events)}
        rng = np.random.default_rng(self.seed)
        contexts, gaps, targets = [], [], []
        total = 0
        symbols, trace = self._flat(traces)
        for _ in range(self.times):
            gone = rng.random(len(symbols)) < self.hidden
            gap = np.cumsum(~gone)[gone] + trace[gone]
            found = self._contexts(symbols[~gone], trace[~gone], len(traces))
            contexts.append(found)
            gaps.append(gap + total)
            targets.append(symbols[gone])
            total += len(found)
        self._count(np.concatenate(contexts), np.concatenate(gaps), np.concatenate(targets))

    def _flat(self, traces: Sequence[Trace]) -> tuple[Numbers, Numbers]:
        """All events as numbers, those never seen as one more, and the trace of each."""
        unknown = len(self._events)
        symbols = [self._number.get(event, unknown) for one in traces for event in one]
        trace = np.repeat(np.arange(len(traces)), [len(one) for one in traces])
        return np.array(symbols, np.int64), trace

    def _contexts(self, symbols: Numbers, trace: Numbers, traces: int) -> Numbers:
        """Neighbours of all gaps of all traces, (gaps, 4), with numbers for both ends."""
        before, after = len(self._events) + 1, len(self._events) + 2
        length = np.bincount(trace, minlength=traces)
        first = np.cumsum(length + 4) - length - 4
        row = np.full(len(symbols) + 4 * traces, after, np.int64)
        row[first] = row[first + 1] = before
        row[np.arange(len(symbols)) + 4 * trace + 2] = symbols
        gap = np.arange(len(symbols) + traces)
        owner = np.repeat(np.arange(traces), length + 1)
        return np.asarray(row[(gap + 3 * owner)[:, None] + np.arange(4)])

    def _key(self, contexts: Numbers, of: Iterable[int]) -> Numbers:
        key = np.zeros(len(contexts), np.int64)
        for neighbour in of:
            key = key * (len(self._events) + 3) + contexts[:, neighbour]
        return key

    def _count(self, contexts: Numbers, gaps: Numbers, targets: Numbers) -> None:
        """Count, for each context of each level, its gaps and what was hidden in them."""
        order = np.lexsort((targets, gaps))
        gaps, targets = gaps[order], targets[order]
        fresh = np.ones(len(gaps), bool)
        fresh[1:] = (gaps[1:] != gaps[:-1]) | (targets[1:] != targets[:-1])
        run = np.arange(len(gaps)) - np.maximum.accumulate(np.where(fresh, np.arange(len(gaps)), 0))
        kept = run < COPIES
        gaps, column = gaps[kept], targets[kept] * COPIES + run[kept]
        self._tables = {}
        for of in chain.from_iterable(LEVELS):
            keys, row, seen = np.unique(
                self._key(contexts, of), return_inverse=True, return_counts=True
            )
            width = max(len(self._events), 1) * COPIES
            cells, times = np.unique(row[gaps] * width + column, return_counts=True)
            self._tables[of] = (keys, seen, cells // width, cells % width, times)

    def _shares(
        self, contexts: Numbers, of: tuple[int, ...]
    ) -> tuple[NDArray[np.float64], Numbers]:
        """Of each context the times each event was hidden there, and how often it was seen."""
        keys, seen, row, column, times = self._tables[of]
        wanted = self._key(contexts, of)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = keys[at] == wanted
        counts = np.zeros((len(contexts), len(self._events) * COPIES))
        first = np.searchsorted(row, np.arange(len(keys) + 1))
        for k in np.flatnonzero(known).tolist():
            cells = slice(first[at[k]], first[at[k] + 1])
            counts[k, column[cells]] = times[cells]
        return counts, np.where(known, seen[at], 0)

    def _chances(self, contexts: Numbers) -> NDArray[np.float64]:
        """Probability of each event, and of each further copy of it, in each context."""
        value = np.zeros((len(contexts), len(self._events) * COPIES))
        for level in LEVELS:
            below, value = value, np.zeros_like(value)
            for of in level:
                counts, seen = self._shares(contexts, of)
                value += (counts + SMOOTHING * below) / (seen + SMOOTHING)[:, None]
            value /= len(level)
        return value

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions]:
        """Say what may be missing where, with its probability, for each trace."""
        symbols, trace = self._flat(traces)
        contexts = self._contexts(symbols, trace, len(traces))
        distinct, which = np.unique(contexts, axis=0, return_inverse=True)
        chances = self._chances(distinct)
        said = [
            [(int(c) // COPIES, float(row[c])) for c in np.flatnonzero(row >= LEAST)]
            for row in chances
        ]
        found: list[Insertions] = []
        gap = 0
        for one in traces:
            found.append(
                [
                    (place, self._events[event], probability)
                    for place in range(len(one) + 1)
                    for event, probability in said[which[gap + place]]
                ]
            )
            gap += len(one) + 1
        return found


def pm4py() -> Any:
    """The module; it greets on standard output, where results are printed."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return import_module("pm4py")


def log_of(traces: Iterable[Trace]) -> Any:
    """A log as pm4py has it."""
    pm4py()
    objects = import_module("pm4py.objects.log.obj")
    start, minute = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
    log = objects.EventLog()
    for number, trace in enumerate(traces):
        events = [
            objects.Event({"concept:name": event, "time:timestamp": start + place * minute})
            for place, event in enumerate(trace)
        ]
        log.append(objects.Trace(events, attributes={"concept:name": str(number)}))
    return log


def inductive(noise: float) -> Callable[[Any], Net]:
    """The inductive miner with a noise setting."""

    def discover(log: Any) -> Net:
        net: Net = pm4py().discover_petri_net_inductive(log, noise_threshold=noise)
        return net

    return discover


def align(net: Net, traces: Sequence[Trace], seconds_a_trace: float) -> list[Any]:
    """Best alignments; None where it takes too long."""
    algorithm = import_module("pm4py.algo.conformance.alignments.petri_net.algorithm")
    limit = algorithm.Parameters.PARAM_MAX_ALIGN_TIME_TRACE
    shown = algorithm.Parameters.SHOW_PROGRESS_BAR
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: list[Any] = algorithm.apply(
            log_of(traces), *net, parameters={limit: seconds_a_trace, shown: False}
        )
    return found


def moves_of_model(moves: Iterable[tuple[Any, Any]]) -> Insertions:
    """What a model does that the trace does not tell, at its places."""
    found: Insertions = []
    place = 0
    for told, done in moves:
        if told != ">>":
            place += 1
        elif done is not None:
            found.append((place, done, 1.0))
    return found


class Alignments:
    """Inserts what the model does alone in the best alignment; surely, for it has no chances.

    Traces are taken by chance, as many as fit into ``seconds``; no answer is given to others, nor
    to one that takes longer than ``seconds_a_trace``.
    """

    def __init__(
        self,
        discover: Callable[[Any], Net],
        *,
        seconds: float,
        seconds_a_trace: float,
        seed: int = 0,
    ) -> None:
        self._discover, self._seed = discover, seed
        self._seconds, self._seconds_a_trace = seconds, seconds_a_trace

    def fit(self, traces: Sequence[Trace]) -> None:
        self._net = self._discover(log_of(traces))

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions | None]:
        order = np.random.default_rng(self._seed).permutation(len(traces)).tolist()
        found: list[Insertions | None] = [None] * len(traces)
        known: dict[tuple[str, ...], Insertions | None] = {}
        until = time.perf_counter() + self._seconds
        for k in order:
            trace = tuple(traces[k])
            if trace not in known:
                if time.perf_counter() > until:
                    break
                (best,) = align(self._net, [trace], self._seconds_a_trace)
                known[trace] = None if best is None else moves_of_model(best["alignment"])
            found[k] = known[trace]
        return found


class GapLSTM(Network):
    """Reads a trace from both ends; what it has read before and behind a gap says what is in it."""

    rate = 3e-3

    def __init__(self, size: int, seed: int) -> None:
        shapes = {
            "embedding": (size + 3, EMBEDDING),
            **shapes_of("onward_"),
            **shapes_of("backward_"),
            "to_head": (2 * HIDDEN, HEAD),
            "head": (HEAD,),
            "to_logits": (HEAD, size * COPIES),
            "common": (size * COPIES,),
        }
        self._size = size
        super().__init__(shapes, seed)
        self._logits = self._jax.jit(self._all_logits)
        self._loss_of = self._jax.jit(self._loss)

    def begin(self, seed: int) -> None:
        """Forget everything; at first hardly anything is missing."""
        super().begin(seed)
        self._weights["common"] = self._weights["common"] - 4.0

    def _all_logits(self, weights: Any, symbols: Any, counted: Any) -> Any:
        """For each gap and event the logits that it is missing once, twice, ... there."""
        jnp = self._numpy
        entered = weights["embedding"][symbols]
        onward = self._states(weights, "onward_", entered, counted)
        flipped = self._states(weights, "backward_", entered[:, ::-1], counted[:, ::-1])
        around = jnp.concatenate([onward[:, :-1], flipped[:, ::-1][:, 1:]], axis=2)
        head = self._jax.nn.relu(around @ weights["to_head"] + weights["head"])
        return head @ weights["to_logits"] + weights["common"]

    def _loss(self, weights: Any, *batch: Any) -> Any:
        symbols, counted, missing = batch
        logits = self._all_logits(weights, symbols, counted)
        losses = self._numpy.logaddexp(0.0, logits) - missing * logits
        gaps = counted[:, 1:, None]
        return (losses * gaps).sum() / gaps.sum()

    def _padded(self, traces: Sequence[Sequence[int]], rows: int) -> tuple[Any, Any]:
        """Start, events and end of each trace, and which symbols are of it."""
        width = width_of([len(one) + 2 for one in traces])
        symbols = np.zeros((rows, width), np.int32)
        counted = np.zeros((rows, width), bool)
        for k, one in enumerate(traces):
            symbols[k, : len(one) + 2] = [self._size, *one, self._size + 1]
            counted[k, : len(one) + 2] = True
        return symbols, counted

    def batch(self, hidden: Thinned, number: dict[str, int], some: Sequence[int]) -> Any:
        """What goes in, and what is to come out."""
        traces = [[number[event] for event in hidden.traces[k]] for k in some]
        symbols, counted = self._padded(traces, BATCH)
        missing = np.zeros((BATCH, symbols.shape[1] - 1, self._size * COPIES), np.float32)
        for row, k in enumerate(some):
            for (place, event), times in hidden.removed[k].items():
                first = number[event] * COPIES
                missing[row, place, first : first + min(times, COPIES)] = 1.0
        return symbols, counted, missing

    def epoch(self, hidden: Thinned, number: dict[str, int]) -> None:
        """Go through all traces once."""
        for some in self.batches([len(one) for one in hidden.traces], BATCH):
            self.learn(*self.batch(hidden, number, some))

    def mean_loss(self, hidden: Thinned, number: dict[str, int]) -> float:
        order = sorted(range(len(hidden.traces)), key=lambda k: len(hidden.traces[k]))
        total = gaps = 0.0
        for start in range(0, len(order), BATCH):
            batch = self.batch(hidden, number, order[start : start + BATCH])
            weight = float(batch[1][:, 1:].sum())
            total += weight * float(self._loss_of(self._weights, *batch))
            gaps += weight
        return total / gaps

    def chances(self, traces: Sequence[Sequence[int]]) -> list[Any]:
        """For each trace, (gaps, events * COPIES)."""
        found: dict[int, Any] = {}
        order = sorted(range(len(traces)), key=lambda k: len(traces[k]))
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            symbols, counted = self._padded([traces[k] for k in some], BATCH)
            logits = np.asarray(self._logits(self._weights, symbols, counted), np.float64)
            for k, one in zip(some, logits, strict=False):
                found[k] = 0.5 * (1 + np.tanh(one[: len(traces[k]) + 1] / 2))
        return [found[k] for k in range(len(traces))]


class BidirectionalLSTM:
    """Learns to find events of the training traces that are hidden again, anew in each epoch."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    def fit(self, traces: Sequence[Trace]) -> None:
        self._events = sorted({event for one in traces for event in one})
        self._number = {event: number for number, event in enumerate(self._events)}
        rates = dict.fromkeys(self._events, HIDDEN_SHARE)
        rng = np.random.default_rng(self._seed)
        mixed = [traces[k] for k in rng.permutation(len(traces)).tolist()]
        out = max(1, round(HELD_OUT_SHARE * len(mixed)))
        held_out = thin(mixed[:out] * 2, rates, rng)
        self._network = network = GapLSTM(len(self._events), self._seed)
        self.epochs = best_epochs(
            lambda: network.epoch(thin(mixed[out:], rates, rng), self._number),
            lambda: network.mean_loss(held_out, self._number),
            at_best=network.keep,
            patience=PATIENCE,
        )
        network.restore()

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions]:
        distinct = list(dict.fromkeys(map(tuple, traces)))
        unknown = len(self._events) + 2
        numbers = [[self._number.get(event, unknown) for event in one] for one in distinct]
        found = {
            one: [
                (place, self._events[column // COPIES], float(row[column]))
                for place, row in enumerate(rows)
                for column in np.flatnonzero(row >= LEAST).tolist()
            ]
            for one, rows in zip(distinct, self._network.chances(numbers), strict=True)
        }
        return [found[tuple(one)] for one in traces]
