"""Script files for tests: a small one, spoiled ones, and whether they are refused clearly."""

from __future__ import annotations

import hashlib
import json

import pytest

import elision as el
from elision.files.script import dumps, loads

LONGEST_MESSAGE = 400


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
