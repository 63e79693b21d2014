"""Kill long runs at random moments, resume them, and compare what comes of it, byte by byte.

    python tools/kill.py [COMMAND ...] [--kills 200] [--seed 0] [--spawn] [--keep FOLDER]

Each command is run once without being disturbed. Then it is run again and again in folders where
an older result lies, and killed (SIGKILL) one to three times: in every other run at a moment by
chance, else at one of its file operations or within a few milliseconds after one, while files are
being written. After each kill all results must be the old ones or the new ones, and progress must
be whole. The last run goes on to its end: its results must be those of the undisturbed run, and
nothing else may be left, no temporary file either.

Runs are forked from a process in which everything is loaded and compiled, so that kills hit the
work itself; ``--spawn`` starts a new interpreter each time. Exit status 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("ELISION_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # other threads would stay behind in forks

import elision as el
from elision.cli import main as elision_main
from elision.learn import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

TELLINGS = [list(one) for one in el.examples.doorbell_tellings()]
MOST_KILLS = 3
"""Kills of one run before it may come to its end."""

LONGEST_DELAY = 0.004
"""Seconds after a file operation within which a process is killed."""

PATIENCE = 120.0
COMMAND = "import sys; sys.argv[0] = 'elision'; from elision.cli import main; main()"
OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
PROGRESS = ".progress"
ENDED = (0, 128 + signal.SIGTERM, -signal.SIGTERM)
"""Exit status of what came to its end, or was told to: before it listens, in one of two ways."""


def _jsonl(domains: dict[str, list[list[str]]]) -> bytes:
    records = [{"domain": name, "events": one} for name, told in domains.items() for one in told]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _log() -> bytes:
    """A log of many cases, a few of whose events were not recorded."""
    chance = random.Random(5)  # noqa: S311 - the same log each time
    rows = ["case,activity"]
    for number, told in enumerate(TELLINGS * 20):
        rows += [f"{number},{event}" for event in told if chance.random() < 0.9]
    return ("\n".join(rows) + "\n").encode()


def _script() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        el.examples.doorbell().save(path)
        return path.read_bytes()


def _without_seconds(content: bytes) -> bytes:
    """Results of a benchmark but for the time that it took."""

    def kept(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: kept(one) for key, one in value.items() if "seconds" not in key}
        return [kept(one) for one in value] if isinstance(value, list) else value

    return json.dumps(kept(json.loads(content))).encode()


@dataclass(frozen=True)
class Case:
    """A command that is killed: what it reads, its arguments, and those that let it go on."""

    arguments: tuple[str, ...]
    inputs: dict[str, Callable[[], bytes]]
    resume: tuple[str, ...] = ()
    same: Callable[[bytes], bytes] = bytes


_ONE = {"one.jsonl": lambda: _jsonl({"": TELLINGS * 3})}
CASES = {
    "learn": Case(
        ("learn", "two.jsonl", "-o", "scripts"),
        {"two.jsonl": lambda: _jsonl({"a": TELLINGS * 2, "b": TELLINGS[::-1]})},
    ),
    "marginal": Case(
        ("learn", "one.jsonl", "-o", "script.json", "--method", "marginal", "-r", "4"),
        _ONE,
        ("--resume",),
    ),
    "repair": Case(("repair", "log.csv", "-o", "repaired.csv"), {"log.csv": _log}),
    "repair by a script": Case(
        ("repair", "log.csv", "-o", "repaired.xes", "--script", "script.json"),
        {"log.csv": _log, "script.json": _script},
    ),
    "bench": Case(
        (
            *("bench", "one.jsonl", "-o", "results.json", "--seeds", "3", "--jobs", "1"),
            *("--methods", "Frequency", "--methods", "default"),
        ),
        _ONE,
        same=_without_seconds,
    ),
}


@dataclass
class Tally:
    """What came of the kills of one command."""

    kills: int = 0
    writing: int = 0
    """Kills after which a temporary file was left."""
    runs: int = 0
    resumed: int = 0
    equal: int = 0
    wrong: list[str] = field(default_factory=list)


class Child:
    """A run of a command in a folder, in a process of its own."""

    def __init__(self, folder: Path, arguments: tuple[str, ...], *, spawn: bool, at: float) -> None:
        self._said = folder.with_suffix(".said")
        if spawn:
            with self._said.open("wb") as said:
                self._started = subprocess.Popen(
                    [sys.executable, "-c", COMMAND, *arguments],
                    cwd=folder,
                    stdout=said,
                    stderr=said,
                    stdin=subprocess.DEVNULL,
                )
            self.process = self._started.pid
            return
        self.process = os.fork()
        if not self.process:
            _be_killed(folder, at)
            os._exit(_run(folder, arguments, self._said))

    def wait(self, until: float) -> int | None:
        """Exit status, negative for a signal; None if it still runs at that time."""
        while True:
            found, status = os.waitpid(self.process, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= until:
                return None
            time.sleep(0.0005)

    def kill(self, number: int = signal.SIGKILL) -> int:
        """Send a signal and wait for the end."""
        os.kill(self.process, number)
        status = self.wait(time.monotonic() + PATIENCE)
        if status is None:
            raise SystemExit(f"process {self.process} does not end")
        return status

    @property
    def said(self) -> str:
        """All that it printed."""
        return self._said.read_text(encoding="utf-8", errors="replace")


def _run(folder: Path, arguments: tuple[str, ...], said: Path) -> int:
    """Run a command in this process."""
    before = Path.cwd()
    os.chdir(folder)
    sys.argv = ["elision", *arguments]
    try:
        with said.open("w", encoding="utf-8") as out, redirect_stdout(out), redirect_stderr(out):
            elision_main()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        os.chdir(before)
    return 0


def _be_killed(folder: Path, at: float) -> None:
    """Let this process end at a file operation: number and, behind the point, delay."""
    if not at:
        return
    left, delay = int(at), at % 1 * LONGEST_DELAY

    def end() -> None:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in OPERATIONS and _is_written(event, arguments, f"{folder}{os.sep}"):
            left -= 1
            if not left:
                threading.Thread(target=end).start() if delay else end()

    sys.addaudithook(hook)


def _is_written(event: str, arguments: tuple[Any, ...], folder: str) -> bool:
    path = arguments[0]
    if not isinstance(path, str | os.PathLike):
        return False
    writes = event != "open" or arguments[2] & (os.O_WRONLY | os.O_RDWR)
    return bool(writes) and os.path.abspath(path).startswith(folder)  # noqa: PTH100 - asked very often


class Killing:
    """Kills one command again and again."""

    def __init__(self, name: str, place: Path, *, spawn: bool, seed: int) -> None:
        self.case = CASES[name]
        self.tally = Tally()
        self._name, self._place, self._spawn = name, place / name.replace(" ", "-"), spawn
        self._chance = random.Random(f"{name} {seed}")  # noqa: S311
        self._place.mkdir()
        self._given = {path: make() for path, make in self.case.inputs.items()}
        self._whole, self._seconds = self._undisturbed()
        self._old = {
            name: _aged(content)
            for name, content in self._whole.items()
            if not name.endswith(PROGRESS)
        }

    def _undisturbed(self) -> tuple[dict[str, bytes], float]:
        """The results, and how long it takes; before that once to load and compile."""
        if not self._spawn:
            self._run_here()
        found: list[dict[str, bytes]] = []
        seconds = 0.0
        for number in range(2):
            folder = self._folder(f"whole-{number}")
            began = time.monotonic()
            self._to_the_end(folder, ())
            seconds = time.monotonic() - began
            found.append(self._results(folder))
        if found[0] != found[1]:
            raise SystemExit(f"{self._name}: two undisturbed runs differ")
        return found[0], seconds

    def _run_here(self) -> None:
        folder = self._folder("here")
        if _run(folder, self.case.arguments, folder.with_suffix(".said")):
            raise SystemExit(folder.with_suffix(".said").read_text(encoding="utf-8"))

    def _folder(self, name: str) -> Path:
        folder = self._place / name
        folder.mkdir()
        for path, content in self._given.items():
            (folder / path).write_bytes(content)
        return folder

    def run(self, kills: int) -> Tally:
        """Kill so many times in all."""
        while self.tally.kills < kills:
            self.tally.runs += 1
            folder = self._folder(f"run-{self.tally.runs}")
            if self._has_old:
                for path, content in self._old.items():
                    (folder / path).parent.mkdir(exist_ok=True)
                    (folder / path).write_bytes(content)
            before = len(self.tally.wrong)
            self._killed(folder, min(kills - self.tally.kills, MOST_KILLS))
            if len(self.tally.wrong) == before:
                shutil.rmtree(folder)
        return self.tally

    @property
    def _has_old(self) -> bool:
        """Whether an older result lies there: in two of three runs."""
        return self.tally.runs % 3 > 0

    def _killed(self, folder: Path, most: int) -> None:
        writing = self.tally.runs % 2 == 0 and not self._spawn
        more: tuple[str, ...] = ()
        for _ in range(self._chance.randint(1, most)):
            at = self._operation() if writing else 0.0
            child = Child(folder, (*self.case.arguments, *more), spawn=self._spawn, at=at)
            wait = PATIENCE if writing else self._seconds * self._chance.random()
            status = self._end(child, time.monotonic() + wait)
            if status == -signal.SIGKILL:
                self.tally.kills += 1
                self.tally.writing += bool(_temporary(folder))
                self._check_killed(folder)
                more = self.case.resume
            elif status not in ENDED:
                self._wrong(folder, f"status {status}: {child.said}")
        self.tally.resumed += 1
        self._to_the_end(folder, more)
        self._check_end(folder)

    def _operation(self) -> float:
        """Number of a file operation, mostly one of the first; with or without delay."""
        number = self._chance.randint(1, 4 if self._chance.random() < 0.7 else 40)
        return number + (self._chance.random() if self._chance.random() < 0.6 else 0.0)

    def _end(self, child: Child, until: float) -> int:
        """Wait for the end, and bring it about at that time."""
        status = child.wait(until)
        return child.kill() if status is None else status

    def _to_the_end(self, folder: Path, more: tuple[str, ...]) -> None:
        child = Child(folder, (*self.case.arguments, *more), spawn=self._spawn, at=0.0)
        status = child.wait(time.monotonic() + PATIENCE)
        if status not in ENDED:
            self._wrong(folder, f"not resumed, status {status}: {child.said}")

    def _results(self, folder: Path) -> dict[str, bytes]:
        """All that was written, as it is compared."""
        paths = [path for path in folder.rglob("*") if path.is_file()]
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        return {
            name: self.case.same(content)
            for name, content in found.items()
            if name not in self._given
        }

    def _check_killed(self, folder: Path) -> None:
        """Old results or new ones, and progress that is whole."""
        for name, old in self._old.items():
            try:
                content = (folder / name).read_bytes()
            except FileNotFoundError:
                if self._has_old:
                    self._wrong(folder, f"{name} is gone")
                continue
            if content == old or self.case.same(content) == self._whole[name]:
                continue
            self._wrong(folder, f"{name} is neither the old one nor the new one")
        for path in folder.rglob(f"*{PROGRESS}"):
            content = path.read_bytes()
            try:
                checkpoint.ENVELOPE.opened(content, path.name)
            except ValueError as error:
                self._wrong(folder, f"{path.name} is not whole: {error}")

    def _check_end(self, folder: Path) -> None:
        found = self._results(folder)
        self.tally.equal += found == self._whole
        for name in sorted(found.keys() | self._whole.keys()):
            if found.get(name) != self._whole.get(name):
                self._wrong(folder, f"{name} differs at the end")
        if _temporary(folder):
            self._wrong(folder, f"left behind: {_temporary(folder)}")

    def _wrong(self, folder: Path, problem: str) -> None:
        self.tally.wrong.append(f"{self._name}, {folder}: {problem}")


def _aged(content: bytes) -> bytes:
    """What an older run may have left: a file of the same kind, but another one."""
    if content.startswith(b'{\n"format": "elision-script"'):
        return _script()
    return content + b"\n"


def _temporary(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".elision-*")]


def report(tallies: dict[str, Tally]) -> str:
    """A table of what came of it."""
    columns = ("kills", "writing", "runs", "resumed", "equal")
    lines = [f"{'command':20}" + "".join(f"{name:>9}" for name in columns)]
    for name, tally in tallies.items():
        lines.append(f"{name:20}" + "".join(f"{getattr(tally, one):9}" for one in columns))
    sums = [sum(getattr(tally, one) for tally in tallies.values()) for one in columns]
    lines.append(f"{'together':20}" + "".join(f"{number:9}" for number in sums))
    return "\n".join(lines)


def main() -> int:
    """Kill what is named, or all of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", nargs="*", choices=[[], *CASES], help="what to kill; all")
    parser.add_argument("--kills", type=int, default=200, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spawn", action="store_true", help="a new interpreter for each run")
    parser.add_argument("--keep", type=Path, help="folder for what went wrong")
    chosen = parser.parse_args()
    names = chosen.command or [*CASES]
    with tempfile.TemporaryDirectory() as temporary:
        place = (chosen.keep or Path(temporary)).resolve()
        place.mkdir(exist_ok=True, parents=True)
        tallies: dict[str, Tally] = {}
        for number, name in enumerate(names):
            share = chosen.kills * (number + 1) // len(names) - chosen.kills * number // len(names)
            killing = Killing(name, place, spawn=chosen.spawn, seed=chosen.seed)
            tallies[name] = killing.run(share)
            print(f"{name}: {share} kills", file=sys.stderr, flush=True)
    print(report(tallies))
    wrong = [problem for tally in tallies.values() for problem in tally.wrong]
    for problem in wrong:
        print(problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
