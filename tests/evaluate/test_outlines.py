"""Outlines against task graphs and held-out tellings: what is counted, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import outlines
from elision.evaluate.outlines import Goal, measure_corpus, order_shares, outline_of, told_share
from elision.evaluate.task_graphs import (
    FAULTS,
    WITH_ERRORS,
    Fault,
    TaskGraph,
    counted_order,
    edge_f1,
    edges,
    is_task_graphs,
    measure_graphs,
    outline_edges,
    read_task_graphs,
    spoilt,
)
from elision.values.outline import Outline, Step, Unit

# Boil and warm in any order, both before pour; drink comes last.
TEA = {
    "domain": "tea",
    "narratives": [
        ["boil", "warm", "pour", "drink"],
        ["warm", "boil", "pour", "drink"],
    ]
    * 6,
    "with_errors": [["boil", "warm", "pour", "drink"], ["warm", "pour", "drink"], ["boil"]] * 4,
    "before": [
        ["START", "boil"],
        ["START", "warm"],
        ["boil", "pour"],
        ["warm", "pour"],
        ["pour", "drink"],
        ["drink", "END"],
    ],
}
LIBRARY = [
    ["enter", "search", "take book", "borrow", "leave"],
    ["enter", "take book", "borrow", "leave"],
    ["enter", "search", "take book", "leave"],
    ["search", "take book", "borrow", "leave"],
    ["enter", "search", "borrow", "greet a friend", "leave"],
] * 4


def tea(**other):
    record = {**TEA, **other}
    before = frozenset(tuple(edge) for edge in record["before"])
    narratives, errors = (
        tuple(tuple(one) for one in record[name]) for name in ("narratives", "with_errors")
    )
    return TaskGraph(record["domain"], narratives, errors, before)


def made_outline(units, order, steps="abcd"):
    """An outline of these branches."""
    n = len(units)
    return Outline(
        tuple(Step(name, name, 0.5, 0.5) for name in steps),
        tuple(Unit(one, (1 / len(one),) * len(one), 1.0) for one in units),
        np.array(order, dtype=bool),
        np.zeros((n, n), dtype=np.int64),
    )


@pytest.fixture
def files(tmp_path):
    graphs, library = tmp_path / "graphs.jsonl", tmp_path / "library.jsonl"
    graphs.write_text("\n" + json.dumps(TEA) + "\n")
    el.Corpus.of(LIBRARY, domain="library").to_jsonl(library)
    return str(graphs), str(library)


def test_edges_are_the_reduction_with_both_ends():
    order = np.zeros((4, 4), dtype=bool)
    order[0, 1:3] = order[0, 2] = order[1, 2] = True
    assert edges(order, "abcd") == {
        *(("START", "a"), ("a", "b"), ("b", "c"), ("c", "END")),
        *(("START", "d"), ("d", "END")),
    }


def test_f1_by_hand():
    drawn = frozenset({("START", "a"), ("a", "b"), ("b", "END")})
    assert edge_f1(drawn, drawn) == 1
    found = frozenset({("START", "a"), ("START", "b"), ("a", "END"), ("b", "END")})
    assert edge_f1(found, drawn) == pytest.approx(2 * 2 / (4 + 3), rel=1e-12)
    assert edge_f1(frozenset(), drawn) == 0


def test_outlines_are_read_branch_by_branch():
    # a, then either b and c or d.
    outline = made_outline([((0,),), ((1, 2), (3,))], [[0, 1], [0, 0]])
    assert outline_edges(outline) == {
        *(("START", "a"), ("a", "b"), ("b", "c"), ("c", "END")),
        *(("a", "d"), ("d", "END")),
    }


def test_faults_drop_and_swap_neighbours():
    told = [list("abcdef")] * 400
    assert spoilt(told, Fault(0, 0), np.random.default_rng(0)) == told
    assert spoilt(told[:1], Fault(0, 1), np.random.default_rng(0)) == [list("badcfe")]
    assert spoilt(told, Fault(1, 0), np.random.default_rng(0)) == []
    fewer = spoilt(told, Fault(0.4, 0), np.random.default_rng(1))
    assert all(one == sorted(one) for one in fewer)
    assert sum(map(len, fewer)) / 2400 == pytest.approx(0.6, abs=0.03)
    swapped = spoilt(told, Fault(0, 0.1), np.random.default_rng(2))
    assert all(sorted(one) == list("abcdef") for one in swapped)
    # Five neighbours, of which one that follows a swap is passed over: nearly 0.46 swaps each.
    moved = [sum(a != b for a, b in zip(one, "abcdef", strict=True)) / 2 for one in swapped]
    assert np.mean(moved) == pytest.approx(0.46, abs=0.1)
    again = spoilt(told, Fault(0.2, 0.05), np.random.default_rng(3))
    assert again == spoilt(told, Fault(0.2, 0.05), np.random.default_rng(3))
    assert again != spoilt(told, Fault(0.2, 0.05), np.random.default_rng(4))


def test_counting_by_hand():
    told = [[0, 1, 2]] * 3 + [[1, 0, 2]]
    assert counted_order(told, 3, 1.0).tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert counted_order(told, 3, 0.75).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert not counted_order(told, 3, 0.76)[0, 1]
    # A cycle: what most tellings tell stays.
    round_about = [[0, 1]] * 3 + [[1, 2]] * 2 + [[2, 0]]
    assert counted_order(round_about, 3, 1.0).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


def test_clean_recordings_of_an_easy_graph_give_all_of_it():
    rows = {row["row"]: row for row in measure_graphs([tea()], 1)}
    assert len(rows) == len(FAULTS) + 1
    clean = rows["0 / 0"]
    assert [clean[name] for name in ("precedence", "outline", "counting")] == [1, 1, 1]
    assert clean["threshold"] == 1
    assert all(0 <= row["precedence"] <= 1 for row in rows.values())
    assert all(value > 0 for value in clean["seconds"].values())


def test_seeds_reproduce_and_other_recipes_do_not_matter():
    def figures(graphs, name="tea"):
        rows = measure_graphs(graphs, 2)
        return [(row["row"], row["by_recipe"][name]["precedence"]) for row in rows]

    other = tea(domain="other tea", with_errors=[])
    assert figures([tea()]) == figures([tea()])
    both = measure_graphs([other, tea()], 2)
    assert [row["recipes"] for row in both] == [2] * len(FAULTS) + [1]
    assert [row["by_recipe"]["tea"]["precedence"] for row in both] == [
        value for _, value in figures([tea()])
    ]
    assert both[-1]["row"] == WITH_ERRORS
    assert both[-1]["error"] is None


def test_the_threshold_is_the_best_for_its_row():
    often = [["boil", "warm", "pour", "drink"], ["boil", "pour", "warm", "drink"]]
    graph = tea(narratives=[often[0]] * 4 + [often[1]], with_errors=[])
    drawn = [("START", "boil"), ("boil", "warm"), ("warm", "pour"), ("pour", "drink")]
    graph = TaskGraph("tea", graph.narratives, (), frozenset([*drawn, ("drink", "END")]))
    row = measure_graphs([graph], 1)[0]
    assert row["counting"] == 1
    assert row["threshold"] == 0.8
    assert row["ahead"] == pytest.approx(row["precedence"] - 1, abs=1e-12)


def test_what_is_told_is_on_the_outline_and_in_its_order():
    # a before b before c; d anywhere.
    outline = made_outline(
        [((0,),), ((1,),), ((2,),), ((3,),)],
        [[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    )
    assert told_share(outline.steps_of, [["a", "x", "b"], ["a"]]) == 0.75
    assert told_share(outline.steps_of, []) is None
    # Of the pairs ab, ac, ad, bc, bd, cd three are ordered; b comes before a.
    assert order_shares(outline, [["b", "a", "d", "c", "b"]]) == (0.5, pytest.approx(2 / 3))
    assert order_shares(outline, [["a", "d"]]) == (0, None)
    assert order_shares(outline, [["a"], ["x"]]) == (None, None)
    # Branches of one unit have no order.
    choice = made_outline([((0,), (1,)), ((2,),), ((3,),)], np.zeros((3, 3)))
    assert order_shares(choice, [["a", "b"]]) == (None, None)


def test_figures_of_a_domain():
    corpus = el.Corpus.of(LIBRARY, domain="library")
    few = el.Corpus.of([["knock", "enter"]] * 4, domain="few")
    seen = []
    found = measure_corpus(el.Corpus([*corpus, *few]), 2, seen.append)
    assert seen == ["library"]
    figures = found["domains"]["library"]
    assert figures["tellings"] == 20
    assert figures["types"] == figures["steps"] == 6
    assert figures["steps_a_type"] == 1
    assert figures["known"] == figures["covered"] == 1
    assert figures["of_sentences"] is None
    assert figures["agreeing"] > 0.9
    assert found["mean"] == figures
    assert found["missed"] == {name: [] for name in outlines.GOALS}
    again = measure_corpus(corpus, 2)["domains"]["library"]
    assert {**again, "seconds": 0} == {**figures, "seconds": 0}


def test_goals_are_judged_as_printed():
    most = Goal(1.3, at_most=True, words="")
    assert [most.missed(value) for value in (1.3004, 1.302, None)] == [False, True, False]
    least = Goal(0.9, at_most=False, words="")
    assert [least.missed(value) for value in (0.8996, 0.899, 1.0)] == [False, True, False]


def test_sentences_become_events_by_what_is_learned_from():
    tellings = [["I fill the kettle", "boil the water", "pour the water", "drink the tea"]] * 5
    part = el.Corpus(
        el.Narrative(None, tuple(told), "tea", str(place)) for place, told in enumerate(tellings)
    )
    train, test, heard = outlines.split_events(part, 0)
    assert (len(train), len(test)) == (4, 1)
    assert heard == 1
    assert told_share(outline_of(train).steps_of, test) == 1
    found = measure_corpus(part, 1)
    assert found["domains"]["tea"]["of_sentences"] == 1
    printed = outlines.corpus_table(found, 1)
    assert "| of sentences |" in printed
    assert "at least 90 % of the sentences covered. Missed by: none." in printed


def test_sentences_that_are_no_event_are_not_covered(monkeypatch):
    told = [("boil", "pour")] * 8
    monkeypatch.setattr(outlines, "split_events", lambda part, seed: (told, told[:2], 0.8))
    figures = outlines.measure_split(el.Corpus.of(told), 0)
    assert figures["covered"] == 1
    assert figures["of_sentences"] == 0.8


def test_files_of_both_kinds(files, capsys, tmp_path):
    graphs, library = files
    assert is_task_graphs(graphs)
    assert not is_task_graphs(library)
    assert read_task_graphs(graphs) == [tea()]
    assert outlines.main([graphs, library, "--seeds", "1", "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == "library\n"
    found = json.loads(told.out)
    assert found["seeds"] == 1
    assert found["files"]["graphs"]["rows"][0]["precedence"] == 1
    assert found["files"]["library"]["mean"]["steps"] == 6
    # Into a file, with tables; once more over the same results.
    path = tmp_path / "results.json"
    for _ in range(2):
        assert outlines.main([graphs, library, "--seeds", "1", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "| 20 % / 5 % |" in printed
    assert "| library | 20 |" in printed
    assert "Counting has the threshold that is best on the graphs it is judged by" in printed
    assert "at least 90 % of the events told covered. Missed by: none." in printed
    assert "sentences" not in printed
    assert json.loads(path.read_text())["files"].keys() == {"graphs", "library"}


@pytest.mark.parametrize(
    "second",
    [
        {"narratives": [["a"]]},
        {"narratives": "ab", "before": []},
        {"narratives": [["a", 1]], "before": [["START", "a"]]},
        {"narratives": [["a"]], "before": [["START", "a", "b"]]},
        {"narratives": [["a"]], "before": [["START", "END"]]},
        {"narratives": [[]], "before": [["START", "a"]]},
        TEA,
        ["a"],
        "{",
    ],
)
def test_lines_that_are_no_task_graph_are_named(second, tmp_path, capsys):
    path = tmp_path / "graphs.jsonl"
    path.write_text(json.dumps(TEA) + "\n" + (second if second == "{" else json.dumps(second)))
    assert outlines.main([str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path} line 2: ")


def test_bad_input_is_one_line(files, tmp_path, capsys):
    graphs, library = files
    few = tmp_path / "few.jsonl"
    el.Corpus.of([["a", "b"]], domain="x").to_jsonl(few)
    other = tmp_path / "other.jsonl"
    other.write_text('{"domain": "x"}\n')
    before = (tmp_path / "library.jsonl").read_bytes()
    for arguments in (
        [str(tmp_path / "missing.jsonl")],
        [str(few)],
        [str(other)],
        [graphs, "--seeds", "0"],
        [graphs, "--json", library],  # meant as a corpus
        [graphs, "--json", str(tmp_path)],
        [graphs, "--json", str(tmp_path / "nowhere" / "results.json")],
        [graphs, "--json", "results\0.json"],
    ):
        assert outlines.main(arguments) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert len(told.err.splitlines()) == 1
    assert (tmp_path / "library.jsonl").read_bytes() == before
