"""Doors of rooms, and what `load` opens."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import elision as el
from elision import kernels
from elision.cli.learning import Method
from elision.files.envelope import Envelope
from elision.learn.scores import SCORES, ScoreName
from elision.pipeline.learning import METHODS

TESTS = Path(__file__).parent
LABELLED = [["ring", "open"], ["ring", "wait", "open"], ["ring", "open"]]


def test_tests_stand_in_the_rooms_that_they_test():
    rooms = {path.parent.name for path in Path(el.__file__).parent.glob("*/__init__.py")}
    tested = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert tested == rooms


@pytest.mark.parametrize("room", ["ask", "files", "kernels", "learn", "show", "values"])
def test_a_door_knows_what_is_behind_it(room):
    package = getattr(el, room)
    assert package.__name__ == f"elision.{room}"
    with pytest.raises(AttributeError, match=f"module 'elision.{room}' has no attribute 'nowhere'"):
        package.nowhere  # noqa: B018
    assert not hasattr(package, "__wrapped__")


def test_a_module_that_cannot_be_loaded_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "hall").mkdir()
    (tmp_path / "hall" / "__init__.py").write_text(
        "from elision._rooms import door\n__getattr__ = door(__name__)\n"
    )
    (tmp_path / "hall" / "broken.py").write_text("import there_is_no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    import hall

    with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
        hall.broken  # noqa: B018
    with pytest.raises(AttributeError, match="'hall' has no attribute 'other'"):
        hall.other  # noqa: B018


def test_whatever_lies_there_is_loaded(tmp_path):
    script = el.examples.doorbell()
    script.save(tmp_path / "script.json")
    el.Library({"door": script}).save(tmp_path / "library")
    sentences = [["He rang the bell.", "She opened the door."]] * 4
    told = el.Corpus(el.Narrative(None, tuple(one)) for one in sentences)
    el.EventExtractor().fit(told).save(tmp_path / "extractor.json")
    kinds = {
        "script.json": el.Script,
        "library": el.Library,
        "extractor.json": el.EventExtractor,
        ".": el.Library,  # of the script files in it
    }
    for name, kind in kinds.items():
        assert isinstance(el.load(tmp_path / name), kind), name


def test_an_extractor_file_has_a_checksum(tmp_path):
    told = el.Corpus([el.Narrative(None, ("He rang the bell.", "She opened the door."))] * 4)
    path = tmp_path / "extractor.json"
    extractor = el.EventExtractor().fit(told)
    extractor.save(path)
    content = path.read_text()
    path.write_text(content.replace("bell", "ball", 1))
    with pytest.raises(el.FileFormatError, match="the checksum does not fit"):
        el.EventExtractor.load(path)
    path.write_text(content)
    assert el.EventExtractor.load(path).to_dict() == extractor.to_dict()


ENVELOPE = Envelope("elision-test", "test file", largest=200, hint="write it again")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "no test file: a list, expected an object"),
        ('{"format": "x"}', "no test file: format is 'x', expected 'elision-test'"),
        ('{"format": "elision-test", "version": 3}', "this release reads version 1"),
        ('{"format": "elision-test", "version": 1}', "the checksum does not fit"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"a": NaN}', "NaN is no number here"),
        ('{"a": 1e999}', "too large"),
    ],
)
def test_an_envelope_refuses_in_one_line(content, problem):
    with pytest.raises(el.FileFormatError, match=problem) as caught:
        ENVELOPE.opened(content.encode(), "here")
    assert "\n" not in str(caught.value)
    assert caught.value.hint == (
        "a newer release may read it" if "release" in problem else "write it again"
    )


def test_what_is_sealed_is_opened_and_a_changed_byte_is_seen():
    text = f'{{"format": "elision-test", "version": 1, "checksum": "sha256:{"0" * 64}", "a": 1}}'
    sealed = ENVELOPE.sealed(text)
    assert ENVELOPE.opened(sealed, "here")["a"] == 1
    changed = sealed.replace(b'"a": 1', b'"a": 2')
    with pytest.raises(el.FileFormatError, match="damaged test file: the checksum"):
        ENVELOPE.opened(changed, "here")
    assert ENVELOPE.opened(changed, "here", checksum=False)["a"] == 2
    with pytest.raises(el.ScriptError, match="expected at most 200"):
        ENVELOPE.sealed(text + " " * 200)


def test_scores_name_the_formulas_of_the_kernels():
    assert SCORES["marginal"].kind == kernels.moves.MARGINAL
    assert {one.kind for one in SCORES.values()} == {0, kernels.moves.MARGINAL}
    assert set(get_args(ScoreName)) == set(SCORES)
    assert set(METHODS) == {*Method}
