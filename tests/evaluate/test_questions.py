"""The measurements of questions, on small corpora where the answer is known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import questions
from elision.evaluate.detecting import altered, area, bigram_costs
from elision.evaluate.faults import backwards
from elision.evaluate.identifying import naive_bayes
from elision.evaluate.ordering import mean_positions, pair_counts

TEA = [
    ["fill kettle", "boil water", "pour water", "drink tea"],
    ["fill kettle", "pour water", "drink tea"],
    ["boil water", "pour water", "add milk", "drink tea"],
    ["fill kettle", "boil water", "pour water", "add milk", "drink tea"],
    ["boil water", "pour water", "drink tea"],
] * 3


@pytest.fixture
def corpus(tmp_path):
    door = el.Corpus.of(el.examples.doorbell_tellings(), domain="door")
    path = tmp_path / "two.jsonl"
    el.Corpus([*door, *el.Corpus.of(TEA, domain="tea")]).to_jsonl(path)
    return str(path)


@pytest.mark.parametrize("question", ["identify", "order", "detect"])
def test_the_command_prints_tables_and_numbers(question, corpus, capsys):
    arguments = [question, corpus, "--seeds", "1", "--method", "marginal"]
    assert questions.main(arguments) == 0
    assert "|---" in capsys.readouterr().out
    assert questions.main([*arguments, "--json"]) == 0
    (rows,) = json.loads(capsys.readouterr().out).values()
    found = {row["name"]: row for row in rows}
    if question == "identify":
        assert found["library"]["mean"] == 1.0
        assert found["naive Bayes"]["mean"] == 1.0
        assert found["foreign found"]["mean"] == 1.0
    elif question == "order":
        assert found["marginal"]["mean"] > 0.9
        assert found["mean position"]["mean"] > 0.9
    else:
        assert found["oddness"]["foreign event"] == 1.0
        assert found["oddness"]["two swapped"] > 0.7
        assert found["length"]["two swapped"] == 0.5


def test_tellings_told_backwards_are_called_odd(corpus, capsys):
    assert questions.main(["odd", corpus, "--seeds", "1", "--json"]) == 0
    (rows,) = json.loads(capsys.readouterr().out).values()
    assert [row["name"] for row in rows] == ["events known", "as told"]
    for row in rows:
        assert row["all backwards"] > 0.6
        assert row["four backwards"] > row["untouched"]
        assert all(0 <= share <= 1 for name, share in row.items() if name != "name")
    assert rows[0]["foreign step"] == 1.0


def test_events_told_backwards_keep_their_order_the_other_way_round():
    rng = np.random.default_rng(0)
    case = tuple("abcdef")
    for _ in range(20):
        found = backwards(case, rng, 4)
        assert len(found) == 4
        assert sorted(found, reverse=True) == list(found)
    assert backwards(case, rng) == tuple("fedcba")
    assert backwards(("a", "b", "c"), rng, 4) is None
    assert backwards(tuple("aaaa"), rng, 4) is None


def test_the_default_is_asked_by_its_own_methods(monkeypatch, corpus, capsys):
    asked = []

    def order(script, events):
        asked.append(tuple(events))
        return el.ask.order.order(script, events)

    def conform(script, narratives):
        asked.append("conform")
        return el.ask.score.conform(script, narratives)

    monkeypatch.setattr(el.Script, "order", order)
    monkeypatch.setattr(el.Script, "conform", conform)
    assert questions.main(["order", corpus, "--seeds", "1", "--json"]) == 0
    (rows,) = json.loads(capsys.readouterr().out).values()
    names = ["default", "likeliest telling", "mean position", "pairs in training"]
    assert [row["name"] for row in rows] == names
    assert asked
    asked.clear()
    assert questions.main(["detect", corpus, "--seeds", "1", "--json"]) == 0
    assert set(asked) == {"conform"}


def test_bad_input_is_one_line(corpus, capsys, tmp_path):
    assert questions.main(["order", str(tmp_path / "missing.jsonl")]) == 2
    assert questions.main(["order", corpus, "--seeds", "0"]) == 2
    el.Corpus.of([["a", "b"]]).to_jsonl(tmp_path / "small.jsonl")
    assert questions.main(["order", str(tmp_path / "small.jsonl")]) == 2
    assert capsys.readouterr().err.count("\n") == 3


def test_deviations_are_what_they_are_called():
    rng = np.random.default_rng(0)
    made = altered([["a", "b", "b", "c"]] * 20, [["a", "b"]] * 5 + [["c"]], ["x"], rng)
    for telling in made["two swapped"]:
        assert telling != ["a", "b", "b", "c"]
        assert sorted(telling) == ["a", "b", "b", "c"]
    assert all(telling.count("x") == 1 for telling in made["foreign event"])
    assert all(len(telling) == 3 and "c" in telling for telling in made["key step missing"])
    assert all(len(telling) == 5 for telling in made["own event misplaced"])


def test_baselines():
    assert area([1.0, 1.0], [1.0]) == 0.5
    cost = bigram_costs([["a", "b"]], ["a", "b"], added=1.0)(["a", "x"])
    # Four outcomes (a, b, unknown, end), one count each; start -> a was seen once more.
    assert cost == pytest.approx([np.log(5 / 2), np.log(5), np.log(4)])
    assert mean_positions([["a", "b"], ["b"]]) == {"a": 0.25, "b": 0.625}
    assert pair_counts([["a", "b"]], ["a", "b"])[0, 1] == pytest.approx(1.5 / 2)
    train = el.Corpus([*el.Corpus.of([["a", "a"]], domain="x"), *el.Corpus.of([["b"]], domain="y")])
    assert naive_bayes(train, [["a"], ["b"], ["b", "b"]], ["x", "y", "x"]) == pytest.approx(2 / 3)
