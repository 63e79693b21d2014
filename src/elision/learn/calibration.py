"""How odd ordinary tellings are: each judged by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from elision import _threads
from elision.ask.telling.deviations import weigh, with_unknown
from elision.ask.telling.slots import likeliest
from elision.values.telling import Calibration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.learn.held_out import HeldOut
    from elision.values.observations import Observation
    from elision.values.telling import TellingModel

    Heard = Sequence[Sequence[Observation]]
    Judged = tuple[tuple[int, ...], int]
    """What is known of a narrative, and how many events it has."""

FEWEST = 19
"""With fewer narratives none could be odder than nineteen of twenty."""

UNSEEN = 0.01
"""Unknown events that count as seen where none were: they are taken for rare until they are."""


def learn_calibration(
    held_out: Sequence[HeldOut], *, heard: Heard | None = None, closed: bool = False
) -> Calibration | None:
    """How odd the narratives held out are; None if they are too few.

    Parameters
    ----------
    held_out
        Models and what they have not seen.
    heard
        All narratives as they are heard, if it is not always sure what an event is, None for what
        is unknown: each is judged as the likeliest that it may tell, as those are that are asked
        about.
    closed
        Whether all events are known beforehand. If not, those that a model has never seen count as
        unknown, as they do in a telling that is judged.
    """
    if sum(len(part.narratives) for part in held_out) < FEWEST:
        return None
    judged = [
        _known(part, closed=closed) if heard is None else _settled(part, heard, closed=closed)
        for part in held_out
    ]
    told = sum(length for some in judged for _, length in some)
    strange = told - sum(len(one) for some in judged for one, _ in some)
    share = (strange + UNSEEN) / (told + 1)
    found = [_oddness(part.model, some, share) for part, some in zip(held_out, judged, strict=True)]
    return Calibration.of(np.concatenate(found), share)


def _seen(part: HeldOut, *, closed: bool) -> set[int]:
    """The events that the model knows."""
    if closed:
        return set(range(len(part.model.events)))
    return {event for one in set(part.seen) for event in one}


def _known(part: HeldOut, *, closed: bool) -> list[Judged]:
    """What the model can have seen of the narratives held out, and how long they are."""
    seen = _seen(part, closed=closed)
    known = (tuple(event for event in one if event in seen) for one in part.narratives)
    return [(some, len(one)) for some, one in zip(known, part.narratives, strict=True)]


def _settled(part: HeldOut, heard: Heard, *, closed: bool) -> list[Judged]:
    """The same, each event being the likeliest of those that it may be."""
    names = {part.model.events[event] for event in _seen(part, closed=closed)}
    told: list[Judged] = [((), 0)] * len(part.numbers)

    def settle(place: int) -> None:
        items = heard[part.numbers[place]]
        settled = likeliest(part.model, list(_among(items, names)))
        told[place] = tuple(settled.tolist()), len(items)

    _threads.run(settle, range(len(told)))
    return told


def _among(items: Iterable[Observation], names: set[str]) -> Iterator[Observation]:
    """The items that may be one of these events, as such."""
    for item in items:
        if isinstance(item, Mapping):
            kept = {event: share for event, share in item.items() if event in names}
            if kept:
                yield kept
        elif item in names:
            yield item


def _oddness(model: TellingModel, judged: Sequence[Judged], strange: float) -> NDArray[np.float64]:
    distinct = list(dict.fromkeys(known for known, _ in judged))
    found: dict[tuple[int, ...], float] = {}

    def judge(number: int) -> None:
        one = distinct[number]
        found[one] = weigh(model, np.array(one, np.int64)).oddness

    _threads.run(judge, range(len(distinct)))
    return np.array(
        [
            with_unknown(found[known], length - len(known), length, strange)
            for known, length in judged
        ]
    )
