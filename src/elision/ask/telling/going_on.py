"""How a telling that is not finished may go on, drawn from the telling model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.telling.ahead import beginnings, drawn_on
from elision.ask.telling.slots import sketch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.observations import Observation
    from elision.values.telling import TellingModel

DRAWN = 16
"""Ways to go on that are drawn. With 40, probabilities of beginnings were no better."""

MOST_ADDED = 100
"""Events by which a beginning is gone on with at most."""

MOST_READ = 1_000_000
"""Events, times kinds, of all ways together: fewer ways are drawn for long beginnings."""


def continuations(
    model: TellingModel, items: Sequence[Observation]
) -> list[tuple[list[str], float]]:
    """Draw how a telling that begins like this goes on, the different ways with their shares.

    The same beginning has the same continuations.
    """
    rng = np.random.default_rng(0)
    begun = beginnings(model, sketch(model, items))
    weight = np.array([one.log_prob for one in begun])
    chance = np.exp(weight - weight.max())
    number = max(1, min(DRAWN, MOST_READ // ((len(items) + 1) * len(model.events))))
    found: dict[tuple[int, ...], int] = {}
    for k in rng.choice(len(begun), number, p=chance / chance.sum()).tolist():
        whole = drawn_on(model, begun[k].told, rng, longest=len(items) + MOST_ADDED)
        rest = tuple(whole[len(items) :].tolist())
        found[rest] = found.get(rest, 0) + 1
    return [
        ([model.events[event] for event in rest], count / number) for rest, count in found.items()
    ]
