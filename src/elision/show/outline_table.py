"""Outlines as tables and graphs of other libraries: notebooks, pandas, networkx."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.errors import InputError
from elision.values.outline_reading import condition_name, lines

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from elision.values.outline import Outline


def table(outline: Outline) -> str:
    """The lines of an outline as an HTML table."""
    rows: list[tuple[str | float, ...]] = [
        ("" if line.number is None else str(line.number), "\u2003" * line.indent + line.text)
        for line in lines(outline)
    ]
    return _html.table(["", outline.title or "what happens"], rows)


def frame(outline: Outline) -> pd.DataFrame:
    """A row a step."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise InputError("pandas is not installed", hint="install elision[files]") from None
    happened = happening(outline)
    rows = []
    for number, step in enumerate(outline.steps):
        unit = outline.unit_of[number]
        rows.append(
            {
                "step": step.name,
                "event": step.event,
                "told": step.told,
                "happens": happened[number],
                "unsaid": float(outline.unsaid[number]),
                "again": step.again,
                "place": step.place,
                "unit": unit,
                "after": [s for s, n in enumerate(outline.steps) if before(outline, s, number)],
                "instead of": [
                    outline.steps[other].name
                    for branch in outline.units[unit].branches
                    if number not in branch
                    for other in branch
                ],
                "if": condition_name(outline, number),
            }
        )
    made = pd.DataFrame(rows)
    if len(made):
        made["after"] = [[outline.steps[s].name for s in names] for names in made["after"]]
    return made


def happening(outline: Outline) -> list[float]:
    """Probability that each step happens, before anything is told."""
    chances = [0.0] * len(outline.steps)
    for unit in outline.units:
        for branch, share in zip(unit.branches, unit.shares, strict=True):
            for step in branch:
                chances[step] = unit.happens * share
    return chances


def before(outline: Outline, first: int, second: int) -> bool:
    """Whether one step stands directly before another: in its branch, or by their units."""
    one, other = outline.unit_of[first], outline.unit_of[second]
    if one == other:
        return any((first, second) in pairwise(branch) for branch in outline.units[one].branches)
    if not outline.covers[one, other]:
        return False
    last = any(branch[-1] == first for branch in outline.units[one].branches)
    return last and any(branch[0] == second for branch in outline.units[other].branches)


def graph(outline: Outline) -> nx.DiGraph[str]:
    """Steps by name, edges where one stands directly before another, with the evidence."""
    import networkx as nx  # noqa: PLC0415 - slow to import

    made: nx.DiGraph[str] = nx.DiGraph(title=outline.title, tellings=outline.tellings)
    happened = happening(outline)
    for number, step in enumerate(outline.steps):
        made.add_node(
            step.name,
            event=step.event,
            told=step.told,
            happens=happened[number],
            unsaid=float(outline.unsaid[number]),
            again=step.again,
            unit=outline.unit_of[number],
            **({} if (given := condition_name(outline, number)) is None else {"if": given}),
        )
    for first, second in np.ndindex(len(outline.steps), len(outline.steps)):
        if before(outline, first, second):
            one, other = outline.unit_of[first], outline.unit_of[second]
            made.add_edge(
                outline.steps[first].name,
                outline.steps[second].name,
                holds=int(outline.pairs[one, other]),
                broken=int(outline.pairs[other, one]),
            )
    return made
