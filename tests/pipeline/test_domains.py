"""Many domains learned in this process: one that fails does not stop the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import commands
import elision as el
from commands import files, write
from elision.pipeline import domains

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

    # When it is mended, and the run goes on, no progress is left.
    write("stories.jsonl", stories(bad=[["ring", "open"]] * 2))
    assert elision(*learn, "scripts", "--resume")[0] == 0
    assert files("scripts") == ["a.json", "bad.json", "z.json"]


def test_of_packed_domains_too(elision):
    write("stories.jsonl", stories(bad=TOO_LONG))
    assert elision("pack", "stories.jsonl", "-o", "packed")[0] == 0
    status, out, err = elision("learn", "packed", "-o", "scripts", "--json")
    assert status == 1
    assert [one["domain"] for one in json.loads(out)] == ["a", "z"]
    assert err.splitlines()[-1] == "elision: 1 domain failed, the others are learned"
    assert files("scripts") == ["a.json", "z.json"]


def test_a_single_domain_is_refused_as_ever(elision):
    write("story.jsonl", TOO_LONG)
    err = commands.refused(elision("learn", "story.jsonl", "-o", "script.json"))
    assert "9000 events, expected at most 8192" in err


def test_when_too_many_fail_the_rest_is_not_begun(elision, monkeypatch):
    monkeypatch.setattr(domains, "MOST_FAILURES", 1)
    write("stories.jsonl", stories(b=TOO_LONG, c=TOO_LONG, d=TOO_LONG))
    status, _, err = elision("learn", "stories.jsonl", "-o", "scripts", "--method", "approx")
    assert status == 1
    assert err.splitlines()[-1] == "elision: 2 domains failed, so the others were not begun"


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
