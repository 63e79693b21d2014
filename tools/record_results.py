"""Runs benchmarks and keeps what they print, by the version of the package.

    python tools/record_results.py BENCHMARK ... [--repeats 3] [--folder benchmarks/results]

BENCHMARK is the name of a file in `benchmarks` that prints one JSON object, such as `estep` or
`telling`. The result is written to `FOLDER/<version>/<benchmark>.json`, with the command, the
versions of Python and of the libraries, and the number of cores. `tools/compare_results.py`
compares two versions.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import elision as el
from elision._files import write_atomically

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
BUSY = 0.5
"""Processes a core, besides this one, from which on results are doubtful."""

LIBRARIES = ("hmmlearn", "numba", "numpy", "scikit-learn", "scipy")


def run(name: str, repeats: int) -> dict[str, Any]:
    """Run a benchmark; return what it printed, and under what conditions."""
    arguments = [f"benchmarks/{name}.py", "--repeats", str(repeats)]
    busy = os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return {
        "benchmark": name,
        "version": el.__version__,
        "command": " ".join(["python", *arguments]),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(busy, 1),
        "libraries": {library: version_of(library) for library in LIBRARIES},
        "result": json.loads(done.stdout),
    }


def main() -> None:
    """Run the benchmarks that are named, one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmarks", nargs="+", metavar="BENCHMARK")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=RESULTS)
    options = parser.parse_args()
    for name in options.benchmarks:
        if not (ROOT / "benchmarks" / f"{name}.py").is_file():
            parser.error(f"there is no benchmarks/{name}.py")
    if os.getloadavg()[0] > BUSY * len(os.sched_getaffinity(0)):
        print("the machine is busy: ratios will not be steady", file=sys.stderr)
    folder = options.folder / el.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.benchmarks:
        found = run(name, options.repeats)
        path = folder / f"{name}.json"
        write_atomically(path, (json.dumps(found, indent=2) + "\n").encode())
        print(path)


if __name__ == "__main__":
    main()
