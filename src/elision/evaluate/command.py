"""The benchmark as a command: with progress, kept cells and files."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from elision._files import write_atomically
from elision.evaluate import bench, methods
from elision.evaluate.cloze import check_tasks
from elision.evaluate.html import html_report
from elision.evaluate.report import report
from elision.text.encoder import as_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def run_benchmark(
    corpora: Sequence[str],
    *,
    methods: Sequence[str],
    batches: Sequence[int],
    seeds: int,
    min_narratives: int,
    max_train: int | None,
    jobs: int,
    output: Path | None,
    html_file: Path | None,
    console: Console,
    tasks: Sequence[str] = (),
    curve: bool = True,
    encoder: Path | None = None,
) -> dict[str, Any]:
    """Measure, write what was asked for, and return all results.

    ``output`` is the file for all results as JSON, ``html_file`` that of the page. With ``output``
    finished cells are kept beside it until all are done, so that the same command goes on where an
    interrupted one stopped.
    """
    asked = check_tasks(tasks)
    if encoder is not None:
        as_encoder(encoder)  # what is wrong with it is said before anything is measured
    plan = bench.Plan(
        corpora=tuple(corpora),
        methods=_check(methods, asked),
        batches=tuple(dict.fromkeys(batches)),
        seeds=seeds,
        min_narratives=min_narratives,
        max_train=max_train,
        tasks=asked,
        curve=curve,
        encoder=None if encoder is None else str(encoder),
    )
    keep = output.with_name(output.name + ".cells") if output else None
    seen = console.file.isatty()
    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console if seen else Console(quiet=True),  # older rich ends with an empty line
        disable=not seen,
        transient=True,
    ) as bar:
        task = bar.add_task("measuring", total=None)
        cells, costs = bench.run(
            plan,
            jobs=jobs,
            keep=keep,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    result = report(cells, plan, costs)
    if output:
        write_atomically(output, json.dumps(result, indent=1).encode())
    if html_file:
        command = shlex.join(["elision", *sys.argv[1:]])
        write_atomically(html_file, html_report(result, command).encode())
    if keep:
        keep.unlink(missing_ok=True)
    return result


def _check(names: Sequence[str], tasks: Sequence[str]) -> tuple[str, ...]:
    return methods.check_methods(names, tasks)
