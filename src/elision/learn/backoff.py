"""Backing off: every later state may follow, and every event be told, a little.

A structure found by merging knows only the ways that the training narratives went. Its parameters
are therefore estimated once more under a hierarchical prior: each state's next state is drawn from
its own edges or, with a few pseudocounts, from all later states in proportion to how often they
are visited; each state's events likewise from how often they are told at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.errors import InputError
from elision.lattice import Parameters
from elision.learn.em import Converged, Prior, Pseudocounts, pseudocounts, run_em

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.values.observations import Packed

LOOP_SHARE = 0.02
"""Pseudocounts of staying in a state, as a share of those of leaving it for any later one."""

MOST_STATES = 500
"""With more, a state backs off to itself and its own edges only: their number is squared else."""

MOST_UPDATES = 1_000_000_000
"""With more events told, times edges between all states: the same."""

STOP = Converged(tolerance=1e-3, most_steps=10)
"""More EM fits the training narratives better and fills gaps worse."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pseudocounts a state: of leaving for any later state, and of telling any event.

    The more there are, the less the script says of what was left unsaid: an edge past a state
    explains its absence as well as silence does.
    """

    transition: float = 0.3
    emission: float = 0.3
    fewest: float = 0.02
    """Edges that fewer narratives than this are expected to take are left out again."""

    def __post_init__(self) -> None:
        for name in ("transition", "emission"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"backoff {name} is {value}, expected a number above 0")


def back_off(
    parameters: Parameters,
    packed: Packed,
    prior: Prior,
    backoff: Backoff,
    *,
    elisions: bool = True,
) -> Parameters:
    """Estimate the parameters of a structure again with edges to all later states.

    Parameters
    ----------
    parameters
        A learned script.
    packed
        The narratives it was learned from.
    prior
        Its prior, of which the elision's part and the base distribution of events are kept.
    backoff
        How many pseudocounts go to other states and events.
    elisions
        Whether states may stay silent.
    """
    narratives = float(packed.weight.sum())
    transition = parameters.dense_transition()
    visits = expected_visits(transition)
    later = _later(visits)
    if len(visits) > MOST_STATES or len(visits) > most_states(told_and_ends(packed)):
        later[(transition == 0) & ~np.eye(len(visits), dtype=bool)] = 0.0
    # Where EM starts: the old edges with their expected counts, and the pseudocounts.
    passed = visits[:, None] * narratives
    start = _normalised(passed * transition + backoff.transition * later)
    dense = Parameters.from_dense(start, parameters.emission, parameters.elision)
    usual = pseudocounts(prior, parameters.emission.shape[1], packed)
    added = Pseudocounts(
        transition=backoff.transition * later[dense.source, dense.target],
        event=usual.event * (backoff.emission / max(usual.event.sum(), np.finfo(float).tiny)),
        silent=usual.silent,
        telling=usual.telling,
    )
    learned = run_em(dense, packed, added, elisions=elisions, stop=STOP).parameters
    return _pruned(learned, backoff.fewest / narratives)


def most_states(told: int) -> int:
    """With so many states, narratives with so many events and ends back off to all later ones.

    Examples
    --------
    >>> most_states(1000), most_states(110_000)
    (1414, 134)
    """
    return math.isqrt(2 * MOST_UPDATES // max(1, told))


def told_and_ends(packed: Packed) -> int:
    """Events and ends of narratives: EM reads each of them at every edge."""
    return int(packed.offset[-1]) + len(packed)


def expected_visits(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often each state of a dense upper triangular chain is passed, on the average."""
    visits = np.zeros(len(transition))
    visits[0] = 1.0
    for k in range(1, len(transition)):
        visits[k] = visits[:k] @ transition[:k, k] / (1 - transition[k, k])
    return visits


def _later(visits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of each later state among the visits of all later states, and a little to stay."""
    size = len(visits)
    share = np.triu(np.tile(visits, (size, 1)), 1)
    share[:-1] /= share[:-1].sum(axis=1, keepdims=True)
    inside = np.arange(1, size - 1)
    share[inside, inside] = LOOP_SHARE
    return np.asarray(share)


def _normalised(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    transition[-1] = 0.0
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    return transition


def _pruned(parameters: Parameters, fewest: float) -> Parameters:
    """Leave out edges that hardly any narrative takes, but no state's best ways in and out."""
    transition = parameters.dense_transition()
    flow = expected_visits(transition)[:, None] * transition
    keep = flow >= fewest
    inside = np.arange(1, len(transition) - 1)
    keep[inside, inside] = True
    onward = np.triu(flow, 1)
    keep[np.arange(len(flow) - 1), onward[:-1].argmax(axis=1)] = True
    keep[onward[:, 1:].argmax(axis=0), np.arange(1, len(flow))] = True
    return Parameters.from_dense(
        _normalised(np.where(keep, transition, 0.0)), parameters.emission, parameters.elision
    )
