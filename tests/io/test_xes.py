"""Logs in XES, and every way in which one can be wrong."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from elision.errors import InputError
from elision.io import read
from elision.io.source import opened
from elision.io.xes import XesLog, _by_rustxes, keys_of
from elision.values.narrative import Narrative
from sources import XES, put

if TYPE_CHECKING:
    from pathlib import Path


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


NAMED = log(
    event("b", "complete", "2024-01-01T03:00:00.125+01:00"),
    event("a", "start", "2024-01-01T00:00:00Z"),
    '<event><int key="x" value="1"/><string key="concept:name" value="&lt;c&gt;"/>'
    '<date key="time:timestamp" value="2024-01-02T00:00:00+00:00"/></event>',
)
ROLES = dict.fromkeys(("case", "activity", "time", "domain"))


class TestRustxes:
    def test_it_reads_what_expat_reads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        keys = keys_of(ROLES)
        content = NAMED.encode()
        with opened(io.BytesIO(content), "utf-8") as source:
            slow = XesLog(source, content, keys).rows()
        quick = _by_rustxes(content, keys)
        assert quick is not None
        same = ["number", "case", "activity", "phase"]
        assert quick.select(same).equals(slow.select(same))
        told = read(io.BytesIO(content))
        assert told.events == [("b", "<c>")]
        assert read(io.BytesIO(content), lifecycle="all").events == [("a", "b", "<c>")]
        monkeypatch.setitem(sys.modules, "rustxes", None)
        assert _by_rustxes(content, keys) is None
        assert read(io.BytesIO(content)) == told
        times = slow["time"].str.to_datetime("%+", time_zone="UTC", time_unit="ns")
        assert times.equals(quick["time"].dt.replace_time_zone("UTC").cast(times.dtype))

    @pytest.mark.parametrize(
        ("plain", "odd"),
        [
            ('value="T"', 'value="T"/><x y="<event>"'),
            ("</trace>", "</trace><trace/>"),
            ("</trace>", '</trace><trace><string key="concept:name" value="T"/></trace>'),
            ("2024-01-01T00:00:00Z", "soon"),
            ("<log>", '<?xml version="1.0" encoding="iso-8859-1"?><log>'),
            ("<log>", "<!DOCTYPE log><log>"),
            ("</log>", ""),
            ('value="b"', 'value=""'),
        ],
    )
    def test_what_it_may_not_tell_is_left_to_expat(self, plain: str, odd: str) -> None:
        assert plain in NAMED
        assert _by_rustxes(NAMED.replace(plain, odd, 1).encode(), keys_of(ROLES)) is None
