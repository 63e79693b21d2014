from __future__ import annotations

import errno
import fcntl
import gzip
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import msgspec
import pytest

import elision as el
from elision import learning
from elision.cli import Method, main
from elision.learn.checkpoint import Checkpoint
from elision.learn.observe import BatchDone

TELLINGS = el.examples.doorbell_tellings()
COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'elision'; from elision.cli import main; main()",
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def elision(here, monkeypatch, capsys):
    """Run a command in this process: its exit status, standard output and standard error."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["elision", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.fixture
def refused(elision):
    """Run a command that cannot be done: one line on standard error and nothing else."""

    def run(*arguments, **more):
        status, out, err = elision(*arguments, **more)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("elision: ")
        assert err.isascii() or err.rstrip("\n").isprintable()
        return err

    return run


def write(path, narratives, domain=""):
    """Narratives by domain, or of one."""
    by_domain = narratives if isinstance(narratives, dict) else {domain: narratives}
    records = [
        {"domain": domain, "events": list(events)}
        for domain, told in by_domain.items()
        for events in told
    ]
    Path(path).write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


def files(folder="."):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


# A new user


def test_the_demo(elision):
    status, out, err = elision("demo")
    assert (status, err) == (0, "")
    assert "20 tellings" in out
    assert "\n    walk to door" in out
    status, out, err = elision("demo", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["unsaid"][1][0]["event"] == "walk to door"


def test_help_has_an_example(elision):
    status, out, err = elision()
    assert (status, err) == (2, "")
    for command in ("demo", "learn"):
        assert f" {command} " in out
        for option in ("--help", "-h"):
            status, text, err = elision(command, option)
            assert (status, err) == (0, "")
            assert f"Example: elision {command}" in text
            assert "--json" in text


@pytest.mark.parametrize("method", list(Method))
def test_learn(elision, method):
    write("stories.jsonl", TELLINGS, "answering the doorbell")
    status, out, err = elision("learn", "stories.jsonl", "-o", "bell.json", "--method", method)
    assert (status, err) == (0, "")
    assert "answering the doorbell" in out
    assert "bell.json" in out
    first = Path("bell.json").read_bytes()
    status, out, err = elision(
        "learn", "stories.jsonl", "-o", "bell.json", "--method", method, "--json"
    )
    assert (status, err) == (0, "")
    (one,) = json.loads(out)
    script = el.load("bell.json")
    assert (one["states"], one["narratives"]) == (script.size - 2, 20)
    assert one["log_prob"] == pytest.approx(script.log_probs(TELLINGS).mean())
    assert one["elision"][0] <= one["elision"][1] <= one["elision"][2]
    assert Path("bell.json").read_bytes() == first
    assert files() == ["bell.json", "stories.jsonl"]


def test_options_reach_the_learner(elision):
    write("stories.jsonl", TELLINGS * 4)
    elision("learn", "stories.jsonl", "-o", "usual.json", "--method", "approx")
    usual = el.load("usual.json")
    for options in (
        ("--batch-size", 20),
        ("-r", 20),
        ("--state-cost", 20),
        ("--edge-cost", 20),
        ("--seed", 7),
    ):
        elision("learn", "stories.jsonl", "-o", "other.json", "--method", "approx", *options)
        assert el.load("other.json") != usual
    constrained = ("--constraint-cost", 2, "--method", "sem", "--exhaustive", "--paper-plan")
    status, out, _ = elision("learn", "stories.jsonl", "-o", "other.json", *constrained)
    assert status == 0
    assert "violated" in out
    assert el.load("other.json").about["score"] == "exact"


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_and_gzip(elision, packed):
    content = write(Path("stories.jsonl"), TELLINGS).read_bytes()
    elision("learn", "stories.jsonl", "-o", "file.json")
    if packed:
        content = gzip.compress(content)
        Path("stories.jsonl.gz").write_bytes(content)
        assert elision("learn", "stories.jsonl.gz", "-o", "packed.json")[0] == 0
        assert Path("packed.json").read_bytes() == Path("file.json").read_bytes()
    assert elision("learn", "-", "-o", "piped.json", stdin=content)[0] == 0
    assert Path("piped.json").read_bytes() == Path("file.json").read_bytes()


# Unusual narratives


@pytest.mark.parametrize(
    "narratives",
    [
        [["ring", "open"]],
        [["ring"]] * 10,
        [[], []],
        [[], ["ring"]],
        [["a" * 10_000, "b" * 10_000], ["b" * 10_000]],
        [["שלום", "مرحبا", "👩‍👩‍👧‍👦", "\u202eabc"], ["שלום", "[/bold]", ":smile:", "\x1b[31m\n"]],
        [["ring"] * 50],
    ],
    ids=["one", "one event", "empty", "one empty", "long names", "any script", "repeated"],
)
def test_unusual_narratives(elision, narratives):
    write("stories.jsonl", narratives)
    for method in Method:
        status, out, err = elision(
            "learn", "stories.jsonl", "-o", "s.json", "--json", "--method", method
        )
        assert (status, err) == (0, "")
        assert json.loads(out)[0]["narratives"] == len(narratives)
        assert set(el.load("s.json").events) == {e for told in narratives for e in told}


def test_a_narrative_can_be_too_long(refused, elision):
    write("stories.jsonl", [["a"], [f"e{k % 8}" for k in range(100_000)]])
    err = refused("learn", "stories.jsonl", "-o", "script.json")
    assert "narratives[1] (id '1'): 100000 events, expected at most 8192" in err
    assert files() == ["stories.jsonl"]


def test_no_memory(refused, monkeypatch):
    def learn_one(*_, **__):
        raise MemoryError("Unable to allocate 74.5 GiB")

    monkeypatch.setattr(learning, "_learn_one", learn_one)
    write("stories.jsonl", TELLINGS)
    assert "not enough memory: Unable" in refused("learn", "stories.jsonl", "-o", "script.json")


# Bad input


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "stories.jsonl: the file is empty"),
        (b"\n\n", "no narratives"),
        (b'{"events": ["a"]\n', "stories.jsonl line 1: not valid JSON"),
        (b'{"events": ["a"]}\n{"events": ["a", 7]}\n', "line 2, field 'events': events[1] is 7"),
        (b'{"events": "a"}\n', "is not a list of strings"),
        (b'{"events": ["a"], "domain": 3}\n', "field 'domain'"),
        (b"\xff\xfe", "is not utf-8 text"),
        (b"\x1f\x8b broken", "broken gzip"),
        (None, "there is no such file"),
    ],
)
def test_bad_narratives(refused, content, problem):
    if content is not None:
        Path("stories.jsonl").write_bytes(content)
        assert problem.replace("stories.jsonl", "stdin") in refused(
            "learn", "-", "-o", "script.json", "--format", "jsonl", stdin=content
        )
    assert problem in refused("learn", "stories.jsonl", "-o", "script.json")
    assert not Path("script.json").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("-r", "0"), "'--batch-size'"),
        (("--batch-size", "-3"), "'--batch-size'"),
        (("-r", "2.5"), "'--batch-size'"),
        (("--state-cost", "nan"), "'--state-cost': nan is not a number from 0"),
        (("--state-cost", "-1"), "'--state-cost': -1.0"),
        (("--edge-cost", "inf"), "'--edge-cost': inf"),
        (("--edge-cost", "much"), "'--edge-cost'"),
        (("--constraint-cost", "-0.5"), "'--constraint-cost': -0.5"),
        (("--seed", "-1"), "'--seed'"),
        (("--seed", "4294967296"), "'--seed'"),
        (("--method", "magic"), "'marginal', 'sem', 'approx', 'bmm', 'bmm-em'"),
        (("--format", "docx"), "format='docx'; expected one of jsonl"),
        (("--domain", "bel"), "did you mean 'bell'?"),
        (("-o", "-"), "expected a file or folder"),
        (("--nonsense",), "--nonsense"),
        (("another.jsonl",), "another.jsonl"),
    ],
)
def test_bad_options(refused, options, problem):
    write("stories.jsonl", TELLINGS, "bell")
    assert problem in refused("learn", "stories.jsonl", "-o", "script.json", *options)
    assert files() == ["stories.jsonl"]


def test_bad_usage(refused):
    write("stories.jsonl", TELLINGS)
    assert "'learn'" in refused("lern")
    assert "'narratives'" in refused("learn")
    assert "(see elision learn --help)" in refused("learn", "stories.jsonl")


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("missing/script.json", "no folder 'missing' to write to"),
        ("stories.jsonl/script.json", "no folder 'stories.jsonl' to write to"),
        ("stories.jsonl", "the narratives are in this file"),
        ("link.jsonl", "the narratives are in this file"),
        ("folder", "folder/bell.json: cannot be written: there is something other than a file"),
        ("/dev/full", "/dev/full: cannot be written: there is something other than a file"),
        ("/proc/script.json", "cannot be written"),
        ("a\n\x1b[31m/script.json", "no folder"),
        ("x" * 300, "cannot be written: File name too long"),
        ("x" * 250, "cannot be written: File name too long"),
    ],
)
def test_bad_output(refused, output, problem):
    write("stories.jsonl", TELLINGS, "bell")
    before = Path("stories.jsonl").read_bytes()
    Path("link.jsonl").symlink_to("stories.jsonl")
    Path("folder/bell.json").mkdir(parents=True)
    assert problem in refused("learn", "stories.jsonl", "-o", output)
    assert Path("stories.jsonl").read_bytes() == before
    assert files() == ["folder", "folder/bell.json", "link.jsonl", "stories.jsonl"]
    assert not Path("/dev/full.progress").exists()


def test_bad_output_of_several_domains(refused):
    write("stories.jsonl", {"a": TELLINGS, "b": TELLINGS})
    assert "2 domains came" in refused("learn", "stories.jsonl", "-o", "stories.jsonl")
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "stories.jsonl/folder")
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "x" * 300)
    assert "cannot be written" in refused("learn", "stories.jsonl", "-o", "/proc/folder")


def test_a_link_is_followed(elision):
    write("stories.jsonl", TELLINGS)
    Path("far").mkdir()
    Path("link.json").symlink_to("far/script.json")
    assert elision("learn", "stories.jsonl", "-o", "link.json")[0] == 0
    assert Path("link.json").is_symlink()
    assert files() == ["far", "far/script.json", "link.json", "stories.jsonl"]


# Several domains


def test_names_of_files(elision):
    names = {
        "a/b": "a-b",
        "a b": "a-b-2",
        "A?B": "A-B-3",
        "a-b-2": "a-b-2-2",
        "..": "script",
        "../../etc/passwd": "etc-passwd",
        "": "script-2",
        "/": "script-3",
        ".hidden": "hidden",
        "c\0d\n": "c-d",
        "[red]": "red",
        "שלום": "שלום",
        "x" * 300: "x" * 100,
        "x" * 299: "x" * 100 + "-2",
        "水" * 300: "水" * 66,
    }
    write("stories.jsonl", dict.fromkeys(names, TELLINGS[:3]))
    status, out, err = elision("learn", "stories.jsonl", "-o", "new/folder", "--json")
    assert (status, err) == (0, "")
    learned = {one["domain"]: one["path"] for one in json.loads(out)}
    assert learned == {domain: f"new/folder/{name}.json" for domain, name in names.items()}
    expected = sorted(["folder", *(f"folder/{name}.json" for name in names.values())])
    assert files("new") == expected
    assert elision("learn", "stories.jsonl", "-o", "new/folder")[0] == 0

    status, out, err = elision(
        "learn", "stories.jsonl", "-o", "new/folder", "--domain", "a b", "--json"
    )
    assert json.loads(out)[0]["path"] == "new/folder/a-b-2.json"
    assert elision("learn", "stories.jsonl", "-o", "one.json", "--domain", "")[0] == 0
    assert el.load("one.json").about["narratives"] == 3


def test_each_domain_is_learned_for_itself(elision):
    write("both.jsonl", {"a": TELLINGS, "b": TELLINGS[:7]})
    write("b.jsonl", TELLINGS[:7])
    elision("learn", "both.jsonl", "-o", "folder")
    elision("learn", "b.jsonl", "-o", "b.json")
    assert Path("folder/b.json").read_bytes() == Path("b.json").read_bytes()


def test_names_cannot_steer_the_terminal(elision):
    write("stories.jsonl", {"\x1b[31m\u202ered\n": TELLINGS[:2], "[/] :smile: \\": TELLINGS[:2]})
    status, out, err = elision("learn", "stories.jsonl", "-o", "folder")
    assert (status, err, out.count("\n")) == (0, "", 3)
    assert "\\x1b[31m\\u202ered\\n " in out
    assert "[/] :smile: \\ " in out


def test_names_that_standard_output_cannot_write(elision, monkeypatch):
    write("stories.jsonl", TELLINGS[:2], "水")
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        status, _, err = elision("learn", "stories.jsonl", "-o", os.fsdecode(b"\xff.json"))
        shown = stdout.buffer.getvalue()
    assert (status, err) == (0, "")
    assert rb"\u6c34" in shown
    assert rb"\udcff.json" in shown


# Interrupted, and resumed


@pytest.fixture
def batches(monkeypatch):
    """The batches that are learned, by the first letter of their file; Ctrl-C comes after one."""

    class Batches(list):
        interrupt_after = None

    done = Batches()
    keep = Checkpoint.__call__

    def observe(checkpoint, event, model):
        keep(checkpoint, event, model)
        if isinstance(event, BatchDone):
            done.append(f"{checkpoint.path.name[0]}{event.batch}")
            if done[-1] == done.interrupt_after:
                raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "__call__", observe)
    return done


def test_resumed_after_the_last_complete_batch(elision, batches):
    write("stories.jsonl", TELLINGS)
    learn = ("learn", "stories.jsonl", "-o")
    elision(*learn, "whole.json")
    batches.clear()
    batches.interrupt_after = "s2"
    status, out, err = elision(*learn, "script.json")
    assert (status, out) == (130, "")
    assert err == "elision: interrupted (--resume goes on after the last complete batch)\n"
    assert files() == ["script.json.progress", "stories.jsonl", "whole.json"]
    assert elision(*learn, "script.json", "--resume")[::2] == (0, "")
    assert batches == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert files() == ["script.json", "stories.jsonl", "whole.json"]

    batches.clear()
    elision(*learn, "script.json")
    elision(*learn, "script.json", "--resume", "--seed", "3")  # of another fit
    assert batches == ["s1", "s2", "s1", "s2"]
    elision(*learn, "script.json")  # without --resume
    assert batches[4:] == ["s1", "s2"]
    batches.interrupt_after = None
    batches.clear()
    elision(*learn, "script.json", "--resume", "--json")
    assert batches == ["s3", "s4"]
    elision(*learn, "script.json", "--resume")  # nothing is left to resume
    assert batches[2:] == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()


def test_complete_domains_are_not_learned_again(elision, batches):
    write("stories.jsonl", {"a": TELLINGS[:10], "b": TELLINGS[5:], "c": TELLINGS[:5]})
    elision("learn", "stories.jsonl", "-o", "whole")
    batches.clear()
    batches.interrupt_after = "b2"
    status, _, _ = elision("learn", "stories.jsonl", "-o", "folder")
    assert status == 130
    assert files("folder") == ["a.json", "a.json.progress", "b.json.progress"]
    status, out, _ = elision("learn", "stories.jsonl", "-o", "folder", "--resume", "--json")
    assert status == 0
    assert [one["domain"] for one in json.loads(out)] == ["a", "b", "c"]
    assert batches == ["a1", "a2", "b1", "b2", "b3", "c1"]
    assert files("folder") == files("whole") == ["a.json", "b.json", "c.json"]
    for name in files("whole"):
        assert Path("folder", name).read_bytes() == Path("whole", name).read_bytes()


def test_a_full_disk(refused, elision, batches, monkeypatch):
    write("stories.jsonl", TELLINGS)
    elision("learn", "stories.jsonl", "-o", "whole.json")
    batches.clear()
    synced = os.fsync

    def fsync(descriptor):
        if len(batches) == left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    left = 2
    err = refused("learn", "stories.jsonl", "-o", "script.json")
    assert err == "elision: script.json.progress: cannot be written: No space left on device\n"
    assert files() == ["script.json.progress", "stories.jsonl", "whole.json"]
    left = 4
    err = refused("learn", "stories.jsonl", "-o", "script.json", "--resume")
    assert err == "elision: script.json: cannot be written: No space left on device\n"
    left = None
    assert elision("learn", "stories.jsonl", "-o", "script.json", "--resume")[0] == 0
    assert batches == ["s1", "s2", "s3", "s4"]
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert files() == ["script.json", "stories.jsonl", "whole.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"\xff" + content,
        lambda content: content.replace(b'"format":"', b'"format":"\xff'),
        lambda content: content.replace(b'"states":', b'"stakes":'),
        lambda content: b"[" + content + b"]",
        lambda content: json.dumps(json.loads(content) | {"history": []}).encode(),
        lambda content: json.dumps(json.loads(content) | {"states": 1}).encode(),
        lambda content: json.dumps(json.loads(content) | {"states": -1}).encode(),
    ],
)
def test_damaged_progress(refused, elision, batches, damage):
    write("stories.jsonl", TELLINGS)
    batches.interrupt_after = "s2"
    elision("learn", "stories.jsonl", "-o", "script.json")
    progress = Path("script.json.progress")
    damaged = damage(progress.read_bytes())
    progress.write_bytes(damaged)
    err = refused("learn", "stories.jsonl", "-o", "script.json", "--resume")
    assert "script.json.progress: no progress file: " in err
    assert "(delete it to start anew)" in err
    assert progress.read_bytes() == damaged


# Processes: signals, pipes and terminals


def start(*arguments, **more):
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], **(pipes | more))


def finished(*arguments, **more):
    with start(*arguments, **more) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def wait_for(path, process):
    until = time.monotonic() + 60
    while not Path(path).exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.002)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_signal_and_resuming(elision, sent):
    write("stories.jsonl", TELLINGS * 20)
    learn = ("learn", "stories.jsonl", "-r", "1", "-o")
    with start(*learn, "script.json") as process:
        wait_for("script.json.progress", process)
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    assert out == b""
    if sent == signal.SIGKILL:
        assert (process.returncode, err) == (-signal.SIGKILL, b"")
    else:
        assert process.returncode == 130
        assert err.startswith(b"elision: interrupted (--resume ")
        assert files() == ["script.json.progress", "stories.jsonl"]
    assert len(json.loads(Path("script.json.progress").read_bytes())["history"]) < 400
    assert elision(*learn, "script.json", "--resume")[::2] == (0, "")
    elision(*learn, "whole.json")
    assert Path("script.json").read_bytes() == Path("whole.json").read_bytes()
    assert not Path("script.json.progress").exists()


def test_closed_and_full_standard_output(here):
    write("stories.jsonl", TELLINGS[:2])
    learn = ("learn", "stories.jsonl", "-o", "script.json", "--json")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:  # as of `elision learn ... | head -0`
        assert finished(*learn, stdout=pipe) == (1, None, b"")
    el.load("script.json")
    with Path("/dev/full").open("wb") as full:
        status, _, err = finished("--help", stdout=full)
    assert (status, err) == (2, b"elision: cannot go on: [Errno 28] No space left on device\n")
    shell = ["sh", "-c", '"$@" >&- 2>&- <&-', "sh", *COMMAND]
    assert subprocess.run([*shell, "--help"], check=False).returncode == 0
    assert subprocess.run([*shell, "learn"], check=False).returncode == 2


def test_nothing_but_json(here):
    write("stories.jsonl", TELLINGS[:2], "水\u202e")
    environment = os.environ | {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii"}
    learn = ("learn", "stories.jsonl", "-o", b"\xff.json")
    status, out, err = finished(*learn, "--json", env=environment)
    assert (status, err) == (0, b"")
    assert json.loads(out)[0]["domain"] == "水\u202e"
    assert os.fsencode(json.loads(out)[0]["path"]) == b"\xff.json"


def test_in_a_terminal(here):
    names = ["repairing a flat bicycle tire, then riding it", "[/] [red]"]
    write("stories.jsonl", dict.fromkeys(names, TELLINGS))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    learn = ("learn", "stories.jsonl", "-o", "folder")
    with start(
        *learn, stdout=theirs, stderr=theirs, env=environment | {"TERM": "xterm"}
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 1 << 16):
                shown += more
        except OSError:  # the other end was closed
            pass
        os.close(ours)
    assert process.wait() == 0
    text = shown.decode()
    assert "20/20" in text
    assert "[/] [red] " in text
    table = text[text.rindex("domain") :]
    for heading in ("narratives", "states", "edges", "elision", "log-prob", "file"):
        assert heading in table
    assert "…" not in table
    assert max(map(len, table.splitlines()[1:])) <= 80
