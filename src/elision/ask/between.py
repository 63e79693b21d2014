"""What probably happened unsaid before, between and after the events of a narrative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.errors import InputError
from elision.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.observations import Observation, Unknown
    from elision.script import Script


@dataclass(frozen=True, slots=True)
class Unsaid:
    """An event that probably happened and was not told.

    ``expected`` is how often it was passed over in silence at this place: its probability, unless
    a state loops.
    """

    event: str
    expected: float


@dataclass(frozen=True, slots=True)
class Story:
    """A narrative with what was probably left unsaid: ``unsaid[i]`` comes before ``told[i]``."""

    told: tuple[str, ...]
    unsaid: tuple[tuple[Unsaid, ...], ...]
    log_prob: float

    def __str__(self) -> str:
        lines: list[str] = []
        for place, gap in enumerate(self.unsaid):
            lines += [f"  ({step.event}, {step.expected:.0%})" for step in gap]
            lines += self.told[place : place + 1]
        return "\n".join(lines)


def between(
    script: Script,
    narrative: Iterable[Observation],
    *,
    unknown: Unknown = "error",
    least: float = 0.05,
) -> Story:
    """Tell what probably happened unsaid in each gap of a narrative, the ends included.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events that were told, in order.
    unknown
        What to do with events that the script does not know: "error" or "ignore".
    least
        Leave out what is less probable than this.

    Raises
    ------
    InputError
        If the script cannot tell this narrative at all.

    Examples
    --------
    >>> import elision as el
    >>> print(el.examples.doorbell().between(["hear doorbell", "open door"]))
    hear doorbell
      (walk to door, 100%)
      (look through peephole, 23%)
    open door
      (greet visitor, 42%)
      (let visitor in, 21%)
      (sign for parcel, 13%)
      (take parcel, 58%)
      (say goodbye, 34%)
      (close door, 100%)
    """
    items = list(narrative)
    packer = Packer(script.events, unknown=unknown)
    packed = packer.pack([items])
    found = script.lattice.posterior(packed)[0]
    if found.log_prob == -np.inf:
        raise InputError(
            "the script cannot tell this narrative in this order",
            hint="check the order of its events, or learn with smoothing",
        )
    shares = emission_shares(script.emission)
    gaps = tuple(
        _unsaid(script.events, passes[:, None] * shares, least)
        for passes in found.entered * script.elision
    )
    told = tuple(_name(item) for item in packer.kept(items))
    return Story(told, gaps, found.log_prob)


def _name(item: Observation) -> str:
    if isinstance(item, str):
        return item
    return "?" if item is None else max(item, key=lambda event: item[event])


def emission_shares(emission: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each state tells when it is not silent; rows of 0 where it always is."""
    told = emission.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(emission, told, out=np.zeros_like(emission), where=told > 0))


def _unsaid(
    events: tuple[str, ...], weight: NDArray[np.float64], least: float
) -> tuple[Unsaid, ...]:
    """Events of one gap, in the order in which the states that tell them come."""
    expected = weight.sum(axis=0)
    place = np.arange(len(weight)) @ weight
    likely = np.flatnonzero((expected >= least) & (expected > 0))
    order = likely[np.argsort(place[likely] / expected[likely], kind="stable")]
    return tuple(Unsaid(events[o], float(expected[o])) for o in order)
