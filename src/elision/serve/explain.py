"""Everything that a script has to say about a telling, at once and quickly."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from elision.errors import InputError
from elision.serve import messages
from elision.serve.lines import understood
from elision.serve.pictures import with_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.ask.align import Aligned
    from elision.ask.between import Story
    from elision.ask.score import Conformance
    from elision.observations import Observation
    from elision.script import Script
    from elision.serve.lines import Said
    from elision.serve.shelf import Held

CLEAR = 0.9
"""Share of its likeliest event above which a sentence is not called vague."""

LONGEST_LIKENED = 100
LIKENED_EVENTS = 500
"""Similar names are sought for shorter lines, among no more events."""


def explain(held: Held, asking: messages.Asking) -> messages.Explained:
    """Explain a telling line by line: who told it, what was left unsaid, what is odd.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> door = Held("door", "door", el.examples.doorbell())
    >>> found = explain(door, messages.Asking(["hear doorbell", "?", "open door"]))
    >>> found.items[1].answers[0].event
    'walk to door'
    """
    said = understood(held, asking.telling)
    items = [_blank(one) for one in said]
    places = [place for place, one in enumerate(said) if one.kind != "unknown"]
    heard = [said[place].heard for place in places]
    try:
        aside = set(held.script.align(heard).spurious)
    except InputError as error:
        return _nothing(items, error.problem)
    kept = [index for index in range(len(heard)) if index not in aside]
    told = [heard[index] for index in kept]
    where = [places[index] for index in kept]
    aligned = held.script.align(told) if told else None
    path = _path(held.script, told, aligned)
    _place(held.script, items, where, aligned)
    _fill(held, items, told, where, asking.top)
    _resolve(held, items, said, asking.top)
    _suggest(held, items)
    unsaid = _unsaid(held.script.between(told, least=asking.least), where, len(items))
    judged = held.script.score(heard, samples=0)
    _flag(items, unsaid, places, judged)
    following = held.script.next(told, top=asking.top)
    return messages.Explained(
        items=items,
        unsaid=unsaid,
        path=path,
        next=[messages.Answer(one.event, one.probability) for one in following.answers],
        ended=following.ended,
        log_prob=_finite(judged.log_prob),
        oddness=_finite(judged.oddness) if told else None,
        odd=_odd(held, said, judged),
        note="",
        drawing=_drawing(held, asking.drawing, told, path),
    )


def _odd(held: Held, said: list[Said], judged: Conformance) -> bool:
    """Whether the telling is odd, what the script does not understand included."""
    if all(one.kind != "unknown" for one in said):
        return judged.odd
    told = [one.text if one.kind == "unknown" else one.heard for one in said]
    return held.script.score(told, samples=0).odd


def _drawing(
    held: Held,
    shape: messages.Shape | None,
    told: list[Observation],
    path: messages.Path,
) -> messages.Drawn | None:
    """Draw the part of the telling that the script can tell, if that is asked for."""
    return with_path(held, shape, told, path) if shape is not None and told else None


def _blank(said: Said) -> messages.Item:
    event = said.heard if isinstance(said.heard, str) else None
    if isinstance(said.heard, Mapping):
        event = max(said.heard, key=said.heard.__getitem__)
    return messages.Item(said.line, said.text, said.kind, event, None, 0.0, [], [], [])


def _nothing(items: list[messages.Item], note: str) -> messages.Explained:
    empty = [messages.Unsaid(1.0, [], []) for _ in range(len(items) + 1)]
    return messages.Explained(items, empty, messages.Path([], []), [], 0.0, None, None, note)


def _place(
    script: Script, items: list[messages.Item], where: Sequence[int], aligned: Aligned | None
) -> None:
    """Note which state told each item."""
    number = {name: k for k, name in enumerate(script.states)}
    for step in aligned.steps if aligned else ():
        if step.position is not None and step.state is not None:
            item = items[where[step.position]]
            item.state = number[step.state]
            item.certainty = step.certainty
            item.event = step.event if item.kind != "gap" else None


def _fill(
    held: Held,
    items: list[messages.Item],
    told: list[Observation],
    where: Sequence[int],
    top: int,
) -> None:
    """Rank the answers of each gap."""
    if None not in told:
        return
    for filling in held.script.fill(told, top=top):
        items[where[filling.position]].answers = [
            messages.Answer(one.event, one.probability) for one in filling.answers
        ]


def _resolve(held: Held, items: list[messages.Item], said: Sequence[Said], top: int) -> None:
    """Say what unclear sentences stand for, and what those might that were not understood."""
    told = [
        (place, one.heard)
        for place, one in enumerate(said)
        if items[place].state is not None or one.kind == "unknown"
    ]
    unclear = {place for place, one in enumerate(said) if _is_unclear(one)}
    if not unclear.intersection(place for place, _ in told):
        return
    try:
        found = held.script.resolve([heard for _, heard in told], top=top)
    except InputError:  # with the lines that were not understood, the telling is impossible
        return
    for one in found:
        place = told[one.position][0]
        if place in unclear:
            items[place].candidates = [
                messages.Candidate(each.event, each.weight, each.probability)
                for each in one.candidates
            ]


def _is_unclear(said: Said) -> bool:
    if isinstance(said.heard, Mapping):
        return max(said.heard.values()) < CLEAR * math.fsum(said.heard.values())
    return said.kind == "unknown"


def _suggest(held: Held, items: list[messages.Item]) -> None:
    """Flag what the script does not know, with names that are spelt alike."""
    for item in items:
        if item.kind != "unknown":
            continue
        near: list[str] = []
        if len(item.text) <= LONGEST_LIKENED:
            near = difflib.get_close_matches(item.text, held.script.events[:LIKENED_EVENTS], n=2)
        note = "not in the script" if not near else f"not in the script; {' or '.join(near)}?"
        item.flags.append(messages.Oddity("unknown", item.text, note))


def _unsaid(story: Story, where: Sequence[int], length: int) -> list[messages.Unsaid]:
    """What happened unsaid before each item, also before those that no state told."""
    found = [messages.Unsaid(1.0, [], []) for _ in range(length + 1)]
    for gap, place in zip(story.gaps, [*where, length], strict=True):
        events = [messages.Answer(one.event, one.probability) for one in gap.unsaid]
        found[place] = messages.Unsaid(gap.nothing, events, [])
    return found


def _flag(
    items: list[messages.Item],
    unsaid: list[messages.Unsaid],
    places: Sequence[int],
    judged: Conformance,
) -> None:
    """Put what is odd where it belongs."""
    ends = [*places, len(items)]
    for flag in judged.flags:
        oddity = messages.Oddity(flag.kind, flag.event, flag.note)
        if flag.kind == "skipped":
            unsaid[ends[flag.position]].flags.append(oddity)
        else:
            items[ends[flag.position]].flags.append(oddity)


def _path(script: Script, told: list[Observation], aligned: Aligned | None) -> messages.Path:
    """Return the states and edges of the most probable path."""
    if aligned is None:
        return messages.Path([], [])
    number = {name: k for k, name in enumerate(script.states)}
    parts: dict[int, messages.Passed] = {}
    steps = [0]
    for step in aligned.steps:
        if step.state is None:
            continue
        state = number[step.state]
        steps.append(state)
        if step.position is None:
            parts.setdefault(state, messages.Passed(state, "silent"))
        else:
            filled = told[step.position] is None
            parts[state] = messages.Passed(state, "filled" if filled else "told")
    steps.append(script.size - 1)
    return messages.Path([*parts.values()], [*dict.fromkeys(pairwise(steps))])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
