"""The benchmark's other tasks, shared learning, comparisons over all corpora, names of corpora."""

from __future__ import annotations

import io
import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import ttest_1samp

import elision as el
from elision.ask.fill import overall
from elision.evaluate import bench, methods, report, together
from elision.evaluate.cloze import TASKS, answer, check_tasks, judge, make_task, other_task
from elision.evaluate.command import run_benchmark
from elision.evaluate.html import html_report
from elision.evaluate.names import corpus_names
from elision.evaluate.tables import markdown_tables
from mornings import EVENTS, TEN, cell_of, corpus, put_back, without_seconds

QUICK = ("Frequency", "LogisticGap", "NGram", "default")


def test_other_tasks_keep_the_split_and_can_be_put_back():
    one = make_task(corpus(), seed=1)
    assert other_task(one, "one") is one
    for name, removed in (("two", 2), ("three", 3)):
        task = other_task(one, name)
        assert task.train == one.train
        assert put_back(task) == put_back(one)
        counts = [
            (gap.count(None), len(whole))
            for gap, whole in zip(task.gaps, put_back(one), strict=True)
        ]
        assert all(count == min(removed, length - 1) for count, length in counts)
        assert len(task.answers) == sum(count for count, _ in counts)
        assert other_task(make_task(corpus(), seed=1), name).gaps == task.gaps
        assert other_task(make_task(corpus(), seed=2), name).gaps != task.gaps


def test_where_the_place_is_unknown_the_removals_are_those_of_the_paper():
    one = make_task(corpus(), seed=0)
    task = other_task(one, "anywhere")
    assert task.answers is one.answers
    for seen, gap in zip(task.gaps, one.gaps, strict=True):
        assert seen == [event for event in gap if event is not None]


def test_places_of_several_gaps_are_chosen_evenly():
    tellings = el.Corpus.of([["a", "b", "c", "d"]] * 1000, domain="x")
    two = other_task(make_task(tellings, seed=0), "two")
    places = np.bincount(
        [place for gap in two.gaps for place, event in enumerate(gap) if event is None], minlength=4
    )
    assert places.sum() == 800
    assert places.min() > 160


def test_tasks_by_name():
    assert check_tasks([]) == ("one",)
    assert check_tasks(["three", "anywhere", "three"]) == ("one", "three", "anywhere")
    with pytest.raises(el.InputError, match="task 'four', expected some of one, two"):
        check_tasks(["four"])


GAP_TASKS = ("one", "two", "three", "anywhere")


@pytest.mark.parametrize("name", [name for name in methods.ALL if methods.can(name, "one")])
def test_every_method_answers_every_task_with_probabilities(name):
    one = make_task(corpus(2), seed=0)
    filler = methods.make(name, one.events, batch=5, seed=0, costs=bench.Costs())
    filler.fit(one.train)
    for kind in GAP_TASKS:
        task = other_task(one, kind)
        found = answer(filler, task)
        assert len(judge(found, task.answers).rank) == len(task.answers)
    several = np.concatenate(filler.predict_gaps(one.gaps))
    np.testing.assert_allclose(several, filler.predict_gap(one.gaps), rtol=1e-9)


def test_a_script_answers_anywhere_as_fill_does():
    learner = el.SEMHMM(score="marginal", events=EVENTS).fit(TEN)
    told = ["wake", "leave"]
    (found,) = learner.predict_anywhere([told])
    answers = learner.script_.fill(told, anywhere=True).answers
    assert len(answers) == len(EVENTS)
    for one in answers:
        assert found[EVENTS.index(one.event)] == pytest.approx(one.probability, rel=1e-9)
    gaps = [["wake", None, None], [None, "leave"]]
    for rows, fillings in zip(
        learner.predict_gaps(gaps), learner.script_.fill_many(gaps), strict=True
    ):
        for row, filling in zip(rows, fillings, strict=True):
            for one in filling.answers:
                assert row[EVENTS.index(one.event)] == pytest.approx(one.probability, rel=1e-9)
    assert learner.predict_gaps([]) == []
    assert learner.predict_anywhere([]).shape == (0, len(EVENTS))


def test_what_a_script_cannot_tell_gets_the_usual_answer():
    learner = el.BMM(events=EVENTS).fit([["wake", "wash"], ["wake", "dress"]])
    impossible = ["dress", "dress", "wake", "wake"]
    usual = overall(learner.script_)
    np.testing.assert_allclose(learner.predict_anywhere([impossible])[0], usual, rtol=1e-12)
    (rows,) = learner.predict_gaps([[*impossible, None, None]])
    np.testing.assert_allclose(rows, np.tile(usual, (2, 1)), rtol=1e-12)
    with pytest.raises(el.InputError, match="no gap"):
        learner.predict_gaps([["wake"]])


