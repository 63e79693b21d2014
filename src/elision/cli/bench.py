"""``bench``: how well methods fill gaps, measured."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from elision import evaluate
from elision.cli.app import (
    Dask,
    EncoderFolder,
    app,
    check_not_source,
    check_place,
    on_cluster,
    reply,
)
from elision.terminal import Number, cell, err, make_table, out


@app.command()
def bench(
    corpora: Annotated[list[str], typer.Argument(help="Files of narratives.")],
    methods: Annotated[
        list[str] | None, typer.Option(help="Method to measure; all by default.")
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="What is asked: one (always), two, three, anywhere, hidden or next."),
    ] = None,
    batch: Annotated[list[int] | None, typer.Option(help="Batch size r.", min=1)] = None,
    seeds: Annotated[int, typer.Option(help="Number of splits.", min=1, max=1000)] = 3,
    min_narratives: Annotated[int, typer.Option(help="Least size of a domain.", min=5)] = 50,
    max_train: Annotated[int | None, typer.Option(help="Most training narratives.", min=2)] = None,
    encoder: EncoderFolder = None,
    jobs: Annotated[int, typer.Option(help="Worker processes.", min=1, max=1024)] = (
        os.cpu_count() or 1
    ),
    dask: Dask = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all results as JSON, and no tables.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="JSON file of all results; resumes if interrupted."),
    ] = None,
    html_file: Annotated[Path | None, typer.Option("--html", help="Write a report.")] = None,
) -> None:
    """Run the paper's evaluation: remove one event of each test narrative, and predict it.

    Other tasks on the same splits: two or three events are removed; or one `anywhere`, its place
    not told; or events are `hidden` by chance, neither how many nor where; or what comes `next` is
    asked after every beginning. Methods that have no answer to a task are not measured in it.

    Example: `elision bench stories.jsonl --batch 5 --task hidden --task next -o results.json`
    """
    check_place(output, html_file)
    for corpus in corpora:
        check_not_source(output, corpus, "the narratives are")
        check_not_source(html_file, corpus, "the narratives are")
    with on_cluster(dask):
        result = evaluate.command.run_benchmark(
            corpora,
            methods=methods or [],
            batches=batch or [2, 5, 10],
            seeds=seeds,
            min_narratives=min_narratives,
            max_train=max_train,
            jobs=jobs,
            output=output,
            html_file=html_file,
            console=err,
            tasks=task or [],
            encoder=encoder,
        )
    reply(result, _show, as_json=as_json)


def _show(result: dict[str, Any]) -> None:
    """Print a table like the paper's for each corpus, then those over all of them."""
    corpora = result["protocol"]["corpora"]
    for corpus in corpora:
        _show_corpus(result, corpus)
    # Of a single corpus the table above says it all, but for comparisons and other tasks.
    for table in evaluate.together.terminal_tables(
        result if len(corpora) > 1 else {**result, "summary": []}
    ):
        out.print(table)
        out.print()


def _show_corpus(result: dict[str, Any], corpus: str) -> None:
    rows = evaluate.tables.table_rows(result, corpus)
    if not rows:
        return
    columns = evaluate.tables.accuracy_columns(result, corpus)
    numbers = [*columns.values(), "top-3", "log-loss", "ECE", "seconds"]
    table = make_table(corpus, *map(Number, numbers))
    for row in rows:
        found = [row["by_batch"].get(batch) for batch in columns]
        cells = ["" if one is None else f"{one[0]:.1%} ±{one[1]:.1%}" for one in found]
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
