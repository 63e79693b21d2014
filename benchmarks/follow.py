"""Following a telling: events a second, whether each costs the same, and what a process needs.

    python benchmarks/follow.py [--scripts 200] [--repeats 3]

Prints one JSON object. One script is learned from the package's own tellings of answering the
doorbell; the library has that and others by chance, a third of whose events all of them share.
Every time is the least of several, taken in turns within this run: only ratios mean something.
Asking anew is ``next`` and ``between`` for each beginning of the telling. A new process loads one
script, follows two events and asks three questions; its figures are medians, beside those of one
that only imports numpy.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from estep import least_times
from telling import sample

if TYPE_CHECKING:
    from collections.abc import Callable

TELLINGS = Path(el.__file__).with_name("data") / "tellings.jsonl"
DOMAIN = "answering the doorbell"

AT = (10, 100, 1000, 5000)
"""Events whose cost is taken, in one telling."""

AROUND = 5
"""How many events from there on."""

LENGTHS = (8, 64)
"""Events of tellings that are also asked about anew."""

EVENTS, LEARNED, SHARED = 15, 12, 5
PROCESSES = 7
HEAVY = ("numba", "scipy", "sklearn", "pandas")

MEMORY = """
from pathlib import Path
lines = Path("/proc/self/status").read_text().splitlines()
memory = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
"""
"""The most that was resident, in megabytes."""

IN_A_NEW_PROCESS = f"""
import sys
import elision as el
script = el.load(sys.argv[1])
follow = script.follow()
follow.tell(script.events[0])
print(follow.tell(script.events[2]).progress, flush=True)
script.next(follow.told)
script.between(follow.told)
script.fill([script.events[0], None, script.events[2]])
names = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names)
{MEMORY}
import json
print(json.dumps({{"memory": memory, "modules": sorted(names)}}))
"""

NUMPY_ALONE = f"""
import numpy
print(0, flush=True)
{MEMORY}
import json
print(json.dumps({{"memory": memory}}))
"""


def random_scripts(count: int, rng: np.random.Generator) -> dict[str, el.Script]:
    """Scripts by chance, of which all tell some of the same events."""
    found = {}
    for number in range(count):
        shared = {f"event {o}" for o in range(SHARED)}
        tellings = [
            [event if event in shared else f"{event} of {number}" for event in one]
            for one in sample(LEARNED, EVENTS, EVENTS // 2, rng)
        ]
        found[f"script {number}"] = el.ScriptLearner().fit(tellings).script_
    return found


def told_by(script: el.Script, count: int, rng: np.random.Generator) -> list[str]:
    """So many events, of one telling after the other."""
    found: list[str] = []
    while len(found) < count:
        found += script.sample(1, random_state=rng)[0]
    return found[:count]


def one_follower(script: el.Script, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Events a second, and how much faster than asking anew."""

    def follow(told: list[str]) -> Callable[[], object]:
        return lambda: script.follow().tell_all(told)

    def anew(ask: Callable[[list[str]], object], told: list[str]) -> Callable[[], object]:
        return lambda: [ask(told[:count]) for count in range(1, len(told) + 1)]

    found = {}
    for length in LENGTHS:
        told = told_by(script, length, rng)
        jobs = (follow(told), anew(script.next, told), anew(script.between, told))
        own, by_next, by_between = least_times(repeats, *jobs)
        found[f"{length}_events"] = {
            "events_a_second": round(length / own),
            "times_faster_than_next_anew": round(by_next / own, 2),
            "times_faster_than_between_anew": round(by_between / own, 2),
            "times_faster_than_both_anew": round((by_next + by_between) / own, 2),
        }
    return found


def by_event_number(script: el.Script, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """The cost of later events over that of the first one asked about."""
    told = told_by(script, AT[-1] + AROUND, rng)
    least = dict.fromkeys(AT, float("inf"))
    for _ in range(repeats):
        follow = script.follow()
        for number, event in enumerate(told, start=1):
            start = time.perf_counter()
            follow.tell(event)
            seconds = time.perf_counter() - start
            for at in AT:
                if at <= number < at + AROUND:
                    least[at] = min(least[at], seconds)
    return {
        "microseconds": {str(at): round(seconds * 1e6) for at, seconds in least.items()},
        "over_the_first": {str(at): round(least[at] / least[AT[0]], 2) for at in AT[1:]},
    }


def over_a_library(
    scripts: dict[str, el.Script], repeats: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Events a second over all scripts, against one script and against identifying anew."""
    library = el.Library(scripts)
    last = list(scripts.values())[-1]  # a third of what it tells, all scripts know
    told = told_by(last, LENGTHS[0], rng)

    def follow() -> None:
        follower = library.follow()
        for event in told:
            follower.tell(event)

    def anew() -> object:
        return [library.identify(told[:count]) for count in range(1, len(told) + 1)]

    jobs = (library.follow, follow, lambda: last.follow().tell_all(told), anew)
    begin, whole, alone, identified = least_times(repeats, *jobs)
    return {
        "scripts": len(scripts),
        "events_a_second": round(len(told) / (whole - begin)),
        "times_one_script": round((whole - begin) / alone, 1),
        "times_faster_than_identifying_anew": round(identified / (whole - begin), 2),
        "milliseconds_to_begin": round(begin * 1e3, 1),
    }


def in_new_process(code: str, path: str) -> tuple[float, dict[str, Any]]:
    """Seconds from the start of a process to its first line, and what it says at its end."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True
    ) as process:
        output = process.stdout
        if output is None or not output.readline():
            raise SystemExit("the process did not answer")
        seconds = time.perf_counter() - start
        return seconds, json.loads(output.read())


def new_process(script: el.Script) -> dict[str, Any]:
    """Time to the first answer, memory and modules, against a process that imports numpy."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "script.json")
        script.save(path)
        runs = [
            (in_new_process(IN_A_NEW_PROCESS, path), in_new_process(NUMPY_ALONE, path))
            for _ in range(PROCESSES)
        ]
    seconds = median(ours[0] for ours, _ in runs)
    base = median(numpy[0] for _, numpy in runs)
    said = runs[-1][0][1]
    return {
        "seconds_to_first_answer": round(seconds, 3),
        "over_importing_numpy": round(seconds / base, 2),
        "resident_megabytes": round(median(ours[1]["memory"] for ours, _ in runs), 1),
        "megabytes_of_numpy": round(median(numpy[1]["memory"] for _, numpy in runs), 1),
        "modules": said["modules"],
        "heavy_modules": [name for name in HEAVY if name in said["modules"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scripts", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    script = el.ScriptLearner().fit(el.read(TELLINGS).domain(DOMAIN).events).script_
    scripts = {DOMAIN: script, **random_scripts(options.scripts - 1, rng)}
    result = {
        "one_follower": one_follower(script, options.repeats, rng),
        "by_event_number": by_event_number(script, options.repeats, rng),
        "library": over_a_library(scripts, options.repeats, rng),
        "new_process": new_process(script),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
