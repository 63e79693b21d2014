"""Packed corpora: the same bytes however narratives come, and nothing lost on the way."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el
from elision.learn.em import Converged, Prior, pseudocounts, run_em
from elision.scale import _spill, packing, sampling, slices
from elision.scale.passes import Parts
from elision.values.observations import Packer

EVENTS = ["ring", "öffnen", "開", "a b", "close"]
narratives = st.lists(st.lists(st.sampled_from(EVENTS), max_size=4).map(tuple), min_size=1)


@pytest.fixture(scope="module")
def tellings():
    rng = random.Random(0)
    told = el.examples.doorbell_tellings()
    return [tuple(e for e in rng.choice(told) if rng.random() < 0.7) for _ in range(3000)]


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_jsonl(path, told, **more):
    lines = [json.dumps({"events": list(one), **more}, ensure_ascii=False) for one in told]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_lists(path, told, rows=100):
    pq.write_table(pa.table({"events": [list(one) for one in told]}), path, row_group_size=rows)
    return path


def everything(corpus):
    return Counter(corpus.sample(corpus.narratives))


@given(narratives)
@settings(max_examples=25)
def test_a_packed_corpus_is_what_the_packer_packs(tmp_path_factory, told):
    corpus = el.pack([told], tmp_path_factory.mktemp("packed") / "p").corpus
    assert everything(corpus) == Counter(told)
    assert corpus.events == tuple(sorted({event for one in told for event in one}))
    assert (corpus.narratives, corpus.distinct) == (len(told), len(set(told)))
    assert corpus.longest == max(map(len, told))
    (part,) = corpus.parts
    ours, theirs = part.load(), Packer(corpus.events).pack(told)
    assert np.array_equal(np.diff(ours.offset), np.diff(theirs.offset))
    assert _weights(ours) == _weights(theirs)
    assert (ours.symbol.dtype, ours.weight.dtype) == (theirs.symbol.dtype, theirs.weight.dtype)
    assert ours.soft.shape == theirs.soft.shape


def _weights(packed):
    return {
        tuple(packed.symbol[packed.offset[k] : packed.offset[k + 1]].tolist()): packed.weight[k]
        for k in range(len(packed))
    }


def test_the_same_bytes_whatever_the_order_and_the_cutting(tmp_path, tellings, monkeypatch):
    monkeypatch.setattr(packing, "PART_EVENTS", 300)
    whole = el.pack(write_jsonl(tmp_path / "whole.jsonl", tellings), tmp_path / "whole")
    expected = content(tmp_path / "whole")
    assert len(whole.corpus.parts) > 2
    assert everything(whole.corpus) == Counter(tellings)
    shuffled = random.Random(1).sample(tellings, len(tellings))
    first = write_jsonl(tmp_path / "first.jsonl", shuffled[:500], id=3, other={"a": 1})
    second = write_lists(tmp_path / "second.parquet", shuffled[500:1200])
    third = tmp_path / "third.jsonl.gz"
    with gzip.open(third, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(list(one)) + "\n\n" for one in shuffled[1200:])
    monkeypatch.setattr(slices, "TEXT_GROWS", 1 << 14)
    monkeypatch.setattr("elision.scale.sources.TEXT_GROWS", 1 << 14)
    monkeypatch.setattr("elision.scale.sources.COLUMN_GROWS", 1 << 12)
    made = el.pack([third, first, second], tmp_path / "parts", memory="16 MiB")
    assert made.slices > 10
    assert content(tmp_path / "parts") == expected
    el.set_threads(1)
    try:
        el.pack([second, third, first], tmp_path / "parts", memory="20 MB")
    finally:
        el.set_threads(None)
    assert content(tmp_path / "parts") == expected
    assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith(".")) == []


def test_narratives_of_one_hash_are_told_apart(tmp_path, tellings, monkeypatch):
    plain = el.pack([tellings[:200]], tmp_path / "plain").corpus

    def nothing(rows, names):
        return np.zeros(len(rows.weight), np.uint64)

    monkeypatch.setattr(_spill, "hashed", nothing)
    alike = el.pack([tellings[:200]], tmp_path / "alike").corpus
    again = el.pack([tellings[100:200], tellings[:100]], tmp_path / "again").corpus
    assert everything(alike) == everything(plain)
    assert content(tmp_path / "alike") == content(tmp_path / "again")
    assert again.distinct == plain.distinct


def test_domains_have_a_folder_each(tmp_path, tellings):
    rows = {"events": [list(one) for one in tellings[:30]], "domain": ["at the door", "b"] * 15}
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    write_jsonl(tmp_path / "d.jsonl", tellings[:30:2], domain="at the door")
    write_jsonl(tmp_path / "e.jsonl", tellings[1:30:2], domain="b")
    made = el.pack([tmp_path / "d.parquet"], tmp_path / "p")
    el.pack([tmp_path / "e.jsonl", tmp_path / "d.jsonl"], tmp_path / "q")
    assert list(made.corpora) == ["at the door", "b"]
    assert everything(made.corpora["b"]) == Counter(tellings[1:30:2])
    assert content(tmp_path / "p") == content(tmp_path / "q")
    with pytest.raises(el.InputError, match="2 domains"):
        made.corpus  # noqa: B018


def test_lists_in_parquet_are_read_as_they_are_packed(tmp_path, tellings):
    rows = {"told": [list(one) for one in tellings[:30]], "who": ["a", "b"] * 15}
    pq.write_table(pa.table(rows), tmp_path / "d.parquet")
    read = el.read(tmp_path / "d.parquet", activity="told", domain="who")
    made = el.pack(tmp_path / "d.parquet", tmp_path / "p", activity="told", domain="who")
    for domain, part in read.by_domain().items():
        assert everything(made.corpora[domain]) == Counter(part.events)
    pq.write_table(pa.table({"events": [["a"], None]}), tmp_path / "d.parquet")
    for reader in (el.read, lambda path: el.pack(path, tmp_path / "p")):
        with pytest.raises(el.InputError, match=r"row index 1|narratives\[1\]"):
            reader(tmp_path / "d.parquet")


def test_samples_depend_on_the_narratives_and_the_seed_alone(tmp_path, tellings):
    corpus = el.pack([tellings], tmp_path / "p").corpus
    again = el.pack([tellings[::-1]], tmp_path / "q").corpus
    drawn = corpus.sample(500, seed=3)
    assert drawn == again.sample(500, seed=3) != corpus.sample(500, seed=4)
    assert len(drawn) == 500
    assert not Counter(drawn) - Counter(tellings)
    often, told = Counter(tellings).most_common(1)[0][::-1]
    assert abs(corpus.sample(2900).count(told) / 2900 - often / 3000) < 0.01
    assert corpus.sample(0) == []
    with pytest.raises(el.InputError, match="how many"):
        corpus.sample(-1)


def test_parts_travel(tmp_path, tellings):
    part = el.pack([tellings], tmp_path / "p").corpus.parts[0]
    sent = pickle.loads(pickle.dumps(part))  # noqa: S301
    assert np.array_equal(sent.load().symbol, part.load().symbol)
    before = part.path.read_bytes()
    loaded = part.load()
    loaded.symbol[:] = 0  # whoever writes to it has it for himself
    assert part.path.read_bytes() == before
    assert np.array_equal(sent.load().symbol, part.load().symbol)


def _cut(path):
    path.write_bytes(path.read_bytes()[:-8])


def _turned(path):
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 4
    path.write_bytes(whole)


@pytest.mark.parametrize("harm", [_cut, _turned, os.remove], ids=["cut", "turned", "removed"])
@pytest.mark.parametrize("name", ["corpus.json", "part-00000.bin"])
def test_damage_is_said_in_one_line(tmp_path, tellings, harm, name):
    el.pack([tellings[:50]], tmp_path / "p")
    harm(tmp_path / "p" / name)
    with pytest.raises(el.FileFormatError) as found:
        el.PackedCorpus.open(tmp_path / "p").sample(5)
    assert name in str(found.value)
    assert "packed corpus" in str(found.value)
    assert "\n" not in str(found.value)


def test_another_version_or_format_is_refused(tmp_path, tellings):
    el.pack([tellings[:50]], tmp_path / "p")
    header = tmp_path / "p" / "corpus.json"
    header.write_text(header.read_text().replace('"version": 1', '"version": 7'))
    with pytest.raises(el.FileFormatError, match=r"version 7.*newer release"):
        el.PackedCorpus.open(tmp_path / "p")
    with pytest.raises(el.FileFormatError, match="no packed corpus"):
        el.PackedCorpus.open(tmp_path)


def test_only_packed_corpora_are_replaced(tmp_path, tellings):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(el.InputError, match="other than a packed corpus"):
        el.pack([tellings], tmp_path / "mine")
    el.pack([tellings], tmp_path / "p")
    before = content(tmp_path / "p")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"events": ["a"]}\n{"events": [""]}\n')
    with pytest.raises(el.InputError, match=r"bad.jsonl line 2.*events\[0\]"):
        el.pack(bad, tmp_path / "p")
    assert content(tmp_path / "p") == before
    el.pack([tellings[:3]], tmp_path / "p")
    assert el.PackedCorpus.open(tmp_path / "p").narratives == 3
    with pytest.raises(el.InputError, match="are in this folder"):
        el.pack(tmp_path / "p" / "corpus.json", tmp_path / "p")
    assert {one.name for one in tmp_path.iterdir()} == {"mine", "p", "bad.jsonl"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"steps": ["I ring."]}', "sentences cannot be packed"),
        ("{", "not valid JSON"),
        ('{"events": ["a"], "steps": ["b", "c"]}', "1 events but 2 steps"),
    ],
)
def test_mistakes_far_down_a_file_have_their_line(tmp_path, monkeypatch, line, said):
    path = tmp_path / "far.jsonl"
    path.write_text('{"events": ["a", "b"]}\n' * 600 + line + "\n" + '{"events": []}\n' * 3)
    monkeypatch.setattr("elision.scale.sources.TEXT_GROWS", 1 << 13)
    with pytest.raises(el.InputError, match=said) as found:
        el.pack(path, tmp_path / "p", memory="16 MiB")
    assert "line 601" in str(found.value) or said.startswith("sentences")


def test_sizes_of_memory(tmp_path):
    for size, said in (("much", "no size"), ("1 MiB", "too little"), (True, "no size")):
        with pytest.raises(el.InputError, match=said):
            el.pack([[("a",)]], tmp_path / "p", memory=size)


def test_it_is_said_when_memory_bites(tmp_path, tellings, monkeypatch):
    path = write_jsonl(tmp_path / "t.jsonl", tellings)
    assert "pieces" not in str(el.pack(path, tmp_path / "p"))
    monkeypatch.setattr("elision.scale.sources.TEXT_GROWS", 1 << 10)
    made = el.pack(path, tmp_path / "p", memory="32 MiB")
    assert f"Read in {made.slices} pieces to keep to 32 MiB" in str(made)


def test_learning_from_a_packed_corpus(tmp_path, tellings, monkeypatch):
    corpus = el.pack([tellings[:300]], tmp_path / "p").corpus
    learner = el.ScriptLearner().fit(corpus)
    assert learner.script_.about == {"learner": "ScriptLearner", "narratives": 300}
    assert learner.n_narratives_seen_ == 300
    listed = el.ScriptLearner().fit(corpus.sample(300))
    assert listed.script_ == learner.script_
    monkeypatch.setattr(sampling, "MOST_NARRATIVES", 100)
    monkeypatch.setattr("elision.learn.learner.MOST_NARRATIVES", 100)
    for source in (corpus, tellings[:300]):
        script = el.ScriptLearner().fit(source).script_
        assert script.about["sample"] == 100
        assert sampling.said(script.about) == "learned from a sample of 100 of 300 narratives"
        assert script.outline().tellings == 100


def test_a_search_over_a_packed_corpus(tmp_path, monkeypatch, tellings):
    """Its structure from a sample, its parameters from all parts, as they are in memory."""
    monkeypatch.setattr("elision.learn.sem.MOST_SAMPLED", 60)
    monkeypatch.setattr(packing, "PART_EVENTS", 200)
    corpus = el.pack([tellings], tmp_path / "many").corpus
    assert len(corpus.parts) > 2
    before = content(tmp_path / "many")
    learner = el.SEMHMM(score="marginal").fit(corpus)
    assert content(tmp_path / "many") == before  # what is mapped is not written to
    script = learner.script_
    assert learner.n_narratives_seen_ == script.about["narratives"] == 3000
    assert script.about["sample"] == 60
    assert corpus.parts[0].load().symbol.flags.writeable  # so it is not copied at every pass
    sampled = el.SEMHMM(score="marginal", events=corpus.events).fit(corpus.sample(60)).script_
    assert sampled.size == script.size
    assert script.log_probs(tellings).mean() > sampled.log_probs(tellings).mean() + 0.1

    monkeypatch.setattr(packing, "PART_EVENTS", 1 << 20)
    whole = el.pack([tellings], tmp_path / "one").corpus
    assert len(whole.parts) == 1
    prior = pseudocounts(Prior(), len(corpus.events), Parts(corpus.parts))
    stop = Converged(0, 3)
    told = Packer(corpus.events).pack(tellings)
    in_memory = run_em(script.parameters, told, prior, stop=stop)
    for one in (corpus, whole):
        on_disk = run_em(script.parameters, Parts(one.parts), prior, stop=stop)
        np.testing.assert_allclose(on_disk.history, in_memory.history, rtol=1e-10)
        np.testing.assert_allclose(
            on_disk.parameters.emission, in_memory.parameters.emission, rtol=1e-8, atol=1e-12
        )
