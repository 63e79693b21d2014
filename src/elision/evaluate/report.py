"""What the cells of a benchmark say: means, standard errors, tests, calibration."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.evaluate.cloze import LEAST_PROBABILITY, TASKS, calibration_error
from elision.evaluate.names import corpus_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.evaluate.bench import Cell, Plan

BANDS = ((0, 1), (2, 5), (6, 20), (21, None))
"""How often the removed event is told in training, for accuracy by frequency."""

LENGTHS = ((2, 3), (4, 6), (7, 10), (11, None))
"""Events of a narrative, for accuracy by length."""

BINS = 10
"""Equal bins of the reliability diagram, those of the calibration error."""


TABLES = (
    *("cells", "summary", "other_tasks"),
    *("by_frequency", "by_length", "reliability", "curve"),
)
"""Lists of rows in a result, each with its corpus and method."""


class Key(NamedTuple):
    """A row of the tables: a method at a batch size on a corpus."""

    corpus: str
    method: str
    batch: int | None


def report(cells: Sequence[Cell], plan: Plan, costs: dict[str, Any]) -> dict[str, Any]:
    """All results as one JSON object."""
    names = corpus_names(plan.corpora)
    every = [cell for cell in cells if not cell.of_curve]
    whole = [cell for cell in every if cell.task == "one"]
    accuracy = {key: _by_domain(group, _top1) for key, group in _grouped(whole).items()}
    return {
        "protocol": {
            "task": TASKS["one"],
            "tasks": list(plan.tasks),
            "corpora": list(names.values()),
            "methods": list(plan.methods),
            "batches": list(plan.batches),
            "seeds": plan.seeds,
            "min_narratives": plan.min_narratives,
            "max_train": plan.max_train,
            "encoder": plan.encoder,
            "test_share": 0.4,
            "ties": "against the removed event",
            "costs": {names[path]: chosen for path, chosen in costs.items()},
        },
        "cells": [_cell_row(cell) for cell in every],
        "summary": summary(whole),
        "other_tasks": [
            {"task": task, **row}
            for task in plan.tasks
            if task != "one"
            for row in _summary_of(task, [cell for cell in every if cell.task == task])
        ],
        "comparisons": comparisons(accuracy),
        "tests": tests(accuracy),
        "by_frequency": by_band(whole, "times_told", BANDS),
        "by_length": by_band(whole, "length", LENGTHS),
        "reliability": reliability(whole),
        "curve": curve([cell for cell in cells if cell.task == "one"]),
    }


def _cell_row(cell: Cell) -> dict[str, Any]:
    row = {
        "task": cell.task,
        "corpus": cell.corpus,
        "domain": cell.domain,
        "method": cell.method,
        "batch": cell.batch,
        "seed": cell.seed,
        "n_train": cell.n_train,
        "n_test": cell.n_test,
        "seconds": cell.seconds,
    }
    measures = HIDDEN_MEASURES if cell.task == "hidden" else CLOZE_MEASURES
    return row | {name: measure(cell) for name, measure in measures.items()}


def _log_loss(cell: Cell) -> float:
    return float(-np.log(np.maximum(cell.probability, LEAST_PROBABILITY)).mean())


def _top1(cell: Cell) -> float:
    return float((np.array(cell.rank) == 1).mean())


def _top3(cell: Cell) -> float:
    return float((np.array(cell.rank) <= 3).mean())


CLOZE_MEASURES: dict[str, Callable[[Cell], float]] = {
    "top1": _top1,
    "top3": _top3,
    "log_loss": _log_loss,
}
HIDDEN_MEASURES: dict[str, Callable[[Cell], float]] = {
    "average_precision": lambda cell: cell.average_precision or 0.0,
    "f1": lambda cell: cell.f1 or 0.0,
}
"""What is measured of a cell; the first has its standard error over domains in the summary."""


def _grouped(cells: Iterable[Cell]) -> dict[Key, list[Cell]]:
    groups: dict[Key, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[Key(cell.corpus, cell.method, cell.batch)].append(cell)
    return groups


def _by_domain(cells: Sequence[Cell], value: Any) -> dict[str, float]:
    """Mean over the seeds of each domain."""
    found: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        found[cell.domain].append(value(cell))
    return {domain: float(np.mean(values)) for domain, values in found.items()}


def _summary_of(task: str, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    return hidden_summary(cells) if task == "hidden" else summary(cells)


def summary(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Mean over domains of each method, with the standard error over domains."""
    rows = []
    for key, group in _grouped(cells).items():
        confidence = np.concatenate([cell.confidence for cell in group])
        right = np.concatenate([np.array(cell.rank) == 1 for cell in group])
        error = {"ece": calibration_error(confidence, right)}
        rows.append(_summary_row(key, group, CLOZE_MEASURES) | error)
    return rows


