"""How long ``import elision`` and the first compiled call take in a new process.

    python benchmarks/startup.py [--installed]

Prints one JSON object. ``--installed`` builds a wheel and installs it into an environment of its
own first (which borrows the libraries of this one), to show that compiled code is cached there too.
The time of ``import numpy`` and ``import numba`` in the same run is the yardstick.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

IMPORT = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
FIRST_CALL = """
import time; t = time.perf_counter()
import elision as el
value = el.examples.doorbell().log_prob(["hear doorbell", "open door"])
print(time.perf_counter() - t)
"""


def seconds(python: str, code: str, repeats: int = 5) -> float:
    """The least time that the code prints, each in a new process."""
    runs = [
        subprocess.run([python, "-c", code], check=True, capture_output=True, text=True, cwd="/")
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def installed(folder: str) -> str:
    """The interpreter of a new environment into which the package was installed as a wheel."""
    source = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", source]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    here = sysconfig.get_paths()["purelib"]
    there = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # Found last, and without the development install's own pointer to the sources.
    borrow = f"import sys; sys.path.append({here!r})\n"
    (Path(there) / "borrowed.pth").write_text(borrow)
    return python


def measure(python: str) -> dict[str, float | str]:
    first = seconds(python, FIRST_CALL, repeats=1)
    where = "import elision; print(elision.__file__)"
    found = subprocess.run(
        [python, "-c", where], check=True, capture_output=True, text=True, cwd="/"
    )
    result = {
        "import numpy": seconds(python, IMPORT.format("numpy")),
        "import numba": seconds(python, IMPORT.format("numba")),
        "import elision": seconds(python, IMPORT.format("elision")),
        "first call, nothing cached": first,
        "import and first call, cached": seconds(python, FIRST_CALL),
    }
    kind = "site-packages" if "site-packages" in found.stdout else "source folder"
    return {"package in": kind, **{name: round(value, 3) for name, value in result.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--installed", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = installed(folder) if options.installed else sys.executable
        print(json.dumps(measure(python), indent=2))


if __name__ == "__main__":
    main()
