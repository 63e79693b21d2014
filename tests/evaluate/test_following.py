"""The measure of following: what is asked, when it is due, and what counts as false."""

from __future__ import annotations

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import elision as el
from elision.evaluate import following, following_alarms
from elision.evaluate.following_alarms import (
    METHODS,
    OWN,
    Case,
    Evidence,
    Learned,
    Watched,
    alarm_figures,
    bigram,
    cases_of,
    counting,
    exchanged,
    hidden,
    judged,
    limit,
)
from elision.evaluate.following_many import Named, identify_figures, identify_table, naive_bayes

TOLD = ["abcd", "abdc", "acd", "bcd", "abcd", "aabcd"]


def learned(tellings=TOLD):
    """A domain of events a, b, c, d, which are numbers 0 to 3."""
    script = SimpleNamespace(events=("a", "b", "c", "d"))
    return Learned.of(script, [tuple(one) for one in tellings])


def numbers(text):
    return tuple("abcd".index(letter) for letter in text)


def corpus(domain="tea", count=24, **extra):
    """Tellings of five steps in order, each telling of them with one step left out."""
    steps = [f"{domain} {number}" for number in range(5)]
    return el.Corpus(
        el.Narrative(
            tuple(step for number, step in enumerate(steps) if number != place % 7),
            domain=domain,
            id=str(place),
            extra=dict(extra),
        )
        for place in range(count)
    )


# What is asked


