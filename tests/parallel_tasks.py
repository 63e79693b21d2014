"""Functions that `test_parallel.py` has called in other processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import elision as el
from elision import _threads


def square(number):
    if number < 0:
        raise el.InputError(f"{number} came")
    return number * number


def wait(seconds):
    time.sleep(seconds)
    return seconds


def threads(_):
    return 1 if _threads.inside_pool() else 2


def process(_):
    time.sleep(0.2)
    return os.getpid()


def die(item):
    """Be killed so many times, which a file counts, then work."""
    number, path, times = item
    died = len(path.read_text()) if path is not None and path.exists() else 0
    if path is not None and died < times:
        path.write_text("x" * (died + 1))
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return number


def is_running(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")  # one that nobody waits for has ended, too
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
