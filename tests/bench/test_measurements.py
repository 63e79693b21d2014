"""Each script of `benchmarks` that docs/results.md needs runs, on tiny corpora."""

from __future__ import annotations

import importlib
import json
import runpy
from pathlib import Path

import pytest

import elision as el
from labelled import own_tellings
from mornings import TEN, corpus

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

GRAPH = {
    "domain": "tea",
    "before": [
        ["START", "boil"],
        ["boil", "pour"],
        ["boil", "cup"],
        ["pour", "END"],
        ["cup", "END"],
    ],
    "narratives": [["boil", "pour", "cup"], ["boil", "cup", "pour"]] * 3,
    "with_errors": [["boil", "pour"], ["cup", "boil", "pour"]],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "graphs.jsonl").write_text(json.dumps(GRAPH) + "\n")
    corpus(1).to_jsonl(folder / "days.jsonl")
    evenings = [[event.upper() for event in one] for one in TEN]
    two = [*corpus(1), *el.Corpus.of(evenings, domain="evening")]
    el.Corpus(two).to_jsonl(folder / "two.jsonl")
    el.Corpus.of(TEN * 6).to_jsonl(folder / "log.jsonl")
    own_tellings().domain("making tea")[:12].to_jsonl(folder / "tea.jsonl")
    (folder / "pairs.jsonl").write_text(
        json.dumps(
            {"tellings": [["open it", "shut it"], ["open it", "close it"]], "apart": [[0, 1]]}
        )
    )
    return folder


def measured(name, *arguments, capsys):
    assert importlib.import_module(name).main([*map(str, arguments), "--seeds", "1"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("ablation", ("days.jsonl", "--min-narratives", "5", "--jobs", "1"), "without history"),
        ("outlines", ("graphs.jsonl", "days.jsonl"), "all recordings, with errors"),
        ("silences", ("days.jsonl",), "0.9 or more, %"),
        ("beginnings", ("days.jsonl",), "not finished"),
        ("following", ("two.jsonl",), "foreign refused"),
        ("odd", ("days.jsonl",), "four backwards"),
        ("sentences", ("types", "tea.jsonl"), "verb lemma"),
        ("sentences", ("taught", "tea.jsonl"), "nearest neighbour"),
        ("sentences", ("gaps", "tea.jsonl"), "types as grouped"),
        ("sentences", ("pairs", "pairs.jsonl"), "kept apart"),
        ("repair", ("log.jsonl", "--share", ".2"), "neighbours"),
    ],
)
def test_measurements_print_their_tables(name, arguments, expected, folder, capsys, monkeypatch):
    if name == "ablation":  # each feature takes its time
        monkeypatch.setattr(importlib.import_module(name), "FEATURES", ("history",))
    files = [folder / one if one.endswith(".jsonl") else one for one in arguments]
    assert expected in measured(name, *files, capsys=capsys)


def test_scripts_drawn_by_chance_know_what_was_left_untold(monkeypatch, capsys):
    silences = importlib.import_module("silences")
    monkeypatch.setattr(silences, "TELLINGS", (30,))
    monkeypatch.setattr(silences, "ASKED", 20)
    rows = json.loads(measured("silences", "--json", capsys=capsys))
    assert len(rows) == 2
    for row in rows:  # nobody knows more than the script that was drawn
        assert 0.5 < row["AP"] < row["AP, known"]


def test_a_file_that_is_missing_gets_one_line(tmp_path, capsys):
    assert importlib.import_module("odd").main([str(tmp_path / "none.jsonl")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_can_be_loaded(path):
    runpy.run_path(str(path), run_name=path.stem)
