"""Every format that is read, and every way in which a source can be wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.errors import InputError
from elision.readers import read
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = [("hear bell", "walk", "open door"), ("hear bell", "öffnen 😀"), ("open door",)]
CSV = """case,activity,time
1,walk,2024-01-01T00:01
1,hear bell,2024-01-01T00:00
2,hear bell,2024-01-02
1,open door,2024-01-01T00:02
2,öffnen 😀,2024-01-03
3,open door,2024-01-04
"""
XES = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <global scope="event"><string key="concept:name" value="__INVALID__"/></global>
  <classifier name="Activity" keys="concept:name lifecycle:transition"/>
  <string key="concept:name" value="the log"/>
  <trace>
    <string key="concept:name" value="T1"><string key="concept:name" value="nested"/></string>
    <event>
      <string key="concept:name" value="walk"/>
      <date key="time:timestamp" value="2024-01-01T00:01:00+01:00"/>
    </event>
    <event>
      <string key="concept:name" value="hear bell"/>
      <date key="time:timestamp" value="2024-01-01T00:00:30.5+01:00"/>
    </event>
    <event>
      <date key="time:timestamp" value="2024-01-01T00:00:00Z"/>
      <string key="concept:name" value="open door"/>
      <list key="things"><values><string key="concept:name" value="deep"/></values></list>
    </event>
  </trace>
  <trace>
    <event><string key="concept:name" value="hear bell"/></event>
    <event><string key="concept:name" value="öffnen 😀"/></event>
  </trace>
  <trace>
    <string key="concept:name" value="T3"/>
    <event><string key="concept:name" value="open door"/></event>
  </trace>
</log>
"""


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame), buffer)
    return buffer.getvalue()


TABLE = pd.read_csv(io.StringIO(CSV))
FILES: dict[str, bytes] = {
    "stories.jsonl": jsonl(*({"events": events} for events in EVENTS)).encode(),
    "stories.json": json.dumps([{"events": events} for events in EVENTS], indent=2).encode(),
    "lists.json": json.dumps(EVENTS).encode(),
    "log.csv": CSV.encode(),
    "log.tsv": CSV.replace(",", "\t").encode(),
    "log.parquet": parquet(TABLE),
    "log.xes": XES.encode(),
    "stories.txt": "\n\n".join(map("\n".join, EVENTS)).encode(),
}


