"""What questions about hostile sizes cost: processor seconds, memory, and how soon Ctrl-C is heard.

    python benchmarks/ask_sizes.py [WORD ...] [--seconds N] [--no-interrupts]

Each question is asked in a process of its own, which is killed after N processor seconds or above
6 GiB; asked again, Ctrl-C is sent after half of the time that it took, and a thread listens as it
does in the command line. Prints one JSON object a line: what was asked, processor seconds,
peak memory in MiB, what came of it, seconds after Ctrl-C. Words choose the questions whose names
have one of them.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Ask = Callable[[Any, list[str]], Any]

STATES = 2_000
KINDS = 300
MEMORY = 6 << 30


def many_states() -> Any:
    """2,000 states that tell an event of their own, may repeat themselves and be skipped."""
    import elision as el

    names = [f"s{k}" for k in range(STATES)]
    ways: dict[str, dict[str, float]] = {"start": {names[0]: 1.0}}
    for k, name in enumerate(names):
        ahead = names[k + 1 : k + 4] or ["end"]
        ways[name] = {name: 0.5} | dict.fromkeys(ahead, 0.5 / len(ahead))
    return el.Script.build({name: {name: 0.8, None: 0.2} for name in names}, ways)


def few_states() -> Any:
    """20 states that tell any of 40 events, and go anywhere ahead."""
    import elision as el

    random = np.random.default_rng(0)
    names = [f"s{k}" for k in range(20)]
    events = [f"s{k}" for k in range(40)]
    ways: dict[str, dict[str, float]] = {"start": {names[0]: 1.0}}
    for k, name in enumerate(names):
        ahead = [*names[k + 1 :], "end"]
        ways[name] = {name: 0.9} | dict.fromkeys(ahead, 0.1 / len(ahead))
    tells = {
        name: {None: 0.2, **dict(zip(events, 0.8 * random.dirichlet(np.ones(40)), strict=True))}
        for name in names
    }
    return el.Script.build(tells, ways)


def learned(narratives: int, length: int, types: int) -> Any:
    """A script with a telling model, of random tellings."""
    import elision as el

    random = np.random.default_rng(0)
    told = [[f"s{o}" for o in random.integers(types, size=length)] for _ in range(narratives)]
    return el.ScriptLearner(random_state=0).fit(told).script_


SCRIPTS: dict[str, Callable[[], Any]] = {
    "2,000 states": many_states,
    "20 states": few_states,
    "learned, 20 kinds": partial(learned, 300, 8, 20),
    "learned, 300 kinds": partial(learned, 300, 8, KINDS),
}


def told_by(script: Any, length: int) -> list[str]:
    """Events in the order of the script's, each as often as it takes."""
    events = script.events
    return [events[k * len(events) // length] for k in range(length)]


def holed(told: list[Any], every: int, hole: Any) -> list[Any]:
    """The same with something else at every so manieth place."""
    return [hole if k % every == 1 else event for k, event in enumerate(told)]


def unsure(told: list[str]) -> list[Any]:
    """The same with three events that each may be, no two alike."""
    return [
        {event: 0.5 + k / len(told) / 10, told[(k + 1) % len(told)]: 0.3, told[0]: 0.1}
        for k, event in enumerate(told)
    ]


def follow(script: Any, told: list[str]) -> Any:
    """Follow a telling to its end."""
    follower = script.follow()
    for event in told:
        follower.tell(event)
    return follower


QUESTIONS: dict[str, Ask] = {
    "log_prob": lambda script, told: script.log_prob(told),
    "between": lambda script, told: script.between(told),
    "missing": lambda script, told: script.missing(told),
    "next": lambda script, told: script.next(told, top=5),
    "next, 100 steps": lambda script, told: script.next(told, steps=100, top=5),
    "align": lambda script, told: script.align(told),
    "align, turned round": lambda script, told: script.align(told[::-1]),
    "posterior": lambda script, told: script.posterior(told),
    "resolve, 1": lambda script, told: script.resolve([*told[:-1], None]),
    "resolve, half": lambda script, told: script.resolve(holed(told, 2, None), top=5),
    "resolve, all unsure": lambda script, told: script.resolve(unsure(told), top=5),
    "order": lambda script, told: script.order(told[::-1]),
    "order, copies": lambda script, told: script.order(told[:1] * len(told)),
    "order, copies of 2": lambda script, told: script.order([told[0], told[-1]] * (len(told) // 2)),
    "order, 10 unsure": lambda script, told: script.order(unsure(told)[:10]),
    "fill, 1": lambda script, told: script.fill([*told[:-1], None]),
    "fill, half": lambda script, told: script.fill(holed(told, 2, None), top=5),
    "fill, all": lambda script, told: script.fill([None] * len(told), top=5),
    "joint, 2": lambda script, told: script.fill([None, *told[1:-1], None], joint=True),
    "joint, half": lambda script, told: script.fill(holed(told, 2, None), joint=True),
    "joint, all": lambda script, told: script.fill([None] * len(told), joint=True),
    "anywhere": lambda script, told: script.fill(told, anywhere=True),
    "score": lambda script, told: script.score(told),
    "score, turned round": lambda script, told: script.score(told[::-1]),
    "sample": lambda script, _: script.sample(100, random_state=0),
    "sample, long": lambda script, told: script.sample(2, length=len(told), random_state=0),
    "sample, given": lambda script, told: script.sample(
        10, given=holed(told, 2, None), random_state=0
    ),
    "follow": follow,
}
ABOUT_NONE = ("sample",)
"""Asked once, whatever was told."""


def cases() -> Iterator[tuple[str, str, int]]:
    for script in SCRIPTS:
        for length in (2_000, 20_000):
            for question in QUESTIONS:
                if length == 2_000 or question not in ABOUT_NONE:
                    yield script, question, length


def made(folder: Path, name: str) -> Path:
    """The file of a script."""
    path = folder / f"{list(SCRIPTS).index(name)}.json"
    if not path.exists():
        SCRIPTS[name]().save(path)
    return path


def ask(path: str, question: str, length: int) -> None:
    """In a process of its own: say when the script is there, ask, and say what it took."""
    import elision as el
    from elision.cli.interrupts import heard_soon

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    script = el.load(path)
    told = told_by(script, length)
    small = few_states()
    for one in (small, script):
        one.log_prob(one.events[:1])
    QUESTIONS[question](small, list(small.events[:20]))  # compiled before
    print("asked", flush=True)
    begun = time.process_time()
    came = "answered"
    try:
        with heard_soon("interrupted"):
            QUESTIONS[question](script, told)
    except el.ElisionError as error:
        came = str(error)
    except MemoryError:
        came = "no memory"
    except KeyboardInterrupt:
        came = "interrupted"
    took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": round(took, 1), "MiB": round(peak), "came": came}), flush=True)


def asked(path: Path, question: str, length: int) -> subprocess.Popen[bytes]:
    """Start such a process and wait until it asks."""
    command = [sys.executable, __file__, "--ask", str(path), question, str(length)]
    process = subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE)
    if process.stdout:
        process.stdout.readline()
    return process


def measured(path: Path, question: str, length: int, seconds: float) -> dict[str, Any]:
    process = asked(path, question, length)
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"seconds": f"over {seconds:g}", "came": "killed"}
    return json.loads(said) if said else {"came": f"ended with {process.returncode}"}


def late(path: Path, question: str, length: int, when: float) -> float | None:
    """Seconds from Ctrl-C to the end; None if it ended before."""
    process = asked(path, question, length)
    try:
        process.communicate(timeout=when)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        begun = time.perf_counter()
        try:
            process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        return round(time.perf_counter() - begun, 1)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="of the names of cases")
    parser.add_argument("--seconds", type=float, default=60, help="before a question is killed")
    parser.add_argument("--no-interrupts", action="store_true", help="no second time with Ctrl-C")
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.ask:
        ask(options.ask[0], options.ask[1], int(options.ask[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for script, question, length in cases():
            name = f"{script}; {length:,} events; {question}"
            if options.words and not any(word in name for word in options.words):
                continue
            path = made(Path(folder), script)
            found = {"case": name, **measured(path, question, length, options.seconds)}
            took = found.get("seconds", 0)
            if not options.no_interrupts and (isinstance(took, str) or took > 2):
                when = options.seconds / 4 if isinstance(took, str) else took / 2
                found["after Ctrl-C"] = late(path, question, length, when)
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
