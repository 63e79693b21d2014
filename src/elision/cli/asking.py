"""Questions about one telling: what is missing, what was left unsaid, what comes next."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from elision.cli import answers
from elision.cli.app import (
    AsJson,
    Gaps,
    IgnoreUnknown,
    ScriptFile,
    Seed,
    Telling,
    app,
    load,
    reply,
    show_heard,
    told,
    told_events,
    told_so_far,
    unknown,
)

Top = Annotated[int, typer.Option(help="How many answers.", min=1)]
Exclude = Annotated[list[str] | None, typer.Option(help="Not this event; may be given again.")]


@app.command()
def fill(
    script: ScriptFile,
    telling: Gaps,
    joint: Annotated[
        bool, typer.Option("--joint", help="All gaps together, not each by itself.")
    ] = False,
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="One event is missing, and it is not known where.")
    ] = False,
    exclude: Exclude = None,
    top: Top = answers.TOP,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say what is missing where a telling has a ?, or anywhere.

    Example: `elision fill doorbell.json "hear doorbell" ? "open door"`
    """
    items = told(telling)
    ways = cast("Any", {"joint": joint, "anywhere": anywhere})
    asked = load(script)
    found = asked.fill(
        items, top=top, exclude=exclude or (), unknown=unknown(ignore_unknown), **ways
    )
    if not as_json:
        answers.show_telling(items)
    show_heard(asked, items, as_json=as_json)
    show: Any = answers.show_fillings
    if joint or anywhere:
        show = answers.show_joint if joint else answers.show_anywhere
    reply(found, show, as_json=as_json)


@app.command()
def between(
    script: ScriptFile,
    telling: Telling,
    min_probability: Annotated[
        float, typer.Option(help="Leave out what is less probable.", min=0, max=1)
    ] = 0.05,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say what probably happened unsaid in each gap of a telling.

    A telling that ends in `...` is not finished: what comes after is still to come.

    Example: `elision between doorbell.json "hear doorbell" "open door"`
    """
    asked, items = load(script), told_so_far(telling, "between")
    found = asked.between(items, min_probability=min_probability, unknown=unknown(ignore_unknown))
    show_heard(asked, items, as_json=as_json)
    reply(found, answers.show_story, as_json=as_json)


@app.command()
def missing(
    script: ScriptFile,
    telling: Telling,
    min_probability: Annotated[
        float, typer.Option(help="Leave out what is less probable.", min=0, max=1)
    ] = 0.2,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say which events are probably missing from a record, and where.

    That is what would stand in it, had nothing been removed; `between` says what happened. A
    record that ends in `...` is not finished: nothing is missing after it.

    Example: `elision missing doorbell.json "hear doorbell" "open door"`
    """
    asked, items = load(script), told_so_far(telling, "missing")
    found = asked.missing(items, min_probability=min_probability, unknown=unknown(ignore_unknown))
    show_heard(asked, items, as_json=as_json)
    reply(found, answers.show_omissions, as_json=as_json)


@app.command("next")
def next_(
    script: ScriptFile,
    telling: Annotated[
        list[str] | None,
        typer.Argument(help="The beginning: events or sentences in order, ? where one is missing."),
    ] = None,
    steps: Annotated[int, typer.Option(help="How many events ahead.", min=1)] = 1,
    top: Top = answers.TOP,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say what is told next, and whether anything is.

    Example: `elision next doorbell.json "hear doorbell" "open door"`
    """
    asked, items = load(script), told(telling or [])
    found = asked.next(items, steps=steps, top=top, unknown=unknown(ignore_unknown))
    show_heard(asked, items, as_json=as_json)
    reply(found, answers.show_following, as_json=as_json)


@app.command()
def order(
    script: ScriptFile,
    events: Annotated[
        list[str], typer.Argument(help="Events or sentences in any order; - for standard input.")
    ],
    top: Annotated[int, typer.Option(help="How many of the most probable orders.", min=1)] = 3,
    beam: Annotated[
        int, typer.Option(help="Beginnings to follow where there are very many orders.", min=1)
    ] = 100,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Put events into the order in which they probably happened.

    Example: `elision order doorbell.json "close door" "hear doorbell" "open door"`
    """
    asked, items = load(script), told_events(events, "order")
    found = asked.order(items, top=top, beam=beam, unknown=unknown(ignore_unknown))
    show_heard(asked, items, as_json=as_json)
    reply(found, answers.show_ordering, as_json=as_json)


@app.command()
def sample(
    script: ScriptFile,
    given: Annotated[
        list[str] | None, typer.Argument(help="What they fit: events, ? where one is missing.")
    ] = None,
    number: Annotated[int, typer.Option("-n", "--number", help="How many.", min=0)] = 1,
    length: Annotated[int | None, typer.Option(help="How many events are told.", min=0)] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Also what was left unsaid.")
    ] = False,
    seed: Seed = 0,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Draw tellings from a script; the same seed draws the same.

    Example: `elision sample doorbell.json -n 3 --complete`
    """
    found: Any = load(script).sample(
        number,
        random_state=seed,
        length=length,
        given=told(given) if given else None,
        complete=cast("Any", complete),
        unknown=unknown(ignore_unknown),
    )
    reply(found, answers.show_stories if complete else answers.show_tellings, as_json=as_json)
