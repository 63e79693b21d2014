"""Outlines as Petri nets and BPMN processes, opened in pm4py: do they fit the logs they came from.

    python benchmarks/outline_models.py [LOG...] [--least 0.9] [--seconds 60] [--max-cases N]

Prints one JSON object. Of each log, or of one that is drawn if none is given, with choices, rework
and steps in any order, a script is learned and exported to ``.pnml`` and ``.bpmn``;
pm4py reads both. Printed are the fitness by token replay of all cases, and by alignments of as many
cases, taken by chance, as can be aligned in ``--seconds``. ``given_up`` are alignments that took
too long: ``aligned`` is the mean of the others. It ends with 1 where a fitness is below
``--least``. Needs ``pip install 'elision[bench]'``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from common import limited
from elision.show.export import export
from repair_peers import Net, align, log_of, pm4py

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_A_TRACE = 20.0


def opened(path: Path) -> Net:
    """A model as pm4py reads it."""
    module = pm4py()
    if path.suffix == ".pnml":
        net: Net = module.read_pnml(str(path))
    else:
        net = module.convert_to_petri_net(module.read_bpmn(str(path)))
    return net


def aligned(net: Net, traces: Sequence[tuple[str, ...]], seconds: float) -> dict[str, Any]:
    """Mean fitness of cases taken by chance, each variant being aligned once."""
    found: dict[tuple[str, ...], float | None] = {}
    values: list[float] = []
    given_up = 0
    until = time.perf_counter() + seconds
    for k in np.random.default_rng(0).permutation(len(traces)).tolist():
        trace = traces[k]
        if trace not in found:
            if time.perf_counter() > until:
                break
            (best,) = align(net, [trace], SECONDS_A_TRACE)
            found[trace] = None if best is None else float(best["fitness"])
        fitness = found[trace]
        if fitness is None:
            given_up += 1
        else:
            values.append(fitness)
    return {
        "aligned": round(float(np.mean(values)), 4) if values else None,
        "cases_aligned": len(values),
        "variants_aligned": len(found),
        "given_up": given_up,
    }


def fitness(path: Path, traces: Sequence[tuple[str, ...]], seconds: float) -> dict[str, Any]:
    """How well a model fits a log, as pm4py says."""
    net = opened(path)
    quiet = io.StringIO()
    with contextlib.redirect_stderr(quiet), contextlib.redirect_stdout(quiet):
        replayed = pm4py().fitness_token_based_replay(log_of(traces), *net)
    return {
        "places": len(net[0].places),
        "transitions": len(net[0].transitions),
        "token_replay": round(replayed["log_fitness"], 4),
        "cases_replayed_whole": round(replayed["percentage_of_fitting_traces"] / 100, 4),
        **aligned(net, traces, seconds),
    }


def drawn(cases: int = 1000) -> el.Corpus:
    """Orders: paid and packed in any order, some checked several times, some sent back."""
    rng = np.random.default_rng(0)
    traces = []
    for _ in range(cases):
        middle = ["pay", "pack"] if rng.random() < 0.6 else ["pack", "pay"]
        trace = ["order", *["check"] * int(rng.geometric(0.6)), *middle]
        trace.append("ship by air" if rng.random() < 0.3 else "ship by sea")
        while rng.random() < 0.15:
            trace += ["send back", "pack", "ship by sea"]
        traces.append([*trace, *["thank"] * int(rng.random() < 0.2), "close"])
    return el.Corpus.of(traces, domain="orders")


def models_of(log: el.Corpus, options: argparse.Namespace) -> dict[str, Any]:
    """Learn, export, open, judge."""
    traces = limited(log, options.max_cases).events
    script = el.ScriptLearner().fit(traces).script_
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("pnml", "bpmn"):
            path = Path(folder) / f"outline.{kind}"
            export(script, path)
            found[kind] = fitness(path, traces, options.seconds)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("logs", nargs="*", metavar="LOG", help="event logs")
    parser.add_argument("--least", type=float, default=0.9, help="fitness that is enough")
    parser.add_argument("--seconds", type=float, default=60.0, help="for alignments with a model")
    parser.add_argument("--max-cases", type=int, help="most cases of a log, by chance")
    options = parser.parse_args()
    if find_spec("pm4py") is None:
        print("pm4py is missing: pip install 'elision[bench]'", file=sys.stderr)
        return 2
    try:
        logs = {Path(file).stem: el.read(file) for file in options.logs} or {"drawn": drawn()}
        found = {name: models_of(log, options) for name, log in logs.items()}
    except el.ElisionError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(found, indent=2))
    values = [
        model[what]
        for models in found.values()
        for model in models.values()
        for what in ("token_replay", "aligned")
    ]
    return 0 if all(value is None or value >= options.least for value in values) else 1


if __name__ == "__main__":
    sys.exit(main())
