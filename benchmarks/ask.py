"""Questions a second, one at a time and many at once, and against the naive twin.

    python benchmarks/ask.py [--narratives 2000] [--repeats 3]

Prints one JSON object. Scripts have 40 states and 25 events, narratives 8 events. Every time is the
least of several, taken in turns within this run. The twin is `tests/naive.py`: plain Python and
numpy, written from the formulas, with a time index; it is asked a few narratives only.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from estep import EVENTS, STATES, least_times, random_narratives, random_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

LENGTH = 8
TWINS = 2
"""Narratives that the twin is asked: it takes its time."""

Telling = list[str]


def random_script(edges: int | None, rng: np.random.Generator) -> el.Script:
    names = [f"e{o}" for o in range(EVENTS)]
    return el.Script.from_parameters(names, random_parameters(edges, STATES, rng))


def questions(script: el.Script, told: list[Telling], some: int) -> dict[str, Callable[[], object]]:
    """The questions by name: those that end in ``_many`` are asked of all narratives at once."""
    half = LENGTH // 2
    gaps = [[*one[:half], None, *one[half:]] for one in told]
    few, few_gaps = told[:some], gaps[:some]
    return {
        "fill": lambda: [script.fill(one) for one in few_gaps],
        "fill_many": lambda: script.fill_many(gaps),
        "fill_many_top_3": lambda: script.fill_many(gaps, top=3),
        "between": lambda: [script.between(one) for one in few],
        "between_many": lambda: script.between_many(told),
        "fill_two_gaps_together": lambda: [
            script.fill([*one, None], joint=True, top=3) for one in few_gaps[:20]
        ],
        "fill_anywhere": lambda: [script.fill(one, anywhere=True) for one in few],
        "next": lambda: [script.next(one) for one in few],
        "align": lambda: [script.align(one) for one in few],
        "resolve": lambda: [script.resolve(one) for one in few_gaps],
        "sample_many": lambda: script.sample(len(told), random_state=0),
        "sample_complete_many": lambda: script.sample(len(told), random_state=0, complete=True),
    }


def asked_by(name: str, narratives: int, some: int) -> int:
    """How many narratives a question is asked of in one go."""
    if "many" in name:
        return narratives
    return 20 if name == "fill_two_gaps_together" else some


def twins(script: el.Script, numbers: list[list[int]]) -> dict[str, Callable[[], object]]:
    """The same questions to the naive twin."""
    import naive

    model = (script.transition, script.emission, script.elision)
    half = LENGTH // 2
    gaps = [[*one[:half], None, *one[half:]] for one in numbers]
    return {
        "fill": lambda: [naive.fill(*model, one, half) for one in gaps],
        "between": lambda: [naive.posterior(*model, one) for one in numbers],
    }


def measure(
    script: el.Script, count: int, repeats: int, rng: np.random.Generator
) -> dict[str, Any]:
    numbers = [one.tolist() for one in random_narratives(count, LENGTH, LENGTH, rng)]
    told = [[script.events[o] for o in one] for one in numbers]
    some = min(200, count)
    ours = questions(script, told, some)
    theirs = twins(script, numbers[:TWINS])
    times = least_times(repeats, *ours.values(), *theirs.values())
    each = {
        name: seconds / asked_by(name, count, some)
        for name, seconds in zip(ours, times, strict=False)
    }
    twin = {name: seconds / TWINS for name, seconds in zip(theirs, times[len(ours) :], strict=True)}
    return {
        "edges": len(script.parameters.source),
        "narratives_a_second": {name: round(1 / seconds) for name, seconds in each.items()},
        "times_faster_than_the_twin": {
            name: round(twin[name.removesuffix("_many")] / each[name])
            for name in ("fill", "fill_many", "between", "between_many")
        },
        "times_faster_together": {
            name: round(each[name] / each[f"{name}_many"], 1) for name in ("fill", "between")
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narratives", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    result = {
        name: measure(random_script(edges, rng), options.narratives, options.repeats, rng)
        for name, edges in (("full", None), ("sparse", 120))
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
