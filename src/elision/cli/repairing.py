"""``repair``: an event log with what was done and not recorded put back in."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

from elision import logs, pipeline, repairing
from elision.cli.app import (
    AsJson,
    Dask,
    Jobs,
    Reading,
    Seed,
    app,
    check_not_source,
    check_place,
    load,
    note_order,
    reads,
    typed,
)
from elision.errors import InputError, shown
from elision.terminal import err, print_json, say


@app.command()
@reads
def repair(
    *,
    log: Annotated[str, typer.Argument(help="Event log: csv, tsv, parquet, xes or jsonl.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Repaired log; its suffix says the format.")
    ],
    script: Annotated[
        Path | None,
        typer.Option(help="Repair by this script, learned from a complete log."),
    ] = None,
    omission: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RATE|EVENT=RATE",
            help="Share of events that are left out, such as 0.1, or of one kind of event, such as"
            " 'call back=0'; may be given again. What is not given is estimated.",
        ),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Put in what is missing with this probability or more.")
    ] = None,
    most_probable: Annotated[
        bool, typer.Option("--most-probable", help="Put in what is missing more likely than not.")
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Put back into an event log what was done and not recorded.

    All rows and attributes stay as they are. What is put in is marked (column elision:inserted),
    with its probability, what else may have stood there, and a time between its neighbours. How
    often each event is left out is estimated from the log unless it is given.

    Example: `elision repair log.csv -o repaired.csv`
    """
    if most_probable and threshold is not None:
        raise InputError("both --threshold and --most-probable, expected one of them")
    check_place(output)
    check_not_source(output, log, "the log to repair is")
    check_not_source(output, script, "the script is")
    logs.writing.format_of(output)
    options: dict[str, Any] = {
        "omission": _rates(omission or []),
        "threshold": 0.5 if most_probable else threshold,
        "random_state": seed,
        "jobs": jobs,
        "dask": dask,
        **reading,
    }
    with pipeline.learning.progress_bar(err) as bar:
        task = bar.add_task(
            "repairing", total=None, states="domains" if script is None else "cases"
        )

        def observe(more: int, whole: int | None) -> None:
            bar.update(task, advance=more, total=whole)

        options["observer"] = observe
        if script is not None:
            report = repairing.repair_file(log, output, script=load(script), **options)
        else:
            found = repairing.repair(log, **options)
            found.write(output)
            report = found.report
    note_order(log, reading)
    if as_json:
        print_json(report)
    else:
        for line in str(report).splitlines():
            say(line)
        say(f"Written to {output}.")


def _rates(given: list[str]) -> dict[str | None, float] | float | None:
    """Rates of omission as the options give them: one for all, or of events by name.

    Examples
    --------
    >>> _rates(["0.1"]), _rates(["call=0", "a=b=.2", "0.1"])
    (0.1, {'call': 0.0, 'a=b': 0.2, None: 0.1})
    """
    rates: dict[str | None, float] = {}
    for one in given:
        name, equals, rate = one.rpartition("=")
        event = typed(name) if equals else None
        if event in rates:
            which = "one rate for all events" if event is None else f"one rate of {event!r}"
            raise InputError(f"--omission {shown(one)}: expected {which}")
        try:
            rates[event] = float(rate)
        except ValueError:
            problem = f"--omission {shown(one)}: expected a number, or an event, = and a number"
            raise InputError(problem) from None
    return rates[None] if list(rates) == [None] else rates or None
