"""The elements of our own SVG put on the axes of matplotlib: what all pictures have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from elision.show._boxes import BOLD, PLAIN, SIZES
from elision.show.layout import Box

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
POINTS = 0.75
"""Points in a pixel: a figure has 96 pixels an inch."""

ANCHORS = {"middle": "center", "end": "right"}


class Shown(NamedTuple):
    """An element with the classes, opacity and inner svg around it."""

    element: ET.Element
    classes: frozenset[str]
    opacity: float
    around: Box | None

    @property
    def corner(self) -> tuple[float, float]:
        """Where its coordinates begin."""
        return (self.around.x, self.around.y) if self.around else (0.0, 0.0)


class Painter(ABC):
    """Puts rectangles, paths and texts on axes; a kind of picture says in which colours."""

    def __init__(self, axes: Any, colours: dict[str, str]) -> None:
        self._axes = axes
        self._colours = colours
        self._patches = import_module("matplotlib.patches")
        self._paths = import_module("matplotlib.path")
        self._transforms = import_module("matplotlib.transforms")
        self._order = 0

    def paint(self, root: ET.Element) -> None:
        """Paint all elements below this one."""
        for shown in _walk(root, frozenset(), 1.0, None):
            self._order += 1
            if shown.element.tag == f"{SVG}rect":
                self._rectangle(shown)
            elif shown.element.tag == f"{SVG}path":
                self._path(shown)
            elif shown.element.tag == f"{SVG}text":
                self._text(shown)

    @abstractmethod
    def _rectangle(self, shown: Shown) -> None: ...

    @abstractmethod
    def _path(self, shown: Shown) -> None: ...

    @abstractmethod
    def _text(self, shown: Shown) -> None: ...

    def _put_rectangle(self, shown: Shown, **style: Any) -> None:
        left, top, width, height, radius = (
            float(shown.element.get(name, 0)) for name in ("x", "y", "width", "height", "rx")
        )
        x, y = shown.corner
        radius = min(radius, width / 2, height / 2)
        rounding = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
        self._axes.add_patch(
            self._patches.FancyBboxPatch(
                (x + left, y + top), width, height, boxstyle=rounding, zorder=self._order, **style
            )
        )

    def _put_path(self, shown: Shown, **style: Any) -> None:
        path = self._paths.Path
        data = shown.element.attrib["d"]
        points = _points(data)
        code = path.CURVE4 if "C" in data else path.LINETO
        drawn = path(points, [path.MOVETO, *[code] * (len(points) - 1)])
        self._axes.add_patch(self._patches.PathPatch(drawn, zorder=self._order, **style))

    def _put_text(self, shown: Shown, role: str, **style: Any) -> Any:
        element, around = shown.element, shown.around
        x, y = shown.corner
        text = self._axes.text(
            x + float(element.attrib["x"]),
            y + float(element.attrib["y"]),
            element.text or "",
            fontsize=SIZES.get(role, PLAIN) * POINTS,
            fontweight="bold" if role in BOLD else "normal",
            ha=ANCHORS.get(element.get("text-anchor", ""), "left"),
            va="baseline",
            zorder=self._order,
            parse_math=False,
            **style,
        )
        if around:
            inside = self._transforms.Bbox.from_bounds(*around)
            text.set_clip_box(self._transforms.TransformedBbox(inside, self._axes.transData))
            text.set_clip_on(True)
        return text


def _walk(
    element: ET.Element, classes: frozenset[str], opacity: float, around: Box | None
) -> Iterator[Shown]:
    """Elements in the order of drawing."""
    for child in element:
        inside = classes.union(child.get("class", "").split())
        seen = opacity * float(child.get("opacity", 1))
        yield Shown(child, inside, seen, around)
        frame = around
        if child.tag == f"{SVG}svg":
            frame = Box(*(float(child.attrib[name]) for name in ("x", "y", "width", "height")))
        yield from _walk(child, inside, seen, frame)


def dashes(element: ET.Element, width: float) -> Any:
    """How a line of such a width is broken."""
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
