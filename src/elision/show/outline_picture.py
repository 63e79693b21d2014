"""`outline_picture`: an outline as boxes, frames, links and texts with their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.errors import InputError
from elision.show.blocks import blocks, loosened
from elision.show.outline_layout import Aside, Builder, Element, rows
from elision.show.outline_words import Key, StepWords, legend, summary
from elision.show.shapes import (
    PLAIN,
    TERMINAL,
    Frame,
    Link,
    Note,
    Piece,
    StepBox,
    Text,
    along,
    font,
    shifted,
)
from elision.show.words import TIED, cleaned, isolated, percent, wrapped
from elision.values.observations import short
from elision.values.outline_reading import condition, is_main, main_from, parts_before

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elision.show.blocks import Block
    from elision.show.outline_layout import Branches, Rows
    from elision.show.overlay import Overlay
    from elision.values.outline import Outline

MARGIN = 16.0
ROOMS = (480.0, 660.0, 840.0, 980.0, 1120.0, 1240.0, 1368.0)
"""Widths that the course may have."""

GLANCE = (1120.0, 480.0)
"""Of the widths that fit into this, the one is taken that makes the course lowest."""

NARROWEST = 520.0
STRANGE = 5
"""Events that are no step, named at most."""


@dataclass(frozen=True, slots=True)
class OutlinePicture:
    """An outline, drawn. Lengths are in pixels."""

    width: float
    height: float
    title: str
    summary: str
    boxes: tuple[StepBox, ...]
    frames: tuple[Frame, ...]
    links: tuple[Link, ...]
    notes: tuple[Note, ...]
    texts: tuple[Text, ...]
    keys: tuple[Key, ...]

    def counts(self) -> tuple[int, int]:
        """How many steps have a box, and how many there are with those in notes."""
        drawn = sum(box.step is not None for box in self.boxes)
        return drawn, drawn + sum(len(note.steps) for note in self.notes)


def outline_picture(
    outline: Outline,
    laid: Overlay | None = None,
    *,
    title: str | None = None,
    room: float | None = None,
) -> OutlinePicture:
    """Lay out an outline: the main course from left to right, in rows like lines of text.

    Parameters
    ----------
    outline
        The outline.
    laid
        A telling laid over it.
    title
        What stands above; by default the outline's own.
    room
        Width of the course, as far as its boxes allow; by default the one that suits it best.

    Examples
    --------
    >>> import elision as el
    >>> found = outline_picture(el.examples.doorbell().outline(), title="Doorbell")
    >>> found.boxes[0].name, found.boxes[-1].name
    ('start', 'end')
    """
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {short(title)}, expected a text")
    title = outline.title if title is None else title
    words = StepWords(outline, laid)
    whole, course = _shaped(words, ROOMS if room is None else (room,))
    narrowest = NARROWEST if room is None else min(NARROWEST, room)
    return _assembled(words, whole, course, cleaned(title) if title else "", narrowest)


def _shaped(words: StepWords, rooms: Sequence[float]) -> tuple[Block | None, Rows]:
    """The course at the best of some widths."""
    shown = _shown_branches(words.outline, words.laid)
    whole = _whole(words.outline, sorted(shown)) if shown else None
    return whole, min((_course(words, shown, whole, room) for room in rooms), key=_cost)


def _size(course: Rows, room: tuple[float, float]) -> float:
    return max(course.width / room[0], course.height / room[1])


def _cost(course: Rows) -> tuple[float, float, float]:
    return max(1.0, _size(course, GLANCE)), course.height, course.width


def _whole(outline: Outline, units: Sequence[int]) -> Block:
    place = [
        sum(outline.steps[step].place for step in unit.steps) / len(unit.steps)
        for unit in outline.units
    ]
    return loosened(blocks(outline.order, units), outline.order, place)


def _course(
    words: StepWords, shown: Mapping[int, Branches], whole: Block | None, room: float
) -> Rows:
    """The main course from start to end in a room so wide, and what is rare below it."""
    found = Builder(words, shown, room).course(whole) if whole else []
    start, end = (Element(_terminal(name), (), "then") for name in ("start", "end"))
    elements = [start, *found, end]
    return rows(elements, _asides(words, shown, [one.units for one in elements]), room)


def _terminal(name: str) -> Piece:
    wide, high = TERMINAL
    text = Text(wide / 2, high / 2 + 4, name, "end", "middle")
    box = StepBox(
        None, name, 0.0, 0.0, wide, high, 1.0, 1.0, 1.0, False, None, (), (text,), None, name
    )
    return Piece(wide, high, (), 1.0, (box,))


def _assembled(
    words: StepWords, whole: Block | None, course: Rows, title: str, narrowest: float
) -> OutlinePicture:
    """Put heading, drawing and legend below one another."""
    room = max(course.width, narrowest)
    drawn = sum(box.step is not None for piece in course.pieces for box in piece.boxes)
    heading, top = _heading(words, title, room, drawn)
    top += 12.0
    pieces = [piece.moved(MARGIN, top) for piece in course.pieces]
    boxes = tuple(box for piece in pieces for box in piece.boxes)
    notes = tuple(shifted(note, MARGIN, top) for note in course.notes)
    links = [link for piece in pieces for link in piece.links]
    for link in course.links:
        curve = along(link.curve, MARGIN, top)
        links.append(Link(link.kind, link.before, link.after, curve, link.ink))
    corner = (MARGIN, round(top + course.height + MARGIN + 2, 1))
    keys, bottom = legend(boxes, links, notes, room, corner)
    return OutlinePicture(
        width=round(room + 2 * MARGIN, 1),
        height=round(bottom + MARGIN, 1),
        title=title,
        summary=summary(words, whole, title),
        boxes=boxes,
        frames=tuple(frame for piece in pieces for frame in piece.frames),
        links=tuple(links),
        notes=notes,
        texts=(*heading, *(text for piece in pieces for text in piece.texts)),
        keys=keys,
    )


def _heading(words: StepWords, title: str, room: float, drawn: int) -> tuple[list[Text], float]:
    """Title and a line about where the outline comes from, and how far down they reach."""
    texts: list[Text] = []
    y = MARGIN
    if title:
        size, bold = font("title")
        for line in wrapped(title, room, size, bold=bold):
            y += size * 1.2
            texts.append(Text(MARGIN, round(y - size * 0.3, 1), line, "title"))
    for line in wrapped(_caption(words, drawn), room, PLAIN, lines=3):
        y += PLAIN * 1.4
        texts.append(Text(MARGIN, round(y - PLAIN * 0.3, 1), line, "caption"))
    return texts, y


def _caption(words: StepWords, drawn: int) -> str:
    steps, tellings = len(words.outline.steps), words.outline.tellings
    text = f"{steps} step{'' if steps == 1 else 's'}" if steps else "no step is told often enough"
    if drawn < steps:
        text += f" ({drawn} drawn, {steps - drawn} in notes)"
    if tellings:
        text += f", learned from {tellings} telling{'' if tellings == 1 else 's'}"
    if words.laid is None:
        return text
    lines, strange = words.laid.length, words.laid.strange
    text += f"; laid over it, a telling of {lines} line{'' if lines == 1 else 's'}"
    if strange:
        named = ", ".join(isolated(event, 60) for event in strange[:STRANGE])
        more = f" and {len(strange) - STRANGE} more" if len(strange) > STRANGE else ""
        text += f" (not in the outline: {named}{more})"
    return text


# --- what is rare, and where in the main course it belongs ----------------------------------------

RARE_BRANCH = 0.5
"""Branches may be so many times rarer and still be drawn."""


def _shown_branches(outline: Outline, laid: Overlay | None) -> dict[int, Branches]:
    """Return the branches to draw of each unit that is not done sometimes only, by its number.

    What a telling tells or leaves unsaid is always drawn.
    """
    told = outline.told_shares
    least = main_from(outline)
    kept = {k for k, state in enumerate(laid.states) if state != "faded"} if laid else set()
    found: dict[int, Branches] = {}
    for number, unit in enumerate(outline.units):
        if not is_main(outline, number) and kept.isdisjoint(unit.steps):
            continue
        often = tuple(
            branch
            for branch, share in zip(unit.branches, unit.shares, strict=True)
            if share >= RARE_BRANCH * least
            or any(told[step] >= least or step in kept for step in branch)
        )
        found[number] = often or unit.branches
    return found


def _asides(
    words: StepWords, shown: Mapping[int, Branches], elements: Sequence[Sequence[int]]
) -> list[Aside]:
    """Return what is rare, by its place in the main course.

    Parameters
    ----------
    words
        The steps.
    shown
        What is drawn.
    elements
        Units of each element of the main course, none for the start and the end.
    """
    outline = words.outline
    home = {unit: at for at, units in enumerate(elements) for unit in units}
    found: dict[tuple[int, bool], list[tuple[float, str, tuple[int, ...]]]] = {}
    for number, unit in enumerate(outline.units):
        rare = [branch for branch in unit.branches if branch not in shown.get(number, ())]
        if not rare:
            continue
        steps = tuple(step for branch in rare for step in branch)
        often = max(outline.steps[step].told for step in steps)
        text = " or ".join(_counted(words, branch) for branch in rare)
        where = _between(outline, number, elements)
        if number in shown:
            usual = " or ".join(_named(words, branch) for branch in shown[number])
            text += f" (instead of {usual})"
            where = (home[number], True)
        found.setdefault(where, []).append((-often, text, steps))
    return [_aside(words, *where, sorted(items)) for where, items in sorted(found.items())]


def _named(words: StepWords, branch: Sequence[int]) -> str:
    """A branch in a few words, its first and last step."""
    return _in_short([words.labels[step] for step in branch])


def _counted(words: StepWords, branch: Sequence[int]) -> str:
    """A branch in a few words, with how often each step that is named is told."""
    steps = words.outline.steps
    text = _in_short([f"{words.labels[s]}{TIED}{percent(steps[s].told)}" for s in branch])
    first = condition(words.outline, branch[0])
    return text if first is None else f"{text}, if {words.labels[first]}"


def _in_short(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{names[0]}{' → … → ' if len(names) > 2 else ' → '}{names[-1]}"


def _between(outline: Outline, unit: int, elements: Sequence[Sequence[int]]) -> tuple[int, bool]:
    """Return the element before which a unit belongs, or the one inside which it does."""
    order = outline.order
    after = [at for at, units in enumerate(elements) if any(order[one, unit] for one in units)]
    before = [at for at, units in enumerate(elements) if any(order[unit, one] for one in units)]
    low, high = max(after, default=0), min(before, default=len(elements) - 1)
    if low == high:
        return low, True
    # Start and end are elements, too.
    return 1 + parts_before(outline, unit, elements[1:-1]), False


def _aside(
    words: StepWords,
    at: int,
    inside: bool,
    items: Sequence[tuple[float, str, tuple[int, ...]]],
) -> Aside:
    steps = tuple(step for _, _, members in items for step in members)
    return Aside(
        at=at,
        inside=inside,
        items=tuple(text for _, text, _ in items),
        steps=steps,
        faded=words.laid is not None,
        tip="\n\n".join(words.tip(step) for step in steps),
    )
