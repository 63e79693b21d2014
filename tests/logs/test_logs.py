"""Logs kept whole: what came stays as it was, and what is inserted stands where it should."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.errors import InputError
from elision.io import read
from elision.logs.log import Insertion, Log, read_log
from elision.repairing.repaired import Repaired

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2024, 5, 13, 8, tzinfo=UTC)
FORMS = ["%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%S.%f%z", "%s"]
FORMATS = ["csv", "parquet", "xes"]
MARKS = ["elision:inserted", "elision:probability", "elision:alternatives"]
MARKS += ["elision:earliest", "elision:latest"]


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[list[str]], list[tuple[Any, ...]]]:
    """Rows of a table in any order, and what to insert."""
    form = draw(st.sampled_from(FORMS))
    text = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=4)
    rows = []
    for case in range(draw(st.integers(1, 4))):
        for _ in range(draw(st.integers(1, 5))):
            time = START + timedelta(minutes=draw(st.integers(0, 20)), days=case)
            event = draw(st.sampled_from(["ring", "walk", 'o"pen', "a,b\nc"]))
            stamp = str(int(time.timestamp())) if form == "%s" else time.strftime(form)
            rows.append([f"c{case}", event, stamp, draw(text), f"kind {case}"])
    rows = draw(st.permutations(rows))
    order: dict[str, int] = {}
    for row in rows:
        order[row[0]] = order.get(row[0], 0) + 1
    insertions = []
    for _ in range(draw(st.integers(0, 5))):
        case = draw(st.integers(0, len(order) - 1))
        gap = draw(st.integers(0, list(order.values())[case]))
        insertions.append((case, gap, f"new {len(insertions)}", 0.5, (("x", 0.25),)))
    return rows, insertions


def put_in(source: Any, *new: tuple[Any, ...], **options: Any) -> Repaired:
    """A log with events put in: number of the case, gap, event, probability and alternatives."""
    log = source if isinstance(source, Log) else read_log(source, **options)
    made = [
        (one[0], Insertion(log.cases[one[0]].id, "", *one[1:], *(0.5, ())[len(one) - 3 :]))
        for one in new
    ]
    report: Any = None
    return Repaired(report, tuple(one for _, one in made), log, tuple(log.placed(made)))


def csv_text(rows: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(["case:concept:name", "concept:name", "time:timestamp", "note", "case:kind"])
    writer.writerows(rows)
    return text.getvalue()


def expected(log: Log, insertions: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """The events of each case with what is inserted, written from the definition."""
    found = []
    for number, case in enumerate(log.cases):
        told: list[str] = []
        for gap in range(len(case.events) + 1):
            told += [one[2] for one in insertions if one[:2] == (number, gap)]
            told += case.events[gap : gap + 1]
        found.append(tuple(told))
    return found


class TestTables:
    @given(logs(), st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]))
    @settings(max_examples=40)
    def test_csv_stays_as_it_was(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        drawn: tuple[list[list[str]], list[tuple[Any, ...]]],
        delimiter: str,
        end: str,
    ) -> None:
        rows, insertions = drawn
        text = csv_text(rows, delimiter, end)
        log = read_log(io.StringIO(text), format="csv")
        path = tmp_path_factory.mktemp("log") / "log.csv"
        put_in(log, *insertions).write(path)
        with path.open(newline="", encoding="utf-8") as file:
            header, *lines = csv.reader(file, delimiter=delimiter)
        assert header[5:] == MARKS
        old = [line for line in lines if line[5] == "false"]
        assert [line[:5] for line in old] == rows
        assert all(not any(line[6:]) for line in old)
        assert len(lines) == len(rows) + len(insertions)
        for line in lines:
            if line[5] == "true":
                assert line[4] == f"kind {line[0][1:]}"
                assert line[6:8] == ["0.5", '{"x":0.25}']

    @given(logs(), st.sampled_from(FORMATS))
    @settings(max_examples=50)
    def test_read_again_it_is_the_repaired_log(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        drawn: tuple[list[list[str]], list[tuple[Any, ...]]],
        kind: str,
    ) -> None:
        rows, insertions = drawn
        log = read_log(io.StringIO(csv_text(rows)), format="csv")
        path = tmp_path_factory.mktemp("log") / f"log.{kind}"
        put_in(log, *insertions).write(path)
        # An epoch of seconds is a number in XES, and its rows are in order already.
        again = read(path)
        assert [one.id for one in again] == [case.id for case in log.cases]
        assert again.events == expected(log, insertions)

    @given(logs(), st.sampled_from(["pandas", "polars", "pyarrow"]), st.booleans())
    @settings(max_examples=40)
    def test_frames_come_back_as_they_were(
        self, drawn: tuple[list[list[str]], list[tuple[Any, ...]]], backend: str, dates: bool
    ) -> None:
        rows, insertions = drawn
        names = ["case", "activity", "time", "note", "case:kind"]
        polars = pl.DataFrame(rows, schema=names, orient="row").with_columns(
            cost=pl.int_range(len(rows)), odd=pl.int_range(len(rows)) % 2 == 1
        )
        if dates:
            moments = [START + timedelta(microseconds=hash(row[2]) % 10**9) for row in rows]
            polars = polars.with_columns(time=pl.Series(moments, dtype=pl.Datetime("us", "UTC")))
        frame = {"pandas": polars.to_pandas, "polars": lambda: polars, "pyarrow": polars.to_arrow}
        native = frame[backend]()
        log = read_log(native)
        made = put_in(log, *insertions).to_frame()
        assert type(made) is type(native)
        again = pl.DataFrame(made) if backend != "polars" else made
        old = again.filter(~pl.col("elision:inserted")).drop(MARKS)
        assert old.rows() == polars.rows()
        assert len(again) == len(rows) + len(insertions)
        assert read(made).events == expected(log, insertions)
        if backend == "polars":
            assert old.schema == polars.schema
        if backend == "pyarrow":
            assert made.select(polars.columns).schema.types == native.schema.types

    def test_times_lie_between(self) -> None:
        text = "case,activity,time\n1,a,13.05.2024 09:00\n1,b,13.05.2024 09:10\n"
        log = read_log(io.StringIO(text))
        inserted = [
            (0, 1, "x"),
            (0, 0, "first"),
            (0, 1, "y"),
            (0, 2, "last"),
        ]
        frame = put_in(log, *inserted).to_frame("polars").fill_null("-")
        columns = ["activity", "time", "elision:earliest", "elision:latest"]
        assert frame.filter("elision:inserted").select(columns).rows() == [
            ("first", "13.05.2024 09:00", "-", "13.05.2024 09:00"),
            ("x", "13.05.2024 09:03", "13.05.2024 09:00", "13.05.2024 09:10"),
            ("y", "13.05.2024 09:06", "13.05.2024 09:00", "13.05.2024 09:10"),
            ("last", "13.05.2024 09:10", "13.05.2024 09:10", "-"),
        ]

    def test_nanoseconds_stay_exact(self) -> None:
        times = pd.to_datetime([1349794217000000001, 1349794217000000004])
        frame = pd.DataFrame({"case": [1, 1], "activity": ["a", "b"], "time": times})
        made = put_in(read_log(frame), (0, 1, "x"), (0, 1, "y")).to_frame()
        assert made["time"].astype("int64").tolist() == [
            1349794217000000000 + k for k in (1, 2, 3, 4)
        ]

    def test_types_of_pandas(self) -> None:
        frame = pd.DataFrame(
            {
                "case": [1, 1],
                "activity": pd.Categorical(["a", "b"]),
                "time": pd.to_datetime(["2024-01-01", "2024-01-03"]).tz_localize("Europe/Berlin"),
                "cost": pd.array([1, 2], dtype="uint8"),
                "flag": [True, False],
                "lifecycle:transition": ["complete", "start"],
                0: [None, {"deep": 1}],
            },
            index=["p", "q"],
        )
        log = read_log(frame, lifecycle="all")
        made = put_in(log, (0, 1, "new", 0.7)).to_frame()
        kinds = ["int64", "category", str(frame["time"].dtype), "UInt8", "boolean"]
        assert [str(kind) for kind in made.dtypes][:5] == kinds
        assert made.index.tolist() == ["p", "p", "q"]
        assert made["activity"].tolist() == ["a", "new", "b"]
        assert made["lifecycle:transition"].tolist() == ["complete", "complete", "start"]
        assert made[0].tolist()[2] == {"deep": 1}
        assert str(made["time"].iloc[1]) == "2024-01-02 00:00:00+01:00"
        assert made["elision:probability"].tolist()[1] == 0.7
        kept = put_in(log).to_frame()
        pd.testing.assert_frame_equal(kept[frame.columns], frame)

    def test_a_log_repaired_before(self) -> None:
        text = "case,activity\n1,a\n1,b\n"
        once = put_in(read_log(io.StringIO(text)), (0, 1, "x", 0.9))
        for backend in ("pandas", "polars", "pyarrow"):
            twice = put_in(read_log(once.to_frame(backend)), (0, 3, "z", 0.6))
            rows = twice.to_frame("polars").rows()
            assert [row[1:4] for row in rows] == [
                ("a", False, None),
                ("x", True, 0.9),
                ("b", False, None),
                ("z", True, 0.6),
            ]

    def test_lifecycles(self) -> None:
        text = (
            "case,activity,time,lifecycle:transition\n"
            "1,a,2024-01-01,start\n1,a,2024-01-02,complete\n1,b,2024-01-03,start\n"
            "1,b,2024-01-05,complete\n2,c,2024-01-01,start\n"
        )
        log = read_log(io.StringIO(text))
        assert log.traces == [("a", "b"), ()]
        made = put_in(log, (0, 1, "x")).to_frame()
        assert made["activity"].to_list() == ["a", "a", "x", "b", "b", "c"]
        assert read(made).events == [("a", "x", "b"), ()]

    def test_numbered_activities(self) -> None:
        frame = pl.DataFrame({"case": [1, 1], "activity": [10, 20]})
        log = read_log(frame)
        made = put_in(log, (0, 1, "15")).to_frame()
        assert made["activity"].to_list() == [10, 15, 20]
        with pytest.raises(
            InputError, match="'wait' does not fit column 'activity' of whole numbers"
        ):
            put_in(log, (0, 1, "wait")).to_frame()

    def test_what_is_refused(self, tmp_path: Path) -> None:
        log = put_in([["a", "b"]])
        with pytest.raises(InputError, match=r"cannot tell the format from the suffix '.doc'"):
            log.write(tmp_path / "log.doc")
        with pytest.raises(InputError, match="backend 'abacus', expected 'pandas', 'polars'"):
            log.to_frame("abacus")
        with pytest.raises(InputError, match="there is no option 'colour'"):
            read_log([["a"]], colour="red")
        text = "case,activity,time\n1,a,01/02/2024\n1,b,03/04/2024\n"
        with pytest.raises(InputError, match="may have the day or the month first"):
            read_log(io.StringIO(text))  # the order is clear, the times are not
        assert read(io.StringIO(text)).events == [("a", "b")]


def event(name: str, time: str, more: str = "") -> str:
    return (
        f'\n    <event>\n      <string key="concept:name" value="{name}"/>\n'
        f'      <date key="time:timestamp" value="{time}"/>{more}\n    </event>'
    )


NESTED = '<string key="org:resource" value="Zoë"><int key="age" value="3"/></string><list key="l"/>'
XES = f"""<?xml version="1.0" encoding="{{}}"?>
<!-- a log -->
<log xes.version="1.0">
  <classifier name="Activity" keys="concept:name"/>
  <trace>
    <string key="concept:name" value="T1"/><float key="amount" value="2.50"/>
    {event("b", "2024-01-01T03:00:00+01:00", NESTED)}{event("a", "2024-01-01T00:00:00Z")}
  </trace>
  <trace/>
  <trace>{event("c", "2024-01-01T00:00:00.000Z")}
  </trace>
  <trace></trace>
