"""``elision ...``: parses, calls, prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision._rooms import door

if TYPE_CHECKING:
    from elision.cli import answers as answers
    from elision.cli import reports as reports
    from elision.cli.entry import main
else:
    __getattr__ = door(__name__, {"main": "entry"})

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
