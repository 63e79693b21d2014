"""Files read in parts: the same narratives and the same scripts as of files read whole."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import elision as el
from elision.cli import learning
from elision.io import large
from elision.values.variants import Variants

STEPS = ("ask", "check", "größe", "pay", "ship ", "walk to door")


def told(number, seed=0):
    kept = np.random.default_rng(seed).random((number, len(STEPS))) < 0.6
    return [[step for step, here in zip(STEPS, row, strict=True) if here] for row in kept]


def log(seed=0):
    """Rows in no order, the times of a case often the same."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"case {k}", step, f"2024-01-{1 + place:02d} {rng.integers(0, 2):02d}:00:00", "ab"[k % 2])
        for k, one in enumerate(told(80, seed))
        for place, step in enumerate(one)
    ]
    rng.shuffle(rows)
    frame = pl.DataFrame(rows, ["case", "activity", "timestamp", "kind"], orient="row")
    phase = pl.Series("lifecycle", rng.choice(["start", "complete"], len(frame)))
    return frame.with_columns(phase)


def write(name):
    frame = log()
    lists = pl.DataFrame({"events": told(200)})
    if name == "log.csv":
        frame.drop("lifecycle").write_csv(name)
    elif name == "log.tsv":
        frame.write_csv(name, separator="\t")
    elif name == "log.parquet":
        frame.with_columns(pl.col("timestamp").str.to_datetime()).write_parquet(name)
    elif name == "numbers.parquet":
        case = pl.col("case").str.slice(5).cast(pl.Int64)
        frame.drop("lifecycle").with_columns(case).write_parquet(name)
    elif name == "lists.parquet":
        lists.with_columns(domain=pl.Series(["a", "b", None, "a"] * 50)).write_parquet(name)
    elif name == "empty.parquet":
        pl.DataFrame({"events": [[], []]}, {"events": pl.List(pl.String)}).write_parquet(name)
    else:
        records = [{"events": one, "domain": "ab"[k % 2]} for k, one in enumerate(told(200))]
        content = "".join(json.dumps(one) + "\n" for one in records).encode()
        Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore::elision.errors.ReadingWarning")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("log.csv", {}),
        ("log.csv", {"domain": "kind"}),
        ("log.csv", {"time": ""}),
        ("log.tsv", {}),
        ("log.tsv", {"lifecycle": "all"}),
        ("log.parquet", {"domain": "kind"}),
        ("numbers.parquet", {}),
        ("lists.parquet", {}),
        ("lists.parquet", {"domain": ""}),
        ("empty.parquet", {}),
        ("lines.jsonl", {}),
        ("lines.jsonl.gz", {}),
    ],
)
def test_the_same_narratives_as_of_a_file_read_whole(name, options, monkeypatch):
    monkeypatch.setattr(large, "LINES", 7)
    write(name)
    corpus, found = el.read(name, **options), el.read_variants(name, **options)
    assert [*found] == corpus.events
    assert [found.domains[k] for k in found.domain_of.tolist()] == [one.domain for one in corpus]
    whole = Variants.of(corpus.events, [one.domain for one in corpus])
    assert (found.names, found.domains) == (whole.names, whole.domains)
    for part in ("symbol", "offset", "place"):
        np.testing.assert_array_equal(getattr(found, part), getattr(whole, part))
    for domain, part in corpus.by_domain().items():
        one = found.by_domain()[domain]
        assert [*one] == part.events
        assert one.names == part.vocabulary
    assert found.times.sum() == len(corpus)


@pytest.mark.parametrize("learner", [el.ScriptLearner(), el.SEMHMM(score="approx")])
@pytest.mark.parametrize("most", [100_000, 150])
def test_the_same_script(learner, most, monkeypatch):
    monkeypatch.setattr("elision.learn.learner.MOST_NARRATIVES", most)
    pl.DataFrame({"events": told(200)}).write_parquet("lists.parquet")
    learner.fit(el.read("lists.parquet")).script_.save("whole.json")
    learner.fit(el.read_variants("lists.parquet")).script_.save("parts.json")
    assert Path("whole.json").read_bytes() == Path("parts.json").read_bytes()
    if isinstance(learner, el.ScriptLearner) and most == 150:
        assert el.load("parts.json").about["sample"] == 150


