"""The rows of the tables that a benchmark's result is shown in, as text and as Markdown."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, NamedTuple

import numpy as np

from elision.evaluate import methods

Result = dict[str, Any]
"""What :func:`elision.evaluate.report.report` returns, fresh or read back from JSON."""

Row = dict[str, Any]
"""One row of one of its lists."""

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


# Rows of a result


def rows_of(result: Result, what: str, corpus: str) -> list[Row]:
    """Rows about a corpus, of the paper's task where cells of several were measured."""
    return [
        row
        for row in result.get(what, [])
        if row["corpus"] == corpus and row.get("task", "one") == "one"
    ]


def sorted_rows(result: Result, what: str, corpus: str) -> list[Row]:
    """Rows about a corpus by method and batch size; otherwise as they came."""
    order = {method: place for place, method in enumerate(method_order(result, corpus))}
    return sorted(
        rows_of(result, what, corpus),
        key=lambda row: (order.get(row["method"], len(order)), row["batch"] or 0),
    )


def method_order(result: Result, corpus: str) -> list[str]:
    """Methods measured on a corpus, in the order of the tables."""
    found = dict.fromkeys(row["method"] for row in result["summary"] if row["corpus"] == corpus)
    return [
        *(name for name in methods.ALL if name in found),
        *(name for name in found if name not in methods.ALL),
    ]


def batch_sizes(result: Result, corpus: str) -> list[int]:
    """Batch sizes measured on a corpus, smallest first."""
    here = (row["batch"] for row in result["summary"] if row["corpus"] == corpus)
    return sorted({batch for batch in here if batch is not None})


def accuracy_columns(result: Result, corpus: str) -> dict[int | None, str]:
    """Batch sizes of a corpus with their heads, first None for what does not depend on them."""
    batches = batch_sizes(result, corpus)
    rows = [row for row in result["summary"] if row["corpus"] == corpus]
    heads: dict[int | None, str] = {}
    if any(row["batch"] is None for row in rows):
        heads[None] = "any r" if batches else "top-1"
    return heads | {batch: f"r = {batch}" for batch in batches}


def domain_accuracy(result: Result, corpus: str) -> dict[str, dict[tuple[str, int | None], float]]:
    """Accuracy of each method at each batch size, by domain, mean over seeds."""
    found: dict[str, dict[tuple[str, int | None], list[float]]] = {}
    for cell in rows_of(result, "cells", corpus):
        key = (cell["method"], cell["batch"])
        found.setdefault(cell["domain"], {}).setdefault(key, []).append(cell["top1"])
    return {
        domain: {key: float(np.mean(values)) for key, values in by.items()}
        for domain, by in found.items()
    }


# Rows of tables


def table_rows(result: Result, corpus: str) -> list[Row]:
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


def claim_rows(result: Result, corpus: str) -> list[Row]:
    """What the tests say of the paper's claims, in the claimed direction.

    Where the worse method came out ahead, the difference is negative and p is that of the claim:
    one minus the other direction's. Methods that are equal have no p. Claims about methods that
    were not both measured, or that differ on too few domains for a test, are left out.
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
            elif abs(pair[0]["top1"] - pair[1]["top1"]) < 1e-12:
                row |= {"difference": 0.0, "p": None, "p_corrected": None}
            else:
                continue
            rows.append({**row, "verdict": _verdict(row)})
    return rows


def _at(summary: dict[Any, Row], method: str, batch: int | None) -> Any:
    """Row of a method at a batch size, or of one that does not depend on it."""
    return summary.get((method, batch)) or summary.get((method, None))


def _verdict(row: Row) -> str:
    if row["p"] is None:
        return "equal"
    if row["difference"] < 0:
        return "the other way round"
    if row["p_corrected"] < LEVEL:
        return f"p < {LEVEL:g}, corrected"
    return f"p < {LEVEL:g}, uncorrected only" if row["p"] < LEVEL else "not significant"


# Texts


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


def percent_or_dash(value: float | None) -> str:
    """The same, with a dash for a figure of nothing.

    Examples
    --------
    >>> percent_or_dash(0.125), percent_or_dash(None)
    ('12.5', '–')
    """
    return "–" if value is None else percent(value)


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


# Markdown


def markdown_tables(result: Result) -> str:
    """Tables like the paper's Table 1, and the tests of its claims, as Markdown."""
    parts = []
    for corpus in result["protocol"]["corpora"]:
        rows = table_rows(result, corpus)
        if not rows:
            continue
        number = max(row["domains"] for row in rows)
        parts.append(f"### {plain_text(corpus)} ({number} domain{'' if number == 1 else 's'})")
        parts.append(_markdown_accuracy(result, corpus, rows))
        claims = claim_rows(result, corpus)
        if claims:
            parts.append(_markdown_claims(claims))
    return "\n\n".join(parts) + "\n"


def _markdown_accuracy(result: Result, corpus: str, rows: list[Row]) -> str:
    columns = accuracy_columns(result, corpus)
    lines = []
    for row in rows:
        found = {
            batch: percent(top1, error if row["domains"] > 1 else None)
            for batch, (top1, error) in row["by_batch"].items()
        }
        accuracy = [found.get(batch, "") for batch in columns]
        numbers = (percent(row["top3"]), f"{row['log_loss']:.3f}", f"{row['ece']:.3f}")
        lines.append([plain_text(row["method"]), *accuracy, *numbers, duration(row["seconds"])])
    heads = ["Method", *columns.values(), "top-3", "log-loss", "ECE", "seconds"]
    return markdown_table(heads, lines, {0})


def _markdown_claims(claims: list[Row]) -> str:
    return markdown_table(
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


def markdown_table(heads: list[str], rows: list[list[str]], texts: set[int]) -> str:
    """A table in Markdown; the columns that are not text are numbers."""
    rule = ["---" if place in texts else "---:" for place in range(len(heads))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))


def plain_text(text: str) -> str:
    """A name that Markdown takes as nothing but text."""
    text = " ".join(one_line(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\|`*\[\]])", r"\\\1", text)
