"""Long runs that are killed: what was there stays, and what is resumed ends as if nothing had been.

``python tools/kill.py`` kills for as long as you like; here a dozen kills in one process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import PATIENCE
from elision._files import sweep, temporary_in

ROOT = Path(__file__).parents[1]
COMPILING = 900
"""Seconds, where kernels are compiled for the first time."""

SERVING = """
import subprocess, sys
worker = "import os, time; from elision.serve import worker; worker.end_with_server()"
worker += "; print(os.getpid(), flush=True); time.sleep(60)"
subprocess.run([sys.executable, "-c", worker])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")
def test_a_dozen_kills():
    command = [sys.executable, ROOT / "tools" / "kill.py", "marginal", "learn", "--kills", "12"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILING, check=False)
    assert done.returncode == 0, done.stdout
    kills, _, runs, resumed, equal = map(int, done.stdout.splitlines()[-1].split()[1:])
    assert kills == 12
    assert runs == resumed == equal


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
