"""The default learner and its telling model: time to learn, answers a second, the first answer.

    python benchmarks/telling.py [--narratives 60] [--events 30] [--repeats 5]
                                 [--corpus FILE --domain NAME]

Prints one JSON object. Tellings are drawn from a random script with as many states as events;
``--corpus`` has learning measured on others. Times to learn and to answer are the least of several,
taken in turns within this run: only ratios mean something. The twin is `tests/naive_telling.py`,
plain Python from the formulas; it is asked a few gaps only. What a new process needs is measured
with compiled code cached and whatever number of BLAS threads is usual, and is the median of
several.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from elision.learn.outline import learn_outline
from elision.learn.telling import learn_telling
from estep import exponent, least_times

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

USUAL_LENGTH = 8
"""Events of a telling, about."""

LENGTHS = (8, 30)
"""Where answers are timed."""

ASKED = 5000
SINGLE = 200
"""Narratives that are asked at once, and one by one."""

TWINS = 2
"""Gaps that the twin fills: it takes its time."""

CALLS = 200
PROCESSES = 7

Tellings = list[list[str]]

FIRST_ANSWER = """
import sys, time
start = time.perf_counter()
import elision as el
imported = time.perf_counter()
script = el.load(sys.argv[1])
loaded = time.perf_counter()
script.fill([script.events[0], None, script.events[1]], top=1)
print(imported - start, loaded - imported, time.perf_counter() - loaded)
"""

MANY_ANSWERS = f"""
import sys, time
import elision as el
script = el.load(sys.argv[1])
told = list(script.events[:8])
script.next(told)
wall, cpu = time.perf_counter(), time.process_time()
for _ in range({CALLS}):
    script.next(told)
