"""Script files whose checksum is right and whose contents are wrong."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.files.script import dumps, loads
from models import EXAMPLES
from script_files import (
    assert_identical,
    document,
    refused,
    small,
    spliced,
    survives,
    written,
)


def places(value, path=()):
    """Paths to every value of a document."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def changed(path, value):
    raw = document()
    at(raw, path[:-1])[path[-1]] = value
    return raw


PLACES = [path for path in places(document()) if path and path[0] != "checksum"]
OTHERS = [None, True, False, 0, 1, -1, 7, 0.5, -0.5, "", "x", "\ud800", "a\nb", [], {}, [[]], [0]]
OTHERS += [{"a": 1}, [0, 1], [0, 1, 0.5], 10**30, "y" * 1000, [None] * 1000]


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_wrong_types_are_refused_in_every_field(path):
    before = at(document(), path)
    for other in OTHERS:
        content = written(changed(path, other))
        fits = type(other) is type(before) or (type(before), type(other)) == (float, int)
        if fits or path[0] == "about":
            survives(content)
        else:
            refused(content)


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_missing_fields_are_refused(path):
    raw = document()
    del at(raw, path[:-1])[path[-1]]
    if path[0] == "about" and len(path) > 1:
        assert survives(written(raw))
    else:
        refused(written(raw))


@pytest.mark.parametrize("key", ["extra", "a\nb", "\ud800", "x" * 1000, "", "\u202e", "Format"])
@pytest.mark.parametrize("path", [(), ("states", 0)], ids=str)
def test_unknown_fields_are_refused(path, key):
    raw = document()
    at(raw, path)[key] = 1
    refused(written(raw), "damaged script file")


@pytest.mark.parametrize("name", ["\ud800", "", "start", "end", "open"])
def test_bad_state_names_are_refused(name):
    refused(written(changed(("states", 0, "name"), name)), "no valid script: state name")


@pytest.mark.parametrize("name", ["\ud800", "", "öffnen 😀", 7])
def test_bad_event_names_are_refused(name):
    refused(written(changed(("events", 0), name)))


def test_long_names_are_cut_in_messages():
    raw = document()
    raw["states"][0]["name"] = "x" * 100_000
    raw["states"][0]["elision"] = 0.5
    refused(written(raw), r"no valid script: state 1 \('x+\.\.\.\): events and elision sum to 1.25")
    raw = document()
    raw["events"] = ["y\n" * 100_000] * 2
    refused(written(raw), "stands twice")


NUMBERS = [path for path in PLACES if type(at(document(), path)) in (int, float)]


@pytest.mark.parametrize(
    "number",
    [
        *["1e999", "-1e999", "1e309", "1" * 10_000, "-" + "9" * 10_000, "1" * 4000, "1" * 400],
        *["NaN", "Infinity", "-Infinity", "nan", "0x1", "01", "+1", ".5", "1.", "1e", "--1", "1_0"],
        *["1." + "0" * 5000 + "e999", "1e" + "9" * 5000],
    ],
    ids=lambda number: number[:12],
)
def test_huge_and_strange_numbers_are_refused_everywhere(number):
    for path in NUMBERS:
        content = spliced(changed(path, "@"), number)
        refused(content)
        refused(content, checksum=False)


@pytest.mark.parametrize("number", ["-0.25", "1.5", "2", "-1", "-1e-300", "1e300", "1.00000001"])
@pytest.mark.parametrize(
    "path", [("states", 0, "elision"), ("states", 0, "tells", 0, 1), ("edges", 0, 2)], ids=str
)
def test_what_is_no_probability_is_refused(path, number):
    refused(spliced(changed(path, "@"), number))


@pytest.mark.parametrize("number", ["0", "0.0", "-0.0", "1e-999"])
@pytest.mark.parametrize("field", ["edges", "tells"])
def test_what_has_probability_zero_is_left_out_of_a_file(field, number):
    raw = document()
    if field == "edges":
        raw["edges"].append([0, 3, "@"])
    else:
        raw["states"][1]["tells"].append([0, "@"])
    problem = "a.json, (edge 5|state 2): probability -?0.0, expected a positive one"
    refused(spliced(raw, number), problem)


def test_whole_numbers_stand_for_themselves():
    text = dumps(small()).decode().replace("1.0", "1").replace("0.0", "-0.0")
    assert_identical(loads(text.encode(), checksum=False), small())


