"""Tables: CSV, frames and Parquet, and every way in which one can be wrong."""

from __future__ import annotations

import csv
import io
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.errors import InputError, ReadingWarning
from elision.io import read
from elision.io.preview import is_untimed
from elision.logs.log import read_log
from elision.values.narrative import Narrative
from sources import CSV, EVENTS, FILES, TABLE, parquet, put

if TYPE_CHECKING:
    from pathlib import Path


class TestTables:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters(self, delimiter: str) -> None:
        assert read(io.StringIO(CSV.replace(",", delimiter)), format="csv").events == EVENTS

    @given(
        st.lists(st.tuples(*[st.text(min_size=1).filter(str.strip)] * 3), min_size=1, max_size=12),
        st.sampled_from([",", ";", "\t", "|"]),
    )
    def test_any_text_in_cells(self, rows: list[tuple[str, str, str]], delimiter: str) -> None:
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer, delimiter=delimiter)
        writer.writerow(["Case ID", "Activity", "domain"])
        writer.writerows(rows)
        corpus = read(io.BytesIO(buffer.getvalue().encode()), format="csv")
        expected: dict[tuple[str, str], list[str]] = {}
        for case, activity, domain in rows:
            expected.setdefault((domain, case), []).append(activity)
        assert [(n.domain, n.id) for n in corpus] == list(expected)
        assert corpus.events == list(map(tuple, expected.values()))
        frame = pl.DataFrame(rows, schema=["case", "activity", "domain"], orient="row")
        assert read(frame) == corpus

    @pytest.mark.parametrize(
        "header",
        [
            "case:concept:name,concept:name,time:timestamp",
            "CaseID,ActivityID,CompleteTimestamp",
            "Case ID,Activity,Complete Timestamp",
            "case_id,event,timestamp",
            " trace_id ,event_name,date",
            '"case","activity","start_time"',
            "process_instance,Task Name,event timestamp",
            "Ticket ID,step,End Date",
        ],
    )
    def test_common_names(self, header: str) -> None:
        assert read(io.StringIO(CSV.replace("case,activity,time", header))).events == EVENTS

    def test_surer_names_come_first(self) -> None:
        header = "Case ID,activity,case:concept:name,concept:name,time:timestamp,time"
        row = "x,y,c,a,2024-01-02,never"
        assert read(io.StringIO(f"{header}\n{row}\n"))[0] == Narrative(("a",), id="c")

    def test_columns_by_option(self) -> None:
        text = CSV.replace("case,activity,time", "who,activity,when")
        assert read(io.StringIO(text), case="who", time="when").events == EVENTS
        assert read(io.StringIO(text), case="who").events == EVENTS
        unsorted = read(io.StringIO(text), case="who", time="").events[0]
        assert unsorted == ("walk", "hear bell", "open door")
        assert read(io.StringIO(CSV), time="").events[0] == unsorted
        # A column that is asked for is no longer free to be guessed.
        swapped = read(io.StringIO("case,activity,event\n1,a,b\n"), case="activity")
        assert swapped[0] == Narrative(("b",), id="a")

    def test_domain_column(self) -> None:
        text = "domain,case,activity\ntea,1,boil\ndoor,1,open\ntea,1,pour\n,2,x\n"
        corpus = read(io.StringIO(text))
        assert corpus.domains == ("tea", "door", "")
        assert corpus.events == [("boil", "pour"), ("open",), ("x",)]
        assert read(io.StringIO(text), domain="").events == [("boil", "open", "pour"), ("x",)]
        other = text.replace("domain", "kind")
        assert read(io.StringIO(other), domain="kind").domains == corpus.domains

    @pytest.mark.parametrize(
        ("times", "expected"),
        [
            (["2024-01-02", "2024-01-01"], "ba"),
            (["2024/01/02 10:00:00.000", "2024/01/01 11:00"], "ba"),
            (["2024-01-02 10:00:00 +0200", "2024-01-02 09:00:00 +00:00"], "ab"),
            (["2024-01-01T10:00:00.2Z", "2024-01-01T10:00:00.1234567Z"], "ba"),
            (["10", "9"], "ba"),
            (["1.5e-3", "-2.5"], "ba"),
            (["1349794217000000001", "1349794217000000000"], "ba"),
            (["20240102", "20240101"], "ba"),
            (["5", "5"], "ab"),
        ],
    )
    def test_times(self, times: list[str], expected: str) -> None:
        text = f"case,activity,time\n1,a,{times[0]}\n1,b,{times[1]}\n"
        assert read(io.StringIO(text)).events == [tuple(expected)]
        frame = pd.DataFrame({"case": [1, 1], "activity": ["a", "b"], "time": times})
        assert read(frame).events == [tuple(expected)]

    @pytest.mark.parametrize(
        "name", ["created_at", "When", "Start", "occurred", "eventdate", "Zeitpunkt"]
    )
    def test_the_only_column_of_dates_is_the_time(self, name: str, tmp_path: Path) -> None:
        frame = TABLE.rename(columns={"time": name}).assign(version="1.2.10", size=7)
        assert read(frame).events == EVENTS
        assert read(pl.from_pandas(frame).lazy()).events == EVENTS
        assert read(io.StringIO(frame.to_csv(index=False))).events == EVENTS
        frame.to_parquet(tmp_path / "log.parquet")
        assert read(tmp_path / "log.parquet").events == EVENTS
        for path in (tmp_path / "log.parquet", put(tmp_path, "log.csv", frame.to_csv())):
            assert not is_untimed(path)
            assert not is_untimed(path, time="")
            assert read_log(path).traces == EVENTS

    @pytest.mark.parametrize(
        ("columns", "expected"),
        [
            ("due,born\n1,b,2024-01-02,1999-01-02\n1,a,2024-01-01,1999-01-01", "ba"),
            ("start,born\n1,b,2024-01-02,1999-01-02\n1,a,2024-01-01,1999-01-03", "ab"),
            ("start,end\n1,b,2024-01-01,2024-01-09\n1,a,2024-01-02,2024-01-08", "ab"),
            ("created,size\n1,b,1704067202,1\n1,a,1704067201,2", "ab"),
            ("end,size\n1,b,yes,2\n1,a,no,1", "ba"),
            ("paid,size\n1,b,2024-01-02,2\n1,a,,1", "ba"),
        ],
    )
    def test_of_several_columns_the_name_decides(
        self, columns: str, expected: str, tmp_path: Path
    ) -> None:
        text = f"case,activity,{columns}"
        assert read(io.StringIO(text)).events == [tuple(expected)]
        path = put(tmp_path, "log.csv", text)
        assert is_untimed(path) == (expected == "ba")

    def test_lifecycle_column(self) -> None:
        text = "case,activity,lifecycle:transition\n1,a,start\n1,a,COMPLETE\n2,b,start\n2,c,\n"
        assert read(io.StringIO(text)).events == [("a",), ("c",)]
        assert read(io.StringIO(text), lifecycle="all").events == [("a", "a"), ("b", "c")]

    @pytest.mark.parametrize(
        "name", ["lifecycle", "Lifecycle_Transition", "transition", "event_type", "lifecycle state"]
    )
    def test_a_column_like_a_lifecycle(self, name: str, tmp_path: Path) -> None:
        text = f"case,activity,{name}\n1,a,start\n1,a,Complete\n2,b,schedule\n2,b,COMPLETE\n2,c,\n"
        said = f"column '{name}': only what is complete is read, 3 of 5 .*lifecycle='all'"
        path = put(tmp_path, "log.csv", text)
        packed = put(tmp_path, "log.parquet", parquet(pd.read_csv(path)))
        for source in (path, pd.read_csv(path), packed):
            with pytest.warns(ReadingWarning, match=said):
                assert read(source).events == [("a",), ("b", "c")]
            with pytest.warns(ReadingWarning, match=said):
                assert read_log(source).traces == [("a",), ("b", "c")]
            assert read(source, lifecycle="all").events == [("a", "a"), ("b", "b", "c")]

    @pytest.mark.parametrize(
        ("name", "second"), [("lifecycle", "started"), ("kind", "start"), ("status", "start")]
    )
    def test_other_columns_are_no_lifecycle(self, name: str, second: str) -> None:
        text = f"case,activity,{name}\n1,a,complete\n1,a,{second}\n"
        assert read(io.StringIO(text)).events == [("a", "a")]

    def test_many_events_of_one_time_are_told_of(self) -> None:
        """Dates without hours: of the events of a day the order of the rows is all there is."""
        rows = [(case, event, f"2024-05-{1 + case}") for case in range(5) for event in "abc"]
        frame = pd.DataFrame(rows, columns=["case", "activity", "date"])
        said = "^10 of 10 events have the time of another one .*order of the rows.*time= names"
        with pytest.warns(ReadingWarning, match=said):
            assert read(frame).events == [tuple("abc")] * 5
        with pytest.warns(ReadingWarning, match=said):
            read_log(frame)
        read(frame, time="")
        read(frame[1:])  # nine are too few to speak of
        hours = [(case, event, hour) for case in range(20) for hour, event in enumerate("abcdefg")]
        timed = pd.DataFrame(hours, columns=["case", "activity", "time"])
        last = timed["activity"] == "g"
        with pytest.warns(ReadingWarning, match="^20 of 120 events"):
            read(timed.assign(time=timed["time"] - last))
        read(timed.assign(time=timed["time"] - (last & (timed["case"] < 11))))  # 11 of 120

    @pytest.mark.parametrize(
        ("text", "options", "message"),
        [
            (
                "who,activity\n1,a\n",
                {},
                "^log.csv line 1: no column looks like the case; .* 'who', 'activity' .name it w",
            ),
            (
                "case,thing\n1,a\n",
                {},
                "line 1: no column looks like the activity; .* 'case', 'thing'",
            ),
            (
                "case,event,activity\n1,a,b\n",
                {},
                "line 1: 'event', 'activity' could each be the act",
            ),
            (
                "case,case_id,activity\n1,a,b\n",
                {},
                "line 1: 'case', 'case_id' could each be the ca",
            ),
            (
                "case,activity\n1,a\n",
                {"case": "who"},
                "line 1: no column 'who' for the case; the co",
            ),
            ("case,activity\n1,a\n", {"time": "when"}, "line 1: no column 'when' for the time"),
            (
                "case,activity\n1,a\n",
                {"domain": "tea"},
                "no column 'tea' .* domain= names a column",
            ),
            (
                "case,activity,activity\n1,a,b\n",
                {"activity": "activity"},
                "two columns are named 'a",
            ),
            (
                "case,activity\n1,a\n2\n",
                {},
                "^log.csv line 3: 1 cells; expected 2 as in the header",
            ),
            ("case,activity\n1,a\n2,b,c\n", {}, "^log.csv line 3: 3 cells; expected 2"),
            (
                "case,activity\n1,a\n,b\n",
                {},
                "^log.csv line 3, column 'case': ''; expected text or",
            ),
            (
                "case,activity\n1,a\n2, \n",
                {},
                "^log.csv line 3, column 'activity': ' '; expected te",
            ),
            ('case,activity\n1,a\n2,"b\n\n', {}, "^log.csv line 4: not valid CSV: unexpected end"),
            ('case,activity\n1,a\n2,"b"c\n', {}, "^log.csv line 3: not valid CSV"),
            ("a" * 200_000, {}, "^log.csv line 1: not valid CSV: field larger than"),
            ("case,activity\n", {}, "^log.csv: there are no narratives in it"),
            ("\n\n", {}, "^log.csv line 1: no column looks like the case"),
            (
                "case,activity,time\n1,a,5\n1,b,soon\n",
                {},
                "^log.csv line 3, column 'time': 'soon' is not a timestamp; expected ISO .*time=''",
            ),
            (
                "case,activity,time\n1,a,5\n1,b,\n",
                {},
                "line 3, column 'time': '' is not a timestamp",
            ),
            (
                "case,activity,time\n1,a,nan\n",
                {},
                "line 2, column 'time': 'nan' is not a timestamp",
            ),
            (
                "case,activity,time\n1,a,32.12.2024\n",
                {},
                "line 2, column 'time': '32.12.2024' is no",
            ),
            (
                "case,activity,time\n1,a,5\n1,b,2024-01-01\n",
                {},
                "line 3, column 'time': .* is a time without a zone, but those before are each a",
            ),
            (
                "case,activity,time\n1,a,2024-01-01\n1,b,2024-01-01T10:00Z\n",
                {},
                "line 3, column 'time': .* is a time with a zone, but those before are each a ti",
            ),
        ],
    )
    def test_malformed(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        text: str,
        options: dict[str, Any],
        message: str,
    ) -> None:
        put(tmp_path, "log.csv", text)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match=message):
            read("log.csv", **options)

    def test_a_table_or_plain_text(self) -> None:
        text = "take cup, saucer\nput sugar, milk\n"
        with pytest.raises(InputError, match="cannot tell whether this is a table or plain text"):
            read(io.StringIO(text))
        assert read(io.StringIO(text), format="text").events == [tuple(text.splitlines())]
        assert read(io.StringIO("take cup, saucer\nput sugar\n")).events
        assert read(io.StringIO("x,y\nput sugar,2\n"), case="x", activity="y").events == [("2",)]

    def test_cannot_tell(self) -> None:
        with pytest.raises(InputError, match=r"^open file: cannot tell the format"):
            read(io.BytesIO(b"\x01\0\x02"))


