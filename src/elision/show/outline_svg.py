"""A picture of an outline as SVG: no script, nothing from elsewhere, colours for both themes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from elision.show import svg as scripts
from elision.show._boxes import BOLD, PLAIN, SIZES

if TYPE_CHECKING:
    from elision.show._boxes import Bar, Text
    from elision.show._outline_legend import Key
    from elision.show._outline_shapes import Frame, Link, Note, StepBox
    from elision.show.layout import Curve
    from elision.show.outline_picture import OutlinePicture
    from elision.show.svg import Theme

LIGHT = {
    **scripts.LIGHT,
    "frame": "#f1f3f5",
    "frame-line": "#b9c1c9",
    "step": "#ffffff",
    "unsaid": "#fdeccb",
    "unsaid-line": "#96520a",
    "astray": "#fbdcd8",
    "astray-line": "#b3261e",
}
DARK = {
    **scripts.DARK,
    "frame": "#1d2226",
    "frame-line": "#47515a",
    "step": "#15181b",
    "unsaid": "#3b2a10",
    "unsaid-line": "#f2b65e",
    "astray": "#46201d",
    "astray-line": "#ff9d93",
}

FADED = 0.45
LEAST_LINE, LEAST_TEXT = 0.35, 0.72
THICK, THIN = 2.4, 1.4
SHAFT, TIE = 1.8, 1.1
DASHES, DOTS = "5 4", "1.5 3"

STATES = ("told", "unsaid", "astray")
SOFT = ("caption", "percent", "more")
