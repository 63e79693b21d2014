"""Exports by the suffix of the file, and the graph of the states of a script."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elision as el
from elision.errors import InputError
from elision.show.export import export
from elision.show.graphs import states_dot
from elision.show.words import cleaned
from models import events, models

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


# ------------------------------------------------------------------------------------------------
# States
# ------------------------------------------------------------------------------------------------

DOT_TEXT = r'"(?:[^"\\\n]|\\["\\n])*"'


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


def test_the_graph_has_the_states_and_edges():
    script = el.examples.doorbell()
    nodes, edges = read_dot(states_dot(script))
    assert len(nodes) == script.size
    assert nodes["s4"] == "open door\nopen door 70%\nsilent 30%"
    assert edges["s4", "s8"] == "25%"
    drawn = {tuple(int(end[1:]) for end in edge) for edge in edges}
    assert drawn == set(zip(*np.nonzero(script.transition), strict=True))


def test_rare_events_of_a_state_are_counted():
    script = el.Script.build(
        states={"a": {"knock": 0.9, "ring": 0.07, "shout": 0.02, "sing": 0.01}},
        edges={"start": {"a": 1}, "a": {"end": 1}},
    )
    assert read_dot(states_dot(script))[0]["s1"] == "a\nknock 90%\nring 7%\n+ 2 more"


@given(models(most_states=6))
def test_edges_are_as_thick_as_they_are_often_taken(model):
    """By the fundamental matrix: the expected number of visits of each state."""
    visits = np.linalg.inv(np.eye(len(model[0])) - model[0])[0]
    text = states_dot(script_of(model))
    for j, k, thick in re.findall(r"s(\d+) -> s(\d+) .*penwidth=([\d.]+)", text):
        flow = min(1.0, visits[int(j)] * model[0][int(j), int(k)])
        assert abs(float(thick) - 0.5 - 3.5 * flow) < 0.0051


def test_the_graph_with_hostile_names():
    nodes, _ = read_dot(states_dot(hostile_script()))
    for k, event in enumerate(HOSTILE, start=1):
        assert f"{cleaned(event)} 61%" in nodes[f"s{k}"].split("\n")


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3))
def test_the_graph_of_any_names(names):
    names = list(dict.fromkeys(names))
    count = len(names)
    emission = np.zeros((count + 2, count))
    emission[1:-1] = np.eye(count)
    script = el.Script(names, np.eye(count + 2, k=1), emission, np.zeros(count + 2))
    nodes, _ = read_dot(states_dot(script))
    for k, name in enumerate(names, start=1):
        assert nodes[f"s{k}"].split("\n")[-1].endswith(" 100%")
        assert cleaned(name)[:190] in nodes[f"s{k}"]


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".dot", b"digraph outline"),
        (".gv", b"digraph outline"),
        (".mmd", b"flowchart"),
        (".json", b"{"),
        (".pnml", b"<?xml"),
        (".BPMN", b"<?xml"),
    ],
)
def test_export_chooses_by_suffix(tmp_path, suffix, start):
    path = tmp_path / f"a.b{suffix}"
    export(el.examples.doorbell(), path)
    content = path.read_bytes()
    assert content.startswith(start)
    export(el.examples.doorbell(), path)
    assert path.read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_states_are_exported_for_graphviz_only(tmp_path):
    export(el.examples.doorbell(), tmp_path / "a.dot", states=True)
    assert (tmp_path / "a.dot").read_bytes().startswith(b"digraph script")
    for suffix in (".bpmn", ".json", ".svg", ""):
        with pytest.raises(InputError, match=r"states are written for Graphviz only"):
            export(el.examples.doorbell(), tmp_path / f"a{suffix}", states=True)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("a.txt", "name it .dot, .gv, .mmd"), ("a", "or .bpmn"), ("a.svg", "`draw` makes pictures")],
)
def test_export_refuses_other_suffixes(tmp_path, name, hint):
    with pytest.raises(InputError, match=f"cannot write a file of the kind .*{hint}"):
        export(el.examples.doorbell(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
