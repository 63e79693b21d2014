"""An outline in a few sentences, for those who do not see its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.show.words import isolated
from elision.values.outline_reading import condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.show._outline_blocks import Block
    from elision.show._outline_words import Sheet
    from elision.show.outline_overlay import State

LONGEST = 60
SUMMED_UP = 12
"""Elements that the summary names at most."""

SUMMED_STATES: tuple[tuple[State, str], ...] = (
    ("unsaid", "Probably done but unsaid"),
    ("astray", "Out of order"),
    ("denied", "Said not to have happened"),
)


def summary(sheet: Sheet, whole: Block | None, title: str) -> str:
    """Return the picture in words: its usual course, and what a telling leaves out of it."""
    steps = len(sheet.outline.steps)
    text = f"Outline{f' of {isolated(title, LONGEST)}' if title else ''} with {steps} step"
    text += "." if steps == 1 else "s."
    if whole is None:
        return text
    parts = whole.parts if whole.kind == "series" else (whole,)
    named = [_said(sheet, part) for part in parts[:SUMMED_UP]]
    more = ["and so on"] if len(parts) > SUMMED_UP else []
    text += f" Usual course: {', then '.join([*named, *more])}."
    if sheet.laid is not None:
        for state, words in SUMMED_STATES:
            found = [k for k, one in enumerate(sheet.laid.states) if one == state]
            if found:
                text += f" {words}: {_list(_name(sheet, k) for k in found[:SUMMED_UP])}."
    return text


def _said(sheet: Sheet, block: Block) -> str:
    if block.kind == "unit":
        unit = sheet.outline.units[block.units[0]]
        return " or ".join(
            " and ".join(_name(sheet, step) for step in branch) + _condition(sheet, branch[0])
            for branch in unit.branches
        )
    if block.kind == "series":
        return " and then ".join(_said(sheet, part) for part in block.parts)
    how = "in any order" if block.kind == "any" else "in several orders"
    return f"{how} ({_list(_said(sheet, part) for part in block.parts)})"


def _condition(sheet: Sheet, step: int) -> str:
    first = condition(sheet.outline, step)
    return "" if first is None else f" if {_name(sheet, first)}"


def _name(sheet: Sheet, step: int) -> str:
    return isolated(sheet.labels[step], LONGEST)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
