"""``elision ...``: parses, calls, prints."""

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""

from elision.cli.entry import main  # noqa: E402 - which knows it

__all__ = ["INTERRUPTED", "main"]
