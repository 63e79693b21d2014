from __future__ import annotations

import contextlib
import copy
import errno
import hashlib
import json
import os
import stat
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import elision as el
from elision.files import script as scriptfile
from elision.files.script import dumps, loads
from models import EXAMPLES, models

FIXTURE = Path(__file__).parents[1] / "data" / "doorbell-v1.json"
LONGEST_MESSAGE = 400
TINY = [5e-324, 2.2250738585072014e-308, 1e-300, 1e-17, 0.1 + 0.2 - 0.3]


def small():
    """A script whose file has everything in it once and is short enough to spoil at every byte."""
    return el.Script(
        ["ring", "öffnen 😀"],
        [[0, 0.75, 0.25, 0], [0, 0.1 + 0.2, 0.7, 0], [0, 0, 0, 1], [0, 0, 0, 0]],
        [[0, 0], [0.5, 0.25], [0, 1], [0, 0]],
        [0, 0.25, 0, 0],
        states=["start", "hear", "open", "end"],
        about={"from": ["tests", {"n": 1}]},
    )


def document():
    return json.loads(dumps(small()))


def sealed(text):
    """Return text as bytes with the checksum that docs/format.md asks for."""
    blank = '"sha256:' + "0" * 64 + '"'
    assert text.count(blank) == 1
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return text.replace(blank, f'"sha256:{digest}"').encode("utf-8", "surrogatepass")


def written(raw):
    """Return the bytes of a document, its checksum right whatever else is wrong."""
    return sealed(json.dumps(raw | {"checksum": "sha256:" + "0" * 64}))


def spliced(raw, text):
    """Return the bytes of a document with text put where it has "@"."""
    return sealed(json.dumps(raw | {"checksum": "sha256:" + "0" * 64}).replace('"@"', text))


def assert_identical(one, other):
    """Equal to the last bit, notes included."""
    assert one == other
    assert one.about == other.about
    for field in ("transition", "emission", "elision"):
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes()


def assert_clear(error, where):
    text = str(error)
    assert text.startswith(where), text
    assert text.isprintable(), repr(text)
    assert len(text) <= LONGEST_MESSAGE, len(text)


def refused(content, problem=None, **options):
    """Check that bytes are refused with one clear line."""
    with pytest.raises(el.FileFormatError, match=problem) as caught:
        loads(content, where="a.json", **options)
    assert_clear(caught.value, "a.json")


def refused_file(path, problem=None, **options):
    with pytest.raises(el.FileFormatError, match=problem) as caught:
        el.load(path, **options)
    assert_clear(caught.value, str(path))


def survives(content, **options):
    """Whether bytes are a script; anything but a script or a clear refusal fails the test."""
    try:
        script = loads(content, where="a.json", **options)
    except el.FileFormatError as error:
        assert_clear(error, "a.json")
        return False
    assert isinstance(script, el.Script)
    assert_identical(loads(dumps(script)), script)
    return True


# Round trips


names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(
        [
            *[
                '"',
                "\\",
                "\n",
                "\r\n",
                "\0",
                "\x7f",
                "\x85",
                "\u2028",
                "\u200f",
                "\u202e",
                "\ufeff",
            ],
            *["👩\u200d👩\u200d👧", "e\u0301", "é", " ", "null", "\U0010ffff"],
            '"checksum": "sha256:' + "0" * 64 + '"',
        ]
    ),
)
notes = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def scripts(draw):
    """Scripts of any names and of numbers as small as there are."""
    transition, emission, elision = draw(models())
    size, count = emission.shape
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    for array, allowed in (
        (transition, np.triu(np.ones((size, size)), 1)),
        (emission, np.pad(np.ones((size - 2, count)), ((1, 1), (0, 0)))),
        (elision, np.pad(np.ones(size - 2), 1)),
    ):
        tiny = (array == 0) & (allowed > 0) & (rng.random(array.shape) < 0.5)
        array[tiny] = rng.choice(TINY, tiny.sum())
    words = draw(st.lists(names, min_size=count, max_size=count, unique=True))
    inner = names.filter(lambda name: name not in ("start", "end"))
    states = draw(st.lists(inner, min_size=size - 2, max_size=size - 2, unique=True))
    about = draw(st.dictionaries(names, notes, max_size=3))
    return el.Script(
        words, transition, emission, elision, states=["start", *states, "end"], about=about
    )


