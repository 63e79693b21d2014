"""Would the tests notice? Small faults put into the code, one at a time, and the tests run on each.

    python tools/mutate.py [AREA ...] [--mutants N] [--seed S] [--seconds T] [--workers W] [-o FILE]
    python tools/mutate.py --named          the faults of `tools/mutants.toml` instead of drawn ones
    python tools/mutate.py --report FILE    the shares again, by area, from a file

An area is a few modules and the tests that should notice (``--list``). Faults are drawn from all
places of these modules where one can be put; each is put into a copy of ``src``, never into ``src``
itself. What came of each is a line of FILE; with the same FILE and seed a run goes on where it
stopped. Faults that change nothing are listed in `tools/mutants.toml` with the reason, and are not
drawn. Exit status 1 if a fault survived.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numba
import pytest

from mutation import Mutant, mutants_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "elision"
LISTED = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text(encoding="utf-8"))

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["hypothesis", "numba", "numpy", "pytest", "scipy.optimize", "scipy.special", "scipy.stats"]
)
"""What all tests load is loaded once; each fault has a process that begins there."""

PATIENCE = 4.0
"""Tests that take so many times as long as without a fault never end: the fault was noticed."""


@dataclass(frozen=True)
class Area:
    """Modules, and the tests that should notice faults in them, the quickest first.

    Kernels run as plain Python: compiling each fault would take longer, and numba's cache does not
    notice changes in other files.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    interpreted: bool

    def arguments(self) -> list[str]:
        """Options of pytest: run the tests until the first one fails."""
        numerical = ["-m", "numerical"] if self.interpreted else []
        options = ["-x", "-q", "-p", "no:cacheprovider", *numerical]
        return [*options, *(f"tests/{one}" for one in self.tests)]


def areas() -> dict[str, Area]:
    """The areas of `tools/mutants.toml`."""
    return {
        name: Area(tuple(one["modules"]), tuple(one["tests"]), one.get("interpreted", False))
        for name, one in LISTED["area"].items()
    }


def sources(area: Area) -> list[Path]:
    """The modules of an area."""
    return sorted({path for pattern in area.modules for path in PACKAGE.glob(pattern)})


def places(area: Area) -> list[list[Mutant]]:
    """The faults of each place in an area that can have one, without those that change nothing."""
    found: dict[tuple[str, int, int], list[Mutant]] = defaultdict(list)
    for path in sources(area):
        module = path.relative_to(PACKAGE).as_posix()
        for one in mutants_of(module, path.read_text(encoding="utf-8")):
            if not any(_matches(one, entry) for entry in LISTED.get("equivalent", [])):
                found[module, one.start, one.end].append(one)
    return list(found.values())


def _matches(one: Mutant, entry: dict[str, str]) -> bool:
    """Whether a fault is one of those of an entry: of the line, or only some on it."""
    return (
        entry["module"] == one.module
        and entry["line"] == one.text
        and entry.get("before", one.before) == one.before
        and entry.get("after", one.after) == one.after
    )


def drawn(area: Area, number: int, seed: int) -> list[Mutant]:
    """Draw faults, at most one of a place, each place alike."""
    generator = random.Random(seed)  # noqa: S311
    chosen = places(area)
    generator.shuffle(chosen)
    return [generator.choice(some) for some in chosen[:number]]


def named(area: str) -> Iterator[Mutant]:
    """The faults that are written down, which the tests must always notice."""
    for entry in LISTED["named"]:
        if entry["area"] != area:
            continue
        content = (PACKAGE / entry["module"]).read_text(encoding="utf-8")
        if content.count(entry["before"]) != 1:
            raise SystemExit(f"{entry['module']}: not once in it: {entry['before']}")
        start = len(content[: content.index(entry["before"])].encode())
        end = start + len(entry["before"].encode())
        line = content[: content.index(entry["before"])].count("\n") + 1
        yield Mutant(
            entry["module"], line, entry["what"], start, end, entry["before"], entry["after"], ""
        )


