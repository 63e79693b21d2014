"""Commands as processes: pipes that are closed or full, and terminals."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import elision as el
from commands import COMMAND, Terminal, finished, write

TELLINGS = el.examples.doorbell_tellings()
APPROX = ("--method", "approx")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_closed_and_full_standard_output(here):
    write("stories.jsonl", TELLINGS[:2])
    learn = ("learn", "stories.jsonl", *APPROX, "-o", "script.json", "--json")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:  # as of `elision learn ... | head -0`
        assert finished(*learn, stdout=pipe) == (1, None, b"")
    el.load("script.json")
    with Path("/dev/full").open("wb") as full:
        status, _, err = finished("--help", stdout=full)
    assert (status, err) == (2, b"elision: cannot go on: [Errno 28] No space left on device\n")
    shell = ["sh", "-c", '"$@" >&- 2>&- <&-', "sh", *COMMAND]
    assert subprocess.run([*shell, "--help"], check=False).returncode == 0
    assert subprocess.run([*shell, "learn"], check=False).returncode == 2


def test_nothing_but_json(here):
    write("stories.jsonl", TELLINGS[:2], "水\u202e")
    environment = os.environ | {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii"}
    learn = ("learn", "stories.jsonl", *APPROX, "-o", b"\xff.json")
    status, out, err = finished(*learn, "--json", env=environment)
    assert (status, err) == (0, b"")
    assert json.loads(out)[0]["domain"] == "水\u202e"
    assert os.fsencode(json.loads(out)[0]["path"]) == b"\xff.json"


@pytest.mark.parametrize(("method", "progress"), [("approx", "2/2"), ("default", "2/2")])
def test_in_a_terminal(here, method, progress):
    names = ["repairing a flat bicycle tire, then riding it", "[/] [red]"]
    write("stories.jsonl", dict.fromkeys(names, TELLINGS))
    status, text = Terminal("learn", "stories.jsonl", "-o", "folder", "--method", method).ended()
    assert status == 0
    assert progress in text
    assert "[/] [red] " in text
    table = text[text.rindex("domain") :]
    for heading in ("narratives", "states", "edges", "elision", "log-prob", "file"):
        assert heading in table
    assert "…" not in table
    assert max(map(len, table.splitlines()[1:])) <= 80


def test_help_is_quick():
    """Commands import what they need, not before: numba and scikit-learn take seconds."""
    listed = "import sys, elision.cli.entry; print(*sys.modules)"
    loaded = subprocess.run([COMMAND[0], "-c", listed], capture_output=True, text=True, check=True)
    slow = {"numba", "scipy", "sklearn", "pandas", "resvg_py", "networkx", "starlette"}
    assert not slow & set(loaded.stdout.split())
