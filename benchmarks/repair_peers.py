"""Peers that repair event logs: pm4py's alignments, and a bidirectional LSTM in jax.

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
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.evaluate.neighbours import COPIES, LEAST
from elision.evaluate.thinning import Thinned, thin
from networks import EMBEDDING, HIDDEN, Network, best_epochs, shapes_of, width_of

if TYPE_CHECKING:
    from elision.evaluate.repairing import Insertions, Trace

NOISES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Noise settings of the inductive miner that are tried."""

HIDDEN_SHARE = 0.2
"""Share of the events of training traces that the LSTM learns to find again."""

HELD_OUT_SHARE = 0.1
"""Of the training traces, to choose the number of epochs by."""

HEAD = 96
"""Units between the states on both sides of a gap and the answer."""

BATCH = 128
PATIENCE = 5
"""Epochs without a lower loss on held-out traces; the weights that had the lowest are taken."""

Net = tuple[Any, Any, Any]
"""A Petri net with its first and its last marking."""


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


def heuristics(log: Any) -> Net:
    """The heuristics miner as it is set."""
    net: Net = pm4py().discover_petri_net_heuristics(log)
    return net


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
