"""What stands in the box of a state: its name, its likeliest events with bars, its silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from elision.show.flow import FEW_STATES
from elision.show.words import LONGEST, cleaned, isolated, longest_word, percent, width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show.flow import Selection
    from elision.show.overlay import Overlay, Role
    from elision.values.script import Script

TextRole: TypeAlias = Literal[
    "title",
    "caption",
    "end",
    "name",
    "event",
    "said",
    "percent",
    "more",
    "silent",
    "note",
    "label",
    "line",
    "ghost",
]
Anchor: TypeAlias = Literal["start", "middle", "end"]

SIZES: dict[str, float] = {"title": 17.0, "name": 12.5, "line": 14.0, "ghost": 14.0}
PLAIN = 11.5
BOLD = frozenset({"title", "name", "said", "note", "end", "line"})

PADDING = 8.0
WIDEST = 128.0
BESIDE = 5.0
"""Least gap between two texts on a line."""

NAME_LINE, LINE, BAR_LINE = 15.0, 14.0, 13.0
NAME_LINES = 3
BAR = 5.0
PERCENT = 40.0
TERMINAL = (48.0, 26.0)

FEWEST_SHARE = 0.1
SHARE_OF_BEST = 0.3
TIPPED = 12
"""Events that a tip lists at most."""


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text: where its baseline starts, is in the middle, or ends."""

    x: float
    y: float
    text: str
    role: TextRole
    anchor: Anchor = "start"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, filled as far as the share says."""

    x: float
    y: float
    width: float
    height: float
    share: float


@dataclass(frozen=True, slots=True)
class Content:
    """A box's size and what stands in it."""

    width: float
    height: float
    events: tuple[tuple[str, float], ...]
    more: int
    texts: tuple[Text, ...]
    bars: tuple[Bar, ...]
    tip: str


@dataclass(frozen=True, slots=True)
class _Row:
    """A text, and the number beside the bar below it."""

    text: str
    role: TextRole
    share: float | None = None


def font(role: TextRole) -> tuple[float, bool]:
    """Size of a text in pixels, and whether it is bold."""
    return SIZES.get(role, PLAIN), role in BOLD


def content(
    script: Script, chosen: Selection, path: Overlay | None, *, outlet: float
) -> list[Content]:
    """Fill the boxes of the shown states; all but those of start and end are equally wide.

    ``outlet`` is the height that a line takes which leaves a box at the right.
    """
    ways = Counter(one.source for one in chosen.passages if one.source != one.target)
    most = 3 if len(chosen.states) <= FEW_STATES + 2 else 2
    inner = chosen.states[1:-1]
    roles = {k: path.roles[k] for k in inner if path and k in path.roles}
    shown = {k: _events(script, k, most, roles.get(k)) for k in inner}
    rows = {k: _rows(script, k, shown[k], roles.get(k)) for k in inner}
    room = _room([row for one in rows.values() for row in one])
    found = []
    for k in chosen.states:
        least = outlet * ways[k]
        if k in rows:
            chance = float(chosen.flow.chance[k])
            one = _filled(script, k, shown[k], rows[k], roles.get(k), room, chance)
            found.append(replace(one, height=max(one.height, least)))
        else:
            found.append(_terminal(script.states[k], least))
    return found


def _events(script: Script, state: int, most: int, role: Role | None) -> list[int]:
    """Events to name: those told on the path, then the likeliest."""
    chances = script.emission[state]
    order = np.argsort(-chances, kind="stable")[:most]
    least = max(FEWEST_SHARE, SHARE_OF_BEST * chances.max(initial=0.0))
    likely = [int(o) for o in order[:1] if chances[o] > 0]
    likely += [int(o) for o in order[1:] if chances[o] >= least]
    told = list(dict.fromkeys(role.events)) if role else []
    return [*likely, *(o for o in told if o not in likely)]


def _rows(script: Script, state: int, shown: Sequence[int], role: Role | None) -> list[_Row]:
    name = script.states[state]
    rows: list[_Row] = []
    events = list(shown)
    best = script.events[events[0]] if events else None
    if best is not None and (name == best or name.startswith(f"{best} (")):
        rows.append(_Row(cleaned(name), "name", float(script.emission[state, events.pop(0)])))
    else:
        rows.append(_Row(cleaned(name), "name"))
    said = role.events if role else ()
    for o in events:
        share = float(script.emission[state, o])
        rows.append(_Row(cleaned(script.events[o]), "said" if o in said else "event", share))
    return rows