print(time.process_time() - cpu, time.perf_counter() - wall)
"""


def random_script(events: int, length: int, rng: np.random.Generator) -> el.Script:
    """A script of one state an event that tells about ``length`` of them."""
    names = [f"event {o}" for o in range(events)]
    told = min(0.9, length / events)
    stay = max(0.0, 1 - told * events / length)
    states = {}
    edges: dict[str, dict[str, float]] = {"start": {"0": 1.0}}
    for o, name in enumerate(names):
        other = names[int(rng.integers(events))]
        tells: dict[str | None, float] = {None: 1 - told, name: 0.9 * told}
        tells[other] = tells.get(other, 0.0) + 0.1 * told
        states[str(o)] = tells
        ahead = [str(k) if k < events else "end" for k in (o + 1, o + 2)]
        skip = float(rng.random()) * (1 - stay) * 0.2
        onward = {ahead[0]: 1 - stay - skip}
        onward[ahead[1]] = onward.get(ahead[1], 0.0) + skip
        edges[str(o)] = onward | ({str(o): stay} if stay else {})
    return el.Script.build(states, edges, events=names)


def sample(
    count: int, events: int, length: int, rng: np.random.Generator, least: int = 2
) -> Tellings:
    """Draw tellings of ``least`` events or more."""
    script = random_script(events, length, rng)
    found: Tellings = []
    while len(found) < count:
        found += [one for one in script.sample(count, random_state=rng) if len(one) >= least]
    return found[:count]


def default(tellings: Tellings, threads: int) -> Callable[[], object]:
    """A fit of the default learner."""

    def fit() -> object:
        el.set_threads(threads)
        return el.ScriptLearner().fit(tellings)

    return fit


def numbered(tellings: Tellings) -> tuple[list[tuple[int, ...]], list[str]]:
    """Tellings as numbers of events, and the events."""
    events = sorted({event for one in tellings for event in one})
    number = {event: o for o, event in enumerate(events)}
    return [tuple(number[event] for event in one) for one in tellings], events


def outline_alone(tellings: Tellings) -> Callable[[], object]:
    """Learn the outline and nothing else."""
    told, events = numbered(tellings)
    return lambda: learn_outline(told, events)


def telling_alone(tellings: Tellings, threads: int) -> Callable[[], object]:
    """Learn the telling model and nothing else."""
    told, events = numbered(tellings)

    def fit() -> object:
        el.set_threads(threads)
        return learn_telling(told, events)

    return fit


def learning(tellings: Tellings, repeats: int) -> dict[str, Any]:
    """Seconds to learn, against those of logistic regression."""
    jobs = {
        "logistic_gap": lambda: el.LogisticGap().fit(tellings),
        "default_one_thread": default(tellings, 1),
        "default_two_threads": default(tellings, 2),
        "outline_alone": outline_alone(tellings),
        "telling_model_one_thread": telling_alone(tellings, 1),
        "telling_model_two_threads": telling_alone(tellings, 2),
    }
    times = dict(zip(jobs, least_times(repeats, *jobs.values()), strict=True))
    el.set_threads(None)
    unit = times["logistic_gap"]
    return {
        "narratives": len(tellings),
        "events": len({event for one in tellings for event in one}),
        "mean_length": round(float(np.mean([len(one) for one in tellings])), 1),
        "seconds": {name: round(value, 4) for name, value in times.items()},
        "over_logistic_gap": {
            name: round(value / unit, 2) for name, value in times.items() if value is not unit
        },
    }


def with_gaps(tellings: Tellings, gaps: int, rng: np.random.Generator) -> list[list[str | None]]:
    """Take so many events out of each telling."""
    found = []
    for one in tellings:
        out = set(rng.choice(len(one), gaps, replace=False).tolist())
        found.append([None if place in out else event for place, event in enumerate(one)])
    return found


def answering(length: int, events: int, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Narratives a second by question, and times faster than the twin."""
    told = sample(ASKED + 200, events, length, rng, least=3)
    script = el.ScriptLearner().fit(told[ASKED:]).script_
    names = set(script.events)
    told = [[event for event in one if event in names] for one in told[:ASKED]]
    told = [one for one in told if len(one) > 2]
    one_gap, two_gaps = with_gaps(told, 1, rng), with_gaps(told, 2, rng)
    few = told[:SINGLE]

    def many(threads: int) -> Callable[[], object]:
        def ask() -> object:
            el.set_threads(threads)
            return script.fill_many(one_gap)

        return ask

    jobs: dict[str, tuple[int, Callable[[], object]]] = {
        "fill_many_one_thread": (len(told), many(1)),
        "fill_many_two_threads": (len(told), many(2)),
        "fill": (len(few), lambda: [script.fill(one) for one in one_gap[:SINGLE]]),
        "fill_two_gaps": (len(few), lambda: [script.fill(one) for one in two_gaps[:SINGLE]]),
        "fill_anywhere": (len(few), lambda: [script.fill(one, anywhere=True) for one in few]),
        "missing": (len(few), lambda: [script.missing(one) for one in few]),
        "next": (len(few), lambda: [script.next(one) for one in few]),
    }
    times = least_times(repeats, *(job for _, job in jobs.values()))
    el.set_threads(None)
    each = {
        name: seconds / count
        for (name, (count, _)), seconds in zip(jobs.items(), times, strict=True)
    }
    twin = twin_seconds(script, one_gap[:TWINS])
    return {
        "narratives": len(told),
        "mean_length": round(float(np.mean([len(one) for one in told])), 1),
        "narratives_a_second": {name: round(1 / seconds) for name, seconds in each.items()},
        "times_faster_than_the_twin": {
            name: round(twin / each[name]) for name in ("fill_many_one_thread", "fill")
        },
        "times_faster_together": round(each["fill"] / each["fill_many_one_thread"], 1),
    }


