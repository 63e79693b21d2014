"""Narratives that arrive, and `elision learn --follow`."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import commands
import elision as el
from commands import files, start, wait_for
from elision.errors import InputError
from elision.readers import arriving as source
from elision.readers.arriving import arriving

TELLINGS = [list(one) for one in el.examples.doorbell_tellings()]


@pytest.fixture(autouse=True)
def quick(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "PAUSE", 0.001)


def lines(narratives, **more):
    return "".join(json.dumps({"events": list(one), **more}) + "\n" for one in narratives)


def come(arrivals):
    """What came until nothing does."""
    found = []
    for one in arrivals:
        if one is None:
            break
        found.append(str(one) if isinstance(one, InputError) else list(one.events))
    return found


# --- sources --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b'{"events": ["a", "b"]}\r\n\n["c"]\n{"events": ["\xc3\xa4"]}',
            [["a", "b"], ["c"], ["ä"]],
        ),
        (b"\xef\xbb\xbfa\n b \n\n\nc\n\n\xc3\xa4", [["a", "b"], ["c"], ["ä"]]),
        (b"", []),
        (b"\n\n", []),
    ],
)
def test_lines_in_pieces(monkeypatch, content, told, size):
    monkeypatch.setattr(source, "CHUNK", size)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    pipe = arriving("-", {})
    assert come(pipe.arrivals()) == told
    assert pipe.position is None


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("content", ["case,activity\n", "\nwho;what\n7;ring\n", "a|b\nc|d\n"])
def test_a_table_is_not_taken_for_text(monkeypatch, content, size):
    monkeypatch.setattr(source, "CHUNK", size)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    with pytest.raises(InputError, match=r"looks like the header of a table.*format='text'"):
        come(arriving("-", {}).arrivals())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert come(arriving("-", {"format": "text"}).arrivals()) == [content.split()]


@pytest.mark.parametrize(
    "content", ["ring, twice\n\nopen, close\n", "ring, twice\nopen\nsee, who\n", "a\nb,c\nd,e\n"]
)
def test_events_with_commas_are_events(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    expected = [part.splitlines() for part in content.strip().split("\n\n")]
    assert come(arriving("-", {}).arrivals()) == expected


def test_bad_lines_are_told_of_and_passed_over(monkeypatch):
    content = b'{"events": ["a"]}\n{"events": 3}\n{"ev\n\xff\n{"events": ["b"]}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    first, *bad, last = come(arriving("-", {}).arrivals())
    assert (first, last) == (["a"], ["b"])
    assert [one.split(":")[0] for one in bad] == [
        "stdin line 2, field 'events'",
        "stdin line 3",
        "stdin line 4",
    ]


def add(path, text):
    with Path(path).open("a") as file:
        file.write(text)


def test_a_growing_file_has_whole_lines_only():
    add("log", lines(TELLINGS[:2]) + '{"events": ["a",')
    following = arriving("log", {})
    arrivals = following.arrivals()
    assert come(arrivals) == TELLINGS[:2]
    position = following.position
    assert position["offset"] == len(lines(TELLINGS[:2]))
    add("log", '"b"]}')
    assert come(arrivals) == []
    add("log", "\n" + lines(TELLINGS[2:3]))
    assert come(arrivals) == [["a", "b"], TELLINGS[2]]
    again = arriving("log", {}, json.loads(json.dumps(position)))
    assert come(again.arrivals()) == [["a", "b"], TELLINGS[2]]
    assert again.position == following.position


def test_a_growing_text():
    add("log.txt", "a\nb\n\nc\n")
    following = arriving("log.txt", {})
    arrivals = following.arrivals()
    assert come(arrivals) == [["a", "b"]]
    assert following.position["offset"] == len("a\nb\n\n")
    add("log.txt", "d\n\n")
    assert come(arrivals) == [["c", "d"]]


def test_a_file_cut_short_begins_anew():
    add("log", lines(TELLINGS[:3]))
    following = arriving("log", {})
    arrivals = following.arrivals()
    come(arrivals)
    Path("log").write_text(lines(TELLINGS[5:6]))
    assert come(arrivals) == TELLINGS[5:6]
    assert following.position["offset"] == len(lines(TELLINGS[5:6]))


def test_a_file_that_is_replaced_is_read_to_its_end_first():
    add("log", lines(TELLINGS[:3]))
    arrivals = arriving("log", {}).arrivals()
    come(arrivals)
    Path("log").rename("log.1")
    assert come(arrivals) == []
    add("log.1", lines(TELLINGS[3:4]))
    add("log", lines(TELLINGS[4:5]))
    assert come(arrivals) == TELLINGS[3:5]


def test_another_file_under_the_name_is_read_from_its_beginning():
    add("log", lines(TELLINGS[:3]))
    following = arriving("log", {})
    come(following.arrivals())
    Path("log").write_text(lines(TELLINGS[3:9]))
    assert come(arriving("log", {}, following.position).arrivals()) == TELLINGS[3:9]


def test_a_folder_of_arriving_files():
    folder = Path("in")
    folder.mkdir()
    past = time.time() - 60

    def put(name, content, age=0):
        (folder / name).write_text(content)
        os.utime(folder / name, (past - age, past - age))

    put("b.jsonl", lines(TELLINGS[:2]), age=9)
    put("a.csv", "case,activity\n1,a\n2,b\n1,c\n")
    for name in (".hidden", "x.tmp", "y.part", "z.jsonl~"):
        put(name, lines(TELLINGS))
    (folder / "fresh.jsonl").write_text(lines(TELLINGS[2:3]))  # may still be written to
    following = arriving("in", {"encoding": "utf-8", "format": None})
    arrivals = following.arrivals()
    assert come(arrivals) == [*TELLINGS[:2], ["a", "c"], ["b"]]
    put("fresh.jsonl", lines(TELLINGS[2:3]), age=1)
    put("c.jsonl", '{"events"')
    put("d.txt", "a\n\nb\n")
    found = come(arrivals)
    assert [one for one in found if isinstance(one, list)] == [TELLINGS[2], ["a"], ["b"]]
    assert any("c.jsonl line 1: not valid JSON" in one for one in found)
    (folder / "b.jsonl").unlink()
    assert come(arrivals) == []
    assert following.position == {
        "done": ["a.csv", "c.jsonl", "d.txt", "fresh.jsonl"],
        "file": "",
        "taken": 0,
    }
    put("b.jsonl", lines(TELLINGS[3:6]))
    assert next(one for one in arrivals if one is not None).events == tuple(TELLINGS[3])
    again = arriving("in", {}, json.loads(json.dumps(following.position)))
    assert come(again.arrivals()) == TELLINGS[4:6]


def test_sources_that_are_none():
    Path("in").mkdir()
    Path("log.csv").write_text("case,activity\n")
    Path("log").write_bytes(b"\x1f\x8bxx\n")
    for name, options, said in (
        ("none", {}, "there is no such file"),
        ("log.csv", {}, "a file in the format 'csv' cannot be followed"),
        ("log", {}, "a file of packed bytes cannot be followed"),
        ("log", {"case": "c"}, "case='c' is for tables"),
        ("log", {"encoding": "utf-16"}, "encoding='utf-16' cannot be followed"),
        ("log", {"encoding": "x"}, "encoding='x' cannot be followed"),
    ):
        with pytest.raises(InputError, match=said):
            come(arriving(name, options).arrivals())
    for name in ("in", "log"):
        with pytest.raises(InputError, match="another kind of source"):
            arriving(name, {}, {"done": 3} if name == "in" else {})


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def simple(monkeypatch):
    """Scripts that are learned at once: what is learned is tested elsewhere."""
    script = el.examples.doorbell()

    def fit(learner, narratives):
        learner.n_narratives_seen_ = len(narratives)
        learner.script_ = script.annotated(narratives=len(narratives), learner="")
        learner.events_ = script.events
        return learner

    monkeypatch.setattr(el.ScriptLearner, "fit", fit)


def test_standard_input_to_its_end(elision, simple):
    content = lines(TELLINGS, domain="door").encode()
    status, out, err = elision(
        "learn", "--follow", "-", "-o", "a.json", "--batch", 8, stdin=content
    )
    assert (status, err) == (0, "")
    assert out.splitlines() == [f"a.json: {n} narratives, 10 events" for n in (8, 16, 20)]
    assert files() == ["a.json", "a.json.progress"]
    about = el.load("a.json").about
    assert (about["narratives"], about["sample"], about["domain"]) == (20, 20, "door")
    more = ("learn", "--follow", "-", "-o", "a.json", "--resume", "--json")
    status, out, err = elision(*more, stdin=content)
    assert json.loads(out) == {
        "learned": {"narratives": 40, "sample": 40, "events": 10, "path": "a.json"}
    }


def test_a_change_is_reported(elision, simple):
    other = {"open door": "walk to door", "walk to door": "open door"}
    turned = [[other.get(event, event) for event in one] for one in TELLINGS]
    content = (lines(TELLINGS * 20) + lines(turned * 10)).encode()
    learn = ("learn", "--follow", "-", "-o", "a.json")
    status, out, err = elision(*learn, stdin=content)
    assert (status, err) == (0, "")
    [report] = [line for line in out.splitlines() if line.startswith("! ")]
    assert report.startswith("! after 4")
    assert "narratives: what is told has changed, since about 4" in report
    assert "order: open door before" in report
    _, out, _ = elision(*learn, "--json", "--on-drift", "report", stdin=content)
    [drift] = [json.loads(line)["drift"] for line in out.splitlines() if "drift" in line]
    assert 400 < drift["at"] < 500
    assert {"what", "before", "after"} == set(drift["order"][0])
    _, out, _ = elision(*learn, "--false-alarms", "1e-30", stdin=content)
    assert "!" not in out


def test_bad_narratives_do_not_stop_it(elision, simple):
    bad = '{"events": 1}\n{"steps": ["He ran."]}\n' + lines([["a"]], domain="other")
    content = (lines(TELLINGS[:9]) + bad + lines(TELLINGS[9:])).encode()
    status, out, err = elision("learn", "--follow", "-", "-o", "a.json", stdin=content)
    assert status == 2
    assert out == "a.json: 20 narratives, 10 events\n"
    said = err.splitlines()
    assert [one.split(":")[1] for one in said] == [
        " stdin line 10, field 'events'",
        " stdin line 11",
        " stdin line 12",
    ]
    assert "sentences came, expected one of events (turn sentences into events first" in said[1]
    assert "of the domain 'other', expected ''" in said[2]
    only = ("learn", "--follow", "-", "-o", "b.json", "--domain", "other")
    assert elision(*only, stdin=lines(TELLINGS).encode() + lines([["a"]], domain="other").encode())[
        ::2
    ] == (0, "")
    assert el.load("b.json").about["narratives"] == 1
    many = elision("learn", "--follow", "-", "-o", "c.json", stdin=b"[1]\n" * 30)
    assert many[0] == 2
    assert len(many[2].splitlines()) == 11
    assert "c.json" not in files()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--follow", "-", "--method", "sem"], "--follow learns as the default method does"),
        (["--follow", "-", "--half-life", "0"], "half_life is 0.0, expected a number above 0"),
        (["--follow", "-", "--on-drift", "x"], "on_drift is 'x', expected 'forget' or 'report'"),
        (["--follow", "-", "-o", "."], "a folder came, expected a file for the script"),
        (["--follow", "-", "-o", "no/a.json"], "its folder does not exist"),
        (["--follow", "-"], "there are no narratives in it"),
        (["-", "--half-life", "3"], "--half-life is for --follow"),
        (["-", "--false-alarms", "0.1"], "--false-alarms is for --follow"),
    ],
)
def test_options_that_do_not_fit(elision, arguments, said):
    assert said in commands.refused(elision("learn", "-o", "a.json", *arguments))
    assert files() == []


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_stopped_while_a_file_grows_and_resumed(elision, sent, monkeypatch):
    learn = ("learn", "--follow", "log.jsonl", "-o", "a.json", "-r", "10")
    add("log.jsonl", lines(TELLINGS[:10]))
    with start(*learn) as process:
        wait_for("a.json.progress", process)
        whole = Path("a.json").read_bytes()
        add("log.jsonl", lines(TELLINGS[10:13]) + '{"events": ["wa')  # no batch yet
        process.send_signal(sent)
        _, err = process.communicate(timeout=commands.PATIENCE)
    status, said = {
        signal.SIGKILL: (-signal.SIGKILL, b""),
        signal.SIGTERM: (143, b"elision: terminated (--resume goes on after what is complete)\n"),
    }[sent]
    assert (process.returncode, err) == (status, said)
    assert Path("a.json").read_bytes() == whole
    assert files() == ["a.json", "a.json.progress", "log.jsonl"]
    if sent == signal.SIGTERM:
        return
    add("log.jsonl", 've"]}\n' + lines(TELLINGS[13:20]))

    class Enough(KeyboardInterrupt):
        pass

    def stop(*_):
        raise Enough

    monkeypatch.setattr(source.time, "sleep", stop)  # it has seen all that there is
    status, _, err = elision(*learn, "--resume")
    assert (status, err) == (
        130,
        "elision: interrupted (--resume goes on after what is complete)\n",
    )
    resumed = json.loads(Path("a.json.progress").read_bytes())
    assert resumed["seen"] == 20
    assert elision("learn", "--follow", "log.jsonl", "-o", "b.json", "-r", "10")[0] == 130
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert Path("a.json.progress").read_bytes() == Path("b.json.progress").read_bytes()
    assert el.load("a.json").about["narratives"] == 20