def tested(area: Area, source: str, report: str) -> None:
    """Run an area's tests on a copy of the code; ends the process with pytest's status."""
    numba.config.DISABLE_JIT = area.interpreted
    os.environ["NUMBA_DISABLE_JIT"] = str(int(area.interpreted))
    os.chdir(ROOT)
    sys.path[:0] = found = [source, str(ROOT / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(found)
    with Path(report).open("w", encoding="utf-8") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        status = pytest.main(area.arguments())
        sys.stdout.flush()
    os._exit(int(status))


def attempt(area: Area, source: Path, seconds: float) -> tuple[str, float]:
    """Run an area's tests on some code: what came of it, and how long it took."""
    begun = time.monotonic()
    with tempfile.NamedTemporaryFile() as report:
        process = PROCESSES.Process(target=tested, args=(area, str(source), report.name))
        process.start()
        process.join(seconds)
        took = time.monotonic() - begun
        if process.exitcode is None:
            process.kill()
            process.join()
            return "endless", took
        if process.exitcode == 0:
            return "survived", took
        text = report.read().decode(errors="replace").splitlines()
    failed = [line for line in text if line.startswith(("FAILED", "ERROR"))]
    return (failed or text or ["killed"])[-1][:200], took


class Copies:
    """Copies of ``src`` to put faults into, one for each worker, removed at the end."""

    def __init__(self, workers: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self._free: SimpleQueue[Path] = SimpleQueue()
        for worker in range(workers):
            copy = self._folder / str(worker)
            shutil.copytree(ROOT / "src", copy)  # with times: what was compiled stays valid
            self._free.put(copy)

    def run(self, area: Area, mutant: Mutant, seconds: float) -> tuple[str, float]:
        """Run an area's tests with a fault: what came of it, and how long it took."""
        copy = self._free.get()
        target = copy / "elision" / mutant.module
        original = PACKAGE / mutant.module
        try:
            target.write_bytes(mutant.put_into(original.read_bytes()))
            return attempt(area, copy, seconds)
        finally:
            shutil.copy2(original, target)
            self._free.put(copy)

    def remove(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self._folder)


def run(chosen: dict[str, list[Mutant]], workers: int, until: float, output: Path) -> None:
    """Try the faults of all areas that were not tried yet, as far as the time goes."""
    known = {_key(row) for row in read(output)}
    usual = {row["area"]: row["usual"] for row in read(output, faults=False)}
    left = {
        name: [one for one in mutants if _key({"area": name, **one.row()}) not in known]
        for name, mutants in chosen.items()
    }

    def without_fault(name: str) -> None:
        outcome, usual[name] = attempt(areas()[name], PACKAGE.parent, 600.0)
        if outcome != "survived":
            raise SystemExit(f"{name}: the tests fail without any fault: {outcome}")
        print(f"{name}: {usual[name]:.0f} s for all tests", flush=True)
        write({"area": name, "usual": round(usual[name], 1)})

    def write(row: dict[str, Any]) -> None:
        with output.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")

    def with_fault(name: str, one: Mutant) -> None:
        if time.monotonic() + usual[name] > until:
            return
        outcome, took = copies.run(areas()[name], one, 10.0 + PATIENCE * usual[name])
        write({"area": name, **one.row(), "outcome": outcome, "seconds": round(took, 1)})
        if outcome == "survived":
            print(f"  survived: {one}", flush=True)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(without_fault, [name for name in left if left[name] and name not in usual]))
        copies = Copies(workers)  # with all that has been compiled by now
        try:
            # A few of each area in turn, so that a run that is cut short has seen all of them.
            turns = zip_longest(*([(name, one) for one in some] for name, some in left.items()))
            todo = [one for turn in turns for one in turn if one]
            list(pool.map(lambda one: with_fault(*one), todo))
        finally:
            copies.remove()


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[part] for part in ("area", "module", "line", "start", "before", "after"))


def read(path: Path, *, faults: bool = True) -> list[dict[str, Any]]:
    """What came of faults so far, or how long the tests take without any."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if ("module" in row) is faults]


def report(rows: Sequence[dict[str, Any]]) -> bool:
    """Print how many faults were noticed, by area; return whether all were."""
    tried = Counter(row["area"] for row in rows)
    survived = Counter(row["area"] for row in rows if row["outcome"] == "survived")
    for name in (*tried, "all") if tried else ():
        many = tried[name] if name != "all" else tried.total()
        lost = survived[name] if name != "all" else survived.total()
        print(f"{name:20} {many:5} faults {many - lost:5} noticed {(many - lost) / many:7.1%}")
    return not survived


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw faults, try them, and say how many the tests noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("areas", nargs="*", help="all of them by default")
    parser.add_argument("--list", action="store_true", help="the areas, and how many faults fit in")
    parser.add_argument("--named", action="store_true", help="the faults that are written down")
    parser.add_argument("--mutants", type=int, default=20, help="how many an area (20)")
    parser.add_argument("--seed", type=int, default=0, help="of the drawing (0)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after so long (3600)")
    parser.add_argument("--workers", type=int, default=2, help="processes of tests at once (2)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="nothing but the shares")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "mutants.jsonl")
    options = parser.parse_args(arguments)
    known = areas()
    if unknown := set(options.areas) - set(known):
        parser.error(f"no such area: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.report:
        return 0 if report(read(options.report)) else 1
    chosen = [name for name in known if name in options.areas or not options.areas]
    if options.list:
        for name in chosen:
            modules = ", ".join(str(path.relative_to(PACKAGE)) for path in sources(known[name]))
            print(f"{name}: {len(places(known[name]))} places in {modules}")
        return 0
    mutants = {
        name: list(named(name))
        if options.named
        else drawn(known[name], options.mutants, options.seed)
        for name in chosen
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "PYTHONDONTWRITEBYTECODE": "1",  # a fault of the same size, a moment later
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "OMP_NUM_THREADS": "1",
        "NUMBA_NUM_THREADS": "1",
    }
    run(mutants, options.workers, time.monotonic() + options.seconds, options.output)
    wanted = {_key({"area": name, **one.row()}) for name, some in mutants.items() for one in some}
    rows = [row for row in read(options.output) if _key(row) in wanted]
    if len(rows) < len(wanted):
        print(f"{len(wanted) - len(rows)} faults not tried yet: run again to go on")
    return 0 if report(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
