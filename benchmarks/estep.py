"""One E-step with elisions against hmmlearn's without, and how its time grows.

    python benchmarks/estep.py [--narratives 20000] [--repeats 3]

Prints one JSON object. Every time is the least of several, taken in turns within this run, so only
the ratios mean something. An *update* is one term of a sum over an edge: a narrative of m events
costs (m + 1) * edges of them in each of three passes (forward, backward, counts) here, and
m * states^2 in each of three there.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM
from numpy.typing import NDArray

from elision import set_threads
from elision.lattice import Lattice, Parameters
from elision.values.observations import Packed, Packer

if TYPE_CHECKING:
    from collections.abc import Callable

EVENTS, STATES = 25, 40
Narratives = list[NDArray[np.int64]]


def random_parameters(edges: int | None, states: int, rng: np.random.Generator) -> Parameters:
    """A script with ``states`` interior states: every edge forward, or a chain and some others."""
    size = states + 2
    above = np.triu(np.ones((size, size), bool), 1)
    if edges is not None:
        chain = np.eye(size, k=1, dtype=bool)
        others = np.argwhere(above & ~chain)
        kept = others[rng.permutation(len(others))[: edges - chain.sum()]]
        above = chain.copy()
        above[kept[:, 0], kept[:, 1]] = True
    else:
        above |= np.diag([False, *[True] * states, False])
    transition = rng.random((size, size)) * above
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    told = rng.dirichlet(np.ones(EVENTS + 1), size)
    told[[0, -1]] = 0
    return Parameters.from_dense(transition, told[:, :-1].copy(), told[:, -1].copy())


def random_narratives(count: int, least: int, most: int, rng: np.random.Generator) -> Narratives:
    """Distinct narratives of ``least`` to ``most`` events."""
    found: dict[bytes, NDArray[np.int64]] = {}
    while len(found) < count:
        one = rng.integers(0, EVENTS, rng.integers(least, most + 1))
        found[one.tobytes()] = one
    return list(found.values())


def pack(narratives: Narratives) -> Packed:
    names = [f"e{o}" for o in range(EVENTS)]
    return Packer(names).pack([[names[o] for o in one] for one in narratives])


def least_times(repeats: int, *jobs: Callable[[], object]) -> list[float]:
    """The least time of each job, the jobs taking turns."""
    times = [math.inf] * len(jobs)
    for job in jobs:
        job()
    for _ in range(repeats):
        for number, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            times[number] = min(times[number], time.perf_counter() - start)
    return times


def hmmlearn_e_step(narratives: Narratives, rng: np.random.Generator) -> Callable[[], object]:
    """One E-step of hmmlearn with as many states, its faster implementation."""
    peer = CategoricalHMM(n_components=STATES, implementation="scaling")
    peer.startprob_ = rng.dirichlet(np.ones(STATES))
    peer.transmat_ = rng.dirichlet(np.ones(STATES), STATES)
    peer.emissionprob_ = rng.dirichlet(np.ones(EVENTS), STATES)
    peer.n_features = EVENTS
    symbols = np.concatenate(narratives)[:, None]
    lengths = [len(one) for one in narratives]

    def e_step() -> object:
        return peer._do_estep(symbols, lengths)  # noqa: SLF001 - the peer has no public one

    return e_step


def e_step(parameters: Parameters, packed: Packed, threads: int) -> Callable[[], object]:
    lattice = Lattice(parameters)

    def run() -> object:
        set_threads(threads)
        return lattice.expected_counts(packed)

    return run


def compare(count: int, repeats: int, rng: np.random.Generator) -> dict[str, Any]:
    narratives = random_narratives(count, 4, 12, rng)
    packed = pack(narratives)
    events = sum(map(len, narratives))
    full = random_parameters(None, STATES, rng)
    sparse = random_parameters(120, STATES, rng)
    peer, full1, full2, sparse1, sparse2 = least_times(
        repeats,
        hmmlearn_e_step(narratives, rng),
        e_step(full, packed, 1),
        e_step(full, packed, 2),
        e_step(sparse, packed, 1),
        e_step(sparse, packed, 2),
    )

    def rate(parameters: Parameters, seconds: float) -> float:
        return 3 * (events + count) * len(parameters.source) / seconds / 1e6

    return {
        "narratives": count,
        "events": events,
        "hmmlearn_million_updates_per_second": round(3 * events * STATES**2 / peer / 1e6),
        "full": {
            "edges": len(full.source),
            "times_faster_one_thread": round(peer / full1, 1),
            "times_faster_two_threads": round(peer / full2, 1),
            "million_updates_per_second_one_thread": round(rate(full, full1)),
        },
        "sparse": {
            "edges": len(sparse.source),
            "times_faster_one_thread": round(peer / sparse1, 1),
            "times_faster_two_threads": round(peer / sparse2, 1),
            "million_updates_per_second_one_thread": round(rate(sparse, sparse1)),
        },
    }


def exponent(sizes: list[int], jobs: list[Callable[[], object]], repeats: int) -> float:
    """Fitted b of time ~ size ** b."""
    times = least_times(repeats, *jobs)
    slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
    return round(float(slope), 2)


def growth(repeats: int, rng: np.random.Generator) -> dict[str, float]:
    full = random_parameters(None, STATES, rng)
    many = random_narratives(16_000, 4, 12, rng)
    counts = [2000, 4000, 8000, 16_000]
    lengths = [8, 16, 32, 64, 128]
    edges = [120, 200, 400, 800]
    some = pack(random_narratives(4000, 8, 8, rng))
    return {
        "narratives": exponent(counts, [e_step(full, pack(many[:n]), 1) for n in counts], repeats),
        "events_of_a_narrative": exponent(
            [m + 1 for m in lengths],
            [e_step(full, pack(random_narratives(500, m, m, rng)), 1) for m in lengths],
            repeats,
        ),
        "edges": exponent(
            edges, [e_step(random_parameters(e, STATES, rng), some, 1) for e in edges], repeats
        ),
    }


def memory_bound(repeats: int) -> dict[str, float]:
    """How many multiply-adds a second numpy's matrix product makes on one thread: a ceiling."""
    from threadpoolctl import threadpool_limits

    size = 600
    left = np.random.default_rng(0).random((size, size))
    with threadpool_limits(1):
        (seconds,) = least_times(repeats, lambda: left @ left)
    return {"matrix_product_million_updates_per_second_one_thread": round(size**3 / seconds / 1e6)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narratives", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    result = {
        "against_hmmlearn": compare(options.narratives, options.repeats, rng),
        "growth_exponents": growth(options.repeats, rng),
        "ceiling": memory_bound(options.repeats),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
