"""Which events are missing at known places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.between import emission_shares
from elision.errors import InputError
from elision.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.observations import Observation, Unknown
    from elision.script import Script


@dataclass(frozen=True, slots=True)
class Answer:
    """An event that may fill a gap, and how probable it is there."""

    event: str
    probability: float


@dataclass(frozen=True, slots=True)
class Filling:
    """Ranked answers for the gap at ``position`` of a narrative."""

    position: int
    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        return "\n".join(f"{one.event}  {one.probability:.0%}" for one in self.answers)


def fill(
    script: Script,
    narrative: Iterable[Observation],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> list[Filling]:
    """Rank the events that may fill each gap (None) of a narrative, each gap by itself.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        Events, with None where one is missing.
    top
        How many answers a gap; all by default.
    exclude
        Events that are no answer; the others share their probability.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> print(fill(script, ["hear doorbell", None, "open door"], top=2)[0])
    walk to door  81%
    look through peephole  19%
    """
    if top is not None and top < 1:
        raise InputError(f"top is {top}, expected a number from 1")
    items = list(narrative)
    gaps = [place for place, item in enumerate(items) if item is None]
    if not gaps:
        raise InputError("the narrative has no gap", hint="put None where an event is missing")
    banned = set(exclude)
    allowed = np.array([event not in banned for event in script.events])
    fillings = []
    for place, chances in zip(gaps, _chances(script, [items], unknown)[0], strict=True):
        kept = chances * allowed
        if not kept.any():
            raise InputError("every possible event is excluded")
        kept = kept / kept.sum()
        order = np.argsort(-kept, kind="stable")[:top]
        answers = tuple(Answer(script.events[o], float(kept[o])) for o in order if kept[o] > 0)
        fillings.append(Filling(place, answers))
    return fillings


def fill_gaps(
    script: Script,
    narratives: Iterable[Sequence[Observation]],
    *,
    unknown: Unknown = "error",
) -> NDArray[np.float64]:
    """Probability of each event in the one gap (None) of each narrative, (narratives, events).

    A narrative that the script cannot tell at all gets the events' overall probabilities: a gap
    always has an answer.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> found = fill_gaps(script, [["hear doorbell", None, "open door"]])
    >>> script.events[found[0].argmax()]
    'walk to door'
    """
    given = [list(narrative) for narrative in narratives]
    for number, narrative in enumerate(given):
        holes = sum(item is None for item in narrative)
        if holes != 1:
            raise InputError(f"narrative {number} has {holes} gaps (None), expected one")
    found = [rows[0] for rows in _chances(script, given, unknown)]
    return np.array(found).reshape(len(given), len(script.events))


def _chances(
    script: Script, narratives: list[list[Observation]], unknown: Unknown
) -> list[NDArray[np.float64]]:
    """For each narrative the probability of each event in each of its gaps, (gaps, events)."""
    packer = Packer(script.events, unknown=unknown)
    packed = packer.pack(narratives)
    posteriors = script.lattice.posterior(packed)
    shares = emission_shares(script.emission)
    usual = None
    rows = []
    for narrative, place in zip(narratives, packed.place.tolist(), strict=True):
        kept = packer.kept(narrative) if unknown == "ignore" else narrative
        gaps = [position for position, item in enumerate(kept) if item is None]
        chances = posteriors[place].told[gaps] @ shares
        if not chances.any():
            usual = overall(script) if usual is None else usual
            chances = np.tile(usual, (len(gaps), 1))
        rows.append(np.asarray(chances / chances.sum(axis=1, keepdims=True)))
    return rows


def overall(script: Script) -> NDArray[np.float64]:
    """How often each event is told, as a distribution."""
    visits = np.zeros(script.size)
    visits[0] = 1.0
    for k in range(1, script.size):
        visits[k] = visits[:k] @ script.transition[:k, k] / (1 - script.transition[k, k])
    told = visits @ script.emission
    if not told.any():
        raise InputError("the script tells no event, so nothing can be filled in")
    return np.asarray(told / told.sum())
