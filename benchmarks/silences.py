"""Whether outlines are right about what was done unsaid.

    python benchmarks/silences.py [--seeds N] [--json]
    python benchmarks/silences.py FILE... [--seeds N] [--json]

Without files, scripts are drawn by chance, with choices, steps in any order and steps that may be
missing, and told with omissions. An outline is learned from the tellings and asked of fresh ones
whether each untold step happened, which is known. Of files, corpora of events, this is asked: a
step that at least half of the tellings tell, and instead of which nothing is told, should have
happened where it is untold and something is told that comes after it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

import elision as el
from common import outline_of, parser_of, percent, run, share_of, table, usable_domains
from elision.bench.judging import calibration_error
from elision.errors import InputError
from elision.values.outline import Outline, Step, Unit, steps_told
from outlines import split_events

TELLINGS = (50, 100, 200)
"""How many are learned from."""

ASKED = 100
"""Fresh tellings that are asked about."""

RATES = ("one rate a script", "a rate for each step")
ELISION = (0.1, 0.6)
JITTER = 0.1
"""How far the rates of one script's steps lie from its own, at most."""

PARTS = (7, 12)
KINDS = {"step": 0.5, "any order": 0.2, "choice": 0.2, "optional": 0.1}
"""What the parts of a script are, with the probability of each kind."""

OPTIONAL = (0.3, 0.7)
"""How often a step happens that may be missing."""

EVEN = 3.0
"""How even the branches of a choice are: of a Dirichlet distribution."""

COMMON = 0.5
"""Share of the tellings that tell a step of which the rule for labels speaks."""

SURE = 0.9
SCRIPTS, SPLITS = 20, 5


# Scripts by chance


def random_outline(rng: np.random.Generator, *, own_rates: bool) -> Outline:
    """Draw a script: its parts follow each other, and each is of one of `KINDS`.

    ``own_rates`` says that each step has a rate of elision of its own; else all have nearly the
    same.
    """
    drawn = rng.choice(list(KINDS), rng.integers(PARTS[0], PARTS[1] + 1), p=list(KINDS.values()))
    units: list[Unit] = []
    stage: list[int] = []
    steps = 0
    for place, kind in enumerate(drawn):
        for lengths, happens in random_units(str(kind), rng):
            shares = rng.dirichlet(np.full(len(lengths), EVEN))
            ends = steps + np.cumsum([0, *lengths])
            branches = tuple(tuple(range(a, b)) for a, b in pairwise(ends.tolist()))
            units.append(Unit(branches, tuple((shares / shares.sum()).tolist()), happens))
            stage.append(place)
            steps = int(ends[-1])
    rates = rng.uniform(*ELISION, steps if own_rates else 1)
    if not own_rates:
        rates = np.clip(rates + rng.uniform(-JITTER, JITTER, steps), *ELISION)
    often = {
        step: unit.happens * share
        for unit in units
        for branch, share in zip(unit.branches, unit.shares, strict=True)
        for step in branch
    }
    made = tuple(
        Step(str(step), str(step), often[step] * (1 - rate), 1 - rate)
        for step, rate in enumerate(rates.tolist())
    )
    order = np.less.outer(stage, stage)
    return Outline(made, tuple(units), order, np.zeros(order.shape, dtype=np.int64))


def random_units(kind: str, rng: np.random.Generator) -> list[tuple[list[int], float]]:
    """Numbers of steps of the branches of each unit of a part, and how often it happens."""
    if kind == "any order":
        return [([1], 1.0)] * int(rng.integers(2, 4))
    if kind == "choice":
        return [(rng.integers(1, 3, rng.integers(2, 4)).tolist(), 1.0)]
    return [([1], float(rng.uniform(*OPTIONAL)) if kind == "optional" else 1.0)]


