"""Every question by its command: JSON as the library answers, tables for people, exit status."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

import elision as el
from commands import files, write
from elision.terminal import plain
from elision.values.library import Library

DOORBELL = el.examples.doorbell()
TELLINGS = el.examples.doorbell_tellings()
TELLING = ["hear doorbell", None, "open door"]
TOLD = ["hear doorbell", "open door"]


def silent(factor):
    """The doorbell script, its states silent more or less often."""
    silence = factor * DOORBELL.elision
    told = DOORBELL.emission * ((1 - silence) / (1 - DOORBELL.elision))[:, None]
    return el.Script(DOORBELL.events, DOORBELL.transition, told, silence)


TEA = el.Script.build(
    {"boil": {"boil water": 0.9, None: 0.1}, "pour": "pour water"},
    {"start": {"boil": 1}, "boil": {"pour": 1}, "pour": {"end": 1}},
)


@pytest.fixture
def elision(elision):
    DOORBELL.save("door.json")
    TEA.save("tea.json")
    return elision


@pytest.fixture
def shown(elision):
    """Run a command that people read."""

    def run(*arguments, status=0, **more):
        found, out, err = elision(*arguments, **more)
        assert (found, err) == (status, "")
        return out

    return run


@pytest.fixture
def answered(shown):
    """Run a command with --json."""
    return lambda *arguments, **more: json.loads(shown(*arguments, "--json", **more))


QUESTIONS = {
    "fill": (("hear doorbell", "?", "open door"), lambda s: s.fill(TELLING, top=5)),
    "fill --joint": (
        ("open door", "?", "?", "--top", "3"),
        lambda s: s.fill(["open door", None, None], top=3, joint=True),
    ),
    "fill --anywhere": (
        ("hear doorbell", "close door", "--exclude", "open door"),
        lambda s: s.fill(
            ["hear doorbell", "close door"], top=5, anywhere=True, exclude=["open door"]
        ),
    ),
    "fill --top 2": (
        ("open door", "?", "--top", "2"),
        lambda s: s.fill(["open door", None], top=2),
    ),
    "between": (
        (*TOLD, "--min-probability", "0.2"),
        lambda s: s.between(TOLD, min_probability=0.2),
    ),
    "next": ((*TOLD, "--steps", "3"), lambda s: s.next(TOLD, steps=3, top=5)),
    "next --top 1": ((), lambda s: s.next([], top=1)),
    "order": (("close door", *TOLD), lambda s: s.order(["close door", *TOLD], top=3)),
    "sample -n 4 --seed 3": ((), lambda s: s.sample(4, random_state=3)),
    "sample -n 2 --complete": (
        ("open door", "..."),
        lambda s: s.sample(2, random_state=0, complete=True, given=["open door", ...]),
    ),
    "sample --length 2": ((), lambda s: s.sample(1, random_state=0, length=2)),
    "score --samples 50": ((*TOLD, "cough"), lambda s: s.score([*TOLD, "cough"], samples=50)),
}


@pytest.fixture(scope="module")
def scripts():
    learner = el.ScriptLearner().fit(TELLINGS)
    return {"by hand": DOORBELL, "learned": learner.script_}


@pytest.mark.parametrize("script", ["by hand", "learned"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_library_s(elision, answered, shown, scripts, question, script):
    scripts[script].save("s.json")
    arguments, ask = QUESTIONS[question]
    command, *options = question.split()
    arguments = (command, "s.json", *options, *arguments)
    found = answered(*arguments)
    assert found == json.loads(json.dumps(plain(ask(el.load("s.json")))))
    out = shown(*arguments)
    assert out.strip()
    assert "\x1b" not in out


def test_people_see_bars(shown):
    (answer, *_) = DOORBELL.fill(TELLING, top=1)[0].answers
    out = shown("fill", "door.json", *asked(TELLING))
    line = next(one for one in out.splitlines() if "%" in one)
    bar = "█" * round(20 * answer.probability)
    assert line.split() == [*answer.event.split(), f"{answer.probability:.0%}", bar]


def test_long_names_are_folded_before_the_bars(shown, elision):
    names = ["ring", "open the door " + "very " * 40 + "slowly", "水" * 100]
    states = {f"s{number}": name for number, name in enumerate(names)}
    chances = dict.fromkeys(states, 1 / 3)
    edges = {"start": chances, **{state: {"end": 1.0} for state in states}}
    el.Script.build(states, edges).save("s.json")
    lines = shown("next", "s.json").splitlines()
    assert len({cell_len(line[: line.index("%")]) for line in lines if "%" in line}) == 1
    assert all(cell_len(line) <= 160 for line in lines)
    for name in names:
        assert name.replace(" ", "") in re.sub(r"[ \n█]|\d+%", "", "\n".join(lines))


def asked(items):
    return ["?" if item is None else item for item in items]


def test_a_story_shows_probabilities(shown, elision):
    twice = el.Script.build(
        {"ring": {"ring": 0.2, None: 0.8}, "open": "open"},
        {"start": {"ring": 1}, "ring": {"ring": 0.5, "open": 0.5}, "open": {"end": 1}},
    )
    twice.save("twice.json")
    (step,) = twice.between(["open"]).unsaid[0]
    assert step.expected != pytest.approx(step.probability, rel=0.1)
    assert f" {step.probability:.0%} " in shown("between", "twice.json", "open")


def test_what_would_be_no_percent_is_not_next(shown, answered):
    """Unless more is asked for than one gets unasked."""
    chances = {f"e{k}": 0.0001 for k in range(6)} | {"usual": 1 - 6 * 0.0001}
    wide = el.Script.build({"one": chances}, {"start": {"one": 1}, "one": {"end": 1}})
    wide.save("wide.json")
    assert shown("next", "wide.json").split()[:2] == ["usual", "100%"]
    assert len(shown("next", "wide.json", "--top", "5").splitlines()) == 2
    assert len(shown("next", "wide.json", "--top", "6").splitlines()) == 7
    assert len(answered("next", "wide.json")["steps"][0]["answers"]) == 5


def test_what_is_said_besides_numbers(shown):
    out = shown("fill", "door.json", "close door", "?", "hear doorbell")
    assert "the script cannot tell this; its most usual events are" in out
    out = shown("fill", "door.json", "hear doorbell", "close door", "--anywhere", "--top", "1")
    assert out.rstrip().endswith("before close door")
    out = shown("next", "door.json", "close door", "--steps", "2")
    assert out.count("(nothing more)") == 2
    out = shown("sample", "door.json", "--length", "0")
    assert out == "(nothing)\n"


def test_standard_input_and_unknown_events(shown, answered, refused):
    lines = b"hear doorbell\n\n?\n"
    piped = answered("fill", "door.json", "-", "open door", stdin=lines)
    assert piped == answered("fill", "door.json", *asked(TELLING))
    problem = refused("fill", "door.json", "-", stdin=b"\xff\n")
    assert "standard input: no utf-8 text" in problem.lower()
    assert "item 2: unknown event 'cough'" in refused("between", "door.json", "open door", "cough")
    assert "--ignore-unknown leaves" in refused("between", "door.json", "open door", "cough")
    assert "cough" not in shown("between", "door.json", "open door", "cough", "--ignore-unknown")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("fill", "door.json", "open door"), "no gap (put ? where an event is missing)"),
        (("fill", "door.json", "?", "hear dorbell"), "did you mean 'hear doorbell'?"),
        (("fill", "door.json", "?", " "), "an item of the telling is empty"),
        (("fill", "door.json", "?", "--joint", "--anywhere"), "both joint and anywhere"),
        (("fill", "door.json", "?", "--top", "0"), "'--top'"),
        (("fill", "no.json", "?"), "no.json: cannot be read: No such file"),
        (("fill", "log.jsonl", "?"), "log.jsonl"),
        (("between", "door.json", "close door", "hear doorbell"), "cannot tell this narrative"),
        (("between", "door.json", "close door", "hear doorbell"), "score says which"),
        (("compare", "door.json", "tea.json", "--on", "log.csv"), "(name it with --case)"),
        (("between", "door.json", "...", "?"), "item 1: between does not take a stretch"),
        (("score", "door.json", "open door", "...", "?"), "item 2: score does not take a stretch"),
        (("order", "door.json", "open door", "..."), "(leave it away: order takes only what is"),
        (("next", "door.json", "--steps", "100000"), "steps is 100000"),
        (("order", "door.json", "greet visitor", "take parcel"), "cannot tell these events"),
        (("sample", "door.json", "...", "--length", "3"), "both a length and a narrative"),
        (("score", "door.json"), "neither a telling nor --log"),
        (("score", "door.json", "open door", "--log", "log.jsonl"), "both a telling and --log"),
        (("score", "door.json"), "(give the events of a telling, or the file of a log with --log)"),
        (("score", "door.json", "log.jsonl", "--csv"), "no log came (name its file with --log)"),
        (("score", "--csv", "door.json"), "no log came (name its file with --log)"),
        (("score", "door.json", "--log", "no.jsonl"), "no.jsonl: there is no such file"),
        (("compare", "door.json", "no.json"), "no.json: cannot be read"),
        (("identify", "door.json"), "no telling"),
        (
            ("identify", "door.json", "tea.json", "open door"),
            "tea.json: this file would be taken for a part of the telling (put -- between scripts",
        ),
        (
            ("identify", "door.json", "empty/", "open door"),
            "empty/: this folder would be taken for a part of the telling (put --",
        ),
        (
            ("identify", "door.json", "some", "open door"),
            "some: this folder would be taken for a part of the telling (put --",
        ),
        (("identify", "empty", "--", "open door"), "empty: no script file in this folder"),
        (("identify", "door.json", "...", "open door"), "item 1: identify does not take a stretch"),
        (("draw", "door.json", "-o", "door.gif"), "door.gif"),
        (("draw", "door.json", "-o", "d.svg", "--telling", "..."), "item 1: draw does not take"),
        (
            ("draw", "door.json", "-o", "d.svg", "hear doorbell", "open door"),
            "'hear doorbell' came behind the script (draw takes a telling by --telling, once for",
        ),
        (("draw", "door.json", "-o", "d.pdf"), "d.pdf: cannot draw a file of the kind .pdf"),
        (("export", "door.json", "-o", "d.svg"), "(`draw` makes pictures)"),
        (("export", "door.json", "-o", "d.bpmn", "--states"), "for Graphviz only, not as .bpmn"),
        (("export", "door.json", "-o", "door.docx"), "(name it .dot, .gv"),
        (("export", "door.json", "-o", "no/door.dot"), "no/door.dot: cannot be written"),
        (("serve", "door.json", "--port", "70000"), "'--port'"),
        (("serve", "no.json", "--no-open", "--port", "0"), "no.json: cannot be read"),
    ],
)
def test_bad_questions(refused, arguments, problem):
    write("log.jsonl", TELLINGS)
    Path("log.csv").write_text("who;what\n1;ring\n")
    Path("empty").mkdir()
    Path("some").mkdir()
    Path("some/door.json").write_bytes(Path("door.json").read_bytes())
    before = files()
    assert problem in refused(*arguments)
    assert files() == before


# Logs


def test_a_log_is_scored_as_a_table(shown, answered):
    log = [*TELLINGS[:3], ["close door", "open door", "cough\x1b[31m"]]
    write("log.jsonl", log)
    expected = DOORBELL.conform(log, samples=20)
    score = ("score", "door.json", "--log", "log.jsonl", "--samples", "20")

    found = answered(*score)
    assert [one.pop("id") for one in found] == ["0", "1", "2", "3"]
    assert found == json.loads(json.dumps(plain(list(expected))))
    assert found[3]["flags"][0]["weight"] is None  # JSON has no infinity

    rows = list(csv.DictReader(io.StringIO(shown(*score, "--csv"))))
    assert list(rows[0]) == list(expected.to_rows()[0])
    assert [row["id"] for row in rows] == ["0", "1", "2", "3"]
    assert [float(row["log_prob"]) for row in rows] == [one.log_prob for one in expected]
    assert rows[3]["flags"].endswith("cough\\x1b[31m: not in the script")

    out = shown(*score)
    assert out.endswith("1 of 4 tellings odd\n")
    assert "\x1b" not in out
    assert len(out.splitlines()) == 6
    assert len(shown(*score, "--flagged").splitlines()) == 3
    (odd,) = answered(*score, "--flagged")
    assert odd["id"] == "3"


def test_a_check_fails_where_something_is_flagged(shown):
    write("log.jsonl", {"good": TELLINGS[:2], "bad": [["close door", "open door"]]})
    score = ("score", "door.json", "--check", "--samples", "0")
    assert "1 of 3" in shown(*score, "--log", "log.jsonl", status=1)
    assert "0 of 2" in shown(*score, "--log", "log.jsonl", "--domain", "good")
    shown(*score, *TOLD)
    shown(*score, "--json", "open door", "hear doorbell", status=1)
    shown("score", "door.json", "open door", "hear doorbell")


def test_a_log_may_be_a_table_with_named_columns(answered):
    rows = ["who;what", *(f"{n};{event}" for n, told in enumerate(TELLINGS[:2]) for event in told)]
    Path("log.csv").write_text("\n".join(rows))
    named = ("--case", "who", "--activity", "what", "--time", "")
    found = answered("score", "door.json", "--log", "log.csv", *named, "--samples", "0")
    assert [one["told"] for one in found] == TELLINGS[:2]


# Several scripts


def test_scripts_are_compared(shown, answered):
    silent(0.5).save("other.json")
    write("log.jsonl", TELLINGS[:5])
    compare = ("compare", "door.json", "other.json", "--samples", "50", "--on", "log.jsonl")
    expected = DOORBELL.compare(el.load("other.json"), TELLINGS[:5], samples=50)
    assert answered(*compare) == json.loads(json.dumps(plain(expected)))
    out = shown(*compare)
    assert ", ".join(expected.differences[0].steps) in out
    assert "log-probability" in out
    out = shown("compare", "door.json", "tea.json", "--samples", "20")
    assert "infinite; the second cannot tell 100% of them" in out
    assert "no step" in out


def test_scripts_are_compared_on_events(refused):
    Path("raw.jsonl").write_text('{"steps": ["He opened the door."]}\n')
    err = refused("compare", "door.json", "tea.json", "--on", "raw.jsonl")
    assert "no events (turn sentences into events first: elision events)" in err


def test_scripts_are_compared_on_a_table_with_named_columns(answered):
    Path("log.csv").write_text("who;what\n1;hear doorbell\n1;open door\n")
    options = ("--samples", "20", "--on", "log.csv", "--case", "who", "--activity", "what")
    options += ("--time", "")
    found = answered("compare", "door.json", "tea.json", *options)
    expected = DOORBELL.compare(TEA, [TOLD], samples=20)
    assert found["on_data"] == json.loads(json.dumps(plain(expected.on_data)))


def test_learned_scripts_are_compared_as_in_python(scripts, answered):
    scripts["learned"].save("s.json")
    found = answered("compare", "s.json", "door.json", "--samples", "50")
    expected = el.load("s.json").compare(DOORBELL, samples=50)
    assert found == json.loads(json.dumps(plain(expected)))


def test_a_telling_is_identified(shown, answered):
    Path("shelf").mkdir()
    DOORBELL.save("shelf/door.json")
    TEA.save("shelf/tea.json")
    Library({"bell": DOORBELL, "tea": TEA}).save("library")
    asked = ("--", "boil water", "pour water")
    for scripts in (("door.json", "tea.json"), ("shelf",), ("library",), ("library", "door.json")):
        found = answered_before(answered, "identify", *scripts, rest=asked)
        assert found["best"] == "tea"
        assert sum(one["probability"] for one in found["candidates"]) == pytest.approx(1, abs=1e-6)
    assert shown("identify", "shelf", "boil water", "pour water").startswith("tea ")
    twice = answered_before(answered, "identify", "tea.json", "shelf/tea.json", rest=asked)
    assert {one["name"] for one in twice["candidates"]} == {"tea", "tea (2)", None}
    TEA.annotated(domain="making tea").save("shelf/tea.json")
    for scripts in (("shelf",), ("door.json", "shelf/tea.json"), ("door.json", "shelf")):
        assert answered_before(answered, "identify", *scripts, rest=asked)["best"] == "making tea"
    assert shown("identify", "shelf", "boil water", "pour water").startswith("making tea ")
    out = shown("identify", "shelf", "--", "cough", "sneeze", status=1)
    assert out.startswith("(none of these) ")
    sure = ("identify", "shelf", "--none-of-these", "0", "--", "cough", "sneeze")
    assert "(none of these)" not in shown(*sure)


def answered_before(answered, *arguments, rest):
    """Put --json, which `answered` adds at the end, before what follows --."""
    return answered(*arguments, "--json", *rest)


# Pictures and other programs


def test_scripts_are_drawn_and_exported(shown, answered):
    DOORBELL.save("s.json")
    overlay = ("--telling", "hear doorbell", "--telling", "?", "--title", "Ding & dong")
    found = answered("draw", "s.json", "-o", "s.svg", *overlay)
    assert found == {"path": "s.svg", "bytes": Path("s.svg").stat().st_size}
    expected = DOORBELL.draw(telling=["hear doorbell", None], title="Ding & dong")
    assert Path("s.svg").read_text() == expected.svg
    assert "s.svg: 10 steps" in shown("draw", "s.json", "-o", "s.svg")
    for suffix in ("dot", "mmd", "json", "pnml", "bpmn"):
        assert shown("export", "s.json", "-o", f"o.{suffix}").startswith(f"o.{suffix}: ")
        assert Path(f"o.{suffix}").stat().st_size > 100
    states = answered("export", "s.json", "-o", "states.dot", "--states")
    assert states == {"path": "states.dot", "bytes": Path("states.dot").stat().st_size}


def test_the_page_gets_what_the_command_says(elision, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "elision.serve.command.serve", lambda scripts, **more: asked.append((scripts, more))
    )
    assert elision("serve", "door.json", "tea.json", "--port", "0", "--no-open")[0] == 0
    assert elision("serve", "--host", "::1", "--open")[0] == 0
    assert asked == [
        (
            [Path("door.json"), Path("tea.json")],
            {"tellings": [], "host": "127.0.0.1", "port": 0, "open_browser": False},
        ),
        ([], {"tellings": [], "host": "::1", "port": 8350, "open_browser": True}),
    ]


def test_a_missing_extra_is_named(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'pip install "elision[page]"' in refused("serve", "door.json")


def test_names_cannot_steer_the_terminal(shown):
    hostile = "\x1b[31m\u202e[/] [red] :smile: 水"
    script = el.Script.build(
        {"a": hostile, "b": {"b": 0.5, None: 0.5}},
        {"start": {"a": 1}, "a": {"b": 1}, "b": {"end": 1}},
    )
    script.save("s.json")
    for command in ("fill", "between", "next", "score", "order"):
        told = (hostile, "?") if command == "fill" else (hostile,)
        out = shown(command, "s.json", *told)
        assert "\x1b" not in out
        assert "\u202e" not in out
        if command != "next":
            assert "\\x1b[31m\\u202e[/] [red] :smile: 水" in out


def test_bars_on_a_terminal_without_blocks(shown, monkeypatch):
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert shown("next", "door.json") == ""
        found = stdout.buffer.getvalue().decode()
    assert "##########" in found
    assert "\\u2588" not in found


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("export", "door.json", "-o", "door.json"), "door.json: the script is in this file"),
        (("export", "door.json", "-o", "./link.json"), "link.json: the script is in this file"),
        (("draw", "s.svg", "-o", "s.svg"), "s.svg: the script is in this file"),
        (("repair", "log.csv", "--script", "s.csv", "-o", "s.csv"), "the script is in this file"),
        (("learn", "t.jsonl", "--types", "s.csv", "-o", "s.csv"), "the types are in this file"),
        (("bench", "t.jsonl", "-o", "t.jsonl"), "t.jsonl: the narratives are in this file"),
    ],
)
def test_nothing_that_is_read_is_written_over(refused, arguments, problem):
    write("t.jsonl", TELLINGS)
    Path("log.csv").write_text("case,activity\n1,ring\n")
    for name in ("s.svg", "s.csv"):
        DOORBELL.save(name)
    Path("link.json").symlink_to("door.json")
    before = {name: Path(name).read_bytes() for name in files()}
    assert f"{problem}, expected another" in refused(*arguments)
    assert {name: Path(name).read_bytes() for name in files()} == before