def lazy(frame: pd.DataFrame) -> pl.LazyFrame:
    return pl.from_pandas(frame).lazy()


FRAMES = [pd.DataFrame, pl.from_pandas, lazy, pa.Table.from_pandas]


@pytest.mark.parametrize("make", FRAMES)
class TestFrames:
    def test_strings_and_numbers(self, make: Any) -> None:
        corpus = read(make(TABLE))
        assert corpus.events == EVENTS
        assert [narrative.id for narrative in corpus] == ["1", "2", "3"]
        assert read(make(TABLE), time="").events[0] == ("walk", "hear bell", "open door")

    @pytest.mark.parametrize("unit", ["s", "us", "ns"])
    @pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
    def test_datetimes(self, make: Any, unit: Literal["s", "us", "ns"], zone: str | None) -> None:
        moments = pd.to_datetime(TABLE["time"], format="ISO8601").dt.as_unit(unit)
        frame = TABLE.assign(time=moments.dt.tz_localize(zone))
        assert read(make(frame)).events == EVENTS

    def test_categories(self, make: Any) -> None:
        frame = TABLE.astype({"activity": "category", "case": "category"})
        assert read(make(frame)).events == EVENTS

    @pytest.mark.parametrize("column", ["case", "activity", "time"])
    @pytest.mark.parametrize("kind", [None, "string", "Int64", "float64", "datetime64[us]"])
    def test_nulls(self, make: Any, column: str, kind: str | None) -> None:
        frame = pd.DataFrame({"case": [1, 2], "activity": ["a", "b"], "time": [1, 2]})
        values: list[Any] = ["1", None] if kind in (None, "string") else [1, None]
        frame[column] = pd.Series(values, dtype=kind)
        if kind == "datetime64[us]" and column != "time":
            message = (
                f"^data frame row index 0, column '{column}': .*expected text or a whole number"
                r" \(write such values as text\)"
            )
        else:
            message = f"^data frame row index 1, column '{column}': (null|nan)"
            if column != "time":
                message += r"; .* \(fill it in, or leave out such rows\)"
        with pytest.raises(InputError, match=message):
            read(make(frame))

    def test_whole_floats_are_whole_numbers(self, make: Any) -> None:
        """Pandas makes floats of a column of whole numbers as soon as one of them is missing."""
        frame = pd.DataFrame({"case": [1.0, 2.0, 1.0], "activity": [3.0, 4.0, 5.0]})
        corpus = read(make(frame))
        assert [one.id for one in corpus] == ["1", "2"]
        assert corpus.events == [("3", "5"), ("4",)]
        with pytest.raises(InputError, match=r"row index 1, column 'case': 1\.5; expected text"):
            read(make(frame.assign(case=[1.0, 1.5, 2.0])))
        with pytest.raises(InputError, match="row index 1, column 'case'"):  # one of many
            read(make(frame.assign(case=[1.0, 2.0**53 + 2, 2.0])))

    def test_missing_and_ambiguous_columns(self, make: Any) -> None:
        with pytest.raises(
            InputError, match=r"^data frame: no column looks like the case; .* 'event'"
        ):
            read(make(pd.DataFrame({"event": ["a"]})))
        frame = pd.DataFrame({"case": [1], "event": ["a"], "activity": ["b"]})
        with pytest.raises(
            InputError, match=r"^data frame: 'event', 'activity' could each be the act"
        ):
            read(make(frame))

    def test_no_rows(self, make: Any) -> None:
        with pytest.raises(InputError, match=r"^data frame: there are no narratives in it"):
            read(make(TABLE[:0]))


