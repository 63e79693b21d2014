"""What stands above and below the drawing: title, what is hidden, and what the marks mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from elision.show._boxes import PLAIN, Text, font
from elision.show.words import width, wrapped

if TYPE_CHECKING:
    from elision.show.flow import Selection
    from elision.show.overlay import Overlay
    from elision.values.script import Script

Sign: TypeAlias = Literal["outline", "line", "detour", "told", "silent", "filled"]

SWATCH = (22.0, 12.0)
BETWEEN = 22.0
LINE = 20.0

_MEANINGS: dict[Sign, str] = {
    "told": "told (place in the telling)",
    "silent": "left unsaid on its path",
    "filled": "fills a gap",
    "outline": "gaps in an outline: how often it stays unsaid",
    "line": "thickness: how often it is taken",
    "detour": "by way of hidden states",
}


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: a sign, its upper left corner, and what it means."""

    sign: Sign
    x: float
    y: float
    width: float
    height: float
    text: Text


def captions(
    script: Script, chosen: Selection, title: str, room: float, margin: float
) -> tuple[tuple[Text, ...], float]:
    """Title and what is hidden, and how far down they reach."""
    texts: list[Text] = []
    y = margin
    if title:
        size, bold = font("title")
        for line in wrapped(title, room, size, bold=bold):
            y += size * 1.2
            texts.append(Text(margin, round(y - size * 0.3, 1), line, "title"))
    for line in wrapped(_hidden(script, chosen), room, PLAIN, lines=3):
        y += PLAIN * 1.4
        texts.append(Text(margin, round(y - PLAIN * 0.3, 1), line, "caption"))
    return tuple(texts), y


def _hidden(script: Script, chosen: Selection) -> str:
    parts = [
        f"{number} {'rare ' if chosen.rare else ''}{name}{'' if number == 1 else 's'}"
        for number, name in ((chosen.hidden_states, "state"), (chosen.hidden_edges, "edge"))
        if number
    ]
    states = script.size - 2
    shown = f"{states} state{'' if states == 1 else 's'}"
    return f"{shown}; {' and '.join(parts)} hidden" if parts else shown


def legend(
    path: Overlay | None, chosen: Selection, room: float, corner: tuple[float, float]
) -> tuple[tuple[Key, ...], float]:
    """Entries side by side, in as many lines as they need, and how far down they reach."""
    parts = {role.part for role in path.roles.values()} if path else set()
    signs: list[Sign] = [part for part in ("told", "silent", "filled") if part in parts]
    signs += ["outline", "line"]
    if not all(one.direct for one in chosen.passages):
        signs.append("detour")
    keys: list[Key] = []
    x, y = corner
    for sign in signs:
        text = _MEANINGS[sign]
        needed = SWATCH[0] + 6 + width(text, PLAIN)
        if keys and x + needed > corner[0] + room:
            x, y = corner[0], y + LINE
        keys.append(Key(sign, x, y, *SWATCH, Text(x + SWATCH[0] + 6, y + 10, text, "caption")))
        x = round(x + needed + BETWEEN, 1)
    return tuple(keys), y + SWATCH[1]