def draw(outline: Outline, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw one course of a script: the steps that happen, in order, and those of them told."""
    earlier = outline.order.sum(axis=0)
    happened: list[int] = []
    for unit in sorted(range(len(outline.units)), key=lambda u: (earlier[u], rng.random())):
        one = outline.units[unit]
        branch = one.branches[rng.choice(len(one.branches), p=one.shares)]
        if rng.random() < one.happens:
            happened += branch
    return happened, [step for step in happened if rng.random() < outline.steps[step].telling]


# Simulations


class Silences(NamedTuple):
    """Untold steps of fresh tellings: what is said of each, and whether it happened.

    ``frequency`` is the share of the tellings learned from that tell the step; ``known`` is said by
    the script that the tellings were drawn from: nobody can know more.
    """

    predicted: NDArray[np.float64]
    frequency: NDArray[np.float64]
    known: NDArray[np.float64]
    happened: NDArray[np.bool_]


def silences_of(known: Outline, tellings: Sequence[Sequence[int]], asked: Any) -> Silences:
    """Learn an outline from tellings of a script and ask it about fresh courses."""
    learned = outline_of([[str(step) for step in one] for one in tellings if one])
    size = len(known.steps)
    frequency = np.bincount([s for one in tellings for s in one], minlength=size) / len(tellings)
    home = [learned.steps_of.get(str(step), (-1,))[0] for step in range(size)]
    found = []
    for happened, told in asked:
        # What too few told for it to be a step is on no outline: the last one's probability.
        chances = np.append(learned.happened([home[s] for s in told if home[s] >= 0]), 0.0)
        exact = known.happened(told)
        found += [
            (chances[home[step]], frequency[step], exact[step], step in happened)
            for step in sorted(set(range(size)).difference(told))
        ]
    predicted, often, by_known, true = np.array(found).T
    return Silences(predicted, often, by_known, true.astype(bool))


def simulate(scripts: int) -> list[dict[str, Any]]:
    """Draw scripts of both kinds of rates and measure silence after each number of tellings."""
    rows = []
    for own_rates, rates in enumerate(RATES):
        cases: dict[int, list[Silences]] = {size: [] for size in TELLINGS}
        for seed in range(scripts):
            rng = np.random.default_rng([seed, own_rates])
            known = random_outline(rng, own_rates=bool(own_rates))
            asked = [draw(known, rng) for _ in range(ASKED)]
            tellings = [draw(known, rng)[1] for _ in range(max(TELLINGS))]
            for size in TELLINGS:
                cases[size].append(silences_of(known, tellings[:size], asked))
        for size, some in cases.items():
            rows.append({"rates": rates, "tellings": size, **figures(some)})
    return rows


def figures(some: Sequence[Silences]) -> dict[str, float]:
    """Calibration and ranking over all scripts, and the mean of both within each."""
    pooled = Silences(*(np.concatenate(parts) for parts in zip(*some, strict=True)))
    each = [judged(one) for one in some if one.happened.any()]
    return {
        "untold": len(pooled.happened),
        "happened": float(pooled.happened.mean()),
        **judged(pooled),
        **{f"{name} within": float(np.mean([one[name] for one in each])) for name in each[0]},
    }


def judged(cases: Silences) -> dict[str, float]:
    found = {}
    for name, chances in zip(("", ", frequency", ", known"), cases[:3], strict=True):
        found[f"ECE{name}"] = calibration_error(chances, cases.happened)
        found[f"AP{name}"] = float(average_precision_score(cases.happened, chances))
    return found


COLUMNS = (
    *("ECE", "ECE, frequency", "AP", "AP, frequency", "AP, known"),
    *("ECE within", "AP within", "AP, frequency within"),
)


def simulation_table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        [
            row["rates"],
            *(str(row["tellings"]), str(row["untold"]), percent(row["happened"])),
            *(f"{row[name]:.3f}" for name in COLUMNS),
        ]
        for row in rows
    ]
    return table(["omissions", "tellings", "untold", "happened, %", *COLUMNS], lines, texts=1)


# Labels


def passed_steps(outline: Outline, tellings: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
    """Where tellings pass over a step that is usual and instead of which nothing is told."""
    usual = [
        step
        for step, one in enumerate(outline.steps)
        if one.told >= COMMON and len(outline.units[outline.unit_of[step]].branches) == 1
    ]
    found = []
    for telling in tellings:
        told = {step for step in steps_told(outline, telling) if step is not None}
        units = sorted({outline.unit_of[step] for step in told})
        chances = outline.happened(told)
        found += [
            (float(chances[step]), outline.steps[step].name)
            for step in usual
            if step not in told and outline.order[outline.unit_of[step], units].any()
        ]
    return found


def measure_labels(file: str, options: argparse.Namespace) -> dict[str, Any]:
    """The rule for labels, over all domains and splits of a file."""
    domains = usable_domains(el.read(file))
    if not all(part.has_events for part in domains.values()):
        raise InputError("sentences, expected tellings with events", where=file)
    found = []
    for part in domains.values():
        for seed in range(options.seeds):
            train, test, _ = split_events(part, seed)
            found += passed_steps(outline_of(train, seed=seed), test)
    lowest, step = min(found, default=(None, None))
    return {
        "domains": len(domains),
        "cases": len(found),
        "sure": share_of([chance >= SURE for chance, _ in found]),
        "lowest": lowest,
        "step": step,
    }


def label_table(row: dict[str, Any]) -> str:
    heads = ["domains", "cases", f"{SURE:g} or more, %", "lowest", "of the step"]
    lowest = "" if row["lowest"] is None else f"{row['lowest']:.3f}"
    counts = [str(row["domains"]), str(row["cases"]), percent(row["sure"]), lowest]
    return table(heads, [[*counts, row["step"] or ""]], texts=0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__, seeds=0, files="*")
    options = parser.parse_args(arguments)
    if options.files:
        parser.set_defaults(seeds=SPLITS)
        return run(parser, measure_labels, label_table, arguments)
    rows = simulate(options.seeds or SCRIPTS)
    print(json.dumps(rows, indent=1) if options.json else simulation_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
