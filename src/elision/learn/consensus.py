"""One script that stands for several: the nearest to what all say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elision import _threads
from elision.ask.fill import fill_gaps
from elision.learn.backoff import FOR_FILLING, back_off
from elision.learn.sem import MARGINAL_PRIOR
from elision.script import Script

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.observations import Observation

MOST_TO_COMPARE = 300
"""Gaps on which the script to read is chosen."""


def fillers_of(scripts: list[Script], narratives: list[tuple[str, ...]]) -> list[Script]:
    """Each script, backing off as is best for filling gaps."""
    found: list[Any] = [None] * len(scripts)

    packed = scripts[0].pack(narratives)

    def work(place: int) -> None:
        script = scripts[place]
        parameters = back_off(script.parameters, packed, MARGINAL_PRIOR, FOR_FILLING)
        found[place] = Script.from_parameters(script.events, parameters)

    _threads.run(work, range(len(scripts)))
    return found


def nearest_of(
    scripts: list[Script], weights: NDArray[np.float64], narratives: list[tuple[str, ...]]
) -> int:
    """Number of the script whose answers are nearest to those of all, by cross-entropy in gaps."""
    gaps: list[list[Observation]] = [
        [*one[:place], None, *one[place + 1 :]]
        for one in dict.fromkeys(narratives)
        for place in range(len(one))
    ]
    if not gaps:
        return 0
    asked = gaps[:: max(1, len(gaps) // MOST_TO_COMPARE)]
    said = np.stack([fill_gaps(script, asked) for script in scripts])
    together = np.einsum("sge,s->ge", said, weights)
    distance = -(together * np.log(said + np.finfo(float).tiny)).sum(axis=(1, 2))
    return int(distance.argmin())