def test_events_that_training_never_told_do_not_stop_the_default():
    learner = methods.make("default", (*EVENTS, "whistle"), batch=None, seed=0, costs=bench.Costs())
    learner.fit(TEN)
    found = learner.predict_anywhere([["wake", "whistle"], ["whistle", "whistle"]])
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-9)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two corpora of the same name."""
    folder = tmp_path_factory.mktemp("corpora")
    paths = []
    for name, domains in (("old", "ab"), ("new", "c")):
        (folder / name).mkdir()
        parts = [one for domain in domains for one in corpus(2, domain=domain)]
        el.Corpus(parts).to_jsonl(folder / name / "days.jsonl")
        paths.append(str(folder / name / "days.jsonl"))
    return tuple(paths)


@pytest.fixture(scope="module")
def plan(files):
    return bench.Plan(files, QUICK, (5,), 1, 10, curve=False, tasks=tuple(TASKS))


@pytest.fixture(scope="module")
def measured(plan):
    fits = []
    fit = el.ScriptLearner.fit

    def counted(self, X, y=None, **options):
        fits.append(len(X))
        return fit(self, X, y, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(el.ScriptLearner, "fit", counted)
        cells, costs = bench.run(plan)
    return cells, report.report(cells, plan, costs), fits


def test_learning_is_done_once_for_all_tasks(measured):
    cells, _, fits = measured
    assert len(fits) == 3  # domains
    assert {(cell.method, cell.task) for cell in cells} == {
        (method, task) for method in QUICK for task in TASKS if methods.can(method, task)
    }
    for cell in cells:
        assert len(cell.rank) == len(cell.probability) == len(cell.confidence)
        if cell.task in GAP_TASKS:
            assert len(cell.rank) == len(cell.length) == len(cell.times_told)
            several = cell.task in ("two", "three")
            assert len(cell.rank) > cell.n_test if several else len(cell.rank) == cell.n_test
        elif cell.task == "next":
            assert len(cell.rank) > 2 * cell.n_test
        else:
            assert cell.rank == []
            assert 0 < cell.average_precision < 1
            assert 0 < cell.f1 < 1
        assert (cell.f1 is None) == (cell.average_precision is None) == (cell.task != "hidden")
    lengths = {cell.task: cell.length for cell in cells[: len(TASKS) - 1]}
    assert lengths["anywhere"] == lengths["one"]
    slow, quick = (
        [cell.seconds for cell in cells if (cell.domain, cell.method) == ("a", name)]
        for name in ("default", "Frequency")
    )
    assert min(slow) > max(quick)  # every task is charged for the learning


def test_the_papers_task_is_the_same_alone(measured, plan):
    _, whole, _ = measured
    fewer = replace(plan, methods=("Frequency", "LogisticGap"), tasks=("one",))
    alone = report.report(*bench_run(fewer))
    for name in ("cells", "summary", "tests"):
        kept = [
            row
            for row in whole[name]
            if row.get("task", "one") == "one"
            and {row.get("method"), row.get("better"), row.get("worse")}
            <= {None, "Frequency", "LogisticGap"}
        ]
        corrected = {"p_corrected": None} if name == "tests" else {}
        assert without_seconds([row | corrected for row in alone[name]]) == without_seconds(
            [row | corrected for row in kept]
        )
    assert alone["other_tasks"] == []


def bench_run(plan):
    cells, costs = bench.run(plan)
    return cells, plan, costs


def test_corpora_of_the_same_name_stay_apart(measured, files):
    _, whole, _ = measured
    names = whole["protocol"]["corpora"]
    assert names == ["old/days.jsonl", "new/days.jsonl"]
    assert {row["corpus"] for row in whole["summary"]} == set(names)
    assert {(cell["corpus"], cell["domain"]) for cell in whole["cells"]} == {
        (name, domain)
        for name, domains in zip(names, ("ab", "c"), strict=True)
        for domain in domains
    }
    assert corpus_names(["a/x.csv", "./a/x.csv"]) == {
        "a/x.csv": "a/x.csv",
        "./a/x.csv": "a/x.csv (2)",
    }
    assert corpus_names(["x.csv", "x.json", "x.csv"]) == {"x.csv": "x.csv", "x.json": "x.json"}


def test_comparisons_by_hand():
    cells = []
    tops = {("x", "a"): (6, 4), ("x", "b"): (5, 5), ("y", "c"): (9, 6)}
    for (name, domain), (ours, theirs) in tops.items():
        for seed, shift in ((0, 1), (1, -1)):  # seeds are averaged first
            cells.append(cell_of(name, domain, "default", seed, ours + shift))
            cells.append(cell_of(name, domain, "LogisticGap", seed, theirs))
            cells += [cell_of(name, domain, "SEMHMM", seed, right, right) for right in (2, 5)]
    plan = bench.Plan(("x.jsonl", "y.jsonl"))
    found = report.report(cells, plan, {})
    halves = [
        report.report([cell for cell in cells if (cell.method == "default") == own], plan, {})
        for own in (True, False)
    ]
    assert report.merged(halves)["comparisons"] == found["comparisons"]
    assert report.merged([found, halves[0]])["comparisons"] == found["comparisons"]
    rows = {(row["against"], row["corpus"]): row for row in found["comparisons"]}
    assert set(rows) == {
        (name, of) for name in ("LogisticGap", "SEMHMM") for of in ("x", "y", None)
    }
    assert rows["LogisticGap", "x"]["difference"] == pytest.approx(0.1, rel=1e-12)
    assert rows["LogisticGap", "y"]["p"] is None  # one domain
    every = rows["LogisticGap", None]
    assert every["domains"] == 3
    assert every["difference"] == pytest.approx(0.5 / 3, rel=1e-12)
    expected = ttest_1samp([0.2, 0.0, 0.3], 0, alternative="greater").pvalue
    assert every["p"] == pytest.approx(expected, rel=1e-9)
    assert rows["SEMHMM", None]["batch"] == 5
    assert rows["SEMHMM", "y"]["difference"] == pytest.approx(0.4, rel=1e-12)


def test_the_test_is_one_sided():
    gap = np.array([0.1, 0.2, 0.4])
    low, high = report.one_sided_p(gap), report.one_sided_p(-gap)
    assert low < 0.1
    assert low + high == pytest.approx(1, rel=1e-9)
    assert report.one_sided_p(np.array([0.1, 0.1])) == 0.0
    assert report.one_sided_p(np.array([-0.1, -0.1])) == 1.0
    assert report.one_sided_p(np.array([0.1])) is None


def test_tables_over_all_corpora(measured):
    _, whole, _ = measured
    shown = {one.title: one for one in together.tables_together(whole)}
    assert list(shown) == [
        "Top-1",
        "Comparisons",
        "Expected calibration error",
        "Log-loss",
        "Other tasks",
        "Hidden events: average precision",
        "Hidden events: best F1",
        "Next event: accuracy",
        "Next event: log-loss",
    ]
    errors = {row["corpus"]: row["ece"] for row in whole["summary"] if row["method"] == "default"}
    row = next(row for row in shown["Expected calibration error"].rows if row[0] == "default")
    assert row == [
        "default",
        "",
        *(f"{errors[name]:.3f}" for name in whole["protocol"]["corpora"]),
        f"{np.mean(list(errors.values())):.3f}",
    ]
    bare = together.tables_together({**whole, "summary": []})  # one corpus, shown elsewhere
    assert "Expected calibration error" not in [one.title for one in bare]
    chance = shown["Expected calibration error"].rows[-1]
    assert chance[0] == "default, by chance"
    assert all(0 < float(value) < 0.5 for value in chance[2:])
    tasks = {(row[0], row[1]) for row in shown["Other tasks"].rows}
    fillers = [method for method in QUICK if method != "NGram"]
    assert tasks == {(task, method) for task in GAP_TASKS[1:] for method in fillers}
    hidden = [row[0] for row in shown["Hidden events: best F1"].rows]
    assert hidden == ["Frequency", "LogisticGap", "default"]
    after = [row[0] for row in shown["Next event: accuracy"].rows]
    assert after == ["Frequency", "NGram", "default"]
    assert [row[1] for row in shown["Comparisons"].rows][-1] == "all domains together"


def test_page_markdown_and_terminal_show_them(measured, monkeypatch):
    _, whole, _ = measured
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    read = json.loads(json.dumps(whole))
    page = html_report(read, "elision bench")
    markdown = markdown_tables(read)
    console = Console(file=io.StringIO(), width=200)
    for table in together.terminal_tables(read):
        console.print(table)
    printed = console.file.getvalue()
    for text in (page, printed, together.markdown_together(read)):
        for part in (
            "Other tasks",
            "all domains together",
            "default above LogisticGap",
            "anywhere",
            "Hidden events: average precision",
            "Next event: log-loss",
        ):
            assert part in text
    assert "anywhere" not in markdown  # the main tables are of the paper's task
    without = {
        key: value for key, value in read.items() if key not in ("other_tasks", "comparisons")
    }
    assert "Other tasks" not in html_report(without, "elision bench")


def test_the_command_takes_tasks(files, tmp_path):
    result = run_benchmark(
        files[:1], methods=["Frequency"], batches=[5], seeds=1, min_narratives=10, max_train=None,
        jobs=1, output=tmp_path / "found.json", html_file=None,
        console=Console(file=io.StringIO()), tasks=["anywhere"],
    )  # fmt: skip
    assert result["protocol"]["tasks"] == ["one", "anywhere"]
    assert result["protocol"]["costs"] == {}  # no method has any
    assert {row["task"] for row in result["other_tasks"]} == {"anywhere"}
    assert json.loads((tmp_path / "found.json").read_text()) == json.loads(json.dumps(result))


def test_the_results_page_is_made_of_them(measured, tmp_path, monkeypatch, capsys):
    _, whole, _ = measured
    (tmp_path / "found.json").write_text(json.dumps(whole))
    page = Path(__file__).parents[2] / "tools" / "results.py"
    monkeypatch.setattr(sys, "argv", ["results.py", str(tmp_path / "found.json")])
    runpy.run_path(str(page), run_name="__main__")
    printed = capsys.readouterr().out
    assert "--task two --task three --task anywhere --task hidden --task next" in printed
    assert "| default above LogisticGap | all domains together | 3 |" in printed
    assert "### new/days.jsonl" in printed