@settings(max_examples=EXAMPLES)
@given(scripts())
def test_a_file_gives_the_script_back_bit_for_bit(script):
    content = dumps(script)
    again = loads(content)
    assert_identical(again, script)
    assert dumps(again) == content
    assert dumps(copy.deepcopy(script)) == content


@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
@example(0.1 + 0.2)
@example(5e-324)
@example(1e-300)
@example(1 - 2**-53)
def test_every_number_comes_back(share):
    script = el.Script.build(
        {"a": {"x": share, None: 1 - share}}, {"start": {"a": 1}, "a": {"a": 1 - 0.5, "end": 0.5}}
    )
    again = loads(dumps(script))
    assert again.emission[1, 0].hex() == share.hex()
    assert again.elision[1].hex() == (1 - share).hex()


@given(names)
def test_every_name_comes_back(name):
    script = el.Script.build(
        {"s" + name: name}, {"start": {"s" + name: 1}, "s" + name: {"end": 1}}, about={name: name}
    )
    again = loads(dumps(script))
    assert again.events == (name,)
    assert again.states == ("start", "s" + name, "end")
    assert again.about == {name: name}


def test_save_and_load(tmp_path):
    path = tmp_path / "doorbell.json"
    script = el.examples.doorbell()
    script.save(path)
    assert_identical(el.load(path), script)
    script.save(str(path))
    assert_identical(el.load(str(path)), script)
    assert path.read_bytes() == dumps(script)


def test_the_smallest_script_has_a_file():
    script = el.Script([], [[0, 1], [0, 0]], np.zeros((2, 0)), [0, 0])
    assert_identical(loads(dumps(script)), script)


def test_a_large_script_has_a_file():
    size = 500
    transition = np.triu(np.ones((size, size)), 1)
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    emission = np.zeros((size, 1))
    emission[1:-1] = 1
    script = el.Script(["a"], transition, emission, np.zeros(size))
    assert_identical(loads(dumps(script)), script)


# The fixture: files of version 1 can be read for ever


def doorbell_spelled_out():
    told, silent = 0.7, 0.3
    edges = {
        (0, 1): 1.0,
        (1, 2): 1.0,
        (2, 3): 0.5,
        (2, 4): 0.5,
        (3, 4): 1.0,
        (4, 5): 0.5,
        (4, 7): 0.25,
        (4, 8): 0.25,
        (5, 6): 0.5,
        (5, 9): 0.5,
        (6, 10): 1.0,
        (7, 8): 1.0,
        (8, 9): 0.5,
        (8, 10): 0.5,
        (9, 10): 1.0,
        (10, 11): 1.0,
    }
    transition = np.zeros((12, 12))
    for edge, probability in edges.items():
        transition[edge] = probability
    names = [
        "hear doorbell",
        "walk to door",
        "look through peephole",
        "open door",
        "greet visitor",
        "let visitor in",
        "sign for parcel",
        "take parcel",
        "say goodbye",
        "close door",
    ]
    return el.Script(
        names,
        transition,
        np.pad(np.eye(10) * told, ((1, 1), (0, 0))),
        np.pad(np.full(10, silent), 1),
        states=["start", *names, "end"],
        about={"activity": "answering the doorbell"},
    )


def test_a_file_of_version_1_loads():
    assert_identical(el.load(FIXTURE), doorbell_spelled_out())


def test_the_bytes_of_version_1_have_not_changed():
    assert dumps(doorbell_spelled_out()) == FIXTURE.read_bytes()


def test_the_checksum_is_what_the_documentation_says():
    content = FIXTURE.read_bytes()
    digits = json.loads(content)["checksum"].removeprefix("sha256:")
    blank = content.replace(digits.encode(), b"0" * 64)
    assert hashlib.sha256(blank).hexdigest() == digits


