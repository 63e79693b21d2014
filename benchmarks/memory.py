"""Whether memory grows: small learns and asks, again and again in one process.

    python benchmarks/memory.py --seconds 240
    python benchmarks/memory.py --rounds 1800 --tellings 50   # a million operations

Each round learns a small script in one of the ways there are, and puts every question to it, about
one telling or, the quicker ones, about several. Prints
JSON: the resident memory at checkpoints, and by how much it grows in 1000 operations, from the
second quarter of the time on: before that, libraries are loaded and loops compiled.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import elision as el

if TYPE_CHECKING:
    from collections.abc import Callable

EVENTS = ("ring", "walk", "look", "open", "greet", "take", "close")


LEARNED_FROM = 8


def tellings(rng: np.random.Generator, number: int) -> list[list[str]]:
    """Tellings of one activity, another one each time."""
    steps = [*EVENTS, f"say {rng.integers(1000)}"]
    return [[one for one in steps if rng.random() < 0.7] or [EVENTS[0]] for _ in range(number)]


def learn(kind: int, told: list[list[str]]) -> el.Script:
    """Learn in one of four ways."""
    if kind == 0:
        return el.ScriptLearner().fit(told).script_
    if kind == 1:
        return el.SEMHMM(score="approx").fit(told).script_
    if kind == 2:
        return el.ScriptLearner().partial_fit(told).partial_fit(told).script_
    events = {one: None for telling in told for one in telling}
    states = {one: {one: 0.8, None: 0.2} for one in events}
    names = list(states)
    edges = {"start": {names[0]: 1.0}, names[-1]: {"end": 1.0}}
    edges |= {one: {other: 1.0} for one, other in itertools.pairwise(names)}
    built = el.Script.build(states, edges)
    return el.fit_parameters(built, told, impossible="ignore").script


def ask(script: el.Script, told: list[str], *, slow: bool) -> int:
    """Put the questions, those that take many times as long if they are wanted; return how many."""
    asked: list[Callable[[], object]] = [
        lambda: script.log_prob(told),
        lambda: script.fill([*told, None]),
        lambda: script.fill([None, *told, None], joint=True, top=2),
        lambda: script.fill(told, anywhere=True),
        lambda: script.missing(told),
        lambda: script.between(told),
        lambda: script.next(told),
        lambda: script.align(told),
        lambda: script.posterior(told),
        lambda: script.sample(2, random_state=0),
        lambda: str(script.outline()),
    ]
    if slow:
        asked += [
            lambda: script.fill([*told[:1], ..., *told[1:]]),
            lambda: script.order(told),
            lambda: script.score(told, samples=5),
            lambda: script.follow().tell_all(told),
            lambda: el.Library({"one": script}).identify(told),
        ]
    for question in asked:
        with suppress(el.InputError):  # what this script cannot tell
            question()
    return len(asked)


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure(seconds: float, rounds: int | None, asked: int, checkpoints: int) -> dict[str, object]:
    """Learn and ask for so long, or for so many rounds."""
    rng = np.random.default_rng(0)
    begun = time.perf_counter()
    learns = asks = number = 0
    found: list[dict[str, float]] = []
    while True:
        told = tellings(rng, max(LEARNED_FROM, asked))
        script = learn(number % 4, told[:LEARNED_FROM])
        learns += 1
        asks += sum(ask(script, one, slow=one is told[0]) for one in told[:asked])
        number += 1
        share = number / rounds if rounds else (time.perf_counter() - begun) / seconds
        if share >= (len(found) + 1) / checkpoints:
            gc.collect()
            found.append({"operations": learns + asks, "mebibytes": resident() / 2**20})
        if share >= 1:
            break
    settled = found[len(found) // 4 :]
    slope = 0.0
    if len(settled) > 1:
        operations = [one["operations"] for one in settled]
        slope = float(np.polyfit(operations, [one["mebibytes"] for one in settled], 1)[0])
    return {
        "learns": learns,
        "asks": asks,
        "seconds": round(time.perf_counter() - begun, 1),
        "checkpoints": [{**one, "mebibytes": round(one["mebibytes"], 2)} for one in found],
        "mebibytes a thousand operations": round(1000 * slope, 4),
    }


def main() -> None:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description="Whether memory grows with learning and asking.")
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--rounds", type=int, help="so many rounds, however long they take")
    parser.add_argument("--tellings", type=int, default=1, help="asked about, of each script")
    parser.add_argument("--checkpoints", type=int, default=20)
    options = parser.parse_args()
    found = measure(options.seconds, options.rounds, options.tellings, options.checkpoints)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
