"""Large files and many domains: seconds, memory, and whether scripts are the same.

    python benchmarks/scale.py files [--narratives 10000000] [--rows 20000000] [--folder DIR]
    python benchmarks/scale.py domains [--domains 100]

``files`` writes narratives to Parquet, a list a row, half of them distinct, and a log of such
narratives to CSV, its rows in order of time, and runs ``elision learn`` on each: seconds, those of
the processors, and the peak memory of the process. Files that lie in ``--folder`` already are taken
as they are. What stands behind ``--`` goes to ``elision learn``.

``domains`` learns so many domains one after the other, in two processes, and on a Dask cluster of
two processes, with one thread each, and compares the scripts.
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
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import elision as el

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEFT_OUT = 0.4
POOL = 40_000
"""Narratives that are drawn from each of two scripts; those of the files are pairs of these."""

PART = 500_000
"""Narratives that are made at a time."""

LEARN = [sys.executable, "-m", "elision", "learn"]
MEMORY = 1 if sys.platform == "darwin" else 1024
"""Bytes are what macOS counts in, kilobytes others."""


def pools(rng: np.random.Generator) -> list[pl.Series]:
    """Different tellings of an order and of somebody at the door, each event left out or not."""
    orders = el.ScriptLearner().fit(el.read(el.examples.orders())).script_
    found = []
    for script in (orders, el.examples.learned_doorbell()):
        told = script.sample(POOL, random_state=0)
        thinned = {tuple(e for e in one if rng.random() >= LEFT_OUT) for one in told}
        found.append(pl.Series(sorted(thinned)[1:], dtype=pl.List(pl.String)))
    return found


def pairs(number: int, size: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Numbers of pairs, half of them distinct, in random order."""
    found = np.zeros(0, np.int64)
    while len(found) < number // 2:
        found = np.unique(np.concatenate([found, rng.integers(size, size=number)]))
    kept = rng.permutation(found)[: number // 2]
    return rng.permutation(np.concatenate([kept, rng.choice(kept, number - len(kept))]))


def narratives(number: int) -> Iterator[pl.DataFrame]:
    """Frames of narratives."""
    rng = np.random.default_rng(0)
    first, second = pools(rng)
    chosen = pairs(number, len(first) * len(second), rng)
    for begin in range(0, number, PART):
        one, other = np.divmod(chosen[begin : begin + PART], len(second))
        yield pl.DataFrame({"events": first[one], "more": second[other]}).select(
            pl.concat_list("events", "more").alias("events")
        )


def write_parquet(number: int, path: Path) -> None:
    """Write narratives, a list a row."""
    parts = []
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for k, frame in enumerate(narratives(number)):
            parts.append(Path(folder) / f"{k:04}.parquet")
            frame.write_parquet(parts[-1])
        pl.scan_parquet(parts).sink_parquet(path)


def write_csv(rows: int, path: Path) -> None:
    """Write a log, its rows in order of time."""
    rng = np.random.default_rng(1)
    told = pl.concat(narratives(rows // 7)).with_row_index("number")
    told = told.with_columns(start=pl.Series(rng.integers(0, 3 * 365 * 86400, len(told))))
    log = told.explode("events").head(rows)
    log = log.with_columns(wait=pl.Series(rng.integers(1, 3600, len(log))))
    log = log.with_columns(seconds=pl.col("start") + pl.col("wait").cum_sum().over("number"))
    moment = pl.datetime(2021, 1, 1) + pl.duration(seconds="seconds")
    log.sort("seconds").select(
        case=pl.format("case-{}", "number"),
        activity="events",
        timestamp=moment.dt.strftime("%Y-%m-%dT%H:%M:%S"),
    ).write_csv(path)


def learned(path: Path, more: Sequence[str], threads: int | None = None) -> dict[str, Any]:
    """Learn in a process of its own: what it takes."""
    environment = dict(os.environ)
    if threads:
        environment |= {"ELISION_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [*LEARN, str(path), *more], env=environment, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"elision learn {path} ended with {process.returncode}")
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_MiB": used.ru_maxrss * MEMORY >> 20,
    }


def files(options: argparse.Namespace) -> dict[str, Any]:
    """Learn from a large Parquet file, and from a large log."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for name, number, write in (
            ("narratives.parquet", options.narratives, write_parquet),
            ("log.csv", options.rows, write_csv),
        ):
            path = folder / name
            if not path.exists():
                write(number, path)
            script = folder / f"{name}.json"
            found[name] = {"MB": path.stat().st_size // 10**6}
            found[name] |= learned(path, ["-o", str(script), *options.more])
    return found


def domains(options: argparse.Namespace) -> dict[str, Any]:
    """Learn many domains in three ways."""
    rng = np.random.default_rng(0)
    script = el.examples.learned_doorbell()
    ways = {"one": [], "two processes": ["--jobs", "2"], "cluster": ["--dask", "local:2"]}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "stories.jsonl"
        with path.open("w") as file:
            for k in range(options.domains):
                for one in script.sample(200, random_state=k):
                    told = [event for event in one if rng.random() >= LEFT_OUT / 2]
                    file.write(json.dumps({"domain": f"story {k}", "events": told}) + "\n")
        scripts = {}
        for name, more in ways.items():
            output = Path(temporary) / name
            found[name] = learned(path, ["-o", f"{output}/", *more, *options.more], 1)
            scripts[name] = {one.name: one.read_bytes() for one in output.glob("*.json")}
    found["times as fast"] = round(found["one"]["seconds"] / found["two processes"]["seconds"], 2)
    found["the same scripts"] = all(one == scripts["one"] for one in scripts.values())
    return found


def main() -> None:
    """Measure what is named, and print it as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("files", "domains"))
    parser.add_argument("--narratives", type=int, default=10**7)
    parser.add_argument("--rows", type=int, default=2 * 10**7)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--domains", type=int, default=100)
    own, _, more = " ".join(sys.argv[1:]).partition(" -- ")
    options = parser.parse_args(own.split())
    options.more = more.split()
    print(json.dumps({"files": files, "domains": domains}[options.what](options), indent=1))


if __name__ == "__main__":
    main()
