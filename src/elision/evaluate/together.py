"""Tables over all corpora of a benchmark, for the page, for Markdown and for the terminal alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.evaluate import methods
from elision.evaluate.cloze import TASKS
from elision.evaluate.tables import markdown_table, percent, plain_text, points, probability
from elision.pipeline.learning import DEFAULT
from elision.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.table import Table

    from elision.evaluate.tables import Result, Row


class Shown(NamedTuple):
    """A table as texts; the columns that are not ``texts`` are numbers."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    texts: set[int]
    note: str


def tables_together(result: Result) -> list[Shown]:
    """All tables over all corpora that the result has figures for."""
    found = [
        _by_corpus(result, "Top-1", "top1", percent, "Accuracy in percent, mean over domains."),
        _comparisons(result),
        _calibration(result),
        _by_corpus(
            result, "Log-loss", "log_loss", "{:.3f}".format, "Mean over domains; less is better."
        ),
        _other_tasks(result),
        _task_by_corpus(result, "hidden", "Hidden events: average precision", "average_precision"),
        _task_by_corpus(result, "hidden", "Hidden events: best F1", "f1"),
        _task_by_corpus(result, "next", "Next event: accuracy", "top1"),
        _task_by_corpus(result, "next", "Next event: log-loss", "log_loss"),
    ]
    return [one for one in found if one.rows]


def _by_corpus(
    result: Result, title: str, measure: str, write: Callable[[float], str], note: str
) -> Shown:
    """Methods by corpora, and the mean over corpora."""
    corpora = result["protocol"]["corpora"]
    rows = _matrix(result["summary"], corpora, measure, write)
    return Shown(title, _heads(["Method", "r"], corpora), rows, {0}, note)


def _calibration(result: Result) -> Shown:
    """The calibration error, and what chance alone would make of it for the default."""
    corpora = result["protocol"]["corpora"]
    ours: dict[str, list[Row]] = {}
    for row in result.get("reliability", []) if result["summary"] else []:
        if row["method"] == DEFAULT:
            ours.setdefault(row["corpus"], []).append(row)
    by_chance = [
        {"corpus": corpus, "method": f"{DEFAULT}, by chance", "batch": None, "ece": error}
        for corpus, error in ((corpus, chance_error(bins)) for corpus, bins in ours.items())
    ]
    note = (
        "Over all domains and seeds of a corpus; the less the better. So few narratives have an"
        " error by chance alone, which is given for the confidence of the default."
    )
    rows = _matrix([*result["summary"], *by_chance], corpora, "ece", "{:.3f}".format)
    heads = _heads(["Method", "r"], corpora)
    return Shown("Expected calibration error", heads, rows, {0}, note)


def chance_error(bins: Sequence[Row]) -> float:
    """The calibration error that is to be expected of answers that are right as often as they say.

    It is not 0 but for infinitely many answers: in each bin the share of right ones differs from
    the mean confidence by chance, about normally.

    Parameters
    ----------
    bins
        How many narratives fall into each, and the mean confidence there.

    Examples
    --------
    >>> bins = [{"narratives": 100, "confidence": 0.85}, {"narratives": 50, "confidence": 0.25}]
    >>> round(chance_error(bins), 4)
    0.0353
    >>> rng = np.random.default_rng(0)
    >>> rates = [rng.binomial([100, 50], [0.85, 0.25]) / [100, 50] for _ in range(2000)]
    >>> drawn = np.abs(np.array(rates) - [0.85, 0.25]) @ [2 / 3, 1 / 3]
    >>> round(float(drawn.mean()), 3)
    0.035
    """
    number = np.array([row["narratives"] for row in bins], float)
    sure = np.array([row["confidence"] for row in bins])
    return float(np.sqrt(2 / np.pi * number * sure * (1 - sure)).sum() / max(number.sum(), 1))


NOTES = {
    "average_precision": "In percent: {}; places and events of all narratives of a domain ranked"
    " together, ties against what is hidden, mean over domains.",
    "f1": "In percent, at the best threshold of each domain, mean over domains.",
    "top1": "In percent: {}; ties against it, mean over domains.",
    "log_loss": "Mean over domains; less is better.",
}
"""What is said of a measure of a task."""


