"""``pack``: narratives that do not fit in memory, put where learning can stream over them."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import elision as el
from elision import scale
from elision._files import temporary_folder_in
from elision.cli.app import (
    AsJson,
    Reading,
    app,
    note_order,
    reads,
)
from elision.errors import InputError
from elision.terminal import err, print_json, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.scale.packed_corpus import PackedCorpus

Memory = Annotated[
    str | None,
    typer.Option(help="Read in parts, with at most so much memory, such as '1 GiB'."),
]


@app.command()
@reads
def pack(
    *,
    files: Annotated[list[str], typer.Argument(help="Files of narratives, or of one event log.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the packed corpus.")],
    memory: Memory = "1 GiB",
    reading: Reading,
    as_json: AsJson = False,
) -> None:
    """Pack narratives into a folder to learn from, identical ones once, in little memory.

    Example: `elision pack january.parquet february.parquet -o sessions`
    """
    made = el.pack(
        files,
        output,
        memory=memory or "1 GiB",
        **reading,
    )
    note_order(files[0], reading)
    if as_json:
        print_json(
            {
                "folder": str(output),
                "domains": {
                    name: {"narratives": one.narratives, "distinct": one.distinct,
                           "events": len(one.events), "parts": len(one.parts)}
                    for name, one in made.corpora.items()
                },
                "slices": made.slices,
                "spilled": made.spilled,
                "whole": list(made.whole),
            }
        )  # fmt: skip
        return
    for line in str(made).splitlines():
        say(line)
    say(f"Written to {output}.")


def is_folder(narratives: str) -> bool:
    """Whether narratives are to be found in a folder: packed ones."""
    return narratives != "-" and Path(narratives).is_dir()


@contextmanager
def packed(
    narratives: str,
    output: Path,
    *,
    memory: str | None,
    sentences: bool | None,
    types: Path | None,
    **reading: Any,
) -> Iterator[dict[str, PackedCorpus]]:
    """Open packed narratives, or pack a file beside the output for the time being."""
    if sentences or types is not None:
        problem = "sentences cannot be learned from in parts, only events"
        raise InputError(problem, hint="turn them into events first: elision events")
    if is_folder(narratives):
        yield scale.packed_corpus.packed_in(narratives)
        return
    if not output.parent.is_dir():
        raise InputError(f"no folder {str(output.parent)!r} to write to", where=str(output))
    with temporary_folder_in(output.parent) as folder:
        made = scale.packing.pack(
            [narratives],
            folder / "packed",
            memory=memory or "",
            **reading,
        )
        note_order(narratives, reading)
        for line in str(made).splitlines()[1:]:
            err.print(line, markup=False, highlight=False)
        yield made.corpora
