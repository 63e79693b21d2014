"""Exports of outlines: an independent token player asks them what they allow."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations, product
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.learn.outline import learn_outline
from elision.show.bpmn import outline_bpmn
from elision.show.graphs import outline_dot, outline_json, outline_mermaid
from elision.show.petri import LEAST, outline_pnml
from elision.show.words import cleaned
from elision.values.outline import Outline, Step, Unit
from replay_outlines import (
    Net,
    Transition,
    accepts,
    check_sound,
    language,
    probabilities,
    read_bpmn,
    read_pnml,
)

DI = "{http://www.omg.org/spec/BPMN/20100524/DI}"
BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
BOUNDS = "{http://www.omg.org/spec/DD/20100524/DC}Bounds"
WAYPOINT = "{http://www.omg.org/spec/DD/20100524/DI}waypoint"
SIX_DIGITS = 1e-4
"""Tolerance of probabilities that are multiplied after having been written with six digits."""

LONGEST = 4
ROUNDING = 0.11

HOSTILE = (
    "<script>alert(1)</script>",
    '"] -->|x| s0; "',
    "}\n digraph { a -> b",
    "back\\slash\\N \\",
    "]]></text><!-- -->",
    "&lt; &amp; &#10;",
    "水を飲む שלום",
    "`_*em*_` #35; 50%",
    "end",
)


def make(units, before=(), title=""):
    """An outline of (branches, happens), a branch a list of (name, telling, again)."""
    steps, made = [], []
    for branches, happens in units:
        numbers = []
        for branch in branches:
            numbers.append(tuple(range(len(steps), len(steps) + len(branch))))
            for name, telling, again in branch:
                told = happens * telling / len(branches)
                event = name.removesuffix(" (again)")
                steps.append(Step(name, event, told, telling, again))
        share = 1 / len(branches)
        made.append(Unit(tuple(numbers), (share,) * len(branches), happens))
    order = closed(before, len(units))
    return Outline(tuple(steps), tuple(made), order, np.where(order, 3, 1), 10, title)


def closed(pairs, count):
    order = np.zeros((count, count), dtype=bool)
    for before, after in pairs:
        order[before, after] = True
    for middle in range(count):
        order |= np.outer(order[:, middle], order[middle])
    return order


def always(*names):
    """A unit of steps that are always told, once."""
    return [[(name, 1.0, 0.0) for name in names]], 1.0


def maybe(name, telling=0.5):
    return [[(name, telling, 0.0)]], 1.0


@st.composite
def outlines(draw, most_units=3, most_steps=5):
    """Random orders, choices, bundles, silence and repeats; some steps share an event."""
    count = draw(st.integers(0, most_units))
    left = most_steps
    units = []
    names = iter([f"e{k}" if k % 3 else f"e{k - 1} (again)" for k in range(1, 99)])
    rates = st.sampled_from([1.0, 0.99, 0.6, 0.0])
    repeats = st.sampled_from([0.0, 0.01, 0.4, 1.0])
    for unit in range(count):
        room = left - (count - unit - 1)
        branches = []
        for _ in range(draw(st.integers(1, max(1, min(3, room))))):
            length = draw(st.integers(1, max(1, min(2, room))))
            if branches and length > room:
                break
            branches.append([(next(names), draw(rates), draw(repeats)) for _ in range(length)])
            room -= length
            left -= length
        units.append((branches, draw(rates)))
    shuffled = draw(st.permutations(range(count)))
    pairs = [pair for pair in combinations(shuffled, 2) if draw(st.booleans())]
    return make(units, pairs)


# ------------------------------------------------------------------------------------------------
# What an outline allows, straight from its definition
# ------------------------------------------------------------------------------------------------


def unit_tellings(outline, unit, longest, min_share=LEAST):
    """All that may be told of one unit, as sequences of events."""
    one = outline.units[unit]
    found = set()
    quiet = 1 - one.happens
    for branch, share in zip(one.branches, one.shares, strict=True):
        ways = []
        for number in branch:
            step = outline.steps[number]
            most = longest if step.again > min_share else 1
            times = set(range(1, most + 1))
            if len(branch) == 1:
                quiet += one.happens * share * (1 - step.telling)
            elif 1 - step.telling > min_share:
                times.add(0)
            ways.append([(step.event,) * often for often in sorted(times)])
        found |= {sum(parts, ()) for parts in product(*ways)}
    if quiet > min_share:
        found.add(())
    return {told for told in found if len(told) <= longest}


def allowed(outline, longest=LONGEST):
    """All tellings: units side by side, each begins when those before it are over."""
    count = len(outline.units)
    found = set()
    for chosen in product(*(unit_tellings(outline, u, longest) for u in range(count))):
        if sum(map(len, chosen)) <= longest:
            found |= merged(outline.order, chosen)
    return found


def merged(order, chosen):
    if not any(chosen):
        return {()}
    found = set()
    for unit, told in enumerate(chosen):
        if told and not any(chosen[other] for other in np.flatnonzero(order[:, unit])):
            rest = (*chosen[:unit], told[1:], *chosen[unit + 1 :])
            found |= {(told[0], *more) for more in merged(order, rest)}
    return found


def told_with(outline, longest):
    """P(events told, in any order), for up to so many."""
    total = {(): 1.0}
    for unit in outline.units:
        one = Counter({(): 1 - unit.happens})
        for branch, share in zip(unit.branches, unit.shares, strict=True):
            ways = {(): unit.happens * share}
            for number in branch:
                step = outline.steps[number]
                often = {0: 1 - step.telling}
                for times in range(1, longest + 1):
                    often[times] = step.telling * (1 - step.again) * step.again ** (times - 1)
                ways = together(ways, {(step.event,) * n: p for n, p in often.items()}, longest)
            one.update(ways)
        total = together(total, one, longest)
    return {told: chance for told, chance in total.items() if chance > 0}


def together(first, second, longest):
    found = Counter()
    for (one, p), (other, q) in product(first.items(), second.items()):
        if len(one) + len(other) <= longest:
            found[tuple(sorted(one + other))] += p * q
    return found


# ------------------------------------------------------------------------------------------------
# Nets and processes
# ------------------------------------------------------------------------------------------------

EXPORTS = [
    pytest.param(lambda outline: read_pnml(outline_pnml(outline)), id="pnml"),
    pytest.param(lambda outline: read_bpmn(outline_bpmn(outline)), id="bpmn"),
]


@pytest.mark.parametrize("read", EXPORTS)
@settings(deadline=None)
@given(outline=outlines())
def test_exports_are_sound(read, outline):
    check_sound(read(outline))


@pytest.mark.parametrize("read", EXPORTS)
@settings(deadline=None)
@given(outline=outlines())
def test_exports_allow_what_the_outline_allows_and_nothing_else(read, outline):
    assert language(read(outline), LONGEST) == allowed(outline)


@settings(deadline=None)
@given(outline=outlines())
def test_weights_are_the_probabilities(outline):
    expected = told_with(outline, 4)
    net = read_pnml(outline_pnml(outline, min_share=0))
    process = read_bpmn(outline_bpmn(outline, min_share=0))
    for found, tolerance in (
        (probabilities(net, 4), 1e-9),
        (probabilities(process, 4), SIX_DIGITS),
    ):
        assert set(found) == set(expected)
        for told, chance in expected.items():
            np.testing.assert_allclose(found[told], chance, rtol=tolerance, atol=1e-12)


@settings(deadline=None)
@given(outline=outlines(most_units=5, most_steps=8))
def test_nets_stay_small(outline):
    net = read_pnml(outline_pnml(outline))
    visible = [one.label for one in net.transitions if one.label is not None]
    assert sorted(visible) == sorted(step.event for step in outline.steps)
    repeating = sum(step.again > LEAST for step in outline.steps)
    assert len(net.transitions) <= 2 + 2 * len(visible) + len(outline.units) + 3 * repeating
    process = read_bpmn(outline_bpmn(outline))
    assert sorted(one.label for one in process.transitions if one.label) == sorted(visible)


@pytest.mark.parametrize("read", EXPORTS)
def test_linear_extensions_with_any_subset_left_out(read):
    outline = make([maybe(name) for name in "abcd"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    net = read(outline)
    for size in range(5):
        for told in permutations("abcd", size):
            place = {name: at for at, name in enumerate(told)}
            kept = all(
                place[one] < place[other]
                for one, other in ("ab", "ac", "ad", "bd", "cd")
                if one in place and other in place
            )
            assert accepts(net, told) == kept, told


@pytest.mark.parametrize("read", EXPORTS)
def test_what_must_be_told_may_not_be_missing(read):
    net = read(make([always("boil"), always("warm pot"), always("pour")], [(0, 2), (1, 2)]))
    assert accepts(net, ["boil", "warm pot", "pour"])
    assert accepts(net, ["warm pot", "boil", "pour"])
    for wrong in (
        [],
        ["boil", "pour"],
        ["boil", "pour", "warm pot"],
        ["boil", "boil", "warm pot", "pour"],
        ["boil", "warm pot", "pour", "sing"],
    ):
        assert not accepts(net, wrong)


@pytest.mark.parametrize("read", EXPORTS)
def test_choices_bundles_and_repeats(read):
    borrow = [("queue", 0.5, 0.0), ("borrow", 1.0, 0.4)]
    outline = make([always("enter"), ([borrow, [("read", 1.0, 0.0)]], 1.0)], [(0, 1)])
    net = read(outline)
    for right in ("read", "borrow", "queue borrow", "queue borrow borrow borrow"):
        assert accepts(net, ["enter", *right.split()])
    for wrong in ("", "read read", "queue", "borrow queue", "borrow read", "queue read"):
        assert not accepts(net, ["enter", *wrong.split()])


def test_weights_are_written_to_twelve_digits():
    """The last digits of a sum differ from machine to machine; files should not."""
    told = [[0, 1, 2, 3]] * 7 + [[0, 2], [1, 3, 2], [0, 3]]
    outline = learn_outline(told, ["ring", "walk", "open", "greet"])
    weights = re.findall(r'key="weight">([^<]+)<', outline_pnml(outline))
    digits = [weight.partition("e")[0].replace(".", "").strip("0") for weight in weights]
    assert 0 < max(map(len, digits)) <= 12


def test_tellings_that_an_outline_was_learned_from():
    names = ["enter", "greet", "search", "ask", "borrow", "leave"]
    numbers = {name: number for number, name in enumerate(names)}
    ways = [
        "enter greet search borrow leave",
        "greet enter search borrow leave",
        "enter ask borrow leave",
        "enter greet ask borrow borrow leave",
    ]
    tellings = [way.split() for way in ways] * 5
    outline = learn_outline([[numbers[event] for event in one] for one in tellings], names)
    for read in (read_pnml(outline_pnml(outline)), read_bpmn(outline_bpmn(outline))):
        check_sound(read)
        for one in tellings:
            assert accepts(read, one)
            assert not accepts(read, one[::-1])
            assert not accepts(read, [*one, "enter"])


@pytest.mark.parametrize("write", [outline_pnml, outline_bpmn])
def test_what_is_rare_is_left_out_on_request(write):
    read = {outline_pnml: read_pnml, outline_bpmn: read_bpmn}[write]
    outline = make([([[("a", 0.9, 0.05)]], 1.0)])
    assert accepts(read(write(outline)), [])
    assert accepts(read(write(outline)), ["a", "a"])
    assert language(read(write(outline, min_share=0.2)), 3) == {("a",)}
    assert language(read(write(outline, min_share=0.07)), 3) == {(), ("a",)}


@pytest.mark.parametrize("write", [outline_pnml, outline_bpmn, outline_dot, outline_mermaid])
def test_writing_twice_gives_the_same(write):
    outline = make([maybe("a"), maybe("b"), always("c", "d")], [(0, 2)])
    assert write(outline) == write(outline)


@pytest.mark.parametrize("read", EXPORTS)
def test_hostile_names(read):
    net = read(make([maybe(name) for name in HOSTILE]))
    assert {one.label for one in net.transitions} - {None} == set(HOSTILE)


def test_the_player_finds_nets_that_are_not_sound():
    def net(*transitions):
        made = [
            Transition(f"t{n}", None, frozenset(before), frozenset(behind))
            for n, (before, behind) in enumerate(transitions)
        ]
        return Net(tuple(made), frozenset({"i"}), frozenset({"o"}))

    check_sound(net(("i", "p"), ("p", "o")))
    with pytest.raises(AssertionError, match="cannot be reached"):
        check_sound(net(("i", "p"), ("i", "q"), ("pq", "o"), ("p", "o")))
    with pytest.raises(AssertionError, match=r"cannot be reached|are left"):
        check_sound(
            net(
                ("i", "po"),
            )
        )
    with pytest.raises(AssertionError, match="never fires"):
        check_sound(net(("i", "o"), ("x", "o")))
    with pytest.raises(AssertionError, match="second token"):
        check_sound(net(("i", "pq"), ("p", "q"), ("q", "o")))


# ------------------------------------------------------------------------------------------------
# The diagram
# ------------------------------------------------------------------------------------------------


def diagram(text):
    root = ET.fromstring(text.encode())  # noqa: S314 - we wrote it
    boxes = {}
    for shape in root.iter(f"{DI}BPMNShape"):
        bounds = shape.find(BOUNDS)
        x, y, width, height = (float(bounds.get(key)) for key in ("x", "y", "width", "height"))
        boxes[shape.get("bpmnElement")] = (x, y, x + width, y + height)
    lines = {
        edge.get("bpmnElement"): [
            (float(p.get("x")), float(p.get("y"))) for p in edge.iter(WAYPOINT)
        ]
        for edge in root.iter(f"{DI}BPMNEdge")
    }
    process = root.find(f"{BPMN}process")
    flows = {
        flow.get("id"): (flow.get("sourceRef"), flow.get("targetRef"))
        for flow in process.iter(f"{BPMN}sequenceFlow")
    }
    nodes = {node.get("id") for node in process} - set(flows)
    return boxes, lines, flows, nodes


@settings(deadline=None, max_examples=40)
@given(outline=outlines(most_units=7, most_steps=12))
def test_diagrams_show_everything_and_nothing_overlaps(outline):
    boxes, lines, flows, nodes = diagram(outline_bpmn(outline))
    assert set(boxes) == nodes
    assert set(lines) == set(flows)
    for a, b in combinations(boxes.values(), 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
    back = 0
    for name, (source, target) in flows.items():
        assert on_edge(lines[name][0], boxes[source])
        assert on_edge(lines[name][-1], boxes[target])
        back += boxes[source][2] > boxes[target][0]
        others = [box for node, box in boxes.items() if node not in (source, target)]
        assert not any(passes(lines[name], box) for box in others)
    assert back == sum(step.again > LEAST for step in outline.steps)


def passes(points, box):
    """Whether a line goes through a box, looked at in many places."""
    left, top, right, bottom = box
    shares = np.linspace(0, 1, 40)[:, None]
    ends = np.array(points)
    x, y = (ends[:-1, :, None] + np.diff(ends, axis=0)[:, :, None] * shares.T).swapaxes(0, 1)
    inside = (left + 1 < x) & (x < right - 1) & (top + 1 < y) & (y < bottom - 1)
    return bool(inside.any())


def on_edge(point, box):
    (x, y), (left, top, right, bottom) = point, box
    inside = left - ROUNDING <= x <= right + ROUNDING and top - ROUNDING <= y <= bottom + ROUNDING
    return inside and min(abs(x - left), abs(x - right), abs(y - top), abs(y - bottom)) <= ROUNDING


# ------------------------------------------------------------------------------------------------
# Task graphs
# ------------------------------------------------------------------------------------------------

DOT_TEXT = r'"(?:[^"\\\n]|\\["\\n])*"'


def read_dot(text):
    """Lines of each node, nodes that are dashed, and labels of edges, by a strict grammar."""
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("digraph outline {", "}")
    nodes, dashed, edges = {}, set(), {}
    for line in lines[3:-1]:
        node = re.fullmatch(
            rf"  (\w+) \[label=({DOT_TEXT})((?:, \w+=(?:[\w.]+|{DOT_TEXT}))*)\];", line
        )
        edge = re.fullmatch(r'  (\w+) -> (\w+)(?: \[label="(.*)"\])?;', line)
        assert node or edge, line
        if node:
            plain = re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], node[2][1:-1])
            nodes[node[1]] = plain.replace("&amp;", "&").split("\n")
            if "dashed" in node[3]:
                dashed.add(node[1])
        else:
            edges[edge[1], edge[2]] = edge[3]
    return nodes, dashed, edges


def read_mermaid(text):
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"
    nodes, dashed, edges = {}, set(), {}
    for line in lines[1:]:
        node = re.fullmatch(r'  (\w+)(?:\["([^"]*)"\]|\(\[(start|End)\]\)|\{"([^"]*)"\})', line)
        edge = re.fullmatch(r'  (\w+) -->(?:\|"([^"]*)"\|)? (\w+)', line)
        style = re.fullmatch(r"  class ([\w,]+) optional", line)
        if node:
            label = (node[2] or node[3] or node[4]).strip().lower().split("<br/>")
            assert all(re.fullmatch(r"(?:\w|[ -]|#\d+;)*", part) for part in label), line
            nodes[node[1]] = [unquoted(part) for part in label]
        elif edge:
            edges[edge[1], edge[3]] = None if edge[2] is None else unquoted(edge[2])
        elif style:
            dashed = set(style[1].split(","))
        else:
            assert line == "  classDef optional stroke-dasharray: 5 3", line
    return nodes, dashed, edges


def unquoted(text):
    return re.sub(r"#(\d+);", lambda code: chr(int(code[1])), text)


GRAPHS = [
    pytest.param(lambda outline: read_dot(outline_dot(outline)), id="dot"),
    pytest.param(lambda outline: read_mermaid(outline_mermaid(outline)), id="mermaid"),
]


def library_visit():
    """Entering, then greeting and searching in any order, then reading or queueing to borrow."""
    choice = [[("read", 1.0, 0.0)], [("queue", 1.0, 0.0), ("borrow", 0.5, 0.2)]]
    units = [always("enter"), ([[("greet", 1.0, 0.0)]], 0.5), always("search"), (choice, 1.0)]
    return make(units, [(0, 1), (0, 2), (1, 3), (2, 3)], title="a visit")


@pytest.mark.parametrize("read", GRAPHS)
def test_graphs_show_order_choices_and_figures(read):
    nodes, dashed, edges = read(library_visit())
    assert nodes["s0"] == ["enter", "told 100%"]
    assert nodes["s1"] == ["greet", "told 50%", "happens 50%"]
    assert nodes["s5"] == ["borrow", "told 25%", "again 20%"]
    assert nodes["c3"] == ["one of"]
    assert dashed == {"s1"}
    assert edges == {
        ("first", "s0"): None,
        ("s0", "s1"): "75%",
        ("s0", "s2"): "75%",
        ("s1", "c3"): "75%",
        ("s2", "c3"): "75%",
        ("c3", "s3"): "50%",
        ("c3", "s4"): "50%",
        ("s4", "s5"): None,
        ("s3", "j3"): None,
        ("s5", "j3"): None,
        ("j3", "last"): None,
    }


@pytest.mark.parametrize("read", GRAPHS)
def test_graphs_with_hostile_names(read):
    outline = make([maybe(name) for name in HOSTILE])
    nodes, _, edges = read(outline)
    for number, name in enumerate(HOSTILE):
        assert nodes[f"s{number}"][0].lower() == cleaned(name).lower()
    assert {end for edge in edges for end in edge} == set(nodes)


@pytest.mark.parametrize("read", GRAPHS)
@settings(deadline=None)
@given(outline=outlines(most_units=5, most_steps=8))
def test_graphs_reach_what_the_order_says(read, outline):
    nodes, _, edges = read(outline)
    names = [label[0] for label in nodes.values()]
    for step in outline.steps:
        assert names.count(step.name) == 1
    reach = {(a, b) for a, b in edges}
    for middle, a, b in product(nodes, nodes, nodes):
        if (a, middle) in reach and (middle, b) in reach:
            reach.add((a, b))
    for a, b in product(range(len(outline.steps)), repeat=2):
        first, second = outline.unit_of[a], outline.unit_of[b]
        if first != second:
            assert ((f"s{a}", f"s{b}") in reach) == outline.order[first, second]
        else:
            branch = next(one for one in outline.units[first].branches if a in one)
            assert ((f"s{a}", f"s{b}") in reach) == (b in branch and a < b)
        assert ("first", f"s{a}") in reach
        assert (f"s{a}", "last") in reach


def test_data_of_an_outline():
    outline = library_visit()
    data = json.loads(json.dumps(outline_json(outline)))
    assert (data["title"], data["tellings"]) == ("a visit", 10)
    assert [step["name"] for step in data["steps"]] == [step.name for step in outline.steps]
    assert data["steps"][5] == {
        "name": "borrow",
        "event": "borrow",
        "unit": "unit 4",
        "if": None,
        "told": 0.25,
        "telling": 0.5,
        "again": 0.2,
        "place": 0.5,
        "unsaid": float(outline.unsaid[5]),
        "wording": [],
    }
    assert data["nodes"][4] == {
        "id": "unit 4",
        "kind": "choice",
        "happens": 1.0,
        "branches": [
            {"share": 0.5, "steps": ["read"], "if": None},
            {"share": 0.5, "steps": ["queue", "borrow"], "if": None},
        ],
    }
    assert data["choices"] == ["unit 4"]
    assert data["any_order"] == [[["unit 2"], ["unit 3"]]]
    edge = {"source": "unit 1", "target": "unit 2", "holds": 3, "broken": 1}
    assert edge in data["edges"]
    assert {"source": "start", "target": "unit 1", "holds": None, "broken": None} in data["edges"]


@settings(deadline=None)
@given(outline=outlines(most_units=5, most_steps=8))
def test_data_can_be_written_and_hangs_together(outline):
    data = json.loads(json.dumps(outline_json(outline), allow_nan=False))
    names = [node["id"] for node in data["nodes"]]
    assert len(set(names)) == len(names)
    inner = {(edge["source"], edge["target"]) for edge in data["edges"]}
    assert {end for edge in inner for end in edge} == set(names)
    covers = {(f"unit {a + 1}", f"unit {b + 1}") for a, b in np.argwhere(outline.covers)}
    assert {edge for edge in inner if "start" not in edge and "end" not in edge} == covers
    for group in data["any_order"]:
        for one, other in combinations(group, 2):
            for a, b in product(one, other):
                first, second = (int(name.split()[1]) - 1 for name in (a, b))
                assert not outline.order[first, second]
                assert not outline.order[second, first]


def in_parts():
    """A choice of the ward, something for all, and what is done on each ward."""
    one = (0.9, 0.0)
    wards = ([[("surgery", *one)], [("cardiology", *one)]], 1.0)
    cures = ([[("operation", *one), ("stitches", *one)], [("angiography", *one)]], 1.0)
    outline = make([wards, always("lab"), cures], [(0, 1), (1, 2), (0, 2)])
    return replace(outline, apart=(Unit(((0, 3, 4), (1, 5)), (0.5, 0.5), 1.0),))


def test_a_choice_in_parts_says_which_way_it_went():
    outline = in_parts()
    names = {"operation": "surgery", "stitches": "surgery", "angiography": "cardiology"}
    data = outline_json(outline)
    assert {step["name"]: step["if"] for step in data["steps"] if step["if"]} == names
    found = [branch["if"] for node in data["nodes"][1:-1] for branch in node["branches"]]
    assert found == [None, None, None, "surgery", "cardiology"]
    frame = outline.to_frame().set_index("step")["if"]
    assert {k: v for k, v in frame.items() if isinstance(v, str)} == names
    for nodes, *_ in (read_dot(outline_dot(outline)), read_mermaid(outline_mermaid(outline))):
        assert [name for name, lines in nodes.items() if "if surgery" in lines] == ["s3"]
        assert [name for name, lines in nodes.items() if "if cardiology" in lines] == ["s5"]
