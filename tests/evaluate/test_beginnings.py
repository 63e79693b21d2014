"""Beginnings are judged as such, and what was hidden later is not counted."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import elision as el
from elision.evaluate import beginnings
from elision.evaluate.beginnings import Case, Tally, ask, cut

POST = [["write", "seal", "stamp", "post"], ["write", "stamp", "seal", "post"]] * 12


def test_what_was_hidden_after_the_cut_is_left_out():
    hidden = Counter({(0, "z"): 1, (2, "y"): 1, (4, "x"): 1})
    for seed in range(20):
        whole, begun = cut(("a", "b", "c", "d"), hidden, np.random.default_rng(seed))
        assert whole == Case(("a", "b", "c", "d"), hidden, finished=True)
        assert begun.told == whole.told[: len(begun.told)]
        assert 1 <= len(begun.told) < 4
        assert dict(begun.hidden) == {(0, "z"): 1} | ({(2, "y"): 1} if len(begun.told) == 3 else {})


def test_stated_and_true_are_counted_place_by_place():
    script = el.ScriptLearner().fit(POST).script_
    tally = Tally()
    ask(script, Case(("write", "stamp"), Counter({(1, "seal"): 1}), finished=False), tally)
    found = tally.figures()
    story = script.between(["write", "stamp", ...], min_probability=0.0)
    stated = sum(one.probability for gap in story.unsaid for one in gap)
    assert found["between"]["stated"] == pytest.approx(stated)
    assert (found["tellings"], found["between"]["true"], found["missing"]["true"]) == (1, 1.0, 1.0)
    assert len(tally.said["missing"]) == 2 * len(script.events)
    ask(script, Case(("write", "stamp"), Counter(), finished=True), tally)
    assert len(tally.said["missing"]) == (2 + 3) * len(script.events)


def test_the_command_prints_whole_tellings_beside_beginnings(tmp_path, capsys):
    file = tmp_path / "post.jsonl"
    file.write_text("".join(json.dumps({"events": one, "domain": "post"}) + "\n" for one in POST))
    assert beginnings.main([str(file), "--seeds", "1"]) == 0
    shown = capsys.readouterr().out
    assert "## post" in shown
    assert "| whole | " in shown
    assert "| not finished | " in shown
    assert beginnings.main([str(file), "--seeds", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["files"]["post"]
    assert figures["whole"]["tellings"] == figures["begun"]["tellings"]
    assert figures["begun"]["between"]["true"] <= figures["whole"]["between"]["true"]
