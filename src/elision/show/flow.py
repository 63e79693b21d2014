"""How often a course through a script passes each state and edge, and which of them to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import InputError
from elision.values.observations import real, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.values.script import Script

FEW_STATES = 14
"""Scripts with no more interior states than this are shown whole."""

MOST_STATES = 24
RAREST_STATE = 0.08
"""Of other scripts, no more states than this, and none passed less often, are shown."""

DEFAULT = 0.5
MOST_USUAL_STATES = 40
"""Where more states than that are passed this often, up to this many are shown."""

EDGES_A_STATE = 2.2
RAREST_EDGE = 0.025
DETOUR = 0.4
"""What a passage counts that mostly leads over hidden states, when the most used are sought."""


class Flow(NamedTuple):
    """Of each state: the expected visits, and the probability that a course passes it at all."""

    visits: NDArray[np.float64]
    chance: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Passage:
    """A way from one shown state to the next shown one.

    ``flow`` is how often a course is expected to take it. ``direct`` is false if it mostly leads
    over hidden states.
    """

    source: int
    target: int
    probability: float
    flow: float
    direct: bool = True


@dataclass(frozen=True, slots=True)
class Selection:
    """The states and passages of a script that are shown, in topological order."""

    states: tuple[int, ...]
    passages: tuple[Passage, ...]
    flow: Flow
    min_share: float
    hidden_states: int
    hidden_edges: int

    @property
    def rare(self) -> bool:
        """Whether everything hidden is passed by few courses."""
        hidden = np.delete(self.flow.chance, self.states)
        return not len(hidden) or bool(hidden.max() < DEFAULT)


def flow(script: Script) -> Flow:
    """Expected visits and chances of all states, by one sweep.

    A state is entered from earlier ones at most once, then stays by its loop a geometric number
    of times.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> float(flow(script).chance[script.states.index("take parcel")])
    0.5
    """
    transition = script.transition
    leaving = _leaving(transition)
    visits, chance = np.ones(script.size), np.ones(script.size)
    for k in range(1, script.size):
        chance[k] = visits[:k] @ transition[:k, k]
        visits[k] = chance[k] / leaving[k]
    return Flow(visits, np.minimum(chance, 1.0))


def select(
    script: Script,
    *,
    min_share: float | None = None,
    most: int = MOST_STATES,
    states: Iterable[int] = (),
    edges: Iterable[tuple[int, int]] = (),
) -> Selection:
    """Choose what to show of a script.

    Hidden states are summed out: a passage goes to the next shown state, whatever hidden ones lie
    between, and its probability counts them all. Each shown state keeps its best way in and out.

    Parameters
    ----------
    script
        The script.
    min_share
        Hide states that a course passes with less probability, and passages taken less often.
        By default as many are shown as one can read; 0 shows all.
    most
        Interior states that one can read, if ``min_share`` is not given.
    states, edges
        Shown in any case.

    Examples
    --------
    >>> import elision as el
    >>> chosen = select(el.examples.doorbell(), min_share=0.3)
    >>> chosen.hidden_states, len(chosen.passages)
    (2, 11)
    """
    min_share = None if min_share is None else checked_share(min_share)
    flows = flow(script)
    wanted = {(int(j), int(k)) for j, k in edges}
    forced = {0, script.size - 1, *map(int, states), *(k for edge in wanted for k in edge)}
    shown = _shown_states(flows.chance, min_share, most, forced)
    probability = _summed_out(script.transition, shown)
    passages = probability * flows.visits[shown][:, None]
    place = {k: number for number, k in enumerate(shown)}
    direct = script.transition[np.ix_(shown, shown)] >= probability / 2
    wanted = {(place[j], place[k]) for j, k in wanted}
    kept = _kept(probability, passages, min_share, wanted, np.where(direct, 1.0, DETOUR))
    found = tuple(
        Passage(
            source=shown[a],
            target=shown[b],
            probability=min(1.0, float(probability[a, b])),
            flow=float(passages[a, b]),
            direct=bool(direct[a, b]),
        )
        for a, b in kept
    )
    all_edges = len(script.parameters.source)
    drawn = sum(script.transition[one.source, one.target] > 0 for one in found)
    if min_share is None:
        min_share = min((one.flow for one in found), default=0.0)
    return Selection(
        states=tuple(shown),
        passages=found,
        flow=flows,
        min_share=min_share,
        hidden_states=script.size - len(shown),
        hidden_edges=all_edges - int(drawn),
    )


def checked_share(min_share: float) -> float:
    """Return a threshold once it is known to be one."""
    value = real(min_share)
    if not 0 <= value <= 1:
        raise InputError(f"min_share is {short(min_share)}, expected a number from 0 to 1")
    return value


def _leaving(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of going on from each state: not 1 - loop, which may round to 0."""
    leaving = np.triu(transition, 1).sum(axis=1)
    leaving[-1] = 1.0
    return np.asarray(leaving)


def _shown_states(
    chance: NDArray[np.float64], min_share: float | None, most: int, forced: set[int]
) -> list[int]:
    interior = range(1, len(chance) - 1)
    if min_share is not None:
        return sorted(forced.union(k for k in interior if chance[k] >= min_share))
    if len(interior) <= FEW_STATES:
        return [*range(len(chance))]
    ranked = sorted(interior, key=lambda k: (-chance[k], k))
    enough = [k for k in ranked[:most] if chance[k] >= RAREST_STATE]
    usual = [k for k in ranked[most:MOST_USUAL_STATES] if chance[k] >= DEFAULT]
    return sorted(forced.union(enough, usual))


def _summed_out(transition: NDArray[np.float64], shown: list[int]) -> NDArray[np.float64]:
    """Probability of each next shown state, (shown, shown)."""
    leaving = _leaving(transition)
    rows = transition[shown]
    for k in sorted(set(range(len(transition))).difference(shown)):
        rows[:, k + 1 :] += np.outer(rows[:, k], transition[k, k + 1 :] / leaving[k])
    return rows[:, shown]


def _kept(
    probability: NDArray[np.float64],
    passages: NDArray[np.float64],
    min_share: float | None,
    wanted: set[tuple[int, int]],
    worth: NDArray[np.float64],
) -> list[tuple[int, int]]:
    """Places of the passages to show: the best in and out of each state, then the most used."""
    kept = set(wanted)
    # What is passed so rarely that its flow is 0 in floating point still has a way in and out.
    onward = np.triu(np.maximum(passages, probability * np.finfo(float).tiny), 1)
    for k in range(len(passages)):
        if k > 0:
            kept.add((int(onward[:, k].argmax()), k))
        if k < len(passages) - 1:
            kept.add((k, int(onward[k].argmax())))
    sources, targets = np.nonzero(probability)
    ranked = sorted(
        zip(sources.tolist(), targets.tolist(), strict=True),
        key=lambda edge: (-passages[edge] * worth[edge], edge),
    )
    budget = EDGES_A_STATE * len(passages)
    for edge in ranked:
        if min_share is not None:
            enough = passages[edge] >= min_share
        else:
            enough = len(kept) < budget and passages[edge] * worth[edge] >= RAREST_EDGE
        if enough:
            kept.add(edge)
    return sorted(kept)