def test_the_example_in_the_documentation_is_right():
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")
    example_file = page.split("```json\n")[1].split("```")[0]
    script = loads(example_file.encode())
    assert dumps(script).decode() == example_file


# Damage


def test_every_truncation_is_noticed(tmp_path):
    content = dumps(small())
    for length in range(len(content)):
        refused(content[:length])
        if length < len(content) - 1:  # the last byte is a line feed
            refused(content[:length], checksum=False)
    path = tmp_path / "a.json"
    path.write_bytes(content[:-100])
    refused_file(path, "no script file")


def test_every_flipped_bit_is_noticed():
    content = bytearray(dumps(small()))
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            refused(bytes(content))
            content[place] ^= 1 << bit


def test_no_flipped_bit_does_harm_without_the_checksum():
    content = bytearray(dumps(small()))
    survived = 0
    for place in range(len(content)):
        for bit in range(8):
            content[place] ^= 1 << bit
            survived += survives(bytes(content), checksum=False)
            content[place] ^= 1 << bit
    assert 0 < survived < 4 * len(content)


@settings(max_examples=EXAMPLES)
@given(st.data())
def test_random_damage_does_no_harm(data):
    content = bytearray(dumps(small()))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 4))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    if bytes(content) != dumps(small()):
        refused(bytes(content))
    survives(bytes(content), checksum=False)


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=200))
def test_random_bytes_are_no_script(content):
    refused(content)
    refused(content, checksum=False)


@pytest.mark.parametrize("content", [b"", b" ", b"\n", b"\0", b"\0" * 10_000, b"\xff\xfe", b"{}"])
def test_empty_files_are_no_scripts(content, tmp_path):
    path = tmp_path / "empty.json"
    path.write_bytes(content)
    refused_file(path, "no script file")
    refused_file(path, "no script file", checksum=False)


@pytest.mark.parametrize("content", ["null", "true", "3", '"text"', "[]", "[{}]", "1e999", "NaN"])
def test_other_json_is_no_script(content):
    refused(content.encode(), "no script file")


# Another format, another version


@pytest.mark.parametrize(
    "kind",
    [None, 1, True, "", "elision-scripts", "a\nb", "x" * 10_000, [], {"a": 1}, [[]] * 9999],
)
def test_another_format_is_refused(kind):
    refused(written(document() | {"format": kind}), "no script file: format is .*, expected")


@pytest.mark.parametrize(
    "version", [None, 0, 4, -1, 10**1000, 1.0, 1.5, True, "1", "1\n2", [1], {"a": "b" * 999}]
)
def test_another_version_is_refused(version):
    content = written(document() | {"version": version})
    problem = r"script file of version .*, this release reads version 1 and 2 and 3"
    refused(content, problem)
    refused(content, problem, checksum=False)


def test_a_version_with_a_telling_model_or_an_outline_needs_one():
    problem = "version 2 without telling model or outline"
    refused(written(document() | {"version": 2}), problem)


def test_a_newer_version_gives_a_hint():
    refused(written(document() | {"version": 4}), r"\(a newer release may read it\)$")
    with pytest.raises(el.FileFormatError) as caught:
        loads(written(document() | {"version": 0}))
    assert "newer" not in str(caught.value)


# Wrong contents, right checksum


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


