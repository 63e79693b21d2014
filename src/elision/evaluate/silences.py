"""Whether outlines are right about what was done unsaid.

    python -m elision.evaluate.silences [--seeds N] [--json]
    python -m elision.evaluate.silences --labels FILE... [--seeds N] [--json]

The first draws scripts by chance, with choices, steps in any order and steps that may be missing,
tells them with omissions, learns an outline from the tellings, and asks it of fresh ones whether
each untold step happened, which is known. The second takes corpora of events: a step that at least
half of the tellings tell, and instead of which nothing is told, should have happened where it is
untold and something is told that comes after it.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import readers
from elision.errors import ElisionError, InputError
from elision.evaluate.cloze import calibration_error
from elision.evaluate.names import corpus_names
from elision.evaluate.outlines import outline_of, split_events, usable_domains
from elision.evaluate.tables import markdown_table, percent, plain_text
from elision.values.outline import Outline, Step, Unit, steps_told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.corpus import Corpus

    Floats = NDArray[np.float64]

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

MOST_ERROR = 0.05
COMMON = 0.5
"""Share of the tellings that tell a step of which the rule for labels speaks."""

SURE = 0.9
SCRIPTS, SPLITS = 20, 5


# Scripts by chance


def random_outline(rng: np.random.Generator, *, own_rates: bool) -> Outline:
    """Draw a script: its parts follow each other, and each is of one of `KINDS`.

    Parameters
    ----------
    rng
        What chance comes from.
    own_rates
        Whether each step has a rate of elision of its own, or all of them nearly the same.
    """
    drawn = rng.choice(list(KINDS), rng.integers(PARTS[0], PARTS[1] + 1), p=list(KINDS.values()))
    units: list[Unit] = []
    stage: list[int] = []
    steps = 0
    for place, kind in enumerate(drawn):
        for lengths, happens in _random_units(str(kind), rng):
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


def _random_units(kind: str, rng: np.random.Generator) -> list[tuple[list[int], float]]:
    """Numbers of steps of the branches of each unit of a part, and how often it happens."""
    if kind == "any order":
        return [([1], 1.0)] * int(rng.integers(2, 4))
    if kind == "choice":
        return [(rng.integers(1, 3, rng.integers(2, 4)).tolist(), 1.0)]
    return [([1], float(rng.uniform(*OPTIONAL)) if kind == "optional" else 1.0)]


def draw(outline: Outline, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw one course of an outline: the steps that happen, in order, and those of them told.

    Units that neither comes before the other stand in any order if they are parts of the same
    place, as those of `random_outline` are.
    """
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
    """Untold steps of fresh tellings: what is said of each, and whether it happened."""

    predicted: Floats
    """By the learned outline."""

    frequency: Floats
    """Share of the tellings learned from that tell the step."""

    known: Floats
    """By the script that the tellings were drawn from: nobody can know more."""

    happened: NDArray[np.bool_]


def silences_of(known: Outline, tellings: Sequence[Sequence[int]], asked: Any) -> Silences:
    """Learn an outline from tellings of a script and ask it about fresh ones.

    Parameters
    ----------
    known
        The script; its steps are named by their numbers.
    tellings
        The steps that each tells.
    asked
        The courses to ask about: steps that happened and steps told, as `draw` gives them.
    """
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


def simulate(scripts: int = SCRIPTS) -> list[dict[str, Any]]:
    """Draw scripts of both kinds of rates and measure silence after each number of tellings.

    The same scripts and fresh tellings are taken for each number.
    """
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
            rows.append({"rates": rates, "tellings": size, **measures(some)})
    return rows


def measures(some: Sequence[Silences]) -> dict[str, Any]:
    """Calibration and ranking over all scripts, and the mean of both within each."""
    pooled = Silences(*(np.concatenate(parts) for parts in zip(*some, strict=True)))
    found: dict[str, Any] = {"scripts": len(some), "cases": len(pooled.happened)}
    found["happened"] = float(pooled.happened.mean())
    found |= _errors_and_precisions(pooled)
    each = [_errors_and_precisions(one) for one in some if one.happened.any()]
    found["within"] = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
    found["ahead_of_frequency"] = float(np.mean([one["ap"] > one["ap_frequency"] for one in each]))
    found["reached"] = found["ece"] <= MOST_ERROR and found["ap"] > found["ap_frequency"]
    return found


def _errors_and_precisions(cases: Silences) -> dict[str, float]:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 - slow

    found = {}
    for name in ("", "frequency", "known"):
        chances = getattr(cases, name or "predicted")
        end = f"_{name}" if name else ""
        found[f"ece{end}"] = calibration_error(chances, cases.happened)
        found[f"ap{end}"] = float(average_precision_score(cases.happened, chances))
    return found