def hidden_summary(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The same of hidden events: average precision and the best F1."""
    return [_summary_row(key, group, HIDDEN_MEASURES) for key, group in _grouped(cells).items()]


def _summary_row(
    key: Key, cells: Sequence[Cell], measures: Mapping[str, Callable[[Cell], float]]
) -> dict[str, Any]:
    found = {name: list(_by_domain(cells, value).values()) for name, value in measures.items()}
    first = next(iter(found.values()))
    return {
        **key._asdict(),
        "domains": len(first),
        **{name: float(np.mean(values)) for name, values in found.items()},
        "stderr": float(np.std(first, ddof=1) / np.sqrt(len(first))) if len(first) > 1 else 0.0,
        "seconds": float(np.mean([cell.seconds for cell in cells])),
    }


def tests(accuracy: Mapping[Key, Mapping[str, float]]) -> list[dict[str, Any]]:
    """One-sided paired t-tests over domains for every pair, better method first.

    ``accuracy`` has the mean over seeds of each domain. At each batch size the learners are
    compared with one another and with what has no batches. ``p_corrected`` is Holm's, over all
    tests of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for corpus in dict.fromkeys(key.corpus for key in accuracy):
        here = [key for key in accuracy if key.corpus == corpus]
        found = []
        for one, two in permutations(here, 2):
            batches = {key.batch for key in (one, two)} - {None}
            if len(batches) <= 1:
                row = _test(one, two, accuracy[one], accuracy[two], batches)
                if row is not None:
                    found.append(row)
        _correct(found)
        rows += found
    return rows


def _test(
    better: Key,
    worse: Key,
    first: Mapping[str, float],
    second: Mapping[str, float],
    batches: set[int | None],
) -> dict[str, Any] | None:
    domains = [domain for domain in first if domain in second]
    gap = np.array([first[domain] - second[domain] for domain in domains])
    if len(domains) < 2 or gap.mean() < 1e-12:
        return None
    return {
        "corpus": better.corpus,
        "better": better.method,
        "worse": worse.method,
        "batch": next(iter(batches), None),
        "domains": len(domains),
        "difference": float(gap.mean()),
        "p": one_sided_p(gap),
    }


def one_sided_p(gap: NDArray[np.float64]) -> float | None:
    """P of a t-test that the mean of paired differences is above 0; None where there is no test.

    Examples
    --------
    >>> round(one_sided_p(np.array([0.1, 0.2, 0.3])), 4), one_sided_p(np.array([0.0, 0.0]))
    (0.0371, None)
    """
    from scipy.stats import ttest_1samp  # noqa: PLC0415 - slow to import

    if len(gap) < 2:
        return None
    if np.ptp(gap) < 1e-12:  # the t statistic of equal differences is infinite
        return None if abs(gap[0]) < 1e-12 else float(gap[0] < 0)
    return float(ttest_1samp(gap, 0.0, alternative="greater").pvalue)


class Pair(NamedTuple):
    """A method that is compared with another over all corpora together."""

    method: str
    against: str


PAIRS = (
    Pair("default", "LogisticGap"),
    Pair("default", "SEMHMM"),
)
"""Chosen beforehand; where the other depends on the batch size, its largest is taken."""


def comparisons(accuracy: Mapping[Key, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Differences in top-1 of chosen pairs: on each corpus, and over all domains together.

    ``accuracy`` has the mean over seeds of each domain; p is that of a one-sided paired t-test over
    domains. The row of all domains of all corpora has no ``corpus``.
    """
    largest = max((key.batch for key in accuracy if key.batch is not None), default=None)
    rows = []
    for pair in PAIRS:
        batch = (
            largest if any(key.batch for key in accuracy if key.method == pair.against) else None
        )
        apart: dict[str, list[float]] = {}
        for corpus in dict.fromkeys(key.corpus for key in accuracy):
            first = accuracy.get(Key(corpus, pair.method, None), {})
            second = accuracy.get(Key(corpus, pair.against, batch), {})
            found = [first[domain] - second[domain] for domain in first if domain in second]
            if found:
                apart[corpus] = found
        every = [gap for found in apart.values() for gap in found]
        for corpus_or_all, found in [*apart.items(), *([(None, every)] if every else [])]:
            rows.append(
                {
                    **pair._asdict(),
                    "batch": batch,
                    "corpus": corpus_or_all,
                    "domains": len(found),
                    "difference": float(np.mean(found)),
                    "p": one_sided_p(np.array(found)),
                }
            )
    return rows


def merged(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several results as one; of the same method and task on the same corpus, the later's figures.

    Tests and comparisons are made anew, over the domains that both methods were measured on.

    Examples
    --------
    >>> empty = {"protocol": {"corpora": [], "methods": [], "tasks": [], "costs": {}}}
    >>> merged([empty | dict.fromkeys(TABLES, [])])["comparisons"]
    []
    """
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for result in results:
        new = {
            _measured(row) for name in ("summary", "other_tasks") for row in result.get(name, [])
        }
        for name, rows in tables.items():
            kept = [row for row in rows if _measured(row) not in new]
            tables[name] = kept + result.get(name, [])
    protocol = dict(results[-1]["protocol"])
    for name in ("corpora", "methods", "tasks"):
        protocol[name] = list(
            dict.fromkeys(one for result in results for one in result["protocol"].get(name, []))
        )
    protocol["costs"] = {k: v for one in results for k, v in one["protocol"]["costs"].items()}
    protocol["batches"] = sorted({r for one in results for r in one["protocol"].get("batches", [])})
    seeds = sorted({one["protocol"].get("seeds", 0) for one in results})
    protocol["seeds"] = seeds[0] if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    told: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in tables["cells"]:
        if cell.get("task", "one") == "one":
            key = Key(cell["corpus"], cell["method"], cell["batch"])
            told[key][cell["domain"]].append(cell["top1"])
    means = {
        key: {domain: float(np.mean(values)) for domain, values in domains.items()}
        for key, domains in told.items()
    }
    made = {"comparisons": comparisons(means), "tests": tests(means)}
    return {"protocol": protocol, **tables, **made}


def _measured(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row.get("task", "one"), row["corpus"], row["method"]


def _correct(rows: list[dict[str, Any]]) -> None:
    """Holm's correction, in place; each pair could have been tested in either direction."""
    order = sorted(range(len(rows)), key=lambda number: rows[number]["p"])
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, rows[number]["p"] * (2 * len(rows) - place)))
        rows[number]["p_corrected"] = largest


def by_band(
    cells: Sequence[Cell], what: str, bands: Sequence[tuple[int, int | None]]
) -> list[dict[str, Any]]:
    """Accuracy over all narratives of a band, by how frequent or how long."""
    rows = []
    for key, group in _grouped(cells).items():
        value = np.concatenate([getattr(cell, what) for cell in group])
        right = np.concatenate([np.array(cell.rank) == 1 for cell in group])
        for low, high in bands:
            inside = (value >= low) & (value <= (np.inf if high is None else high))
            if inside.any():
                rows.append(
                    {
                        "corpus": key.corpus,
                        "method": key.method,
                        "batch": key.batch,
                        "from": low,
                        "to": high,
                        "narratives": int(inside.sum()),
                        "top1": float(right[inside].mean()),
                    }
                )
    return rows


def reliability(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Accuracy of the first answer by the confidence in it, over all narratives, in equal bins.

    A row with the share of narratives as its weight is a term of the calibration error.
    """
    rows = []
    for key, group in _grouped(cells).items():
        confidence = np.concatenate([cell.confidence for cell in group])
        right = np.concatenate([np.array(cell.rank) == 1 for cell in group])
        place = np.minimum((confidence * BINS).astype(int), BINS - 1)
        for number in np.unique(place).tolist():
            inside = place == number
            rows.append(
                {
                    "corpus": key.corpus,
                    "method": key.method,
                    "batch": key.batch,
                    "from": number / BINS,
                    "to": (number + 1) / BINS,
                    "narratives": int(inside.sum()),
                    "confidence": float(confidence[inside].mean()),
                    "accuracy": float(right[inside].mean()),
                }
            )
    return rows


def curve(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Accuracy by number of training narratives, over the domains that have them, first seed."""
    rows = []
    full = [cell for cell in cells if cell.seed == 0]
    middle = {
        key: group for key, group in _grouped(full).items() if any(cell.of_curve for cell in group)
    }
    for key, group in middle.items():
        sizes = sorted({cell.n_train for cell in group if cell.of_curve})
        for size in sizes:
            some = [cell for cell in group if cell.of_curve and cell.n_train == size]
            rows.append(_curve_row(key, size, some))
        rows.append(_curve_row(key, None, [cell for cell in group if not cell.of_curve]))
    return rows


def _curve_row(key: Key, size: int | None, cells: Sequence[Cell]) -> dict[str, Any]:
    return {
        "corpus": key.corpus,
        "method": key.method,
        "batch": key.batch,
        "n_train": size,
        "domains": len(cells),
        "top1": float(np.mean([_top1(cell) for cell in cells])),
    }
