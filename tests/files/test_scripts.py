"""Script files: everything comes back, and versions are told apart."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import elision as el
from elision.files.script import dumps, loads
from models import EXAMPLES, models
from script_files import (
    assert_identical,
    document,
    refused,
    written,
)

TINY = [5e-324, 2.2250738585072014e-308, 1e-300, 1e-17, 0.1 + 0.2 - 0.3]


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


def test_the_checksum_is_what_the_documentation_says():
    content = dumps(el.examples.doorbell())
    digits = json.loads(content)["checksum"].removeprefix("sha256:")
    blank = content.replace(digits.encode(), b"0" * 64)
    assert hashlib.sha256(blank).hexdigest() == digits


def test_the_example_in_the_documentation_is_right():
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text("utf-8")
    example_file = page.split("```json\n")[1].split("```")[0]
    script = loads(example_file.encode())
    assert dumps(script).decode() == example_file


# Another format, another version


@pytest.mark.parametrize(
    "kind",
    [None, 1, True, "", "elision-scripts", "a\nb", "x" * 10_000, [], {"a": 1}, [[]] * 9999],
)
def test_another_format_is_refused(kind):
    refused(written(document() | {"format": kind}), "no script file: format is .*, expected")


@pytest.mark.parametrize(
    "version", [None, 0, 2, -1, 10**1000, 1.0, 1.5, True, "1", "1\n2", [1], {"a": "b" * 999}]
)
def test_another_version_is_refused(version):
    content = written(document() | {"version": version})
    problem = r"script file of version .*, this release reads version 1"
    refused(content, problem)
    refused(content, problem, checksum=False)


def test_a_newer_version_gives_a_hint():
    refused(written(document() | {"version": 2}), r"\(a newer release may read it\)$")
    with pytest.raises(el.FileFormatError) as caught:
        loads(written(document() | {"version": 0}))
    assert "newer" not in str(caught.value)


def test_choices_in_parts_are_kept():
    kinds = 25 * [["ward", "test", "operate"]] + 35 * [["clinic", "test", "treat"]]
    script = el.ScriptLearner().fit([["come", *kind, "go"] for kind in kinds]).script_
    (whole,) = script.outline().apart
    content = dumps(script)
    raw = json.loads(content)
    assert [len(branch) for branch in raw["outline"]["apart"][0]["branches"]] == [2, 2]
    assert loads(content).outline() == script.outline()
    assert dumps(loads(content)) == content
    wrong = whole.steps[0]
    raw["outline"]["apart"][0]["branches"][0] = [wrong, wrong]
    refused(written(raw), "choice 0 of an outline has a step twice")
