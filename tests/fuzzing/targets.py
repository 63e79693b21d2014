"""What is given bad input: every reader and every file format, by name.

A target takes bytes, returns a value or raises an `ElisionError`, and uses the value a little, as
what was wrongly let in breaks later.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import elision as el
from elision.io.preview import read_wide
from elision.logs.log import Insertion, read_log
from elision.logs.writing import write
from elision.text.hand import HandTypes
from fuzzing.spoiling import spoiled

if TYPE_CHECKING:
    from collections.abc import Callable

TOLD = [list(one) for one in el.examples.doorbell_tellings()[:6]]
STORIES = [
    {"steps": ["Hear the bell.", "Walk to the door.", "Open it."], "domain": "bell", "id": "1"},
    {
        "steps": ["The bell rings.", "Go to the door.", "Open the door."],
        "domain": "bell",
        "id": "2",
    },
]
_SUM = re.compile(rb'("checksum": ?"sha256:)([0-9a-f]{64})"')


@dataclass(frozen=True)
class Target:
    """Something that takes bytes.

    ``kind`` says how they are spoiled (see `spoiling`), and ``sealed`` puts right the checksums of
    spoiled ones, without which they would not get far.
    """

    name: str
    kind: str
    seeds: Callable[[], list[bytes]]
    take: Callable[[bytes], object]
    sealed: Callable[[bytes], bytes] | None = None

    def spoiled(self, rng):
        """Return a seed with some changes."""
        seeds = self.seeds()
        made = spoiled(rng, rng.choice(seeds), self.kind, seeds)
        return self.whole(made) if rng.random() < 0.9 else made

    def whole(self, content):
        """Put checksums right."""
        return self.sealed(content) if self.sealed else content

    def warm(self, content):
        """Take a seed, however long it takes: libraries are loaded and kernels compiled."""
        with suppress(el.ElisionError):
            self.take(content)


TARGETS: dict[str, Target] = {}


def target(name, kind, seeds, sealed=None):
    """Make a function that takes bytes a target."""

    def add(take):
        TARGETS[name] = Target(name, kind, cache(seeds), take, sealed)
        return take

    return add


@cache
def folder():
    """A folder for the time of this process."""
    made = tempfile.TemporaryDirectory(prefix="elision-fuzz-")
    folder.kept = made  # deleted with the process
    return Path(made.name)


def written(name, content):
    """Write bytes to a file of the folder."""
    path = folder() / name
    path.write_bytes(content)
    return path


def resealed(content):
    """Put the right checksum into a file that has one."""
    found = _SUM.search(content)
    if found is None:
        return content
    start, end = found.span(2)
    zeros = content[:start] + b"0" * 64 + content[end:]
    return zeros[:start] + hashlib.sha256(zeros).hexdigest().encode() + zeros[end:]


def check_line(error):
    """What is wrong is said in one line."""
    assert len(str(error).splitlines()) == 1, str(error)


# ---- readers


def _jsonl():
    events = [{"events": one, "id": str(k), "domain": "bell"} for k, one in enumerate(TOLD[:3])]
    return [
        b"".join(json.dumps(one).encode() + b"\n" for one in rows)
        for rows in (events, STORIES, TOLD[:2], [{"events": ["a", "b"], "time": [1, 2], "x": {}}])
    ]


def _tables(mark):
    head = ["case", "activity", "time", "domain", "lifecycle"]
    rows = [
        [case, event, f"2024-01-0{case} 1{k}:30:00", "bell", "complete"]
        for case, told in enumerate(TOLD[:3], 1)
        for k, event in enumerate(told)
    ]
    dates = [["case", "activity", "time"], ["1", "a", "3/4/2020"], ["1", "b", "31/1/2020"]]
    bare = [["case", "event"], ["1", "a, b"], ["2", 'say "x"']]
    quoted = [[f'"{cell}"' if mark in str(cell) else str(cell) for cell in row] for row in bare]
    tables = [[head, *rows], dates, quoted]
    return [("\n".join(mark.join(map(str, row)) for row in one) + "\n").encode() for one in tables]


def _xes():
    event = '<string key="concept:name" value="{}"/><date key="time:timestamp" value="{}"/>'
    traces = "".join(
        f'<trace><string key="concept:name" value="{case}"/>'
        + "".join(
            f"<event>{event.format(one, f'2024-01-01T1{k}:00:00.000+01:00')}"
            '<string key="lifecycle:transition" value="complete"/>'
            '<int key="cost" value="3"/><list key="l"><values><float key="f" value="1.5"/></values>'
            "</list></event>"
            for k, one in enumerate(told)
        )
        + "</trace>"
        for case, told in enumerate(TOLD[:2])
    )
    head = '<?xml version="1.0" encoding="UTF-8"?><log xes.version="1.0">'
    extra = (
        '<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>'
        '<global scope="event"><string key="concept:name" value="UNKNOWN"/></global>'
        '<classifier name="Activity" keys="concept:name"/>'
    )
    return [f"{head}{extra}{traces}</log>".encode(), f"{head}{traces}</log>".encode("utf-8-sig")]


def _texts():
    told = ["\n".join(one) for one in TOLD]
    prose = "I heard the bell. Then I walked to the door, opened it and greeted the guest.\n"
    return ["\n\n".join(told).encode(), (prose * 3).encode(), "\r\n".join(told).encode("utf-8-sig")]


def used(corpus):
    """Look at a corpus as everything does that reads one."""
    told = corpus.events if corpus.has_events else corpus.steps
    assert len(told) == len(corpus) > 0
    repr(corpus)
    path = folder() / "again.jsonl"
    corpus.to_jsonl(path)
    assert [one.events for one in el.read(path)] == [one.events for one in corpus]
    return corpus


@target("wide", "table", lambda: [b"ring,open,close\nring,open,\n", b"1;2\nring;go\nring;\n"])
def _wide(content):
    return used(read_wide(written("wide.csv", content), "csv"))


def _reader(name, kind, seeds):
    @target(name, kind, seeds)
    def take(content):
        return used(el.read(io.BytesIO(content), format=name))


_reader("jsonl", "lines", _jsonl)
_reader("json", "json", lambda: [json.dumps(one).encode() for one in (TOLD[:3], STORIES)])
_reader("csv", "table", lambda: [*_tables(","), *_tables(";")])
_reader("tsv", "table", lambda: _tables("\t"))
_reader("xes", "xml", _xes)
_reader("text", "text", _texts)


@target("guessed", "text", lambda: [*_jsonl(), *_tables(","), *_xes(), *_texts()])
def _guessed(content):
    return used(el.read(io.BytesIO(content)))


@target("gzip", "bytes", lambda: [gzip.compress(one, mtime=0) for one in [*_jsonl(), *_texts()]])
def _gzip(content):
    return used(el.read(io.BytesIO(content)))


def put_in(log):
    """An event at the beginning of the first case."""
    case = log.cases[0]
    one = Insertion(case.id, case.domain, 0, "put in", 0.5)
    return log.placed([(0, one)] if case.events else [])


def _log(name, kind, seeds, suffixes):
    @target(f"log-{name}", kind, seeds)
    def take(content):
        log = read_log(io.BytesIO(content), format=name)
        for suffix in suffixes:
            try:
                write(log, put_in(log), folder() / f"log{suffix}")
            except el.InputError as error:  # not every log can be written in every format
                check_line(error)
        return log


_log("csv", "table", lambda: [*_tables(","), *_tables(";")], (".csv", ".xes"))
_log("xes", "xml", _xes, (".xes", ".csv"))
_log("jsonl", "lines", _jsonl, (".jsonl", ".csv"))


@target(
    "types", "table", lambda: [b"domain\ttype\tsentence\ttimes\nbell\tring\tHear the bell.\t2\n"]
)
def _types(content):
    table = HandTypes.read(written("types.tsv", content))
    return table.labels(el.read(STORIES))
