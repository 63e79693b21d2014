"""Damaged and forged files, and what killed runs leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import msgspec
import pytest

import commands
import elision as el
from commands import files, start, write
from elision import _files
from elision.errors import FileFormatError
from elision.text.extract import EventExtractor

STORIES = el.read(
    [
        {"steps": ["hear the bell", "walk to the door", "open the door"]},
        {"steps": ["the bell rings", "go to the door", "open it"]},
    ]
    * 3
)
TELLINGS = el.examples.doorbell_tellings()


# ---- extractors


def changed(data, path, value):
    """A copy in which one value is another."""
    copy = msgspec.json.decode(msgspec.json.encode(data))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value(inner[path[-1]]) if callable(value) else value
    return copy


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("domains", 0, "words"), lambda words: dict.fromkeys(words, 10**6)),  # math domain error
        (("domains", 0, "words"), lambda words: dict.fromkeys(words, 10**400)),  # OverflowError
        (("domains", 0, "sentences"), 10**400),
        (("domains", 0, "sentences"), 0),  # ZeroDivisionError
        (("domains", 0, "sentences"), 2**60),  # so many that no word is rare
        (("domains", 0, "centroid"), lambda numbers: [1e308] * len(numbers)),
        (("domains", 0, "calibration"), (0.1, 1e308)),
        (("domains", 0, "cut"), 1e308),
        (("domains", 0, "types", 0, "tellings"), -1),
        (("domains", 0, "types", 0, "cohesion"), 1e308),
        (("settings", "verb_weight"), 1e308),
        (("settings", "none_threshold"), -1e308),
    ],
)
def test_damaged_extractors(path, value):
    extractor = EventExtractor()
    extractor.fit_transform(STORIES)
    data = extractor.to_dict()
    whole = EventExtractor.from_dict(data).transform(STORIES)
    assert whole == extractor.transform(STORIES)
    if path[-1] == "centroid" and not data["domains"][0]["centroid"]:
        pytest.skip("no word vectors here")
    with pytest.raises(FileFormatError, match=r"damaged extractor: ") as caught:
        EventExtractor.from_dict(changed(data, path, value))
    assert "\n" not in str(caught.value)


# ---- progress


# ---- temporary files


def test_what_killed_runs_left_is_swept_by_the_next(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    machine = _files._machine()
    token = 16 * "0"
    left = tmp_path / f".elision-{machine}-{ended.pid}-{token}"
    mine = tmp_path / f".elision-{machine}-{os.getppid()}-{token}"
    elsewhere = tmp_path / f".elision-00000000-{ended.pid}-{token}"
    old = tmp_path / f".elision-{token}"
    others = [tmp_path / ".elision-notes", tmp_path / f".elision-{machine}-1-{token}.json"]
    for path in (left, mine, elsewhere, old, *others):
        path.write_text("x")
    long_ago = time.time() - 3 * 86_400
    os.utime(old, (long_ago, long_ago))
    _files.write_atomically(tmp_path / "new", b"new")
    assert files(tmp_path) == sorted(p.name for p in (mine, elsewhere, *others, tmp_path / "new"))


def test_nothing_is_left_where_writing_fails(tmp_path):
    def half():
        with _files.atomic_file(tmp_path / "new") as file:
            file.write(b"half")
            assert len(files(tmp_path)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert files(tmp_path) == []
    assert not _files._unfinished


# ---- Ctrl-C


def test_no_traceback_after_ctrl_c_while_libraries_are_loaded(tmp_path):
    begins = (
        "import sys, os, signal\n"
        "class Finder:\n"
        "    def find_spec(self, name, *more):\n"
        "        if name == 'typer': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from elision.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", begins], capture_output=True, check=False, cwd=tmp_path
    )
    assert (ended.returncode, ended.stderr) == (130, b"")


def test_ctrl_c_is_heard_while_compiled_code_runs(tmp_path):
    """A kernel of a minute, the lock of the interpreter let go: only a thread can hear."""
    held = (
        "import ctypes, os, signal, sys, threading, time\n"
        "from elision import _files\n"
        "from elision.cli.interrupts import heard_soon\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "with heard_soon('interrupted'), _files.atomic_file('half') as file:\n"
        "    file.write(b'half')\n"
        "    until = time.monotonic() + 60\n"
        "    def wait(*_):\n"
        "        while time.monotonic() < until: time.sleep(0.01)\n"
        "    signal.signal(signal.SIGINT, wait)\n"
        "    wait()\n"
    )
    begun = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", held], capture_output=True, check=False, cwd=tmp_path
    )
    assert (ended.returncode, ended.stderr) == (130, b"elision: interrupted\n")
    assert time.perf_counter() - begun < 30
    assert files(tmp_path) == []


def test_ctrl_c_ends_learning_of_anything(tmp_path):
    write(tmp_path / "in.jsonl", [[f"e{o}" for o in range(1500)]] * 2)
    with start("learn", "in.jsonl", "-o", "out.json", cwd=tmp_path) as process:
        time.sleep(4)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=commands.PATIENCE)
            assert process.returncode == 130
            said = err.splitlines()[-1:]  # nothing while libraries are loaded
            assert said in ([], [b"elision: interrupted"])
            assert files(tmp_path) == ["in.jsonl"]
