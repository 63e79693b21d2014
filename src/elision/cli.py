"""``elision ...``: parses, calls, prints."""

from __future__ import annotations

import io
import math
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from elision.errors import ElisionError, InputError
from elision.terminal import (
    complain,
    err,
    out,
    print_benchmark,
    print_fillings,
    print_json,
    print_learned,
    print_story,
    print_types,
)

if TYPE_CHECKING:
    from elision.observations import Observation
    from elision.readers import Format
    from elision.script import Script

app = typer.Typer(
    help="Learn the script behind many tellings of one activity, and ask it what was left unsaid.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

LARGEST_SEED = 2**32 - 1

_UsageError: Any = typer.BadParameter.__mro__[1]  # typer has no public name for it


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


@app.command()
def events(
    narratives: Annotated[str, typer.Argument(help="File of sentences, - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="JSONL file of the narratives with their events."),
    ] = None,
    similarity: Annotated[str, typer.Option(help="mixed, or wordnet as in the paper.")] = "mixed",
    types: Annotated[int | None, typer.Option(help="Number of event types.", min=1)] = None,
    keep_rare: Annotated[
        bool, typer.Option("--keep-rare", help="Keep rare steps as types of their own.")
    ] = False,
    domain: Annotated[str | None, typer.Option(help="This domain only.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the types as JSON.")] = False,
) -> None:
    """Turn raw sentences into named event types, domain by domain.

    Example: `elision events stories.jsonl -o events.jsonl`
    """
    import elision as el  # noqa: PLC0415

    corpus = el.read(narratives)
    if domain is not None:
        corpus = corpus.domain(domain)
    if output is not None and narratives != "-" and output.exists() and output.samefile(narratives):
        raise InputError("the sentences are in this file, expected another", where=str(output))
    extractor = el.EventExtractor(
        cast("Any", similarity), n_types=types, rare="keep" if keep_rare else "drop"
    )
    told = extractor.fit_transform(corpus)
    if output is not None:
        told.to_jsonl(output)
    if as_json:
        print_json(
            {
                name: [
                    {"name": one.name, "steps": one.size, "examples": list(one.sentences)}
                    for one in found.types
                ]
                for name, found in extractor.domains_.items()
            }
        )
    else:
        print_types(extractor.domains_, len(extractor.dropped_))


@app.command()
def fill(
    script: Annotated[Path, typer.Argument(help="Script file.")],
    telling: Annotated[
        list[str], typer.Argument(help="Events or sentences in order, ? where one is missing.")
    ],
    top: Annotated[int, typer.Option(help="Answers a gap.", min=1)] = 5,
    exclude: Annotated[list[str] | None, typer.Option(help="Not this event.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Say what is missing where a telling has a ?.

    Example: `elision fill doorbell.json "hear doorbell" ? "open door"`
    """
    loaded, items = _asked(script, telling)
    fillings = loaded.fill(items, top=top, exclude=exclude or ())
    if as_json:
        print_json([asdict(one) for one in fillings])
    else:
        print_fillings([None if one == "?" else one for one in telling], fillings)


@app.command()
def between(
    script: Annotated[Path, typer.Argument(help="Script file.")],
    telling: Annotated[list[str], typer.Argument(help="Events or sentences in order.")],
    least: Annotated[
        float, typer.Option(help="Leave out what is less probable.", min=0, max=1)
    ] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Print the story as JSON.")] = False,
) -> None:
    """Say what probably happened unsaid in each gap of a telling.

    Example: `elision between doorbell.json "hear doorbell" "open door"`
    """
    loaded, items = _asked(script, telling)
    story = loaded.between(items, least=least)
    if as_json:
        print_json(asdict(story))
    else:
        print_story(story)


def _asked(path: Path, telling: list[str]) -> tuple[Script, list[Observation]]:
    """The script, and a telling of events and sentences as it understands it."""
    import elision as el  # noqa: PLC0415
    from elision.ask.sentences import observations  # noqa: PLC0415

    script = el.load(path)
    return script, observations(script, [None if item == "?" else item for item in telling])


@app.command()
def bench(
    corpora: Annotated[list[str], typer.Argument(help="Files of narratives.")],
    methods: Annotated[
        list[str] | None, typer.Option(help="Method to measure; all by default.")
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

    Example: `elision bench stories.jsonl --batch 5 --seeds 3 --json results.json`
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
    )
    print_benchmark(result)


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
