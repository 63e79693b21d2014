"""``bench``: how well methods fill gaps, measured."""

from __future__ import annotations

import json
import os
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from elision import bench as benchmark
from elision._files import write_atomically
from elision.cli.app import AsJson, Dask, app, check_not_source, check_place
from elision.terminal import err, out, print_json


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
    jobs: Annotated[int, typer.Option(help="Worker processes.", min=1, max=1024)] = (
        os.cpu_count() or 1
    ),
    dask: Dask = None,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="JSON file of all results.")
    ] = None,
) -> None:
    """Run the paper's evaluation: remove one event of each test narrative, and predict it.

    Other tasks on the same splits: two or three events are removed; or one `anywhere`, its place
    not told; or events are `hidden` by chance, neither how many nor where; or what comes `next` is
    asked after every beginning. Methods that have no answer to a task are not measured in it.
    Tables are printed in Markdown.

    Example: `elision bench stories.jsonl --batch 5 --task hidden --task next -o results.json`
    """
    check_place(output)
    for corpus in corpora:
        check_not_source(output, corpus, "the narratives are")
    tasks = benchmark.tasks.check_tasks(task or [])
    plan = benchmark.measuring.Plan(
        corpora=tuple(dict.fromkeys(corpora)),
        methods=benchmark.measuring.check_methods(methods or [], tasks),
        batches=tuple(dict.fromkeys(batch or [2, 5, 10])),
        seeds=seeds,
        min_narratives=min_narratives,
        max_train=max_train,
        tasks=tasks,
    )
    seen = err.file.isatty()
    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err if seen else Console(quiet=True),  # older rich ends with an empty line
        disable=not seen,
        transient=True,
    ) as bar:
        splits = bar.add_task("measuring", total=None)
        cells, costs = benchmark.measuring.run(
            plan,
            jobs=jobs,
            dask=dask,
            progress=lambda done, total: bar.update(splits, completed=done, total=total),
        )
    result = benchmark.report.report(cells, plan, costs)
    if output:
        write_atomically(output, json.dumps(result, indent=1).encode())
    if as_json:
        print_json(result)
    else:
        out.out(benchmark.report.markdown(result), highlight=False)