def test_orders_are_counted_by_first_mentions():
    found = learned()
    expected = [[0, 4, 5, 5], [0, 0, 5, 5], [0, 0, 0, 5], [0, 0, 1, 0]]
    np.testing.assert_array_equal(found.pairs, expected)
    always = [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(found.always, np.array(always, bool))


def test_an_omission_is_due_at_the_second_step_after_it():
    found = learned()
    assert found.due(numbers("bacdb"), 0) == 2  # b and c
    assert found.due(numbers("bbbcd"), 0) == 3  # what is told again is no other step
    assert found.due(numbers("acd"), 1) == 2
    assert found.due(numbers("abd"), 2) == 2  # c and d come in any order: by the end
    assert found.due(numbers("b"), 0) == 0


def test_a_usual_step_is_hidden():
    tellings = [*TOLD, "bd", "bd", "bd", "bd", "bd", "bd", "bd"]  # a and c are told by few
    found = {
        next(iter(one.omitted))
        for seed in range(20)
        for one in hidden(learned(tellings), numbers("abbcd"), np.random.default_rng(seed))
    }
    assert found == {1, 3}
    (one,) = hidden(learned(), numbers("bb"), np.random.default_rng(0)) or [None]
    assert one is None
    (case,) = hidden(learned(), numbers("aab"), np.random.default_rng(1))
    assert case in (Case((1,), {0: 0}), Case((0, 0), {1: 1}))


def test_neighbours_are_exchanged_that_have_an_order():
    for seed in range(10):
        (case,) = exchanged(learned(), numbers("abdc"), np.random.default_rng(seed))
        assert case in (Case(numbers("badc"), late=1), Case(numbers("adbc"), late=2))
    assert exchanged(learned(), numbers("dc"), np.random.default_rng(0)) == []
    assert exchanged(learned(), numbers("aab"), np.random.default_rng(0)) == []


def test_omissions_that_are_given():
    told = el.Narrative(("c", "zz", "d"), extra={"missing": ["a", "d", "q"]})
    whole = el.Narrative(("a", "b"))
    found = cases_of(learned(), [told, whole, el.Narrative(("zz",))], 0, given=True)
    assert found == [Case((2, 3), {0: 1}, certain=True), Case((0, 1), {}, certain=True)]
    bad = el.Narrative(("a",), id="x", extra={"missing": "b"})
    with pytest.raises(el.InputError, match="missing is 'b', expected a list"):
        cases_of(learned(), [bad], 0, given=True)


# Methods


def test_counting_by_hand():
    found = counting(learned(), numbers("cdbdc"))
    # After c, a and b should have come; after c and d, by two steps; a by three at last.
    np.testing.assert_array_equal(found.skipped[:, 0], [1, 2, 3, 3, 3])
    np.testing.assert_array_equal(found.skipped[:, 1], [1, 2, -np.inf, -np.inf, -np.inf])
    np.testing.assert_array_equal(found.late, [0, 0, 2, -np.inf, -np.inf])


def test_bigram_by_hand():
    table = np.full((5, 5), following_alarms.ADDED)
    for one in TOLD:
        ends = [4, *numbers(one), 4]
        for pair in pairwise(ends):
            table[pair] += 1
    chance = table / table.sum(axis=1, keepdims=True)
    found = bigram(learned(), numbers("acd"))
    np.testing.assert_allclose(
        found.late, -np.log([chance[4, 0], chance[0, 2], chance[2, 3]]), rtol=1e-12
    )
    start, after = (np.log(chance[a, 1] * chance[1, b] / chance[a, b]) for a, b in ((4, 0), (0, 2)))
    assert found.skipped[0, 1] == pytest.approx(start)
    assert found.skipped[1, 1] == pytest.approx(max(start, after))
    assert found.skipped[2, 1] >= found.skipped[1, 1]
    assert found.skipped[1, 2] == -np.inf


def test_the_follower_and_what_its_alarms_are_made_of():
    script = el.ScriptLearner().fit([list("abcd")] * 20 + [list("abdc")] * 2).script_
    domain = Learned.of(script, [tuple("abcd")] * 20 + [tuple("abdc")] * 2)
    told = numbers("acd")
    own, made_of = following_alarms.alarms(domain, told), following_alarms.scores(domain, told)
    assert np.isin(own.skipped, [-np.inf, 1.0]).all()
    assert made_of.skipped[0].argmax() != 0
    assert made_of.skipped[1].argmax() == made_of.skipped[2].argmax() == 1
    assert own.skipped[2, 1] == 1.0
    late = following_alarms.alarms(domain, numbers("acdb")).late
    np.testing.assert_array_equal(late == 1, [False, False, False, True])


# Judging


def test_what_counts_as_false():
    skipped = np.full((3, 4), -np.inf)
    skipped[0] = [9, 1, 2, 8]  # b and c are told later, d never, a again
    skipped[1] = [9, -np.inf, 3, 8]
    skipped[2] = [9, -np.inf, -np.inf, 8]
    watched = Watched(skipped, np.array([0.0, 0.5, 0.1]))
    found = Evidence.empty()
    found.add(Case(numbers("abc")), watched)
    assert found == Evidence([3.0], [0.5], [8.0], [], [])
    found = Evidence.empty()
    found.add(Case(numbers("abc"), certain=True), watched)
    assert found.false_skips == [8.0]
    found = Evidence.empty()
    found.add(Case(numbers("aba")), watched)
    assert found.false_skips == [9.0]
    found = Evidence.empty()
    found.add(Case(numbers("abc"), {3: 1}), watched)
    found.add(Case(numbers("abc"), late=1), watched)
    assert found.false_skips == []
    assert found.omissions[0][0].tolist() == [8, 8, 8]
    assert found.deviations == [0.5]


def test_limits():
    assert limit([], 0.05) == np.inf
    values = list(range(40))
    assert limit(values, 0.05) == 37
    assert sum(value > limit(values, 0.1) for value in values) == 4
    assert limit([1.0, 1.0, 1.0], 0.5) == 1.0


def test_judging_by_hand():
    evidence = Evidence(
        false_skips=[0.0, 3.0, 1.0, 0.0],
        false_deviations=[0.0, 0.0, 0.0, 2.0],
        untold=[5.0, 0.0, 0.0, 0.0],
        omissions=[
            (np.array([0.0, 2.0, 2.0]), 1),
            (np.array([0.0, 0.0, 2.0]), 1),
            (np.array([0.0, 0.0, 0.0]), 1),
            (np.array([2.0, 0.0, 0.0]), 2),
        ],
        deviations=[3.0, 1.0],
    )
    assert judged(evidence, 1.5, 2.0) == {
        "in_time": 0.5,
        "by_the_end": 0.75,
        "events_late": pytest.approx((0 + 1 - 2) / 3),
        "exchanges": 0.5,
        "false_skips": 0.25,
        "false_deviations": 0.0,
        "untold": 0.25,
    }
    rows = alarm_figures({"x": evidence}, given=False)
    assert [(row["rate"], row["kind"]) for row in rows] == [
        (0.05, "false"),
        (0.1, "false"),
        (0.05, "any"),
        (0.1, "any"),
    ]
    assert rows[0]["by_the_end"] == 0.0  # four tellings allow no false one
    assert len(alarm_figures({"x": evidence}, given=True)) == 2
    nothing = judged(Evidence.empty(), 0, 0)
    assert set(nothing.values()) == {None}


# Which activity it is


def test_naive_bayes_by_hand():
    train = el.Corpus([*corpus("tea", 6), *corpus("cake", 6)])
    told = [["tea 0", "tea 1"], ["cake 3"], ["cake 1", "tea 1", "tea 2"]]
    right, error = naive_bayes(train, told, ["tea", "cake", "tea"])
    assert right == 1
    assert 0 <= error < 0.2
    assert naive_bayes(train, told[:1], ["cake"])[0] == 0


def test_refusals_by_hand():
    own = [Named(True, 0.9, none, none > 0.5) for none in np.linspace(0, 0.6, 20)]
    foreign = [Named(False, 0.5, none, none > 0.5) for none in (0.55, 0.58, 0.9, 0.1)]
    domains = ["tea", "tea", "cake", "cake"]
    run = {1: {"own": own, "foreign": foreign, "bayes": (0.5, 0.1), "domains": domains}}
    (row,) = identify_figures([run, run])
    assert row["tellings"] == 40
    assert row["accuracy"] == 1
    assert row["ece"] == pytest.approx(0.1)
    assert row["refused"] == pytest.approx(4 / 20)
    assert row["foreign_refused"] == 0.75
    # One in twenty is above 0.568.
    assert row["threshold"] == pytest.approx(0.6 * 18 / 19)
    assert row["foreign_above"] == 0.5
    assert row["foreign_by_activity"] == {"tea": 0.5, "cake": 0.5}
    said = identify_table({"identified": [row]}).splitlines()[-1]
    assert "cake 50.0, tea 50.0 below 90%, the other 0 of 2 above" in said
    assert row["bayes_accuracy"] == 0.5


# Corpora and the command


def test_nobody_learns_from_what_is_followed(monkeypatch):
    seen = []

    def spy(self, case, watched):
        seen.append(case)

    monkeypatch.setattr(Evidence, "add", spy)
    parts = el.Corpus(el.Narrative((f"{n} a", f"{n} b"), domain="x", id=str(n)) for n in range(9))
    result = following.measure_corpus(parts, 1)
    # No event of a telling is in any other: nothing of it was known.
    assert seen == []
    assert result["identified"] == []


def test_a_file_with_omissions_given(tmp_path, capsys):
    told = [
        el.Narrative(
            tuple(step for step in "abcdef" if step != left_out),
            domain="soup",
            id=str(place),
            extra={"missing": [left_out]} if left_out else {},
        )
        for place, left_out in enumerate([None, None, "c", None, None, "b"] * 5)
    ]
    el.Corpus(told).to_jsonl(tmp_path / "soup.jsonl")
    assert following.main([str(tmp_path / "soup.jsonl"), "--seeds", "2", "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err.splitlines()[0] == "soup, split 1 of 2"
    figures = json.loads(shown.out)["files"]["soup"]
    assert figures["given"]
    assert figures["correct"] + figures["omissions"] == 20
    assert figures["identified"] == []
    rows = {(row["method"], row["rate"]): row for row in figures["alarms"]}
    assert set(rows) == {
        (OWN, None),
        *((name, rate) for name in METHODS if name != OWN for rate in (0.05, 0.1)),
    }
    # Nobody tells anything out of order: what is skipped is plain to see.
    assert rows["always before, ranked", 0.05]["in_time"] == 1
    for row in rows.values():
        assert 0 <= row["in_time"] <= row["by_the_end"] <= 1
    assert rows[OWN, None]["false_skips"] == 0


def test_files_of_several_domains(tmp_path, capsys):
    el.Corpus([*corpus("tea"), *corpus("cake")]).to_jsonl(tmp_path / "both.jsonl")
    path = tmp_path / "figures.json"
    arguments = [str(tmp_path / "both.jsonl"), "--seeds", "1"]
    assert following.main([*arguments, "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "| follower, its own alarms | – |" in printed
    assert "| all | 16 | 100.0 |" in printed
    result = json.loads(path.read_text())
    figures = result["files"]["both"]
    assert result["seeds"] == 1
    assert figures["correct"] == 16
    assert figures["omissions"] > 0
    assert figures["exchanges"] > 0
    assert [row["events"] for row in figures["identified"]] == [1, 2, 3, 5, None]
    assert figures["identified"][-1]["foreign_refused"] == 1
    # The same again, into the same file.
    before = path.read_bytes()
    assert following.main([*arguments, "--json", str(path)]) == 0
    assert path.read_bytes() == before


def test_sentences_are_identified(tmp_path, capsys):
    lines = {
        "tea": ["boil the water", "pour the water into the cup", "drink the tea"],
        "bed": ["fold the sheet", "shake the pillow", "make the bed"],
    }
    told = [
        el.Narrative(None, tuple(steps), domain, str(place))
        for domain, steps in lines.items()
        for place in range(8)
    ]
    el.Corpus(told).to_jsonl(tmp_path / "told.jsonl")
    assert following.main([str(tmp_path / "told.jsonl"), "--seeds", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["files"]["told"]
    assert figures["alarms"] == []
    assert figures["identified"][-1]["accuracy"] == 1


def test_bad_input_is_one_line(tmp_path, capsys):
    good, few, bad = (str(tmp_path / name) for name in ("good.jsonl", "few.jsonl", "bad.jsonl"))
    corpus().to_jsonl(good)
    corpus(count=2).to_jsonl(few)
    corpus(missing="tea 1").to_jsonl(bad)
    for arguments in (
        [good, "--seeds", "0"],
        [str(tmp_path / "nowhere.jsonl")],
        [few],
        [bad],
        [good, "--json", few],
        [good, "--json", str(tmp_path / "nowhere" / "x.json")],
    ):
        assert following.main(arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert len(shown.err.splitlines()) == 1
