"""Scripts in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from elision.show.draw import draw

if TYPE_CHECKING:
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
