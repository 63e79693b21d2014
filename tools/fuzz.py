"""Spoiled input for every reader, every file format and the command line, for as long as you like.

    python tools/fuzz.py [TARGET ...] [--seconds N] [--seed S] [--jobs N] [--list]

Each target works in a process of its own, so that one that crashes or hangs ends nothing else. What
breaks is made as small as is quickly done, and kept in ``tests/data/fuzz/TARGET/``, where
``tests/test_fuzzing.py`` tries it again for ever. Exit status 1 if anything broke.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fuzzing import TARGETS  # noqa: E402 - after the path to it
from fuzzing.trial import LONGEST_WAIT, BrokenError, tried  # noqa: E402

KEPT = ROOT / "tests" / "data" / "fuzz"
MOST_KEPT = 5
"""Inputs that break in the same way, and then no more of them."""

SHRINKING = 10.0
"""Seconds in which an input is made smaller."""


@dataclass
class Report:
    """What came of a target's inputs."""

    inputs: int = 0
    accepted: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    grown: float = 0.0
    broken: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"{self.inputs:9,} inputs {self.seconds:6.0f} s {self.accepted:8,} accepted"
            f" {self.inputs - self.accepted - sum(self.broken.values()):8,} refused"
            f"   slowest {self.slowest:5.2f} s  memory +{self.grown:.0f} MB"
            f"   {sum(self.broken.values())} broken"
        )


def work(name: str, seconds: float, seed: int, under_way: Path, reports: Any) -> None:
    """Try inputs until the time is over; the one under way is in a file, should this end early."""
    target = TARGETS[name]
    for content in target.seeds():  # compiles what is compiled
        under_way.write_bytes(content)
        target.warm(content)
    report = Report()
    begun = time.monotonic()
    rng = random.Random(f"{name} {seed}")  # noqa: S311 - no secret
    while (now := time.monotonic() - begun) < seconds:
        content = target.spoiled(rng)
        under_way.write_bytes(content)
        report.inputs += 1
        report.seconds = now
        try:
            found = tried(target, content)
        except BrokenError as error:
            kind = kind_of(error)
            report.broken[kind] = report.broken.get(kind, 0) + 1
            if report.broken[kind] <= MOST_KEPT:
                small = smaller(target, content, kind)
                print(f"{name}: {error}\n    {keep(name, small)}", flush=True)
        else:
            report.accepted += found.accepted
            report.slowest = max(report.slowest, found.seconds)
            report.grown = max(report.grown, found.megabytes)
        if report.inputs % 50 == 0:
            reports.send(report)
    report.seconds = time.monotonic() - begun
    reports.send(report)


def kind_of(error: BrokenError) -> str:
    """Where something broke: the type of what was raised, and the last line of ours."""
    cause = error.__cause__
    trace = cause.__traceback__ if cause else None
    place = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "elision" in code.co_filename:
            place = f"{Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(cause).__name__ if cause else str(error).split()[-1]} {place}"


def smaller(target: Any, content: bytes, kind: str) -> bytes:
    """Leave out what need not be there to break in the same way."""
    end = time.monotonic() + SHRINKING
    size = max(1, len(content) // 2)
    while size and time.monotonic() < end:
        place = 0
        while place < len(content) and time.monotonic() < end:
            less = content[:place] + content[place + size :]
            if breaks(target, less, kind):
                content = less
            else:
                place += size
        size //= 2
    return bytes(target.whole(content))


def breaks(target: Any, content: bytes, kind: str) -> bool:
    """Whether an input breaks, with its checksums put right, in this way."""
    try:
        tried(target, target.whole(content))
    except BrokenError as error:
        return kind_of(error) == kind
    return False


def keep(name: str, content: bytes) -> Path:
    """Write an input to the cases that are tried for ever."""
    path = KEPT / name / hashlib.sha256(content).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path.relative_to(ROOT)


def run(name: str, seconds: float, seed: int) -> Report:
    """Try a target in processes of its own: after one that crashed or hangs, in another."""
    total = Report()
    fresh = multiprocessing.get_context("spawn")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="elision-fuzz-") as folder:
        under_way = Path(folder) / "input"
        while (left := seconds - (time.monotonic() - begun)) > 0:
            receives, sends = fresh.Pipe(duplex=False)
            process = fresh.Process(
                target=work, args=(name, left, seed, under_way, sends), daemon=True
            )
            process.start()
            sends.close()
            last = Report()
            while process.is_alive() or receives.poll():
                if receives.poll(60):
                    try:
                        last = receives.recv()
                    except EOFError:
                        break
                elif time.monotonic() - begun > seconds + 2 * LONGEST_WAIT:
                    process.kill()
            process.join()
            add(total, last)
            if process.exitcode == 0:
                break
            path = keep(name, under_way.read_bytes())
            total.broken[f"crash {path}"] = 1
            print(f"{name}: ended with status {process.exitcode}\n    {path}", flush=True)
            seed += 1
    return total


def add(total: Report, more: Report) -> None:
    """Add up two reports."""
    total.inputs += more.inputs
    total.accepted += more.accepted
    total.seconds += more.seconds
    total.slowest = max(total.slowest, more.slowest)
    total.grown = max(total.grown, more.grown)
    for kind, number in more.broken.items():
        total.broken[kind] = total.broken.get(kind, 0) + number


def main() -> None:
    """Try the targets that are named, or all."""
    parser = argparse.ArgumentParser(description="Give spoiled input to everything that reads.")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--list", action="store_true", help="names of the targets")
    given = parser.parse_args()
    if given.list:
        print(*TARGETS, sep="\n")
        return
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target {unknown[0]!r}, expected some of {', '.join(TARGETS)}")
    names = given.targets or list(TARGETS)
    broken = 0
    with ThreadPoolExecutor(max(1, given.jobs)) as pool:
        reports = pool.map(lambda name: run(name, given.seconds, given.seed), names)
        for name, report in zip(names, reports, strict=True):
            broken += sum(report.broken.values())
            print(f"{name:10} {report}", flush=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
