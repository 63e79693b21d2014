"""Repairing event logs against pm4py's alignments, a bidirectional LSTM and neighbours.

    python benchmarks/repair.py LOG [--share .1 .2 .3] [--seeds 2] [--uneven] [--methods ...]
    python benchmarks/repair.py LOG --speed

Without ``--speed`` it prints the table of `elision.evaluate.repairing` with all peers in one run.
Alignments have no probabilities: everything they insert is sure, and the two scores are the same.
The inductive miner is run at several noise settings, and the best on the test traces is shown.
Alignments get ``--seconds`` for each cell, and judge as many test cases, taken by chance, as they
can align in it; the table says how many. The LSTM chooses its number of epochs by its loss on a
tenth of the training traces.

With ``--speed`` it prints, of the whole log as it is: seconds to learn from all traces and to
repair them, and the peak memory of a process that does that and nothing else; and seconds that
pm4py takes to mine a net and to align all variants, those of a part that is taken by chance,
multiplied. pm4py aligns each variant once, and so do we. Seconds are those of the clock and those
of the processors, which tell more where a machine is busy.

Peers need ``pip install 'elision[bench]'``. pm4py is under the AGPL: the package never imports it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from elision.evaluate.repairing import (
    METHODS,
    Method,
    add_options,
    chosen_log,
    measure,
    say,
    tables,
)
from repair_peers import NOISES, Alignments, BidirectionalLSTM, align, heuristics, inductive, log_of

if TYPE_CHECKING:
    from elision.values.corpus import Corpus

OWN = next(iter(METHODS))
"""Our method: the first of the measure."""

INDUCTIVE = "pm4py inductive"
HEURISTICS = "pm4py heuristics"
NOISE = 0.2
"""Noise setting of the net that is aligned with for its speed, as pm4py's own examples have it."""

SECONDS_A_TRACE = 5.0
MEMORY = 1024 if sys.platform == "darwin" else 1
"""Kilobytes are what Linux counts in, bytes others."""


def all_methods(seconds: float) -> dict[str, dict[str, Callable[[int], Method]]]:
    """What is measured, by the name in the table; of several, the best is shown."""

    def aligned(discover: Any) -> Callable[[int], Method]:
        return lambda seed: Alignments(
            discover, seconds=seconds, seconds_a_trace=SECONDS_A_TRACE, seed=seed
        )

    noises = {f"{INDUCTIVE}, noise {noise:g}": aligned(inductive(noise)) for noise in NOISES}
    return {
        **{name: {name: make} for name, make in METHODS.items()},
        "lstm": {"lstm": lambda seed: BidirectionalLSTM(seed=seed)},
        INDUCTIVE: noises,
        HEURISTICS: {HEURISTICS: aligned(heuristics)},
    }


def best_of(result: dict[str, Any], groups: dict[str, list[str]]) -> dict[str, Any]:
    """The result with the best of each group in each cell, all others in ``settings``."""
    shown, others = [], []
    for share in dict.fromkeys(cell["share"] for cell in result["cells"]):
        for members in groups.values():
            rows = [
                cell
                for cell in result["cells"]
                if cell["share"] == share and cell["method"] in members
            ]
            best = max(rows, key=lambda cell: cell["tuned"])
            shown.append(best)
            others += [cell for cell in rows if cell is not best]
    return {**result, "cells": shown, "settings": others}


def compared(log: Corpus, options: argparse.Namespace) -> dict[str, Any]:
    """The table with all peers."""
    chosen = {name: all_methods(options.seconds)[name] for name in options.methods}
    result = measure(
        log,
        shares=options.share,
        seeds=options.seeds,
        uneven=options.uneven,
        methods={name: make for some in chosen.values() for name, make in some.items()},
        progress=say,
    )
    return best_of(result, {name: list(some) for name, some in chosen.items()})


class Clock:
    """Seconds since it was made, by the clock and of the processors."""

    def __init__(self) -> None:
        self._clock, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        return {
            "clock": time.perf_counter() - self._clock,
            "processor": time.process_time() - self._processor,
        }


def own_seconds(log: Corpus) -> dict[str, Any]:
    """Learn from a log and repair it, and say what it took."""
    clock = Clock()
    method = METHODS[OWN](0)
    method.fit(log.events)
    learned = clock.read()
    clock = Clock()
    method.insertions(log.events)
    repaired = clock.read()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEMORY / 1024
    return {"learn": learned, "repair": repaired, "peak_megabytes": round(peak, 1)}


def speed(log: Corpus, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of ours, in a process of its own, and of alignments, in this one."""
    # Once for what is compiled on first use, once to count.
    command = [sys.executable, __file__, options.log, "--own"]
    if options.max_cases:
        command += ["--max-cases", str(options.max_cases)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    own = json.loads(done.stdout)
    traces = log.events
    variants = list(dict.fromkeys(map(tuple, traces)))
    order = np.random.default_rng(0).permutation(len(variants)).tolist()
    given = log_of(traces)
    clock = Clock()
    net = inductive(NOISE)(given)
    mined = clock.read()
    aligned, too_long = 0, 0
    clock = Clock()
    while aligned < len(variants) and clock.read()["clock"] < options.seconds:
        some = [variants[k] for k in order[aligned : aligned + 10]]
        too_long += sum(one is None for one in align(net, some, 10 * SECONDS_A_TRACE))
        aligned += len(some)
    whole = {kind: spent / aligned * len(variants) for kind, spent in clock.read().items()}
    return {
        "traces": len(traces),
        "variants": len(variants),
        "elision": own,
        "pm4py": {
            "mine": mined,
            "align_all": whole,
            "variants_aligned": aligned,
            "given_up": too_long,
        },
        "times_as_fast": {
            "repair": {kind: whole[kind] / own["repair"][kind] for kind in whole},
            "learn_and_repair": {
                kind: (mined[kind] + whole[kind]) / (own["learn"][kind] + own["repair"][kind])
                for kind in whole
            },
        },
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser)
    names = list(all_methods(1.0))
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--seconds", type=float, default=60.0, help="for the alignments of a cell")
    parser.add_argument("--speed", action="store_true", help="seconds and memory instead")
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    missing = [name for name in ("jax", "pm4py") if find_spec(name) is None]
    if missing and not options.own:
        print(f"{missing[0]} is missing: pip install 'elision[bench]'", file=sys.stderr)
        return 2
    try:
        log = chosen_log(options)
        if options.own:
            print(json.dumps(own_seconds(log)))
        elif options.speed:
            print(json.dumps(speed(log, options), indent=2))
        else:
            result = compared(log, options)
            print(json.dumps(result, indent=1) if options.json else tables(result))
    except el.ElisionError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
