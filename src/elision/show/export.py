"""`export`: a script for another program, which the suffix of the file names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from elision._files import shown_path, write_atomically
from elision.errors import InputError
from elision.show.bpmn import outline_bpmn
from elision.show.graphs import outline_dot, outline_json, outline_mermaid, states_dot
from elision.show.petri import outline_pnml

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from elision.values.outline import Outline
    from elision.values.script import Script


def _json(outline: Outline) -> str:
    return json.dumps(outline_json(outline), ensure_ascii=False, indent=1) + "\n"


_WRITERS: dict[str, Callable[[Outline], str]] = {
    ".dot": outline_dot,
    ".gv": outline_dot,
    ".mmd": outline_mermaid,
    ".json": _json,
    ".pnml": outline_pnml,
    ".bpmn": outline_bpmn,
}


def export(script: Script, path: str | PathLike[str], *, states: bool = False) -> None:
    """Write a script to a file in the format that its suffix names, whole or not at all.

    ``.dot``, ``.gv`` and ``.mmd`` are graphs for Graphviz and Mermaid, ``.json`` a task graph,
    ``.pnml`` a Petri net, ``.bpmn`` a BPMN process: all of the outline.

    Parameters
    ----------
    script
        The script.
    path
        The file.
    states
        Write the states of the script, not its outline: for Graphviz only.

    Raises
    ------
    InputError
        If the suffix is none of these or the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if states and suffix not in (".dot", ".gv"):
        raise InputError(
            f"states are written for Graphviz only, not as {suffix or 'a file without suffix'}",
            where=shown_path(path),
            hint="name it .dot, or export the outline",
        )
    if suffix not in _WRITERS:
        *names, last = _WRITERS
        pictures = suffix in (".svg", ".png")
        raise InputError(
            f"cannot write a file of the kind {suffix or 'without suffix'}",
            where=shown_path(path),
            hint="`draw` makes pictures" if pictures else f"name it {', '.join(names)} or {last}",
        )
    text = states_dot(script) if states else _WRITERS[suffix](script.outline())
    write_atomically(path, text.encode())
