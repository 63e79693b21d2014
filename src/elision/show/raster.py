"""Pictures as PNG and PDF: the elements of our own SVG, drawn with matplotlib."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from elision.errors import InputError
from elision.show._boxes import BOLD, PLAIN, SIZES
from elision.show.layout import Box
from elision.show.svg import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SVG = "{http://www.w3.org/2000/svg}"
DOTS_PER_PIXEL = 2
LARGEST = 32_000
"""Dots that a PNG may be wide or high."""

POINTS = 0.75
"""Points in a pixel: a figure has 96 pixels an inch."""

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
        lambda axes, root: _Painter(axes, colours).paint(root),
        hint="draw an .svg or .pdf, or raise `least`",
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


class _Painter:
    """Puts rectangles, curves and texts on axes in the colours of a theme."""

    def __init__(self, axes: Any, colours: dict[str, str]) -> None:
        self._axes = axes
        self._colours = colours
        self._patches = import_module("matplotlib.patches")
        self._paths = import_module("matplotlib.path")
        self._effects = import_module("matplotlib.patheffects")
        self._transforms = import_module("matplotlib.transforms")
        self._order = 0

    def paint(self, root: ET.Element) -> None:
        for element, classes, opacity, around in _walk(root, frozenset(), 1.0, None):
            self._order += 1
            if element.tag == f"{SVG}rect":
                self._rectangle(element, classes, around)
            elif element.tag == f"{SVG}path":
                self._path(element, classes, opacity)
            elif element.tag == f"{SVG}text":
                self._text(element, classes, around)

    def _rectangle(self, element: ET.Element, classes: frozenset[str], around: Box | None) -> None:
        left, top, width, height, radius = (
            float(element.get(name, 0)) for name in ("x", "y", "width", "height", "rx")
        )
        x, y = (around.x, around.y) if around else (0.0, 0.0)
        name = element.get("class", "")
        part = next(iter(classes & PARTS), None)
        style: dict[str, Any] = {"facecolor": self._colours.get(name, "none"), "linewidth": 0}
        if name == "box":
            style["facecolor"] = self._colours[part or "box"]
            style["edgecolor"] = self._colours[f"{part}-line" if part else "outline"]
            style["linewidth"] = (2.4 if part else 1.6) * POINTS
            style["linestyle"] = _dashes(element, style["linewidth"])
        rounding = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
        patch = self._patches.FancyBboxPatch(
            (x + left, y + top), width, height, boxstyle=rounding, zorder=self._order, **style
        )
        self._axes.add_patch(patch)

    def _path(self, element: ET.Element, classes: frozenset[str], opacity: float) -> None:
        colour = self._colours["told-line" if "taken" in classes else "edge"]
        points = _points(element.attrib["d"])
        path = self._paths.Path
        style: dict[str, Any]
        if element.get("class") == "head":
            style = {"facecolor": colour, "edgecolor": "none"}
            codes = [path.MOVETO, *[path.LINETO] * (len(points) - 1)]
        else:
            width = float(element.attrib["stroke-width"]) * POINTS
            style = {"facecolor": "none", "edgecolor": colour, "linewidth": width}
            style["linestyle"] = _dashes(element, width)
            codes = [path.MOVETO, *[path.CURVE4] * (len(points) - 1)]
        drawn = path(points, codes)
        self._axes.add_patch(
            self._patches.PathPatch(
                drawn, alpha=opacity, zorder=self._order, capstyle="butt", **style
            )
        )

    def _text(self, element: ET.Element, classes: frozenset[str], around: Box | None) -> None:
        x, y = (around.x, around.y) if around else (0.0, 0.0)
        role = element.get("class", "")
        part = next(iter(classes & PARTS), None)
        colour = self._colours["soft" if role in FAINT_TEXTS else "ink"]
        if role == "note":
            colour = self._colours[f"{part}-line"]
        text = self._axes.text(
            x + float(element.attrib["x"]),
            y + float(element.attrib["y"]),
            element.text or "",
            fontsize=SIZES.get(role, PLAIN) * POINTS,
            fontweight="bold" if role in BOLD else "normal",
            color=colour,
            ha={"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left"),
            va="baseline",
            zorder=self._order,
            parse_math=False,
        )
        if around:
            inside = self._transforms.Bbox.from_bounds(*around)
            text.set_clip_box(self._transforms.TransformedBbox(inside, self._axes.transData))
            text.set_clip_on(True)
        if role == "label":
            halo = self._effects.withStroke(linewidth=3 * POINTS, foreground=self._colours["paper"])
            text.set_path_effects([halo])


def _walk(
    element: ET.Element, classes: frozenset[str], opacity: float, around: Box | None
) -> Iterator[tuple[ET.Element, frozenset[str], float, Box | None]]:
    """Elements in the order of drawing, with the classes, opacity and inner svg around them."""
    for child in element:
        inside = classes.union(child.get("class", "").split())
        seen = opacity * float(child.get("opacity", 1))
        yield child, inside, seen, around
        frame = around
        if child.tag == f"{SVG}svg":
            frame = Box(*(float(child.attrib[name]) for name in ("x", "y", "width", "height")))
        yield from _walk(child, inside, seen, frame)


def _dashes(element: ET.Element, width: float) -> Any:
    given = element.get("stroke-dasharray")
    if given is None:
        return "solid"
    # matplotlib counts dashes in widths of the line.
    return (0, tuple(float(length) * POINTS / width for length in given.split()))


def _points(data: str) -> list[tuple[float, float]]:
    """Points of a path that has only M, C, L and Z."""
    for command in "MCLZ":
        data = data.replace(command, " ")
    numbers = [float(number) for number in data.split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))
