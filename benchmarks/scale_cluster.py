"""A library of many small domains learned by the workers of a cluster, and what the engine costs.

    python benchmarks/scale_cluster.py [--domains 2000] [--method default] [--workers 2]

Prints one JSON object. The *work* is what the workers measured around each learn, in seconds of a
clock and of a processor; what the engine costs is all that was used beside it: by workers, by the
scheduler, and by this process, which prepares tasks and writes scripts. Processor seconds are what
counts where other programs run on the same machine. Then some of the domains once more with one
worker and with two; steps of EM over ever more narratives, and a telling model, with one worker,
with two, and in this process: whether they give the same bytes, and how long they take; and what a
cluster takes that does nothing. Starting workers and their first learn are not counted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import elision as el
from elision.lattice import Lattice
from elision.learn import _telling_parts
from elision.learn.em import Converged, Prior, pseudocounts, run_em
from elision.learn.telling import learn_telling
from elision.pipeline.domains import Job, Made, batches, learn_many
from elision.pipeline.learning import How
from elision.scale import dask_engine, passes
from elision.scale.engine import current
from elision.scale.journal import Journal
from elision.values.observations import Packed, Packer


def sampled_domain(number: int, narratives: int) -> el.Corpus:
    """Tellings of an activity of six to ten steps in a row, some left out, some exchanged."""
    rng = np.random.default_rng([18, number])
    steps = [f"step {k} of {number}" for k in range(rng.integers(6, 11))]
    told_rate = rng.uniform(0.5, 0.95, len(steps))
    told: list[list[str]] = []
    while len(told) < narratives:
        kept = [step for step, rate in zip(steps, told_rate, strict=True) if rng.random() < rate]
        if len(kept) > 1 and rng.random() < 0.2:
            at = int(rng.integers(len(kept) - 1))
            kept[at], kept[at + 1] = kept[at + 1], kept[at]
        if kept:
            told.append(kept)
    return el.Corpus.of(told, domain=f"activity {number}")


def library(parts: dict[str, el.Corpus], method: str, workers: int) -> dict[str, Any]:
    """Learn all parts, and measure work and everything."""
    how = How(method, {"random_state": 0})
    made: list[Made] = []
    with tempfile.TemporaryDirectory() as folder, el.on(f"local:{workers}") as engine:
        client = engine._client  # type: ignore[attr-defined]  # noqa: SLF001
        jobs = [Job(domain, part, Path(folder, f"{domain}.json")) for domain, part in parts.items()]
        first = [Job(f"warm {k}", sampled_domain(0, 6), Path(folder, "warm")) for k in range(64)]
        learn_many(first[: 8 * workers], how, Journal(Path(folder), {}), heard=lambda _: None)
        before = client.run(time.process_time)
        here, clock = time.process_time(), time.perf_counter()
        learned, failed = learn_many(jobs, how, Journal(Path(folder), {}), heard=made.extend)
        wall = time.perf_counter() - clock
        here = time.process_time() - here
        each = [used - before[one] for one, used in client.run(time.process_time).items()]
    work = sum(one.seconds for one in made)
    processor = sum(one.processor_seconds for one in made)
    sizes = [sum(narrative.length for narrative in part) for part in parts.values()]
    return {
        "workers": workers,
        "domains": len(learned),
        "failed": len(failed),
        "tasks": len(batches(sizes)),
        "seconds": round(wall, 2),
        "work_seconds": round(work, 2),
        "overhead_by_clock": round(workers * wall / work - 1, 4),
        "work_processor_seconds": round(processor, 2),
        "workers_processor_seconds": round(sum(each), 2),
        "busiest_worker_processor_seconds": round(max(each), 2),
        "scheduler_and_client_processor_seconds": round(here, 2),
        "overhead_by_processor": round((sum(each) + here) / processor - 1, 4),
        "milliseconds_a_learn": round(1000 * processor / len(made), 1),
    }


def idle(seconds: float) -> dict[str, float]:
    """Share of a processor that two workers and a scheduler take with nothing to do."""
    ours = dict(dask_engine.QUIET)
    found = {}
    for name, settings in (("dask's settings", {}), ("ours", ours)):
        dask_engine.QUIET = settings
        with el.on("local:2") as engine:
            client = engine._client  # type: ignore[attr-defined]  # noqa: SLF001
            time.sleep(1)
            before = sum(client.run(time.process_time).values()) + time.process_time()
            time.sleep(seconds)
            after = sum(client.run(time.process_time).values()) + time.process_time()
        found[name] = round((after - before) / seconds, 3)
    return found


def made_up(narratives: int) -> tuple[el.Script, Packed]:
    """A script of 40 states and 40 kinds of events, and random narratives."""
    rng = np.random.default_rng(18)
    events = [f"event {k}" for k in range(40)]
    size = 42
    transition = np.triu(rng.random((size, size)), 1) * (rng.random((size, size)) < 0.3)
    transition[np.arange(size - 1), np.arange(1, size)] += 0.5
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    told = rng.dirichlet(np.full(len(events) + 1, 0.3), size)
    told[[0, -1]] = 0
    script = el.Script(events, transition, told[:, :-1], told[:, -1])
    lists = [rng.choice(events, rng.integers(4, 12)).tolist() for _ in range(narratives)]
    return script, Packer(events).pack(lists)


def em(sizes: Sequence[int], steps: int, repeats: int) -> dict[str, Any]:
    """Steps of EM over random narratives, all brought to workers, to see when it is worth it.

    Milliseconds a step, the least of some repeats: in this process in one thread and in two, on one
    worker and on two; and what it takes to add up what comes back.
    """
    script, packed = made_up(max(sizes))
    lattice = Lattice(script.parameters)
    prior = pseudocounts(Prior(), len(script.events), packed)
    parts = {size: _first(packed, size) for size in sizes}
    rows: dict[int, dict[str, Any]] = {
        size: {"narratives": size, "updates": lattice.updates(part), "ms_a_step": {}}
        for size, part in parts.items()
    }
    results: dict[int, set[bytes]] = {size: set() for size in sizes}

    def measure(name: str) -> None:
        for size, part in parts.items():
            least = math.inf
            for _ in range(repeats + 1):  # the first brings the narratives there
                start = time.perf_counter()
                found = run_em(script.parameters, part, prior, stop=Converged(-np.inf, steps))
                least = min(least, time.perf_counter() - start)
            rows[size]["ms_a_step"][name] = round(1000 * least / (steps + 1), 1)
            made = found.parameters
            results[size].add(made.transition.tobytes() + made.emission.tobytes())

    vars(passes)["pays"] = lambda _: current().remote
    for threads in (1, 2):
        el.set_threads(threads)
        measure(f"{threads} threads here")
    for workers in (1, 2):
        with el.on(f"local:{workers}"):
            measure(f"{workers} workers")
    for size, row in rows.items():
        took = row["ms_a_step"]
        row["same_bytes"] = len(results[size]) == 1
        row["two_workers_against_one"] = round(took["1 workers"] / took["2 workers"], 2)
        row["two_workers_against_here"] = round(took["1 threads here"] / took["2 workers"], 2)
    return {"steps": steps + 1, "sizes": list(rows.values()), "adding_up": adding_up(lattice)}


def telling(narratives: int) -> dict[str, Any]:
    """Seconds to learn a telling model of random narratives, here and on workers."""
    rng = np.random.default_rng(18)
    told = [tuple(rng.integers(20, size=rng.integers(4, 12)).tolist()) for _ in range(narratives)]
    events = [f"event {k}" for k in range(20)]
    seconds, results = {}, set()

    def measure(name: str) -> None:
        learn_telling(told[:1000], events)
        start = time.perf_counter()
        found = learn_telling(told, events)
        seconds[name] = round(time.perf_counter() - start, 2)
        results.add(found.forward.memory.tobytes())

    for threads in (1, 2):
        el.set_threads(threads)
        measure(f"{threads} threads here")
    vars(_telling_parts)["pays"] = lambda *_, **__: current().remote
    for workers in (1, 2):
        with el.on(f"local:{workers}"):
            measure(f"{workers} workers")
    return {"narratives": narratives, "seconds": seconds, "same_bytes": len(results) == 1}


def adding_up(lattice: Lattice) -> dict[str, float]:
    """Milliseconds to add up the sums of 16 groups, and of 1000 parts on disk."""
    some = _first(made_up(2000)[1], 2000)
    groups = [lattice.tallied(some, [(0, len(some))]) for _ in range(16)]
    counts = passes._expected(lattice.expected_counts(some), some.weight)  # noqa: SLF001
    counts = counts._replace(counts=counts.counts._replace(log_prob=np.empty(0)))
    start = time.perf_counter()
    lattice.added_up(some, [one.tally for one in groups], groups[0].log_prob, groups[0].doubtful)
    middle = time.perf_counter()
    passes._sum([counts] * 1000)  # noqa: SLF001
    end = time.perf_counter()
    return {
        "16_groups_ms": round(1000 * (middle - start), 2),
        "1000_parts_ms": round(1000 * (end - middle), 2),
    }


def _first(packed: Packed, number: int) -> Packed:
    """So many narratives, of all lengths alike."""
    return packed.take(np.arange(number) * len(packed) // number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domains", type=int, default=2000)
    parser.add_argument("--narratives", type=int, default=10, help="of each domain")
    parser.add_argument("--method", default="default")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--some", type=int, default=200, help="domains learned by one worker, too")
    parser.add_argument(
        "--em-narratives", type=int, nargs="*", default=[3_000, 10_000, 30_000, 100_000]
    )
    parser.add_argument("--telling-narratives", type=int, default=20_000)
    parser.add_argument("--idle", type=float, default=10, help="seconds of doing nothing")
    given = parser.parse_args()
    parts = {
        f"activity {k}": sampled_domain(k, given.narratives)
        for k in range(max(given.domains, given.some))
    }
    some = dict(list(parts.items())[: given.some])
    result: dict[str, Any] = {"method": given.method, "processors": os.cpu_count()}
    result["load_before"] = os.getloadavg()[0]
    if given.domains:
        chosen = dict(list(parts.items())[: given.domains])
        result["library"] = library(chosen, given.method, given.workers)
    if given.some:
        one, two = (library(some, given.method, workers) for workers in (1, 2))
        result["one_worker"], result["two_workers"] = one, two
        result["two_against_one"] = {
            clock: round(one[clock] / two[clock], 2)
            for clock in ("seconds", "busiest_worker_processor_seconds")
        }
    if given.em_narratives:
        result["em"] = em(given.em_narratives, 5, 2)
    if given.idle:
        result["idle"] = idle(given.idle)
    if given.telling_narratives:
        result["telling"] = telling(given.telling_narratives)
    result["load_after"] = os.getloadavg()[0]
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
