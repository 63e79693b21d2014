"""Questions about fit: one telling or a whole log, two scripts, many scripts."""

from __future__ import annotations

import csv
import io
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from elision import ask, files, values
from elision._files import shown_path
from elision.cli import answers
from elision.cli.app import (
    AsJson,
    Reading,
    ScriptFile,
    Seed,
    app,
    load,
    read,
    reads,
    reply,
    show_heard,
    told_so_far,
)
from elision.errors import InputError
from elision.terminal import out, plain, print_json, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elision.ask.score import Conformances
    from elision.values.library import Library
    from elision.values.script import Script

FALSE_ALARMS = 0.05


class By(StrEnum):
    """What a log is summed up by."""

    step = "step"
    variant = "variant"


FLAGGED = NONE_OF_THESE = 1
"""Exit status where a check fails, and where a telling is of none of the scripts."""


@app.command()
@reads
def score(
    *,
    script: ScriptFile,
    telling: Annotated[
        list[str] | None,
        typer.Argument(help="Events or sentences in order; - reads lines of standard input."),
    ] = None,
    log: Annotated[
        str | None, typer.Option(help="Score every narrative of this file instead.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit status 1 if something is flagged.")
    ] = False,
    flagged: Annotated[
        bool, typer.Option("--flagged", help="With --log: list only what is flagged.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="With --log: print the table as CSV.")] = (
        False
    ),
    by: Annotated[
        By | None, typer.Option(help="With --log: sum up by step, or by variant.")
    ] = None,
    false_alarms: Annotated[
        float, typer.Option(help="Share of usual tellings that may be called odd.")
    ] = FALSE_ALARMS,
    samples: Annotated[
        int, typer.Option(help="Tellings to draw for the p-value, 0 for none.", min=0)
    ] = 1000,
    seed: Seed = 0,
    domain: Annotated[str | None, typer.Option(help="With --log: this domain only.")] = None,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Say how well a telling, or each of a log, fits a script, and what is odd about it.

    Example: `elision score doorbell.json "hear doorbell" "close door" "open door"`
    """
    if log is None and (as_csv or flagged or by):
        problem = "--csv, --flagged and --by say how the table of a log is printed, but no log came"
        raise InputError(problem, hint="name its file with --log")
    if (log is None) == (not telling):
        problem = "both a telling and --log" if telling else "neither a telling nor --log"
        hint = None if telling else "give the events of a telling, or the file of a log with --log"
        raise InputError(f"{problem}, expected one of them", hint=hint)
    loaded = load(script)
    if log is None:
        items = told_so_far(telling or [], "score")
        found = loaded.score(items, false_alarms=false_alarms, samples=samples, random_state=seed)
        show_heard(loaded, items, as_json=as_json)
        reply(found, answers.show_conformance, as_json=as_json)
        odd = bool(found.flags)
    else:
        corpus = read(
            log,
            **reading,
        )
        corpus = corpus if domain is None else corpus.domain(domain)
        table = loaded.conform(
            corpus, false_alarms=false_alarms, samples=samples, random_state=seed
        )
        if by is None:
            _show_log(table, as_csv=as_csv, as_json=as_json, flagged=flagged)
        else:
            _show_summary(table, by, as_csv=as_csv, as_json=as_json, flagged=flagged)
        odd = any(one.flags for one in table)
    if check and odd:
        raise typer.Exit(FLAGGED)


def _show_log(found: Conformances, *, as_csv: bool, as_json: bool, flagged: bool) -> None:
    listed = [
        (row, one)
        for row, one in zip(found.to_rows(), found, strict=True)
        if one.flags or one.odd or not flagged
    ]
    if as_json:
        print_json([{"id": row["id"], **plain(one)} for row, one in listed])
    elif as_csv:
        _print_csv([row for row, _ in listed], ask.score.COLUMNS)
    else:
        odd = sum(one.odd for one in found)
        named = [(row["id"] or str(row["telling"]), one) for row, one in listed]
        answers.show_conformances(named, odd=odd, of=len(found))


def _show_summary(
    found: Conformances, by: By, *, as_csv: bool, as_json: bool, flagged: bool
) -> None:
    summary = found.by_step() if by is By.step else found.by_variant()
    if flagged:
        summary = summary.flagged()
    if as_json:
        print_json(summary.to_rows())
    elif as_csv:
        _print_csv(summary.to_rows(), summary.columns)
    else:
        answers.show_summary(summary)


def _print_csv(rows: list[dict[str, Any]], columns: Sequence[str]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        shown = {
            name: printable(value) if isinstance(value, str) else value
            for name, value in row.items()
        }
        writer.writerow(shown)
    out.out(text.getvalue(), end="", highlight=False)


@app.command()
@reads
def compare(
    *,
    script: ScriptFile,
    other: Annotated[Path, typer.Argument(help="Another script file.")],
    on: Annotated[
        str | None, typer.Option(help="Also compare on the narratives of this file.")
    ] = None,
    domain: Annotated[str | None, typer.Option(help="With --on: this domain only.")] = None,
    samples: Annotated[
        int, typer.Option(help="Tellings to draw for the divergences.", min=2)
    ] = 2000,
    seed: Seed = 0,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Say how another script differs from a script, in what they tell and step by step.

    Example: `elision compare monday.json tuesday.json --on stories.jsonl`
    """
    narratives = None
    if on is not None:
        corpus = read(
            on,
            **reading,
        )
        corpus = corpus if domain is None else corpus.domain(domain)
        narratives = corpus.events
    found = load(script).compare(load(other), narratives, samples=samples, random_state=seed)
    names = (str(script), str(other))
    reply(found, lambda found: answers.show_comparison(found, *names), as_json=as_json)


class _Divided(TyperCommand):
    """A command whose arguments after ``--`` are the telling."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what comes after the first ``--`` aside."""
        if "--" in args:
            cut = args.index("--")
            ctx.meta["told"] = args[cut + 1 :]
            args = args[:cut]
        return super().parse_args(ctx, args)


@app.command(cls=_Divided)
def identify(
    context: typer.Context,
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="SCRIPTS... -- TELLING...",
            help="Script files, or folders of them; then, after --, events or sentences in order."
            " Without -- the first is the folder and the others are the telling.",
        ),
    ],
    none_of_these: Annotated[
        float, typer.Option(help="How probable it is beforehand that none of them is it.")
    ] = 0.02,
    top: Annotated[int, typer.Option(help="How many scripts.", min=1)] = 5,
    as_json: AsJson = False,
) -> None:
    """Say which of several scripts a telling is of; exit status 1 if it is of none of them.

    Example: `elision identify scripts/ -- "boil water" "pour water"`
    """
    after = context.meta.get("told")
    paths, telling = (arguments[:1], arguments[1:]) if after is None else (arguments, after)
    if not telling:
        raise InputError("no telling, expected events or sentences after the scripts")
    scripts = [one for one in telling if _is_scripts(one)]
    if after is None and scripts:
        kind = "folder" if Path(scripts[0]).is_dir() else "file"
        raise InputError(
            f"this {kind} would be taken for a part of the telling",
            where=shown_path(scripts[0]),
            hint="put -- between scripts and telling: elision identify SCRIPTS... -- TELLING...",
        )
    items = told_so_far(telling, "identify")
    found = library_of([Path(path) for path in paths]).identify(items, none_of_these=none_of_these)
    listed = found.candidates[:top]
    answer = {"best": found.best, "candidates": listed}
    reply(answer, lambda _: answers.show_identification(listed), as_json=as_json)
    if found.best is None:
        raise typer.Exit(NONE_OF_THESE)


def _is_scripts(text: str) -> bool:
    """Whether an argument is a script file, or a folder that has some or is written as one."""
    if not text.strip():  # no name, though a path takes it for this folder
        return False
    path = Path(text)
    try:
        if path.is_dir():  # an event may be called like a folder that has nothing to do with it
            return text.endswith(("/", os.sep)) or any(path.glob("*.json"))
        return text.lower().endswith(".json") and path.is_file()
    except (OSError, ValueError):  # no name of a file: too long, or with a character of none
        return False


def library_of(paths: Sequence[Path]) -> Library:
    """The scripts of all files and folders, by name."""
    if len(paths) == 1 and paths[0].is_dir():
        return values.library.Library.load(paths[0])
    return values.library.Library(
        files.library.distinct(one for path in paths for one in _named(path))
    )


def _named(path: Path) -> Iterator[tuple[str, Script]]:
    """The scripts of a file or a folder."""
    if path.is_dir():
        yield from values.library.Library.load(path).items()
    else:
        script = load(path)
        yield files.library.named(script, path.stem), script
