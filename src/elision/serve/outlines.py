"""The outline of a script for the page: drawn once, with what is to be said about its steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision.serve import messages
from elision.serve.shelf import folded
from elision.show.outline_picture import outline_picture
from elision.show.outline_svg import DARK, LIGHT, RULES, outline_svg
from elision.show.words import cleaned
from elision.values.outline_reading import condition

if TYPE_CHECKING:
    from elision.serve.shelf import Held
    from elision.values.outline import Outline

WORDINGS = 5
MANY, WIDE = 150, 1368.0
"""So many steps are drawn so wide, without seeking what suits them best: that takes long."""

MOST_BONDS = 2000


def outlined(held: Held, room: float | None = None) -> messages.Outlined:
    """Return the outline's drawing, and all about its steps.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> found = outlined(Held("door", "door", script))
    >>> [found.steps[step].name for step in found.steps[1].before]
    ['hear doorbell']
    """
    if room is None and len(held.script.outline().steps) > MANY:
        room = WIDE
    return held.remember(("outline", room), lambda: _outlined(held.script.outline(), room))


def style() -> str:
    """Return the style sheet of outlines; they follow the page's colour scheme."""
    colours = " ".join(
        f"--elision-{name}: light-dark({light}, {DARK[name]});" for name, light in LIGHT.items()
    )
    return f".elision-outline {{ {colours} }}{RULES}"


def spoken(outline: Outline, step: int) -> str:
    """How a step is said: in somebody's own words, if such are kept, or else by its event."""
    one = outline.steps[step]
    if one.wording:
        return cleaned(one.wording[0].rstrip(". "))
    text = cleaned(one.event.replace("_", " "))
    return text if folded(text) == folded(one.event) else one.event


def _outlined(outline: Outline, room: float | None) -> messages.Outlined:
    return messages.Outlined(
        svg=outline_svg(outline_picture(outline, title="", room=room), styled=False),
        tellings=outline.tellings,
        steps=[
            messages.StepInfo(
                step=number,
                name=cleaned(one.name),
                event=one.event,
                words=spoken(outline, number),
                wording=[cleaned(said) for said in one.wording[:WORDINGS]],
                told=one.told,
                happens=outline.happens[number],
                before=_beside(outline, number, before=True),
                after=_beside(outline, number, before=False),
                instead=_instead(outline, number),
                given=condition(outline, number),
            )
            for number, one in enumerate(outline.steps)
        ],
        bonds=_bonds(outline),
    )


def _beside(outline: Outline, step: int, *, before: bool) -> list[int]:
    """The steps that stand directly before or after a step."""
    unit = outline.unit_of[step]
    branch = next(one for one in outline.units[unit].branches if step in one)
    place = branch.index(step) + (-1 if before else 1)
    if 0 <= place < len(branch):
        return [branch[place]]
    others = outline.covers[:, unit] if before else outline.covers[unit]
    return [
        one[-1 if before else 0]
        for other in np.flatnonzero(others).tolist()
        for one in outline.units[other].branches
    ]


def _instead(outline: Outline, step: int) -> list[int]:
    unit = outline.units[outline.unit_of[step]]
    return [one[0] for one in unit.branches if step not in one]


def _bonds(outline: Outline) -> list[messages.Bond]:
    """Directly neighbouring steps, with the tellings for and against their order.

    Of steps that are done together or not at all nothing is counted.
    """
    together = [
        messages.Bond(before, after, 0, 0)
        for unit in outline.units
        for branch in unit.branches
        for before, after in pairwise(branch)
    ]
    return (
        together
        + [
            messages.Bond(before, after, relation.holds, relation.broken)
            for relation in outline.relations
            for before in outline.units[relation.before].steps
            for after in outline.units[relation.after].steps
        ][:MOST_BONDS]
    )
