"""`export`: an outline or a script in the format of another program, by the suffix of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision._files import shown_path, write_atomically
from elision.errors import InputError
from elision.show.bpmn import to_bpmn
from elision.show.draw import draw
from elision.show.drawing_file import SUFFIXES
from elision.show.graphs import to_dot, to_mermaid
from elision.show.openfst import to_openfst
from elision.show.outline_bpmn import outline_bpmn
from elision.show.outline_graphs import outline_dot, outline_json, outline_mermaid
from elision.show.outline_petri import outline_pnml
from elision.show.petri import to_pnml

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from elision.values.outline import Outline
    from elision.values.script import Script

__all__ = ["FORMATS", "export", "to_bpmn", "to_dot", "to_mermaid", "to_openfst", "to_pnml"]

OPENFST, SYMBOLS = ".fst.txt", ".syms.txt"

_WRITERS: dict[str, Callable[..., str]] = {
    ".dot": to_dot,
    ".gv": to_dot,
    ".mmd": to_mermaid,
    ".pnml": to_pnml,
    ".bpmn": to_bpmn,
}


def _json(outline: Outline) -> str:
    return json.dumps(outline_json(outline), ensure_ascii=False, indent=1) + "\n"


_OUTLINE_WRITERS: dict[str, Callable[[Outline], str]] = {
    ".dot": outline_dot,
    ".gv": outline_dot,
    ".mmd": outline_mermaid,
    ".json": _json,
    ".pnml": outline_pnml,
    ".bpmn": outline_bpmn,
}

FORMATS = (*SUFFIXES, *_OUTLINE_WRITERS, OPENFST)
"""Suffixes of the files that `export` can write."""


def export(
    script: Script,
    path: str | PathLike[str],
    *,
    states: bool = False,
    min_share: float | None = None,
) -> None:
    """Write a script to a file in the format that its suffix names, whole or not at all.

    ``.svg``, ``.png`` and ``.pdf`` are drawings, ``.dot``, ``.gv`` and ``.mmd`` graphs for Graphviz
    and Mermaid, ``.json`` a task graph, ``.pnml`` a Petri net, ``.bpmn`` a BPMN process: all of the
    outline, or of the states. ``.fst.txt`` is a transducer of the states for OpenFst, with its
    symbols in a second file that ends in ``.syms.txt``.

    Parameters
    ----------
    script
        The script.
    path
        The file.
    states
        Write the states of the script, not its outline.
    min_share
        With ``states``: leave out what is rarer. By default drawings, graphs and processes show
        what can be read, and nets show all; a transducer is always whole.

    Raises
    ------
    InputError
        If the suffix is none of these or the file cannot be written.
    """
    target = Path(path)
    if target.name.lower().endswith(OPENFST):
        if min_share is not None:
            raise InputError("min_share is given, but a transducer is always whole")
        written = to_openfst(script)
        stem = target.name[: -len(OPENFST)]
        write_atomically(target.with_name(stem + SYMBOLS), written.symbols.encode())
        write_atomically(target, written.arcs.encode())
        return
    suffix = target.suffix.lower()
    if suffix in SUFFIXES:
        draw(script, path, states=states, min_share=min_share)
        return
    if suffix in _OUTLINE_WRITERS and not states:
        if min_share is not None:
            raise InputError(
                "min_share is for states, but the outline is written", hint="ask for states"
            )
        write_atomically(path, _OUTLINE_WRITERS[suffix](script.outline()).encode())
        return
    if suffix == ".json":
        raise InputError("states have no JSON export", hint="the script file is JSON itself")
    if suffix not in _WRITERS:
        raise InputError(
            f"cannot write a file of the kind {suffix or 'without suffix'}",
            where=shown_path(path),
            hint=f"name it {', '.join(FORMATS[:-1])} or {FORMATS[-1]}",
        )
    options: dict[str, Any] = {} if min_share is None else {"min_share": min_share}
    write_atomically(path, _WRITERS[suffix](script, **options).encode())
