"""Scripts to look at: ``outline``, ``draw``, ``export`` and ``serve``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, cast

import typer

from elision import serve as page
from elision import show
from elision.cli.app import (
    AsJson,
    IgnoreUnknown,
    ScriptFile,
    app,
    check_not_source,
    load,
    show_heard,
    told_events,
    unknown,
)
from elision.errors import InputError, shown
from elision.terminal import print_json, say


@app.command()
def outline(
    script: ScriptFile,
    wording: Annotated[
        bool | None,
        typer.Option(
            "--wording/--no-wording",
            help="A usual sentence beside each step; by default where the names are mere codes.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what happens: the steps, their order, choices, and what stays unsaid.

    Example: `elision outline doorbell.json --wording`
    """
    found = load(script).outline()
    if wording and not any(step.wording for step in found.steps):
        raise InputError(
            "no sentences are known of the steps", hint="scripts learned from sentences keep some"
        )
    if as_json:
        print_json(found.to_dict())
    else:
        for line in found.text(wording=wording).splitlines():
            say(line)


@app.command()
def draw(
    script: ScriptFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="File: .svg or .png.")],
    at_the_end: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    telling: Annotated[
        list[str] | None,
        typer.Option(help="Next event of a telling to lay over it; may be given again."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What stands above.")] = None,
    theme: Annotated[str, typer.Option(help="auto, light or dark.")] = "auto",
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Draw the outline of a script, with a telling laid over it if one is given.

    Example: `elision draw doorbell.json -o doorbell.svg --telling "hear doorbell" --telling "open
    door"`
    """
    if at_the_end:
        raise InputError(
            f"{shown(at_the_end[0])} came behind the script",
            hint="draw takes a telling by --telling, once for each event: --telling"
            ' "hear doorbell" --telling "open door"',
        )
    check_not_source(output, script, "the script is")
    drawn, items = load(script), told_events(telling or [], "draw")
    drawing = drawn.draw(
        output,
        telling=items or None,
        title=title,
        theme=cast("Any", theme),
        unknown=unknown(ignore_unknown),
    )
    show_heard(drawn, items, as_json=as_json)
    if as_json:
        print_json({"path": str(output), "bytes": output.stat().st_size})
    else:
        say(f"{output}: {drawing.counted()}")


@app.command()
def export(
    script: ScriptFile,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File: .dot, .mmd, .json, .pnml or .bpmn."),
    ],
    states: Annotated[
        bool, typer.Option("--states", help="The states of the script, not its outline: as .dot.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the outline of a script for another program, which the suffix of the file names.

    Example: `elision export doorbell.json -o doorbell.bpmn`
    """
    check_not_source(output, script, "the script is")
    show.export.export(load(script), output, states=states)
    if as_json:
        print_json({"path": str(output), "bytes": output.stat().st_size})
    else:
        say(f"{output}: {output.stat().st_size} bytes")


@app.command()
def serve(
    scripts: Annotated[
        list[Path] | None,
        typer.Argument(help="Script files, and folders of them; by default an example."),
    ] = None,
    tellings: Annotated[
        list[Path] | None,
        typer.Option(help="File of tellings to show beside the scripts; may be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Which port; 0 for any.", min=0, max=65535)] = 8350,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Open a local page on which scripts can be explored and asked; Ctrl-C ends it.

    Example: `elision serve doorbell.json`
    """
    page.command.serve(
        scripts or [], tellings=tellings or [], host=host, port=port, open_browser=open_browser
    )
