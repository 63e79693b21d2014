"""`main`: runs a command, and ends it with one line and a status where it cannot go on."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

from elision.cli import INTERRUPTED

try:
    from typer.exceptions import Abort, TyperException

    from elision.cli import (
        asking,
        bench,
        following,
        judging,
        learning,
        repairing,
        showing,
    )
    from elision.cli.app import app, remarks_said, worded
    from elision.cli.interrupts import heard_soon, leave
    from elision.errors import ElisionError
    from elision.terminal import complain
except KeyboardInterrupt:  # all this takes half a second
    sys.exit(INTERRUPTED)

COMMANDS = (asking, bench, following, judging, learning, repairing, showing)
"""Modules that add their commands to ``app`` when they are loaded."""

CONVERSATIONS = ("follow", "serve")
"""Commands that hear Ctrl-C themselves, and may go on after it."""


def main() -> None:
    """Run the command line; bad input ends with one line and exit status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # it is None if it was closed
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if sys.argv[1:2] and sys.argv[1] in CONVERSATIONS:
            sys.exit(app(prog_name="elision", standalone_mode=False))
        with heard_soon("interrupted"), remarks_said():
            status = app(prog_name="elision", standalone_mode=False)
        if status == INTERRUPTED:  # what typer makes of Ctrl-C
            complain("interrupted")
        leave(status or 0)
    except ElisionError as error:
        _end(worded(error))
    except TyperException as error:
        _end(_usage(error))
    except (KeyboardInterrupt, Abort):
        complain("interrupted")
        leave(INTERRUPTED)
    except MemoryError as error:
        _end(f"not enough memory: {error} (smaller batches may help: --batch-size)")
    except OSError as error:  # most likely standard output: what it still holds goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _end(f"cannot go on: {error}")


def _end(problem: str) -> NoReturn:
    if problem:
        complain(problem)
    sys.exit(2)


def _usage(error: TyperException) -> str:
    """What typer would say in a box of several lines; nothing if it has shown its help."""
    said, context = error.format_message(), getattr(error, "ctx", None)
    return f"{said} (see {context.command_path} --help)" if said and context else said
