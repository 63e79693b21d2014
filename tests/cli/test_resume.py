"""`elision learn` interrupted, and resumed."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
from pathlib import Path

import pytest

import commands
import elision as el
from commands import files, start, wait_for, write
from elision.learn.checkpoint import Checkpoint
from elision.learn.observe import BatchDone

TELLINGS = el.examples.doorbell_tellings()
APPROX = ("--method", "approx")
MARGINAL = ("--method", "marginal")


class Seen(list):
    interrupt_after = None

    def add(self, name):
        self.append(name)
        if name == self.interrupt_after:
            raise KeyboardInterrupt


@pytest.fixture
def batches(monkeypatch):
    """The batches that are learned, by the first letter of their file; Ctrl-C comes after one."""
    done = Seen()
    keep = Checkpoint.__call__

    def observe(checkpoint, event, model):
        keep(checkpoint, event, model)
        if isinstance(event, BatchDone):
            done.add(f"{checkpoint.path.name[0]}{event.batch}")

    monkeypatch.setattr(Checkpoint, "__call__", observe)
    return done


@pytest.mark.parametrize("method", [APPROX, MARGINAL], ids=["approx", "marginal"])
def test_resumed_after_the_last_complete_batch(elision, batches, method):
    write("stories.jsonl", TELLINGS)
    learn = ("learn", "stories.jsonl", *method, "-o")
    elision(*learn, "whole.json")
    batches.clear()
    batches.interrupt_after = "s2"
    status, out, err = elision(*learn, "script.json")
    assert (status, out) == (130, "")
    assert err == "elision: interrupted (--resume goes on after what is complete)\n"
    assert files() == ["script.json.progress", "stories.jsonl", "whole.json"]
    assert elision(*learn, "script.json", "--resume")[::2] == (0, "")
    assert batches == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert files() == ["script.json", "stories.jsonl", "whole.json"]

    batches.clear()
    elision(*learn, "script.json")
    elision(*learn, "script.json", "--resume", "--restart", "--seed", "3")  # of another fit
    assert batches == ["s1", "s2", "s1", "s2"]
    elision(*learn, "script.json")  # without --resume
    assert batches[4:] == ["s1", "s2"]
    batches.interrupt_after = None
    batches.clear()
    elision(*learn, "script.json", "--resume", "--json")
    assert batches == ["s3", "s4"]
    elision(*learn, "script.json", "--resume")  # nothing is left to resume
    assert batches[2:] == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()


def test_a_full_disk(refused, elision, batches, monkeypatch):
    write("stories.jsonl", TELLINGS)
    elision("learn", "stories.jsonl", *APPROX, "-o", "whole.json")
    batches.clear()
    synced = os.fsync

    def fsync(descriptor):
        if len(batches) == left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    left = 2
    err = refused("learn", "stories.jsonl", *APPROX, "-o", "script.json")
    assert err == "elision: script.json.progress: cannot be written: No space left on device\n"
    assert files() == ["script.json.progress", "stories.jsonl", "whole.json"]
    left = 4
    err = refused("learn", "stories.jsonl", *APPROX, "-o", "script.json", "--resume")
    assert err == "elision: script.json: cannot be written: No space left on device\n"
    left = None
    assert elision("learn", "stories.jsonl", *APPROX, "-o", "script.json", "--resume")[0] == 0
    assert batches == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert files() == ["script.json", "stories.jsonl", "whole.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"\xff" + content,
        lambda content: content.replace(b'"format": "', b'"format": "\xff'),
        lambda content: content.replace(b'"states":', b'"stakes":'),
        lambda content: b"[" + content + b"]",
        lambda content: json.dumps(json.loads(content) | {"history": []}).encode(),
        lambda content: json.dumps(json.loads(content) | {"states": 1}).encode(),
        lambda content: json.dumps(json.loads(content) | {"states": -1}).encode(),
    ],
)
def test_damaged_progress(refused, elision, batches, damage):
    write("stories.jsonl", TELLINGS)
    batches.interrupt_after = "s2"
    elision("learn", "stories.jsonl", *APPROX, "-o", "script.json")
    progress = Path("script.json.progress")
    damaged = damage(progress.read_bytes())
    progress.write_bytes(damaged)
    err = refused("learn", "stories.jsonl", *APPROX, "-o", "script.json", "--resume")
    assert re.search(r"script.json.progress: (no|damaged) progress file: ", err)
    assert "(delete it to start anew)" in err
    assert progress.read_bytes() == damaged


@pytest.mark.parametrize(
    ("method", "sent"),
    [(APPROX, signal.SIGKILL), (MARGINAL, signal.SIGINT)],
    ids=["approx-killed", "marginal-interrupted"],
)
def test_a_signal_and_resuming(elision, method, sent):
    write("stories.jsonl", TELLINGS * 8)
    learn = ("learn", "stories.jsonl", *method, "-r", "1", "-o")
    with start(*learn, "script.json") as process:
        wait_for("script.json.progress", process)
        process.send_signal(sent)
        out, err = process.communicate(timeout=commands.PATIENCE)
    assert out == b""
    if sent == signal.SIGKILL:
        assert (process.returncode, err) == (-signal.SIGKILL, b"")
    else:
        assert process.returncode == 130
        assert err == b"elision: interrupted (--resume goes on after what is complete)\n"
        assert files() == ["script.json.progress", "stories.jsonl"]
    assert not Path("script.json").exists()
    assert elision(*learn, "script.json", "--resume")[::2] == (0, "")
    elision(*learn, "whole.json")
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert not Path("script.json.progress").exists()


def test_the_default_keeps_complete_scripts_and_no_progress(elision, monkeypatch):
    write("stories.jsonl", {"a": TELLINGS[:10], "b": TELLINGS[5:]})
    learn = ("learn", "stories.jsonl", "-o", "folder")
    fit = el.ScriptLearner.fit

    def interrupted(learner, narratives, **options):
        if learner.title == "b":
            raise KeyboardInterrupt
        return fit(learner, narratives, **options)

    with monkeypatch.context() as patched:
        patched.setattr(el.ScriptLearner, "fit", interrupted)
        assert elision(*learn) == (130, "", "elision: interrupted\n")
    assert files("folder") == ["a.json"]
    kept = Path("folder/a.json").read_bytes()
    assert elision(*learn)[::2] == (0, "")
    assert files("folder") == ["a.json", "b.json"]
    assert Path("folder/a.json").read_bytes() == kept
