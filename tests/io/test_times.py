"""Time stamps of every common form: read as one column, never scrambled, written alike."""

# ruff: noqa: DTZ001, DTZ007 - times without a zone are what logs have

from __future__ import annotations

import io
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from elision import ScriptLearner
from elision.errors import InputError, shown
from elision.io import read
from elision.io.times import Form, find, given_form
from elision.values.observations import Packer

if TYPE_CHECKING:
    from pathlib import Path

FORMS = [
    "%d.%m.%Y %H:%M",
    "%d.%m.%y %H:%M:%S",
    "%d-%m-%Y %H:%M",
    "%d/%m/%Y %H:%M:%S.%f",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%y %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%d %H:%M",
    "%Y%m%d%H%M%S",
    "%d %b %Y %H:%M",
    "%d-%B-%Y %H:%M",
    "%B %d, %Y %I:%M:%S %p",
    "%a, %d %b %Y %H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S %z",
    "%d.%m.%Y, %H:%M:%S%z",
]
# A day above the twelfth says which is the day.
MOMENTS = st.datetimes(datetime(1970, 1, 13), datetime(2068, 12, 31)).filter(
    lambda moment: moment.day > 12
)


def table(times: list[str]) -> io.StringIO:
    rows = "".join(f'1,{number},"{time}"\n' for number, time in enumerate(times))
    return io.StringIO("case,activity,time\n" + rows)


def order(times: list[str], **options: Any) -> list[int]:
    return [int(name) for name in read(table(times), format="csv", **options).events[0]]


def seen(values: list[Any], time_format: str | None = None) -> tuple[Form, list[Any]]:
    (form, moments), *_ = find(pl.Series([*map(str, values)]), str, time_format)
    return form, moments.to_list()


class TestForms:
    @pytest.mark.parametrize("form", FORMS)
    @settings(max_examples=30)
    @given(moments=st.lists(MOMENTS, min_size=2, max_size=6), hours=st.integers(-11, 11))
    def test_all_forms_give_the_order_of_time(
        self, form: str, moments: list[datetime], hours: int
    ) -> None:
        zone = timezone(timedelta(hours=hours))
        written = [moment.replace(tzinfo=zone).strftime(form) for moment in moments]
        meant = [datetime.strptime(text, form).timestamp() for text in written]
        expected = sorted(range(len(meant)), key=meant.__getitem__)
        assert order(written) == expected
        assert order(written, time_format=form) == expected

    @pytest.mark.parametrize("form", FORMS)
    @settings(max_examples=30)
    @given(first=MOMENTS, second=MOMENTS, share=st.floats(0, 1))
    def test_what_is_written_is_of_the_same_form(
        self, form: str, first: datetime, second: datetime, share: float
    ) -> None:
        texts = [moment.replace(tzinfo=UTC).strftime(form) for moment in sorted((first, second))]
        found, (low, high) = seen(texts)
        assume(low <= high)  # two digits of a year
        assume("%B" not in form or "May" not in texts[0] + texts[1])  # is it short or in full?
        new = found.written(low + (high - low) * share, texts[0])
        assert isinstance(new, str)
        assert datetime.strptime(new, form).strftime(form) == new
        _, (_, between, _) = seen([texts[0], new, texts[1]])
        assert low <= between <= high
        assert given_form(form).written(low + (high - low) * share, texts[0]) == new

    @pytest.mark.parametrize(
        ("like", "moment", "written"),
        [
            (["29.08.2023 13:38"], datetime(2024, 1, 2, 3, 4, 5), "02.01.2024 03:04"),
            (["5/31/2024 6:30 PM"], datetime(2024, 1, 2, 0, 4), "1/2/2024 12:04 AM"),
            (["31-05-2024 18:30"], datetime(2024, 1, 2, 0, 4), "02-01-2024 00:04"),
            (["12/31/2024", "1/31/2024"], datetime(2024, 2, 29, 9), "2/29/2024"),
            (["31 May 2024"], datetime(2024, 2, 29), "29 Feb 2024"),
            (
                ["2024-05-31T18:30:00.5+02:00"],
                datetime(2024, 5, 31, 22),
                "2024-06-01T00:00:00.0+02:00",
            ),
            (["20240531"], datetime(2024, 2, 29, 23), "20240229"),
            ([20240531], datetime(2024, 2, 29, 23), 20240229),
            (["8 p.m."], None, None),
        ],
    )
    def test_manners(self, like: list[Any], moment: datetime | None, written: object) -> None:
        if moment is None:
            with pytest.raises(InputError, match=r"is not a timestamp"):
                seen(like)
            return
        form, _ = seen(like)
        moments = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        assert form.written(moments * 1e6, like[0]) == written

    def test_numbers(self) -> None:
        form, moments = seen(["10", "20.5"])
        assert moments == [10, 20.5]
        assert form.written(12.7, "10") == "12"
        assert form.written(12.7, "20.5") == "12.7"
        assert form.written(12.7, 3) == 12
        assert order(["45443.77", "45443.5", "45444"]) == [1, 0, 2]

    def test_zones_may_differ(self) -> None:
        assert order(["2024-01-01T10:00+02:00", "2024-01-01T09:00Z"]) == [0, 1]
        assert order(["31.12.2024 10:00 +0200", "31.12.2024 09:00 UTC"]) == [0, 1]