@pytest.mark.parametrize(
    ("edge", "problem"),
    [
        ([2, 1, 0.5], "an edge goes back from 'open' to 'hear'"),
        ([1, 0, 0.5], "no edge may enter the start"),
        ([0, 0, 0.5], "no edge may enter the start"),
        ([3, 3, 1.0], "no edge may leave the end"),
        ([3, 1, 1.0], "no edge may leave the end"),
        ([0, 1, 0.75], "^a.json, edge 5: 0 -> 1 stands twice"),
        ([0, 4, 0.5], "^a.json, edge 5: 0 -> 4: no such state"),
        ([-1, 3, 0.5], "^a.json, edge 5: -1 -> 3: no such state"),
        ([0, 10**1000, 0.5], "^a.json, edge 5: 0 -> 10+[.]{3}: no such state"),
        ([0, 3, 0.5], "transitions sum to 1.5"),
        ([0, 3], "Expected `array` of length 3, got 2"),
        ([0, 3, 0.5, 1], "Expected `array` of length 3, got 4"),
    ],
)
def test_edges_that_do_not_fit_are_refused(edge, problem):
    raw = document()
    raw["edges"].append(edge)
    refused(written(raw), problem)


@pytest.mark.parametrize(
    ("telling", "problem"),
    [
        ([0, 0.5], "^a.json, state 1: event 0 stands twice"),
        ([2, 0.5], "^a.json, state 1: event 2: no such event"),
        ([-1, 0.5], "^a.json, state 1: event -1: no such event"),
        ([10**1000, 0.5], "^a.json, state 1: event 10+[.]{3}: no such event"),
        ([0], "Expected `array` of length 2, got 1"),
    ],
)
def test_events_that_do_not_fit_are_refused(telling, problem):
    raw = document()
    raw["states"][0]["tells"].append(telling)
    refused(written(raw), problem)


def test_lost_states_and_dead_ends_are_refused():
    raw = document()
    raw["edges"] = [[0, 3, 1.0], *raw["edges"][2:]]
    refused(written(raw), r"state 1 \('hear'\): cannot be reached from the start")
    raw = document()
    raw["edges"][-1] = [2, 2, 1.0]
    refused(written(raw), r"state 2 \('open'\): has no way to the end")


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('"version": 1,', '"version": 1, "version": 1,', "version"),
        ('"edges": [', '"edges": [], "edges": [', "edges"),
        ('"name": "hear",', '"name": "hear", "name": "hear",', "name"),
        ('{"n": 1}', '{"n": 1, "n": 1}', "n"),
        ('{"n": 1}', '{"n": 1, "\\u006e": 1}', "n"),
        ('"about": {', '"about": {"a\\nb": 1, "a\\nb": 2, ', "a.*b"),
        ('"about": {', '"about": {"\\ud800": 1, "\\ud800": 2, ', "ud800"),
    ],
)
def test_keys_that_stand_twice_are_refused(old, new, key):
    text = dumps(small()).decode()
    assert old in text
    content = text.replace(old, new).encode()
    refused(content, f"no script file: the key '.*{key}' stands twice")
    refused(content, f"no script file: the key '.*{key}' stands twice", checksum=False)


def test_a_key_that_stands_twice_among_many_is_found():
    keys = ", ".join(f'"k{number}": 0' for number in range(100_000))
    refused(f'{{{keys}, "k99999": 1}}'.encode(), "the key 'k99999' stands twice")


@pytest.mark.parametrize("piece", ["[", '{"a":', '[{"a":', '{"about":{"a":[', " [\n"])
@pytest.mark.parametrize("closed", [False, True])
def test_deep_nesting_is_refused(piece, closed):
    closing = "".join("]" if c == "[" else "}" for c in reversed(piece) if c in "[{")
    refused((piece * 100_000 + "1" + closing * 100_000 * closed).encode(), "nested too deeply")


@pytest.mark.parametrize(
    ("piece", "closing"),
    [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")],
    ids=["list", "dict", "both"],
)
@pytest.mark.parametrize("field", ["about", "format", "version", "events", "extra"])
def test_nesting_of_any_depth_does_no_harm(piece, closing, field):
    for depth in [*range(1, 60, 7), *range(60, 1100, 45), *range(930, 1001, 3)]:
        raw = document() | {field: {"x": "@"} if field == "about" else "@"}
        content = spliced(raw, piece * depth + "1" + closing * depth)
        assert survives(content) == (field == "about" and depth * len(closing) < 50)


def test_notes_are_held_to_what_a_script_can_note():
    for value in ("1e999", "1" * 400, '"\\ud800"', '{"\\udfff": 1}', "1" * 10_000, "NaN"):
        refused(spliced(document() | {"about": {"a": "@"}}, value))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)
near_values = st.sampled_from([0, 1, 2, 3, 0.1, 0.25, 0.5, 0.7, 0.75, 1e-320, 1.0, "ring", "a"])


@settings(max_examples=2 * EXAMPLES)
@given(st.lists(st.tuples(st.sampled_from(PLACES), near_values | values), min_size=1, max_size=4))
def test_what_is_nearly_a_file_does_no_harm(changes):
    raw = document()
    for path, value in changes:
        with contextlib.suppress(KeyError, IndexError, TypeError):  # an earlier change took it away
            at(raw, path[:-1])[path[-1]] = value
    survives(written(raw))
