"""How odd ordinary tellings are: each judged by a model that has not seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision import _threads
from elision.ask.telling.slips import weigh, with_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.learn.held_out import HeldOut

FEWEST = 19
"""With fewer narratives none could be odder than nineteen of twenty."""


def learn_usual(held_out: Sequence[HeldOut]) -> NDArray[np.float64] | None:
    """Oddness of the narratives held out, ascending; None if they are too few.

    Events that a model has never seen count as unknown, as they do in a telling that is judged.
    """
    if sum(len(part.narratives) for part in held_out) < FEWEST:
        return None
    return np.sort(np.concatenate([_oddness(part) for part in held_out]))


def _oddness(part: HeldOut) -> NDArray[np.float64]:
    seen = {event for one in part.seen for event in one}
    distinct = list(dict.fromkeys(part.narratives))
    found: dict[tuple[int, ...], float] = {}

    def judge(number: int) -> None:
        one = distinct[number]
        known = [event for event in one if event in seen]
        oddness = weigh(part.model, np.array(known, np.int64)).oddness
        found[one] = with_unknown(oddness, len(one) - len(known), len(one))

    _threads.run(judge, range(len(distinct)))
    return np.array([found[one] for one in part.narratives])
