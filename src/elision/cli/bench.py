"""``bench``: how well methods fill gaps, measured."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from elision.cli.app import app
from elision.terminal import Number, cell, err, make_table, out


@app.command()
def bench(
    corpora: Annotated[list[str], typer.Argument(help="Files of narratives.")],
    methods: Annotated[
        list[str] | None, typer.Option(help="Method to measure; all by default.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="What is removed: one (always), two or three events, or one anywhere."),
    ] = None,
    batch: Annotated[list[int] | None, typer.Option(help="Batch size r.", min=1)] = None,
    seeds: Annotated[int, typer.Option(help="Number of splits.", min=1)] = 3,
    min_narratives: Annotated[int, typer.Option(help="Least size of a domain.", min=5)] = 50,
    max_train: Annotated[int | None, typer.Option(help="Most training narratives.", min=2)] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes.", min=1)] = os.cpu_count() or 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all results.")] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a report.")] = None,
) -> None:
    """Run the paper's evaluation: remove one event of each test narrative, and predict it.

    Example: `elision bench stories.jsonl --batch 5 --seeds 3 --task anywhere --json results.json`
    """
    from elision.evaluate.command import run_benchmark  # noqa: PLC0415

    result = run_benchmark(
        corpora,
        methods=methods or [],
        batches=batch or [2, 5, 10],
        seeds=seeds,
        min_narratives=min_narratives,
        max_train=max_train,
        jobs=jobs,
        json_file=json_file,
        html_file=html_file,
        console=err,
        tasks=task or [],
    )
    _show(result)


def _show(result: dict[str, Any]) -> None:
    """Print a table like the paper's for each corpus, then those over all of them."""
    from elision.evaluate.together import terminal_tables  # noqa: PLC0415

    corpora = result["protocol"]["corpora"]
    for corpus in corpora:
        _show_corpus(result, corpus)
    # Of a single corpus the table above says it all, but for comparisons and other tasks.
    for table in terminal_tables(result if len(corpora) > 1 else {**result, "summary": []}):
        out.print(table)
        out.print()


def _show_corpus(result: dict[str, Any], corpus: str) -> None:
    from elision.evaluate.tables import table_rows  # noqa: PLC0415

    batches = result["protocol"]["batches"]
    numbers = [*(f"r = {batch}" for batch in batches), "top-3", "log-loss", "ECE", "seconds"]
    table = make_table(corpus, *map(Number, numbers))
    for row in table_rows(result, corpus):
        by_batch = row["by_batch"]
        found = [by_batch.get(batch, by_batch.get(None)) for batch in batches]
        cells = ["-" if one is None else f"{one[0]:.1%} ±{one[1]:.1%}" for one in found]
        if None in by_batch:
            cells = [cells[0], *["" for _ in cells[1:]]]
        table.add_row(
            cell(row["method"]),
            *cells,
            f"{row['top3']:.1%}",
            f"{row['log_loss']:.2f}",
            f"{row['ece']:.3f}",
            f"{row['seconds']:.2f}",
        )
    out.print(table)
    out.print()
