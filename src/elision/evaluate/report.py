"""What the cells of a benchmark say: means, standard errors, tests, calibration."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.evaluate import methods
from elision.evaluate.cloze import LEAST_PROBABILITY, calibration_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.evaluate.bench import Cell, Plan

BANDS = ((0, 1), (2, 5), (6, 20), (21, None))
"""How often the removed event is told in training, for accuracy by frequency."""

LENGTHS = ((2, 3), (4, 6), (7, 10), (11, None))
"""Events of a narrative, for accuracy by length."""

BINS = 10
"""Equal bins of the reliability diagram, those of the calibration error."""

LEVEL = 0.01
"""Level of significance in the paper."""


class Claim(NamedTuple):
    """A method that the paper says is better than another."""

    better: str
    worse: str
    tested: bool
    """By a t-test in the paper, not by the order of its Table 1 alone."""


PAPER_CLAIMS = (
    Claim("SEMHMM", "BMMEM", tested=True),
    Claim("SEMHMM", "BMM", tested=True),
    Claim("SEMHMM", "Conditional", tested=True),
    Claim("SEMHMM", "Frequency", tested=True),
    Claim("BMMEM", "BMM", tested=False),
    Claim("BMM", "Conditional", tested=False),
    Claim("Conditional", "Frequency", tested=False),
)
"""What the paper claims; it tests SEM-HMM against each baseline, significant at r = 5 and 10."""


class Key(NamedTuple):
    """A row of the tables: a method at a batch size on a corpus."""

    corpus: str
    method: str
    batch: int | None


def report(cells: Sequence[Cell], plan: Plan, costs: dict[str, Any]) -> dict[str, Any]:
    """All results as one JSON object."""
    whole = [cell for cell in cells if not cell.of_curve]
    return {
        "protocol": {
            "task": "one event removed from each test narrative, its place known",
            "corpora": [Path(path).stem for path in plan.corpora],
            "methods": list(plan.methods),
            "batches": list(plan.batches),
            "seeds": plan.seeds,
            "min_narratives": plan.min_narratives,
            "max_train": plan.max_train,
            "test_share": 0.4,
            "ties": "against the removed event",
            "costs": {Path(path).stem: chosen for path, chosen in costs.items()},
        },
        "cells": [_cell_row(cell) for cell in whole],
        "summary": summary(whole),
        "tests": tests(whole),
        "by_frequency": by_band(whole, "times_told", BANDS),
        "by_length": by_band(whole, "length", LENGTHS),
        "reliability": reliability(whole),
        "curve": curve(cells),
    }


def _cell_row(cell: Cell) -> dict[str, Any]:
    rank = np.array(cell.rank)
    return {
        "corpus": cell.corpus,
        "domain": cell.domain,
        "method": cell.method,
        "batch": cell.batch,
        "seed": cell.seed,
        "n_train": cell.n_train,
        "n_test": cell.n_test,
        "top1": float((rank == 1).mean()),
        "top3": float((rank <= 3).mean()),
        "log_loss": _log_loss(cell),
        "seconds": cell.seconds,
    }


def _log_loss(cell: Cell) -> float:
    return float(-np.log(np.maximum(cell.probability, LEAST_PROBABILITY)).mean())


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


def _top1(cell: Cell) -> float:
    return float((np.array(cell.rank) == 1).mean())


def summary(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Mean over domains of each method, with the standard error over domains."""
    rows = []
    for key, group in _grouped(cells).items():
        top1 = list(_by_domain(group, _top1).values())
        top3 = _by_domain(group, lambda cell: float((np.array(cell.rank) <= 3).mean()))
        loss = _by_domain(group, _log_loss)
        confidence = np.concatenate([cell.confidence for cell in group])
        right = np.concatenate([np.array(cell.rank) == 1 for cell in group])
        spread = float(np.std(top1, ddof=1) / np.sqrt(len(top1))) if len(top1) > 1 else 0.0
        rows.append(
            {
                "corpus": key.corpus,
                "method": key.method,
                "batch": key.batch,
                "domains": len(top1),
                "top1": float(np.mean(top1)),
                "stderr": spread,
                "top3": float(np.mean(list(top3.values()))),
                "log_loss": float(np.mean(list(loss.values()))),
                "ece": calibration_error(confidence, right),
                "seconds": float(np.mean([cell.seconds for cell in group])),
            }
        )
    return rows


