"""Every command and the main calls against every kind of bad input (see `bad_input`)."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

import bad_input
import commands
import elision as el
from bad_input import ASKING, NARRATIVES, READING, TELLINGS, WRITING
from commands import files
from models import row

ROOT = Path(__file__).parents[1]
GOOD = NARRATIVES["identical narratives"]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    place = tmp_path_factory.mktemp("scripts")
    el.examples.learned_doorbell().save(place / "script.json")
    el.examples.doorbell().save(place / "other.json")
    return {path.name: path.read_bytes() for path in place.iterdir()}


@pytest.fixture
def here(scripts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in scripts.items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()
    Path("good.jsonl").write_text(GOOD)
    Path("sentences.jsonl").write_text(NARRATIVES["sentences"])
    return tmp_path


@pytest.fixture
def elision(here, monkeypatch, capsys):
    commands.quick(monkeypatch)
    return partial(commands.run, monkeypatch, capsys)


def check(answer, row):
    """Whether a command ended as a row says."""
    status, out, err = answer
    assert status == row.status, (row.what, row.where, err)
    if status == bad_input.REFUSED:
        first, *more = err.splitlines()
        assert row.said in first, (row.what, row.where, err)
        assert first.startswith("elision: ")
        assert all("stdin line" in line for line in more), err  # one for each bad line of a stream
        assert out == "" or (row.what, *row.where) == bad_input.LEARNED_THE_REST
    assert "Traceback" not in err


def filled(arguments, **values):
    return [values.get(one, one) for one in arguments]


def cells(rows):
    return {(row.what, where): row for row in rows for where in row.where}


@pytest.mark.parametrize("what", NARRATIVES)
def test_narratives(elision, what):
    content = NARRATIVES[what]
    Path("in.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    before = files()
    for where, arguments in READING.items():
        row = cells(bad_input.FILES)[what, where]
        check(elision(*filled(arguments, FILE="in.jsonl")), row)
        if row.status == bad_input.REFUSED:
            assert files() == before, (what, where)
        for name in set(files()) - set(before):
            if Path(name).is_file():
                Path(name).unlink()
        for name in sorted(set(files()) - set(before), reverse=True):
            Path(name).rmdir()


@pytest.mark.parametrize("row", bad_input.PLACES, ids=lambda row: f"{row.what}, {row.where[0]}")
def test_places(elision, row):
    before = files()
    for where in row.where:
        path = "none.jsonl" if row.what == "no such file" else "folder"
        check(elision(*filled(READING[where], FILE=path)), row)
        assert files() == before


@pytest.mark.parametrize("what", bad_input.SCRIPTS)
def test_scripts(elision, scripts, what):
    good = scripts["script.json"]
    place = good.index(b'"open door"') + 3
    made = {
        "half": good[: len(good) // 2],
        "changed": good[:place] + b"x" + good[place + 1 :],
    }
    content = bad_input.SCRIPTS[what]
    if content == "folder":
        path = "folder"
    else:
        path = "bad.json"
        if content is not None:
            Path(path).write_bytes(made.get(content, content))
    before = files()
    for where, arguments in ASKING.items():
        row = cells(bad_input.SCRIPT_ROWS)[what, where]
        check(elision(*filled(arguments, SCRIPT=path, EVENT="open door")), row)
        assert files() == before


@pytest.mark.parametrize("what", TELLINGS)
def test_tellings(elision, what):
    for where in bad_input.EVENTS:
        row = cells(bad_input.TELLING_ROWS)[what, where]
        arguments = filled(ASKING[where], SCRIPT="script.json", EVENT=TELLINGS[what])
        answer = elision(*arguments)
        check(answer, row)
        assert "\x1b" not in "".join(answer[1:])


def numbers(command):
    """The options of a command that take a number."""
    for parameter in commands.whole().commands[command].params:
        kind = str(parameter.type_descriptor.annotation)
        if parameter.opts[0].startswith("-") and ("int" in kind or "float" in kind):
            yield next(one for one in parameter.opts if one.startswith("--"))


COMMANDS = {name: arguments for name, arguments in (READING | ASKING).items() if " " not in name}


@pytest.mark.parametrize("command", [name for name in COMMANDS if [*numbers(name)]])
def test_numbers(elision, command):
    given = filled(COMMANDS[command], FILE="good.jsonl", SCRIPT="script.json", EVENT="open door")
    for option in numbers(command):
        for number in bad_input.NUMBERS:
            status, out, err = elision(*given, option, number)
            place = (command, option, number, err)
            large = number.startswith("9")
            assert status == bad_input.REFUSED or (large and option in bad_input.HARMLESS), place
            if status == bad_input.REFUSED:
                assert (out, err.count("\n")) == ("", 1), place
                assert err.startswith("elision: "), place


def test_every_command_is_in_the_matrix():
    known = {name.split()[0] for name in (*READING, *ASKING, *WRITING)}
    assert known | {"serve"} == set(commands.whole().commands)  # see serve/


def test_every_cell_is_spoken_of_once():
    def every(rows):
        return sorted((row.what, where) for row in rows for where in row.where)

    assert every(bad_input.FILES) == sorted((a, b) for a in NARRATIVES for b in READING)
    assert every(bad_input.SCRIPT_ROWS) == sorted((a, b) for a in bad_input.SCRIPTS for b in ASKING)
    assert every(bad_input.TELLING_ROWS) == sorted(
        (a, b) for a in TELLINGS for b in bad_input.EVENTS
    )


def test_the_page_is_made_of_the_matrix():
    assert (ROOT / "docs" / "bad-input.md").read_text() == bad_input.page()


# ---- places to write to


@pytest.mark.parametrize(("command", "what"), bad_input.WRITTEN)
def test_places_to_write_to(elision, command, what):
    arguments = list(WRITING[command])
    place = arguments.index("-o") + 1
    arguments[place] = bad_input.UNWRITABLE[what].replace("NAME", arguments[place])
    if what == "a directory where a file goes" and command in ("draw", "export", "repair"):
        Path("folder").rmdir()
        arguments[place] = f"folder{Path(WRITING[command][place]).suffix}"
        Path(arguments[place]).mkdir()
    before = files()
    commands.refused(elision(*arguments, stdin=GOOD.encode()))
    assert files() == before


# ---- the main calls

NOTHING = [
    None,
    [],
    [[]],
    3,
    "x",
    b"x",
    {"a": 1},
    [None],
    [3],
    [["a", ""]],
    [["a", 1]],
    [["a", None]],
]
MAY_BE_TAKEN = ([], [[]], [["a", None]], [["a", ""]])  # of nothing, or of gaps and what is unknown
FEW = [[["a"]], [["a"]] * 5, [["a", "b"]], [[f"e{k}"] for k in range(5)], [["a"] * 30]]


def learned(make):
    def call(narratives):
        script = make().fit(narratives).script_
        assert all(map(math.isfinite, script.transition.ravel().tolist()))
        return script.score(["a"], samples=0)

    return call


CALLS = {
    "read": el.read,
    "ScriptLearner": learned(el.ScriptLearner),
    "SEMHMM": learned(lambda: el.SEMHMM(score="approx")),
    "repair": el.repair,
    "EventExtractor": lambda narratives: el.EventExtractor(vectors=False).fit(narratives),
    "conform": lambda narratives: el.examples.doorbell().conform(narratives, samples=0),
}


def refusal(call, given):
    """What a call says of what it refuses; nothing if it takes it."""
    try:
        CALLS[call](given)
    except el.ElisionError as error:
        (line,) = str(error).splitlines()
        return line
    return ""


@pytest.mark.parametrize("call", CALLS)
def test_calls_refuse_what_is_none(call):
    for given in NOTHING:
        assert refusal(call, given) or given in MAY_BE_TAKEN, given


@pytest.mark.parametrize("call", CALLS)
def test_calls_take_what_is_little(call):
    for given in FEW:
        assert call == "EventExtractor" or not refusal(call, given), given


SCRIPT = el.examples.doorbell()
BAD_OPTIONS = [
    *(
        lambda v=v: SCRIPT.between(["open door"], min_probability=v)
        for v in (math.nan, math.inf, -1, 2, "x")
    ),
    *(lambda v=v: SCRIPT.fill(["open door", None], top=v) for v in (0, -1, 0.5, math.nan)),
    *(lambda v=v: SCRIPT.sample(v) for v in (-1, 0.5, math.nan, 10**20)),
    *(lambda v=v: SCRIPT.sample(1, length=v) for v in (-1, 0.5, math.inf, 10**20)),
    *(lambda v=v: SCRIPT.sample(1, random_state=v) for v in (-1, 0.5, math.nan)),
    *(lambda v=v: SCRIPT.next([], steps=v) for v in (0, -1, 0.5, math.inf, 10**20)),
    *(lambda v=v: SCRIPT.score(["open door"], samples=v) for v in (-1, 0.5, math.nan, 10**20)),
    *(lambda v=v: SCRIPT.score(["open door"], false_alarms=v) for v in (0, 1, -1, math.nan)),
    *(lambda v=v: SCRIPT.order(["open door"], beam=v) for v in (0, -1, 0.5, math.nan)),
    *(lambda v=v: el.repair([["a"]], omission=v) for v in (1, -1, math.nan, math.inf)),
    *(lambda v=v: el.repair([["a"]], threshold=v) for v in (0, -1, math.nan, 2)),
    *(lambda v=v: el.SEMHMM(state_cost=v).fit([["a"]]) for v in (-1, math.nan, math.inf)),
    *(lambda v=v: el.SEMHMM(batch_size=v).fit([["a"]]) for v in (0, -1, 0.5)),
]


@pytest.mark.parametrize("number", range(len(BAD_OPTIONS)))
def test_calls_refuse_bad_options(number):
    with pytest.raises(el.ElisionError) as caught:
        BAD_OPTIONS[number]()
    assert len(str(caught.value).splitlines()) == 1


# ---- the world


def test_a_full_disk(here):
    """One process for all: more than so many bytes cannot be written to a file."""
    for command in WRITING:
        name = WRITING[command][WRITING[command].index("-o") + 1]
        Path(name).write_text("old")
    before = {name: Path(name).read_bytes() for name in files() if Path(name).is_file()}
    tried = ("learn", "repair", "draw", "export")
    everything = "; ".join(f"run({list(WRITING[name])!r})" for name in tried)
    ended = subprocess.run(
        [sys.executable, "-c", f"{RUN}\n{everything}"],
        input=GOOD,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
    )
    said = ended.stderr.splitlines()
    assert len(said) == len(tried), ended.stderr
    assert all(line.endswith(": cannot be written: File too large") for line in said), said
    assert ended.stdout.split() == ["2"] * len(said)
    assert {n: Path(n).read_bytes() for n in files() if Path(n).is_file()} == before


RUN = textwrap.dedent(
    """
    import sys
    from elision.cli import main
    def run(arguments):
        sys.argv = ["elision", *arguments]
        try:
            main()
        except SystemExit as end:
            print(end.code or 0)
    """
)


def test_home_cache_and_locale(here):
    """A strange world changes nothing but what can be shown."""
    el.ScriptLearner().fit([["läuten", "öffnen", "水"]] * 9).script_.save("umlaut.json")
    (here / "file").write_text("")
    strange = {
        **{name: value for name, value in os.environ.items() if name != "HOME"},
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "NUMBA_CACHE_DIR": str(here / "file" / "cache"),
    }
    asked = ("fill", "umlaut.json", "läuten".encode(), "?", "--top", "1")
    status, out, err = commands.finished(*asked, env=strange)
    assert (status, err) == (0, b"")
    assert b"\\xf6ffnen" in out
    assert out.isascii()
    status, _, err = commands.finished("fill", "umlaut.json", "singen ü".encode(), "?", env=strange)
    assert status == 2
    assert err.isascii()
    assert err.count(b"\n") == 1


def test_ctrl_c_is_heard_while_a_huge_question_is_answered(here):
    row(2000).save("huge.json")
    with commands.start("fill", "huge.json", "s0", *["?"] * 1500, "s1999", "--joint") as process:
        time.sleep(2.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        begun = time.perf_counter()
        out, err = process.communicate(timeout=commands.PATIENCE)
    assert time.perf_counter() - begun < 5  # a second, where nothing else is at work
    assert (process.returncode, out) == (130, b"")
    assert err in (b"", b"elision: interrupted\n")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_signals_leave_the_old_file(here, sent):
    """While it learns, or starts: what was there is there, and the next run tidies up."""
    Path("out.json").write_text("old")
    commands.write("long.jsonl", [[f"e{o}" for o in range(1500)]] * 2)
    with commands.start("learn", "long.jsonl", "-o", "out.json") as process:
        time.sleep(1.0)
        process.send_signal(sent)
        _, err = process.communicate(timeout=commands.PATIENCE)
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert err in (b"", b"elision: interrupted\n")
    else:
        assert (process.returncode, err) == (-sent, b"")
    assert Path("out.json").read_text() == "old"
