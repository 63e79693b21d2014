"""Spoiled input is taken or refused in one line: a little of `make fuzz`, and what it found."""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.errors import FileFormatError
from elision.text.hand import HandTypes
from fuzzing import TARGETS
from fuzzing.spoiling import spoiled
from fuzzing.targets import Target
from fuzzing.trial import BrokenError, tried

KEPT = Path(__file__).parent / "data" / "fuzz"
CASES = sorted(KEPT.glob("*/*"))
EXAMPLES = {"commands": 4, "text": 10}
DEFAULT = 12


@pytest.fixture(scope="module", params=TARGETS)
def target(request):
    """A target that has seen its seeds: some of them are good, or nothing would be tried."""
    found = TARGETS[request.param]
    for content in found.seeds():
        found.warm(content)
    return found


def test_some_seeds_are_good(target):
    assert any(tried(target, content).accepted for content in target.seeds())


def test_spoiled_input_is_taken_or_refused(target):
    @settings(max_examples=EXAMPLES.get(target.name, DEFAULT))
    @given(st.randoms(use_true_random=False))
    def check(rng):
        tried(target, target.spoiled(rng))

    check()


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_once_broke(path):
    target = TARGETS[path.parent.name]
    target.warm(target.seeds()[0])
    tried(target, path.read_bytes())


def test_cases_are_small():
    assert all(path.stat().st_size < 50_000 for path in CASES)


# ---- the fuzzer itself


def made(take):
    return Target("made", "json", lambda: [b'{"a": [1, "b"]}'], take)


def refuse(said):
    def take(content):
        raise el.InputError(said)

    return take


def warn(content):
    import warnings

    warnings.warn("x", stacklevel=1)


@pytest.mark.parametrize(
    ("take", "said"),
    [
        (lambda content: {}[content], "KeyError"),
        (refuse("two\nlines"), "one short line"),
        (refuse("long" * 1000), "one short line"),
        (warn, "UserWarning"),
        (lambda content: sys.exit(0), "SystemExit"),
    ],
)
def test_what_is_broken_is_found(take, said):
    with pytest.raises(BrokenError, match=said):
        tried(made(take), b"x")


def test_what_is_not_broken_is_not():
    assert tried(made(len), b"x").accepted
    assert not tried(made(refuse("no")), b"x").accepted


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
def test_the_same_seed_spoils_in_the_same_way(target):
    first, again, other = (target.spoiled(random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert isinstance(other, bytes)


def test_structures_are_spoiled_not_only_bytes():
    rng = random.Random(0)
    told = [spoiled(rng, b'{"a": [1, {"b": "c"}]}', "json") for _ in range(300)]
    assert any(b"NaN" in one for one in told)
    assert any(one.count(b"[") > 1000 for one in told)
    assert len(set(told)) > 200


# ---- found: too large to keep, or no longer what it was in another version


def test_a_table_of_types_with_a_cell_that_is_too_long(tmp_path):
    path = tmp_path / "types.tsv"
    path.write_text("sentence\ttype\n" + "x" * (csv.field_size_limit() + 1) + "\ty\n")
    with pytest.raises(FileFormatError, match=r"no table: field larger than"):
        HandTypes.read(path)