def twin_seconds(script: el.Script, gaps: Sequence[Sequence[str | None]]) -> float:
    """Seconds that the twin needs for a gap."""
    import naive_telling  # type: ignore[import-not-found, unused-ignore]

    model = script.telling
    if model is None or model.backward is None:
        raise TypeError("expected a script with a telling model of both directions")
    chains = [
        naive_telling.Chain(*(getattr(chain, name) for name in naive_telling.Chain._fields))
        for chain in (model.forward, model.backward)
    ]
    seconds = 0.0
    for narrative in gaps:
        place = narrative.index(None)
        told = [model.numbers[event] for event in narrative if event is not None]
        start = time.perf_counter()
        odds = naive_telling.insertions(*chains, told, place, place)[0]
        seconds += time.perf_counter() - start
        chances = np.exp(odds - odds.max()) / np.exp(odds - odds.max()).sum()
        for answer in script.fill(narrative)[0].answers:
            expected = chances[model.numbers[answer.event]]
            if not np.isclose(answer.probability, expected, rtol=1e-6, atol=1e-12):
                raise ArithmeticError(f"{answer.probability} against the twin's {expected}")
    return seconds / len(gaps)


def growth(repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    """Fitted exponents of the time to learn, on one thread."""
    counts, sizes, lengths = [50, 100, 200, 400], [15, 30, 60, 120], [8, 16, 32, 64]
    many = sample(counts[-1], 30, USUAL_LENGTH, rng)
    grown: dict[str, tuple[list[int], list[Tellings]]] = {
        "narratives": (counts, [many[:count] for count in counts]),
        "events": (sizes, [sample(60, size, USUAL_LENGTH, rng) for size in sizes]),
        "length": (lengths, [sample(60, 30, length, rng) for length in lengths]),
    }
    found = {
        name: {
            "from": numbers[0],
            "to": numbers[-1],
            "default": exponent(numbers, [default(one, 1) for one in tellings], repeats),
            "telling_model": exponent(
                numbers, [telling_alone(one, 1) for one in tellings], repeats
            ),
        }
        for name, (numbers, tellings) in grown.items()
    }
    el.set_threads(None)
    return found


def in_new_process(code: str, path: str) -> tuple[list[float], float]:
    """The numbers that some code prints, and the seconds of the whole process."""
    unset = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ELISION_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", code, path],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return [float(number) for number in run.stdout.split()], time.perf_counter() - start


def new_process(tellings: Tellings) -> dict[str, Any]:
    """What the first answer takes after loading, and whether threads work behind the caller."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "script.json")
        el.ScriptLearner().fit(tellings).script_.save(path)
        in_new_process(FIRST_ANSWER, path)  # so that everything is compiled
        runs = [in_new_process(FIRST_ANSWER, path) for _ in range(PROCESSES)]
        in_new_process(MANY_ANSWERS, path)
        calls = [in_new_process(MANY_ANSWERS, path)[0] for _ in range(3)]
    steps = {
        name: round(median(numbers[place] for numbers, _ in runs), 3)
        for place, name in enumerate(("import", "load", "fill"))
    }
    return {
        "seconds_of_first_answer": {
            **steps,
            "together": round(median(sum(numbers) for numbers, _ in runs), 3),
            "whole_process": round(median(seconds for _, seconds in runs), 3),
        },
        f"cpu_over_wall_of_{CALLS}_next": round(median(cpu / wall for cpu, wall in calls), 2),
        "microseconds_of_one_next": round(median(wall for _, wall in calls) / CALLS * 1e6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narratives", type=int, default=60)
    parser.add_argument("--events", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--corpus", help="learn from the narratives of this file")
    parser.add_argument("--domain", help="a domain of the corpus, by default the first one")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    if options.corpus is None:
        tellings = sample(options.narratives, options.events, USUAL_LENGTH, rng)
    else:
        corpus = el.read(options.corpus)
        part = corpus.domain(options.domain or corpus.domains[0])
        tellings = [list(one) for one in part.events[: options.narratives]]
    result = {
        "learning": learning(tellings, options.repeats),
        "answering": {
            f"about_{length}_events": answering(length, options.events, options.repeats, rng)
            for length in LENGTHS
        },
        "growth_exponents": growth(max(1, options.repeats // 2), rng),
        "new_process": new_process(tellings),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
