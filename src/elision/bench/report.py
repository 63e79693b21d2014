"""What was measured, together: means, standard errors, tests, calibration, and their tables."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.bench.judging import bins_of, calibration_error, chance_error
from elision.bench.measuring import DEFAULT, METHODS, corpus_names
from elision.bench.tasks import TASKS, TEST_SHARE
from elision.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.bench.measuring import Cell, Plan
    from elision.learn.search import Costs

Row = dict[str, Any]

PAIRS = (
    ("default", "LogisticGap"),
    ("default", "SEMHMM"),
    *(("SEMHMM", other) for other in ("BMMEM", "BMM", "Conditional", "Frequency")),
)
"""Methods that are compared, chosen beforehand: ours, and what the paper tests."""

COLUMNS = {
    "one": {"top1": "top-1", "top3": "top-3", "log_loss": "log-loss", "ece": "ECE"},
    "two": {"top1": "two"},
    "three": {"top1": "three"},
    "anywhere": {"top1": "anywhere"},
    "hidden": {"average_precision": "hidden: AP", "f1": "F1"},
    "next": {"top1": "next: top-1", "log_loss": "log-loss"},
}
"""Figures of each task that stand in the tables, with the heads of their columns."""

DECIMALS = ("log_loss", "ece")
"""Figures that are no shares: the others are shown in percent."""


class Key(NamedTuple):
    """A row of the tables: a method at a batch size on a corpus."""

    corpus: str
    method: str
    batch: int | None


def report(
    cells: Sequence[Cell], plan: Plan, costs: Mapping[str, Mapping[str, Costs]]
) -> dict[str, Any]:
    """All results as one JSON object."""
    return {
        "protocol": {
            **asdict(plan),
            "corpora": list(corpus_names(plan.corpora).values()),
            "tasks": {task: TASKS[task] for task in plan.tasks},
            "test_share": TEST_SHARE,
            "ties": "against the removed event",
            "costs": {
                corpus: {kind: asdict(one) for kind, one in chosen.items()}
                for corpus, chosen in costs.items()
            },
        },
        "cells": [_cell_row(cell) for cell in cells],
        "summary": [
            row
            for task in plan.tasks
            for row in summary([cell for cell in cells if cell.task == task])
        ],
        "comparisons": comparisons([cell for cell in cells if cell.task == "one"]),
    }


def _cell_row(cell: Cell) -> Row:
    kept = ("task", "corpus", "domain", "method", "batch", "seed", "n_train", "n_test", "seconds")
    return {**{name: getattr(cell, name) for name in kept}, **cell.figures}


def _grouped(cells: Iterable[Cell]) -> dict[Key, list[Cell]]:
    groups: dict[Key, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[Key(cell.corpus, cell.method, cell.batch)].append(cell)
    return groups


def by_domain(cells: Iterable[Cell], figure: str) -> dict[str, float]:
    """Mean over the seeds of each domain."""
    found: dict[str, list[float]] = defaultdict(list)
    for cell in cells:
        found[cell.domain].append(cell.figures[figure])
    return {domain: float(np.mean(values)) for domain, values in found.items()}


def summary(cells: Sequence[Cell]) -> list[Row]:
    """Mean over domains of each method on one task, with the standard error of the first figure."""
    rows = []
    for key, group in _grouped(cells).items():
        means = {name: list(by_domain(group, name).values()) for name in group[0].figures}
        first = next(iter(means.values()))
        row = {
            "task": group[0].task,
            **key._asdict(),
            "domains": len(first),
            **{name: float(np.mean(values)) for name, values in means.items()},
            "stderr": float(np.std(first, ddof=1) / np.sqrt(len(first))) if len(first) > 1 else 0.0,
            "seconds": float(np.mean([cell.seconds for cell in group])),
        }
        if group[0].confidence:
            sure = np.concatenate([cell.confidence for cell in group])
            right = np.concatenate([cell.right for cell in group])
            row["ece"] = calibration_error(sure, right)
            row["ece_by_chance"] = chance_error(bins_of(sure, right))
        rows.append(row)
    return rows


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


def comparisons(cells: Sequence[Cell]) -> list[Row]:
    """Differences in top-1 of chosen pairs: on each corpus, and over all domains together.

    Seeds of a domain are averaged; p is that of a one-sided paired t-test over domains. What
    depends on the batch size is compared at each. The row of all domains of all corpora has no
    ``corpus``.
    """
    accuracy = {key: by_domain(group, "top1") for key, group in _grouped(cells).items()}
    rows = []
    for method, against in PAIRS:
        of_pair = {key.batch for key in accuracy if key.method in (method, against)}
        for batch in sorted(of_pair - {None}, key=lambda one: one or 0) or [None]:
            apart: dict[str | None, list[float]] = {}
            for corpus in dict.fromkeys(key.corpus for key in accuracy):
                first, second = (_at(accuracy, corpus, one, batch) for one in (method, against))
                found = [first[domain] - second[domain] for domain in first if domain in second]
                if found:
                    apart[corpus] = found
            if len(apart) > 1:
                apart[None] = [gap for found in apart.values() for gap in found]
            rows += [
                {
                    "method": method,
                    "against": against,
                    "batch": batch,
                    "corpus": corpus,
                    "domains": len(found),
                    "difference": float(np.mean(found)),
                    "p": one_sided_p(np.array(found)),
                }
                for corpus, found in apart.items()
            ]
    return rows


def _at(
    accuracy: Mapping[Key, Mapping[str, float]], corpus: str, method: str, batch: int | None
) -> Mapping[str, float]:
    """Of a method at a batch size, or of one that does not depend on it."""
    return accuracy.get(Key(corpus, method, batch)) or accuracy.get(Key(corpus, method, None), {})


# Tables


def markdown(result: Mapping[str, Any]) -> str:
    """The tables of a report, in Markdown that is also to be read as it is."""
    corpora = result["protocol"]["corpora"]
    parts = []
    for corpus in corpora:
        rows = [row for row in result["summary"] if row["corpus"] == corpus]
        domains = max(row["domains"] for row in rows)
        parts += [f"### {corpus} ({domains} domain{'' if domains == 1 else 's'})", _figures(rows)]
        for row in rows:
            if (row["task"], row["method"]) == ("one", DEFAULT):
                chance = row["ece_by_chance"]
                parts.append(f"By chance alone, the ECE of {DEFAULT} would be {chance:.3f}.")
    if len(corpora) > 1:
        parts += ["### Mean over corpora", _figures(_means(result["summary"], corpora))]
    if result["comparisons"]:
        parts += [
            "### Differences in top-1, in percentage points",
            "One-sided paired t-tests over domains, not corrected.",
            _compared(result["comparisons"]),
        ]
    return "\n\n".join(parts)


def _figures(rows: Sequence[Row]) -> str:
    """Methods and batch sizes by figures; no standard error where there is but one domain."""
    tasks = [task for task in TASKS if any(row["task"] == task for row in rows)]
    columns = [(task, name) for task in tasks for name in COLUMNS[task]]
    of = {(row["task"], row["method"], row["batch"]): row for row in rows}
    keys = sorted(
        dict.fromkeys((row["method"], row["batch"]) for row in rows),
        key=lambda key: (METHODS.index(key[0]), key[1] or 0),
    )
    lines = []
    for method, batch in keys:
        line = [method, "" if batch is None else str(batch)]
        for task, name in columns:
            row = of.get((task, method, batch), {})
            error = row.get("stderr") if (task, name) == ("one", "top1") else None
            line.append(_shown(name, row[name], error) if name in row else "")
        row = of.get(("one", method, batch), {})
        lines.append([*line, f"{row['seconds']:.3f}" if "seconds" in row else ""])
    heads = ["Method", "r", *(COLUMNS[task][name] for task, name in columns), "seconds"]
    return table(heads, lines, texts=1)


def _shown(name: str, value: float, error: float | None) -> str:
    if name in DECIMALS:
        return f"{value:.3f}"
    return f"{100 * value:.1f}" + (f" ± {100 * error:.1f}" if error else "")


def _means(rows: Sequence[Row], corpora: Sequence[str]) -> list[Row]:
    """Means of the figures of what was measured on every corpus."""
    groups: dict[tuple[str, str, int | None], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["task"], row["method"], row["batch"]].append(row)
    return [
        {"task": task, "method": method, "batch": batch}
        | {name: float(np.mean([row[name] for row in group])) for name in COLUMNS[task]}
        for (task, method, batch), group in groups.items()
        if len(group) == len(corpora)
    ]


def _compared(rows: Sequence[Row]) -> str:
    lines = [
        [
            f"{row['method']} above {row['against']}",
            "" if row["batch"] is None else str(row["batch"]),
            "all" if row["corpus"] is None else row["corpus"],
            str(row["domains"]),
            f"{100 * row['difference']:+.1f}",
            "" if row["p"] is None else "<0.0001" if row["p"] < 0.0001 else f"{row['p']:.4f}",
        ]
        for row in rows
    ]
    return table(["Comparison", "r", "Corpus", "Domains", "Difference", "p"], lines, texts=3)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> str:
    """A table in Markdown, its columns as wide as they need be; the first ``texts`` are no numbers.

    Examples
    --------
    >>> print(table(["method", "right"], [["default", "9.5"]], texts=1))
    | method  | right |
    | ------- | ----: |
    | default |   9.5 |
    """
    lines = [[printable(one).replace("|", "\\|") for one in row] for row in (heads, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * width if k < texts else "-" * (width - 1) + ":" for k, width in enumerate(widths)]
    left = [k < texts for k in range(len(widths))]
    return "\n".join(
        "| "
        + " | ".join(
            one.ljust(width) if at_left else one.rjust(width)
            for one, width, at_left in zip(row, widths, left, strict=True)
        )
        + " |"
        for row in (lines[0], rule, *lines[1:])
    )
