"""Scripts as BPMN processes: a task for each event, exclusive gateways for the choices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from elision.show._steps import steps, xml_attribute, xml_text
from elision.show.layout import Box, Link, Spacing, layout
from elision.show.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show._steps import Step
    from elision.show.flow import Passage
    from elision.show.layout import Point
    from elision.values.script import Script

Kind: TypeAlias = Literal["startEvent", "endEvent", "task", "exclusiveGateway"]

SIZES: dict[Kind, tuple[float, float]] = {
    "startEvent": (36.0, 36.0),
    "endEvent": (36.0, 36.0),
    "task": (120.0, 60.0),
    "exclusiveGateway": (50.0, 50.0),
}
ASIDE = 40.0
"""Gap between a gateway and the tasks beside it."""

ROW = 80.0
DETOUR = 25.0
"""Room above and below the tasks of a state, for the ways round them."""

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
    box: Box
    note: str = ""
    incoming: list[_Flow] = field(default_factory=list)
    outgoing: list[_Flow] = field(default_factory=list)


@dataclass(slots=True)
class _Process:
    nodes: dict[str, _Node] = field(default_factory=dict)
    made: int = 0

    def add(
        self, name: str, kind: Kind, left: float, middle: float, *, label: str = "", note: str = ""
    ) -> None:
        width, height = SIZES[kind]
        box = Box(left, middle - height / 2, width, height)
        self.nodes[name] = _Node(name, kind, label, box, note)

    def connect(
        self, source: str, target: str, probability: float, bends: tuple[Point, ...] = ()
    ) -> None:
        self.made += 1
        flow = _Flow(f"flow{self.made}", source, target, probability, bends)
        self.nodes[source].outgoing.append(flow)
        self.nodes[target].incoming.append(flow)

    def flows(self) -> list[_Flow]:
        return [flow for node in self.nodes.values() for flow in node.outgoing]


def to_bpmn(script: Script, *, min_share: float | None = None) -> str:
    """Write a script as a BPMN 2.0 process with its diagram.

    Parameters
    ----------
    script
        The script.
    min_share
        Leave out what is rarer, which changes the tellings; see `to_dot`. 0 writes all.

    Examples
    --------
    >>> import elision as el
    >>> to_bpmn(el.examples.doorbell()).count("<bpmn:task ")
    10
    """
    inner, passages = steps(script, min_share)
    process = _laid_out(script, inner, passages)
    _without_idle_gateways(process)
    return _written(process)


def _laid_out(script: Script, inner: list[Step], passages: Sequence[Passage]) -> _Process:
    """Lay the states out as blocks; each holds its gateways and tasks."""
    last = script.size - 1
    states = [0, *(step.state for step in inner), last]
    place = {state: number for number, state in enumerate(states)}
    sizes = [SIZES["startEvent"], *map(_block_size, inner), SIZES["endEvent"]]
    onward = [one for one in passages if one.source != one.target]
    links = [Link(place[one.source], place[one.target], min(1.0, one.flow)) for one in onward]
    placed = layout(sizes, links, columns=len(states), breadth=4000.0, spacing=SPACING)
    process = _Process()
    start, end = placed.boxes[0], placed.boxes[-1]
    process.add("start", "startEvent", start.x, start.y + start.height / 2, label="start")
    for step, box in zip(inner, placed.boxes[1:-1], strict=True):
        _add_block(process, script, step, box)
    process.add("end", "endEvent", end.x, end.y + end.height / 2, label="end")
    for one, curve in zip(onward, placed.curves, strict=True):
        bends = tuple(dict.fromkeys(curve[::3]))[1:-1]
        process.connect(_leaving(one.source), _entering(one.target, last), one.probability, bends)
    for one in passages:
        if one.source == one.target:
            box = placed.boxes[place[one.source]]
            low = box.y + box.height
            bends = ((box.x + box.width - 25, low), (box.x + 25, low))
            process.connect(f"leave{one.source}", f"enter{one.target}", one.probability, bends)
    return process


def _leaving(state: int) -> str:
    return f"leave{state}" if state else "start"


def _entering(state: int, last: int) -> str:
    return "end" if state == last else f"enter{state}"


def _block_size(step: Step) -> tuple[float, float]:
    gateway, task = SIZES["exclusiveGateway"][0], SIZES["task"][0]
    return 2 * gateway + 2 * ASIDE + task, ROW * max(1, len(step.events)) + 2 * DETOUR


def _add_block(process: _Process, script: Script, step: Step, box: Box) -> None:
    k = step.state
    gateway = SIZES["exclusiveGateway"][0]
    middle = box.y + box.height / 2
    right = box.x + box.width - gateway
    process.add(f"enter{k}", "exclusiveGateway", box.x, middle)
    process.add(f"leave{k}", "exclusiveGateway", right, middle)
    for row, (o, share) in enumerate(step.events):
        name = f"tell{k}-{o}"
        y = box.y + DETOUR + ROW * (row + 0.5)
        note = f"state {step.name}: told with probability {share:.6g}"
        left = box.x + gateway + ASIDE
        process.add(name, "task", left, y, label=script.events[o], note=note)
        process.connect(f"enter{k}", name, share)
        process.connect(name, f"leave{k}", 1.0)
    if step.silence:
        bends = ((box.x + gateway / 2, box.y), (right + gateway / 2, box.y))
        process.connect(f"enter{k}", f"leave{k}", step.silence, bends)


def _without_idle_gateways(process: _Process) -> None:
    """Join the flows before and after gateways that have only one of each."""
    for name, node in list(process.nodes.items()):
        idle = len(node.incoming) == len(node.outgoing) == 1
        if node.kind == "exclusiveGateway" and idle:
            first, second = node.incoming[0], node.outgoing[0]
            first.target = second.target
            first.probability *= second.probability
            first.bends += second.bends
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
