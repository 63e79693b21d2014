"""Which states of two scripts stand for the same, and how they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.told_chain import visits
from elision.ask.fill import emission_shares
from elision.values._script_parts import END, START

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.values.script import Script

PLACE = 0.5
"""Weight of where states stand, from 0 to 1 in the story, beside what they tell."""

SILENCE = 0.25
"""Weight of how often they tell nothing."""

UNLIKE = 0.8
"""Difference above which two states do not stand for the same."""

LEAST_CHANGE = 0.01
"""Changes of probability below this are not worth mentioning."""


@dataclass(frozen=True, slots=True)
class Match:
    """A state of each script that stand for the same; ``difference`` is 0 if they are equal."""

    first: str
    second: str
    difference: float


@dataclass(frozen=True, slots=True)
class Change:
    """A probability that differs; ``size`` is the difference, weighed by how often it counts."""

    what: str
    first: str
    second: str
    size: float

    def __str__(self) -> str:
        return f"{self.what} {self.first} -> {self.second}"


def match_states(script: Script, other: Script) -> list[Match]:
    """Match states so that the sum of their differences is least.

    The difference of two is the total variation of what they tell if they tell something, plus
    `PLACE` times the distance of their places and `SILENCE` times that of their elisions. Leaving
    two states without a counterpart costs `UNLIKE`.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> {match.first == match.second for match in match_states(script, script)}
    {True}
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - slow to import

    events = list(dict.fromkeys([*script.events, *other.events]))
    first, second = _tells(script, events), _tells(other, events)
    difference = np.abs(first[:, None] - second).sum(axis=2) / 2
    difference += PLACE * np.abs(_places(script)[:, None] - _places(other))
    difference += SILENCE * np.abs(script.elision[1:-1, None] - other.elision[1:-1])
    cost = np.full((len(first) + len(second),) * 2, UNLIKE / 2)
    cost[: len(first), : len(second)] = difference
    cost[len(first) :, len(second) :] = 0.0
    rows, columns = linear_sum_assignment(cost)
    inner = [
        Match(script.states[j + 1], other.states[k + 1], float(difference[j, k]))
        for j, k in zip(rows.tolist(), columns.tolist(), strict=True)
        if j < len(first) and k < len(second)
    ]
    return [Match(START, START, 0.0), *inner, Match(END, END, 0.0)]


def changes(script: Script, other: Script, matched: list[Match]) -> list[Change]:
    """List what differs between matched states, largest first."""
    first = np.array([script.states.index(match.first) for match in matched])
    second = np.array([other.states.index(match.second) for match in matched])
    often = (visits(script)[first] + visits(other)[second]) / 2
    found = []
    for n, (j, k) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        name, weight = matched[n].first, min(1.0, float(often[n]))
        silence = (float(script.elision[j]), float(other.elision[k]))
        found.append(_change(f"{name}: silent", *silence, weight))
        telling, telling_other = _told(script, j), _told(other, k)
        for event in telling | telling_other:
            chances = (telling.get(event, 0.0), telling_other.get(event, 0.0))
            found.append(_change(f"{name}: when it tells, {event}", *chances, weight))
        for target, after in enumerate(matched):
            chances = (
                float(script.transition[j, first[target]]),
                float(other.transition[k, second[target]]),
            )
            found.append(_change(f"{name}, then {after.first}", *chances, weight))
    return sorted((one for one in found if one.size >= LEAST_CHANGE), key=lambda one: -one.size)


def _change(what: str, first: float, second: float, weight: float) -> Change:
    return Change(what, f"{first:.0%}", f"{second:.0%}", weight * abs(second - first))


def _told(script: Script, state: int) -> dict[str, float]:
    row = script.emission[state]
    share = row / row.sum() if row.any() else row
    return {script.events[o]: float(share[o]) for o in np.flatnonzero(row).tolist()}


def _tells(script: Script, events: list[str]) -> NDArray[np.float64]:
    """What interior states tell if they tell something, over these events; last: nothing ever."""
    number = {event: o for o, event in enumerate(events)}
    result = np.zeros((script.size - 2, len(events) + 1))
    result[:, [number[event] for event in script.events]] = emission_shares(script.emission)[1:-1]
    result[:, -1] = 1.0 - result.sum(axis=1)
    return result


def _places(script: Script) -> NDArray[np.float64]:
    """Where interior states stand: expected visits before, over those before and after."""
    transition = script.transition
    stay = 1.0 / (1.0 - np.diag(transition))  # visits once entered
    leaving = np.triu(transition, 1) * stay[:, None]
    entered = np.zeros(script.size)
    before = np.zeros(script.size)
    after = np.zeros(script.size)
    entered[0] = 1.0
    stay[[0, -1]] = 0.0
    for k in range(1, script.size):
        flow = entered[:k] * leaving[:k, k]
        entered[k] = flow.sum()
        before[k] = flow @ (before[:k] + stay[:k]) / entered[k]
    for j in range(script.size - 2, -1, -1):
        after[j] = leaving[j, j + 1 :] @ (stay[j + 1 :] + after[j + 1 :])
    inner = slice(1, -1)
    return (before + stay / 2)[inner] / (before + stay + after)[inner]
