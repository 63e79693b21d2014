"""The command of a measure of files: figures of each, as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision._files import shown_path, write_atomically
from elision.errors import ElisionError, InputError
from elision.evaluate.names import corpus_names
from elision.evaluate.tables import one_line, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def tell(what: str) -> None:
    """Say on standard error what is being measured."""
    sys.stderr.write(f"{one_line(what)}\n")
    sys.stderr.flush()


def measure_files(
    measured: str,
    described: str | None,
    measure: Callable[[str, int], dict[str, Any]],
    tables: Callable[[dict[str, Any], int], str],
    arguments: Sequence[str] | None = None,
) -> int:
    """Measure the files that a command line names, and return its exit status.

    Parameters
    ----------
    measured
        Name of the module, below `elision.evaluate`, and in the results.
    described
        What ``--help`` says.
    measure
        Gives the figures of a file, by its path and the number of seeds.
    tables
        Gives them in Markdown.
    arguments
        Of the command line; by default those of the process.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m elision.evaluate.{measured}",
        description=described,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="corpora")
    parser.add_argument("--seeds", type=int, default=5, help="splits, or spoilt copies")
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="PATH", help="all figures as JSON, into this file"
    )
    options = parser.parse_args(arguments)
    beginning = f'{{\n "measured": "{measured}",\n'
    try:
        if options.seeds < 1:
            raise InputError(f"--seeds is {options.seeds}, expected a whole number from 1")
        if options.json not in (None, "-"):
            _check_result_path(options.json, beginning)
        files = corpus_names(options.files)
        found = {name: measure(file, options.seeds) for file, name in files.items()}
        result = {"measured": measured, "seeds": options.seeds, "files": found}
        text = json.dumps(result, indent=1) + "\n"
        if options.json not in (None, "-"):
            write_atomically(options.json, text.encode())
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json == "-":
        sys.stdout.write(text)
        return 0
    for name, figures in found.items():
        sys.stdout.write(f"## {plain_text(name)}\n\n{tables(figures, options.seeds)}\n\n")
    return 0


def _check_result_path(path: str, beginning: str) -> None:
    """No file but one of earlier results is replaced: FILE may have been meant."""
    try:
        other = Path(path).exists() and not Path(path).read_bytes().startswith(beginning.encode())
        homeless = not Path(path).absolute().parent.is_dir()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {error}", where=shown_path(path)) from None
    if homeless:
        raise InputError("no folder to write to", where=shown_path(path))
    if other:
        raise InputError(
            "there is another file, and results would replace it",
            where=shown_path(path),
            hint="name the corpora before --json",
        )