def simulation_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows in Markdown, below what they are."""
    said = (
        f"Untold steps of {ASKED} fresh tellings of each of {rows[0]['scripts']} scripts by chance:"
        " calibration error (ECE) and average precision (AP) of the probability that the step"
        " happened, beside the share of tellings that tell it and the script itself, over all"
        " scripts and as the mean within one."
    )
    heads = ["elision", "tellings", "untold", "happened", "ECE", "by frequency", "AP"]
    heads += ["by frequency", "by the script", "ECE within", "AP within", "by frequency"]
    names = ("ece", "ece_frequency", "ap", "ap_frequency", "ap_known")
    within = ("ece", "ap", "ap_frequency")
    lines = [
        [
            row["rates"],
            *(str(row["tellings"]), str(row["cases"]), percent(row["happened"])),
            *(_decimals(name, row[name]) for name in names),
            *(_decimals(name, row["within"][name]) for name in within),
        ]
        for row in rows
    ]
    missed = [f"{row['rates']}, {row['tellings']} tellings" for row in rows if not row["reached"]]
    goal = f"Goal: ECE at most {MOST_ERROR:g}, AP above frequency's. Missed by: "
    return "\n\n".join(
        [said, markdown_table(heads, lines, {0}), f"{goal}{'; '.join(missed) or 'none'}."]
    )


def _decimals(name: str, value: float) -> str:
    return f"{value:.4f}" if name.startswith("ece") else f"{value:.3f}"


# Labels


class Passed(NamedTuple):
    """A usual step, untold though something after it is told, and the probability of it."""

    step: str
    probability: float


def passed_steps(outline: Outline, tellings: Sequence[Sequence[str]]) -> list[Passed]:
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
            Passed(outline.steps[step].name, float(chances[step]))
            for step in usual
            if step not in told and outline.order[outline.unit_of[step], units].any()
        ]
    return found


def measure_labels(part: Corpus, splits: int) -> dict[str, Any]:
    """The rule for labels in one domain, over splits."""
    found: list[Passed] = []
    for seed in range(splits):
        train, test, _ = split_events(part, seed)
        found += passed_steps(outline_of(train, seed=seed), test)
    lowest = min(found, key=lambda one: (one.probability, one.step), default=None)
    return {
        "tellings": len(part),
        "cases": len(found),
        "sure": float(np.mean([one.probability >= SURE for one in found])) if found else None,
        "lowest": lowest.probability if lowest else None,
        "step": lowest.step if lowest else None,
    }


def measure_label_files(files: Sequence[str], splits: int) -> dict[str, dict[str, Any]]:
    """The rule for labels in each domain that has events, by file and domain."""
    found: dict[str, dict[str, Any]] = {}
    for file, name in corpus_names(files).items():
        labelled = {
            domain: part
            for domain, part in usable_domains(readers.read(file)).items()
            if part.has_events
        }
        if not labelled:
            raise InputError("only sentences, expected tellings with events", where=file)
        found[name] = {domain: measure_labels(part, splits) for domain, part in labelled.items()}
    return found


def label_table(found: dict[str, dict[str, Any]], splits: int) -> str:
    """The domains in Markdown, below what they are."""
    said = (
        f"Steps that at least {COMMON:.0%} of the tellings tell and instead of which nothing is"
        f" told, untold in a held-out telling that tells something after them; {splits} splits."
        f" The probability that they happened should be {SURE:g} or more."
    )
    lines = [
        [
            plain_text(f"{corpus}: {domain}"),
            str(row["tellings"]),
            str(row["cases"]),
            "–" if row["sure"] is None else percent(row["sure"]),
            "–" if row["lowest"] is None else f"{row['lowest']:.3f}",
            plain_text(row["step"] or "–"),
        ]
        for corpus, domains in found.items()
        for domain, row in domains.items()
    ]
    rows = [row for domains in found.values() for row in domains.values() if row["cases"]]
    cases = sum(row["cases"] for row in rows)
    if rows:
        sure = sum(row["cases"] * row["sure"] for row in rows) / cases
        least = min(row["lowest"] for row in rows)
        total = str(sum(row["tellings"] for row in rows))
        lines.append(["all", total, str(cases), percent(sure), f"{least:.3f}", ""])
    heads = ["domain", "tellings", "cases", f"{SURE:g} or more", "lowest", "of the step"]
    return f"{said}\n\n{markdown_table(heads, lines, {0, 5})}"


# Command


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of simulations, or that of some corpora."""
    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.silences",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--labels", nargs="+", metavar="FILE", help="corpora with events")
    parser.add_argument(
        "--seeds", type=int, help=f"scripts ({SCRIPTS}), or splits of each domain ({SPLITS})"
    )
    parser.add_argument("--json", action="store_true", help="all figures, as JSON")
    options = parser.parse_args(arguments)
    seeds = options.seeds
    if seeds is None:
        seeds = SPLITS if options.labels else SCRIPTS
    try:
        if seeds < 1:
            raise InputError(f"--seeds is {seeds}, expected a whole number from 1")
        if options.labels:
            labels = measure_label_files(options.labels, seeds)
            result: dict[str, Any] = {"splits": seeds, "labels": labels}
            text = label_table(labels, seeds)
        else:
            rows = simulate(seeds)
            result = {"scripts": seeds, "simulations": rows}
            text = simulation_table(rows)
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((json.dumps(result, indent=1) if options.json else text) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
