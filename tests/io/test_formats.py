"""Every format that is read, records of JSON, text, and every way in which a file can be wrong."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elision.errors import InputError
from elision.io import read
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative
from sources import EVENTS, FILES, TABLE, XES, jsonl, put

if TYPE_CHECKING:
    from pathlib import Path


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
        program = "from elision.io import read; print(len(read('-')))"
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
            ('{"events": []}', "^open file: one object is not a list of narratives"),
            ('{"events": []}\n{"events": []}', "line 2: not valid JSON.*pass format='jsonl'"),
            ("[" * 100_000, "^open file: not valid JSON: .*recursion"),
        ],
    )
    def test_malformed_json(self, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read(io.StringIO(text), format="json")


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
        program = f"import sys, elision.io; print([m for m in {slow} if m in sys.modules])"
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                check=True,
                cwd=folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        assert run.stdout.split() == [b"[]"]
