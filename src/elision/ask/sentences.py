"""Questions in sentences: what each stands for, as far as the script's extractor can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from elision.errors import UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.observations import Observation
    from elision.script import Script


def observations(script: Script, items: Iterable[str | None]) -> list[Observation]:
    """Turn event names and sentences into what a script can be asked about.

    A known event stands for itself. A sentence is mapped by the extractor that was learned with the
    script, to probabilities of the events it may stand for; one that stands for none of them is
    left out. None stays a gap.
    """
    known = set(script.events)
    result: list[Observation] = []
    for place, item in enumerate(items):
        if item is None or item in known:
            result.append(item)
            continue
        extractor = script.extractor
        if extractor is None:
            raise UnknownEventError(
                f"unknown event {item!r}",
                where=f"event {place}",
                hint="this script was not learned from sentences, so it knows its events only",
            )
        heard = extractor.observe([item])
        result.extend(
            {event: share for event, share in one.items() if event in known}
            for one in heard
            if isinstance(one, Mapping)
        )
    return result
