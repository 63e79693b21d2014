"""Outlines as task graphs: DOT, Mermaid and plain data; states as DOT."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from elision.show.blocks import blocks
from elision.show.petri import LEAST, START, unit_links
from elision.show.words import cleaned, percent
from elision.values.outline_reading import condition_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from elision.show.blocks import Block
    from elision.values.outline import Outline
    from elision.values.script import Script

LONGEST = 200
"""Letters of a name."""

READABLE = 0.05
"""Least probability of an event that is named in the box of a state, but for the likeliest."""

Kind: TypeAlias = Literal["start", "end", "step", "optional", "choice", "join"]

ONE_OF = "one of"

_DOT_LOOKS: dict[Kind, str] = {
    "start": ", shape=oval",
    "end": ", shape=oval",
    "step": "",
    "optional": ', style="rounded,dashed"',
    "choice": ", shape=diamond, style=solid",
    "join": ", shape=diamond, style=solid, width=0.25, height=0.25",
}
_MERMAID_LOOKS: dict[Kind, str] = {
    "start": "([{}])",
    "end": "([{}])",
    "step": '["{}"]',
    "optional": '["{}"]',
    "choice": '{{"{}"}}',
    "join": '{{" "}}',
}


class _Node(NamedTuple):
    name: str
    kind: Kind
    lines: tuple[str, ...]


class _Edge(NamedTuple):
    source: str
    target: str
    share: float | None = None


def outline_dot(outline: Outline) -> str:
    r"""Write the task graph of an outline in Graphviz's language.

    Arrows lead to what comes directly after. A choice is a diamond with an arrow to each branch; a
    step that may not happen is dashed. A step says in which share of the tellings it is told, and
    after "if" which step says that its branch is taken, where that was long before; arrows between
    units say in which share of those that tell both they keep this order.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1], [0]] * 5, ["boil water", "warm the pot"])
    >>> print(outline_dot(outline).splitlines()[4])
      s0 [label="boil water\ntold 100%"];
    """
    nodes, edges = _task_graph(outline)
    lines = [
        "digraph outline {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ]
    for node in nodes:
        label = "\\n".join(_dot(line) for line in node.lines)
        lines.append(f'  {node.name} [label="{label}"{_DOT_LOOKS[node.kind]}];')
    for edge in edges:
        label = "" if edge.share is None else f' [label="{percent(edge.share)}"]'
        lines.append(f"  {edge.source} -> {edge.target}{label};")
    return "\n".join([*lines, "}", ""])


def outline_mermaid(outline: Outline) -> str:
    """Write the task graph of an outline as a flowchart in Mermaid's language; see `outline_dot`.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1], [0]] * 5, ["boil water", "warm the pot"])
    >>> print(outline_mermaid(outline).splitlines()[2])
      s0["boil water<br/>told 100#37;"]
    """
    nodes, edges = _task_graph(outline)
    lines = ["flowchart LR"]
    for node in nodes:
        # Mermaid takes a small "end" for its own.
        words = ("End",) if node.kind == "end" else node.lines
        label = "<br/>".join(_mermaid(line) for line in words)
        lines.append(f"  {node.name}{_MERMAID_LOOKS[node.kind].format(label)}")
    for edge in edges:
        label = "" if edge.share is None else f'|"{_mermaid(percent(edge.share))}"|'
        lines.append(f"  {edge.source} -->{label} {edge.target}")
    optional = [node.name for node in nodes if node.kind == "optional"]
    if optional:
        lines.append("  classDef optional stroke-dasharray: 5 3")
        lines.append(f"  class {','.join(optional)} optional")
    return "\n".join([*lines, ""])


def _task_graph(outline: Outline) -> tuple[list[_Node], list[_Edge]]:
    """Nodes and arrows of the drawing of an outline, steps by their number."""
    end = len(outline.units)
    nodes = [_Node("first", "start", ("start",))]
    edges: list[_Edge] = []
    entry, leave = {end: "last"}, {START: "first"}
    for number, unit in enumerate(outline.units):
        choice = len(unit.branches) > 1
        if choice:
            nodes.append(_Node(f"c{number}", "choice", (ONE_OF,)))
        for branch, share in zip(unit.branches, unit.shares, strict=True):
            names = [f"s{step}" for step in branch]
            given = condition_name(outline, branch[0])
            nodes.append(_step_node(outline, branch[0], unit.happens, given))
            nodes += [_step_node(outline, step, unit.happens) for step in branch[1:]]
            edges += [_Edge(a, b) for a, b in pairwise(names)]
            entry[number], leave[number] = names[0], names[-1]
            if choice:
                edges.append(_Edge(f"c{number}", names[0], share))
                edges.append(_Edge(names[-1], f"j{number}"))
        if choice:
            nodes.append(_Node(f"j{number}", "join", ("",)))
            entry[number], leave[number] = f"c{number}", f"j{number}"
    nodes.append(_Node("last", "end", ("end",)))
    for before, after in unit_links(outline):
        edges.append(_Edge(leave[before], entry[after], _kept(outline, before, after)))
    return nodes, edges


def _step_node(outline: Outline, number: int, happens: float, given: str | None = None) -> _Node:
    step = outline.steps[number]
    optional = 1 - happens > LEAST
    lines = [_cut(step.name)]
    if given is not None:
        lines.append(f"if {_cut(given)}")
    lines.append(f"told {percent(step.told)}")
    if optional:
        lines.append(f"happens {percent(happens)}")
    if step.again > LEAST:
        lines.append(f"again {percent(step.again)}")
    return _Node(f"s{number}", "optional" if optional else "step", tuple(lines))


def _kept(outline: Outline, before: int, after: int) -> float | None:
    """Share of the tellings with both units that keep their order; None if there are none."""
    if before == START or after == len(outline.units):
        return None
    holds, broken = int(outline.pairs[before, after]), int(outline.pairs[after, before])
    return holds / (holds + broken) if holds + broken else None


def outline_json(outline: Outline) -> dict[str, Any]:
    """Everything about an outline as a task graph of dictionaries, lists, texts and numbers.

    ``steps`` have all their figures. ``nodes`` are the start, the units and the end; ``edges`` lead
    from each to what comes directly after it, with the numbers of tellings that keep this order and
    that break it. ``choices`` are the units with several branches; where the choice was made long
    before, ``if`` of a branch and of its steps is the step that says that it is taken, or else
    None. Each group of ``any_order`` has parts of one or more units that may come in any order as
    they stand.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> outline = learn_outline([[0, 1, 2], [1, 0, 2]] * 5, ["a", "b", "c"])
    >>> graph = outline_json(outline)
    >>> graph["edges"][2]
    {'source': 'unit 1', 'target': 'unit 3', 'holds': 10, 'broken': 0}
    >>> graph["any_order"]
    [[['unit 1'], ['unit 2']]]
    """
    end = len(outline.units)
    nodes = [{"id": "start", "kind": "start"}]
    nodes += [_unit_data(outline, unit) for unit in range(end)]
    nodes.append({"id": "end", "kind": "end"})
    whole = blocks(outline.order, range(end)) if end else None
    return {
        "title": outline.title,
        "tellings": outline.tellings,
        "steps": [_step_data(outline, number) for number in range(len(outline.steps))],
        "nodes": nodes,
        "edges": [_edge_data(outline, before, after) for before, after in unit_links(outline)],
        "choices": [
            _name(outline, n) for n, unit in enumerate(outline.units) if len(unit.branches) > 1
        ],
        "any_order": [
            [[_name(outline, unit) for unit in part.units] for part in block.parts]
            for block in (_within(whole) if whole else ())
            if block.kind == "any"
        ],
    }


def _name(outline: Outline, unit: int) -> str:
    if unit == START:
        return "start"
    return "end" if unit == len(outline.units) else f"unit {unit + 1}"


def _within(block: Block) -> Iterator[Block]:
    yield block
    for part in block.parts:
        yield from _within(part)


def _step_data(outline: Outline, number: int) -> dict[str, Any]:
    step = outline.steps[number]
    return {
        "name": step.name,
        "event": step.event,
        "unit": _name(outline, outline.unit_of[number]),
        "if": condition_name(outline, number),
        "told": step.told,
        "telling": step.telling,
        "again": step.again,
        "place": step.place,
        "unsaid": float(outline.unsaid[number]),
        "wording": list(step.wording),
    }


def _unit_data(outline: Outline, number: int) -> dict[str, Any]:
    unit = outline.units[number]
    return {
        "id": _name(outline, number),
        "kind": "choice" if len(unit.branches) > 1 else "steps",
        "happens": unit.happens,
        "branches": [
            {
                "share": share,
                "steps": [outline.steps[step].name for step in branch],
                "if": condition_name(outline, branch[0]),
            }
            for branch, share in zip(unit.branches, unit.shares, strict=True)
        ],
    }


def _edge_data(outline: Outline, before: int, after: int) -> dict[str, Any]:
    units = before != START and after != len(outline.units)
    return {
        "source": _name(outline, before),
        "target": _name(outline, after),
        "holds": int(outline.pairs[before, after]) if units else None,
        "broken": int(outline.pairs[after, before]) if units else None,
    }


def states_dot(script: Script) -> str:
    r"""Write the states of a script in Graphviz's language, with all edges.

    A box says which events its state tells and how often it is silent; the more often an edge is
    expected to be taken, the thicker it is.

    Examples
    --------
    >>> import elision as el
    >>> print(states_dot(el.examples.doorbell()).splitlines()[4])
      s1 [label="hear doorbell\nhear doorbell 70%\nsilent 30%", style="rounded,dashed"];
    """
    last = script.size - 1
    lines = [
        "digraph script {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  s0 [label="start", shape=oval];',
    ]
    for state in range(1, last):
        label = "\\n".join(_dot(line) for line in _state_lines(script, state))
        look = ', style="rounded,dashed"' if script.elision[state] else ""
        lines.append(f'  s{state} [label="{label}"{look}];')
    lines.append(f'  s{last} [label="end", shape=oval];')
    visits = _expected_visits(script.transition)
    edges = script.parameters
    for j, k, p in zip(edges.source, edges.target, edges.transition, strict=True):
        thick = 0.5 + 3.5 * min(1.0, visits[j] * p)
        lines.append(f'  s{j} -> s{k} [label="{percent(p)}", penwidth={thick:.2f}];')
    return "\n".join([*lines, "}", ""])


def _state_lines(script: Script, state: int) -> list[str]:
    chances = script.emission[state]
    order = [int(o) for o in np.argsort(-chances, kind="stable") if chances[o] > 0]
    named = [o for rank, o in enumerate(order) if rank == 0 or chances[o] >= READABLE]
    lines = [_cut(script.states[state])]
    lines += [f"{_cut(script.events[o])} {percent(float(chances[o]))}" for o in named]
    if len(order) > len(named):
        lines.append(f"+ {len(order) - len(named)} more")
    if script.elision[state]:
        lines.append(f"silent {percent(float(script.elision[state]))}")
    return lines


def _expected_visits(transition: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entered from earlier states at most once, a state is left with all but its loop."""
    visits = np.ones(len(transition))
    for k in range(1, len(transition) - 1):
        # Not 1 - loop, which may round to 0.
        visits[k] = visits[:k] @ transition[:k, k] / transition[k, k + 1 :].sum()
    return visits


def _cut(name: str) -> str:
    text = cleaned(name)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _dot(text: str) -> str:
    """Escape for a quoted label: Graphviz reads backslashes there, and entities as in HTML."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _mermaid(text: str) -> str:
    """Escape all but letters, digits, spaces, and dashes and underscores within words."""
    return re.sub(
        r"(?!(?<=\w)[-_](?=[^\W_]))[^\w ]|(?<!\w)_|_(?!\w)",
        lambda found: f"#{ord(found[0])};",
        text,
    )