def _task_by_corpus(result: Result, task: str, title: str, measure: str) -> Shown:
    """Methods by corpora in one task that is no gap."""
    corpora = result["protocol"]["corpora"]
    write = "{:.3f}".format if measure == "log_loss" else percent
    here = [row for row in result.get("other_tasks", []) if row["task"] == task]
    rows = _matrix(here, corpora, measure, write)
    note = NOTES[measure].format(TASKS[task])
    return Shown(title, _heads(["Method", "r"], corpora), rows, {0}, note)


GAP_TASKS = ("two", "three", "anywhere")
"""Tasks that are judged as the paper's is."""


def _other_tasks(result: Result) -> Shown:
    corpora = result["protocol"]["corpora"]
    rows = []
    for task in GAP_TASKS:
        here = [row for row in result.get("other_tasks", []) if row["task"] == task]
        rows += [[task, *row] for row in _matrix(here, corpora, "top1", percent)]
    asked = dict.fromkeys(row[0] for row in rows)
    meaning = "; ".join(f"{task}: {TASKS[task]}" for task in asked)
    note = f"Top-1 in percent, removed event by removed event, mean over domains. {meaning}."
    return Shown("Other tasks", _heads(["Task", "Method", "r"], corpora), rows, {0, 1}, note)


def _heads(first: list[str], corpora: Sequence[str]) -> list[str]:
    return [*first, *corpora, *(["mean"] if len(corpora) > 1 else [])]


def _matrix(
    rows: Sequence[Row], corpora: Sequence[str], measure: str, write: Callable[[float], str]
) -> list[list[str]]:
    """A line for each method and batch size; the mean where it was measured on every corpus."""
    found: dict[tuple[str, int | None], dict[str, float]] = {}
    for row in rows:
        found.setdefault((row["method"], row["batch"]), {})[row["corpus"]] = row[measure]
    lines = []
    for method, batch in sorted(found, key=lambda key: (_place(key[0]), key[1] or 0)):
        by = found[method, batch]
        line = [write(by[corpus]) if corpus in by else "" for corpus in corpora]
        if len(corpora) > 1:
            whole = len(by) == len(corpora)
            line.append(write(float(np.mean(list(by.values())))) if whole else "")
        lines.append([method, "" if batch is None else str(batch), *line])
    return lines


def _place(method: str) -> int:
    return methods.ALL.index(method) if method in methods.ALL else len(methods.ALL)


def _comparisons(result: Result) -> Shown:
    rows = [
        [
            f"{row['method']} above {row['against']}"
            + ("" if row["batch"] is None else f" (r = {row['batch']})"),
            "all domains together" if row["corpus"] is None else row["corpus"],
            str(row["domains"]),
            points(row["difference"]),
            probability(row["p"]),
        ]
        for row in result.get("comparisons", [])
    ]
    note = (
        "Differences in top-1 in percentage points, seeds of a domain averaged; one-sided paired"
        " t-tests over domains of pairs chosen beforehand, not corrected."
    )
    heads = ["Comparison", "Corpus", "Domains", "Difference", "p"]
    return Shown("Comparisons", heads, rows, {0, 1}, note)


def markdown_together(result: Result) -> str:
    """The same tables in Markdown."""
    parts = []
    for shown in tables_together(result):
        heads, *rows = [[plain_text(entry) for entry in row] for row in (shown.heads, *shown.rows)]
        parts += [f"### {shown.title}", shown.note, markdown_table(heads, rows, shown.texts)]
    return "\n\n".join(parts) + "\n"


def terminal_tables(result: Result) -> list[Table]:
    """The same tables for the terminal."""
    from rich.table import Table  # noqa: PLC0415 - slow to import
    from rich.text import Text  # noqa: PLC0415

    found = []
    for shown in tables_together(result):
        table = Table(box=None, header_style="bold", pad_edge=False, title_justify="left")
        table.title = Text(shown.title, no_wrap=True, overflow="ignore")
        for place, head in enumerate(shown.heads):
            text = place in shown.texts
            table.add_column(
                Text(printable(head)), justify="left" if text else "right", no_wrap=not text
            )
        for row in shown.rows:
            table.add_row(*(Text(printable(entry)) for entry in row))
        found.append(table)
    return found
