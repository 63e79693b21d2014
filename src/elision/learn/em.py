"""EM for the parameters of a script whose structure is fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from elision.errors import InputError
from elision.lattice import Lattice
from elision.values.observations import SMALLEST, Packer
from elision.values.script import Script

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.lattice import Counts, Parameters
    from elision.values.observations import Observation, Packed, Unknown

MOST_PSEUDOCOUNTS = 1e100
"""Far more than anybody counts, and no sum of them overflows."""

Base: TypeAlias = "Literal['uniform', 'unigram'] | Sequence[float]"


@dataclass(frozen=True, slots=True)
class Prior:
    """Pseudocounts of the M-step; the defaults are the paper's.

    Parameters
    ----------
    transition
        Added to every existing edge.
    emission
        Added to every event, on the average.
    elision
        Pseudocounts (silent, telling) of a Beta prior of its own. By default silence counts as one
        more symbol: ``(emission, emission * events)``.
    base
        How the events' pseudocounts are shared out: "uniform", "unigram" (as often as each event
        is told in the narratives), or a probability for each event.
    """

    transition: float = 1.0
    emission: float = 1.0
    elision: tuple[float, float] | None = None
    base: Base = "uniform"

    def __post_init__(self) -> None:
        values = [("transition", self.transition), ("emission", self.emission)]
        if self.elision is not None:
            if not isinstance(self.elision, tuple) or len(self.elision) != 2:
                raise InputError(f"elision prior {self.elision!r}, expected two pseudocounts")
            values += [("elision", value) for value in self.elision]
        for name, value in values:
            if not 0 <= value <= MOST_PSEUDOCOUNTS:
                problem = f"{name} pseudocount {value}, expected a number from 0"
                raise InputError(f"{problem} to {MOST_PSEUDOCOUNTS:g}")


class Pseudocounts(NamedTuple):
    """A prior worked out for one vocabulary; ``transition`` for all edges or for each."""

    transition: float | NDArray[np.float64]
    event: NDArray[np.float64]
    silent: float
    telling: float


def pseudocounts(prior: Prior, events: int, packed: Packed) -> Pseudocounts:
    """Work out the pseudocount of each event."""
    if isinstance(prior.base, str):
        base = np.full(events, 1.0 / max(1, events))
        if prior.base == "unigram":
            # Half a count each: an event never told may still be told.
            base = _told_in(packed, events) + 0.5
            base /= base.sum()
        elif prior.base != "uniform":
            raise InputError(f"base {prior.base!r}, expected 'uniform', 'unigram' or probabilities")
    else:
        base = np.asarray(prior.base, float)
        if base.shape != (events,) or not (base >= 0).all() or not np.isclose(base.sum(), 1):
            raise InputError(f"base distribution, expected {events} probabilities that sum to 1")
    total = prior.emission * events
    silent, telling = prior.elision or (prior.emission, total)
    return Pseudocounts(prior.transition, total * base, silent, telling)


def _told_in(packed: Packed, events: int) -> NDArray[np.float64]:
    """How often each event is told, soft symbols left out."""
    told = np.repeat(packed.weight, np.diff(packed.offset))
    hard = packed.symbol < events
    return np.bincount(packed.symbol[hard], told[hard], minlength=events).astype(float)


def m_step(
    parameters: Parameters, counts: Counts, prior: Pseudocounts, *, elisions: bool = True
) -> Parameters:
    """MAP parameters for expected counts; rows without any count stay as they are."""
    states = parameters.states
    edge = counts.transition + prior.transition
    leaving = np.bincount(parameters.source, edge, minlength=states)[parameters.source]
    transition = np.where(
        leaving > 0, edge / np.where(leaving > 0, leaving, 1), parameters.transition
    )

    told = counts.emission[1:-1].sum(axis=1)
    silent = counts.elision[1:-1] + prior.silent
    entered = silent + told + prior.telling
    elision = np.zeros(states)
    if elisions:
        share = silent / np.where(entered > 0, entered, 1)
        elision[1:-1] = np.where(entered > 0, share, parameters.elision[1:-1])

    event = counts.emission[1:-1] + prior.event
    total = event.sum(axis=1, keepdims=True)
    before = parameters.emission[1:-1]
    spread = before / np.maximum(before.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    shares = np.where(total > 0, event / np.where(total > 0, total, 1), spread)
    emission = np.zeros_like(parameters.emission)
    emission[1:-1] = shares * (1 - elision[1:-1, None])
    return replace(parameters, transition=transition, emission=emission, elision=elision)


def log_prior(parameters: Parameters, prior: Pseudocounts, *, elisions: bool = True) -> float:
    """Log of the prior density, up to a constant: what the pseudocounts add to the objective."""
    elision = parameters.elision[1:-1]
    shares = parameters.emission[1:-1] / np.maximum(1 - elision, np.finfo(float).tiny)[:, None]
    value = _weighted_log(prior.transition, parameters.transition)
    value += _weighted_log(prior.event, shares)
    if elisions:
        value += _weighted_log(prior.silent, elision) + _weighted_log(prior.telling, 1 - elision)
    return value


def _weighted_log(count: float | NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Sum ``count * log(values)``, where no count makes even log(0) nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(np.asarray(count) > 0, count * np.log(values), 0.0).sum())


class StoppingRule(Protocol):
    """Decides from the history of the objective whether EM has done enough."""

    def __call__(self, history: Sequence[float], narratives: float) -> bool:
        """Return True to stop; ``narratives`` is their number, counted with weights."""
        ...


@dataclass(frozen=True, slots=True)
class Converged:
    """Stop when a step gains less than ``tolerance`` a narrative, or after ``most_steps``."""

    tolerance: float = 1e-4
    most_steps: int = 100

    def __call__(self, history: Sequence[float], narratives: float) -> bool:
        """Return True to stop."""
        if len(history) > self.most_steps:
            return True
        return len(history) > 1 and history[-1] - history[-2] < self.tolerance * narratives


class EM(NamedTuple):
    """Learned parameters and the MAP objective before each step and after the last."""

    parameters: Parameters
    history: tuple[float, ...]
    counts: Counts
    """Expected counts under the parameters."""


def run_em(
    parameters: Parameters,
    packed: Packed,
    prior: Pseudocounts,
    *,
    elisions: bool = True,
    stop: StoppingRule | None = None,
) -> EM:
    """EM over packed narratives; narratives that the structure cannot tell count for nothing."""
    stop = stop or Converged()
    narratives = float(packed.weight.sum())
    history: list[float] = []
    while True:
        counts = Lattice(parameters).expected_counts(packed)
        possible = np.isfinite(counts.log_prob)
        # No product of vectors: its last bits depend on the threads of BLAS, and so on the machine.
        data = float((packed.weight[possible] * counts.log_prob[possible]).sum())
        history.append(data + log_prior(parameters, prior, elisions=elisions))
        if stop(history, narratives):
            return EM(parameters, tuple(history), counts)
        parameters = m_step(parameters, counts, prior, elisions=elisions)


class Fitted(NamedTuple):
    """A script with learned parameters and how the MAP objective rose."""

    script: Script
    history: tuple[float, ...]


def fit_parameters(
    script: Script,
    narratives: Iterable[Iterable[Observation]],
    *,
    prior: Prior | None = None,
    elisions: bool = True,
    stop: StoppingRule | None = None,
    unknown: Unknown = "error",
    impossible: Literal["error", "ignore"] = "error",
) -> Fitted:
    """Learn the parameters of a script with a given structure by EM.

    Parameters
    ----------
    script
        Where to start; edges of probability 0 stay away.
    narratives
        Lists of events.
    prior
        Pseudocounts, by default one for each edge and each symbol as in the paper.
    elisions
        False forbids silence: a plain left-to-right hidden Markov model.
    stop
        When to stop, by default `Converged`.
    unknown
        "error", or "ignore" to leave out events that the script does not know.
    impossible
        "error", or "ignore" to leave out narratives that the structure cannot tell.

    Examples
    --------
    >>> import elision as el
    >>> fitted = el.fit_parameters(el.examples.doorbell(), el.examples.doorbell_tellings())
    >>> fitted.history[0] < fitted.history[-1]
    True
    """
    if not elisions:
        script = _without_elisions(script)
    packed = Packer(script.events, unknown=unknown).pack(narratives)
    if not len(packed):
        raise InputError("no narratives came, expected at least one")
    added = pseudocounts(prior or Prior(), len(script.events), packed)
    result = run_em(script.parameters, packed, added, elisions=elisions, stop=stop)
    lost = np.flatnonzero(~np.isfinite(result.counts.log_prob))
    if len(lost) and (impossible == "error" or len(lost) == len(packed)):
        first = int(np.flatnonzero(packed.place == lost[0])[0])
        raise InputError(
            f"narrative {first} cannot be told by this script",
            hint="impossible='ignore' leaves such narratives out",
        )
    learned = Script.from_parameters(
        script.events, _reachable(result.parameters), states=script.states, about=script.about
    )
    return Fitted(learned, result.history)


def _reachable(parameters: Parameters) -> Parameters:
    """Keep a trace of the edges into states that no narrative visits, if none of them has any."""
    transition, target = parameters.transition, parameters.target
    onward = parameters.source != target
    kept = np.bincount(target[onward & (transition >= SMALLEST)], minlength=parameters.states)
    lost = onward & (kept[target] == 0)
    return replace(parameters, transition=np.where(lost, SMALLEST, transition))


def _without_elisions(script: Script) -> Script:
    emission = script.emission.copy()
    told = emission.sum(axis=1)
    if (told[1:-1] == 0).any():
        state = script.states[1 + int(np.flatnonzero(told[1:-1] == 0)[0])]
        raise InputError(f"state {state!r} is always silent, so elisions cannot be switched off")
    emission[1:-1] /= told[1:-1, None]
    return Script(
        script.events,
        script.transition,
        emission,
        np.zeros(script.size),
        states=script.states,
        about=script.about,
    )
