"""What parts of the telling model are worth, on two small domains."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import ablation
from elision.evaluate.cloze import make_task, measure_learned, other_task
from elision.learn.telling import FEATURES

TEA = [
    ["fill kettle", "boil water", "pour water", "drink tea"],
    ["fill kettle", "pour water", "drink tea"],
    ["boil water", "pour water", "add milk", "drink tea"],
    ["fill kettle", "boil water", "pour water", "add milk", "drink tea"],
] * 4
ROWS = [
    "all",
    "forward only",
    *(f"without {name}" for name in FEATURES),
    "with the script",
    "the script alone",
]
COLUMNS = ["one top-1", "one log-loss", "two", "three", "anywhere", "hidden AP", "next log-loss"]


@pytest.fixture
def corpus(tmp_path):
    door = el.Corpus.of(el.examples.doorbell_tellings(), domain="door")
    path = tmp_path / "two.jsonl"
    el.Corpus([*door, *el.Corpus.of(TEA, domain="tea")]).to_jsonl(path)
    return str(path)


def test_every_row_and_column_is_measured(corpus, capsys):
    arguments = [corpus, "--seeds", "1", "--min-narratives", "10"]
    assert ablation.main([*arguments, "--json", "--jobs", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    (domains,) = found["domains"].values()
    assert set(domains) == {"door", "tea"}
    for figures in domains.values():
        assert list(figures) == ROWS
        for name, row in figures.items():
            assert list(row) == (COLUMNS[:2] if name == "with the script" else COLUMNS)
            assert all(np.isfinite(value) for value in row.values())
        rows = [tuple(row.values()) for row in figures.values()]
        assert len(set(rows)) == len(rows)
    (means,) = found["corpora"].values()
    for name, row in means.items():
        for column, value in row.items():
            each = [figures[name][column] for figures in domains.values()]
            assert value == pytest.approx(np.mean(each), rel=1e-12)
    assert found["mean of corpora"] == means
    # The same in processes, as a table.
    assert ablation.main([*arguments, "--jobs", "2"]) == 0
    assert ablation.table(means) in capsys.readouterr().out


def test_the_whole_model_is_the_default_learners_and_the_script_one_found_by_search(corpus):
    (part,) = [p for name, p in el.read(corpus).by_domain().items() if name == "door"]
    figures = ablation.measure_split(ablation.Split("two", "door", part, 1, None))
    one = make_task(part, 1)
    learner = el.ScriptLearner(events=one.events, random_state=1).fit(one.train)
    for name, task in (("two", "two"), ("hidden AP", "hidden"), ("next log-loss", "next")):
        outcome = measure_learned(learner, other_task(one, task))
        measure = {"hidden": "average_precision", "next": "log_loss"}.get(task, "top1")
        assert figures["all"][name] == pytest.approx(getattr(outcome, measure), rel=1e-9)
    sought = el.SEMHMM(score="marginal", events=one.events, random_state=1, **ablation.SEARCH)
    outcome = measure_learned(sought.fit(one.train), one)
    assert figures["the script alone"]["one log-loss"] == pytest.approx(outcome.log_loss, rel=1e-9)


def test_of_sentences_it_is_also_measured_what_they_add():
    guest = ("hear the bell", "walk to the door", "open it", "greet the guest")
    parcel = ("the bell rings", "open the door", "take the parcel", "sign for the parcel")
    part = el.Corpus([el.Narrative(steps=one) for one in (guest, parcel) * 10])
    figures = ablation.measure_split(ablation.Split("door", "door", part, 0, None))
    added = ["first choice of type", "types as grouped", "with the words around"]
    assert list(figures) == [*ROWS[:-2], *added, *ROWS[-2:]]
    whole, worded = figures["all"], figures["with the words around"]
    # What is told beside a gap names the visitor, however it is heard.
    assert worded["one log-loss"] < whole["one log-loss"]
    assert worded["next log-loss"] < whole["next log-loss"]
    assert worded["hidden AP"] > whole["hidden AP"]


def test_pools_by_hand():
    found = ablation.pooled(np.array([[0.5, 0.5], [1, 0]]), np.array([[0.9, 0.1], [0, 1]]))
    odds = 9**0.2
    assert found[0] == pytest.approx([odds / (1 + odds), 1 / (1 + odds)], rel=1e-12)
    assert found[1].tolist() == [1, 0]  # they agree on nothing: the first one's


def test_bad_input_is_one_line(corpus, capsys, tmp_path):
    assert ablation.main([str(tmp_path / "missing.jsonl")]) == 2
    assert ablation.main([corpus, "--seeds", "0"]) == 2
    assert ablation.main([corpus, "--min-narratives", "500"]) == 2
    assert capsys.readouterr().err.count("\n") == 3