class TestOddFrames:
    def test_a_column_called_read(self) -> None:
        assert read(TABLE.assign(read=1)).events == EVENTS

    def test_duplicate_and_nameless_columns(self) -> None:
        frame = pd.DataFrame([[1, 2]], columns=["case", "case"])
        with pytest.raises(InputError, match=r"^data frame: .*unique column names"):
            read(frame)
        odd = TABLE.assign(x=1).rename(columns={"x": 0})
        assert read(odd).events == EVENTS

    def test_days_and_objects(self) -> None:
        days = [datetime(2024, 1, day, tzinfo=UTC).date() for day in (2, 1)]
        frame = pl.DataFrame({"case": [1, 1], "activity": ["a", "b"], "time": days})
        assert read(frame).events == [("b", "a")]
        mixed = pd.DataFrame({"case": [1, 1], "activity": ["a", "b"]}).assign(
            time=pd.Series([pd.Timestamp("2024-01-02"), pd.NaT], dtype=object)
        )
        with pytest.raises(
            InputError, match=r"^data frame row index 1, column 'time': null is not a"
        ):
            read(mixed)

    def test_something_with_columns_that_is_no_frame(self) -> None:
        class Temple:
            columns = ("doric", "ionic")

        with pytest.raises(InputError, match=r"^data frame: .* is not a known frame"):
            read(Temple())  # type: ignore[arg-type]


class TestParquet:
    def test_malformed(self, tmp_path: Path) -> None:
        whole = FILES["log.parquet"]
        for content in (b"PAR1 nothing more", whole[:-20], whole[:40] + b"\0" * 40 + whole[80:]):
            with pytest.raises(InputError, match=r"log.parquet: not valid Parquet"):
                read(put(tmp_path, "log.parquet", content))
        frame = pd.DataFrame({"case": [1, 2], "activity": ["a", None]})
        path = put(tmp_path, "log.parquet", parquet(frame))
        with pytest.raises(InputError, match=r"log.parquet row index 1, column 'activity': null"):
            read(path)

    def test_without_pyarrow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        path = put(tmp_path, "log.parquet", FILES["log.parquet"])
        assert read(path).events == EVENTS
