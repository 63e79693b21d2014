"""``python -m elision.serve``: the page without the rest of the command line."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from elision.errors import ElisionError
from elision.serve.command import HOST, PORT, serve
from elision.terminal import complain


def main(
    scripts: Annotated[
        list[Path] | None,
        typer.Argument(help="Script files, and folders of them; by default an example."),
    ] = None,
    tellings: Annotated[
        list[Path] | None,
        typer.Option(help="File of tellings to show beside the scripts; may be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = HOST,
    port: Annotated[int, typer.Option(help="Which port; 0 for any.", min=0, max=65535)] = PORT,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Open a local page on which scripts can be explored and asked."""
    try:
        serve(
            scripts or [], tellings=tellings or [], host=host, port=port, open_browser=open_browser
        )
    except ElisionError as error:
        complain(str(error))
        sys.exit(2)


if __name__ == "__main__":
    typer.run(main)
