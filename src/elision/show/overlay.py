"""A telling laid over a script: what each state on its most probable path does for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

from elision.ask.heard import hear, impossible, single

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

Part: TypeAlias = Literal["told", "filled", "silent"]
"""A state tells an event of the telling, fills a gap in it, or is passed in silence."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a state on the path does: the events it tells and their places, counted from 1."""

    part: Part
    events: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """The most probable path of a telling: roles by state, and its edges."""

    roles: dict[int, Role]
    edges: tuple[tuple[int, int], ...]
    log_prob: float


def overlay(
    script: Script, telling: Iterable[Observation], *, unknown: Unknown = "error"
) -> Overlay:
    """Lay a telling over a script.

    States of events that it says did not happen play no role on the path.

    Raises
    ------
    InputError
        If the script cannot tell it.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> found = overlay(script, ["hear doorbell", "open door"])
    >>> [script.states[k] for k, role in found.roles.items() if role.part == "silent"]
    ['walk to door', 'take parcel', 'close door']
    """
    heard = hear(script, telling, unknown=unknown)
    kept = single(heard, "draw")
    path = script.align(kept, unknown=unknown)
    if path.spurious:
        raise impossible()
    undone = states_telling(script, heard.denied)
    number = {name: k for k, name in enumerate(script.states)}
    passed = [(number[step.state], step.position) for step in path.steps if step.state is not None]
    roles: dict[int, Role] = {}
    for state, place in passed:
        if place is None and state not in undone:
            roles.setdefault(state, Role("silent"))
        if place is None:
            continue
        before = roles.get(state, Role("told"))
        part: Part = "filled" if kept[place] is None or before.part == "filled" else "told"
        event = _event(script, state, kept[place])
        where = heard.positions[place] + 1
        roles[state] = Role(part, (*before.events, event), (*before.places, where))
    steps = (0, *(state for state, _ in passed), script.size - 1)
    edges = dict.fromkeys(pairwise(steps))
    return Overlay(roles, tuple(edges), path.log_prob)


def states_telling(script: Script, events: Collection[str]) -> set[int]:
    """Return the states whose likeliest event is one of these.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> [script.states[k] for k in states_telling(script, {"open door"})]
    ['open door']
    """
    likeliest = script.emission.argmax(axis=1).tolist()
    return {k for k in range(1, script.size - 1) if script.events[likeliest[k]] in events}


def _event(script: Script, state: int, item: Observation) -> int:
    """Return the event that an item most probably is, told by this state."""
    chances = script.emission[state]
    if isinstance(item, str):
        return script.events.index(item)
    if isinstance(item, Mapping):
        known = {event: number for number, event in enumerate(script.events)}
        weights = {known[event]: share for event, share in item.items() if event in known}
        return max(weights, key=lambda event: (weights[event] * chances[event], -event))
    return int(chances.argmax())
