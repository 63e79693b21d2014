"""The options of ``elision serve`` and ``python -m elision.serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HOST = "127.0.0.1"
PORT = 8350
LAST_PORT = 65535

Scripts = Annotated[
    list[Path] | None,
    typer.Argument(help="Script files, and folders of them; by default an example."),
]
Tellings = Annotated[
    list[Path] | None,
    typer.Option(help="File of tellings to show beside the scripts; may be repeated."),
]
Host = Annotated[str, typer.Option(help="Where to listen.")]
Port = Annotated[int, typer.Option(help="Which port; 0 for any.", min=0, max=LAST_PORT)]
OpenBrowser = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")]
