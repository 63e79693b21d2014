"""What the marks of a picture of an outline mean, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from elision.show._boxes import PLAIN, Text
from elision.show._outline_words import AGAIN_SIGN
from elision.show.words import width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show._outline_shapes import Link, Note, StepBox

Sign: TypeAlias = Literal[
    "then",
    "usually",
    "bar",
    "optional",
    "words",
    "note",
    "told",
    "unsaid",
    "astray",
    "denied",
    "faded",
]

SWATCH = (22.0, 12.0)
BETWEEN, LINE = 20.0, 19.0


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: a sign, its upper left corner, and what it means."""

    sign: Sign
    x: float
    y: float
    width: float
    height: float
    text: Text


def legend(
    boxes: Sequence[StepBox],
    links: Sequence[Link],
    notes: Sequence[Note],
    room: float,
    corner: tuple[float, float],
) -> tuple[tuple[Key, ...], float]:
    """Entries for what is there, in as many lines as they need, and how far down they reach."""
    keys: list[Key] = []
    x, y = corner
    for sign, text in _meanings(boxes, links, notes):
        swatch = 0.0 if sign == "words" else SWATCH[0]
        left = x + (swatch + 6 if swatch else 0.0)
        right = left + width(text, PLAIN)
        if keys and right > corner[0] + room:
            left, right = left - x + corner[0], right - x + corner[0]
            x, y = corner[0], y + LINE
        keys.append(
            Key(sign, x, y, swatch, SWATCH[1], Text(round(left, 1), y + 10, text, "caption"))
        )
        x = round(right + BETWEEN, 1)
    return tuple(keys), y + (SWATCH[1] if keys else 0.0)


def _meanings(
    boxes: Sequence[StepBox], links: Sequence[Link], notes: Sequence[Note]
) -> list[tuple[Sign, str]]:
    steps = [box for box in boxes if box.step is not None]
    if not steps:
        return []
    found: list[tuple[Sign, str]] = [("then", "then")]
    if any(link.kind == "usually" for link in links):
        found.append(("usually", "usually then"))
    states = {box.state for box in steps}
    marks = {text.text for box in steps for text in box.texts if text.role == "more"}
    if None in states:
        found.append(("bar", "share of the tellings that tell it (the fewer, the paler)"))
    if "told" in states:
        found.append(("told", "told, and in which line"))
    if "unsaid" in states:
        found.append(("unsaid", "not told, but probably done"))
    if "astray" in states:
        found.append(("astray", "told, but in another order than usual"))
    if "denied" in states:
        found.append(("denied", "said not to have happened"))
    if "faded" in states:
        found.append(("faded", "not part of this telling"))
    if any(box.optional and box.state in (None, "faded") for box in steps):
        found.append(("optional", "perhaps not always done"))
    if "often unsaid" in marks:
        found.append(("words", "often unsaid: done, but told by fewer than half"))
    if AGAIN_SIGN in marks:
        found.append(("words", f"{AGAIN_SIGN} often repeated"))
    if notes:
        found.append(("note", "told by few, at about this place"))
    return found
