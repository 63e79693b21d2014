"""The main course in rows like lines of text, with rare steps noted below their places."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from elision.show._boxes import PLAIN, Text
from elision.show._outline_pieces import GAP, arrow
from elision.show._outline_shapes import Link, Note, along, shifted, straight
from elision.show.words import width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show._outline_pieces import Element
    from elision.show._outline_shapes import Piece

LEAD = 30.0
"""Room before the first piece of a row for the line that comes from the row above."""

TAIL = 14.0
CORRIDOR = 24.0
"""Room between two rows for the line from one to the next."""

CLEAR = 8.0
"""Least distance of a note from pieces beside it."""

HANGING = 14.0
"""How far below a row its notes stand."""

NOTE_WIDEST, NOTE_LINE, NOTE_INSIDE, NOTES_APART = 168.0, 13.5, 5.0, 10.0
NOTE_NARROWEST = 90.0
MOST_LINES, ALL_LINES = 5, 100
HEADING = "sometimes:"


@dataclass(frozen=True, slots=True)
class Aside:
    """Rare steps that belong before an element of the main course, or inside it.

    Attributes
    ----------
    at
        The element.
    inside
        Whether they belong inside.
    items
        What to say of each, the most told first.
    """

    at: int
    inside: bool
    items: tuple[str, ...]
    steps: tuple[int, ...]
    faded: bool
    tip: str


@dataclass(frozen=True, slots=True)
class Rows:
    """The drawing of the whole course, and its size."""

    width: float
    height: float
    pieces: tuple[Piece, ...]
    links: tuple[Link, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row: where its elements begin and end, its line, its notes, and how far it reaches."""

    starts: dict[int, float]
    ends: dict[int, float]
    middle: float
    notes: tuple[Note, ...]
    ties: tuple[Link, ...]
    right: float
    bottom: float


def rows(elements: Sequence[Element], asides: Sequence[Aside], room: float) -> Rows:
    """Place the pieces of the main course, first to last, with notes below their places."""
    pieces = [element.piece for element in elements]
    groups = balanced([piece.width for piece in pieces], room)
    found: list[_Row] = []
    for group in groups:
        top = found[-1].bottom + CORRIDOR if found else 0.0
        here = [one for one in asides if one.at in group]
        found.append(_row(pieces, group, here, top, LEAD if found else 0.0))
    links = [link for row in found for link in (*_arrows(elements, row), *row.ties)]
    links += [_turn(elements, *pair) for pair in pairwise(found)]
    placed = [
        pieces[k].moved(x, row.middle - pieces[k].height / 2)
        for row in found
        for k, x in row.starts.items()
    ]
    return Rows(
        width=max(row.right for row in found) + (TAIL if len(found) > 1 else 0.0),
        height=found[-1].bottom,
        pieces=tuple(placed),
        links=tuple(links),
        notes=tuple(note for row in found for note in row.notes),
    )


def balanced(widths: Sequence[float], room: float) -> list[range]:
    """Break a course into as few rows as fit the room, as equally long as they can be.

    Examples
    --------
    >>> balanced([50, 50, 50, 50], 210)
    [range(0, 2), range(2, 4)]
    """
    fewest = len(_filled(widths, room))
    ends = {
        LEAD + sum(widths[a:b]) + GAP * (b - a - 1) + TAIL
        for a in range(len(widths))
        for b in range(a + 1, len(widths) + 1)
    }
    return next(
        found
        for found in (_filled(widths, end) for end in [*sorted(ends), room])
        if len(found) <= fewest
    )


def _filled(widths: Sequence[float], room: float) -> list[range]:
    """Rows that are each as full as can be."""
    found: list[range] = []
    first, used = 0, LEAD
    for k, wide in enumerate(widths):
        if k > first and used + GAP + wide + TAIL > room:
            found.append(range(first, k))
            first, used = k, LEAD
        used += wide + (GAP if k > first else 0.0)
    return [*found, range(first, len(widths))]


def _row(
    pieces: Sequence[Piece], group: range, asides: Sequence[Aside], top: float, left: float
) -> _Row:
    half = max(pieces[k].height for k in group) / 2
    starts, ends = {}, {}
    x = left
    for k in group:
        starts[k], ends[k] = x, x + pieces[k].width
        x = ends[k] + GAP
    right = x - GAP
    hooks = [_hook(one, starts, ends, pieces) for one in asides]
    below = [(starts[k], ends[k], pieces[k].height / 2) for k in group]
    notes, ties = _hung(hooks, top + half, below, right)
    reach = [note.x + note.width for note in notes]
    bottoms = [note.y + note.height for note in notes]
    return _Row(
        starts=starts,
        ends=ends,
        middle=top + half,
        notes=tuple(notes),
        ties=tuple(ties),
        right=max([right, *reach]),
        bottom=max([top + 2 * half, *bottoms]),
    )