class TestFormats:
    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("packed", [False, True])
    def test_by_suffix(self, tmp_path: Path, name: str, packed: bool) -> None:
        content = gzip.compress(FILES[name]) if packed else FILES[name]
        path = put(tmp_path, name + ".gz" if packed else name, content)
        assert read(path).events == EVENTS
        assert read(str(path)).events == EVENTS

    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("packed", [False, True])
    def test_by_content(self, name: str, packed: bool) -> None:
        content = gzip.compress(FILES[name]) if packed else FILES[name]
        file = io.BytesIO(content)
        assert read(file).events == EVENTS
        assert not file.closed

    @pytest.mark.parametrize("name", FILES)
    def test_by_name(self, tmp_path: Path, name: str) -> None:
        kind: Any = name.rpartition(".")[2].replace("txt", "text")
        assert read(put(tmp_path, "misleading.xyz", FILES[name]), format=kind).events == EVENTS

    @pytest.mark.parametrize("name", sorted(FILES.keys() - {"log.parquet"}))
    def test_text_files_bom_and_crlf(self, tmp_path: Path, name: str) -> None:
        text = FILES[name].decode()
        assert read(io.StringIO(text)).events == EVENTS
        windows = "\ufeff" + text.replace("\n", "\r\n")
        assert read(io.StringIO(windows)).events == EVENTS
        path = put(tmp_path, name, windows)
        assert read(path).events == EVENTS
        with path.open(encoding="utf-8") as file:
            assert read(file).events == EVENTS
            assert not file.closed

    @pytest.mark.parametrize("name", sorted(FILES.keys() - {"log.parquet", "log.xes"}))
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "gb18030", "UTF8"])
    def test_encodings(self, tmp_path: Path, name: str, encoding: str) -> None:
        content = FILES[name].decode().encode(encoding)
        assert read(put(tmp_path, name, content), encoding=encoding).events == EVENTS
        assert read(io.BytesIO(content), encoding=encoding).events == EVENTS

    @pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
    def test_xes_states_its_own_encoding(self, encoding: str) -> None:
        text = XES.replace("UTF-8", encoding).replace("😀", "")
        assert read(io.BytesIO(text.encode(encoding)), format="xes").events[1][1] == "öffnen "
        assert read(io.StringIO(text)).events[1][1] == "öffnen "

    def test_slow_pipes_hand_out_a_byte_at_a_time(self) -> None:
        class Drip:
            def __init__(self, content: bytes) -> None:
                self._rest = io.BytesIO(content)

            def read(self, size: int = -1) -> bytes:
                return self._rest.read(min(size, 1))

        assert read(Drip(gzip.compress(FILES["log.xes"]))).events == EVENTS

    def test_stdin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES["log.csv"])))
        assert read("-").events == EVENTS
        monkeypatch.setattr(sys, "stdin", io.StringIO(XES))
        assert read("-").events == EVENTS
        monkeypatch.setattr(sys, "stdin", io.StringIO('{"events": [1]}'))
        with pytest.raises(InputError, match=r"^stdin line 1, field 'events': events\[0\] is 1"):
            read("-")

    def test_stdin_of_a_process(self) -> None:
        program = "from elision.readers import read; print(len(read('-')))"
        run = subprocess.run(
            [sys.executable, "-c", program],
            input=gzip.compress(FILES["stories.jsonl"]),
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert run.stdout.split() == [b"3"]

    def test_domain_names_what_has_none(self) -> None:
        for name in ("stories.jsonl", "lists.json", "log.xes", "stories.txt"):
            assert read(io.BytesIO(FILES[name]), domain="doorbell").domains == ("doorbell",)
        mixed = io.StringIO(jsonl({"events": ["a"], "domain": "tea"}, {"events": ["b"]}))
        assert read(mixed, domain="doorbell").domains == ("tea", "doorbell")
        assert read(EVENTS, domain="doorbell").domains == ("doorbell",)


class TestMemory:
    def test_lists(self) -> None:
        assert read(EVENTS).events == EVENTS
        assert read([list(events) for events in EVENTS]) == Corpus.of(EVENTS)
        assert read(iter(EVENTS)).events == EVENTS
        assert read([{"events": ["a"], "id": 3, "mood": "good"}])[0].extra == {"mood": "good"}

    def test_corpora_and_narratives(self) -> None:
        corpus = Corpus([Narrative(("a",), domain="tea"), Narrative(("b",))])
        assert read(corpus) is corpus
        assert read(list(corpus)) == corpus
        assert read(corpus, domain="doorbell").domains == ("tea", "doorbell")

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ([], "^list: there are no narratives in it"),
            (Corpus(), "^Corpus: there are no narratives in it"),
            (3, "cannot read narratives from 3"),
            (None, "cannot read narratives from null"),
            (b"abc", "cannot read narratives from b'abc'"),
            ({"a": []}, "cannot read narratives from"),
            ([["a"], "b"], r"narratives\[1\]: 'b' is not a narrative"),
            ([["a"], ["b", None]], r"narratives\[1\], field 'events': events\[1\] is null"),
        ],
    )
    def test_what_is_refused(self, source: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(source)

    def test_options_that_do_not_apply(self) -> None:
        with pytest.raises(InputError, match="format='csv' is for files; the source is a list"):
            read(EVENTS, format="csv")
        with pytest.raises(
            InputError, match="format='csv' is for files; the source is a data frame"
        ):
            read(TABLE, format="csv")
        with pytest.raises(InputError, match="case='x' names a column, but list has none"):
            read(EVENTS, case="x")
        with pytest.raises(InputError, match="time='x' names a column, but the format 'jsonl' has"):
            read(io.BytesIO(FILES["stories.jsonl"]), time="x")
        with pytest.raises(InputError, match="format='yaml'; expected one of jsonl, json, csv"):
            read(EVENTS, format="yaml")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="lifecycle='start'; expected one of complete, all"):
            read(EVENTS, lifecycle="start")  # type: ignore[arg-type]
        for encoding in ("klingon", "rot13", "hex", 3):
            with pytest.raises(InputError, match="is not a text encoding"):
                read(io.BytesIO(b"a"), encoding=encoding)  # type: ignore[arg-type]