# Encodings


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_other_encodings_are_refused(encoding, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(dumps(small()).decode().encode(encoding))
    refused_file(path, "no script file")
    refused_file(path, "no script file", checksum=False)


def test_bytes_that_are_not_utf8_are_refused():
    content = dumps(small())
    refused(content.decode().replace("😀", "").encode("latin-1"), "no script file: 'utf-8' codec")
    lone = content.replace("😀".encode(), b"\xed\xa0\x80")
    refused(lone, "no script file: 'utf-8' codec", checksum=False)


# The checksum


@pytest.mark.parametrize(
    "value",
    [
        "",
        "sha256:",
        "sha256:" + "0" * 64,
        "sha256:" + "g" * 64,
        "sha256:" + "0" * 63,
        "md5:" + "0" * 32,
        "0" * 64,
        "\ud800",
    ],
)
def test_a_wrong_checksum_is_refused_unless_asked_for(value):
    content = json.dumps(document() | {"checksum": value}).encode()
    refused(content, r"the checksum does not fit \(load\(..., checksum=False\) reads a file")
    assert_identical(loads(content, checksum=False), small())


def test_the_checksum_in_capitals_is_refused():
    digits = document()["checksum"].removeprefix("sha256:")
    refused(dumps(small()).replace(digits.encode(), digits.upper().encode()), "does not fit")


@pytest.mark.parametrize("value", [None, 1, ["sha256"], {}])
def test_a_checksum_of_another_type_is_refused_always(value):
    content = json.dumps(document() | {"checksum": value}).encode()
    refused(content, "the checksum does not fit")
    refused(content, "Expected `str`", checksum=False)


def test_a_file_without_checksum_is_refused_always():
    raw = document()
    del raw["checksum"]
    refused(json.dumps(raw).encode(), "the checksum does not fit")
    refused(json.dumps(raw).encode(), "missing required field `checksum`", checksum=False)


def test_a_checksum_among_the_notes_is_not_taken_for_the_one_of_the_file():
    raw = document()
    del raw["checksum"]
    note = {"checksum": "sha256:" + "0" * 64}
    text = json.dumps({"about": note, **(raw | {"about": note}), "checksum": "mine"})
    refused(sealed(text), "the checksum does not fit")


def test_an_edited_file_is_read_on_demand(tmp_path):
    path = tmp_path / "edited.json"
    path.write_bytes(dumps(small()).replace(b'"ring"', b'"knock"'))
    refused_file(path, "the checksum does not fit")
    assert el.load(path, checksum=False).events == ("knock", "öffnen 😀")


# Files that are too large


def test_a_file_of_100_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(dumps(small()))
        file.truncate(100 << 20)
    tracemalloc.start()
    try:
        refused_file(path, "too large, expected a script file of at most 67108864 bytes")
        refused_file(path, "too large", checksum=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_device_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=1 << 20))
    refused_file(Path("/dev/zero"), "too large")


def test_a_file_of_exactly_the_largest_size_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    content = dumps(small())
    path.write_bytes(content)
    monkeypatch.setattr(scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=len(content)))
    assert el.load(path) == small()
    assert dumps(small()) == content
    monkeypatch.setattr(
        scriptfile, "ENVELOPE", replace(scriptfile.ENVELOPE, largest=len(content) - 1)
    )
    refused_file(path, "too large")
    with pytest.raises(el.ScriptError, match="bytes as a file, expected at most"):
        small().save(path)
    assert path.read_bytes() == content


def test_a_small_file_cannot_ask_for_much_memory():
    raw = document()
    raw["states"] = [{"name": str(k), "elision": 1, "tells": []} for k in range(20_000)]
    refused(written(raw), "20002 states and 2 events need .* cells, expected at most 67108864")
    raw = document()
    raw["events"] = [str(number) for number in range(40_000)]
    raw["states"] = raw["states"] * 1000
    refused(written(raw), "2002 states and 40000 events need .* cells, expected at most")


