"""Runs that are killed: what was there stays, or what is new is whole."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elision as el
from commands import PATIENCE
from elision._files import sweep, temporary_in

COMPILING = 900
"""Seconds, where kernels are compiled for the first time."""

SERVING = """
import subprocess, sys
worker = "import os, time; from elision.serve import worker; worker.end_with_server()"
worker += "; print(os.getpid(), flush=True); time.sleep(60)"
subprocess.run([sys.executable, "-c", worker])
"""


CASES = {
    "learn": (("learn", "told.jsonl", "-o", "script.json"), "script.json"),
    "repair": (("repair", "log.csv", "-o", "repaired.csv"), "repaired.csv"),
}


def inputs(folder):
    chance = random.Random(5)
    tellings = [list(one) for one in el.examples.doorbell_tellings()]
    el.Corpus.of(tellings * 3).to_jsonl(folder / "told.jsonl")
    rows = [
        f"{number},{event}"
        for number, told in enumerate(tellings * 20)
        for event in told
        if chance.random() < 0.9
    ]
    (folder / "log.csv").write_text("\n".join(["case,activity", *rows]) + "\n")


@pytest.mark.parametrize("case", CASES)
def test_killed_at_any_moment_the_old_result_stays_or_the_new_one_is_whole(tmp_path, case):
    arguments, result = CASES[case]
    inputs(tmp_path)
    command = [sys.executable, "-m", "elision", *arguments]
    began = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=COMPILING)
    seconds = time.monotonic() - began
    new = (tmp_path / result).read_bytes()
    old = new + b"\n"  # something older of the same kind
    chance = random.Random(case)
    for _ in range(6):
        (tmp_path / result).write_bytes(old)
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(seconds * chance.uniform(0.5, 1.0))
            except subprocess.TimeoutExpired:
                process.kill()
        assert (tmp_path / result).read_bytes() in (old, new)
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / result).read_bytes() == new
    assert [path.name for path in tmp_path.glob(".elision-*")] == []


def test_files_of_processes_that_work_are_left_alone(tmp_path):
    with temporary_in(tmp_path) as path:
        path.touch()
        sweep(tmp_path)
        assert path.is_file()
    assert list(tmp_path.iterdir()) == []


def test_workers_of_a_server_that_was_killed_end():
    command = [sys.executable, "-c", SERVING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.kill()
    until = time.monotonic() + PATIENCE
    while _is_running(worker):
        assert time.monotonic() < until
        time.sleep(0.02)


def _is_running(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")  # one that nobody waits for has ended, too
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