class TestRecords:
    def test_all_fields(self) -> None:
        record = {
            "domain": "tea",
            "id": "7",
            "steps": ["Boil it.", "Pour!"],
            "events": ["boil", "pour"],
            "missing": ["stir"],
            "nested": {"a": [1, None, 2.5]},
        }
        (narrative,) = read(io.StringIO(jsonl(record)))
        assert narrative == Narrative(
            ("boil", "pour"),
            ("Boil it.", "Pour!"),
            "tea",
            "7",
            {"missing": ["stir"], "nested": {"a": [1, None, 2.5]}},
        )

    def test_what_may_be_left_out(self) -> None:
        text = '\n{"events": []}\n  \n{"steps": ["A"], "events": null, "domain": null, "id": 12}'
        assert list(read(io.StringIO(text))) == [
            Narrative((), id="0"),
            Narrative(None, ("A",), id="12"),
        ]

    @given(
        st.dictionaries(
            st.sampled_from(["events", "steps", "domain", "id"]),
            st.none()
            | st.sampled_from(["", "a", 3, True, 1.5, "1"])
            | st.lists(st.sampled_from(["a", "b", "", None, 1]), max_size=2),
        ),
        st.sampled_from(["", "doorbell"]),
    )
    def test_the_quick_way_agrees_with_the_slow_one(
        self, record: dict[str, object], domain: str
    ) -> None:
        def outcome(*records: object) -> object:
            try:
                return list(read(io.StringIO(jsonl(*records)), format="jsonl", domain=domain))[-1]
            except InputError as error:
                return str(error)

        # Another field in the line before makes for the slow way.
        quick = outcome({"events": ["x"]}, record)
        assert quick == outcome({"events": ["x"], "mood": "good"}, record)

    def test_lines_may_be_lists(self) -> None:
        assert read(io.StringIO('["a", "b"]\n["c"]'), format="jsonl").events == [("a", "b"), ("c",)]

    def test_equal_events_are_one_object(self) -> None:
        first, second = read(
            io.StringIO(jsonl(["open door"], ["open door"])), format="jsonl"
        ).events
        assert first[0] is second[0]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"events": ["a"]', "^stories.jsonl line 3: not valid JSON: .*truncated; got '{"),
            ('{"events": [a]}', r"^stories.jsonl line 3: not valid JSON: .*\(byte 12\)"),
            ('{"events": ["a"]} x', "^stories.jsonl line 3: not valid JSON: .*trailing"),
            ("[" * 100_000, "^stories.jsonl line 3: not valid JSON: .*recursion"),
            ('{"events": ["\\ud800"]}', "^stories.jsonl line 3: not valid JSON"),
            ('{"events": "a"}', "^stories.jsonl line 3, field 'events': 'a' is not a list of str"),
            (
                '{"events": {"a": 1}}',
                "^stories.jsonl line 3, field 'events': {'a': 1} is not a list",
            ),
            ('{"events": 7}', "^stories.jsonl line 3, field 'events': 7 is not a list of strings"),
            ('{"events": ["a", null]}', r"line 3, field 'events': events\[1\] is null; expected a"),
            ('{"events": ["a", 7]}', r"line 3, field 'events': events\[1\] is 7; expected a non-e"),
            (
                '{"events": ["a", ["b"]]}',
                r"line 3, field 'events': events\[1\] is \['b'\]; expected",
            ),
            (
                '{"events": ["a", ""]}',
                r"line 3, field 'events': events\[1\] is ''; expected a non-e",
            ),
            (
                '{"steps": ["a", 7]}',
                r"line 3, field 'steps': steps\[1\] is 7; expected a non-empty",
            ),
            ('{"events": ["a"], "steps": []}', "line 3, field 'events': 1 events but 0 steps"),
            ('{"events": ["a"], "domain": 7}', "line 3, field 'domain': 7 is not a string"),
            ('{"events": ["a"], "id": [7]}', r"line 3, field 'id': \[7\] is not a string"),
            ('{"events": ["a"], "id": true}', "line 3, field 'id': True is not a string"),
            ('{"event": ["a"]}', "^stories.jsonl line 3: neither 'events' nor 'steps'"),
            ("7", "^stories.jsonl line 3: 7 is not a narrative; expected an object"),
            ('"abc"', "^stories.jsonl line 3: 'abc' is not a narrative"),
            ("null", "^stories.jsonl line 3: null is not a narrative"),
        ],
    )
    def test_malformed_lines(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, message: str
    ) -> None:
        put(tmp_path, "stories.jsonl", f'{{"events": ["a"]}}\n\n{line}\n{{"events": []}}\n')
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match=message):
            read("stories.jsonl")

    def test_messages_stay_short(self) -> None:
        long = jsonl({"events": ["a" * 9999, ["b" * 9999] * 9999]})
        with pytest.raises(InputError) as caught:
            read(io.StringIO(long))
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)

    def test_the_error_carries_its_parts(self) -> None:
        with pytest.raises(InputError) as caught:
            read(io.StringIO('{"events": [null]}'))
        assert caught.value.where == "open file line 1, field 'events'"
        assert caught.value.problem == "events[0] is null; expected a non-empty string"
        assert caught.value.hint

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                '[["a"], ["b", null]]',
                r"^open file narratives\[1\], field 'events': events\[1\] is n",
            ),
            ('[["a"],\n["b"\n', "^open file: not valid JSON: .*truncated"),
            ('[["a"],\n["b" x]]\n', "^open file line 2: not valid JSON: .*malformed"),
            ("[]", "^open file: there are no narratives in it"),
            ('{"events": []}', "^open file: {'events': .* is not a list of narratives"),
            ('{"events": []}\n{"events": []}', "line 2: not valid JSON.*pass format='jsonl'"),
            ("[" * 100_000, "^open file: not valid JSON: .*recursion"),
        ],
    )
    def test_malformed_json(self, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(io.StringIO(text), format="json")


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
        unsorted = read(io.StringIO(text), case="who").events[0]
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

    def test_lifecycle_column(self) -> None:
        text = "case,activity,lifecycle:transition\n1,a,start\n1,a,COMPLETE\n2,b,start\n2,c,\n"
        assert read(io.StringIO(text)).events == [("a",), ("c",)]
        assert read(io.StringIO(text), lifecycle="all").events == [("a", "a"), ("b", "c")]

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
            (
                "case,activity\n1,a\n2," + "b" * 200_000,
                {},
                "^log.csv line 3: not valid CSV: field l",
            ),
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
        if kind in ("float64", "datetime64[us]") and column != "time":
            message = (
                f"^data frame row index 0, column '{column}': .*expected text or a whole number"
            )
        else:
            message = f"^data frame row index 1, column '{column}': null"
        with pytest.raises(InputError, match=message):
            read(make(frame))

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
        with pytest.raises(InputError, match=r"needs pyarrow.*pip install 'elision\[files\]'"):
            read(path)


def log(*events: str) -> str:
    name = '<string key="concept:name" value="T"/>'
    return "\n".join(["<log><trace>", name, *events]) + "</trace></log>"


def event(name: str, transition: str | None = None, time: str | None = None) -> str:
    parts = [f'<string key="concept:name" value="{name}"/>']
    if transition is not None:
        parts.append(f'<string key="lifecycle:transition" value="{transition}"/>')
    if time is not None:
        parts.append(f'<date key="time:timestamp" value="{time}"/>')
    return f"<event>{''.join(parts)}</event>"


class TestXes:
    def test_ids_and_nested_attributes(self) -> None:
        assert [n.id for n in read(io.StringIO(XES))] == ["T1", "1", "T3"]

    def test_keys_by_option(self) -> None:
        text = log(
            '<event><string key="Activity" value="a"/><int key="when" value="2"/></event>',
            '<event><string key="Activity" value="b"/><int key="when" value="1"/></event>',
        )
        corpus = read(io.StringIO(text), activity="Activity", case="number", time="when")
        assert list(corpus) == [Narrative(("b", "a"), id="0")]
        assert read(io.StringIO(text), activity="Activity", time="").events == [("a", "b")]

    def test_lifecycle(self) -> None:
        text = log(event("a", "start"), event("a", "COMPLETE"), event("b", "start"), event("c"))
        assert read(io.StringIO(text)).events == [("a", "c")]
        assert read(io.StringIO(text), lifecycle="all").events == [("a", "a", "b", "c")]
        started = log(event("a", "start"), event("b", "schedule"))
        assert read(io.StringIO(started)).events == [("a", "b")]

    def test_lifecycle_is_that_of_the_whole_log(self) -> None:
        trace = "<trace>{}</trace>"
        text = (
            f"<log>{trace.format(event('a', 'start'))}{trace.format(event('b', 'complete'))}</log>"
        )
        assert read(io.StringIO(text)).events == [(), ("b",)]

    def test_some_times_missing_keeps_the_order(self) -> None:
        text = log(event("a", time="2024-01-02"), event("b"), event("c", time="2024-01-01"))
        assert read(io.StringIO(text)).events == [("a", "b", "c")]

    def test_empty_traces_prefixes_and_stray_events(self) -> None:
        traces = f"<x:trace/>{event('stray')}<x:trace>{event('a')}</x:trace>"
        text = f'<x:log xmlns:x="urn:x">{traces}</x:log>'
        assert read(io.StringIO(text)).events == [(), ("a",)]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (XES[:900], "^log.xes line 1[0-9]: not valid XML: .* .the file seems to be cut off.$"),
            (XES.replace("</event>", "", 1), "^log.xes line 2[0-9]: not valid XML: mismatched tag"),
            (
                "<html><body/></html>",
                "^log.xes line 1: the outermost element is <html>; expected <l",
            ),
            ("no xml", "^log.xes line 1: not valid XML: syntax error"),
            ("<log></log>", "^log.xes: there are no narratives in it"),
            ("<log/><log/>", "^log.xes line 1: not valid XML: junk after document element"),
            (
                log("<event/>"),
                "^log.xes line 3, trace 'T': the event has no 'concept:name' .*activity",
            ),
            (
                log(event("a"), event("")),
                "^log.xes line 4, trace 'T': the event has an empty 'conce",
            ),
            (
                log("<event>\n<string key='concept:name'/></event>"),
                "^log.xes line 4, trace 'T': the attribute 'concept:name' has no value",
            ),
            (
                log(event("a", time="soon")),
                "^log.xes line 3, trace 'T', key 'time:timestamp': 'soon'",
            ),
            (
                log(event("a", time="2024-01-01"), event("b", time="2024-01-01T00:00Z")),
                "^log.xes line 4, trace 'T', key 'time:timestamp': .* is a time with a zone, but",
            ),
            ('<?xml version="1.0" encoding="klingon"?><log/>', "^log.xes line 1: not valid XML"),
            ('<?xml version="1.0" encoding="shift_jis"?><log/>', "^log.xes line 1: not valid XML"),
        ],
    )
    def test_malformed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
    ) -> None:
        put(tmp_path, "log.xes", text)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match=message):
            read("log.xes")

    @pytest.mark.parametrize(
        "doctype",
        [
            "<!DOCTYPE log>",
            '<!DOCTYPE log SYSTEM "file:///etc/passwd">',
            '<!DOCTYPE log [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
            '<!DOCTYPE log [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
            '<!DOCTYPE log [<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;]>',
        ],
    )
    def test_document_types_and_entities_are_refused(self, doctype: str) -> None:
        text = f"{doctype}\n{log(event('&b;'))}"
        with pytest.raises(InputError, match=r"^open file line 1: a document type declaration"):
            read(io.StringIO(text))
        with pytest.raises(InputError, match=r"^open file line 2: not valid XML: undefined entity"):
            read(io.StringIO("\n" + log(event("&b;")).replace("\n", "")))


