"""The program of docs/examples that watches a stream of events, run as it stands."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path

import pytest

import elision as el
from elision.ask.follow import Skipped

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PATIENCE = 60
QUIET = ("hear doorbell", "walk to door", "open door", "greet visitor")
ODD = ("walk to door", "hear doorbell", "open door")


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    path = tmp_path_factory.mktemp("watched") / "door.json"
    el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.save(path)
    return path


def spoken(script, told):
    """What a watcher says: each alarm once, after the event that raised it."""
    follow, lines = script.follow(), []
    for event in told:
        for alarm in follow.tell(event).alarms:
            what = (
                f"skipped: {alarm.step}"
                if isinstance(alarm, Skipped)
                else f"out of order: {alarm.event}, which usually comes before {alarm.before}"
            )
            if not any(line.endswith(what) for line in lines):
                lines.append(f"after {event}: {what}")
    return lines


def watch(*command, told=QUIET):
    text = "".join(f"{event}\n" for event in told)
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("told", [QUIET, ODD])
def test_python(door, told):
    expected = spoken(el.load(door), told)
    assert bool(expected) == (told is ODD)
    assert watch(sys.executable, EXAMPLES / "watch.py", door, told=told) == expected


def test_python_speaks_at_once(door):
    command = [sys.executable, EXAMPLES / "watch.py", door]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write("".join(f"{event}\n" for event in ODD))
        process.stdin.flush()
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        assert process.stdout.readline() == f"{spoken(el.load(door), ODD)[0]}\n"
        process.communicate(timeout=PATIENCE)


def test_it_is_short():
    assert len((EXAMPLES / "watch.py").read_text().splitlines()) <= 40
