"""Exports of scripts: each is read back by a small interpreter and asked for probabilities."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError
from elision.show.export import (
    FORMATS,
    export,
    to_bpmn,
    to_dot,
    to_mermaid,
    to_openfst,
    to_pnml,
)
from elision.show.openfst import symbol
from elision.show.words import cleaned
from models import RTOL, events, models

PNML = "{http://www.pnml.org/version-2009/grammar/pnml}"
BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
DI = "{http://www.omg.org/spec/BPMN/20100524/DI}"
BOUNDS = "{http://www.omg.org/spec/DD/20100524/DC}Bounds"
WAYPOINT = "{http://www.omg.org/spec/DD/20100524/DI}waypoint"
SIX_DIGITS = 1e-4
"""Tolerance of probabilities that are multiplied after having been written with six digits."""

HOSTILE = (
    "<script>alert(1)</script>",
    '"] -->|x| s0; "',
    "}\n digraph { a -> b",
    "back\\slash\\N \\",
    "]]></text><!-- -->",
    "&lt; &amp; &#10;",
    "50% of %20",
    "tab\there  and\u3000there",
    "a\x00b\x1bc\x85d",
    "\ufffe\uffff",
    "水を飲む שלום",
    "%% comment",
    "`_*em*_`",
    "#quot; #35;",
    "<eps>",
    "12",
    "-",
    "end (2)",
)


def script_of(model):
    transition, emission, elision = model
    return el.Script(events(emission.shape[1]), transition, emission, elision)


def hostile_script():
    count = len(HOSTILE)
    emission = np.zeros((count + 2, count))
    emission[1:-1] = 0.6 * np.eye(count) + 0.1 / count
    return el.Script(HOSTILE, np.eye(count + 2, k=1), emission, [0, *[0.3] * count, 0])


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - we wrote it


def probability(arcs, start, final, telling):
    """P(telling) of a weighted automaton: arcs (source, target, label or None, weight)."""
    names = {name: n for n, name in enumerate(dict.fromkeys([start, final, *_ends(arcs)]))}
    moves = defaultdict(lambda: np.zeros((len(names), len(names))))
    for source, target, label, weight in arcs:
        moves[label][names[source], names[target]] += weight
    silently = np.linalg.inv(np.eye(len(names)) - moves[None])
    here = np.eye(len(names))[names[start]] @ silently
    for event in telling:
        here = here @ moves[event] @ silently
    return here[names[final]]


def _ends(arcs):
    return [end for arc in arcs for end in arc[:2]]


def tellings(script, longest):
    for length in range(longest + 1):
        yield from itertools.product(script.events, repeat=length)


def check_probabilities(script, arcs, start, final, tolerance, longest=3):
    names = set(script.events)
    assert {label for _, _, label, _ in arcs} <= names | {None}
    for telling in tellings(script, longest):
        exact = np.exp(script.log_prob(telling))
        found = probability(arcs, start, final, telling)
        np.testing.assert_allclose(found, exact, rtol=tolerance, atol=1e-300)


# ------------------------------------------------------------------------------------------------
# OpenFst
# ------------------------------------------------------------------------------------------------


def read_openfst(written):
    """Arcs, start and final state, by the rules of the format: fields, first line, last lines."""
    numbers = {}
    for line in written.symbols.splitlines():
        name, number = line.split()
        assert name not in numbers
        numbers[name] = int(number)
    assert numbers["<eps>"] == 0
    assert sorted(numbers.values()) == list(range(len(numbers)))
    arcs, finals, start = [], {}, None
    for line in written.arcs.splitlines():
        fields = line.split()
        start = fields[0] if start is None else start
        if len(fields) == 2:
            finals[fields[0]] = float(fields[1])
            continue
        source, target, read, wrote, weight = fields
        assert {read, wrote} <= set(numbers)
        arcs.append((source, target, None if read == "<eps>" else read, np.exp(-float(weight))))
    assert list(finals.values()) == [0.0]
    return arcs, start, next(iter(finals))


@given(models(most_states=4, most_events=2))
def test_openfst_gives_the_probability_of_each_telling(model):
    script = script_of(model)
    check_probabilities(script, *read_openfst(to_openfst(script)), tolerance=RTOL)


def test_openfst_writes_the_states():
    script = el.examples.doorbell()
    lines = [line.split() for line in to_openfst(script).arcs.splitlines()]
    for fields in lines[:-1]:
        assert fields[3] == symbol(script.states[int(fields[1])])


@given(st.text(min_size=1))
def test_symbols_are_one_word(name):
    found = symbol(name)
    assert len(found.split()) == 1
    assert found != "<eps>"
    assert not found.isdigit()


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), unique=True))
def test_symbols_stay_distinct(names):
    assert len({symbol(name) for name in names}) == len(names)


def test_openfst_with_hostile_names():
    script = hostile_script()
    arcs, start, final = read_openfst(to_openfst(script))
    telling = [HOSTILE[0], HOSTILE[7], HOSTILE[14], HOSTILE[15]]
    found = probability(arcs, start, final, [symbol(event) for event in telling])
    np.testing.assert_allclose(np.log(found), script.log_prob(telling), rtol=1e-9)


# ------------------------------------------------------------------------------------------------
# Petri nets
# ------------------------------------------------------------------------------------------------


def read_pnml(text):
    """A net in which each transition has one place before and one behind, as an automaton."""
    root = parsed(text)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    places = {place.get("id"): place for place in root.iter(f"{PNML}place") if place.get("id")}
    before, behind = defaultdict(list), defaultdict(list)
    for arc in root.iter(f"{PNML}arc"):
        source, target = arc.get("source"), arc.get("target")
        if source in places:
            before[target].append(source)
        else:
            behind[source].append(target)
            assert target in places
    arcs, total = [], defaultdict(float)
    for transition in root.iter(f"{PNML}transition"):
        name = transition.get("id")
        (source,), (target,) = before.pop(name), behind.pop(name)
        tools = {tool.get("tool"): tool for tool in transition.iter(f"{PNML}toolspecific")}
        invisible = "ProM" in tools and tools["ProM"].get("activity") == "$invisible$"
        noted = {one.get("key"): one.text for one in tools["StochasticPetriNet"]}
        assert noted["invisible"] == str(invisible).lower()
        label = None if invisible else transition.find(f"{PNML}name/{PNML}text").text
        total[source] += float(noted["weight"])
        arcs.append((source, target, label, float(noted["weight"])))
    assert not before
    assert not behind
    (start,) = (k for k, place in places.items() if place.find(f"{PNML}initialMarking") is not None)
    (final,) = (place.get("idref") for place in root.iter(f"{PNML}place") if place.get("idref"))
    return [(s, t, label, w / total[s]) for s, t, label, w in arcs], start, final


@given(models(most_states=4, most_events=2))
def test_nets_give_the_probability_of_each_telling(model):
    script = script_of(model)
    check_probabilities(script, *read_pnml(to_pnml(script)), tolerance=1e-8)


def language(arcs, start, final):
    """All label sequences from the start to the end of an automaton without circles."""
    found, waiting = set(), [(start, ())]
    while waiting:
        place, told = waiting.pop()
        if place == final:
            found.add(told)
        waiting += [
            (target, told if label is None else (*told, label))
            for source, target, label, _ in arcs
            if source == place
        ]
    return found


@settings(max_examples=40)
@given(models(most_states=3, most_events=2))
def test_nets_and_processes_replay_the_tellings(model):
    transition = model[0] - np.diag(np.diag(model[0]))
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    script = script_of((transition, *model[1:]))
    possible = {
        telling
        for telling in tellings(script, script.size - 2)
        if script.log_prob(telling) > -np.inf
    }
    assert language(*read_pnml(to_pnml(script))) == possible
    assert language(*read_bpmn(to_bpmn(script, min_share=0))) == possible


def test_nets_with_hostile_names():
    script = hostile_script()
    labels = {label for _, _, label, _ in read_pnml(to_pnml(script))[0]}
    for event in HOSTILE:
        kept = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", event)
        assert kept in labels


# ------------------------------------------------------------------------------------------------
# BPMN
# ------------------------------------------------------------------------------------------------


def read_bpmn(text):
    """The process as an automaton: a flow into a task reads the task's name."""
    root = parsed(text)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", name) for name in ids)
    process = root.find(f"{BPMN}process")
    nodes = {node.get("id"): node for node in process if node.tag != f"{BPMN}sequenceFlow"}
    flows = {flow.get("id"): flow for flow in process.iter(f"{BPMN}sequenceFlow")}
    check_references(root, nodes, flows)
    arcs = []
    for flow in flows.values():
        source, target = flow.get("sourceRef"), flow.get("targetRef")
        task = nodes[target].tag == f"{BPMN}task"
        noted = flow.find(f"{BPMN}documentation").text
        label = nodes[target].get("name") if task else None
        arcs.append((source, target, label, float(noted.removeprefix("probability "))))
    (start,) = (k for k, node in nodes.items() if node.tag == f"{BPMN}startEvent")
    (final,) = (k for k, node in nodes.items() if node.tag == f"{BPMN}endEvent")
    return arcs, start, final


