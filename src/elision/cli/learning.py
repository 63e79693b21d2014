"""From narratives to scripts: ``demo``, ``learn`` and ``events``."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

import elision as el
from elision import cli, pipeline, scale, text
from elision.cli import INTERRUPTED
from elision.cli.app import (
    AsJson,
    Dask,
    EncoderFolder,
    Seed,
    Sentences,
    app,
    check_place,
    on_cluster,
    read,
)
from elision.cli.interrupts import heard_soon
from elision.cli.packing import Memory, is_folder, packed
from elision.cli.reading import NOTHING, Reading, reads
from elision.errors import InputError
from elision.terminal import (
    Number,
    cell,
    complain,
    err,
    make_table,
    out,
    print_json,
    printable,
    say,
)

if TYPE_CHECKING:
    from elision.pipeline.learning import Learned
    from elision.text.event_types import DomainTypes

FAILED = 1
"""Exit status where some domains could not be learned, but others were."""


class Method(StrEnum):
    """Ways to learn a script."""

    DEFAULT = "default"
    MARGINAL = "marginal"
    SEM = "sem"
    APPROX = "approx"
    BMM = "bmm"
    BMM_EM = "bmm-em"


def _cost(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(f"{value} is not a number from 0.")
    return value


def _output(value: Path | None) -> Path | None:
    if value is not None and str(value) == "-":
        raise typer.BadParameter("'-' is standard output, expected a file or folder.")
    return value


@app.command()
def demo(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Keep what was learned here.", callback=_output),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a script from twenty tellings of answering a doorbell, and ask what one left out.

    Example: `elision demo -o doorbell.json`
    """
    tellings = el.examples.doorbell_tellings()
    script = el.examples.learned_doorbell()
    given = ["hear doorbell", "open door", "close door"]
    story = script.between(given)
    if output is not None:
        script.save(output)
    if as_json:
        print_json(story)
        return
    out.print(f"{len(tellings)} tellings, none of them complete. What they have in common:\n")
    for line in str(script.outline()).splitlines():
        say(line)
    out.print("\nSomebody tells: " + ", ".join(given) + ". What happened unsaid?\n")
    cli.answers.show_story(story)
    out.print("\nTo look at it and ask more:")
    if output is None:
        out.print("    elision demo -o doorbell.json")
    kept = "doorbell.json" if output is None else printable(str(output))
    out.print(f"    {escape(_command())} serve {escape(kept)}")


def _command() -> str:
    """How this program can be called from here."""
    called = Path(sys.argv[0])
    if not called.is_absolute():
        return str(called)
    beneath = called.is_relative_to(Path.cwd())
    return str(called.relative_to(Path.cwd())) if beneath else called.name


