"""Consoles, and what every command prints with: safe texts, JSON, tables and bars."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table
    from rich.text import Text

out = Console(highlight=False, emoji=False)
if not out.file.isatty():
    out.width = 160
err = Console(stderr=True, highlight=False, emoji=False)

BAR = 20
"""Blocks of a full bar."""

NARROWEST, WIDEST = 24, 48
"""Columns that names before a bar take at least, and at most where the window is narrow."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Line(NamedTuple):
    """A name with a share of the whole, and a remark."""

    name: str
    share: float
    note: str = ""


class Number(str):
    """Name of a column of numbers."""

    __slots__ = ()


def printable(text: str) -> str:
    """Return a text as one line that cannot steer the terminal."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def complain(problem: str) -> None:
    """Print one line of complaint."""
    err.print(f"elision: {printable(problem)}", style="red", markup=False, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """Print one line as it is, whatever is in it."""
    out.print(printable(text), style=style, markup=False, soft_wrap=True)


def print_json(value: object, *, lines: bool = False) -> None:
    """Print a value as JSON, plain whatever the terminal; in one line if ``lines``."""
    text = json.dumps(plain(value), allow_nan=False, indent=None if lines else 2)
    out.out(text, highlight=False)


def plain(value: Any) -> Any:
    """Return answers as JSON has them: mappings, lists, texts and finite numbers.

    Numbers that JSON does not know, such as the logarithm of 0, become null.

    Examples
    --------
    >>> plain({"log_prob": -math.inf, "path": ("a", 1)})
    {'log_prob': None, 'path': ['a', 1]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def bar(share: float) -> str:
    """Return a bar for a share of the whole, of blocks if standard output can write them."""
    block = "#" if out.options.ascii_only else "█"
    return block * round(BAR * min(1.0, max(0.0, share)))


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.123), percent(1.0)
    (' 12%', '100%')
    """
    return f"{share:4.0%}"


def print_lines(lines: Iterable[Line], *, indent: int = 4, style: str = "") -> None:
    """Print names with their shares as bars, one below the other; long names are folded."""
    from rich.cells import cell_len  # noqa: PLC0415 - with tables, slow to import
    from rich.text import Text  # noqa: PLC0415

    shown = [(printable(line.name), line) for line in lines]
    room = max(WIDEST, out.width - indent - len(f" {percent(1)} ") - BAR)
    width = min(max([NARROWEST, *(cell_len(name) for name, _ in shown)]), room)
    for name, line in shown:
        first, *more = Text(name, style).wrap(out, width) or [Text()]
        text = Text(" " * indent).append_text(first)
        text.append(" " * (width - first.cell_len) + f" {percent(line.share)} ")
        text.append(bar(line.share).ljust(BAR), "cyan")
        text.append(f"  {printable(line.note)}", "dim")
        for part in [text, *(Text(" " * (indent + 2)).append_text(rest) for rest in more)]:
            part.rstrip()
            out.print(part, soft_wrap=True)


def make_table(*columns: str | Number) -> Table:
    """Make a table of some columns: texts are folded if they are long, numbers are not."""
    from rich.table import Table  # noqa: PLC0415 - slow to import

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        if isinstance(column, Number):
            table.add_column(cell(column), justify="right", no_wrap=True)
        else:
            table.add_column(cell(column), overflow="fold")
    return table


def cell(text: str, style: str = "") -> Text:
    """Return a text for a table as it is, whatever is in it."""
    from rich.text import Text  # noqa: PLC0415

    return Text(printable(text), style)
