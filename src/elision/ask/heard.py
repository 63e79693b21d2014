"""How a script hears a narrative: event names, sentences, gaps and stretches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import EllipsisType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from elision.errors import InputError
from elision.observations import Packer, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.observations import Observation, Unknown
    from elision.script import Script

Item: TypeAlias = "Observation | EllipsisType"
"""An observation, or ``...`` for any number of events that were left out."""


class Heard(NamedTuple):
    """The items of a narrative that the script understands, and where each stood in it.

    ``ignored`` are the places and names of the others.
    """

    items: list[Item]
    positions: Sequence[int]
    ignored: Sequence[tuple[int, str]] = ()


def hear(script: Script, narrative: Iterable[Item], *, unknown: Unknown = "error") -> Heard:
    """Turn sentences into observations, and leave out what is to be ignored.

    Parameters
    ----------
    script
        The script that is asked.
    narrative
        Event names; None for some event, ``...`` for any number of them, mappings from event to
        weight. Where the script was learned from sentences, an unknown name is taken for one.
    unknown
        "error" keeps unknown events, for the packer to complain of; "ignore" leaves them out.

    Examples
    --------
    >>> import elision as el
    >>> hear(el.examples.doorbell(), ["cough", "open door", None], unknown="ignore")
    Heard(items=['open door', None], positions=[1, 2], ignored=[(0, 'cough')])
    """
    return hear_all(script, [narrative], unknown=unknown)[0]


def hear_all(
    script: Script, narratives: Iterable[Iterable[Item]], *, unknown: Unknown = "error"
) -> list[Heard]:
    """Hear each of many narratives as `hear` does."""
    packer = Packer(script.events, unknown=unknown)
    known = {None, *script.events}
    found = []
    for narrative in narratives:
        items = _listed(narrative)
        try:  # the common case: names and gaps only, all known
            usual = known.issuperset(items)
        except TypeError:
            usual = False
        found.append(
            Heard(items, range(len(items)))
            if usual
            else _hear(script, items, packer, known, unknown)
        )
    return found


def _hear(
    script: Script, items: list[Item], packer: Packer, known: set[str | None], unknown: Unknown
) -> Heard:
    heard: list[Item] = []
    positions: list[int] = []
    ignored: list[tuple[int, str]] = []
    for position, item in enumerate(items):
        found: list[Item] = [item]
        if isinstance(item, str) and item not in known and script.extractor is not None:
            found = [*_sentence(script, item)]
        if unknown == "ignore":
            found = [
                _known(one, known)
                for one in found
                if isinstance(one, EllipsisType) or packer.kept([one])
            ]
        heard += found
        positions += [position] * len(found)
        if not found:
            ignored.append((position, name_of(item)))
    return Heard(heard, positions, ignored)


def understood(script: Script, narrative: Iterable[Observation]) -> Iterable[Observation]:
    """Return a narrative with its sentences as observations, and all else as it was.

    For questions that have their own ways with events that the script does not know: a sentence
    that stands for none of the script's events stays such an event.
    """
    if script.extractor is None or isinstance(narrative, str):
        return narrative
    known = set(script.events)
    found: list[Observation] = []
    for item in narrative:
        heard: list[Observation] = []
        if isinstance(item, str) and item not in known:
            heard = _sentence(script, item)
        found += heard or [item]
    return found


def single(heard: Heard, question: str) -> list[Observation]:
    """Return the items of a narrative without stretches, for questions that know none."""
    for item, position in zip(heard.items, heard.positions, strict=True):
        if item is ...:
            problem = f"{question} does not take a stretch of any number of events (...)"
            raise InputError(problem, where=f"event {position}", hint="put None for one event")
    return cast("list[Observation]", heard.items)


def gap_positions(heard: Heard) -> list[int]:
    """Indices of the gaps (None) among the items; at least one."""
    gaps = [index for index, item in enumerate(heard.items) if item is None]
    if not gaps:
        raise InputError("the narrative has no gap", hint="put None where an event is missing")
    return gaps


def name_of(item: Item) -> str:
    """How an item is shown: its likeliest event, ? for a gap."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return max(item, key=lambda event: item[event])
    return "?" if item is None else "..."


def impossible() -> InputError:
    """Return the complaint about a narrative that the script cannot tell."""
    return InputError(
        "the script cannot tell this narrative in this order",
        hint="check the order of its events, or learn with smoothing",
    )


def excluded() -> InputError:
    """Return the complaint about a question that leaves no answer."""
    return InputError("every possible event is excluded", hint="exclude fewer events")


def check_top(top: int | None) -> None:
    """Refuse to rank fewer answers than one."""
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise InputError(f"top is {short(top)}, expected a whole number from 1")


def _sentence(script: Script, sentence: str) -> list[Observation]:
    from elision.ask.sentences import observations  # noqa: PLC0415 - needs the extractor

    return [one for one in observations(script, [sentence]) if one is None or len(one) > 0]


def _known(item: Item, known: set[str | None]) -> Item:
    if isinstance(item, Mapping):
        return {event: weight for event, weight in item.items() if event in known}
    return item


def _listed(narrative: object) -> list[Item]:
    if isinstance(narrative, list | tuple):
        return list(narrative)
    unordered = isinstance(narrative, str | bytes | Mapping | AbstractSet)
    if unordered or not isinstance(narrative, Iterable):
        raise InputError(
            f"the narrative is {short(narrative)}, expected a list of events",
            hint="wrap a single event in a list",
        )
    return list(narrative)
