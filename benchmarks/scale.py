"""Learning from many narratives: time, memory, and where more of them no longer help.

    python benchmarks/scale.py [--narratives 100000 1000000 10000000] [--memory "1 GiB"]
    python benchmarks/scale.py --learning-curve [LOG.jsonl ...] [--sizes 1000 10000 100000 1000000]
    python benchmarks/scale.py --e-step [--narratives 1000000]

Prints one JSON object. Narratives are sampled from two scripts of the package, an order and
somebody at the door, joined, and each event of them is left out with a probability of 0.4. Half of
the narratives are distinct. They are written to Parquet, a list of events a row; that is not
measured.

Without further options: seconds of the clock and of the processors to pack them and to learn from
what is packed, and the peak memory, each in a process of its own; and the exponents of both kinds
of seconds in the number of narratives. ``--workers`` does it on so many workers of dask.

``--learning-curve``: accuracy and log-loss of filling one gap and of the next event, on narratives
that were not learned from, by how many were. Of logs, as far as they go. ``--cells`` raises the
bound on what the telling model learns from, to see whether that is what stands in the way.

``--e-step``: seconds of an E-step over all narratives, for each distinct one, from disk against
from memory, in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEFT_OUT = 0.4
POOL = 40_000
"""Narratives that are drawn from each script; those of the corpus are pairs of these."""

ROWS = 250_000
"""Narratives in a row group."""

HELD_OUT = 1000
MEMORY = 1 if sys.platform == "darwin" else 1024
"""Bytes are what macOS counts in, kilobytes others."""

Narratives = list[tuple[str, ...]]


def scripts() -> list[el.Script]:
    """The scripts of the package: an order, and somebody at the door."""
    orders = el.ScriptLearner().fit([one.events for one in el.examples.orders().cases]).script_
    return [orders, el.examples.learned_doorbell()]


def thinned(narratives: Sequence[Sequence[str]], rng: np.random.Generator) -> Narratives:
    return [tuple(event for event in one if rng.random() >= LEFT_OUT) for one in narratives]


class Source:
    """Narratives that are pairs of one of each pool."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        pools = [thinned(one.sample(POOL, random_state=seed), rng) for one in scripts()]
        self.events = sorted({event for pool in pools for one in pool for event in one})
        number = {event: k for k, event in enumerate(self.events)}
        self.pools = [list(dict.fromkeys(pool)) for pool in pools]
        self._share = [
            np.array([often[one] for one in pool], float) / POOL
            for pool, often in ((p, _counts(q)) for p, q in zip(self.pools, pools, strict=True))
        ]
        self._told = [np.array([number[e] for one in pool for e in one]) for pool in self.pools]
        self._length = [np.array([len(one) for one in pool]) for pool in self.pools]
        self._rng = rng

    def pairs(self, n: int) -> NDArray[np.int64]:
        """Numbers of n pairs, half of them distinct, in random order.

        Any two are as likely as any others: as likely as they are told, there would not be enough.
        """
        size = len(self.pools[0]) * len(self.pools[1])
        if size < 0.75 * n:
            sys.exit(f"there are {size} pairs, too few for {n} narratives: raise POOL")
        found = np.zeros(0, np.int64)
        while len(found) < n // 2:
            found = np.unique(np.concatenate([found, self._rng.integers(size, size=n)]))
        kept = self._rng.permutation(found)[: n // 2]
        again = self._rng.choice(kept, n - len(kept))
        return self._rng.permutation(np.concatenate([kept, again]))

    def drawn(self, n: int) -> Narratives:
        """Draw n narratives, distinct or not as it happens."""
        first, second = (self._rng.choice(len(s), n, p=s) for s in self._share)
        return self.narratives(first * len(self.pools[1]) + second)

    def narratives(self, pairs: NDArray[np.int64]) -> Narratives:
        size = len(self.pools[1])
        return [self.pools[0][k // size] + self.pools[1][k % size] for k in pairs.tolist()]

    def write(self, n: int, path: Path) -> None:
        """Write n narratives to Parquet."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = pa.array(self.events)
        kind = pa.list_(pa.dictionary(pa.int32(), pa.string()))
        pairs = self.pairs(n)
        with pq.ParquetWriter(path, pa.schema([("events", kind)])) as file:
            for begin in range(0, n, ROWS):
                symbol, offset = self._joined(pairs[begin : begin + ROWS])
                coded = pa.DictionaryArray.from_arrays(pa.array(symbol, pa.int32()), names)
                lists = pa.ListArray.from_arrays(pa.array(offset, pa.int32()), coded)
                file.write_table(pa.table({"events": lists}), row_group_size=ROWS)

    def _joined(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        halves = np.divmod(pairs, len(self.pools[1]))
        lengths = np.stack([self._length[k][halves[k]] for k in (0, 1)], axis=1)
        begins = np.concatenate([[0], np.cumsum(lengths)])[:-1].reshape(lengths.shape)
        symbol = np.zeros(int(lengths.sum()), np.int64)
        for k in (0, 1):
            first = np.concatenate([[0], np.cumsum(self._length[k])])[halves[k]]
            each = lengths[:, k]
            within = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
            symbol[np.repeat(begins[:, k], each) + within] = self._told[k][
                np.repeat(first, each) + within
            ]
        return symbol, np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])


def _counts(pool: Narratives) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for one in pool:
        found[one] = found.get(one, 0) + 1
    return found


@contextmanager
def engine(workers: int | None) -> Iterator[None]:
    """Work on a cluster of so many processes, if there is to be one."""
    if workers is None:
        yield
        return
    import distributed

    start: Any = distributed
    on: Any = getattr(el, "on", None)
    if on is None:
        sys.exit("this release has no el.on: leave out --workers")
    one_thread = {"threads_per_worker": 1, "dashboard_address": None}
    with start.Client(start.LocalCluster(n_workers=workers, **one_thread)) as client, on(client):
        yield


def spent() -> float:
    """Seconds of the processors, of this process and those that it waited for."""
    return sum(
        one.ru_utime + one.ru_stime
        for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak() -> int:
    """Largest memory of this process or any that it waited for, in MiB."""
    most = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return most * MEMORY >> 20


def run_step(step: str, path: Path, memory: str, workers: int | None) -> dict[str, Any]:
    """Pack, or learn: in this process."""
    began, used = time.perf_counter(), spent()
    more: dict[str, Any] = {}
    with engine(workers):
        if step == "pack":
            made = el.pack(path / "narratives.parquet", path / "packed", memory=memory)
            corpus = made.corpus
            more = {"distinct": corpus.distinct, "parts": len(corpus.parts),
                    "slices": made.slices, "spilled_MiB": made.spilled >> 20}  # fmt: skip
        else:
            script = el.ScriptLearner().fit(el.PackedCorpus.open(path / "packed")).script_
            script.save(path / "script.json")
            more = {"sample": script.about.get("sample")}
    seconds = time.perf_counter() - began
    return {"seconds": round(seconds, 1), "processor_seconds": round(spent() - used, 1),
            "peak_MiB": peak(), **more}  # fmt: skip


def in_a_process(step: str, path: Path, memory: str, workers: int | None) -> dict[str, Any]:
    command = [sys.executable, __file__, "--step", step, "--folder", str(path), "--memory", memory]
    command += [] if workers is None else ["--workers", str(workers)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(numbers: Sequence[int], memory: str, workers: int | None) -> dict[str, Any]:
    """Pack and learn from so many narratives, each step in a process of its own."""
    source = Source(seed=0)
    rows = []
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            source.write(number, path / "narratives.parquet")
            tell(f"{number} narratives written")
            rows.append(
                {step: in_a_process(step, path, memory, workers) for step in ("pack", "learn")}
            )
            tell(json.dumps(rows[-1]))
    return {
        "memory": memory,
        "workers": workers,
        "sizes": [{"narratives": number, **row} for number, row in zip(numbers, rows, strict=True)],
        "exponent": {
            what: {
                clock: exponent(numbers, [sum(row[step][clock] for step in steps) for row in rows])
                for clock in ("processor_seconds", "seconds")
            }
            for what, steps in (("pack", ["pack"]), ("pack and learn", ["pack", "learn"]))
        },
    }


def exponent(numbers: Sequence[int], seconds: Sequence[float]) -> float | None:
    """Slope of log seconds over log numbers."""
    if len(numbers) < 2:
        return None
    return round(float(np.polyfit(np.log(numbers), np.log(seconds), 1)[0]), 3)


def e_step(number: int, repeats: int) -> dict[str, Any]:
    """An E-step over a packed corpus, part by part, from disk and from memory in turns."""
    from elision.lattice import Lattice
    from elision.values.observations import Packer

    el.set_threads(1)
    source = Source(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        source.write(number, path / "narratives.parquet")
        corpus = el.pack(path / "narratives.parquet", path / "packed").corpus
        told = source.narratives(np.unique(source.pairs(10_000)))
        script = el.ScriptLearner(events=corpus.events).fit(told).script_
        lattice = Lattice(script.parameters)
        everything = Packer(corpus.events).pack(corpus.sample(corpus.narratives))

        def from_memory() -> object:
            return lattice.expected_counts(everything)

        def from_disk() -> object:
            return [lattice.expected_counts(part.load()) for part in corpus.parts]

        jobs = {"memory": from_memory, "disk": from_disk}
        least = dict.fromkeys(jobs, math.inf)
        for _ in range(repeats + 1):
            for name, job in jobs.items():
                began = time.process_time()
                job()
                least[name] = min(least[name], time.process_time() - began)
        each = {name: round(1e6 * took / corpus.distinct, 3) for name, took in least.items()}
        return {
            "narratives": corpus.narratives,
            "distinct": corpus.distinct,
            "parts": len(corpus.parts),
            "states": len(script.elision),
            "microseconds_a_distinct_narrative": each,
            "disk_to_memory": round(least["disk"] / least["memory"], 3),
        }


def tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="*", help="with --learning-curve: logs to measure on, too")
    parser.add_argument("--narratives", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--memory", default="1 GiB")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--e-step", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learning-curve", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--cells", type=int)
    parser.add_argument("--step", choices=("pack", "learn"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        found = run_step(options.step, options.folder, options.memory, options.workers)
    elif options.e_step:
        found = e_step(options.narratives[0], options.repeats)
    elif options.learning_curve:
        from scale_curve import learning_curve

        found = learning_curve(Source(seed=0), options.logs, options.sizes, options.cells)
    else:
        found = measure(options.narratives, options.memory, options.workers)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