def check_references(root, nodes, flows):
    """Flows and nodes name each other, gateways have a choice, and everything is in the diagram."""
    ends = defaultdict(set)
    for name, flow in flows.items():
        ends[flow.get("sourceRef"), "outgoing"].add(name)
        ends[flow.get("targetRef"), "incoming"].add(name)
    assert {name for name, _ in ends} == set(nodes)
    for name, node in nodes.items():
        for side in ("incoming", "outgoing"):
            assert {one.text for one in node.iter(f"{BPMN}{side}")} == ends[name, side]
        ways = len(ends[name, "incoming"]), len(ends[name, "outgoing"])
        kind = node.tag.removeprefix(BPMN)
        allowed = {"startEvent": ways[0] == 0, "endEvent": ways[1] == 0, "task": ways[1] == 1}
        assert allowed.get(kind, ways != (1, 1))
    shapes = {shape.get("bpmnElement"): shape for shape in root.iter(f"{DI}BPMNShape")}
    lines = {line.get("bpmnElement"): line for line in root.iter(f"{DI}BPMNEdge")}
    assert set(shapes) == set(nodes)
    assert set(lines) == set(flows)
    for shape in shapes.values():
        assert float(shape.find(BOUNDS).get("width")) > 0
    for name, line in lines.items():
        points = [(float(p.get("x")), float(p.get("y"))) for p in line.iter(WAYPOINT)]
        assert len(points) >= 2
        flow = flows[name]
        for point, end in ((points[0], "sourceRef"), (points[-1], "targetRef")):
            assert touches(point, shapes[flow.get(end)].find(BOUNDS).attrib)


