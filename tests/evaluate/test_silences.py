"""Silence: scripts by chance are what they say, and outlines are asked what is counted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import silences
from elision.evaluate.cloze import calibration_error
from elision.evaluate.silences import (
    Passed,
    Silences,
    draw,
    measure_labels,
    measures,
    passed_steps,
    random_outline,
    silences_of,
    simulate,
)
from elision.values.outline import Outline, Step, Unit

POST = [
    ["write", "seal", "stamp", "post"],
    ["write", "stamp", "post"],
    ["write", "seal", "stamp", "post"],
    ["seal", "stamp", "post"],
    ["write", "seal", "post"],
] * 4


def made_outline(units, order, told):
    """An outline of the steps a, b, c … with these shares told; all happen and are told by half."""
    names = "abcdefg"[: len(told)]
    n = len(units)
    return Outline(
        tuple(Step(name, name, share, 0.5) for name, share in zip(names, told, strict=True)),
        tuple(Unit(one, (1 / len(one),) * len(one), happens) for one, happens in units),
        np.array(order, dtype=bool),
        np.zeros((n, n), dtype=np.int64),
    )


@pytest.mark.parametrize("own_rates", [False, True])
def test_scripts_by_chance_are_as_described(own_rates):
    spread = []
    for seed in range(20):
        outline = random_outline(np.random.default_rng(seed), own_rates=own_rates)
        # Units of one part have the same units before them.
        parts = len({tuple(column) for column in outline.order.T.tolist()})
        assert 7 <= parts <= 12
        elision = [1 - step.telling for step in outline.steps]
        assert min(elision) >= 0.1 - 1e-12
        assert max(elision) <= 0.6 + 1e-12
        spread.append(max(elision) - min(elision))
        for unit in outline.units:
            assert all(
                len(branch) <= (1 if len(unit.branches) == 1 else 2) for branch in unit.branches
            )
            assert len(unit.branches) <= 3
            assert unit.happens == 1 or 0.3 <= unit.happens <= 0.7
    assert max(spread) > 0.4 if own_rates else max(spread) <= 0.2


def test_courses_agree_with_their_script():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        outline = random_outline(rng, own_rates=True)
        often = np.zeros(len(outline.steps))
        for _ in range(200):
            happened, told = draw(outline, rng)
            often[told] += 1
            assert len(set(happened)) == len(happened)
            assert [step for step in happened if step in told] == told
            for unit in outline.units:
                taken = [branch for branch in unit.branches if set(branch) & set(happened)]
                assert len(taken) <= 1
                assert taken or unit.happens < 1
                assert not taken or set(taken[0]) <= set(happened)
            places = [outline.unit_of[step] for step in happened]
            backwards = outline.order[np.ix_(places, places)]
            assert not np.tril(backwards).any()
        shares = np.array([step.told for step in outline.steps])
        np.testing.assert_allclose(often / 200, shares, rtol=0, atol=0.15)


def test_any_order_is_any_order():
    rng = np.random.default_rng(0)
    outline = made_outline([(((0,),), 1), (((1,),), 1), (((2,),), 1)], np.zeros((3, 3)), [0.5] * 3)
    assert len({tuple(draw(outline, rng)[0]) for _ in range(100)}) == 6


def test_the_script_itself_is_calibrated():
    known, happened = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        outline = random_outline(rng, own_rates=False)
        for _ in range(150):
            course, told = draw(outline, rng)
            chances = outline.happened(told)
            for step in set(range(len(outline.steps))).difference(told):
                known.append(chances[step])
                happened.append(step in course)
    assert calibration_error(np.array(known), np.array(happened)) < 0.015


def test_calibration_by_hand():
    chances = np.array([0.95, 0.85, 0.82, 0.1, 1.0])
    true = np.array([True, False, True, False, True])
    # Bins of 0.8, 0.9 with 1.0, and 0.1.
    error = 2 / 5 * abs(0.5 - 0.835) + 2 / 5 * (1 - 0.975) + 1 / 5 * 0.1
    assert calibration_error(chances, true) == pytest.approx(error, rel=1e-9)


def test_untold_steps_and_what_is_said_of_them():
    known = made_outline(
        [(((0,),), 1), (((1,),), 1), (((2,),), 0.5)],
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
        [0.5, 0.5, 0.25],
    )
    known = Outline(
        tuple(Step(str(n), str(n), s.told, 0.5) for n, s in enumerate(known.steps)),
        *(known.units, known.order, known.pairs),
    )
    # Nobody tells the last one: it is on no outline.
    tellings = [[0, 1], [0], [1], []] * 5
    found = silences_of(known, tellings, [([0, 1, 2], [0]), ([0, 1], [0, 1])])
    assert found.happened.tolist() == [True, True, False]
    np.testing.assert_allclose(found.frequency, [0.5, 0, 0], rtol=0, atol=0)
    np.testing.assert_allclose(found.known, [1, 1 / 3, 1 / 3], rtol=1e-12)
    assert found.predicted[0] > 0.5
    assert found.predicted[1:].tolist() == [0, 0]


def test_measures_over_scripts_and_within():
    one = Silences(
        predicted=np.array([0.9, 0.1]),
        frequency=np.array([0.1, 0.9]),
        known=np.array([1.0, 0.0]),
        happened=np.array([True, False]),
    )
    other = Silences(*(np.array([0.3, 0.3]),) * 3, np.array([False, False]))
    found = measures([one, other])
    assert found["cases"] == 4
    assert found["happened"] == 0.25
    assert found["ece"] == pytest.approx(0.25 * 0.1 + 0.25 * 0.1 + 0.5 * 0.3, rel=1e-9)
    assert found["ap"] == 1
    assert found["ap_frequency"] == pytest.approx(1 / 4, rel=1e-12)
    # Where nothing happened there is nothing to rank.
    assert found["within"]["ap_frequency"] == 0.5
    assert found["within"]["ece"] == pytest.approx(0.1, rel=1e-9)
    assert found["ahead_of_frequency"] == 1
    assert not found["reached"]
    assert measures([one._replace(predicted=np.array([0.96, 0.04]))])["reached"]


def test_seeds_reproduce(monkeypatch):
    monkeypatch.setattr(silences, "TELLINGS", (20, 40))
    monkeypatch.setattr(silences, "ASKED", 10)
    rows = simulate(2)
    assert rows == simulate(2)
    assert [(row["rates"], row["tellings"]) for row in rows] == [
        (rates, size) for rates in silences.RATES for size in (20, 40)
    ]
    for row in rows:
        assert row["scripts"] == 2
        assert row["ap_known"] > row["ap_frequency"]
    assert rows[0]["cases"] == rows[1]["cases"] != rows[2]["cases"]


def test_passed_steps_are_usual_alone_and_behind():
    # a before b before c; d or e instead of each other, before c; f anywhere; g seldom told.
    order = np.zeros((6, 6))
    order[0, 1:3] = order[1, 2] = order[3, 2] = order[5, 2] = 1
    units = [(((0,),), 1), (((1,),), 0.5), (((2,),), 1), (((3,), (4,)), 1), (((5,),), 1)]
    units.append((((6,),), 1))
    outline = made_outline(units, order, [0.9, 0.5, 0.9, 0.6, 0.6, 0.9, 0.4])
    found = passed_steps(outline, [["c"], ["b", "f"], ["f"], ["x"], []])
    # After c: a and b. After b: a, not c, which is still to come. f has no place to be passed.
    assert found == [Passed("a", 1.0), Passed("b", pytest.approx(1 / 3)), Passed("a", 1.0)]


def test_labels_of_a_domain(tmp_path, capsys):
    corpus = el.Corpus.of(POST, domain="letter")
    figures = measure_labels(corpus, 3)
    assert figures == measure_labels(corpus, 3)
    assert figures["tellings"] == 20
    assert figures["cases"] > 0
    assert 0 <= figures["sure"] <= 1
    assert (figures["sure"] == 1) == (figures["lowest"] >= 0.9)
    assert figures["step"] in {"write", "seal", "stamp"}
    assert measure_labels(el.Corpus.of([["a", "b"]] * 10, domain="x"), 1)["sure"] is None
    # The same from a file; domains of sentences are left out.
    path = tmp_path / "letters.jsonl"
    told = el.Corpus(el.Narrative(None, ("I write it",), "sentences") for _ in range(6))
    el.Corpus([*corpus, *told]).to_jsonl(path)
    assert silences.main(["--labels", str(path), "--seeds", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "splits": 3,
        "labels": {"letters": {"letter": figures}},
    }
    assert silences.main(["--labels", str(path), "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| letters: letter | 20 |" in printed
    assert "| all | 20 |" in printed


def test_simulations_as_a_command(monkeypatch, capsys):
    monkeypatch.setattr(silences, "TELLINGS", (30,))
    monkeypatch.setattr(silences, "ASKED", 10)
    assert silences.main(["--seeds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["tellings"] for row in found["simulations"]] == [30, 30]
    assert silences.main(["--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| one rate a script | 30 |" in printed
    assert "Goal: ECE at most 0.05, AP above frequency's. Missed by: " in printed


def test_bad_input_is_one_line(tmp_path, capsys):
    told = el.Corpus(el.Narrative(None, ("I write it",), "sentences") for _ in range(6))
    told.to_jsonl(tmp_path / "sentences.jsonl")
    el.Corpus.of([["a", "b"]], domain="x").to_jsonl(tmp_path / "few.jsonl")
    for arguments in (
        ["--seeds", "0"],
        ["--labels", str(tmp_path / "missing.jsonl")],
        ["--labels", str(tmp_path / "few.jsonl")],
        ["--labels", str(tmp_path / "sentences.jsonl")],
    ):
        assert silences.main(arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert len(shown.err.splitlines()) == 1
