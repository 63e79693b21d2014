"""How odd ordinary tellings are: each judged by a model that has not seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision import _threads
from elision.ask.telling.deviations import weigh, with_unknown
from elision.values.telling import Calibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.learn.held_out import HeldOut, Narratives

FEWEST = 19
"""With fewer narratives none could be odder than nineteen of twenty."""

UNSEEN = 0.01
"""Unknown events that count as seen where none were: they are taken for rare until they are."""


def learn_calibration(held_out: Sequence[HeldOut], *, closed: bool = False) -> Calibration | None:
    """How odd the narratives held out are; None if they are too few.

    Parameters
    ----------
    held_out
        Models and what they have not seen.
    closed
        Whether all events are known beforehand. If not, those that a model has never seen count as
        unknown, as they do in a telling that is judged.
    """
    if sum(len(part.narratives) for part in held_out) < FEWEST:
        return None
    known = [_known(part, closed=closed) for part in held_out]
    told = sum(len(one) for part in held_out for one in part.narratives)
    strange = told - sum(len(one) for some in known for one in some)
    share = (strange + UNSEEN) / (told + 1)
    found = [_oddness(part, some, share) for part, some in zip(held_out, known, strict=True)]
    return Calibration.of(np.concatenate(found), share)


def _known(part: HeldOut, *, closed: bool) -> Narratives:
    """What the model can have seen of the narratives held out."""
    seen = {event for one in set(part.seen) for event in one}
    return [tuple(event for event in one if closed or event in seen) for one in part.narratives]


def _oddness(part: HeldOut, known: Narratives, strange: float) -> NDArray[np.float64]:
    distinct = list(dict.fromkeys(known))
    found: dict[tuple[int, ...], float] = {}

    def judge(number: int) -> None:
        one = distinct[number]
        found[one] = weigh(part.model, np.array(one, np.int64)).oddness

    _threads.run(judge, range(len(distinct)))
    return np.array(
        [
            with_unknown(found[some], len(one) - len(some), len(one), strange)
            for one, some in zip(part.narratives, known, strict=True)
        ]
    )
