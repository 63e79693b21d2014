"""The faults that `tools/mutate.py` puts in: which there are, and what is written down of them."""

from __future__ import annotations

import ast
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import mutate  # noqa: E402
from mutation import mutants_of  # noqa: E402

SOURCE = '''\
"""A text is left alone: 1 < 2."""
LIMIT = 2.5  # and so is this
def f(x: int = 3) -> int:
    if x < 1 and not x:
        raise ValueError(1)
    x += 1
    return min(x, -x)
'''


def test_faults_of_every_kind():
    found = {(one.line, one.kind, one.before, one.after) for one in mutants_of("m.py", SOURCE)}
    assert found == {
        (3, "constant", "3", "4"),
        (3, "constant", "3", "2"),
        (4, "logic", "x < 1 and not x", "(x < 1 or not x)"),
        (4, "comparison", "x < 1", "(x <= 1)"),
        (4, "comparison", "x < 1", "(x >= 1)"),
        (4, "constant", "1", "2"),
        (4, "constant", "1", "0"),
        (4, "sign", "not x", "x"),
        (6, "dropped", "x += 1", "pass"),
        (6, "arithmetic", "x += 1", "x -= 1"),
        (6, "constant", "1", "2"),
        (6, "constant", "1", "0"),
        (7, "returned", "min(x, -x)", "None"),
        (7, "other", "min", "max"),
        (7, "sign", "-x", "x"),
    }


@pytest.mark.parametrize("name", mutate.areas())
def test_what_is_left_with_a_fault_is_python_and_no_longer_the_same(name):
    area = mutate.areas()[name]
    places = mutate.places(area)
    for some in random.Random(0).sample(places, 2):
        for one in some:
            content = (mutate.PACKAGE / one.module).read_bytes()
            faulty = one.put_into(content)
            assert ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(content)), one


def test_areas_have_modules_and_tests():
    for area in mutate.areas().values():
        assert mutate.sources(area)
        for one in area.tests:
            assert (ROOT / "tests" / one).exists(), one


def test_what_is_written_down_still_stands_in_the_code():
    named = [one for name in mutate.areas() for one in mutate.named(name)]
    assert len(named) == len(mutate.LISTED["named"])
    for one in named:
        ast.parse(one.put_into((mutate.PACKAGE / one.module).read_bytes()))
    for entry in mutate.LISTED.get("equivalent", []):
        content = (mutate.PACKAGE / entry["module"]).read_text()
        assert any(mutate._matches(one, entry) for one in mutants_of(entry["module"], content)), (
            entry
        )
        assert entry["why"]
