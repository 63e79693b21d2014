"""The pieces of a drawn outline, like choices and stacks, and the rows that they stand in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from elision.show import layout as layered
from elision.show.shapes import PLAIN, Frame, Link, Note, Piece, Text, along, shifted, straight
from elision.show.words import percent, width, wrapped
from elision.values.outline_reading import is_always_done

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elision.show.blocks import Block
    from elision.show.outline_words import StepWords
    from elision.show.shapes import FrameKind, LinkKind

GAP = 26.0
"""Room for an arrow between two pieces."""

INSIDE = 9.0
LABEL = 17.0
BETWEEN = 7.0
OR = 15.0
TURN = 20.0
"""Room between two lines of a chain that is broken."""

BESIDE = 14.0
"""Room beside a broken chain for the line that leads from one line to the next."""

ROUND = 7.0
STACKED_WIDE = 152.0
HIGHEST_STACK = 3
BREADTH = 330.0
TANGLED = layered.Spacing(columns=36, boxes=12, lines=9, staying=26, outlets=10, inlets=9)

MEANINGS: dict[FrameKind, str] = {
    "any": "in any order",
    "tangle": "in any order that follows the arrows",
    "choice": "one of",
    "together": "all of these or none",
    "series": "in this order",
}

Branches = tuple[tuple[int, ...], ...]


class Element(NamedTuple):
    """A piece of a course with its units, and how it follows the one before."""

    piece: Piece
    units: tuple[int, ...]
    link: LinkKind


class Builder:
    """Makes the pieces of a drawing for the branches of each unit that are shown."""

    def __init__(self, words: StepWords, branches: Mapping[int, Branches], room: float) -> None:
        self._words = words
        self._branches = branches
        self._room = room

    def course(self, block: Block) -> list[Element]:
        """Pieces of the main course, one after the other."""
        return self._elements(block, self._room)

    def _elements(self, block: Block, room: float) -> list[Element]:
        parts = block.parts if block.kind == "series" else (block,)
        found: list[Element] = []
        for number, part in enumerate(parts):
            kind: LinkKind = "usually" if number - 1 in block.loose else "then"
            chain = self._plain_chain(part)
            pieces = [self._box(step) for step in chain] or [self._piece(part, room)]
            for piece in pieces:
                found.append(Element(piece, part.units, kind))
                kind = "then"
        return found

    def _plain_chain(self, block: Block) -> tuple[int, ...]:
        """Steps of a unit that are always done one after the other, and need no frame."""
        if block.kind != "unit":
            return ()
        (unit,) = block.units
        branches = self._branches[unit]
        always = is_always_done(self._words.outline, unit)
        if len(branches) == 1 and (len(branches[0]) == 1 or always):
            return branches[0]
        return ()

    def _piece(self, block: Block, room: float) -> Piece:
        if block.kind == "any":
            return self._any(block, room)
        if block.kind == "tangle":
            return self._tangle(block, room)
        if block.kind == "unit" and not self._plain_chain(block):
            return self._unit(block.units[0], room)
        return _chain(self._elements(block, room), room)

    def _boxes(self, steps: Sequence[int]) -> list[Element]:
        return [Element(self._box(step), (), "then") for step in steps]

    def _box(self, step: int, room: float | None = None) -> Piece:
        box = self._words.box(step, self._words.room(step) if room is None else room)
        return Piece(box.width, box.height, (step,), self._words.ink([step]), (box,))

    def _unit(self, unit: int, room: float) -> Piece:
        """A choice, or steps that happen all or none."""
        branches = self._branches[unit]
        # None where it is always done: then there is nothing to say of it.
        always = is_always_done(self._words.outline, unit)
        happens = None if always else self._words.outline.units[unit].happens
        if len(branches) == 1:
            chain = _chain(self._boxes(branches[0]), room - 2 * INSIDE)
            return self._framed("together", chain, happens=happens)
        if all(len(branch) == 1 for branch in branches):
            inside = self._grid([branch[0] for branch in branches], 0.0, room, between="or")
        else:
            lanes = [_chain(self._boxes(branch), room - 2 * INSIDE) for branch in branches]
            inside = self._stacked(lanes, between="or")
        return self._framed("choice", inside, happens=happens)

    def _any(self, block: Block, room: float) -> Piece:
        single, others = [], []
        for part in block.parts:
            chain = self._plain_chain(part)
            if len(chain) == 1:
                single.append(chain[0])
            else:
                others.append(self._piece(part, room - 2 * INSIDE))
        lanes = list(others)
        if single:
            wide = max((lane.width for lane in lanes), default=0.0)
            grid = self._grid(single, wide, room - 2 * INSIDE)
            lanes.insert(0 if self._early(single, others) else len(lanes), grid)
        arrows = any(lane.links for lane in others)
        return self._framed("tangle" if arrows else "any", self._stacked(lanes))

    def _early(self, steps: Sequence[int], pieces: Sequence[Piece]) -> bool:
        """Whether steps are usually told before the others."""
        place = [step.place for step in self._words.outline.steps]
        others = [place[step] for piece in pieces for step in piece.steps]
        mean = sum(place[step] for step in steps) / len(steps)
        return not others or mean < sum(others) / len(others)

    def _grid(self, steps: Sequence[int], wide: float, room: float, between: str = "") -> Piece:
        """Boxes of equal width in columns, with nothing between them."""
        high = len(steps) > HIGHEST_STACK
        rooms = [
            self._words.room(step) if high else self._words.room(step, STACKED_WIDE, lines=1)
            for step in steps
        ]
        inner = max(rooms)
        cells = [self._box(step, inner) for step in steps]
        cell = cells[0].width + BETWEEN
        columns = max(ceil(len(cells) / HIGHEST_STACK), int((wide + BETWEEN) // cell), 1)
        columns = min(columns, max(1, int((room + BETWEEN) // cell)), len(cells))
        rows = [cells[at : at + columns] for at in range(0, len(cells), columns)]
        if columns == 1:
            return self._stacked(cells, between)
        return self._stacked([_row_of_cells(row, cell) for row in rows])

    def _stacked(self, lanes: Sequence[Piece], between: str = "") -> Piece:
        """Lanes below one another, with a word between them."""
        y = 0.0
        moved: list[Piece] = []
        texts: list[Text] = []
        for lane in lanes:
            if moved:
                if between:
                    texts.append(Text(4.0, round(y + PLAIN * 0.95, 1), between, "more"))
                y += OR if between else BETWEEN
            moved.append(lane.moved(0.0, y))
            y += lane.height
        whole = _together(moved, max(lane.width for lane in lanes), y)
        return replace(whole, texts=(*whole.texts, *texts))

    def _framed(self, kind: FrameKind, inside: Piece, happens: float | None = None) -> Piece:
        """A piece in a light frame with a label, dashed if it only sometimes happens, so often."""
        label = MEANINGS[kind]
        if kind == "choice" and happens is not None:
            label += ", or none"
        wide = max(inside.width, width(label, PLAIN)) + 2 * INSIDE
        high = inside.height + LABEL + 1.6 * INSIDE
        text = Text(INSIDE, round(INSIDE * 0.6 + PLAIN * 0.93, 1), label, "caption")
        moved = inside.moved((wide - inside.width) / 2, LABEL + INSIDE * 0.6)
        optional = happens is not None
        tip = label if happens is None else f"{label} (done in {percent(happens)} of the courses)"
        frame = Frame(kind, 0.0, 0.0, wide, high, inside.steps, optional, (text,), tip)
        return replace(moved, width=wide, height=high, frames=(frame, *moved.frames), broken=False)

    def _tangle(self, block: Block, room: float) -> Piece:
        """Parts in columns, with an arrow from each to those that come directly after it."""
        inner = room - 2 * INSIDE
        pieces = [self._piece(part, inner / 2) for part in block.parts]
        pieces = [self._framed("series", one) if one.broken else one for one in pieces]
        count = len(pieces)
        sources = set(range(count)) - {b for _, b in block.links}
        sinks = set(range(count)) - {a for a, _ in block.links}
        # Begin and end stand for what comes before and after; they are not drawn.
        links = [layered.Link(a + 1, b + 1, 1.0) for a, b in block.links]
        links += [layered.Link(0, k + 1, 0.01) for k in sorted(sources)]
        links += [layered.Link(k + 1, count + 1, 0.01) for k in sorted(sinks)]
        widest = max(piece.width for piece in pieces)
        placed = layered.layout(
            [(0.0, 0.0), *((piece.width, piece.height) for piece in pieces), (0.0, 0.0)],
            links,
            columns=max(2, int((inner + TANGLED.columns) / (widest + TANGLED.columns))),
            breadth=BREADTH,
            spacing=TANGLED,
        )
        boxes = placed.boxes[1:-1]
        curves = placed.curves[: len(block.links)]
        left, top, right, bottom = _extent(boxes, curves)
        moved = [
            piece.moved(box.x - left, box.y - top) for piece, box in zip(pieces, boxes, strict=True)
        ]
        whole = _together(moved, right - left, bottom - top)
        arrows = tuple(
            Link(
                "then",
                pieces[a].steps,
                pieces[b].steps,
                along(curve, -left, -top),
                min(pieces[a].ink, pieces[b].ink),
            )
            for (a, b), curve in zip(block.links, curves, strict=True)
        )
        return self._framed("tangle", replace(whole, links=(*whole.links, *arrows)))


def _extent(
    boxes: Sequence[layered.Box], curves: Sequence[layered.Curve]
) -> tuple[float, float, float, float]:
    """How far boxes and curves reach to the left, up, to the right and down."""
    corners = [(box.x, box.y) for box in boxes]
    corners += [(box.x + box.width, box.y + box.height) for box in boxes]
    xs, ys = zip(*corners, *(point for curve in curves for point in curve), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _chain(elements: Sequence[Element], room: float) -> Piece:
    """Pieces one after the other, in as many lines as the room asks for."""
    rows: list[list[Element]] = [[]]
    used = 0.0
    for element in elements:
        if rows[-1] and used + GAP + element.piece.width > room - 2 * BESIDE:
            rows.append([])
            used = 0.0
        used += element.piece.width + (GAP if rows[-1] else 0.0)
        rows[-1].append(element)
    lines = [_line(row) for row in rows]
    return lines[0] if len(lines) == 1 else _broken(lines, [row[0].link for row in rows[1:]])


def _line(elements: Sequence[Element]) -> Piece:
    """Pieces on one line, an arrow from each to the next."""
    half = max(element.piece.height for element in elements) / 2
    x = 0.0
    moved: list[Piece] = []
    arrows = []
    for element in elements:
        piece = element.piece
        if moved:
            ends = ((x - GAP, half), (x, half))
            arrows.append(arrow(moved[-1], piece, ends, element.link))
        moved.append(piece.moved(x, half - piece.height / 2))
        x += piece.width + GAP
    whole = _together(moved, x - GAP, 2 * half)
    return replace(whole, links=(*whole.links, *arrows))


def arrow(
    before: Piece, after: Piece, corners: Sequence[tuple[float, float]], kind: LinkKind
) -> Link:
    """Return an arrow from one piece to the next."""
    curve = straight(*corners, radius=ROUND)
    return Link(kind, before.steps, after.steps, curve, min(before.ink, after.ink))


def _broken(lines: Sequence[Piece], kinds: Sequence[LinkKind]) -> Piece:
    """Lines of a chain below one another, a line leading from the end of each to the next."""
    wide = max(line.width for line in lines)
    y = 0.0
    moved: list[Piece] = []
    middles = []
    for line in lines:
        moved.append(line.moved(BESIDE, y))
        middles.append(y + line.height / 2)
        y += line.height + TURN
    arrows = []
    bottom = 0.0
    for number, (line, after) in enumerate(pairwise(lines)):
        bottom += line.height + TURN
        out, corridor = BESIDE + line.width, bottom - TURN / 2
        corners = [
            (out, middles[number]),
            (out + BESIDE * 0.7, middles[number]),
            (out + BESIDE * 0.7, corridor),
            (0.0, corridor),
            (0.0, middles[number + 1]),
            (BESIDE, middles[number + 1]),
        ]
        arrows.append(arrow(line, after, corners, kinds[number]))
    whole = _together(moved, wide + 2 * BESIDE, y - TURN)
    return replace(whole, links=(*whole.links, *arrows), broken=True)


def _row_of_cells(cells: Sequence[Piece], cell: float) -> Piece:
    high = max(piece.height for piece in cells)
    moved = [piece.moved(number * cell, 0.0) for number, piece in enumerate(cells)]
    return _together(moved, len(cells) * cell - BETWEEN, high)


def _together(pieces: Sequence[Piece], wide: float, high: float) -> Piece:
    return Piece(
        width=wide,
        height=high,
        steps=tuple(step for piece in pieces for step in piece.steps),
        ink=max(piece.ink for piece in pieces),
        boxes=tuple(box for piece in pieces for box in piece.boxes),
        frames=tuple(frame for piece in pieces for frame in piece.frames),
        links=tuple(link for piece in pieces for link in piece.links),
        texts=tuple(text for piece in pieces for text in piece.texts),
    )


# --- rows of the main course -------------------------------------------------------------------

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
