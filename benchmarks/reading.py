"""How long reading takes, format by format; by turns with a second copy of the package, in ratios.

``python benchmarks/reading.py narratives.jsonl [--against OTHER/src] [--rounds 5]``
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.sax.saxutils import quoteattr

import polars as pl

HERE = Path(__file__).resolve().parents[1] / "src"
START = datetime(2024, 1, 8, 8, tzinfo=UTC)

READ = """
import sys, time
import elision as el, pandas, polars
kind, path = sys.argv[1:]
el.read([["a"]])
load = {"pandas": pandas.read_parquet, "polars": polars.read_parquet}.get(kind)
source = path if load is None else load(path)
start = time.perf_counter()
found = el.read(source)
print(time.perf_counter() - start, len(found), sum(map(len, found.events)))
"""


def events(path: Path, seed: int = 7) -> pl.DataFrame:
    """A log of the narratives of a file, with times and resources by chance."""
    rng = random.Random(seed)  # noqa: S311
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        moment = START + timedelta(minutes=37 * number)
        for event in json.loads(line)["events"]:
            moment += timedelta(seconds=rng.randrange(1, 20_000), milliseconds=rng.randrange(1000))
            rows.append((str(number), event, moment, f"r{rng.randrange(20)}"))
    return pl.DataFrame(rows, ["case", "activity", "timestamp", "resource"], orient="row")


def xes(log: pl.DataFrame) -> str:
    """The log in XES."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1.0">']
    for (case,), rows in log.group_by("case", maintain_order=True):
        parts.append(f'<trace>\n  <string key="concept:name" value={quoteattr(str(case))}/>')
        for _, event, moment, who in rows.iter_rows():
            parts += [
                "  <event>",
                f'    <string key="org:resource" value={quoteattr(who)}/>',
                '    <string key="lifecycle:transition" value="complete"/>',
                f'    <string key="concept:name" value={quoteattr(event)}/>',
                f'    <date key="time:timestamp" value="{moment.isoformat("T", "milliseconds")}"/>',
                "  </event>",
            ]
        parts.append("</trace>")
    return "\n".join([*parts, "</log>\n"])


def files(source: Path, folder: Path) -> dict[str, Path]:
    """The same log in each format."""
    log = events(source)
    made = {kind: folder / f"log.{kind}" for kind in ("csv", "tsv", "parquet", "xes")}
    dates = log.with_columns(pl.col("timestamp").dt.strftime("%d.%m.%Y %H:%M:%S"))
    dates.write_csv(made["csv"])
    dates.write_csv(made["tsv"], separator="\t")
    log.write_parquet(made["parquet"])
    made["xes"].write_text(xes(log), encoding="utf-8")
    return made | {"jsonl": source} | dict.fromkeys(("pandas", "polars"), made["parquet"])


def seconds(package: Path, kind: str, path: Path) -> tuple[float, str]:
    """How long one reading takes in a process of its own, and how much was read."""
    ended = subprocess.run(
        [sys.executable, "-c", READ, kind, str(path)],
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
    )
    took, _, much = ended.stdout.partition(" ")
    return float(took), much


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in files(options.source.resolve(), Path(folder)).items():
            here, there = [], []
            for _ in range(options.rounds):
                took, much = seconds(HERE, kind, path)
                here.append(took)
                if options.against is not None:
                    other, as_much = seconds(options.against.resolve(), kind, path)
                    there.append(other)
                    assert much == as_much, (kind, much, as_much)  # noqa: S101
            line = f"{kind:8} {statistics.median(here):6.2f} s"
            if there:
                ratio = statistics.median(there) / statistics.median(here)
                line += f" {statistics.median(there):6.2f} s  {ratio:5.1f} times as fast"
            print(line)


if __name__ == "__main__":
    main()