def _room(rows: Sequence[_Row]) -> float:
    """Width inside the boxes: for the longest word, and for names on two lines, within limits."""
    most = WIDEST - 2 * PADDING
    needed = width("+ 99 more", PLAIN) + BESIDE + width("99%", PLAIN)
    for row in rows:
        size, bold = font(row.role)
        text = row.text[:LONGEST]
        word = longest_word(text, size, bold=bold)
        needed = max(needed, word, 0.54 * width(text, size, bold=bold))
    return float(round(min(needed, most)))


def _filled(
    script: Script,
    state: int,
    shown: Sequence[int],
    rows: Sequence[_Row],
    role: Role | None,
    room: float,
    chance: float,
) -> Content:
    pen = _Pen(room)
    for row in rows:
        pen.row(row)
    others = np.delete(script.emission[state], list(shown))
    more = int((others > 0).sum())
    if more:
        pen.pair(f"+ {more} more", float(others.sum()), "more")
    silence = float(script.elision[state])
    if silence:
        pen.pair("silent", silence, "silent")
    if role:
        pen.line(_note(role), "note")
    return Content(
        width=room + 2 * PADDING,
        height=pen.y + PADDING - 2,
        events=tuple((script.events[o], float(script.emission[state, o])) for o in shown),
        more=more,
        texts=tuple(pen.texts),
        bars=tuple(pen.bars),
        tip=_tip(script, state, chance),
    )


class _Pen:
    """Writes the rows of a box below one another."""

    def __init__(self, room: float) -> None:
        self.room = room
        self.y = PADDING - 2
        self.texts: list[Text] = []
        self.bars: list[Bar] = []

    def row(self, row: _Row) -> None:
        size, bold = font(row.role)
        for line in wrapped(row.text, self.room, size, bold=bold, lines=NAME_LINES):
            self.line(line, row.role, NAME_LINE if row.role == "name" else LINE)
        if row.share is not None:
            self.bars.append(
                Bar(PADDING, self.y + 4.5, self.room - PERCENT, BAR, min(1.0, row.share))
            )
            self.line(percent(row.share), "percent", BAR_LINE, right=True)

    def pair(self, left: str, share: float, role: TextRole) -> None:
        self.line(left, role, 0.0)
        self.line(percent(share), role, LINE, right=True)

    def line(self, text: str, role: TextRole, height: float = LINE, *, right: bool = False) -> None:
        size, _ = font(role)
        x = PADDING + self.room if right else PADDING
        anchor: Anchor = "end" if right else "start"
        self.texts.append(Text(x, round(self.y + size * 0.93, 2), text, role, anchor))
        self.y += height


def _note(role: Role) -> str:
    if role.part == "silent":
        return "left unsaid"
    first, last = role.places[0], role.places[-1]
    places = f"{first}" if first == last else f"{first}–{last}"
    return f"fills gap ({places})" if role.part == "filled" else f"told ({places})"


def _terminal(name: str, least: float) -> Content:
    box, height = TERMINAL[0], max(TERMINAL[1], least)
    text = Text(box / 2, height / 2 + 4, name, "end", "middle")
    return Content(box, height, (), 0, (text,), (), name)


def _tip(script: Script, state: int, chance: float) -> str:
    """Everything about a state in a few lines, names whole."""
    name = script.states[state]
    lines = [f"{isolated(name)}: passed by {percent(chance)} of courses"]
    chances = script.emission[state]
    order = [int(o) for o in np.argsort(-chances, kind="stable") if chances[o] > 0]
    lines += [f"{percent(float(chances[o]))} {isolated(script.events[o])}" for o in order[:TIPPED]]
    if len(order) > TIPPED:
        lines.append(f"+ {len(order) - TIPPED} more")
    if script.elision[state]:
        lines.append(f"{percent(float(script.elision[state]))} silent")
    return "\n".join(lines)
