"""Boxes in columns and curves between them: a layered drawing of a graph without circles.

*x* goes along the columns, *y* within them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from elision.show.layers import Layers, Link, Side, layers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Box", "Layout", "Link", "Spacing", "layout"]

ROUNDS = 20
GRAVITIES = (0.01, 0.1, 0.4, 1.6, 6.4)
"""How strongly everything is drawn to the middle, the least one first."""

TALLER = 1.15
"""How much taller than its tallest column a drawing may be, if it is too tall at all."""


class Box(NamedTuple):
    """A rectangle by its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float


Point = tuple[float, float]
Curve = tuple[Point, ...]
"""Cubic splines end to end: a point, then three for each piece."""


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances of a layered drawing.

    Attributes
    ----------
    columns
        Gap between columns.
    boxes, lines
        Least gap between boxes of a column, and between a line passing through and its neighbours.
    staying
        Gap between boxes of a column with a link between them.
    outlets, inlets
        Distance between lines that leave a box, and between lines that reach it.
    """

    columns: float = 46.0
    boxes: float = 18.0
    lines: float = 9.0
    staying: float = 32.0
    outlets: float = 16.0
    inlets: float = 8.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the boxes are, and the curve of each link."""

    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]


def layout(
    sizes: Sequence[tuple[float, float]],
    links: Sequence[Link],
    *,
    columns: int,
    breadth: float,
    spacing: Spacing,
) -> Layout:
    """Place boxes in columns, left to right, and lead the links round them.

    Parameters
    ----------
    sizes
        Width and height of each box, in an order in which links go from earlier to later ones.
    links
        The lines, with weights.
    columns, breadth
        How many columns there may be between the first and the last box, and how tall they
        should be; see `layers`.
    spacing
        Distances.

    Examples
    --------
    >>> sizes, links = [(40, 20), (80, 30), (40, 20)], [Link(0, 1, 1.0), Link(1, 2, 1.0)]
    >>> found = layout(sizes, links, columns=3, breadth=700.0, spacing=Spacing())
    >>> [box.x for box in found.boxes]
    [0.0, 86.0, 212.0]
    """
    room = [height + spacing.boxes for _, height in sizes]
    found = layers(room, links, columns=columns, breadth=breadth)
    apart = [_apart(found, column, sizes, links, spacing) for column in found.columns]
    middle = _within(found, apart, breadth)
    edges = _along(found, sizes, spacing)
    boxes = []
    for k, (w, h) in enumerate(sizes):
        left, right = edges[found.items[k].column]
        boxes.append(Box((left + right - w) / 2, middle[k] - h / 2, w, h))
    curves = _curves(found, boxes, links, middle, edges, spacing)
    top = min([box.y for box in boxes] + [y for curve in curves for _, y in curve])
    return Layout(
        tuple(Box(x, y - top, w, h) for x, y, w, h in boxes),
        tuple(tuple((x, y - top) for x, y in curve) for curve in curves),
    )


def _along(
    found: Layers, sizes: Sequence[tuple[float, float]], spacing: Spacing
) -> list[tuple[float, float]]:
    """Left and right edge of each column."""
    edges: list[tuple[float, float]] = []
    left = 0.0
    for column in found.columns:
        boxes = [found.items[number].box for number in column]
        width = max((sizes[box][0] for box in boxes if box is not None), default=0.0)
        edges.append((left, left + width))
        left += width + spacing.columns
    return edges


def _within(found: Layers, apart: list[list[float]], breadth: float) -> list[float]:
    """Middle of each item within its column: near its neighbours, never too near to the next.

    If columns drift apart, as those of a chain would, they are drawn to the middle more strongly.
    """
    tallest = max(sum(gaps) for gaps in apart)
    middle: list[float] = []
    for gravity in GRAVITIES:
        middle = _drawn_together(found, apart, gravity)
        if max(middle) - min(middle) <= max(breadth, TALLER * tallest):
            break
    return middle


def _drawn_together(found: Layers, apart: list[list[float]], gravity: float) -> list[float]:
    """Positions by sweeps over the columns, each drawn to its neighbours' and to the middle."""
    middle = [0.0] * len(found.items)
    for column, gaps in zip(found.columns, apart, strict=True):
        at = -sum(gaps) / 2
        for number, gap in zip(column, [0.0, *gaps], strict=True):
            at += gap
            middle[number] = at
    left, right = _pulls(found)
    for turn in range(ROUNDS):
        forward = turn % 2 == 0
        both = turn >= ROUNDS // 2
        order = range(len(found.columns)) if forward else range(len(found.columns) - 1, -1, -1)
        for at in order:
            pulls = []
            for number in found.columns[at]:
                near = left[number] if forward or both else []
                near = near + right[number] if not forward or both else near
                total = gravity + sum(weight for _, weight in near)
                pulls.append((sum(middle[k] * weight for k, weight in near) / total, total))
            for number, y in zip(found.columns[at], _spread(pulls, apart[at]), strict=True):
                middle[number] = y
    return middle


def _pulls(found: Layers) -> tuple[Side, Side]:
    """Neighbours of each item left and right, with how strongly they pull: long lines straight."""
    left: Side = [[] for _ in found.items]
    right: Side = [[] for _ in found.items]
    for segment in found.segments:
        passing = (found.items[segment.left].box is None) + (found.items[segment.right].box is None)
        strength = (0.1 + segment.weight) * (1, 2, 6)[passing]
        left[segment.right].append((segment.left, strength))
        right[segment.left].append((segment.right, strength))
    return left, right


