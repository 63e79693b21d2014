"""One telling of an activity as an immutable value, checked when it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from types import MappingProxyType

from elision.errors import InputError, shown

__all__ = ["Narrative"]

FIELDS = ("domain", "id", "steps", "events")
NO_EVENTS_HINT = "turn sentences into events first: EventExtractor().fit_transform(corpus)"
_NO_EXTRA: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Narrative:
    """One telling of an activity: its events, its sentences, or both side by side.

    It can stand wherever a list of its events can.

    Parameters
    ----------
    events
        Event types in order. None where only sentences are known.
    steps
        Raw sentences in order. None where only events are known. With both, one step an event.
    domain
        The activity that is told; "" where it is not said.
    id
        A name for messages and results. It need not be unique.
    extra
        Other fields of the record, kept as they came.

    Raises
    ------
    InputError
        Where a field has the wrong type, an event or step is empty, or the lengths differ.

    Examples
    --------
    >>> narrative = Narrative(("hear bell", "open door"), domain="doorbell")
    >>> narrative.events
    ('hear bell', 'open door')
    >>> list(narrative)
    ['hear bell', 'open door']
    """

    events: tuple[str, ...] | None = None
    steps: tuple[str, ...] | None = None
    domain: str = ""
    id: str = ""
    # Left out of the hash: the values may be lists, as JSON has them.
    extra: Mapping[str, object] = field(default_factory=lambda: _NO_EXTRA, hash=False)

    def __post_init__(self) -> None:
        check_text(self.domain, "domain")
        check_text(self.id, "id")
        if self.events is not None:
            object.__setattr__(self, "events", checked_strings(self.events, "events"))
        if self.steps is not None:
            object.__setattr__(self, "steps", checked_strings(self.steps, "steps"))
            if self.events is not None:
                _check_lengths(self.events, self.steps)
        elif self.events is None:
            raise InputError(
                "neither 'events' nor 'steps'",
                hint="give event types as 'events', sentences as 'steps', or both",
            )
        if self.extra is not _NO_EXTRA:
            object.__setattr__(self, "extra", MappingProxyType(_checked_extra(self.extra)))

    def __reduce__(self) -> tuple[type[Narrative], tuple[object, ...]]:
        # A mapping proxy cannot be pickled, and narratives travel to cluster workers.
        extra = (dict(self.extra),) if self.extra else ()
        return Narrative, (self.events, self.steps, self.domain, self.id, *extra)

    def __iter__(self) -> Iterator[str]:
        """Go through the events; an InputError where only sentences are known."""
        if self.events is None:
            named = f"id {shown(self.id)}" if self.id else None
            raise InputError("it has no events", where=named, hint=NO_EVENTS_HINT)
        return iter(self.events)

    @property
    def length(self) -> int:
        """How many events, or sentences where the events are not known yet."""
        told = self.steps if self.events is None else self.events
        return len(told or ())


def unchecked(
    events: tuple[str, ...] | None, steps: tuple[str, ...] | None, domain: str, name: str
) -> Narrative:
    """Return a narrative of values that a reader has checked already, in a third of the time."""
    narrative = object.__new__(Narrative)
    put = object.__setattr__
    put(narrative, "events", events)
    put(narrative, "steps", steps)
    put(narrative, "domain", domain)
    put(narrative, "id", name)
    put(narrative, "extra", _NO_EXTRA)
    return narrative


def check_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{shown(value)} is not a string", where=f"field '{name}'")


def checked_strings(value: object, name: str) -> tuple[str, ...]:
    """Return the strings of a field as a tuple, or say which one is no use."""
    where = f"field '{name}'"
    # Lists go first because asking for an abstract class is slow.
    if not isinstance(value, list | tuple):
        unordered = isinstance(value, str | bytes | Mapping | AbstractSet)
        if unordered or not isinstance(value, Iterable):
            raise InputError(f"{shown(value)} is not a list of strings", where=where)
    items = tuple(value)
    if set(map(type, items)) <= {str} and "" not in items:
        return items
    for position, item in enumerate(items):
        if not isinstance(item, str) or not item:
            raise InputError(
                f"{name}[{position}] is {shown(item)}; expected a non-empty string",
                where=where,
                hint=f"give each of the {name} as text, and leave out those that were not told",
            )
    # Subclasses such as numpy.str_ become plain strings, so that equal corpora are equal bytes.
    return tuple(map(str.__str__, items))


def _check_lengths(events: Sequence[str], steps: Sequence[str]) -> None:
    if len(events) != len(steps):
        raise InputError(
            f"{len(events)} events but {len(steps)} steps; expected one event a step",
            where="field 'events'",
            hint="give both lists the same length, or only one of them",
        )


def _checked_extra(extra: object) -> dict[str, object]:
    where = "field 'extra'"
    if not isinstance(extra, Mapping):
        raise InputError(f"{shown(extra)} is not a mapping", where=where)
    for key in extra:
        if not isinstance(key, str) or key in FIELDS:
            raise InputError(
                f"{shown(key)} cannot name an extra field",
                where=where,
                hint=f"use strings other than {', '.join(FIELDS)}",
            )
    return dict(extra)