def touches(point, bounds):
    x, y, width, height = (float(bounds[name]) for name in ("x", "y", "width", "height"))
    across = x - 0.2 <= point[0] <= x + width + 0.2
    down = y - 0.2 <= point[1] <= y + height + 0.2
    on = min(
        abs(point[0] - x),
        abs(point[0] - x - width),
        abs(point[1] - y),
        abs(point[1] - y - height),
    )
    return across and down and on <= 0.2


@given(models(most_states=4, most_events=2))
def test_processes_give_the_probability_of_each_telling(model):
    script = script_of(model)
    arcs = read_bpmn(to_bpmn(script, min_share=0))
    check_probabilities(script, *arcs, tolerance=SIX_DIGITS)


def test_processes_with_hostile_names():
    arcs, _, _ = read_bpmn(to_bpmn(hostile_script(), min_share=0))
    labels = {label for _, _, label, _ in arcs}
    assert HOSTILE[0] in labels
    assert HOSTILE[2] in labels
    assert HOSTILE[5] in labels


def test_rare_parts_can_be_left_out():
    script = el.Script.build(
        states={"a": {"knock": 0.9, "ring": 0.08, "shout": 0.02}, "b": "wait", "c": "open"},
        edges={"start": {"a": 1}, "a": {"b": 0.04, "c": 0.96}, "b": {"c": 1}, "c": {"end": 1}},
    )
    arcs, start, final = read_pnml(to_pnml(script, min_share=0.05))
    assert language(arcs, start, final) == {("knock", "open"), ("ring", "open")}
    assert language(*read_bpmn(to_bpmn(script, min_share=0.05))) == language(arcs, start, final)
    assert language(*read_bpmn(to_bpmn(script))) >= language(arcs, start, final)
    with pytest.raises(InputError, match="min_share is 2"):
        to_pnml(script, min_share=2)


# ------------------------------------------------------------------------------------------------
# DOT and Mermaid
# ------------------------------------------------------------------------------------------------

DOT_TEXT = r'"(?:[^"\\\n]|\\["\\n])*"'
DOT_MORE = rf"(?:, \w+=(?:[\w.]+|{DOT_TEXT}))*"


def read_dot(text):
    """Labels of the nodes and of the edges of a graph, by a strict grammar."""
    lines = text.splitlines()
    assert lines[0] == "digraph script {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[3:-1]:
        found = re.fullmatch(
            rf"  (s\d+)(?: -> (s\d+))? \[label=({DOT_TEXT})(?:, \w+=(?:[\w.]+|{DOT_TEXT}))*\];",
            line,
        )
        assert found, line
        source, target, label = found.groups()
        plain = re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], label[1:-1])
        plain = plain.replace("&amp;", "&")
        if target:
            edges[source, target] = plain
        else:
            nodes[source] = plain
    assert {end for edge in edges for end in edge} == set(nodes)
    return nodes, edges


def read_mermaid(text):
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"
    nodes, edges = {}, {}
    for line in lines[1:]:
        box = re.fullmatch(r'  (s\d+)(?:\["([^"]*)"\]|\(\[(start|End)\]\))', line)
        arrow = re.fullmatch(r'  (s\d+) -(?:-|\.-)>\|"([^"]*)"\| (s\d+)', line)
        if box:
            nodes[box[1]] = _mermaid_text(box[2] or box[3])
        elif arrow:
            edges[arrow[1], arrow[3]] = _mermaid_text(arrow[2])
        else:
            assert re.fullmatch(r"  (classDef|class) [\w,]+ [\w: -]+", line), line
    assert {end for edge in edges for end in edge} == set(nodes)
    return nodes, edges