class TestAmbiguity:
    def test_the_whole_column_says(self) -> None:
        assert order(["01/02/2024", "02/01/2024", "13/01/2024"]) == [1, 2, 0]
        assert order(["02/01/2024", "01/02/2024", "01/13/2024"]) == [1, 2, 0]

    def test_what_cannot_be_told_is_refused(self) -> None:
        with pytest.raises(
            InputError,
            match=r"^open file, column 'time': '01/02/2024' .* may have the day or the month first"
            r" \(pass time_format=",
        ):
            order(["01/02/2024", "02/01/2024"])
        assert order(["01/02/2024", "02/01/2024"], time_format="day-first") == [1, 0]
        assert order(["01/02/2024", "02/01/2024"], time_format="month-first") == [0, 1]
        assert order(["01/02/2024", "02/01/2024"], time_format="%d/%m/%Y") == [1, 0]

    def test_the_same_order_either_way_will_do(self) -> None:
        assert order(["02/02/2024", "01/01/2024"]) == [1, 0]
        assert order(["03/04/2024", "01/02/2024"]) == [1, 0]
        # Two cases that nobody compares.
        text = "case,activity,time\n1,a,01/02/2024\n2,b,02/01/2024\n"
        assert read(io.StringIO(text)).events == [("a",), ("b",)]

    def test_a_year_of_two_digits_in_front(self) -> None:
        assert order(["99-05-31", "98-05-31"]) == [1, 0]
        with pytest.raises(InputError, match=r"may have the year or the day first"):
            order(["24-05-01", "23-05-02"])

    def test_no_one_form(self) -> None:
        with pytest.raises(
            InputError, match=r"line 3, column 'time': '01/13/2024' does not have the day first"
        ):
            order(["13/01/2024", "01/13/2024"])

    @given(st.lists(st.dates(date(2000, 1, 1), date(2030, 1, 1)), min_size=2, max_size=8))
    def test_never_scrambled(self, days: list[date]) -> None:
        expected = sorted(range(len(days)), key=days.__getitem__)
        for form in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y"):
            try:
                assert order([day.strftime(form) for day in days]) == expected
            except InputError as error:
                if "time_format=" not in str(error):
                    raise


class TestGivenForm:
    @pytest.mark.parametrize("wrong", ["", "soon", "%Q", "%", 3, "%d %"])
    def test_no_form(self, wrong: Any) -> None:
        with pytest.raises(InputError, match=r"the time format .* is no form of a date"):
            read(table(["1"]), time_format=wrong)

    def test_words_and_letters(self) -> None:
        assert given_form("day-first").order == "dmy"
        assert given_form("%d").order == "given"

    def test_what_does_not_fit(self) -> None:
        with pytest.raises(
            InputError, match=r"line 3, column 'time': 'x' is not as the time format '%Y' says"
        ):
            order(["2024", "x"], time_format="%Y")

    def test_xes(self) -> None:
        name, date = '<string key="concept:name" value="{}"/>', '<date key="time:timestamp" '
        event = f'<event>{name}{date}value="{{}}"/></event>'
        events = event.format("a", "02.01.2024") + event.format("b", "01.02.2024")
        log = f"<log><trace>{events}</trace></log>"
        assert read(io.StringIO(log), time_format="%d.%m.%Y").events == [("a", "b")]
        assert read(io.StringIO(log), time_format="%m.%d.%Y").events == [("b", "a")]
        with pytest.raises(InputError, match=r"^open file, key 'time:timestamp': '02.01.2024'"):
            read(io.StringIO(log))


