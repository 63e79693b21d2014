"""What a telling left out, each step once: how probably it happened unsaid, and where.

`elision.ask.outlined.between` spreads a step over all places where it may have happened; to read a
restored telling, one needs to see it in one place, with one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.ask.outlined import nothing_unsaid, silences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.outline import Outline


class LeftOut(NamedTuple):
    """What was probably left out of a telling.

    Attributes
    ----------
    unsaid
        Probability that each step happened by now and was not told.
    place
        Where it most probably happened: before which of the told events, or after the last.
    something
        For each place, the probability that any of the steps that belong there was left out.
    """

    unsaid: NDArray[np.float64]
    place: NDArray[np.int64]
    something: NDArray[np.float64]


def left_out(
    outline: Outline,
    told: Sequence[int | None],
    *,
    finished: bool,
    places: Sequence[int] | None = None,
) -> LeftOut:
    """Say what was left out of a telling, every step at its likeliest place.

    Parameters
    ----------
    outline
        The outline.
    told
        The step of each event told, None where there is none.
    finished
        Whether the telling is at its end; if not, what comes after its last event is still to come.
    places
        Numbers of the places before each event and after the last, ascending, where some of these
        are one and the same; by default all differ.

    Examples
    --------
    >>> import elision as el
    >>> outline = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.outline()
    >>> names = [step.name for step in outline.steps]
    >>> found = left_out(outline, [names.index("open door")], finished=False)
    >>> [round(float(found.unsaid[names.index(one)]), 2) for one in ("walk to door", "close door")]
    [0.96, 0.03]
    """
    where = np.arange(len(told) + 1) if places is None else np.asarray(places, np.int64)
    at = np.zeros((int(where[-1]) + 1, len(outline.steps)))
    spread = silences(outline, told)
    if not finished:
        spread[-1] = 0.0
    np.add.at(at, where, spread)
    unsaid = np.minimum(at.sum(axis=0), 1.0)
    place = at.argmax(axis=0)
    gathered = np.zeros_like(at)
    gathered[place, np.arange(len(place))] = unsaid
    return LeftOut(unsaid, place, 1 - nothing_unsaid(outline, told, gathered))
