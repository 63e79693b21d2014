"""What a picture of an outline is made of: texts, boxes, frames, links and notes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from elision.show.layout import Curve, Point
    from elision.show.overlay import State

TextRole: TypeAlias = Literal[
    "title", "caption", "end", "name", "event", "said", "percent", "more", "note", "line", "ghost"
]
Anchor: TypeAlias = Literal["start", "middle", "end"]
FrameKind: TypeAlias = Literal["any", "tangle", "choice", "together", "series"]
LinkKind: TypeAlias = Literal["then", "usually", "aside"]

SIZES: dict[str, float] = {"title": 17.0, "name": 12.5, "line": 14.0, "ghost": 14.0}
PLAIN = 11.5
"""Sizes of texts in pixels by what they are, and of all others."""

BOLD = frozenset({"title", "name", "said", "note", "end", "line"})

PADDING = 8.0
PERCENT = 40.0
"""Room between the border of a box and what stands in it, and for a percentage in it."""

TERMINAL = (48.0, 26.0)
"""Size of the boxes of start and end."""


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


def font(role: TextRole) -> tuple[float, bool]:
    """Size of a text in pixels, and whether it is bold."""
    return SIZES.get(role, PLAIN), role in BOLD


@dataclass(frozen=True, slots=True)
class StepBox:
    """A step, drawn; texts and bar have their places relative to the box.

    Attributes
    ----------
    step
        Its number; None for the start and the end.
    told, happens
        Share of the tellings that tell it, and probability that it happens.
    ink
        How strongly it is drawn, from 0 to 1.
    optional
        Whether its outline is dashed: it is perhaps not always done.
    state, lines
        What it is for the telling laid over, and the places that tell it, counted from 1.
    """

    step: int | None
    name: str
    x: float
    y: float
    width: float
    height: float
    told: float
    happens: float
    ink: float
    optional: bool
    state: State | None
    lines: tuple[int, ...]
    texts: tuple[Text, ...]
    bar: Bar | None
    tip: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A light frame round steps that belong together, with a label that says how."""

    kind: FrameKind
    x: float
    y: float
    width: float
    height: float
    steps: tuple[int, ...]
    optional: bool
    texts: tuple[Text, ...]
    tip: str


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow from steps to those that come next, surely or usually, or a line to a note."""

    kind: LinkKind
    before: tuple[int, ...]
    after: tuple[int, ...]
    curve: Curve
    ink: float


@dataclass(frozen=True, slots=True)
class Note:
    """Rare steps, folded into a few small lines; faded if a telling is laid over."""

    x: float
    y: float
    width: float
    height: float
    steps: tuple[int, ...]
    faded: bool
    texts: tuple[Text, ...]
    tip: str


Placed = TypeVar("Placed", StepBox, Frame, Note, Text)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the drawing; a line through it enters and leaves at half its height.

    A chain that is broken into several lines does not: it needs a frame for that.
    """

    width: float
    height: float
    steps: tuple[int, ...]
    ink: float
    boxes: tuple[StepBox, ...] = ()
    frames: tuple[Frame, ...] = ()
    links: tuple[Link, ...] = ()
    texts: tuple[Text, ...] = ()
    broken: bool = False

    def moved(self, x: float, y: float) -> Piece:
        """Return it at another place."""
        return replace(
            self,
            boxes=tuple(shifted(one, x, y) for one in self.boxes),
            frames=tuple(shifted(one, x, y) for one in self.frames),
            links=tuple(replace(one, curve=along(one.curve, x, y)) for one in self.links),
            texts=tuple(shifted(one, x, y) for one in self.texts),
        )


def shifted(one: Placed, x: float, y: float) -> Placed:
    """Return a box, frame, note or text at another place, to a tenth of a pixel."""
    return replace(one, x=round(one.x + x, 1), y=round(one.y + y, 1))


def along(curve: Curve, x: float, y: float) -> Curve:
    """Return a curve at another place."""
    return tuple((round(a + x, 1), round(b + y, 1)) for a, b in curve)


def straight(*corners: Point, radius: float = 0.0) -> Curve:
    """Return lines from corner to corner as cubic splines, rounded at the corners.

    Examples
    --------
    >>> straight((0, 0), (3, 0))
    ((0, 0), (1.0, 0.0), (2.0, 0.0), (3, 0))
    """
    points: list[Point] = [corners[0]]
    for number in range(1, len(corners)):
        here, last = corners[number], number == len(corners) - 1
        _line(points, here if last else _towards(here, points[-1], radius))
        if not last:
            leaving = _towards(here, corners[number + 1], radius)
            points += [here, here, leaving]
    return tuple(points)


def _line(points: list[Point], end: Point) -> None:
    (x, y), (to_x, to_y) = points[-1], end
    points += [((2 * x + to_x) / 3, (2 * y + to_y) / 3), ((x + 2 * to_x) / 3, (y + 2 * to_y) / 3)]
    points.append(end)


def _towards(start: Point, end: Point, distance: float) -> Point:
    """The point at a distance from one towards another, at most half way."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length = (along_x**2 + along_y**2) ** 0.5
    part = min(distance, length / 2) / length if length else 0.0
    return (start[0] + along_x * part, start[1] + along_y * part)
