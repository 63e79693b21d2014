"""Which event is missing, where its place is unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html, kernels
from elision.ask.fill import allowed_events
from elision.ask.heard import check_top, excluded, hear, impossible, name_of, single
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation, Packed, Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True)
class Placed:
    """An event that may be the missing one.

    ``places[i]`` is the probability that it is missing before the event ``told[i]`` of `Anywhere`,
    and the last one that it is missing at the end; together they are ``probability``.
    """

    event: str
    probability: float
    places: tuple[float, ...]

    @property
    def place(self) -> int:
        """The likeliest place."""
        return int(np.argmax(self.places))


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Ranked answers to which event is missing, and where one is missing, whichever it is."""

    told: tuple[str, ...]
    answers: tuple[Placed, ...]
    places: tuple[float, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{one.event}  {one.probability:.0%}  ({self._where(one.place)})"
            for one in self.answers
        )

    def _repr_html_(self) -> str:
        rows = [(one.event, one.probability, self._where(one.place)) for one in self.answers]
        return _html.table(["event", "probability", "likeliest place"], rows)

    def _where(self, place: int) -> str:
        return f"before {self.told[place]}" if place < len(self.told) else "at the end"


def fill_anywhere(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> Anywhere:
    """Rank the events that may be missing from a narrative, exactly one, its place unknown.

    The probability of an event and a place is proportional to that of the narrative with the event
    put there. One pass serves all places, also where the narrative as it stands is impossible.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events that are left.
    top
        How many events; all by default.
    exclude
        Events that are not the missing one.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If no single event makes the narrative one that the script can tell.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> told = ["hear doorbell", "walk to door", "take parcel", "close door"]
    >>> print(fill_anywhere(script, told, top=2))
    open door  59%  (before take parcel)
    look through peephole  14%  (before take parcel)
    """
    check_top(top)
    items = single(hear(script, narrative, unknown=unknown), "fill anywhere")
    allowed = allowed_events(script, exclude)
    chances = insertions(script, Packer(script.events).pack([items])) * allowed
    if not chances.any():
        raise impossible() if allowed.all() else excluded()
    return placed(script, items, chances / chances.sum(), top)


def placed(
    script: Script, items: list[Observation], chances: NDArray[np.float64], top: int | None
) -> Anywhere:
    """Make the answer from the probability of each event at each place."""
    events = chances.sum(axis=0)
    order = [o for o in np.argsort(-events, kind="stable").tolist() if events[o] > 0][:top]
    return Anywhere(
        told=tuple(map(name_of, items)),
        answers=tuple(
            Placed(script.events[o], float(events[o]), tuple(chances[:, o].tolist())) for o in order
        ),
        places=tuple(chances.sum(axis=1).tolist()),
    )


def insertions(script: Script, packed: Packed) -> NDArray[np.float64]:
    """Weight of each event put at each place of a narrative, (events told + 1, events)."""
    model = script.lattice.model(packed)
    log_model = script.lattice.log_model(model)
    _, arrive, after, _, _ = kernels.log_passes.log_tables(model, log_model, packed.symbol)
    tells = script.emission.any(axis=1)
    entered = (arrive + after)[:, tells]
    largest = entered.max(initial=-np.inf)
    if largest == -np.inf:
        return np.zeros((len(entered), len(script.events)))
    return np.asarray(np.exp(entered - largest) @ script.emission[tells])