def _mermaid_text(label):
    """Split lines, check that nothing but words is written plainly, and read the codes."""
    lines = label.split("<br/>")
    assert all(re.fullmatch(r"(?:\w|[ -]|#\d+;)*", line) for line in lines), label
    return "\n".join(re.sub(r"#(\d+);", lambda code: chr(int(code[1])), line) for line in lines)


@pytest.mark.parametrize(("write", "read"), [(to_dot, read_dot), (to_mermaid, read_mermaid)])
def test_graphs_have_the_states_and_edges(write, read):
    script = el.examples.doorbell()
    nodes, edges = read(write(script))
    assert len(nodes) == script.size
    assert nodes["s4"] == "open door\nopen door 70%\nsilent 30%"
    assert edges["s4", "s8"] == "25%"
    drawn = {tuple(int(end[1:]) for end in edge) for edge in edges}
    assert drawn == set(zip(*np.nonzero(script.transition), strict=True))


@pytest.mark.parametrize(("write", "read"), [(to_dot, read_dot), (to_mermaid, read_mermaid)])
def test_graphs_with_hostile_names(write, read):
    script = hostile_script()
    nodes, _ = read(write(script, min_share=0))
    for k, event in enumerate(HOSTILE, start=1):
        assert f"{cleaned(event)} 61%" in nodes[f"s{k}"].split("\n")


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3))
def test_graphs_of_any_names(names):
    names = list(dict.fromkeys(names))
    count = len(names)
    emission = np.zeros((count + 2, count))
    emission[1:-1] = np.eye(count)
    script = el.Script(names, np.eye(count + 2, k=1), emission, np.zeros(count + 2))
    for nodes, _ in (read_dot(to_dot(script)), read_mermaid(to_mermaid(script))):
        for k, name in enumerate(names, start=1):
            assert nodes[f"s{k}"].split("\n")[-1].endswith(" 100%")
            assert cleaned(name)[:190] in nodes[f"s{k}"]
    parsed(to_pnml(script))
    parsed(to_bpmn(script))


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_export_chooses_by_suffix(tmp_path, suffix):
    if suffix in (".png", ".pdf"):
        pytest.importorskip("matplotlib")
    script = el.examples.doorbell()
    path = tmp_path / f"a.b{suffix}"
    export(script, path)
    start = {
        ".svg": b"<svg",
        ".png": b"\x89PNG",
        ".pdf": b"%PDF",
        ".dot": b"digraph",
        ".gv": b"digraph",
        ".mmd": b"flowchart",
        ".pnml": b"<?xml",
        ".bpmn": b"<?xml",
        ".json": b"{",
        ".fst.txt": b"0\t1\t",
    }[suffix]
    content = path.read_bytes()
    assert content.startswith(start)
    export(script, path)
    assert path.read_bytes() == content
    others = {"a.b.syms.txt"} if suffix == ".fst.txt" else set()
    assert {file.name for file in tmp_path.iterdir()} == {path.name} | others
    if suffix == ".fst.txt":
        symbols = (tmp_path / "a.b.syms.txt").read_text(encoding="utf-8")
        assert symbols == to_openfst(script).symbols


def test_export_leaves_out_what_is_rare(tmp_path):
    script = el.examples.doorbell()
    for suffix in (".svg", ".dot", ".mmd", ".pnml", ".bpmn"):
        export(script, tmp_path / f"all{suffix}", states=True)
        export(script, tmp_path / f"few{suffix}", states=True, min_share=0.6)
        sizes = [(tmp_path / f"{name}{suffix}").stat().st_size for name in ("few", "all")]
        assert sizes[0] < sizes[1]
    with pytest.raises(InputError, match="always whole"):
        export(script, tmp_path / "a.fst.txt", min_share=0.1)


def test_export_of_the_outline_has_no_min_share(tmp_path):
    for suffix in (".svg", ".dot"):
        with pytest.raises(InputError, match="min_share is for states"):
            export(el.examples.doorbell(), tmp_path / f"a{suffix}", min_share=0.1)
    with pytest.raises(InputError, match="states have no JSON"):
        export(el.examples.doorbell(), tmp_path / "a.json", states=True)


@pytest.mark.parametrize("name", ["a.txt", "a"])
def test_export_refuses_other_suffixes(tmp_path, name):
    with pytest.raises(InputError, match=r"cannot write a file of the kind .*\.fst\.txt"):
        export(el.examples.doorbell(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