def tests(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One-sided paired t-tests over domains for every pair, better method first.

    At each batch size the learners are compared with one another and with what has no batches.
    ``p_corrected`` is Holm's, over all tests of a corpus.
    """
    accuracy = {key: _by_domain(group, _top1) for key, group in _grouped(cells).items()}
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
    first: dict[str, float],
    second: dict[str, float],
    batches: set[int | None],
) -> dict[str, Any] | None:
    from scipy.stats import ttest_rel  # noqa: PLC0415 - slow to import

    domains = [domain for domain in first if domain in second]
    gap = np.array([first[domain] - second[domain] for domain in domains])
    if len(domains) < 2 or gap.mean() <= 0:
        return None
    constant = np.ptp(gap) < 1e-12  # the t statistic of equal differences is infinite
    p = 0.0 if constant else float(ttest_rel(gap, np.zeros(len(gap)), alternative="greater").pvalue)
    return {
        "corpus": better.corpus,
        "better": better.method,
        "worse": worse.method,
        "batch": next(iter(batches), None),
        "domains": len(domains),
        "difference": float(gap.mean()),
        "p": p,
    }


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


def method_order(result: dict[str, Any], corpus: str) -> list[str]:
    """Methods measured on a corpus, in the order of the tables."""
    found = dict.fromkeys(row["method"] for row in result["summary"] if row["corpus"] == corpus)
    return [
        *(name for name in methods.ALL if name in found),
        *(name for name in found if name not in methods.ALL),
    ]


def batch_sizes(result: dict[str, Any], corpus: str) -> list[int]:
    """Batch sizes measured on a corpus, smallest first."""
    here = (row["batch"] for row in result["summary"] if row["corpus"] == corpus)
    return sorted({batch for batch in here if batch is not None})


def table_rows(result: dict[str, Any], corpus: str) -> list[dict[str, Any]]:
    """Rows of the paper's Table 1: a method, its accuracy at each batch size, standard errors.

    What does not depend on the batch size stands under ``None``; what follows the accuracy is the
    mean over batch sizes.
    """
    rows = []
    for method in method_order(result, corpus):
        found = [
            row for row in result["summary"] if row["corpus"] == corpus and row["method"] == method
        ]
        rows.append(
            {
                "method": method,
                "domains": max(row["domains"] for row in found),
                "by_batch": {row["batch"]: (row["top1"], row["stderr"]) for row in found},
                **{
                    name: float(np.mean([row[name] for row in found]))
                    for name in ("top3", "log_loss", "ece", "seconds")
                },
            }
        )
    return rows


def claim_rows(result: dict[str, Any], corpus: str) -> list[dict[str, Any]]:
    """What the tests say of the paper's claims, in the claimed direction, where it was measured.

    Where the worse method came out ahead, the difference is negative and p is that of the claim:
    one minus the other direction's. Where there is no test, p is ``None``.
    """
    tests = {
        (row["better"], row["worse"], row["batch"]): row
        for row in result["tests"]
        if row["corpus"] == corpus
    }
    summary = {
        (row["method"], row["batch"]): row for row in result["summary"] if row["corpus"] == corpus
    }
    rows = []
    for claim in PAPER_CLAIMS:
        for batch in (None, *batch_sizes(result, corpus)):
            pair = [_at(summary, method, batch) for method in (claim.better, claim.worse)]
            if None in pair or {row["batch"] for row in pair if row} - {None} != {batch} - {None}:
                continue
            row = {
                **claim._asdict(),
                "batch": batch,
                "domains": min(one["domains"] for one in pair),
            }
            straight = tests.get((claim.better, claim.worse, batch))
            turned = tests.get((claim.worse, claim.better, batch))
            if straight is not None:
                row |= {name: straight[name] for name in ("difference", "p", "p_corrected")}
            elif turned is not None:
                row |= {"difference": -turned["difference"], "p": 1 - turned["p"]}
                row["p_corrected"] = 1.0
            else:
                row |= {"difference": pair[0]["top1"] - pair[1]["top1"]}
                row |= {"p": None, "p_corrected": None}
            rows.append({**row, "verdict": _verdict(row)})
    return rows


def _at(summary: dict[Any, dict[str, Any]], method: str, batch: int | None) -> Any:
    """Row of a method at a batch size, or of one that does not depend on it."""
    return summary.get((method, batch)) or summary.get((method, None))


def _verdict(row: dict[str, Any]) -> str:
    if row["p"] is None:
        return "no test" if row["difference"] else "equal"
    if row["difference"] < 0:
        return "the other way round"
    if row["p_corrected"] < LEVEL:
        return f"p < {LEVEL:g}, corrected"
    return f"p < {LEVEL:g}, uncorrected only" if row["p"] < LEVEL else "not significant"


def one_line(text: str) -> str:
    r"""A text on one line, without what no page or file may hold.

    Examples
    --------
    >>> one_line("boil\n the \x00 water")
    'boil  the � water'
    """
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(letter) in ("Cc", "Cs") else letter
        for letter in re.sub(r"[\t\n\r]+", " ", text)
    )


def percent(value: float, error: float | None = None) -> str:
    """A share as a percentage, with its standard error.

    Examples
    --------
    >>> percent(0.4219), percent(0.4219, 0.013)
    ('42.2', '42.2 ± 1.3')
    """
    return f"{100 * value:.1f}" + ("" if error is None else f" ± {100 * error:.1f}")


def points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−")  # a minus as wide as the plus


def probability(p: float | None) -> str:
    """A p-value.

    Examples
    --------
    >>> probability(0.01234), probability(1e-9), probability(None)
    ('0.0123', '<0.0001', '–')
    """
    if p is None:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def duration(seconds: float) -> str:
    """Seconds, to the millisecond if they are few."""
    if seconds < 0.001:
        return "<0.001"
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"


def markdown_tables(result: dict[str, Any]) -> str:
    """Tables like the paper's Table 1, and the tests of its claims, as Markdown."""
    parts = []
    for corpus in result["protocol"]["corpora"]:
        rows = table_rows(result, corpus)
        if not rows:
            continue
        number = max(row["domains"] for row in rows)
        parts.append(f"### {_plain(corpus)} ({number} domain{'' if number == 1 else 's'})")
        parts.append(_markdown_accuracy(result, corpus, rows))
        claims = claim_rows(result, corpus)
        if claims:
            parts.append(_markdown_claims(claims))
    return "\n\n".join(parts) + "\n"


def _markdown_accuracy(result: dict[str, Any], corpus: str, rows: list[dict[str, Any]]) -> str:
    batches = batch_sizes(result, corpus)
    heads = [f"r = {batch}" for batch in batches] or ["top-1"]
    lines = []
    for row in rows:
        found = {
            batch: percent(top1, error if row["domains"] > 1 else None)
            for batch, (top1, error) in row["by_batch"].items()
        }
        accuracy = [found.get(batch, "") for batch in batches] or [""]
        accuracy[0] = found.get(None, accuracy[0])
        numbers = (percent(row["top3"]), f"{row['log_loss']:.3f}", f"{row['ece']:.3f}")
        lines.append([_plain(row["method"]), *accuracy, *numbers, duration(row["seconds"])])
    return _markdown(["Method", *heads, "top-3", "log-loss", "ECE", "seconds"], lines, {0})


def _markdown_claims(claims: list[dict[str, Any]]) -> str:
    return _markdown(
        ["Claim", "In the paper", "r", "Domains", "Difference", "p", "p (Holm)", "Here"],
        [
            [
                f"{row['better']} above {row['worse']}",
                "tested" if row["tested"] else "order only",
                "" if row["batch"] is None else str(row["batch"]),
                str(row["domains"]),
                points(row["difference"]),
                probability(row["p"]),
                probability(row["p_corrected"]),
                row["verdict"],
            ]
            for row in claims
        ],
        {0, 1, 7},
    )


def _markdown(heads: list[str], rows: list[list[str]], texts: set[int]) -> str:
    """A table; the columns that are not text are numbers."""
    rule = ["---" if place in texts else "---:" for place in range(len(heads))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))


def _plain(text: str) -> str:
    """A name that Markdown takes as nothing but text."""
    text = " ".join(one_line(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\|`*\[\]])", r"\\\1", text)
