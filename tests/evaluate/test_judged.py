"""Gaps in sentences, judged by labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import elision as el
from elision.evaluate import judged
from elision.evaluate.events import own_tellings
from elision.evaluate.measuring import measure_files

DOORBELL = "answering the doorbell"


@pytest.fixture(scope="module")
def corpus():
    return own_tellings().domain(DOORBELL)


def test_one_sentence_is_removed_and_its_label_kept(corpus):
    extractor = el.EventExtractor(vectors=False).fit([one.steps for one in corpus[:20]])
    test = corpus[20:]
    gaps = judged.make_gaps(extractor, el.Corpus(_undomained(one) for one in test), seed=0)
    assert 0 < len(gaps.labels) <= len(test)
    assert len(gaps.heard) == len(gaps.labels)
    for items in gaps.heard:
        assert items.count(None) == 1
        assert len(items) >= 2
    told = {label for one in test for label in one.events}
    assert set(gaps.labels) <= told


def _undomained(one):
    return el.Narrative(one.events, steps=one.steps, id=one.id)


def test_all_methods_are_judged_on_the_same_gaps(corpus):
    found = judged.judged(corpus, seed=0)
    assert tuple(found) == judged.METHODS
    sizes = {len(one.rank) for one in found.values()}
    assert len(sizes) == 1
    assert found["default"].top1 > 0.2
    assert not np.array_equal(found["default"].probability, found["types as grouped"].probability)


def test_the_command_prints_a_table_or_json(corpus, tmp_path, capsys):
    corpus.to_jsonl(tmp_path / "bell.jsonl")
    asked = [str(tmp_path / "bell.jsonl"), "--seeds", "1"]
    assert measure_files("judged", "", judged.measure, judged.tables, [*asked, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["files"]["bell"]
    assert figures["default"]["narratives"] == figures["LogisticGap"]["narratives"] > 5
    shown = judged.tables(figures, 1)
    assert f"{100 * figures['default']['top1']:.1f}" in shown


def test_sentences_need_labels(corpus, tmp_path, capsys):
    el.Corpus(el.Narrative(steps=one.steps) for one in corpus).to_jsonl(tmp_path / "bare.jsonl")
    asked = [str(tmp_path / "bare.jsonl")]
    assert measure_files("judged", "", judged.measure, judged.tables, asked) == 2
    assert "without steps or events, expected both" in capsys.readouterr().err