FAR = 10_000_000
"""Days until a year that Python's dates do not have."""


def far_frames() -> dict[str, Any]:
    days = pa.array([FAR, FAR - 1], pa.int32()).cast(pa.date32())
    microseconds = pa.array([2**62, 2**62 - 1]).cast(pa.timestamp("us"))
    names: dict[str, Any] = {"case": [1, 1], "activity": ["a", "b"]}
    return {
        "arrow days": pa.table({**names, "time": days}),
        "arrow microseconds": pa.table({**names, "time": microseconds}),
        "polars days": pl.DataFrame(
            {**names, "time": pl.Series([FAR, FAR - 1], dtype=pl.Int32).cast(pl.Date)}
        ),
        "polars milliseconds": pl.DataFrame(
            {**names, "time": pl.Series([2**62, 2**62 - 1]).cast(pl.Datetime("ms"))}
        ),
    }


class TestOutOfRange:
    @pytest.mark.parametrize("name", far_frames())
    def test_dates_that_python_does_not_have(self, name: str) -> None:
        assert read(far_frames()[name]).events == [("b", "a")]

    @pytest.mark.parametrize("name", ["arrow days", "arrow microseconds"])
    def test_in_parquet(self, name: str, tmp_path: Path) -> None:
        frame = far_frames()[name]
        pq.write_table(frame, tmp_path / "log.parquet")
        assert read(tmp_path / "log.parquet").events == [("b", "a")]

    @pytest.mark.parametrize("name", far_frames())
    def test_in_other_columns(self, name: str) -> None:
        frame = far_frames()[name]
        by_name = {"time": "activity", "activity": "time"}
        if isinstance(frame, pd.DataFrame):
            frame = frame.rename(columns=by_name)
        elif isinstance(frame, pl.DataFrame):
            frame = frame.rename(by_name)
        else:
            frame = frame.rename_columns([by_name.get(one, one) for one in frame.column_names])
        with pytest.raises(InputError, match=r"column 'activity': a Date.*; expected text"):
            read(frame)

    @pytest.mark.parametrize("unit", ["s", "us", "ns"])
    def test_durations(self, unit: str) -> None:
        far = pa.array([2**62, 5], pa.duration(unit))
        table = pa.table({"case": [1, 1], "activity": ["a", "b"], "time": far})
        for frame in (table, pl.from_arrow(table) if unit != "s" else table):
            with pytest.raises(InputError, match=r"a Duration.* is not a timestamp"):
                read(frame)

    def test_huge_numbers(self, tmp_path: Path) -> None:
        huge = "9" * 400
        with pytest.raises(InputError, match=r"'9999.* is not a timestamp"):
            order([huge, "1"])
        frame = pd.DataFrame({"case": [1, 1], "activity": ["a", "b"]})
        with pytest.raises(InputError, match=r"'9999.* is not a timestamp"):
            order(["9" * 5000])
        frame["case"] = pd.Series([10**5000, 1], dtype=object)
        with pytest.raises(InputError, match=r"row index 0, column 'case': .*too long to show"):
            read(frame)

    def test_numbers_too_long_to_write(self) -> None:
        assert shown([10**5000]) == "<list that is too long to show>"
        with pytest.raises(InputError, match=r"too long to show"):
            read([[10**5000]])
        with pytest.raises(InputError, match=r"^narratives\[0\], field 'id': .*too long to show"):
            read([{"events": ["a"], "id": 10**5000}])
        with pytest.raises(InputError, match=r"too long to show"):
            Packer(["a"]).pack([[10**5000]])
        with pytest.raises(InputError, match=r"too long to show"):
            ScriptLearner(random_state=-(10**5000)).fit([["a"]])

    def test_an_index_out_of_range(self) -> None:
        broken = pa.DictionaryArray.from_arrays(pa.array([0, 5]), pa.array(["a"]), safe=False)
        with pytest.raises(InputError, match=r"column 'activity': cannot be read: .*") as caught:
            read(pa.table({"case": [1, 1], "activity": broken}))
        assert "\n" not in str(caught.value)

    def test_record_batches(self) -> None:
        batch = pa.RecordBatch.from_pydict({"case": [1, 1], "activity": ["a", "b"]})
        assert read(batch).events == [("a", "b")]
        with pytest.raises(InputError) as caught:
            read(pa.RecordBatch.from_pydict({"x": [1]}))
        assert "\n" not in str(caught.value)
