"""``elision ...``: parses, calls, prints."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from elision.errors import ElisionError

if TYPE_CHECKING:
    from elision.ask.between import Story
    from elision.learning import Learned

app = typer.Typer(
    help="Learn the script behind many tellings of one activity, and ask it what was left unsaid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False)


class Method(StrEnum):
    """Ways to learn a script."""

    MARGINAL = "marginal"
    SEM = "sem"
    APPROX = "approx"
    BMM = "bmm"
    BMM_EM = "bmm-em"


@app.callback()
def _elision() -> None:
    """Learn the script behind many tellings of one activity, and ask it what was left unsaid."""


@app.command()
def demo() -> None:
    """Learn a script from twenty tellings of answering a doorbell, and ask what one left out.

    Example: `elision demo`
    """
    import elision as el  # noqa: PLC0415

    tellings = el.examples.doorbell_tellings()
    learner = el.SEMHMM(score="marginal", random_state=0).fit(tellings)
    script = learner.script_
    out.print(f"{len(tellings)} tellings of [bold]answering the doorbell[/], none of them complete.")
    out.print(f"Learned from them: {script}\n")
    told = ["hear doorbell", "open door", "close door"]
    out.print("Somebody tells: " + ", ".join(told) + ". What happened unsaid?\n")
    print_story(script.between(told))


@app.command()
def learn(
    narratives: Annotated[str, typer.Argument(help="File of narratives, - for standard input.")],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Script file; a folder if there are several domains."),
    ],
    method: Annotated[Method, typer.Option(help="How to learn.")] = Method.MARGINAL,
    batch_size: Annotated[int, typer.Option("--batch-size", "-r", help="Narratives a batch.")] = 5,
    state_cost: Annotated[float, typer.Option(help="Cost of a state, the paper's kappa_q.")] = 1.0,
    edge_cost: Annotated[float, typer.Option(help="Cost of an edge, kappa_t.")] = 0.5,
    constraint_cost: Annotated[
        float, typer.Option(help="Cost of a violated constraint, kappa_c.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the order of the narratives.")] = 0,
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

    corpus = el.read(narratives, format=format)
    if domain is not None:
        corpus = corpus.domain(domain)
    settings = {
        "batch_size": batch_size,
        "state_cost": state_cost,
        "edge_cost": edge_cost,
        "constraint_cost": constraint_cost,
        "random_state": seed,
        "exhaustive": exhaustive,
        "plan": "paper" if paper_plan else "auto",
    }
    learned = learn_domains(
        corpus, output, method=method.value, settings=settings, resume=resume, console=err
    )
    if as_json:
        out.print_json(json.dumps([one.summary() for one in learned]))
    else:
        print_learned(learned)


def print_learned(learned: list[Learned]) -> None:
    """Print a table of learned scripts."""
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("domain", no_wrap=True)
    for name in ("narratives", "states", "edges", "elision", "log-prob", "constraints", "violated"):
        table.add_column(name, justify="right")
    table.add_column("file", overflow="fold")
    for one in learned:
        low, mean, high = one.elision
        table.add_row(
            one.domain or "-",
            str(one.narratives),
            str(one.states),
            str(one.edges),
            f"{mean:.0%} ({low:.0%}-{high:.0%})",
            f"{one.log_prob:.2f}",
            str(one.constraints),
            str(one.violated),
            str(one.path),
        )
    out.print(table)


def print_story(story: Story) -> None:
    """Print a telling, what was left unsaid in it indented with its probability."""
    for place, gap in enumerate(story.unsaid):
        for step in gap:
            bar = "█" * round(20 * min(1.0, step.expected))
            out.print(f"    [dim]{step.event:<24}[/] {step.expected:4.0%} [cyan]{bar}[/]")
        for event in story.told[place : place + 1]:
            out.print(f"[bold]{event}[/]")


def main() -> None:
    """Run the command line; bad input ends with one line and exit status 2."""
    try:
        app()
    except ElisionError as error:
        err.print(f"elision: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        err.print("elision: interrupted", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
