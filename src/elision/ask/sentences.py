"""Sentences as a script hears them, by the extractor that was learned with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.observations import Observation
    from elision.script import Script


def observations(script: Script, sentences: Iterable[str]) -> list[Observation]:
    """Turn sentences into what a script can be asked about, if it was learned from some.

    Each becomes weights of the events that it may stand for: several, where it tells several
    things, and none at all if it stands for none of the script's events.
    """
    if script.extractor is None:
        return []
    known = set(script.events)
    heard = (one for sentence in sentences for one in script.extractor.observe([sentence]))
    weights = (
        {event: share for event, share in one.items() if event in known}
        for one in heard
        if isinstance(one, Mapping)
    )
    return [one for one in weights if one]
