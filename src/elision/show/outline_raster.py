"""Pictures of outlines as PNG and PDF: the elements of their SVG, drawn with matplotlib."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elision.show._boxes import BOLD, PLAIN, SIZES
from elision.show.outline_svg import DARK, LIGHT
from elision.show.raster import POINTS, SVG, _dashes, _points, _walk, painted

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from elision.show.layout import Box


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
        lambda axes, root: _Painter(axes, colours).paint(root),
        hint="draw an .svg or .pdf",
    )


class _Painter:
    """Puts rectangles, curves and texts on axes in the colours that their classes name."""

    def __init__(self, axes: Any, colours: dict[str, str]) -> None:
        self._axes = axes
        self._colours = colours
        self._patches = import_module("matplotlib.patches")
        self._paths = import_module("matplotlib.path")
        self._transforms = import_module("matplotlib.transforms")
        self._order = 0

    def paint(self, root: ET.Element) -> None:
        for element, _, opacity, around in _walk(root, frozenset(), 1.0, None):
            self._order += 1
            if element.tag == f"{SVG}rect":
                self._rectangle(element, opacity, around)
            elif element.tag == f"{SVG}path":
                self._path(element, opacity)
            elif element.tag == f"{SVG}text":
                self._text(element, opacity, around)

    def _colour(self, element: ET.Element, use: str) -> str:
        for name in element.get("class", "").split():
            if name.startswith(f"{use}-"):
                return self._colours[name.removeprefix(f"{use}-")]
        return "none"

    def _ink(self, element: ET.Element, opacity: float) -> dict[str, Any]:
        width = float(element.get("stroke-width", 0)) * POINTS
        return {
            "facecolor": self._colour(element, "fill"),
            "edgecolor": self._colour(element, "line"),
            "linewidth": width,
            "linestyle": _dashes(element, width) if width else "solid",
            "alpha": opacity,
            "zorder": self._order,
        }

    def _rectangle(self, element: ET.Element, opacity: float, around: Box | None) -> None:
        left, top, width, height, radius = (
            float(element.get(name, 0)) for name in ("x", "y", "width", "height", "rx")
        )
        x, y = (around.x, around.y) if around else (0.0, 0.0)
        radius = min(radius, width / 2, height / 2)
        rounding = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
        self._axes.add_patch(
            self._patches.FancyBboxPatch(
                (x + left, y + top),
                width,
                height,
                boxstyle=rounding,
                **self._ink(element, opacity),
            )
        )

    def _path(self, element: ET.Element, opacity: float) -> None:
        path = self._paths.Path
        points = _points(element.attrib["d"])
        curved = "C" in element.attrib["d"]
        code = path.CURVE4 if curved else path.LINETO
        drawn = path(points, [path.MOVETO, *[code] * (len(points) - 1)])
        self._axes.add_patch(self._patches.PathPatch(drawn, **self._ink(element, opacity)))

    def _text(self, element: ET.Element, opacity: float, around: Box | None) -> None:
        x, y = (around.x, around.y) if around else (0.0, 0.0)
        role = element.get("class", "").split()[0]
        text = self._axes.text(
            x + float(element.attrib["x"]),
            y + float(element.attrib["y"]),
            element.text or "",
            fontsize=SIZES.get(role, PLAIN) * POINTS,
            fontweight="bold" if role in BOLD else "normal",
            color=self._colour(element, "fill"),
            alpha=opacity,
            ha={"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left"),
            va="baseline",
            zorder=self._order,
            parse_math=False,
        )
        if around:
            inside = self._transforms.Bbox.from_bounds(*around)
            text.set_clip_box(self._transforms.TransformedBbox(inside, self._axes.transData))
            text.set_clip_on(True)
