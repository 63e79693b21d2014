"""From narratives to scripts: ``demo``, ``learn`` and ``events``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

import elision as el
from elision import io, pipeline, text
from elision.cli import answers
from elision.cli import learn_options as options
from elision.cli.app import (
    AsJson,
    Dask,
    EncoderName,
    Jobs,
    Reading,
    Seed,
    Sentences,
    app,
    check_not_source,
    check_place,
    note_order,
    read,
    reads,
    typed,
)
from elision.cli.learn_options import Method, not_standard_output
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
    from elision.values.corpus import Corpus
    from elision.values.variants import Variants

MOST_NAMED = 5
"""Scripts of a folder that are named."""

LARGE = 1 << 24
"""Bytes from which on a file is read in parts: the narratives may take a hundred times as many."""

FAILED = 1
"""Exit status where some domains could not be learned, but others were."""


@app.command()
def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Keep what was learned here.", callback=not_standard_output
        ),
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
    answers.show_story(story)
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
    *,
    narratives: options.Narratives,
    output: options.Output,
    method: options.HowToLearn = Method.DEFAULT,
    batch_size: options.BatchSize = None,
    state_cost: options.StateCost = None,
    edge_cost: options.EdgeCost = None,
    constraint_cost: options.ConstraintCost = None,
    seed: Seed = 0,
    domain: options.OnlyDomain = None,
    title: options.Title = None,
    types: options.TypesByHand = None,
    exhaustive: options.Exhaustive = False,
    paper_plan: options.PaperPlan = False,
    jobs: Jobs = 1,
    dask: Dask = None,
    reading: Reading,
    sentences: Sentences = None,
    as_json: AsJson = False,
) -> None:
    """Learn one script for each domain in a file of narratives.

    Example: `elision learn stories.jsonl -o doorbell.json --domain "answering the doorbell"`
    """
    output_path = Path(output)
    folder = output.endswith(("/", os.sep))
    check_not_source(output_path, types, "the types are")
    costs = _given(state_cost=state_cost, edge_cost=edge_cost, constraint_cost=constraint_cost)
    settings = _given(
        batch_size=batch_size,
        **costs,
        random_state=seed,
        exhaustive=exhaustive or None,
        plan="paper" if paper_plan else None,
    )
    failed = None
    try:
        corpus = _read(narratives, sentences, types, reading)
        by_hand = None if types is None else text.hand.HandTypes.read(types)
        learned = pipeline.learning.learn_domains(
            corpus,
            output_path,
            pipeline.learning.How(method.value, settings, by_hand),
            source=narratives,
            only=domain,
            title=title and typed(title),
            folder=folder,
            jobs=jobs,
            dask=dask,
            console=err,
        )
    except KeyboardInterrupt:  # else the next line would load what was just interrupted
        raise
    except pipeline.learning.DomainsError as error:
        failed, learned = error, error.learned
    _say_others(output_path, learned)
    _report(learned, failed, as_json=as_json)


def _read(
    source: str, sentences: bool | None, types: Path | None, reading: Reading
) -> Corpus | Variants:
    """Read a file: a large one of events in parts, without what learning does not look at."""
    path = Path(source)
    if sentences or types is not None or not path.is_file() or path.stat().st_size < LARGE:
        return read(source, sentences=sentences, **reading)
    found = io.large.variants_of(source, **reading)
    if found is None or not len(found):
        return read(source, sentences=sentences, **reading)
    note_order(source, reading)
    return found


def _say_others(output: Path, learned: list[Learned]) -> None:
    """Name the scripts that a folder had already, besides those that were learned."""
    written = {one.path.name for one in learned}
    others = sorted({one.name for one in output.glob("*.json")} - written) if learned else []
    if others:
        named = ", ".join(map(printable, others[:MOST_NAMED]))
        named += ", ..." * (len(others) > MOST_NAMED)
        said = f"{printable(str(output))} had these already, and they stay: {named}"
        err.print(said, markup=False, soft_wrap=True)


def _given(**settings: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in settings.items() if value is not None}


def _report(
    learned: list[Learned], failed: pipeline.learning.DomainsError | None, *, as_json: bool
) -> None:
    """Print what was learned, then what was not."""
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
            of = f"{one.sample:,} of {one.narratives:,} narratives"
            who = f"{one.domain}: " if len(learned) > 1 else ""
            say(f"{who}learned from a sample of {of}")


@app.command()
@reads
def events(
    *,
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
    encoder: EncoderName = None,
    domain: Annotated[str | None, typer.Option(help="This domain only.")] = None,
    reading: Reading,
    sentences: Sentences = None,
    as_json: AsJson = False,
) -> None:
    """Turn raw sentences into named event types, domain by domain.

    Example: `elision events stories.jsonl -o events.jsonl`
    """
    check_place(output)
    check_not_source(output, narratives, "the sentences are")
    corpus = read(narratives, sentences=sentences, **reading)
    if domain is not None:
        corpus = corpus.domain(domain)
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