class TestText:
    def test_blank_lines_and_spaces(self) -> None:
        text = "\r\n\r\n hear bell\t\r\nopen door  \r\n \t\r\n\r\nwalk\rrun\n\u2028still\n"
        assert read(io.BytesIO(text.encode())).events == [
            ("hear bell", "open door"),
            ("walk", "run", "still"),
        ]

    @given(
        st.lists(
            st.lists(
                st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1).filter(
                    lambda text: text == text.strip() and not text.startswith("\ufeff")
                ),
                min_size=1,
            ),
            min_size=1,
        )
    )
    def test_round_trip(self, lists: list[list[str]]) -> None:
        text = "\n\n".join(map("\n".join, lists))
        assert read(io.BytesIO(text.encode()), format="text").events == list(map(tuple, lists))

    @pytest.mark.parametrize("text", ["\n \n\t\n", "\ufeff\n"])
    def test_nothing_but_space(self, text: str) -> None:
        with pytest.raises(InputError, match=r"^open file: there are no narratives in it"):
            read(io.StringIO(text))


class TestFiles:
    def test_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nowhere.jsonl: there is no such file"):
            read(tmp_path / "nowhere.jsonl")

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="this is a directory; expected a file") as caught:
            read(tmp_path)
        assert caught.value.where == str(tmp_path)

    def test_permission_denied(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = put(tmp_path, "stories.jsonl", FILES["stories.jsonl"])

        def denied(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        # The tests may run as root, whom no mode keeps out.
        monkeypatch.setattr("pathlib.Path.open", denied)
        with pytest.raises(InputError, match=r"stories.jsonl: permission to read it is denied"):
            read(path)

    def test_a_disk_that_fails_half_way(self) -> None:
        class Failing(io.BytesIO):
            name = "disk.jsonl"

            def read(self, size: int | None = -1) -> bytes:
                if self.tell() > 100_000:
                    raise OSError(5, "Input/output error")
                return super().read(size)

        with pytest.raises(InputError, match=r"^disk.jsonl: cannot be read: Input/output error"):
            read(Failing(FILES["stories.jsonl"] * 2000))

    def test_paths_and_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be read: embedded null"):
            read("a\0b")
        with pytest.raises(InputError, match="cannot be read: File name too long"):
            read("a" * 5000)
        closed = io.BytesIO()
        closed.close()
        with pytest.raises(InputError, match=r"cannot be read: .*closed file"):
            read(closed)
        with (
            (tmp_path / "new").open("wb") as file,
            pytest.raises(InputError, match="cannot be read"),
        ):
            read(file)

    @pytest.mark.parametrize("name", FILES)
    def test_empty(self, tmp_path: Path, name: str) -> None:
        for content in (b"", gzip.compress(b"")):
            with pytest.raises(InputError, match=f"{name}: the file is empty"):
                read(put(tmp_path, name, content))

    @pytest.mark.parametrize("name", FILES)
    def test_broken_gzip(self, tmp_path: Path, name: str) -> None:
        packed = gzip.compress(FILES[name] * (1 if "parquet" in name else 3))
        wrong = packed[:-8] + b"\0" * 8
        garbled = packed[:20] + bytes(255 - byte for byte in packed[20:-8]) + packed[-8:]
        for content in (packed[:-20], packed[:1], packed[:2], packed[:5], wrong, garbled):
            with pytest.raises(InputError) as caught:
                read(put(tmp_path, name + ".gz", content))
            assert name in str(caught.value)
        with pytest.raises(InputError, match=f"{name}.gz: broken gzip"):
            read(put(tmp_path, name + ".gz", packed[:-20]))

    @pytest.mark.parametrize("name", ["stories.jsonl", "stories.json", "log.csv", "stories.txt"])
    @pytest.mark.parametrize("before", [0, 1, 5000])
    def test_not_utf8_says_the_line(self, tmp_path: Path, name: str, before: int) -> None:
        first, *rest = FILES[name].split(b"\n")
        filling = {"stories.json": b"", "log.csv": b"1,a,2024-01-01"}
        lines = [first, *[filling.get(name, first)] * before, b"\xe4\xf6", *rest]
        with pytest.raises(InputError) as caught:
            read(put(tmp_path, name, b"\n".join(lines)))
        assert caught.value.problem == "byte 0xe4 is not utf-8 text"
        assert str(caught.value.where).endswith(f"{name} line {before + 2}")
        assert "encoding=" in str(caught.value.hint)

    def test_lines_are_counted_whatever_ends_them(self) -> None:
        for end in (b"\r", b"\n", b"\r\n"):
            content = end.join([b"hear", b"open"] * 20_000 + [b"\xff"])
            with pytest.raises(InputError, match="line 40001: byte 0xff is not utf-8 text"):
                read(io.BytesIO(content), format="text")

    def test_text_files_in_the_wrong_encoding(self, tmp_path: Path) -> None:
        path = put(tmp_path, "stories.txt", b"caf\xe9\n")
        for errors, message in (("strict", "0xe9"), ("surrogateescape", "surrogates")):
            with (
                path.open(encoding="utf-8", errors=errors) as file,
                pytest.raises(InputError, match=f"stories.txt: not valid text: .*{message}"),
            ):
                read(file)

    @given(
        st.sampled_from(["jsonl", "json", "csv", "tsv", "parquet", "xes", "text", None]),
        st.binary(max_size=40),
        st.sampled_from(list(FILES.values())),
        st.integers(0, 400),
        st.booleans(),
    )
    def test_nothing_but_input_errors(
        self, kind: Any, junk: bytes, whole: bytes, place: int, packed: bool
    ) -> None:
        content = whole[:place] + junk + whole[place:]
        try:
            corpus = read(io.BytesIO(gzip.compress(content) if packed else content), format=kind)
        except InputError:
            return
        assert len(corpus) > 0

    def test_reading_stays_lean(self) -> None:
        slow = ("pandas", "polars", "pyarrow", "narwhals")
        program = f"import sys, elision.readers; print([m for m in {slow} if m in sys.modules])"
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                check=True,
                cwd=folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        assert run.stdout.split() == [b"[]"]
