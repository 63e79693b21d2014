"""Outlines as BPMN processes: parallel gateways for any order, exclusive ones for choices."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, cast

from elision.show.bpmn import (
    ASIDE,
    DETOUR,
    SIZES,
    SPACING,
    _Node,
    _Process,
    _without_idle_gateways,
    _written,
)
from elision.show.flow import checked_share
from elision.show.layout import Box, Link, layout
from elision.show.outline_petri import ENTRY, LEAST, START, unit_links, unit_moves
from elision.show.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.show.bpmn import Kind, _Flow
    from elision.values.outline import Outline

PARALLEL = cast("Kind", "parallelGateway")
NOWHERE = Box(0.0, 0.0, 0.0, 0.0)
BREADTH = 4000.0


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
    backward = _built(process, outline, checked_share(min_share))
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
    _add(process, "start", "startEvent", label="start")
    entry, leave = {end: "end"}, {START: "start"}
    backward: set[str] = set()
    for unit in range(end):
        entry[unit], leave[unit], back = _add_unit(process, outline, unit, min_share)
        backward |= back
    _add(process, "end", "endEvent", label="end")
    for unit in range(START, end + 1):
        if len(before[unit]) > 1:
            _add(process, f"all{unit + 1}", PARALLEL)
            process.connect(f"all{unit + 1}", entry[unit], 1.0)
            entry[unit] = f"all{unit + 1}"
        if len(after[unit]) > 1:
            _add(process, f"each{unit + 1}", PARALLEL)
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
        _add(process, first, "exclusiveGateway")
        _add(process, second, "exclusiveGateway")
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
            _add(process, task, "task", label=outline.steps[move.step].event, note=note)
            process.connect(source, task, move.weight)
            process.connect(task, target, 1.0)
    return join[ENTRY], split[last], backward


def _add(process: _Process, name: str, kind: Kind, *, label: str = "", note: str = "") -> None:
    process.nodes[name] = _Node(name, kind, label, NOWHERE, note)


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
            width, height = _node_size(process, name)
            middle = box.y + box.height / 2
            process.nodes[name].box = Box(left, middle - height / 2, width, height)
            left += width + ASIDE
        if block.back is not None:
            low, middle = box.y + box.height, SIZES["exclusiveGateway"][0] / 2
            block.back.bends = ((box.x + box.width - middle, low), (box.x + middle, low))
    for flow, curve in zip(onward, placed.curves, strict=True):
        flow.bends = tuple(dict.fromkeys(curve[::3]))[1:-1]


def _size(process: _Process, block: _Block) -> tuple[float, float]:
    sizes = [_node_size(process, name) for name in block.nodes]
    room = 2 * DETOUR if block.back is not None else 0.0
    width = sum(width for width, _ in sizes) + ASIDE * (len(sizes) - 1)
    return width, max(height for _, height in sizes) + room


def _node_size(process: _Process, name: str) -> tuple[float, float]:
    kind = process.nodes[name].kind
    return SIZES["exclusiveGateway" if kind == PARALLEL else kind]
