"""Pictures as PNG and PDF: the elements of our own SVG, drawn with matplotlib."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from elision.errors import InputError
from elision.show._painter import POINTS, Painter, Shown, dashes
from elision.show.svg import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable


DOTS_PER_PIXEL = 2
LARGEST = 32_000
"""Dots that a PNG may be wide or high."""

# The first font comes with matplotlib; the others are tried for what it lacks.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans",
    "Arial Unicode MS",
    "Microsoft YaHei",
    "Hiragino Sans",
    "Segoe UI Symbol",
)
FAINT_TEXTS = frozenset({"caption", "percent", "more", "silence"})
PARTS = frozenset({"told", "silent", "filled"})


def rendered(svg: str, kind: str, *, dark: bool = False) -> bytes:
    """Render one of our own pictures.

    Parameters
    ----------
    svg
        As `elision.show.svg.svg` writes it.
    kind
        "png" or "pdf".
    dark
        Light letters on dark ground.

    Raises
    ------
    InputError
        If matplotlib is missing or the picture too large.
    """
    colours = DARK if dark else LIGHT
    return painted(
        svg,
        kind,
        lambda axes, root: _ScriptPainter(axes, colours).paint(root),
        hint="draw an .svg or .pdf, or raise `min_share`",
    )


def painted(svg: str, kind: str, paint: Callable[[Any, ET.Element], None], *, hint: str) -> bytes:
    """Let a picture be painted on axes, and return the bytes of its file.

    The hint is for a picture that is too large.
    """
    try:
        matplotlib = import_module("matplotlib")
        figure_module = import_module("matplotlib.figure")
    except ImportError:
        raise InputError(
            f"a {kind.upper()} needs matplotlib, which is not installed",
            hint='pip install "elision[draw]", or draw an .svg',
        ) from None
    root = ET.fromstring(svg)  # noqa: S314 - we wrote it
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    if kind == "png" and max(width, height) * DOTS_PER_PIXEL > LARGEST:
        raise InputError(
            f"the picture of {width:.0f} x {height:.0f} pixels is too large for a PNG",
            hint=hint,
        )
    # Settings that would make the bytes depend on the user's configuration are set back.
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"pdf.fonttype": 42, "font.family": _fonts()})
        warnings.simplefilter("ignore")  # a letter that no font has is drawn as a box
        figure = figure_module.Figure(figsize=(width / 96, height / 96))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        paint(axes, root)
        file = io.BytesIO()
        metadata = {"CreationDate": None} if kind == "pdf" else {"Software": None}
        figure.savefig(file, format=kind, dpi=96 * DOTS_PER_PIXEL, metadata=metadata)
    return file.getvalue()


def _fonts() -> list[str]:
    manager = import_module("matplotlib.font_manager")
    known = set(manager.fontManager.get_font_names())
    return [name for name in FONTS if name in known]


class _ScriptPainter(Painter):
    """Knows the colours of elements by what they are, and by the classes around them."""

    def _rectangle(self, shown: Shown) -> None:
        name = shown.element.get("class", "")
        part = next(iter(shown.classes & PARTS), None)
        style: dict[str, Any] = {"facecolor": self._colours.get(name, "none"), "linewidth": 0}
        if name == "box":
            style["facecolor"] = self._colours[part or "box"]
            style["edgecolor"] = self._colours[f"{part}-line" if part else "outline"]
            style["linewidth"] = (2.4 if part else 1.6) * POINTS
            style["linestyle"] = dashes(shown.element, style["linewidth"])
        self._put_rectangle(shown, **style)

    def _path(self, shown: Shown) -> None:
        colour = self._colours["told-line" if "taken" in shown.classes else "edge"]
        element = shown.element
        style: dict[str, Any]
        if element.get("class") == "head":
            style = {"facecolor": colour, "edgecolor": "none"}
        else:
            width = float(element.attrib["stroke-width"]) * POINTS
            style = {"facecolor": "none", "edgecolor": colour, "linewidth": width}
            style["linestyle"] = dashes(element, width)
        self._put_path(shown, alpha=shown.opacity, capstyle="butt", **style)

    def _text(self, shown: Shown) -> None:
        role = shown.element.get("class", "")
        part = next(iter(shown.classes & PARTS), None)
        colour = self._colours["soft" if role in FAINT_TEXTS else "ink"]
        if role == "note":
            colour = self._colours[f"{part}-line"]
        text = self._put_text(shown, role, color=colour)
        if role == "label":
            effects = import_module("matplotlib.patheffects")
            halo = effects.withStroke(linewidth=3 * POINTS, foreground=self._colours["paper"])
            text.set_path_effects([halo])