def test_the_command_says_what_it_learned_from(elision, monkeypatch):
    monkeypatch.setattr("elision.learn.learner.MOST_NARRATIVES", 150)
    write("lists.parquet")
    pl.DataFrame({"events": told(200)}).write_parquet("one.parquet")
    whole = elision("learn", "one.parquet", "-o", "whole.json", "--json")
    several = elision("learn", "lists.parquet", "-o", "whole/")
    monkeypatch.setattr(learning, "LARGE", 0)
    assert elision("learn", "one.parquet", "-o", "parts.json", "--json") == (
        whole[0], whole[1].replace("whole.json", "parts.json"), whole[2],
    )  # fmt: skip
    assert Path("whole.json").read_bytes() == Path("parts.json").read_bytes()
    out = elision("learn", "one.parquet", "-o", "parts.json")[1]
    assert out.endswith("learned from a sample of 150 of 200 narratives\n")
    assert several[0] == elision("learn", "lists.parquet", "-o", "parts/")[0] == 0
    for path in Path("whole").iterdir():
        assert path.read_bytes() == Path("parts", path.name).read_bytes()


def test_sentences_are_read_whole(elision, monkeypatch):
    monkeypatch.setattr(learning, "LARGE", 0)
    Path("told.jsonl").write_text('{"steps": ["I ring the bell.", "I open the door."]}\n' * 5)
    assert elision("learn", "told.jsonl", "-o", "script.json")[0] == 0
    assert el.load("script.json").extractor is not None
    with pytest.raises(el.InputError, match="it has no events"):
        el.read_variants("told.jsonl")


BAD = {
    "a blank case": ("case,activity\n1,a\n ,b\n", "log.csv line 3, column 'case'"),
    "no activity": ("case,activity\n1,a\n2,\n", "log.csv line 3, column 'activity'"),
    "no time": ("case,activity,time\n1,a,2024-01-01\n1,b,soon\n", "'soon' is not a timestamp"),
    "times of several kinds": (
        "case,activity,time\n1,a,2024-01-01\n1,b,12:30\n",
        "log.csv line 3, column 'time': '12:30' is not a timestamp",
    ),
    "two ways to read times": (
        "case,activity,time\n1,a,01/02/2024\n1,b,02/01/2024\n",
        "may have the day or the month first",
    ),
    "no such column": ("what,who\n1,a\n", "no column looks like the case"),
    "nothing but a header": ("case,activity\n", "there are no narratives in it"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_rows(what):
    content, said = BAD[what]
    Path("log.csv").write_text(content)
    with pytest.raises(el.InputError) as whole:
        el.read("log.csv")
    with pytest.raises(el.InputError) as parts:
        el.read_variants("log.csv")
    assert said in str(parts.value)
    assert said in str(whole.value)


def test_bad_lists():
    for events in (["a", ""], ["a", None], None):
        pl.DataFrame({"events": [["b"], events]}).write_parquet("lists.parquet")
        with pytest.raises(el.InputError, match=r"lists.parquet narratives\[1\]"):
            el.read_variants("lists.parquet")
    with pytest.raises(el.InputError, match="no column 'x' for the domain"):
        el.read_variants("lists.parquet", domain="x")


def test_a_domain_that_there_is_not():
    found = Variants.of([["a"], ["b"]], ["x", "y"])
    with pytest.raises(el.InputError, match=r"no domain 'z'.*it has 'x', 'y'"):
        found.domain("z")
    with pytest.raises(el.InputError, match="2 domains"):
        el.ScriptLearner().fit(found)


def test_very_many_kinds_of_events():
    """More than there are characters before those that stand for none."""
    names = [f"event {number}" for number in range(56_000)]
    pl.DataFrame({"events": [names[k : k + 7] for k in range(0, 56_000, 7)]}).write_parquet("l.pq")
    found = el.read_variants("l.pq")
    assert sorted(names) == list(found.names)
    assert [event for one in found for event in one] == names
