"""Sentences as a script hears them, by the extractor that was learned with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from elision.errors import UnknownEventError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.values.observations import Observation
    from elision.values.script import Script

NEAREST = 3
"""Events that are named as the nearest to a sentence that stands for none."""


class Taken(NamedTuple):
    """What a sentence of a telling was taken for, with the share of the event's weight.

    A sentence that tells several things stands here several times, and one that tells nothing that
    the script knows has no event.
    """

    position: int
    sentence: str
    event: str | None
    share: float


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


def taken_for(script: Script, items: Iterable[object]) -> list[Taken]:
    """Say what each sentence of a telling is taken for; names of events and gaps are left out.

    Examples
    --------
    >>> import elision as el
    >>> told = [["hear the bell", "walk to the door", "open the door"]] * 3
    >>> extractor = el.EventExtractor("wordnet").fit(told)
    >>> learned = el.ScriptLearner().fit(extractor.transform(told)).script_
    >>> script = learned.annotated(extractor=extractor.to_dict())
    >>> [(one.sentence, one.event) for one in taken_for(script, ["she heard a bell", None])]
    [('she heard a bell', 'hear')]
    """
    found: list[Taken] = []
    if script.extractor is None:
        return found
    known = set(script.events)
    for position, item in enumerate(items):
        if not isinstance(item, str) or item in known:
            continue
        heard = [one for one in observations(script, [item]) if isinstance(one, Mapping)]
        for weights in heard:
            event = max(weights, key=lambda name: weights[name])
            found.append(Taken(position, item, event, float(weights[event])))
        if not heard:
            found.append(Taken(position, item, None, 0.0))
    return found


def unknown_sentence(script: Script, sentence: str, where: str) -> UnknownEventError:
    """Return the complaint about a sentence that stands for none of the script's events."""
    near: list[str] = []
    if script.extractor is not None:
        rows = script.extractor.transform_proba([[sentence]])[0]
        weights = rows[0] if rows else {}
        near = sorted(weights, key=lambda name: -weights[name])[:NEAREST]
    nearest = "; nearest: " + ", ".join(near) if near else ""
    return UnknownEventError(
        f"unknown sentence {short(sentence)}{nearest}",
        where=where,
        hint="unknown='ignore' leaves such sentences out",
    )
