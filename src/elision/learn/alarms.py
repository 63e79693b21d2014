"""How often ordinary tellings would raise a false alarm: each judged by all others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elision._threads import one_blas_thread
from elision.ask.engine.passing import LEAST_TELLINGS, WITNESSES, Passing
from elision.values.outline import UNSEEN, Alarms, steps_told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.outline import Outline

MOST_TELLINGS = 1000
"""That are followed; those are enough to know what one telling in twenty does."""

TIE = 1e-6
"""Counts that are as many in another telling are no more, however sums are rounded."""

QUIET = -1e3
"""In place of minus infinity, which files cannot hold."""


@one_blas_thread()
def with_alarms(
    outline: Outline,
    tellings: Sequence[Sequence[int]],
    events: Sequence[str],
    *,
    random_state: int = 0,
) -> Outline:
    """Return the outline with what alarms are measured against.

    Each telling is followed by the orders that all others tell. An alarm that a step was skipped is
    false if the step is told later; of one that is never told, though nine of ten tellings tell it,
    it is taken to be true, and not counted: a step that 92 % tell is missing in 8 % of them.
    """
    if len(tellings) < LEAST_TELLINGS or not outline.steps:
        return outline
    random = np.random.default_rng(random_state)
    chosen = random.permutation(len(tellings))[:MOST_TELLINGS]
    followed = {
        one: _follow(outline, [events[event] for event in one])
        for one in dict.fromkeys(tuple(tellings[i]) for i in chosen)
    }
    most = np.array([followed[tuple(tellings[i])] for i in chosen])
    # A new telling is judged by one telling more: as many counts each say so much more.
    most += np.log1p(1 / (len(tellings) - 1 + UNSEEN)) * np.array([WITNESSES, 1]) + TIE
    skipped, out_of_order = (tuple(kind.tolist()) for kind in -np.sort(-most.T))
    return replace(outline, alarms=Alarms(skipped, out_of_order))


def _follow(outline: Outline, told: Sequence[str]) -> tuple[float, float]:
    """The most that falsely spoke for a skipped step, and for one out of order."""
    steps = [step for step in steps_told(outline, told) if step is not None]
    state = Passing.of(outline, without=steps)
    most = np.full(len(outline.steps), QUIET)
    out_of_order = QUIET
    for event in told:
        step = state.step_of(event)
        if step is not None:
            out_of_order = max(out_of_order, state.out_of_order(step)[0])
            state = state.tell(step)
            most = np.maximum(most, state.skips())
    events = set(told)
    later = [number for number, step in enumerate(outline.steps) if step.event in events]
    return max(most[later].tolist(), default=QUIET), out_of_order
