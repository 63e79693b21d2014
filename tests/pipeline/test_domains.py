"""Many domains: the same scripts wherever they are learned, and one that fails stops no other."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import commands
import elision as el
from commands import files, write
from elision.pipeline import learning

TOO_LONG = [["ring"] * 9000]


def stories(**more):
    told = [["ring", "open"], ["ring", "open", "close"], ["ring", "close"]]
    return {"a": told, **more, "z": told}


@pytest.mark.parametrize("method", ["approx", "default"])
def test_one_that_fails_is_reported_at_the_end(elision, method):
    write("stories.jsonl", stories(bad=TOO_LONG))
    learn = ("learn", "stories.jsonl", "--method", method, "-o")
    status, out, err = elision(*learn, "scripts", "--json")
    assert status == 1
    assert [one["domain"] for one in json.loads(out)] == ["a", "z"]
    first, second = err.splitlines()
    assert first.startswith("elision: bad: narratives[0]")
    assert "9000 events, expected at most 8192" in first
    assert second == "elision: 1 domain failed, the others are learned"
    assert {"a.json", "z.json"} <= set(files("scripts"))
    assert "bad.json" not in files("scripts")


def test_a_single_domain_is_refused_as_ever(elision):
    write("story.jsonl", TOO_LONG)
    err = commands.refused(elision("learn", "story.jsonl", "-o", "script.json"))
    assert "9000 events, expected at most 8192" in err


def test_what_goes_wrong_while_a_script_is_learned(elision, monkeypatch):
    fit = el.ScriptLearner.fit

    def fails(learner, told, y=None, **options):
        if learner.title == "bad":
            raise ZeroDivisionError("nothing to divide by")
        return fit(learner, told, y, **options)

    monkeypatch.setattr(el.ScriptLearner, "fit", fails)
    write("stories.jsonl", stories(bad=[["ring"]]))
    status, _, err = elision("learn", "stories.jsonl", "-o", "scripts")
    assert status == 1
    assert err.splitlines()[0] == "elision: bad: ZeroDivisionError: nothing to divide by"
    assert sorted(Path("scripts").iterdir()) == [Path("scripts/a.json"), Path("scripts/z.json")]


# Elsewhere

STORY = [f"step {number}" for number in range(12)]


def many(number):
    kept = np.random.default_rng(number).random((number, 6, len(STORY))) < 0.67
    return {
        f"story {k}": [[step for step, here in zip(STORY, row, strict=True) if here] for row in one]
        for k, one in enumerate(kept)
    }


def scripts(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.json")}


@pytest.mark.parametrize("method", ["approx", "default"])
@pytest.mark.parametrize("where", [("--jobs", "2"), ("--dask", "local:2")], ids="".join)
def test_the_same_bytes_wherever_they_are_learned(elision, method, where):
    if "--dask" in where:
        pytest.importorskip("distributed")
    write("stories.jsonl", many(4))
    learn = ("learn", "stories.jsonl", "--method", method, "-o")
    status, here, said = elision(*learn, "here", "--json")
    assert status == 0
    status, there, also_said = elision(*learn, "there", "--json", *where)
    assert (status, sorted(also_said.splitlines())) == (0, sorted(said.splitlines()))
    assert json.loads(there.replace("there/", "here/")) == json.loads(here)
    assert scripts("there") == scripts("here")
    assert files("there") == files("here")


def test_the_same_bytes_although_a_worker_is_killed(elision, monkeypatch):
    write("stories.jsonl", many(8))
    learn = ("learn", "stories.jsonl", "--method", "approx", "-o")
    assert elision(*learn, "here")[0] == 0
    written = []
    write_atomically = learning.write_atomically

    def kill_a_worker(path, content):
        write_atomically(path, content)
        written.append(path)
        if len(written) == 1:
            from joblib.externals.loky import reusable_executor

            os.kill(next(iter(reusable_executor._executor._processes)), signal.SIGKILL)

    monkeypatch.setattr(learning, "write_atomically", kill_a_worker)
    status, _, err = elision(*learn, "there", "--jobs", "2")
    assert (status, err) == (0, "")
    assert len(written) == 8
    assert scripts("there") == scripts("here")
    assert files("there") == files("here")


def test_one_that_fails_elsewhere(elision):
    write("stories.jsonl", stories(bad=TOO_LONG))
    learn = ("learn", "stories.jsonl", "--method", "approx", "-o")
    status, out, err = elision(*learn, "scripts", "--json", "--jobs", "2")
    assert status == 1
    assert [one["domain"] for one in json.loads(out)] == ["a", "z"]
    assert "9000 events, expected at most 8192" in err
    assert err.splitlines()[-1] == "elision: 1 domain failed, the others are learned"
    assert files("scripts") == ["a.json", "z.json"]


def test_no_cluster(elision):
    pytest.importorskip("distributed")
    write("stories.jsonl", stories())
    err = commands.refused(elision("learn", "stories.jsonl", "-o", "s", "--dask", "local:x"))
    assert "expected a number of processes such as 'local:2'" in err
