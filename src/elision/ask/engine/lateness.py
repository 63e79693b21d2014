"""Steps that a finished telling told too late, and how usual it is that so much speaks for one.

What speaks for it is what raises alarms while a telling is followed: orders as counted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from elision.ask.engine.passing import Passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.outline import Outline


class Late(NamedTuple):
    """An event that tells its step too late.

    Attributes
    ----------
    place
        Of the event in the telling.
    worth
        How much speaks for it (log-odds).
    before
        The event told which its own most surely comes before.
    probability
        That it does.
    """

    place: int
    worth: float
    before: str
    probability: float


class Lateness:
    """What comes too late in tellings, by the orders that an outline has counted."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._start = Passing.of(outline)
        self._usual = () if outline.alarms is None else outline.alarms.out_of_order

    @property
    def known(self) -> bool:
        """Whether it is known how usual it is that something comes too late."""
        return bool(self._usual)

    @property
    def ever(self) -> float:
        """Share of usual tellings in which anything at all speaks for a step's coming too late."""
        return (1 + sum(worth > 0 for worth in self._usual)) / (len(self._usual) + 1)

    def late(self, told: Sequence[str]) -> list[Late]:
        """Every event for whose coming too late something speaks, as they were told."""
        outline, passing = self._outline, self._start
        found = []
        first: dict[int, str] = {}
        for place, event in enumerate(told):
            step = passing.step_of(event)
            if step is None:
                continue
            worth, unit = passing.out_of_order(step)
            own = outline.unit_of[step]
            if unit is not None and worth > 0:
                found.append(Late(place, worth, first[unit], float(outline.ahead[own, unit])))
            first.setdefault(own, event)
            passing = passing.tell(step)
        return found

    def alarms(self, late: Sequence[Late], rate: float) -> list[Late]:
        """Those that would raise an alarm while the telling is followed."""
        if self._outline.alarms is None:
            return []
        limit = self._outline.alarms.threshold("out_of_order", rate)
        return [one for one in late if one.worth > limit]

    def share(self, late: Sequence[Late]) -> float:
        """Share of usual tellings in which as much speaks for one step's coming too late.

        Beyond the most that was seen each nat makes it rarer by a factor of e.
        """
        most = max((one.worth for one in late), default=0.0)
        if not self._usual or most <= 0:
            return 1.0
        above = sum(worth >= most for worth in self._usual)
        beyond = 0.0 if above else most - self._usual[0]
        return (above + 1) * math.exp(-beyond) / (len(self._usual) + 1)


def joint(first: float, second: float, ever: float) -> float:
    """Share of usual tellings in which the product of two such shares is as small.

    Parameters
    ----------
    first
        Equally distributed between 0 and 1.
    second
        1, but in a share ``ever`` of tellings equally distributed between 0 and ``ever``.
    ever
        With 1, this is Fisher's method.

    Examples
    --------
    >>> round(joint(0.05, 0.05, 1.0), 4)
    0.0175
    >>> joint(0.05, 1.0, 0.0)
    0.05
    """
    product = first * second
    if product >= ever:
        return product * (1 - ever) + ever
    return product * (2 - ever + math.log(ever / product)) if product > 0 else 0.0
