"""Event logs packed in parts: as they are read whole, wherever the rows of a case stand."""

from __future__ import annotations

import gzip
import random
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elision as el

HEADER = "case_id;activity;timestamp"


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log whose rows stand in no order."""
    path = tmp_path_factory.mktemp("log") / "orders.csv"
    el.examples.orders(300).write(path)
    head, *rows = path.read_text().splitlines()
    random.Random(0).shuffle(rows)
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.fixture
def cut(monkeypatch):
    """Files are cut into very small pieces."""
    monkeypatch.setattr("elision.scale.sources.COLUMN_GROWS", 1 << 11)


def packed(path, folder, **options):
    made = el.pack(path, folder, memory="16 MiB", **options)
    corpus = made.corpus
    return made, Counter(corpus.sample(corpus.narratives))


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_log_in_pieces_is_the_log_as_a_whole(tmp_path, log, cut):
    made, told = packed(log, tmp_path / "p")
    assert made.slices > 3
    assert told == Counter(el.read(log).events)


def test_the_same_bytes_in_every_format(tmp_path, log, cut):
    packed(log, tmp_path / "csv")
    expected = bytes_of(tmp_path / "csv")
    head, *rows = log.read_text().splitlines()
    files = {}
    quoted = tmp_path / "quoted.csv"
    quoted.write_text("\n".join('"' + row.replace(";", '";"') + '"' for row in [head, *rows]))
    files["quoted"] = [quoted]
    with gzip.open(tmp_path / "log.csv.gz", "wt", encoding="utf-8") as file:
        file.write(log.read_text())
    files["gzip"] = [tmp_path / "log.csv.gz"]
    (tmp_path / "log.tsv").write_text("\r\n".join([head, *rows]).replace(";", "\t"), "utf-16")
    frame = pd.read_csv(log, sep=";")
    frame["timestamp"] = pd.to_datetime(frame["timestamp"], format="%d.%m.%Y %H:%M")
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=500)
    files["parquet"] = [tmp_path / "log.parquet"]
    frame.to_csv(tmp_path / "iso.csv", index=False)
    files["iso"] = [tmp_path / "iso.csv"]
    frame["timestamp"] = frame["timestamp"].dt.tz_localize("Europe/Zurich")
    frame.to_csv(tmp_path / "zoned.csv", index=False)
    files["zoned"] = [tmp_path / "zoned.csv"]
    for number, part in enumerate((rows[500:], rows[:500])):
        (tmp_path / f"{number}.csv").write_text("\n".join([head, *part]))
        files.setdefault("two files", []).append(tmp_path / f"{number}.csv")
    for name, paths in files.items():
        packed(paths, tmp_path / name)
        assert bytes_of(tmp_path / name) == expected, name
    packed(tmp_path / "log.tsv", tmp_path / "utf-16", encoding="utf-16")
    assert bytes_of(tmp_path / "utf-16") == expected


rows_of_logs = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", " x "]),
        st.sampled_from(["a", "b,c", 'say "d"', "e\nf"]),
        st.integers(0, 3),
        st.sampled_from(["", "start", "Complete", "complete"]),
        st.sampled_from(["", "home", "work"]),
    ),
    min_size=1,
    max_size=12,
)


@given(rows_of_logs, st.sampled_from(["complete", "all"]), st.booleans())
@settings(max_examples=20)
def test_logs_are_packed_as_they_are_read(tmp_path_factory, rows, lifecycle, timed):
    folder = tmp_path_factory.mktemp("logs")
    names = ["case", "activity", "time", "lifecycle:transition", "domain"]
    pd.DataFrame(rows, columns=names).to_csv(folder / "log.csv", index=False)
    options = {"lifecycle": lifecycle, "time": None if timed else ""}
    whole = el.read(folder / "log.csv", **options)
    made = el.pack(folder / "log.csv", folder / "p", **options)
    assert {name: Counter(one.sample(one.narratives)) for name, one in made.corpora.items()} == {
        name: Counter(part.events) for name, part in whole.by_domain().items()
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1;a;2024-01-01\n2; ;2024-01-01", "line 3, column 'activity'"),
        ("1;a;2024-01-01\n2;b", "line 3: 2 cells; expected 3"),
        ("1;a;2024-01-01\n2;b;soon", "row 2 below the header.*'soon' is not a timestamp"),
        ("1;a;01/02/2024\n1;b;03/01/2024", "'01/02/2024' and all other.*time_format="),
        ('1;"a;2024-01-01\n', "not valid CSV"),
        ("", "no narratives"),
    ],
)
def test_mistakes_of_logs(tmp_path, text, said):
    (tmp_path / "log.csv").write_text(f"{HEADER}\n{text}\n" if text else f"{HEADER}\n")
    with pytest.raises(el.InputError, match=said) as found:
        el.pack(tmp_path / "log.csv", tmp_path / "p")
    assert "\n" not in str(found.value)
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_times_must_be_of_one_form_in_all_files(tmp_path):
    (tmp_path / "a.csv").write_text(f"{HEADER}\n1;a;2024-01-01 10:00\n")
    (tmp_path / "b.csv").write_text(f"{HEADER}\n1;b;31.12.2023 10:00\n")
    with pytest.raises(el.InputError, match=r"not of one form: dmy.*ymd"):
        el.pack([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "p")
    (tmp_path / "c.csv").write_text(f"{HEADER}\n1;b;01.02.2024 10:00\n1;a;02.03.2024 10:00\n")
    made, told = packed([tmp_path / "c.csv", tmp_path / "b.csv"], tmp_path / "p")
    assert told == {("b", "b", "a"): 1}  # the day comes first, as the other file says
    assert made.files == 2


def test_nulls_in_parquet_have_their_row(tmp_path):
    for column, said in (("case", "null; expected text"), ("time", "not a timestamp")):
        frame = pd.DataFrame({"case": ["1"] * 9, "activity": ["a"] * 9, "time": range(9)})
        frame[column] = frame[column].astype(object)
        frame.loc[6, column] = None
        frame.to_parquet(tmp_path / "log.parquet", row_group_size=4)
        with pytest.raises(el.InputError, match=said) as found:
            el.pack(tmp_path / "log.parquet", tmp_path / "p")
        assert "row index 6" in str(found.value)
