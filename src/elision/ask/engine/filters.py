"""What comes next, kept up to date: an event costs the same, however many came before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from elision import kernels
from elision.kernels.plain_tellings import LONGEST_HISTORY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.values.script import Script
    from elision.values.telling import TellingModel


class Filter(Protocol):
    """What is known of a telling so far; telling it an event gives another filter."""

    def next_log_probs(self) -> NDArray[np.float64]:
        """Log-probability that each event comes next, the end last."""

    def tell(self, event: int) -> Filter:
        """Return what is known after one more event."""


def first_filter(script: Script) -> Filter:
    """What is known before anything is told: by the telling model, or by the script itself."""
    if script.telling is not None:
        model = script.telling
        return TellingFilter(model, kernels.plain_tellings.nothing(model.forward), (), 0)
    return StateFilter.of(script)


class TellingFilter(NamedTuple):
    """A telling model's chain after some events: sums over them, and the last few."""

    model: TellingModel
    past: kernels.plain_tellings.Past
    latest: tuple[int, ...]
    events: int

    def next_log_probs(self) -> NDArray[np.float64]:
        """Log-probability that each event comes next, the end last."""
        z = kernels.plain_tellings.logits(self.model.forward, self.latest, self.events, self.past)
        return self.model.by_event(np.asarray(z - kernels.plain_tellings.log_sum(z)))

    def tell(self, event: int) -> TellingFilter:
        """Return the chain after one more event."""
        kind = int(self.model.kinds_of(np.array([event]))[0])
        latest = (*self.latest, kind)[-LONGEST_HISTORY:]
        past = kernels.plain_tellings.told_event(self.model.forward, self.past, kind)
        return TellingFilter(self.model, past, latest, self.events + 1)


class StateFilter(NamedTuple):
    """A script's states after some events, for scripts without a telling model.

    ``states`` are probabilities of having told the last event in each; ``onward`` of then going to
    each next state, silent ones passed in between.
    """

    onward: NDArray[np.float64]
    emission: NDArray[np.float64]
    states: NDArray[np.float64]

    @classmethod
    def of(cls, script: Script) -> StateFilter:
        """Before anything is told."""
        silent = script.transition * script.elision
        onward = np.asarray(np.linalg.solve(np.eye(script.size) - silent, script.transition), float)
        start = np.zeros(script.size)
        start[0] = 1.0
        return cls(onward, script.emission, start)

    def next_log_probs(self) -> NDArray[np.float64]:
        """Log-probability that each event comes next, the end last."""
        ahead = self.states @ self.onward
        with np.errstate(divide="ignore"):
            chances = np.append(ahead @ self.emission, ahead[-1])
            return np.asarray(np.log(chances / max(chances.sum(), np.finfo(float).tiny)))

    def tell(self, event: int) -> StateFilter:
        """Return the states after one more event; what the script cannot tell says nothing."""
        return self._told(self.emission[:, event])

    def tell_any(self, weights: NDArray[np.float64]) -> StateFilter:
        """The same of an event that may be several, by their weights."""
        return self._told(self.emission @ weights)

    def _told(self, tells: NDArray[np.float64]) -> StateFilter:
        told = (self.states @ self.onward) * tells
        total = told.sum()
        return self._replace(states=told / total) if total > 0 else self
