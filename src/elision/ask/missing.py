"""What is missing from the record: events that would stand in it, had nothing been removed.

Not to be mixed with `elision.ask.between`: that one says what happened though nobody tells it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html, ask
from elision.ask.engine.checks import probability
from elision.ask.heard import hear, name_of, single
from elision.values.observations import beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

PROBABLE = 0.5
"""What is at least so probable is put into the repaired telling."""

LONG_NARRATIVE, LONG = 300, 200_000
"""Places, and places times events, above which events are put in at all places at once."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """An event that is probably missing from the record at a place."""

    event: str
    probability: float


@dataclass(frozen=True, slots=True)
class Restored:
    """An event of a repaired telling, whether it was told, and how probable it is."""

    event: str
    told: bool
    probability: float


@dataclass(frozen=True, slots=True)
class Omissions:
    """What is probably missing from a record.

    Attributes
    ----------
    told
        The events that were told.
    places
        ``places[i]`` are the events that may be missing before ``told[i]``, the last ones those
        that may be missing at the end, most probable first.
    repaired
        The telling with everything put in that is more probable than not, one after the other, each
        in the light of those before it.
    """

    told: tuple[str, ...]
    places: tuple[tuple[Omitted, ...], ...]
    repaired: tuple[Restored, ...]

    def __str__(self) -> str:
        lines = []
        for place, found in enumerate(self.places):
            lines += [f"  ({one.event}, {one.probability:.0%})" for one in found]
            lines += self.told[place : place + 1]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (one.event, "" if one.told else f"missing, {one.probability:.0%}")
            for one in self.repaired
        ]
        return _html.table(["event", ""], rows)


def missing(
    script: Script,
    narrative: Iterable[Item],
    *,
    min_probability: float = 0.05,
    unknown: Unknown = "error",
    finished: bool = True,
) -> Omissions:
    """Say which events are probably missing from the record, and where.

    Parameters
    ----------
    script
        The script of the activity: it takes what was passed in silence for missing.
    narrative
        The events that are recorded.
    min_probability
        Least probability of what is listed.
    unknown
        What to do with events that the script does not know: "error" or "ignore".
    finished
        Whether the record is at its end; if not, nothing is missing after its last event.

    Examples
    --------
    >>> import elision as el
    >>> print(missing(el.examples.doorbell(), ["hear doorbell", "open door"], min_probability=0.5))
    hear doorbell
      (walk to door, 100%)
    open door
      (close door, 100%)
      (take parcel, 58%)
    """
    return found_missing(
        script,
        narrative,
        lambda items: ask.engine.chances.missing_chances(script, [items], finished=finished)[0],
        min_probability=min_probability,
        unknown=unknown,
        finished=finished,
    )


def _put_in(chances: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Places and events to put in before the rest is weighed again, the last place first.

    The most probable event; in long narratives that of each place where it is probable, since
    places hardly depend on each other there, and weighing all again takes long.
    """
    if chances.size <= LONG and len(chances) <= LONG_NARRATIVE:
        place, event = divmod(int(chances.argmax()), chances.shape[1])
        return [(place, event)]
    best = chances.argmax(axis=1)
    places = np.flatnonzero(chances.max(axis=1) > PROBABLE)
    return [(place, int(best[place])) for place in places[::-1].tolist()]


def found_missing(
    script: Script,
    narrative: Iterable[Item],
    chances_of: Callable[[list[Observation]], NDArray[np.float64]],
    *,
    min_probability: float,
    unknown: Unknown,
    finished: bool,
) -> Omissions:
    """Make the answer from the probabilities of any place and event, asked again after each."""

    def weighed(held: list[Observation]) -> NDArray[np.float64]:
        chances = np.array(chances_of(held))
        chances[:, never] = 0.0  # of these it was said that they did not happen
        if not finished:
            chances[-1] = 0.0
        return chances

    min_probability = probability(min_probability, "min_probability")
    heard = hear(script, narrative, unknown=unknown)
    items = single(heard, "missing")
    never = [o for o, event in enumerate(script.events) if event in heard.denied]
    chances = weighed(items)
    places = tuple(
        tuple(
            Omitted(script.events[o], float(row[o]))
            for o in np.argsort(-row, kind="stable").tolist()
            if row[o] >= min_probability and row[o] > 0
        )
        for row in chances
    )
    restored = [Restored(name_of(item), True, 1.0) for item in items]
    held: list[Observation] = list(items)
    while chances.max(initial=0.0) > PROBABLE and len(held) < 2 * len(items) + len(script.events):
        for place, event in _put_in(chances):
            held[place:place] = beside(items, [script.events[event]])
            one = Restored(script.events[event], False, float(chances[place, event]))
            restored.insert(place, one)
        chances = weighed(held)
    return Omissions(tuple(map(name_of, items)), places, tuple(restored))
