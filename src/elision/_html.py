"""Answers as small HTML tables, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BAR_EM = 6
"""Width of the bar of a certain event."""


def table(
    header: Sequence[str], rows: Iterable[Sequence[str | float]], *, caption: str = ""
) -> str:
    """Return a table: texts escaped, numbers as probabilities with a bar.

    Examples
    --------
    >>> table(["event"], [["<b>"]])
    '<table><thead><tr><th>event</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    parts = [f"<caption>{escape(caption)}</caption>"] if caption else []
    parts.append("<thead><tr>" + "".join(f"<th>{escape(one)}</th>" for one in header))
    parts.append("</tr></thead><tbody>")
    parts += ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows]
    return f"<table>{''.join(parts)}</tbody></table>"


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    width = BAR_EM * min(1.0, max(0.0, value))
    style = f"display:inline-block;height:.7em;width:{width:.2f}em;background:currentColor"
    return f'<td style="text-align:left">{value:.1%} <span style="{style};opacity:.4"></span></td>'
