"""Real omissions: what is asked, how rankings are judged, and that nothing leaks."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import omissions
from elision.evaluate.omissions import Judged, Recording, judge, measure, recordings_of

TEXTS = {"1": "boil water", "2": "warm the pot", "3": "add tea", "4": "pour"}
SETS = ["1234", "134", "1234", "124", "1234", "234", "1324", "1234", "123", "1234"]


def tea():
    """Ten ways to make tea; what is not told was left out."""
    return el.Corpus(
        el.Narrative(
            tuple(told),
            tuple(TEXTS[event] for event in told),
            "tea",
            str(place),
            extra={"missing": sorted(set(TEXTS) - set(told))} if len(told) < 4 else {},
        )
        for place, told in enumerate(SETS)
    )


def test_recordings_have_the_texts_of_their_steps():
    (found,) = recordings_of(tea()).values()
    assert found[1] == Recording(("boil water", "add tea", "pour"), frozenset({"warm the pot"}))
    assert found[0].missing == frozenset()


def test_texts_that_stand_for_two_events_are_no_names_and_what_is_told_is_not_missing():
    one = el.Narrative(("1", "2", "3"), ("stir", "stir", "eat"), "x", extra={"missing": ["3", "9"]})
    assert recordings_of(el.Corpus([one]))["x"] == [Recording(("1", "2", "eat"), frozenset({"9"}))]


def test_what_has_no_omissions_is_refused():
    with pytest.raises(el.InputError, match="no narrative has a field 'missing'"):
        recordings_of(el.Corpus.of([["a", "b"]], domain="x"))
    one = el.Narrative(("1",), domain="x", extra={"missing": "2"})
    with pytest.raises(el.InputError, match="missing is '2', expected a list"):
        recordings_of(el.Corpus([one]))
    with pytest.raises(el.InputError, match="2 recordings, expected 5 or more"):
        measure({"x": [Recording(("a",), frozenset("b"))] * 2})


def test_rankings_by_hand():
    events = ["a", "b", "c", "d"]
    one = Recording(("a",), frozenset({"b", "d"}))
    score = np.array([0.4, 0.3, 0.2, 0.1])
    assert judge(score, events, one) == Judged(0.5, 0.0, (1 / 2 + 2 / 4) / 2)
    # Ties go against what is missing, and what has no name is not found.
    assert judge(np.ones(4), events, one) == Judged(0.0, 0.0, (1 / 3 + 2 / 4) / 2)
    assert judge(np.zeros(4), events, one).hit == 0
    unknown = Recording(("a",), frozenset({"b", "z"}))
    assert judge(score[::-1], events, unknown) == Judged(0.0, 0.0, 1 / 3 / 2)


def test_nobody_learns_from_the_recording_that_is_asked():
    recordings = [
        Recording(tuple(f"{event}{place}" for event in "ab"), frozenset({"c"}))
        for place in range(7)
    ]
    asked_of = []

    def spy(train, asked, events, random_state):
        assert not set(train) & set(asked)
        assert len(train) + len(asked) == len(recordings)
        asked_of.extend((random_state, told) for told in asked)
        return {"default, spy": np.zeros((len(asked), len(events)))}

    seen = []
    result = measure({"x": recordings}, seeds=2, answer=spy, progress=lambda *at: seen.append(at))
    assert seen == [(0, 2, "x"), (1, 2, "x")]
    assert sorted(asked_of) == sorted((s, one.told) for s in range(2) for one in recordings)
    assert result["recordings"] == 7
    measures = {"precision": 0, "hit": 0, "average_precision": 0}
    assert result["methods"] == [{"method": "default, spy", **measures}]


def test_a_file(tmp_path, capsys):
    tea().to_jsonl(tmp_path / "tea.jsonl")
    arguments = [str(tmp_path / "tea.jsonl"), "--seeds", "1"]
    assert omissions.main([*arguments, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == "1 of 1: tea\n"
    result = json.loads(told.out)
    assert result["recordings"] == 4
    assert result["obligatory"] == 1
    rows = {row["method"]: row for row in result["methods"]}
    assert set(rows) == {
        *("Frequency", "BidirectionalBigram", "LogisticGap"),
        *(f"{name}, {how}" for name in ("marginal", "default") for how in ("anywhere", "missing")),
        "default, unsaid",
    }
    for row in rows.values():
        assert all(0 <= row[name] <= 1 for name in omissions.MEASURES)
    assert rows["Frequency"]["hit"] == 1
    printed = omissions.tables(result)
    assert "| default, anywhere above LogisticGap |" in printed
    assert "| Method | P@m | hit@1 | MAP |\n" in printed
    assert "untold" not in printed


def test_bad_input_is_one_line(tmp_path, capsys):
    el.Corpus.of([["a", "b"]], domain="x").to_jsonl(tmp_path / "x.jsonl")
    assert omissions.main([str(tmp_path / "x.jsonl")]) == 2
    assert omissions.main([str(tmp_path / "x.jsonl"), "--seeds", "0"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