</log>
<!-- the end -->
"""
INSERTED = [
    (0, 1, "n&<ew> ä", 0.75, (("other", 0.2),)),
    (2, 0, "first"),
]


class TestXes:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
    def test_bytes_stay_as_they_were(self, tmp_path: Path, encoding: str) -> None:
        content = XES.format(encoding).encode(encoding)
        (tmp_path / "log.xes").write_bytes(content)
        log = read_log(tmp_path / "log.xes")
        put_in(log).write(tmp_path / "same.xes")
        assert (tmp_path / "same.xes").read_bytes() == content
        put_in(log, *INSERTED).write(tmp_path / "new.xes")
        again = read(tmp_path / "new.xes")
        assert again.events == [
            ("a", "n&<ew> ä", "b"),
            (),
            ("first", "c"),
            (),
        ]
        new = (tmp_path / "new.xes").read_bytes().decode(encoding)
        # Without what is marked as inserted, nothing has changed.
        assert new.count("elision:inserted") == 2
        for part in (NESTED, "<!-- the end -->", '<float key="amount" value="2.50"/>'):
            assert part in new
        assert '<date key="time:timestamp" value="2024-01-01T01:00:00Z"/>' in new

    def test_text_is_utf8_whatever_it_says(self, tmp_path: Path) -> None:
        put_in(io.StringIO(XES.format("iso-8859-1"))).write(tmp_path / "log.xes")
        assert (tmp_path / "log.xes").read_bytes() == XES.format("UTF-8").encode()

    def test_as_a_table(self) -> None:
        log = put_in(io.StringIO(XES.format("utf-8")), *INSERTED)
        frame = log.to_frame("polars")
        assert frame["case:concept:name"].to_list() == ["T1", "T1", "T1", "2", "2"]
        assert frame["case:amount"].to_list() == [2.5, 2.5, 2.5, None, None]
        assert frame["org:resource"].to_list() == ["Zoë", None, None, None, None]
        assert read(frame).events == [("a", "n&<ew> ä", "b"), ("first", "c")]


class TestRecords:
    def test_fields_are_kept(self, tmp_path: Path) -> None:
        records = [
            {
                "id": "1",
                "events": ["a", "b"],
                "who": ["x", "y"],
                "mood": "good",
                "steps": ["A", "B"],
            },
            {"id": "2", "events": ["c"], "who": ["z"], "tags": [1, 2]},
            {"id": "3", "events": []},
        ]
        records[0]["steps"] = ["A", "B"]
        path = tmp_path / "log.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        log = read_log(path)
        frame = log.frame()
        assert frame.columns == [
            *("case:concept:name", "concept:name", "step", "who", "case:mood", "case:tags")
        ]

    def test_times_of_narratives(self) -> None:
        record = {"events": ["a", "b"], "timestamp": ["2024-01-01", "2024-01-03"]}
        made = put_in(read_log([record]), (0, 1, "x")).to_frame()
        assert made["timestamp"].to_list() == ["2024-01-01", "2024-01-02", "2024-01-03"]

    def test_sentences_alone_are_refused(self) -> None:
        with pytest.raises(InputError, match="it has no events"):
            read_log([{"steps": ["A."]}])