def _hook(
    aside: Aside,
    starts: dict[int, float],
    ends: dict[int, float],
    pieces: Sequence[Piece],
) -> tuple[float, float, Aside]:
    """Where the line to a note begins, below the row's middle, and the note."""
    if aside.inside:
        middle = (starts[aside.at] + ends[aside.at]) / 2
        return middle, pieces[aside.at].height / 2, aside
    return starts[aside.at] - GAP * 0.6, 0.0, aside


def _hung(
    hooks: Sequence[tuple[float, float, Aside]],
    middle: float,
    pieces: Sequence[tuple[float, float, float]],
    right: float,
) -> tuple[list[Note], list[Link]]:
    """Notes below a row, each below its place as far as the others let it, and lines to them.

    ``pieces`` say where those of the row begin and end, and how far below its middle they reach.
    """
    hooks = sorted(hooks, key=lambda hook: hook[0])
    if not hooks:
        return [], []
    share = (right + NOTES_APART) / len(hooks) - NOTES_APART
    room = max(NOTE_NARROWEST, min(NOTE_WIDEST, share)) - 2 * NOTE_INSIDE
    notes = [_note(aside, room) for _, _, aside in hooks]
    lefts = _spread([hook[0] for hook in hooks], [note.width for note in notes], right)
    spans = [(left, left + note.width) for left, note in zip(lefts, notes, strict=True)]
    # A line to a note that was pushed aside could meet a note that hangs higher than the others.
    apart = all(left <= x <= end for (x, _, _), (left, end) in zip(hooks, spans, strict=True))
    ties = []
    placed = []
    for (x, down, aside), note, (left, end) in zip(hooks, notes, spans, strict=True):
        near = (
            reach
            for start, stop, reach in pieces
            if not apart or (start < max(end, x) + CLEAR and stop > min(left, x) - CLEAR)
        )
        deep = max(near, default=0.0)
        top = middle + deep
        placed.append(shifted(note, left, top + HANGING))
        goal = min(max(x, left + 8), end - 8)
        corners = ((x, middle + down), (x, top), (goal, top + HANGING))
        ties.append(Link("aside", (), aside.steps, along(straight(*corners), 0.0, 0.0), 1.0))
    return placed, ties


def _spread(wanted: Sequence[float], widths: Sequence[float], right: float) -> list[float]:
    """Left edges of notes in a line: centred where wanted, but none over another."""
    lefts: list[float] = []
    edge = 0.0
    for middle, wide in zip(wanted, widths, strict=True):
        lefts.append(max(edge, middle - wide / 2))
        edge = lefts[-1] + wide + NOTES_APART
    edge = max(right, sum(widths) + NOTES_APART * (len(widths) - 1))
    for k in range(len(lefts) - 1, -1, -1):
        lefts[k] = min(lefts[k], edge - widths[k])
        edge = lefts[k] - NOTES_APART
    return lefts


def _note(aside: Aside, room: float) -> Note:
    lines = [HEADING]
    for number, item in enumerate(aside.items):
        wrap = wrapped(item, room, PLAIN, lines=ALL_LINES)
        left = len(aside.items) - number
        if number and len(lines) + len(wrap) > MOST_LINES - (left > 1):
            lines.append(f"and {left} more")
            break
        lines += wrap
    texts = [
        Text(NOTE_INSIDE, round(NOTE_INSIDE + at * NOTE_LINE + PLAIN * 0.9, 1), line, "more")
        for at, line in enumerate(lines)
    ]
    wide = max(width(line, PLAIN) for line in lines) + 2 * NOTE_INSIDE
    high = len(lines) * NOTE_LINE + 2 * NOTE_INSIDE
    return Note(0.0, 0.0, wide, high, aside.steps, aside.faded, tuple(texts), aside.tip)


def _arrows(elements: Sequence[Element], row: _Row) -> list[Link]:
    found = []
    for a, b in pairwise(row.starts):
        corners = ((row.ends[a], row.middle), (row.starts[b], row.middle))
        found.append(arrow(elements[a].piece, elements[b].piece, corners, elements[b].link))
    return found


def _turn(elements: Sequence[Element], row: _Row, after: _Row) -> Link:
    """The line from the end of a row to the beginning of the next."""
    last, first = max(row.ends), min(after.starts)
    out, corridor = row.right + TAIL - 3, row.bottom + CORRIDOR / 2
    corners = (
        (row.ends[last], row.middle),
        (out, row.middle),
        (out, corridor),
        (2.0, corridor),
        (2.0, after.middle),
        (after.starts[first], after.middle),
    )
    return arrow(elements[last].piece, elements[first].piece, corners, elements[first].link)
