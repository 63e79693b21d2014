"""Small LSTMs in jax, learned by Adam, for the benchmarks that have one as a peer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

EMBEDDING, HIDDEN = 32, 64
BATCH = 32
LEARNING_RATE = 1e-3
MOST_EPOCHS = 60
PATIENCE = 8
"""Epochs without a better loss on the held-out cases, after which learning stops."""


class Network(ABC):
    """Weights by name, and a loss that Adam lowers.

    Matrices begin by chance, vectors with zeros, forget gates open.
    """

    rate = LEARNING_RATE

    def __init__(self, shapes: dict[str, tuple[int, ...]], seed: int) -> None:
        self._jax, self._numpy = import_module("jax"), import_module("jax.numpy")
        self._shapes = shapes
        self._change = self._jax.jit(self._adam)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Forget everything; what is compiled stays."""
        self._rng = np.random.default_rng(seed)
        weights = {name: self._beginning(name, shape) for name, shape in self._shapes.items()}
        self._weights = {name: self._numpy.float32(one) for name, one in weights.items()}
        zeros = {name: self._numpy.zeros_like(one) for name, one in self._weights.items()}
        self._moments = (zeros, zeros)
        self._steps = 0

    def _beginning(self, name: str, shape: tuple[int, ...]) -> Any:
        if len(shape) == 1:
            weights = np.zeros(shape)
            if "gates" in name:
                weights[HIDDEN : 2 * HIDDEN] = 1.0  # forget little at first
            return weights
        return self._rng.normal(0, 1 if name == "embedding" else shape[0] ** -0.5, shape)

    @abstractmethod
    def _loss(self, weights: Any, *batch: Any) -> Any:
        """What is to be lowered."""

    def _states(self, weights: Any, direction: str, entered: Any, counted: Any = None) -> Any:
        """States after each symbol, (batch, time, HIDDEN); symbols that do not count change none.

        Weights are those named after the direction; ``entered`` are embedded symbols.
        """
        jax, jnp = self._jax, self._numpy

        def step(state: Any, given: Any) -> Any:
            hidden, cell = state
            gates, counts = given
            gates = gates + hidden @ weights[f"{direction}from_state"]
            let_in, forget, let_out, new = jnp.split(gates, 4, axis=1)
            sigmoid = jax.nn.sigmoid
            new_cell = sigmoid(forget) * cell + sigmoid(let_in) * jnp.tanh(new)
            new_hidden = sigmoid(let_out) * jnp.tanh(new_cell)
            if counts is not None:
                new_cell = jnp.where(counts[:, None], new_cell, cell)
                new_hidden = jnp.where(counts[:, None], new_hidden, hidden)
            return (new_hidden, new_cell), new_hidden

        gates = entered @ weights[f"{direction}from_event"] + weights[f"{direction}gates"]
        zeros = jnp.zeros((entered.shape[0], HIDDEN), jnp.float32)
        flipped = None if counted is None else jnp.swapaxes(counted, 0, 1)
        given = (jnp.swapaxes(gates, 0, 1), flipped)
        _, hidden = jax.lax.scan(step, (zeros, zeros), given)
        return jnp.swapaxes(hidden, 0, 1)

    def _adam(self, weights: Any, moments: Any, steps: Any, *batch: Any) -> Any:
        jnp = self._numpy
        slope = self._jax.grad(self._loss)(weights, *batch)
        length = jnp.sqrt(sum((one**2).sum() for one in slope.values()))
        shorter = jnp.minimum(1.0, 1.0 / (length + 1e-9))
        first, second = ({}, {})
        changed = {}
        for name, one in slope.items():
            one = one * shorter
            first[name] = 0.9 * moments[0][name] + 0.1 * one
            second[name] = 0.999 * moments[1][name] + 0.001 * one**2
            mean, square = first[name] / (1 - 0.9**steps), second[name] / (1 - 0.999**steps)
            changed[name] = weights[name] - self.rate * mean / (jnp.sqrt(square) + 1e-8)
        return changed, (first, second)

    def learn(self, *batch: Any) -> None:
        """Go one step down the loss of a batch."""
        self._steps += 1
        self._weights, self._moments = self._change(
            self._weights, self._moments, float(self._steps), *batch
        )

    def keep(self) -> None:
        """Remember the weights for `restore`."""
        self._kept = self._weights

    def restore(self) -> None:
        """Go back to the weights that were kept."""
        self._weights = self._kept

    def batches(self, lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
        """All cases once, in batches by chance, those of like length together."""
        mixed = self._rng.permutation(len(lengths)).tolist()
        by_length = sorted(mixed, key=lambda k: lengths[k])
        starts = np.arange(0, len(lengths), size)
        for start in self._rng.permutation(starts).tolist():
            yield by_length[start : start + size]


def shapes_of(direction: str) -> dict[str, tuple[int, ...]]:
    """Weights of one layer."""
    return {
        f"{direction}from_event": (EMBEDDING, 4 * HIDDEN),
        f"{direction}from_state": (HIDDEN, 4 * HIDDEN),
        f"{direction}gates": (4 * HIDDEN,),
    }


def width_of(lengths: Sequence[int]) -> int:
    """How wide a batch is: few widths, for each is compiled."""
    width = 8
    while width < max(lengths):
        width *= 2
    return width


def best_epochs(
    epoch: Callable[[], None],
    held_out_loss: Callable[[], float],
    *,
    at_best: Callable[[], None] = lambda: None,
    patience: int = PATIENCE,
) -> int:
    """After how many epochs the loss is least; stops when it has not fallen for ``patience``.

    ``at_best`` is called whenever it is lower than before.
    """
    losses: list[float] = []
    while len(losses) < MOST_EPOCHS and len(losses) - _best(losses) < patience:
        epoch()
        losses.append(held_out_loss())
        if _best(losses) == len(losses):
            at_best()
    return _best(losses)


def _best(losses: list[float]) -> int:
    return int(np.argmin(losses)) + 1 if losses else 0
