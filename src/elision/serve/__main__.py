"""``python -m elision.serve``: the page without the rest of the command line."""

from __future__ import annotations

import sys

import typer

from elision.errors import ElisionError
from elision.serve import options
from elision.serve.command import serve
from elision.terminal import complain


def main(
    scripts: options.Scripts = None,
    tellings: options.Tellings = None,
    host: options.Host = options.HOST,
    port: options.Port = options.PORT,
    open_browser: options.OpenBrowser = True,
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
