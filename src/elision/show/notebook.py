"""Scripts and outlines in notebooks: a drawing, a table of lines, a frame of pandas."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from elision import _html
from elision.errors import InputError
from elision.show.draw import draw
from elision.values.outline_reading import condition_name, lines

if TYPE_CHECKING:
    import pandas as pd

    from elision.values.outline import Outline
    from elision.values.script import Script


def script_html(script: Script) -> str:
    """Return a script as a notebook shows it: its drawing, scrolled if the page is narrow.

    Examples
    --------
    >>> import elision as el
    >>> script_html(el.examples.doorbell()).startswith('<div class="elision"')
    True
    """
    drawing = draw(script)
    return (
        f'<div class="elision" style="overflow-x: auto">{drawing.svg}'
        f"<small>{escape(repr(script))}</small></div>"
    )


def outline_html(outline: Outline) -> str:
    """The lines of an outline as an HTML table."""
    rows: list[tuple[str | float, ...]] = [
        ("" if line.number is None else str(line.number), "\u2003" * line.indent + line.text)
        for line in lines(outline)
    ]
    return _html.table(["", outline.title or "what happens"], rows)


def outline_frame(outline: Outline) -> pd.DataFrame:
    """A row a step."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise InputError("pandas is not installed", hint="install elision[files]") from None
    rows = []
    for number, step in enumerate(outline.steps):
        unit = outline.unit_of[number]
        rows.append(
            {
                "step": step.name,
                "event": step.event,
                "told": step.told,
                "happens": outline.happens[number],
                "unsaid": float(outline.unsaid[number]),
                "again": step.again,
                "place": step.place,
                "unit": unit,
                "after": [
                    earlier.name
                    for other, earlier in enumerate(outline.steps)
                    if _directly_before(outline, other, number)
                ],
                "instead of": [
                    outline.steps[other].name
                    for branch in outline.units[unit].branches
                    if number not in branch
                    for other in branch
                ],
                "if": condition_name(outline, number),
            }
        )
    return pd.DataFrame(rows)


def _directly_before(outline: Outline, first: int, second: int) -> bool:
    """Whether one step stands directly before another: in its branch, or by their units."""
    one, other = outline.unit_of[first], outline.unit_of[second]
    if one == other:
        return any((first, second) in pairwise(branch) for branch in outline.units[one].branches)
    if not outline.covers[one, other]:
        return False
    last = any(branch[-1] == first for branch in outline.units[one].branches)
    return last and any(branch[0] == second for branch in outline.units[other].branches)
