"""`elision bench`: runs, costs, means, tests and tables."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel
from typer.testing import CliRunner

import elision as el
from elision.bench.measuring import Cell, Plan, check_methods, choose_costs, large_domains, run
from elision.bench.report import comparisons, markdown, one_sided_p, report, summary
from elision.cli.entry import app
from mornings import corpus


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpora") / "days.jsonl"
    parts = [one for domain in ("one", "two") for one in corpus(2, domain=domain)]
    el.Corpus([*parts, *corpus(1, domain="too small")]).to_jsonl(path)
    return str(path)


def without_seconds(cells):
    return [
        {name: getattr(one, name) for name in one.__slots__ if name != "seconds"} for one in cells
    ]


def test_a_run_is_the_same_whatever_the_jobs_and_learns_once_for_all_tasks(file, monkeypatch):
    plan = Plan(
        (file,), ("Frequency", "NGram", "BMM"), (5,), 2, 20, tasks=("one", "hidden", "next")
    )
    seen = []
    cells, costs = run(plan, progress=lambda *at: seen.append(at))
    assert seen == [(k, 4) for k in (1, 2, 3, 4)]
    again, same = run(plan, jobs=2)
    assert without_seconds(again) == without_seconds(cells)
    assert same == costs
    assert set(costs["days"]) == {"elisions", "plain"}
    assert {cell.domain for cell in cells} == {"one", "two"}
    tasks = {name: {c.task for c in cells if c.method == name} for name in plan.methods}
    assert tasks == {
        "Frequency": {"one", "hidden", "next"},
        "NGram": {"next"},
        "BMM": {"one", "next"},
    }
    fits = []
    fit = el.Frequency.fit
    monkeypatch.setattr(el.Frequency, "fit", lambda self, X: fits.append(1) or fit(self, X))
    run(Plan((file,), ("Frequency",), seeds=1, min_narratives=20, tasks=("one", "two", "next")))
    assert len(fits) == 2  # domains


def test_costs_are_chosen_without_test_narratives(file):
    plan = Plan((file,), ("BMM",), min_narratives=20)
    domains = large_domains(file, 20)
    spoiled = {}
    for name, part in domains.items():
        train, _ = part.split(0.4, random_state=0)
        learned = {one.id for one in train}
        spoiled[name] = el.Corpus(
            one
            if one.id in learned
            else el.Narrative(events=one.events[::-1], domain=one.domain, id=one.id)
            for one in part
        )
    assert choose_costs(spoiled, plan) == choose_costs(domains, plan)


def cell(corpus, domain, method, seed, top1, batch=None, **figures):
    right = [k < 10 * top1 for k in range(10)]
    figures = {"top1": top1, "top3": 1.0, "log_loss": 0.5} | figures
    return Cell("one", corpus, domain, method, batch, seed, 9, 10, 0.1, figures, [0.6] * 10, right)


def test_comparisons_are_scipys_of_means_over_seeds():
    cells = []
    tops = {("x", "a"): (0.6, 0.4), ("x", "b"): (0.5, 0.5), ("y", "c"): (0.9, 0.6)}
    for (name, domain), (ours, theirs) in tops.items():
        for seed, shift in ((0, 0.1), (1, -0.1)):
            cells.append(cell(name, domain, "default", seed, ours + shift))
            cells.append(cell(name, domain, "LogisticGap", seed, theirs))
            cells += [cell(name, domain, "SEMHMM", seed, r / 10, r) for r in (2, 5)]
    rows = {(r["against"], r["batch"], r["corpus"]): r for r in comparisons(cells)}
    assert set(rows) == {
        (*which, of)
        for which in (("LogisticGap", None), ("SEMHMM", 2), ("SEMHMM", 5))
        for of in ("x", "y", None)
    }
    assert rows["LogisticGap", None, "x"]["difference"] == pytest.approx(0.1, rel=1e-12)
    assert rows["LogisticGap", None, "y"]["p"] is None  # one domain
    every = rows["LogisticGap", None, None]
    assert (every["domains"], every["difference"]) == (3, pytest.approx(0.5 / 3, rel=1e-12))
    peer = ttest_rel([0.6, 0.5, 0.9], [0.4, 0.5, 0.6], alternative="greater").pvalue
    assert every["p"] == pytest.approx(peer, rel=1e-9)
    assert rows["SEMHMM", 5, "y"]["difference"] == pytest.approx(0.4, rel=1e-12)


def test_the_test_is_one_sided():
    gap = np.array([0.1, 0.2, 0.4])
    low, high = one_sided_p(gap), one_sided_p(-gap)
    assert low == pytest.approx(ttest_1samp(gap, 0, alternative="greater").pvalue, rel=1e-12)
    assert low + high == pytest.approx(1, rel=1e-9)
    assert one_sided_p(np.array([0.1, 0.1])) == 0.0
    assert one_sided_p(np.array([-0.1, -0.1])) == 1.0
    assert one_sided_p(np.array([0.1])) is None


def test_seeds_of_a_domain_are_averaged_first_and_tables_show_it():
    cells = [cell("x", "a", "default", seed, top1) for seed, top1 in ((0, 0.2), (1, 0.4))]
    cells.append(cell("x", "b", "default", 0, 0.9))
    (row,) = summary(cells)
    assert row["domains"] == 2
    assert row["top1"] == pytest.approx(0.6, rel=1e-12)
    assert row["stderr"] == pytest.approx(0.3, rel=1e-12)
    assert row["ece"] == pytest.approx(0.1, rel=1e-9)  # 15 of 30 right, 60 % sure
    other = [cell("y|z", "c", "default", 0, 0.5), cell("x", "a", "LogisticGap", 0, 0.1)]
    shown = markdown(report([*cells, *other], Plan(("x.jsonl", "y|z.jsonl")), {}))
    assert "### x (2 domains)" in shown
    assert "60.0 ± 30.0" in shown
    mean = shown.split("### Mean over corpora")[1].split("###")[0]
    assert "55.0" in mean
    assert "LogisticGap" not in mean  # not measured on every corpus
    assert r"y\|z" in shown.split("### Mean")[0] or "### y|z" in shown


def test_what_cannot_be_measured_is_refused(file):
    with pytest.raises(el.InputError, match="--min-narratives"):
        run(Plan((file,), min_narratives=1000))
    with pytest.raises(el.InputError, match="method 'Oracle', expected some of Frequency"):
        check_methods(["Oracle"])
    with pytest.raises(el.InputError, match="method 'NGram' has no answer to one or hidden"):
        check_methods(["NGram"], ("one", "hidden"))
    assert "NGram" not in check_methods([])


def test_the_command_prints_tables_or_json_and_writes_a_file(file, tmp_path):
    chosen = ["bench", file, "--task", "next", "--methods", "NGram", "--methods", "Frequency"]
    chosen += ["--seeds", "1", "--min-narratives", "20", "--jobs", "1"]
    kept = tmp_path / "found.json"
    shown = CliRunner().invoke(app, [*chosen, "-o", str(kept)])
    assert shown.exit_code == 0
    heads = shown.stdout.splitlines()[2]
    assert "next: top-1" in heads
    found = json.loads(kept.read_text())
    assert {(row["task"], row["method"]) for row in found["summary"]} == {
        ("one", "Frequency"),
        ("next", "Frequency"),
        ("next", "NGram"),
    }
    assert found["protocol"]["costs"] == {}  # no method has any
    again = json.loads(CliRunner().invoke(app, [*chosen, "--json"]).stdout)
    assert again["protocol"] == found["protocol"]
    for one, two in zip(again["summary"], found["summary"], strict=True):
        assert {**one, "seconds": 0} == {**two, "seconds": 0}