def _apart(
    found: Layers,
    column: list[int],
    sizes: Sequence[tuple[float, float]],
    links: Sequence[Link],
    spacing: Spacing,
) -> list[float]:
    """Least distance between the middles of each two neighbours in a column."""
    joined = {(link.source, link.target) for link in links}
    gaps = []
    for pair in pairwise(column):
        upper, lower = (found.items[number].box for number in pair)
        gap = spacing.lines if upper is None or lower is None else spacing.boxes
        if (upper, lower) in joined:
            gap = spacing.staying
        if upper is not None:
            gap += sizes[upper][1] / 2
        if lower is not None:
            gap += sizes[lower][1] / 2
        gaps.append(gap)
    return gaps


def _spread(pulls: list[tuple[float, float]], gaps: list[float]) -> list[float]:
    """Positions nearest to the wanted ones, by weighted squares, that keep the gaps.

    Subtracting the gaps summed up leaves a monotone regression, solved by pooling neighbours.
    """
    offset = 0.0
    offsets = []
    pools: list[list[float]] = []  # wanted position, weight, how many
    for number, (wanted, weight) in enumerate(pulls):
        offset += gaps[number - 1] if number else 0.0
        offsets.append(offset)
        pools.append([wanted - offset, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            later, earlier = pools.pop(), pools.pop()
            weight = earlier[1] + later[1]
            mean = (earlier[0] * earlier[1] + later[0] * later[1]) / weight
            pools.append([mean, weight, earlier[2] + later[2]])
    placed = [pool[0] for pool in pools for _ in range(int(pool[2]))]
    return [at + offset for at, offset in zip(placed, offsets, strict=True)]


def _curves(
    found: Layers,
    boxes: list[Box],
    links: Sequence[Link],
    middle: list[float],
    edges: list[tuple[float, float]],
    spacing: Spacing,
) -> list[Curve]:
    """Lead each link through the gaps between columns, and straight through the columns."""
    segments: list[list[tuple[int, int]]] = [[] for _ in links]
    for segment in found.segments:
        segments[segment.link].append((segment.left, segment.right))
    outlet, inlet = _ports(boxes, segments, links, middle, spacing)
    curves: list[Curve] = []
    for number, link in enumerate(links):
        if not segments[number]:
            curves.append(_staying(found, boxes, link, edges, spacing))
            continue
        box = boxes[link.source]
        y = outlet[number]
        points: list[Point] = [(box.x + box.width, y)]
        for left, right in segments[number]:
            start = edges[found.items[left].column][1]
            item = found.items[right]
            goal = edges[item.column][0]
            _straight(points, (start, y))
            ahead = inlet[number] if item.box is not None else middle[right]
            bend = (goal - start) * 0.55
            points += [(start + bend, y), (goal - bend, ahead), (goal, ahead)]
            y = ahead
        _straight(points, (boxes[link.target].x, y))
        curves.append(tuple(points))
    return curves


def _straight(points: list[Point], end: Point) -> None:
    """Go on straight to a point, unless it is reached already."""
    x, y = points[-1]
    if abs(end[0] - x) > 1e-9:
        third = (end[0] - x) / 3
        points += [(x + third, y), (end[0] - third, end[1]), end]


def _ports(
    boxes: list[Box],
    segments: list[list[tuple[int, int]]],
    links: Sequence[Link],
    middle: list[float],
    spacing: Spacing,
) -> tuple[dict[int, float], dict[int, float]]:
    """Where each link leaves and reaches its boxes: in the order of where it goes to or from."""
    leaving: dict[int, list[int]] = {}
    reaching: dict[int, list[int]] = {}
    for number, link in enumerate(links):
        if segments[number]:
            leaving.setdefault(link.source, []).append(number)
            reaching.setdefault(link.target, []).append(number)
    outlet: dict[int, float] = {}
    inlet: dict[int, float] = {}
    for ports, sides, gap, end in (
        (outlet, leaving, spacing.outlets, 0),
        (inlet, reaching, spacing.inlets, -1),
    ):
        for box, numbers in sides.items():
            numbers.sort(key=lambda number: (middle[segments[number][end][end + 1]], number))
            y, height = boxes[box].y + boxes[box].height / 2, boxes[box].height
            step = min(gap, (height - 10) / max(1, len(numbers) - 1))
            for place, number in enumerate(numbers):
                ports[number] = y + (place - (len(numbers) - 1) / 2) * step
    return outlet, inlet


def _staying(
    found: Layers,
    boxes: list[Box],
    link: Link,
    edges: list[tuple[float, float]],
    spacing: Spacing,
) -> Curve:
    """A link within a column: straight down, or round what lies between."""
    upper, lower = boxes[link.source], boxes[link.target]
    column = found.columns[found.items[link.source].column]
    first, last = column.index(link.source), column.index(link.target)
    between = [number for number in column[first + 1 : last] if found.items[number].box is not None]
    if not between:
        x, start, end = upper.x + upper.width / 2, upper.y + upper.height, lower.y
        third = (end - start) / 3
        return ((x, start), (x, start + third), (x, end - third), (x, end))
    edge = edges[found.items[link.source].column][1]
    out = edge + spacing.columns * 0.8
    start, end = upper.y + upper.height * 0.85, lower.y + lower.height * 0.15
    points: list[Point] = [(upper.x + upper.width, start)]
    _straight(points, (edge, start))
    points += [(out, start), (out, end), (edge, end)]
    _straight(points, (lower.x + lower.width, end))
    return tuple(points)
