"""The script of an outline: a state for each step, that tells one event or stays silent.

Units come one after another. Where an outline leaves the order open, states stand in the order of
its steps; questions put what was told into that order first (`elision.ask.outlined`). Whether a
unit happens and which branch is taken are the script's edges, whether a step is told its elision:
the probability that a step was passed in silence is then the same by the script and by the outline.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision.values._script_parts import END, START
from elision.values.script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from elision.values.outline import Outline

LEAST_EDGE = 1e-6
"""Probability below which a way past several units is left out, and goes to the next one."""


def sharp_script(
    outline: Outline, events: Sequence[str], *, about: Mapping[str, Any] | None = None
) -> Script:
    """Return the script of an outline, over the given events.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> tellings = [["boil", "pour", "drink"], ["boil", "pour"], ["pour", "drink"]] * 4
    >>> number = {"boil": 0, "pour": 1, "drink": 2}
    >>> outline = learn_outline([[number[e] for e in one] for one in tellings], list(number))
    >>> sharp_script(outline, list(number)).states
    ('start', 'boil', 'pour', 'drink', 'end')
    """
    size = len(outline.steps) + 2
    number = {event: o for o, event in enumerate(events)}
    emission = np.zeros((size, len(events)))
    elision = np.zeros(size)
    loops = np.zeros(size)
    for state, step in enumerate(outline.steps, start=1):
        silent = 1 - step.telling
        # Told again only after it was told: the chance of never being told must not change.
        loops[state] = min(step.again, 0.9)
        elision[state] = silent / (1 - loops[state] + loops[state] * silent) if silent else 0.0
        emission[state, number[step.event]] = 1 - elision[state]
    names = [START, *_state_names(outline), END]
    transition = _transition(outline, loops)
    return Script(events, transition, emission, elision, states=names, about=about, outline=outline)


def _state_names(outline: Outline) -> list[str]:
    """Names of the steps, but for those that only the ends of a script may have."""
    return [f"{step.name} " if step.name in (START, END) else step.name for step in outline.steps]


def _transition(outline: Outline, loops: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    size = len(loops)
    transition = np.zeros((size, size))
    waiting = {0: 1.0}
    for unit in outline.units:
        skips = 1 - unit.happens
        ahead: dict[int, float] = {}
        for state, weight in waiting.items():
            passing = weight * skips
            if passing < LEAST_EDGE:
                passing = 0.0
            if passing:
                ahead[state] = passing
            for branch, share in zip(unit.branches, unit.shares, strict=True):
                transition[state, branch[0] + 1] += (weight - passing) * share
        for branch in unit.branches:
            for first, second in pairwise(branch):
                transition[first + 1, second + 1] = 1.0
            ahead[branch[-1] + 1] = 1.0
        waiting = ahead
    for state, weight in waiting.items():
        transition[state, -1] = weight
    transition[:-1] *= (1 - loops[:-1])[:, None]
    transition[np.diag_indices(size)] = loops
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    return transition
