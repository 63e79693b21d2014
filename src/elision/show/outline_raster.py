"""Pictures of outlines as PNG and PDF: the elements of their SVG, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision.show._painter import POINTS, Painter, Shown, dashes
from elision.show.outline_svg import DARK, LIGHT
from elision.show.raster import painted

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET


def rendered_outline(svg: str, kind: str, *, dark: bool = False) -> bytes:
    """Render a picture of an outline.

    Parameters
    ----------
    svg
        As `elision.show.outline_svg.outline_svg` writes it.
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
        lambda axes, root: _OutlinePainter(axes, colours).paint(root),
        hint="draw an .svg or .pdf",
    )


class _OutlinePainter(Painter):
    """Knows the colours of elements by their classes."""

    def _colour(self, element: ET.Element, use: str) -> str:
        for name in element.get("class", "").split():
            if name.startswith(f"{use}-"):
                return self._colours[name.removeprefix(f"{use}-")]
        return "none"

    def _ink(self, shown: Shown) -> dict[str, Any]:
        element = shown.element
        width = float(element.get("stroke-width", 0)) * POINTS
        return {
            "facecolor": self._colour(element, "fill"),
            "edgecolor": self._colour(element, "line"),
            "linewidth": width,
            "linestyle": dashes(element, width) if width else "solid",
            "alpha": shown.opacity,
        }

    def _rectangle(self, shown: Shown) -> None:
        self._put_rectangle(shown, **self._ink(shown))

    def _path(self, shown: Shown) -> None:
        self._put_path(shown, **self._ink(shown))

    def _text(self, shown: Shown) -> None:
        role = shown.element.get("class", "").split()[0]
        colour = self._colour(shown.element, "fill")
        self._put_text(shown, role, color=colour, alpha=shown.opacity)