def test_what_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(scriptfile, "MOST_CELLS", 4 * (4 + 2))
    assert loads(dumps(small())) == small()
    monkeypatch.setattr(scriptfile, "MOST_CELLS", 4 * (4 + 2) - 1)
    with pytest.raises(el.ScriptError, match="4 states and 2 events need 24 cells"):
        small().save(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


# What the file system has to say


def test_what_is_no_file_is_refused(tmp_path):
    refused_file(tmp_path, "no script file in this folder")
    refused_file(tmp_path / "missing.json", "cannot be read: No such file or directory")
    refused_file(tmp_path / "no" / "folder.json", "cannot be read: No such file or directory")
    (tmp_path / "file").write_bytes(b"")
    refused_file(tmp_path / "file" / "a.json", "cannot be read: Not a directory")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused_file(tmp_path / "loop", "cannot be read: Too many levels of symbolic links")
    refused_file("", "cannot be read")


def test_a_file_without_permission(tmp_path):
    path = tmp_path / "secret.json"
    small().save(path)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything
        assert_identical(el.load(path), small())
    else:
        refused_file(path, "cannot be read: Permission denied")


@pytest.mark.parametrize(
    "name", ["a\nb.json", "\x1b[31m.json", "\u202ea.json", "x" * 250, "\udcff"]
)
def test_strange_file_names_make_one_line(name, tmp_path):
    path = tmp_path / name
    for _ in range(2):
        with pytest.raises(el.FileFormatError) as caught:
            el.load(path)
        assert_clear(caught.value, "..." if len(name) == 250 else str(tmp_path))
        if not path.exists():
            path.write_bytes(b"")
    small().save(path)
    assert el.load(path) == small()


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "y/" * 3000 + "z"])
def test_impossible_file_names_are_refused(name, tmp_path):
    with pytest.raises(el.FileFormatError, match="cannot be read") as caught:
        el.load(tmp_path / name)
    assert_clear(caught.value, "")
    with pytest.raises(el.InputError, match="cannot be written") as caught:
        small().save(tmp_path / name)
    assert_clear(caught.value, "")
    assert list(tmp_path.iterdir()) == []


def test_a_script_is_read_from_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[dumps(small())])
    writer.start()
    assert_identical(el.load(path), small())
    writer.join()


# Whole or not at all


def fails_with(error):
    def fail(*arguments, **options):
        raise error

    return fail


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_failing_write_leaves_everything_as_it_was(error, step, existing, tmp_path, monkeypatch):
    if step == "chmod" and not existing:
        return  # nothing to fail: only the mode of an old file is set
    path = tmp_path / "a.json"
    if existing:
        path.write_bytes(b"old")
    monkeypatch.setattr(os, step, fails_with(error))
    expected = el.InputError if error is FULL else type(error)
    with pytest.raises(expected) as caught:
        small().save(path)
    if error is FULL:
        assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert [(file, file.read_bytes()) for file in tmp_path.iterdir()] == [(path, b"old")] * existing


def test_a_new_file_replaces_the_old_one_and_nothing_is_left(tmp_path):
    path = tmp_path / "a.json"
    el.examples.doorbell().save(path)
    small().save(path)
    assert_identical(el.load(path), small())
    assert list(tmp_path.iterdir()) == [path]


def test_writing_where_no_file_can_be(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, problem in {
        "missing/a.json": "No such file or directory",
        "file/a.json": "Not a directory",
        "folder": "there is something other than a file",
        "pipe": "there is something other than a file",
    }.items():
        with pytest.raises(el.InputError) as caught:
            small().save(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: cannot be written: {problem}"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder", "pipe"]
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(el.InputError, match="cannot be written"):
        small().save("")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.json", tmp_path / "link.json"
    link.symlink_to(target)
    for script in (small(), el.examples.doorbell()):
        script.save(link)
        assert link.is_symlink()
        assert el.load(target) == script
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.json", "link.json", "real"]


def test_permissions_are_those_of_the_old_file_or_the_usual_ones(tmp_path):
    path = tmp_path / "a.json"
    before = os.umask(0o027)
    try:
        small().save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    small().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.parametrize("name", ["😀" * 63, "x" * 255, "-", ".hidden", " "])
def test_names_as_long_as_the_file_system_allows_are_written(name, tmp_path):
    small().save(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_readers_never_see_half_a_file(tmp_path):
    path = tmp_path / "a.json"
    both = [small(), el.examples.doorbell()]
    both[0].save(path)

    def write(script):
        for _ in range(20):
            script.save(path)

    writers = [threading.Thread(target=write, args=[script]) for script in both]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert el.load(path) in both
    for writer in writers:
        writer.join()
    assert list(tmp_path.iterdir()) == [path]