@app.command()
@reads
def learn(
    narratives: Annotated[
        str,
        typer.Argument(
            help="File of narratives, - for standard input; a packed corpus; with --follow also a"
            " folder of files."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Script file; a folder if there are several domains.",
            callback=_output,
        ),
    ],
    method: Annotated[
        Method,
        typer.Option(
            help="How to learn: by default an outline, its script and how it is told; a script"
            " alone by search with marginal, or with sem, approx, bmm and bmm-em, which are the"
            " paper's."
        ),
    ] = Method.DEFAULT,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            "--batch",
            "-r",
            help="By search, or with --follow: narratives a batch.",
            min=1,
        ),
    ] = None,
    state_cost: Annotated[
        float | None,
        typer.Option(help="By search: cost of a state, the paper's kappa_q.", callback=_cost),
    ] = None,
    edge_cost: Annotated[
        float | None, typer.Option(help="By search: cost of an edge, kappa_t.", callback=_cost)
    ] = None,
    constraint_cost: Annotated[
        float | None,
        typer.Option(help="By search: cost of a violated constraint, kappa_c.", callback=_cost),
    ] = None,
    seed: Seed = 0,
    domain: Annotated[str | None, typer.Option(help="Learn this domain only.")] = None,
    types: Annotated[
        Path | None,
        typer.Option(help="Table of sentences and their types, from `elision events -o`."),
    ] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="With sem: try every move again after each one.")
    ] = False,
    paper_plan: Annotated[
        bool,
        typer.Option("--paper-plan", help="By search: re-read everything after each batch."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="By search, with --dask or --follow: go on where an interrupted run stopped.",
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="With --resume: start anew where progress is of other narratives or settings.",
        ),
    ] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Go on learning from what comes: from standard input, in a file that grows, or as"
            " files in a folder.",
        ),
    ] = False,
    half_life: Annotated[
        float | None,
        typer.Option(help="With --follow: narratives after which one counts half."),
    ] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(
            help="With --follow: share of streams that are falsely reported to change, ever;"
            " 0.05 by default."
        ),
    ] = None,
    on_drift: Annotated[
        str | None,
        typer.Option(help="With --follow: forget what came before a change, or report it only."),
    ] = None,
    dask: Dask = None,
    memory: Memory = None,
    reading: Reading = NOTHING,
    sentences: Sentences = None,
    as_json: AsJson = False,
) -> None:
    """Learn one script for each domain in a file of narratives.

    With --follow it is one script of narratives that keep coming. It is written again as they
    grow, beside a file of progress, and what changes in them is reported, until the input ends or
    Ctrl-C comes.

    Example: `elision learn stories.jsonl -o doorbell.json --domain "answering the doorbell"`
    """
    reading = {**reading, "sentences": sentences}
    settings: dict[str, Any]
    streamed = {"half_life": half_life, "false_alarms": false_alarms, "on_drift": on_drift}
    costs = (state_cost, edge_cost, constraint_cost)
    others = [method is not Method.DEFAULT, dask, memory, types, exhaustive, paper_plan, *costs]
    if follow:
        if any(others):
            problem = "--follow learns as the default method does, expected no others and no types"
            raise InputError(problem)
        settings = {name: value for name, value in streamed.items() if value is not None}
        cli.streaming.follow(
            narratives,
            output,
            settings={"random_state": seed, **settings},
            reading=reading,
            batch=batch_size,
            domain=domain,
            resume=resume,
            as_json=as_json,
        )
        return
    for name, value in streamed.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')} is for --follow")
    given = {
        "batch_size": batch_size,
        "state_cost": state_cost,
        "edge_cost": edge_cost,
        "constraint_cost": constraint_cost,
        "random_state": seed,
        "exhaustive": exhaustive or None,
        "plan": "paper" if paper_plan else None,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    failed: pipeline.domains.DomainsError | None = None
    kept = method is not Method.DEFAULT or dask is not None
    said = "interrupted" + " (--resume goes on after what is complete)" * kept
    try:
        with heard_soon(said), on_cluster(dask):
            if memory is not None or is_folder(narratives):
                with packed(narratives, output, memory=memory, types=types, **reading) as corpora:
                    learned = pipeline.packed.learn_packed(
                        corpora, output, only=domain, method=method.value, settings=settings
                    )
            else:
                learned = pipeline.learning.learn_domains(
                    read(narratives, **reading),
                    output,
                    source=narratives,
                    only=domain,
                    types=None if types is None else text.hand.HandTypes.read(types),
                    method=method.value,
                    settings=settings,
                    resume=resume,
                    restart=restart,
                    console=err,
                )
    except pipeline.domains.DomainsError as error:
        failed, learned = error, error.learned
    except KeyboardInterrupt:
        complain(said)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json([one.summary() for one in learned])
    else:
        _show_learned(learned)
    if failed is not None:
        for line in failed.lines():
            complain(line)
        complain(str(failed))
        raise typer.Exit(FAILED)


def _show_learned(learned: list[Learned]) -> None:
    sought = any(one.constraints for one in learned)
    numbers = ["narratives", "states", "edges", "elision", "log-prob"]
    numbers += ["constraints", "violated"] if sought else []
    table = make_table("domain", *map(Number, numbers), "file")
    for one in learned:
        low, mean, high = one.elision
        table.add_row(
            cell(one.domain or "-"),
            str(one.narratives),
            str(one.states),
            str(one.edges),
            f"{mean:.0%} ({low:.0%}-{high:.0%})",
            f"{one.log_prob:.2f}",
            *((str(one.constraints), str(one.violated)) if sought else ()),
            cell(str(one.path)),
        )
    out.print(table)
    for one in learned:
        if one.sample is not None:
            of = {"narratives": one.narratives, "sample": one.sample}
            say(f"{one.domain + ': ' if len(learned) > 1 else ''}{scale.sampling.said(of)}")


@app.command()
@reads
def events(
    narratives: Annotated[str, typer.Argument(help="File of sentences, - for standard input.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="JSONL file of the narratives with their events; as .tsv, a table of sentences"
            " and types to correct by hand, for `elision learn --types`.",
        ),
    ] = None,
    similarity: Annotated[str, typer.Option(help="mixed, or wordnet as in the paper.")] = "mixed",
    types: Annotated[int | None, typer.Option(help="Number of event types.", min=1)] = None,
    keep_rare: Annotated[
        bool, typer.Option("--keep-rare", help="Keep rare steps as types of their own.")
    ] = False,
    split: Annotated[
        bool, typer.Option("--split", help="Split sentences that tell several events.")
    ] = False,
    encoder: EncoderFolder = None,
    domain: Annotated[str | None, typer.Option(help="This domain only.")] = None,
    reading: Reading = NOTHING,
    sentences: Sentences = None,
    as_json: AsJson = False,
) -> None:
    """Turn raw sentences into named event types, domain by domain.

    Example: `elision events stories.jsonl -o events.jsonl`
    """
    check_place(output)
    corpus = read(narratives, sentences=sentences, **reading)
    if domain is not None:
        corpus = corpus.domain(domain)
    if output is not None and narratives != "-" and output.exists() and output.samefile(narratives):
        raise InputError("the sentences are in this file, expected another", where=str(output))
    extractor = el.EventExtractor(
        cast("Any", similarity),
        n_types=types,
        rare="keep" if keep_rare else "drop",
        split=split,
        encoder=encoder,
    )
    found = extractor.fit_transform(corpus)
    if output is not None and output.suffix == ".tsv":
        text.hand.write_types(extractor.parts(corpus), extractor.labels_, output)
    elif output is not None:
        found.to_jsonl(output)
    if as_json:
        print_json({name: _described(one) for name, one in extractor.domains_.items()})
    else:
        _show_types(extractor.domains_, len(extractor.dropped_))


def _described(domain: DomainTypes) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "steps": one.size, "examples": list(one.sentences)}
        for one in domain.types
    ]


def _show_types(domains: dict[str, DomainTypes], dropped: int) -> None:
    """Print the event types of each domain, most told first, with examples."""
    for domain, types in domains.items():
        table = make_table(domain or "event type", Number("steps"), "for example")
        for one in types.types:
            examples = cell("; ".join(one.sentences[:3]), "dim")
            table.add_row(cell(one.name), str(one.size), examples)
        out.print(table)
        out.print()
    if dropped:
        out.print(f"{dropped} rare steps were dropped.")
