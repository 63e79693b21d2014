"""``elision ...``: parses, calls, prints."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from rich.console import Console
from rich.markup import escape

from elision.errors import ElisionError

if TYPE_CHECKING:
    from elision.ask.between import Story
    from elision.learning import Learned
    from elision.readers import Format

app = typer.Typer(
    help="Learn the script behind many tellings of one activity, and ask it what was left unsaid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, emoji=False)
if not out.file.isatty():
    out.width = 160
err = Console(stderr=True, highlight=False, emoji=False)

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

LARGEST_SEED = 2**32 - 1

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no public name for it
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Method(StrEnum):
    """Ways to learn a script."""

    MARGINAL = "marginal"
    SEM = "sem"
    APPROX = "approx"
    BMM = "bmm"
    BMM_EM = "bmm-em"


def _cost(value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(f"{value} is not a number from 0.")
    return value


def _output(value: Path) -> Path:
    if str(value) == "-":
        raise typer.BadParameter("'-' is standard output, expected a file or folder.")
    return value


@app.callback()
def _elision() -> None:
    """Learn the script behind many tellings of one activity, and ask it what was left unsaid."""


@app.command()
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Learn a script from twenty tellings of answering a doorbell, and ask what one left out.

    Example: `elision demo`
    """
    import elision as el  # noqa: PLC0415

    tellings = el.examples.doorbell_tellings()
    learner = el.SEMHMM(score="marginal", random_state=0).fit(tellings)
    script = learner.script_
    told = ["hear doorbell", "open door", "close door"]
    story = script.between(told)
    if as_json:
        print_json(asdict(story))
        return
    out.print(
        f"{len(tellings)} tellings of [bold]answering the doorbell[/], none of them complete."
    )
    out.print(f"Learned from them: {script}\n")
    out.print("Somebody tells: " + ", ".join(told) + ". What happened unsaid?\n")
    print_story(story)


@app.command()
def learn(
    narratives: Annotated[str, typer.Argument(help="File of narratives, - for standard input.")],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Script file; a folder if there are several domains.",
            callback=_output,
        ),
    ],
    method: Annotated[Method, typer.Option(help="How to learn.")] = Method.MARGINAL,
    batch_size: Annotated[
        int, typer.Option("--batch-size", "-r", help="Narratives a batch.", min=1)
    ] = 5,
    state_cost: Annotated[
        float, typer.Option(help="Cost of a state, the paper's kappa_q.", callback=_cost)
    ] = 1.0,
    edge_cost: Annotated[
        float, typer.Option(help="Cost of an edge, kappa_t.", callback=_cost)
    ] = 0.5,
    constraint_cost: Annotated[
        float, typer.Option(help="Cost of a violated constraint, kappa_c.", callback=_cost)
    ] = 0.0,
    seed: Annotated[
        int, typer.Option(help="Seed of the order of the narratives.", min=0, max=LARGEST_SEED)
    ] = 0,
    domain: Annotated[str | None, typer.Option(help="Learn this domain only.")] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="With sem: try every move again after each one.")
    ] = False,
    paper_plan: Annotated[
        bool, typer.Option("--paper-plan", help="Re-read everything after each batch.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted run stopped.")
    ] = False,
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="jsonl, json, csv, tsv, parquet, xes or text.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Learn one script for each domain in a file of narratives.

    Example: `elision learn stories.jsonl -o doorbell.json --domain "answering the doorbell"`
    """
    import elision as el  # noqa: PLC0415
    from elision.learning import learn_domains  # noqa: PLC0415

    corpus = el.read(narratives, format=cast("Format | None", format))
    settings = {
        "batch_size": batch_size,
        "state_cost": state_cost,
        "edge_cost": edge_cost,
        "constraint_cost": constraint_cost,
        "random_state": seed,
        "exhaustive": exhaustive,
        "plan": "paper" if paper_plan else "auto",
    }
    try:
        learned = learn_domains(
            corpus,
            output,
            source=narratives,
            only=domain,
            method=method.value,
            settings=settings,
            resume=resume,
            console=err,
        )
    except KeyboardInterrupt:
        complain("interrupted (--resume goes on after the last complete batch)")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json([one.summary() for one in learned])
    else:
        print_learned(learned)


def print_json(value: object) -> None:
    """Print a value as JSON, plain whatever the terminal."""
    out.print_json(data=value, ensure_ascii=True, highlight=False)


def print_learned(learned: list[Learned]) -> None:
    """Print a table of learned scripts."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    sought = any(one.constraints for one in learned)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("domain", overflow="fold")
    for name in ("narratives", "states", "edges", "elision", "log-prob"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("constraints", "violated") if sought else ():
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("file", overflow="fold")
    for one in learned:
        low, mean, high = one.elision
        table.add_row(
            Text(printable(one.domain) or "-"),
            str(one.narratives),
            str(one.states),
            str(one.edges),
            f"{mean:.0%} ({low:.0%}-{high:.0%})",
            f"{one.log_prob:.2f}",
            *((str(one.constraints), str(one.violated)) if sought else ()),
            Text(printable(str(one.path))),
        )
    out.print(table)


def print_story(story: Story) -> None:
    """Print a telling, what was left unsaid in it indented with its probability."""
    for place, gap in enumerate(story.unsaid):
        for step in gap:
            bar = "█" * round(20 * min(1.0, step.expected))
            name = escape(f"{printable(step.event):<24}")
            out.print(f"    [dim]{name}[/] {step.expected:4.0%} [cyan]{bar}[/]")
        for event in story.told[place : place + 1]:
            out.print(f"[bold]{escape(printable(event))}[/]")


def printable(text: str) -> str:
    """Return a text as one line that cannot steer the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def complain(problem: str) -> None:
    """Print one line of complaint."""
    err.print(f"elision: {printable(problem)}", style="red", markup=False, soft_wrap=True)


def main() -> None:
    """Run the command line; bad input ends with one line and exit status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # it is None if it was closed
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(prog_name="elision", standalone_mode=False))
    except ElisionError as error:
        _end(str(error))
    except _UsageError as error:
        _end(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except MemoryError as error:
        _end(f"not enough memory: {error} (smaller batches may help: --batch-size)")
    except OSError as error:  # most likely standard output: what it still holds goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _end(f"cannot go on: {error}")


def _end(problem: str) -> NoReturn:
    if problem:
        complain(problem)
    sys.exit(2)


def _usage(error: Any) -> str:
    """What typer would say in a box of several lines; nothing if it has shown its help."""
    said = str(error.format_message())
    return f"{said} (see {error.ctx.command_path} --help)" if said and error.ctx else said
