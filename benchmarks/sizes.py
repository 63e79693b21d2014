"""What hostile sizes cost: time, memory, and how soon Ctrl-C ends learning from them.

    python benchmarks/sizes.py [NAME ...] [--method METHOD ...] [--seconds N] [--interrupts N]
    python benchmarks/sizes.py --score

Prints one JSON object a line for each input and method: seconds until the script is saved (or what
ended it), those that processors worked (on a busy machine they say more), peak memory in MiB, what
was said, the size of the script's file, and the longest that the process lived on after Ctrl-C,
sent at a few moments spread over the run. ``--score``: processor seconds to score a telling of
random events by the example's script.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

Narratives = list[list[str]]

METHODS = ("default", "marginal", "approx", "sem")


def drawn(narratives: int, length: int, types: int) -> Narratives:
    """Events drawn at random, all alike."""
    random = np.random.default_rng(0)
    return [[f"e{o}" for o in random.integers(types, size=length)] for _ in range(narratives)]


def every_type(types: int) -> Narratives:
    """As many events as there are types, two tellings of each, ten events a telling."""
    random = np.random.default_rng(0)
    shuffled = np.concatenate([random.permutation(types), random.permutation(types)])
    return [[f"e{o}" for o in shuffled[at : at + 10]] for at in range(0, len(shuffled), 10)]


INPUTS: dict[str, Callable[[], Narratives]] = {
    "1 narrative of 1,000 events": lambda: [[f"e{o}" for o in range(1000)]],
    "3 narratives of 1,000 random events": lambda: drawn(3, 1000, 1000),
    "3 narratives of 1,000 events of 20 types": lambda: drawn(3, 1000, 20),
    "800 event types": lambda: every_type(800),
    "1,000 event types": lambda: every_type(1000),
    "5,000 event types": lambda: every_type(5000),
    "10,000 random narratives": lambda: drawn(10_000, 10, 30),
}


def command(source: Path, output: Path, method: str) -> list[str]:
    learn = ["-c", "from elision.cli import main; main()", "learn", str(source)]
    return [sys.executable, *learn, "-o", str(output), "--method", method]


class Ended(NamedTuple):
    """How a process ended: None if it had to be killed; peak memory in MiB, processor seconds."""

    status: int | None
    memory: float
    seconds: float


def finished(process: subprocess.Popen[str], seconds: float) -> Ended:
    """Wait until it ends, or end it."""
    ends = time.perf_counter() + seconds
    while True:
        found, status, used = os.wait4(process.pid, os.WNOHANG)
        if found:
            process.returncode = os.waitstatus_to_exitcode(status)
            return _ended(process.returncode, used)
        if time.perf_counter() > ends:
            process.kill()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            return _ended(None, used)
        time.sleep(0.01)


def _ended(status: int | None, used: resource.struct_rusage) -> Ended:
    return Ended(status, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def started(arguments: list[str], folder: str) -> subprocess.Popen[str]:
    errors = Path(folder, "errors").open("w")  # noqa: SIM115 - the process has it
    return subprocess.Popen(arguments, text=True, stdout=subprocess.DEVNULL, stderr=errors)


def measure(name: str, method: str, seconds: float, interrupts: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "in.jsonl"), Path(folder, "out.json")
        source.write_text("".join(json.dumps({"events": one}) + "\n" for one in INPUTS[name]()))
        begun = time.perf_counter()
        ended = finished(started(command(source, output, method), folder), seconds)
        took = time.perf_counter() - begun
        said = Path(folder, "errors").read_text().strip().splitlines()
        saved = output.exists()
        size = output.stat().st_size if saved else 0
        late = [
            after_interrupt(command(source, output, method), folder, took * share)
            for share in np.arange(1, interrupts + 1) / (interrupts + 1)
        ]
    return {
        "input": name,
        "method": method,
        "seconds": round(took, 1),
        "processor seconds": round(ended.seconds, 1),
        "saved": saved,
        "ended": "killed" if ended.status is None else ended.status,
        "said": said,
        "peak MiB": round(ended.memory),
        "file MB": round(size / 1e6, 2),
        "seconds after Ctrl-C": round(max((one for one in late if one is not None), default=0), 2),
    }


def after_interrupt(arguments: list[str], folder: str, when: float) -> float | None:
    """Seconds from Ctrl-C to the end; None if the process ended before."""
    process = started(arguments, folder)
    ends = time.perf_counter() + when
    while time.perf_counter() < ends and process.poll() is None:
        time.sleep(0.01)
    if process.returncode is not None:
        return None
    process.send_signal(signal.SIGINT)
    begun = time.perf_counter()
    finished(process, 60.0)
    return time.perf_counter() - begun


def score(length: int) -> dict[str, object]:
    """Score a telling of so many random events of the doorbell."""
    import elision as el

    script = el.examples.learned_doorbell()
    script.score(script.events[:2])
    told = np.random.default_rng(0).choice(script.events, length).tolist()
    begun = time.process_time()
    found = script.score(told)
    took = time.process_time() - begun
    return {"events": length, "processor seconds": round(took, 1), "flags": len(found.flags)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="inputs; by default all")
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--seconds", type=float, default=300, help="before a run is killed")
    parser.add_argument("--interrupts", type=int, default=3, help="moments of Ctrl-C to try")
    parser.add_argument("--score", action="store_true", help="score long tellings instead")
    options = parser.parse_args()
    if options.score:
        for length in (50, 100, 300, 1000, 5000):
            print(json.dumps(score(length)), flush=True)
        return
    # A shell starts background jobs with Ctrl-C ignored, and commands would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in options.names or INPUTS:
        for method in options.method or METHODS:
            found = measure(name, method, options.seconds, options.interrupts)
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
