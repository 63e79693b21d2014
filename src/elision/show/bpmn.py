"""Outlines as BPMN processes: parallel gateways for any order, exclusive ones for choices."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from elision.show.layout import Box, Link, Spacing, layout
from elision.show.petri import (
    ENTRY,
    LEAST,
    START,
    unit_links,
    unit_moves,
    xml_attribute,
    xml_text,
)
from elision.show.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show.layout import Point
    from elision.values.outline import Outline

Kind: TypeAlias = Literal["startEvent", "endEvent", "task", "exclusiveGateway", "parallelGateway"]

SIZES: dict[Kind, tuple[float, float]] = {
    "startEvent": (36.0, 36.0),
    "endEvent": (36.0, 36.0),
    "task": (120.0, 60.0),
    "exclusiveGateway": (50.0, 50.0),
    "parallelGateway": (50.0, 50.0),
}
ASIDE = 40.0
"""Gap between a gateway and the tasks beside it."""

DETOUR = 25.0
"""Room above and below a task, for the way back to it."""

BREADTH = 4000.0
NOWHERE = Box(0.0, 0.0, 0.0, 0.0)
"""Where a node stands before all are laid out."""

HEADER = (
    '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI"'
    ' xmlns:dc="http://www.omg.org/spec/DD/20100524/DC"'
    ' xmlns:di="http://www.omg.org/spec/DD/20100524/DI"'
    ' id="definitions" targetNamespace="http://bpmn.io/schema/bpmn">'
)
SPACING = Spacing(columns=80, boxes=40, lines=20, outlets=10, inlets=10)


@dataclass(slots=True, eq=False)
class _Flow:
    name: str
    source: str
    target: str
    probability: float
    bends: tuple[Point, ...] = ()


@dataclass(slots=True)
class _Node:
    name: str
    kind: Kind
    label: str
    note: str
    box: Box = NOWHERE
    incoming: list[_Flow] = field(default_factory=list)
    outgoing: list[_Flow] = field(default_factory=list)


@dataclass(slots=True)
class _Process:
    nodes: dict[str, _Node] = field(default_factory=dict)
    made: int = 0

    def add(self, name: str, kind: Kind, label: str = "", note: str = "") -> None:
        self.nodes[name] = _Node(name, kind, label, note)

    def connect(self, source: str, target: str, probability: float) -> None:
        self.made += 1
        flow = _Flow(f"flow{self.made}", source, target, probability)
        self.nodes[source].outgoing.append(flow)
        self.nodes[target].incoming.append(flow)

    def flows(self) -> list[_Flow]:
        return [flow for node in self.nodes.values() for flow in node.outgoing]


def outline_bpmn(outline: Outline, *, min_share: float = LEAST) -> str:
    """Write an outline as a BPMN 2.0 process with its diagram.

    Behind a unit with several that come directly after it stands a parallel gateway that splits,
    before one with several that come directly before it one that joins. Exclusive gateways choose
    between branches, between telling and silence, and between going on and telling again.

    Parameters
    ----------
    outline
        The outline.
    min_share
        Leave out silence and repeats that are not more probable; 0 leaves out none.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1, 2], [1, 0, 2], [0, 2], [1, 2]] * 5, ["a", "b", "c"])
    >>> process = outline_bpmn(outline)
    >>> process.count("<bpmn:task "), process.count("<bpmn:parallelGateway ")
    (3, 2)
    """
    process = _Process()
    backward = _built(process, outline, min_share)
    _without_idle_gateways(process)
    _lay_out(process, _blocks(process, backward))
    return _written(process)


def _built(process: _Process, outline: Outline, min_share: float) -> set[str]:
    """Add all nodes and flows, gateways that are not needed as well; return the flows back."""
    end = len(outline.units)
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    links = unit_links(outline)
    for one, other in links:
        after[one].append(other)
        before[other].append(one)
    process.add("start", "startEvent", "start")
    entry, leave = {end: "end"}, {START: "start"}
    backward: set[str] = set()
    for unit in range(end):
        entry[unit], leave[unit], back = _add_unit(process, outline, unit, min_share)
        backward |= back
    process.add("end", "endEvent", "end")
    for unit in range(START, end + 1):
        if len(before[unit]) > 1:
            process.add(f"all{unit + 1}", "parallelGateway")
            process.connect(f"all{unit + 1}", entry[unit], 1.0)
            entry[unit] = f"all{unit + 1}"
        if len(after[unit]) > 1:
            process.add(f"each{unit + 1}", "parallelGateway")
            process.connect(leave[unit], f"each{unit + 1}", 1.0)
            leave[unit] = f"each{unit + 1}"
    for one, other in links:
        process.connect(leave[one], entry[other], 1.0)
    return backward


def _add_unit(
    process: _Process, outline: Outline, unit: int, min_share: float
) -> tuple[str, str, set[str]]:
    """Add a unit: at each position a gateway that joins and one that splits, tasks between them.

    Returns the first and the last node, and the names of the flows that lead back.
    """
    moves = unit_moves(outline, unit, min_share)
    last = max(move.target for move in moves)
    join = [f"join{unit + 1}-{position}" for position in range(last + 1)]
    split = [f"split{unit + 1}-{position}" for position in range(last + 1)]
    for first, second in zip(join, split, strict=True):
        process.add(first, "exclusiveGateway")
        process.add(second, "exclusiveGateway")
        process.connect(first, second, 1.0)
    backward = set()
    for move in moves:
        source, target = split[move.source], join[move.target]
        if move.step is None:
            process.connect(source, target, move.weight)
            if move.target < move.source:
                backward.add(process.nodes[source].outgoing[-1].name)
        else:
            task = f"tell{move.step}"
            note = _note(outline, unit, move.step)
            process.add(task, "task", outline.steps[move.step].event, note)
            process.connect(source, task, move.weight)
            process.connect(task, target, 1.0)
    return join[ENTRY], split[last], backward


def _note(outline: Outline, unit: int, number: int) -> str:
    step = outline.steps[number]
    parts = [
        f"step {step.name}: told in {percent(step.told)} of the tellings",
        f"told with probability {step.telling:.6g} if it happens",
        f"told again with {step.again:.6g}",
        f"its unit happens with {outline.units[unit].happens:.6g}",
    ]
    return ", ".join(parts)


class _Block(NamedTuple):
    """Nodes that stand side by side, and the flow that leads back inside, if one does."""

    nodes: tuple[str, ...]
    back: _Flow | None = None


def _blocks(process: _Process, backward: set[str]) -> list[_Block]:
    """A block for each node, or for a task with the gateways of its way back; flows go onward."""
    found: list[_Block] = []
    for flow in process.flows():
        if flow.name in backward:
            task = process.nodes[flow.target].outgoing[0].target
            found.append(_Block((flow.target, task, flow.source), flow))
    within = {name for block in found for name in block.nodes}
    found += [_Block((name,)) for name in process.nodes if name not in within]
    return _sorted(process, found)


def _sorted(process: _Process, blocks: Sequence[_Block]) -> list[_Block]:
    """Put blocks in an order in which flows go from earlier to later ones."""
    home = {name: number for number, block in enumerate(blocks) for name in block.nodes}
    behind: dict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(blocks)
    for source, target in _between(process, home):
        behind[source].append(target)
        waiting[target] += 1
    ready = [home["start"]]
    found = []
    while ready:
        number = ready.pop(0)
        found.append(number)
        for other in behind[number]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return [blocks[number] for number in found]


def _between(process: _Process, home: dict[str, int]) -> list[tuple[int, int]]:
    ends = [(home[flow.source], home[flow.target]) for flow in process.flows()]
    return [(source, target) for source, target in ends if source != target]


def _lay_out(process: _Process, blocks: Sequence[_Block]) -> None:
    """Give each node its box and each flow its bends, from left to right."""
    home = {name: number for number, block in enumerate(blocks) for name in block.nodes}
    onward = [flow for flow in process.flows() if home[flow.source] != home[flow.target]]
    links = [Link(home[one.source], home[one.target], one.probability) for one in onward]
    sizes = [_size(process, block) for block in blocks]
    placed = layout(sizes, links, columns=len(blocks), breadth=BREADTH, spacing=SPACING)
    for block, box in zip(blocks, placed.boxes, strict=True):
        left = box.x
        for name in block.nodes:
            width, height = SIZES[process.nodes[name].kind]
            middle = box.y + box.height / 2
            process.nodes[name].box = Box(left, middle - height / 2, width, height)
            left += width + ASIDE
        if block.back is not None:
            low, middle = box.y + box.height, SIZES["exclusiveGateway"][0] / 2
            block.back.bends = ((box.x + box.width - middle, low), (box.x + middle, low))
    for flow, curve in zip(onward, placed.curves, strict=True):
        flow.bends = tuple(dict.fromkeys(curve[::3]))[1:-1]


def _size(process: _Process, block: _Block) -> tuple[float, float]:
    sizes = [SIZES[process.nodes[name].kind] for name in block.nodes]
    room = 2 * DETOUR if block.back is not None else 0.0
    width = sum(width for width, _ in sizes) + ASIDE * (len(sizes) - 1)
    return width, max(height for _, height in sizes) + room


def _without_idle_gateways(process: _Process) -> None:
    """Join the flows before and after gateways that have only one of each."""
    for name, node in list(process.nodes.items()):
        idle = len(node.incoming) == len(node.outgoing) == 1
        if node.kind == "exclusiveGateway" and idle:
            first, second = node.incoming[0], node.outgoing[0]
            first.target = second.target
            first.probability *= second.probability
            after = process.nodes[second.target].incoming
            after[after.index(second)] = first
            del process.nodes[name]


def _written(process: _Process) -> str:
    flows = process.flows()
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            HEADER,
            '<bpmn:process id="script" isExecutable="false">',
            *map(_node_element, process.nodes.values()),
            *map(_flow_element, flows),
            "</bpmn:process>",
            '<bpmndi:BPMNDiagram id="diagram">',
            '<bpmndi:BPMNPlane id="plane" bpmnElement="script">',
            *map(_shape, process.nodes.values()),
            *(_edge(flow, process) for flow in flows),
            "</bpmndi:BPMNPlane>",
            "</bpmndi:BPMNDiagram>",
            "</bpmn:definitions>",
            "",
        ]
    )


def _node_element(node: _Node) -> str:
    label = f" name={xml_attribute(node.label)}" if node.label else ""
    note = f"<bpmn:documentation>{xml_text(node.note)}</bpmn:documentation>" if node.note else ""
    ends = "".join(f"<bpmn:incoming>{flow.name}</bpmn:incoming>" for flow in node.incoming)
    ends += "".join(f"<bpmn:outgoing>{flow.name}</bpmn:outgoing>" for flow in node.outgoing)
    return f'<bpmn:{node.kind} id="{node.name}"{label}>{note}{ends}</bpmn:{node.kind}>'


def _flow_element(flow: _Flow) -> str:
    label = "" if flow.probability == 1 else f" name={xml_attribute(percent(flow.probability))}"
    note = f"<bpmn:documentation>probability {flow.probability:.6g}</bpmn:documentation>"
    ends = f'sourceRef="{flow.source}" targetRef="{flow.target}"'
    return f'<bpmn:sequenceFlow id="{flow.name}"{label} {ends}>{note}</bpmn:sequenceFlow>'


def _shape(node: _Node) -> str:
    box = node.box
    marker = ' isMarkerVisible="true"' if node.kind == "exclusiveGateway" else ""
    return (
        f'<bpmndi:BPMNShape id="{node.name}-shape" bpmnElement="{node.name}"{marker}>'
        f'<dc:Bounds x="{box.x:.1f}" y="{box.y:.1f}"'
        f' width="{box.width:.1f}" height="{box.height:.1f}"/></bpmndi:BPMNShape>'
    )


def _edge(flow: _Flow, process: _Process) -> str:
    source, target = process.nodes[flow.source].box, process.nodes[flow.target].box
    points = _ends(source, target, flow.bends)
    way = "".join(f'<di:waypoint x="{x:.1f}" y="{y:.1f}"/>' for x, y in points)
    name = f'id="{flow.name}-edge" bpmnElement="{flow.name}"'
    return f"<bpmndi:BPMNEdge {name}>{way}</bpmndi:BPMNEdge>"


def _ends(source: Box, target: Box, bends: tuple[Point, ...]) -> list[Point]:
    """Start and end at the side of a box that the next bend is at."""
    first = bends[0] if bends else (target.x, target.y + target.height / 2)
    last = bends[-1] if bends else (source.x + source.width, source.y + source.height / 2)
    return [_side(source, first, right=True), *bends, _side(target, last, right=False)]


def _side(box: Box, toward: Point, *, right: bool) -> Point:
    x, y = toward
    if box.x <= x <= box.x + box.width:
        return (box.x + box.width / 2, box.y if y < box.y else box.y + box.height)
    return (box.x + (box.width if right else 0.0), box.y + box.height / 2)
