"""`picture`: a script as boxes, curves and texts with their places, ready to be written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from elision.errors import InputError
from elision.show._boxes import Bar, Content, Text, content
from elision.show._labels import labelled
from elision.show._legend import Key, captions, legend
from elision.show.flow import MOST_STATES, select
from elision.show.layout import Box, Layout, Link, Spacing, layout
from elision.show.overlay import Overlay, overlay
from elision.show.words import cleaned, isolated, percent
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.show.flow import Passage, Selection
    from elision.show.layout import Curve
    from elision.show.overlay import Part
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

Direction: TypeAlias = Literal["LR", "TB"]
"""From left to right, or from top to bottom, for narrow pages."""

MARGIN = 16.0
NARROWEST = 340.0
"""Least width inside the margins: for the title and the legend."""

LABEL_ROOM = 12.0
"""Room at the sides for labels of lines that go down."""

SUMMED_UP = 12
"""States that the summary names at most."""

WIDEST = 1460.0
"""Width at which the smallest letters are still 11 pixels high if it is shown on 1400."""

BREADTH = 700.0
ROWS, ROW_BREADTH, ROW_STATES = 60, 200.0, 16
ACROSS = Spacing()
DOWN = Spacing(columns=42, boxes=14, lines=10, staying=46, outlets=34, inlets=12, loop=34)


@dataclass(frozen=True, slots=True)
class Node:
    """A state, drawn: its box, what stands in it (places relative to the box), its numbers."""

    state: int
    name: str
    kind: Literal["start", "state", "end"]
    x: float
    y: float
    width: float
    height: float
    events: tuple[tuple[str, float], ...]
    more: int
    elision: float
    chance: float
    visits: float
    part: Part | None
    places: tuple[int, ...]
    texts: tuple[Text, ...]
    bars: tuple[Bar, ...]
    tip: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A passage, drawn: a curve from border to border, and the probability beside its start."""

    source: int
    target: int
    probability: float
    flow: float
    direct: bool
    taken: bool
    curve: Curve
    thickness: float
    label: Text | None
    tip: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A script, drawn. Lengths are in pixels; `to_dict` gives what JSON can hold."""

    width: float
    height: float
    direction: Direction
    title: str
    summary: str
    min_share: float
    hidden_states: int
    hidden_edges: int
    texts: tuple[Text, ...]
    keys: tuple[Key, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, texts and numbers."""
        return asdict(self)


def picture(
    script: Script,
    *,
    telling: Iterable[Observation] | None = None,
    min_share: float | None = None,
    direction: Direction = "LR",
    title: str | None = None,
    unknown: Unknown = "error",
) -> Picture:
    """Lay out a script: states left to right with their events, edges by how often they are taken.

    Parameters
    ----------
    script
        The script.
    telling
        A telling whose most probable path is shown; None in it stands for a gap.
    min_share
        Hide states that a course passes with less probability, and edges taken less often; each
        state keeps its best way in and out. By default as many are shown as one can read.
    direction
        "LR", or "TB" for narrow pages.
    title
        What stands above; by default the activity or domain that the script notes.
    unknown
        What to do with events of the telling that the script does not know.

    Examples
    --------
    >>> import elision as el
    >>> found = picture(el.examples.doorbell())
    >>> len(found.nodes), len(found.edges), found.hidden_states
    (12, 16, 0)
    """
    if direction not in ("LR", "TB"):
        raise InputError(f"direction is {short(direction)}, expected 'LR' or 'TB'")
    if title is not None and not isinstance(title, str):
        raise InputError(f"title is {short(title)}, expected a text")
    path = None if telling is None else overlay(script, telling, unknown=unknown)
    down = direction == "TB"
    chosen = select(
        script,
        min_share=min_share,
        most=ROW_STATES if down else MOST_STATES,
        states=path.roles if path else (),
        edges=path.edges if path else (),
    )
    contents = content(script, chosen, path, outlet=0.0 if down else ACROSS.outlets)
    place = {state: number for number, state in enumerate(chosen.states)}
    onward = [one for one in chosen.passages if one.source != one.target]
    placed = layout(
        [(one.width, one.height) for one in contents],
        [Link(place[one.source], place[one.target], _weight(one, path)) for one in onward],
        loops=[place[one.source] for one in chosen.passages if one.source == one.target],
        columns=ROWS if down else _columns(contents),
        breadth=ROW_BREADTH if down else BREADTH,
        down=down,
        spacing=DOWN if down else ACROSS,
    )
    return _assembled(script, chosen, path, contents, placed, direction, _title(script, title))


def _columns(contents: Sequence[Content]) -> int:
    """How many columns of boxes fit beside one another, besides start and end."""
    terminals = contents[0].width + contents[-1].width + ACROSS.columns
    box = max(one.width for one in contents)
    return max(1, int((WIDEST - 2 * MARGIN - terminals) / (box + ACROSS.columns)))


def _weight(passage: Passage, path: Overlay | None) -> float:
    taken = path is not None and (passage.source, passage.target) in path.edges
    return min(1.0, passage.flow) + (1.0 if taken else 0.0)


