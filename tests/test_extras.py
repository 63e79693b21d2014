"""Commands that need an extra: without it, one line says what to install; nothing is written."""

from __future__ import annotations

import sys

import pytest

import elision as el
from commands import files, refused, write

EXTRAS = {
    "page": ("h11", "starlette", "uvicorn"),
    "draw": ("networkx", "resvg_py"),
    "cluster": ("distributed",),
    "files": ("pandas", "pyarrow", "rustxes"),
    "vectors": ("wordllama",),
}
"""What each brings, as pyproject.toml has it."""

LOG = "case,activity\n1,ring\n1,open\n2,ring\n2,open\n"


@pytest.fixture
def elision(elision, tmp_path):
    el.examples.doorbell().save("script.json")
    write("tellings.jsonl", el.examples.doorbell_tellings()[:5])
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "log.parquet").write_bytes(b"PAR1" + b"\0" * 20 + b"PAR1")
    return elision


def without(monkeypatch, extra):
    """Let an extra be as if it were not installed."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in EXTRAS[extra]:
            monkeypatch.delitem(sys.modules, name)
    for name in EXTRAS[extra]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("page", ("serve", "script.json", "--port", "0", "--no-open")),
        ("draw", ("draw", "script.json", "-o", "picture.png")),
        ("cluster", ("learn", "tellings.jsonl", "-o", "a.json", "--dask", "tcp://127.0.0.1:1")),
        ("cluster", ("repair", "log.csv", "-o", "a.csv", "--dask", "tcp://127.0.0.1:1")),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{one[0]} {one[1].rpartition('.')[2]}",
)
def test_a_command_says_what_to_install(elision, monkeypatch, extra, command):
    before = files()
    without(monkeypatch, extra)
    said = refused(elision(*command))
    assert f"elision[{extra}]" in said
    assert files() == before


def test_the_extras_are_those_of_the_project():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    declared = project["project"]["optional-dependencies"]
    for extra, names in EXTRAS.items():
        found = sorted(one.partition(">")[0].replace("-", "_") for one in declared[extra])
        assert found == sorted(names), extra


def test_what_an_extra_only_betters_goes_on_without(elision, monkeypatch):
    """Only a PNG needs the extra for drawing."""
    without(monkeypatch, "draw")
    status, _, _ = elision("draw", "script.json", "-o", "picture.svg")
    assert status == 0
    assert "picture.svg" in files()
