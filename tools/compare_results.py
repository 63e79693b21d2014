"""Compares the kept results of two versions, figure by figure.

    python tools/compare_results.py A B [--folder benchmarks/results] [--changed 1.1]

A and B are versions, folders of `benchmarks/results`, or any two folders or files of results that
`tools/record_results.py` wrote. Printed are each figure of both and the ratio B / A. `--changed R`
leaves out what changed by less than the factor R. Figures that say how many times faster something
is than a peer in the same run (`times_...`) can be compared from machine to machine; seconds and
rates only if both were measured on the same one. What differs in the conditions is said first.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
CONDITIONS = ("command", "python", "machine", "cores", "load_before")


class NoResultsError(Exception):
    """What was named holds no results; the message is one line."""


def results_of(name: str, folder: Path) -> dict[str, dict[str, Any]]:
    """The results of a version, by benchmark."""
    place = Path(name) if Path(name).exists() else folder / name
    if not place.exists():
        known = sorted(one.name for one in folder.glob("*") if one.is_dir())
        raise NoResultsError(f"no results of {name}, expected one of {', '.join(known) or 'none'}")
    paths = sorted(place.glob("*.json")) if place.is_dir() else [place]
    if not paths:
        raise NoResultsError(f"{place} has no results (*.json)")
    return dict(read(path) for path in paths)


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """A benchmark and its kept result."""
    try:
        kept = json.loads(path.read_bytes())
        name = kept["benchmark"]
        kept["result"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        problem = f"{path} is no result that tools/record_results.py wrote"
        raise NoResultsError(problem) from None
    return str(name), kept


def figures(value: object, name: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of a result, by their names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from figures(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from figures(inner, f"{name}[{number}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, value


def ratio(old: float, new: float) -> float:
    """How many times the old one the new one is."""
    if old == new:
        return 1.0
    return new / old if old else math.copysign(math.inf, new)


def compared(
    old: dict[str, Any], new: dict[str, Any], changed: float
) -> Iterator[tuple[str, str, str, str]]:
    """Rows of the table of one benchmark."""
    first, second = dict(figures(old["result"])), dict(figures(new["result"]))
    for name in dict.fromkeys([*first, *second]):
        if name not in first or name not in second:
            yield name, shown(first.get(name)), shown(second.get(name)), "-"
            continue
        times = ratio(first[name], second[name])
        if times <= 0 or max(times, 1 / times) >= changed:
            yield name, shown(first[name]), shown(second[name]), f"{times:.2f}"


def shown(value: float | None) -> str:
    """A figure, or that there is none."""
    return "-" if value is None else f"{value:g}"


def conditions(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """What was different when the two were measured."""
    both = [
        {**{key: one.get(key) for key in CONDITIONS}, **one.get("libraries", {})}
        for one in (old, new)
    ]
    for key in dict.fromkeys([*both[0], *both[1]]):
        before, after = both[0].get(key), both[1].get(key)
        if before != after:
            yield f"  {key}: {before} / {after}"


def report(a: str, b: str, folder: Path, changed: float) -> Iterator[str]:
    """The lines that are printed."""
    old, new = results_of(a, folder), results_of(b, folder)
    for name in sorted({*old, *new}):
        yield name
        if name not in old or name not in new:
            yield f"  only in {a if name in old else b}"
            continue
        yield from conditions(old[name], new[name])
        rows = [("figure", a, b, "ratio"), *compared(old[name], new[name], changed)]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        for row in rows:
            cells = [f"{row[0]:{widths[0]}}"]
            cells += [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
            yield "  " + "  ".join(cells)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("a", metavar="A", help="the version to compare with")
    parser.add_argument("b", metavar="B", help="the version to be compared")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    parser.add_argument("--changed", type=float, default=1.0, help="least factor that is shown")
    options = parser.parse_args()
    try:
        lines = list(report(options.a, options.b, options.folder, options.changed))
    except NoResultsError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
