"""``elision pack``, learning from what it packed, and how much memory that takes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import elision as el
from commands import refused, run, write

TELLINGS = el.examples.doorbell_tellings()


@pytest.fixture
def files(tmp_path):
    write(tmp_path / "a.jsonl", TELLINGS[:12])
    write(tmp_path / "b.jsonl", TELLINGS[12:])
    return tmp_path


def test_pack_then_learn(files, monkeypatch, capsys):
    folder, script = files / "packed", files / "script.json"
    done = run(monkeypatch, capsys, "pack", files / "a.jsonl", files / "b.jsonl", "-o", folder)
    assert done[0] == 0
    assert done[1].startswith("20 narratives, 19 of them different.\n")
    status, out, _ = run(monkeypatch, capsys, "learn", folder, "-o", script)
    assert (status, " 20 " in out) == (0, True)
    assert el.load(script).about["narratives"] == 20
    write(files / "all.jsonl", TELLINGS)
    other = files / "other.json"
    command = ("learn", files / "all.jsonl", "-o", other, "--memory", "64 MiB", "--json")
    status, out, err = run(monkeypatch, capsys, *command)
    assert status == 0
    assert json.loads(out)[0]["narratives"] == 20
    assert err == ""
    assert other.read_bytes() == script.read_bytes()
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


def test_what_is_packed_as_json(files, monkeypatch, capsys):
    command = ("pack", files / "a.jsonl", "-o", files / "p", "--json")
    found = json.loads(run(monkeypatch, capsys, *command)[1])
    assert found["domains"] == {"": {"narratives": 12, "distinct": 11, "events": 10, "parts": 1}}


def test_learning_says_that_it_took_a_sample(files, monkeypatch, capsys):
    monkeypatch.setattr("elision.scale.sampling.MOST_NARRATIVES", 10)
    monkeypatch.setattr("elision.learn.learner.MOST_NARRATIVES", 10)
    command = ("learn", files / "a.jsonl", "-o", files / "s.json")
    assert "learned from a sample of 10 of 12 narratives\n" in run(monkeypatch, capsys, *command)[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pack", "a.jsonl", "-o", "p", "--memory", "few"), "no size of memory"),
        (("pack", "a.jsonl", "-o", "a.jsonl"), "other than a packed corpus"),
        (("pack", "none.jsonl", "-o", "p"), "no such file"),
        (("learn", ".", "-o", "s.json"), "no packed corpus in this folder"),
        (("learn", "a.jsonl", "-o", "s.json", "--memory", "1 GiB", "--domain", "x"), "no domain"),
        (("learn", "a.jsonl", "-o", "s.json", "--memory", "1 GiB", "--sentences"), "only events"),
    ],
)
def test_what_cannot_be_done(files, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(files)
    assert said in refused(run(monkeypatch, capsys, *arguments))
    assert {path.name for path in files.iterdir()} == {"a.jsonl", "b.jsonl"}


MEASURED = """
import resource, sys
import elision as el
el.set_threads(1)
el.pack(sys.argv[1], sys.argv[3], memory="16 MiB")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
el.pack(sys.argv[2], sys.argv[3], memory="16 MiB")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise")
def test_memory_is_bounded(files, tmp_path):
    names = [f"event {k}" for k in range(100)]
    with (tmp_path / "big.jsonl").open("w") as file:
        for k in range(60_000):
            told = [names[k // 100**place % 100] for place in range(3)] * 4
            file.write(json.dumps({"events": told}) + "\n")
    command = [sys.executable, "-c", MEASURED, files / "a.jsonl", tmp_path / "big.jsonl"]
    done = subprocess.run([*command, tmp_path / "p"], check=True, capture_output=True)
    assert el.PackedCorpus.open(tmp_path / "p").distinct == 60_000
    assert int(done.stdout) < 40 * 1024  # read whole, the file takes 100 MiB