def _title(script: Script, title: str | None) -> str:
    if title is None:
        noted = script.about
        title = next(
            (noted[key] for key in ("activity", "domain") if isinstance(noted.get(key), str)), ""
        )
    return cleaned(title) if title else ""


def _assembled(
    script: Script,
    chosen: Selection,
    path: Overlay | None,
    contents: Sequence[Content],
    placed: Layout,
    direction: Direction,
    title: str,
) -> Picture:
    """Put heading, drawing and legend below one another."""
    beside = 2 * LABEL_ROOM if direction == "TB" else 0.0
    room = max(placed.width + beside, NARROWEST)
    heading, top = captions(script, chosen, title, room, MARGIN)
    left = MARGIN + (room - placed.width) / 2
    top += MARGIN
    nodes = tuple(
        _node(script, chosen, state, one, box, path, (left, top))
        for state, one, box in zip(chosen.states, contents, placed.boxes, strict=True)
    )
    edges = _edges(script, chosen, path, placed, (left, top))
    keys, bottom = legend(path, chosen, room, (MARGIN, top + placed.height + MARGIN))
    return Picture(
        width=round(room + 2 * MARGIN, 1),
        height=round(bottom + MARGIN, 1),
        direction=direction,
        title=title,
        summary=_summary(script, chosen, path, title),
        min_share=chosen.min_share,
        hidden_states=chosen.hidden_states,
        hidden_edges=chosen.hidden_edges,
        texts=heading,
        keys=keys,
        nodes=nodes,
        edges=edges,
    )


def _node(
    script: Script,
    chosen: Selection,
    state: int,
    one: Content,
    box: tuple[float, float, float, float],
    path: Overlay | None,
    corner: tuple[float, float],
) -> Node:
    role = path.roles.get(state) if path else None
    flow = chosen.flow
    kind: Literal["start", "state", "end"] = "state"
    if state in (0, script.size - 1):
        kind = "end" if state else "start"
    return Node(
        state=state,
        name=cleaned(script.states[state]),
        kind=kind,
        x=round(corner[0] + box[0], 1),
        y=round(corner[1] + box[1], 1),
        width=one.width,
        height=one.height,
        events=one.events,
        more=one.more,
        elision=float(script.elision[state]),
        chance=float(flow.chance[state]),
        visits=float(flow.visits[state]),
        part=role.part if role else None,
        places=role.places if role else (),
        texts=one.texts,
        bars=one.bars,
        tip=one.tip,
    )


def _edges(
    script: Script,
    chosen: Selection,
    path: Overlay | None,
    placed: Layout,
    corner: tuple[float, float],
) -> tuple[Edge, ...]:
    """Edges, rare ones first, so that the others are drawn over them."""
    place = {state: number for number, state in enumerate(chosen.states)}
    curves = iter(placed.curves)
    found: list[Edge] = []
    for one in chosen.passages:
        loop = one.source == one.target
        curve = placed.loops[place[one.source]] if loop else next(curves)
        found.append(
            Edge(
                source=one.source,
                target=one.target,
                probability=one.probability,
                flow=one.flow,
                direct=one.direct,
                taken=path is not None and (one.source, one.target) in path.edges,
                curve=tuple((round(corner[0] + x, 1), round(corner[1] + y, 1)) for x, y in curve),
                thickness=round(1.2 + 4.3 * min(1.0, one.flow), 2),
                label=None,
                tip=_edge_tip(script, one),
            )
        )
    boxes = [Box(corner[0] + x, corner[1] + y, w, h) for x, y, w, h in placed.boxes]
    found = labelled(found, boxes)
    return tuple(sorted(found, key=lambda one: (one.taken, one.flow, one.source, one.target)))


def _edge_tip(script: Script, one: Passage) -> str:
    source, target = (isolated(script.states[k], 80) for k in (one.source, one.target))
    often = f"taken {one.flow:.2g} times" if one.source == one.target else percent(one.flow)
    way = "" if one.direct else ", mostly by way of hidden states"
    tail = often if one.source == one.target else f"taken by {often} of courses"
    return f"{source} → {target}: {percent(one.probability)}, {tail}{way}"


def _summary(script: Script, chosen: Selection, path: Overlay | None, title: str) -> str:
    """The picture in a sentence or two, for those who do not see it."""
    inner = chosen.states[1:-1]
    usual = [k for k in inner if chosen.flow.chance[k] >= 0.5] or list(inner)
    named = ", ".join(isolated(script.states[k], 80) for k in usual[:SUMMED_UP])
    text = f"Script{f' of {isolated(title, 80)}' if title else ''} with {script.size - 2} states."
    if named:
        text += f" Usual steps: {named}."
    if path:
        unsaid = [k for k, role in path.roles.items() if role.part == "silent"]
        listed = ", ".join(isolated(script.states[k], 80) for k in unsaid[:SUMMED_UP])
        text += f" Left unsaid in the telling: {listed or 'nothing'}."
    return text
