"""Which column each box of a layered drawing stands in, and the order within the columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

STAYING = 4.0
"""What a link within a column costs; one that skips n columns costs n."""

BRANCHING = 2.0
"""What a link within a column costs more if it is not one of a chain."""

EVERY_LINK = 0.2
"""Weight that a link has besides its own: rare ones are to be read as well."""

CROWDED = 8.0
"""What a column that is full to its breadth costs."""

SLACK = 1.4
"""How many more columns there may be than the boxes would fill, for lines to pass."""

SWEEPS = 24
ORDER_SWEEPS = 12
MANY = 500
"""Items above which the order is found by fewer sweeps and no swaps."""


class Link(NamedTuple):
    """A line from one box to a later one, the more important the heavier."""

    source: int
    target: int
    weight: float


@dataclass(slots=True)
class Item:
    """What takes room in a column: a box, or a long line on its way through (``box`` is None)."""

    column: int
    box: int | None


@dataclass(slots=True)
class Segment:
    """A piece of a link between items of neighbouring columns."""

    left: int
    right: int
    weight: float
    link: int


@dataclass(slots=True)
class Layers:
    """Items, the segments between them, and each column's items in order from the top."""

    items: list[Item]
    segments: list[Segment]
    columns: list[list[int]]


def layers(
    breadths: Sequence[float], links: Sequence[Link], *, columns: int, breadth: float
) -> Layers:
    """Assign columns, cut long links into segments and order each column.

    Parameters
    ----------
    breadths
        Room that each box takes within its column. The first box stands alone in the first
        column, the last one in the last.
    links
        From earlier to later boxes, no loops.
    columns
        How many columns there may be between the first and the last. If there are too few for
        all links to go onward, some stay within a column, from a box to a lower one.
    breadth
        How full columns may be without being thought crowded.
    """
    column = _columns(breadths, links, columns, breadth)
    items = [Item(column[box], box) for box in range(len(breadths))]
    segments: list[Segment] = []
    for number, link in enumerate(links):
        last = link.source
        for between in range(column[link.source] + 1, column[link.target]):
            items.append(Item(between, None))
            segments.append(Segment(last, len(items) - 1, link.weight, number))
            last = len(items) - 1
        if column[link.source] != column[link.target]:
            segments.append(Segment(last, link.target, link.weight, number))
    staying = [link for link in links if column[link.source] == column[link.target]]
    found = Layers(items, segments, [[] for _ in range(max(column, default=0) + 1)])
    _order(found, staying, _positions(len(breadths), links))
    return found


def _positions(count: int, links: Sequence[Link]) -> list[float]:
    """Expected number of links from the first box to each one."""
    position = [0.0] * count
    total = [0.0] * count
    for link in sorted(links, key=lambda one: one.source):
        source, target = link.source, link.target
        here = position[source] / total[source] if total[source] else 0.0
        weight = link.weight + 1e-9
        position[target] += weight * (here + 1)
        total[target] += weight
    return [at / sum_ if sum_ else 0.0 for at, sum_ in zip(position, total, strict=True)]


def _columns(
    breadths: Sequence[float], links: Sequence[Link], columns: int, breadth: float
) -> list[int]:
    """Columns by a local search from the expected positions; links never go back."""
    count = len(breadths)
    if count <= 2:
        return [*range(count)]
    depth, tail = _depths(count, links)
    longest = depth[count - 1] - 1
    step = 1 if longest <= columns else 0
    columns = min(columns, max(longest, math.ceil(SLACK * sum(breadths) / breadth)))
    ways = _Ways(count, links)
    position = _positions(count, links)
    scale = (columns - 1) / max(1e-9, max(position) - 2)
    column = [0] * (count - 1) + [columns + 1]
    for k in range(1, count - 1):
        low = max((column[j] + step for j, _ in ways.into[k] if j), default=1)
        high = columns + 1 - (tail[k] if step else 1)
        column[k] = max(low, min(high, 1 + round((position[k] - 1) * scale)))
    load = [0.0] * (columns + 2)
    for k in range(1, count - 1):
        load[column[k]] += breadths[k]
    for _ in range(SWEEPS):
        moved = False
        for k in range(1, count - 1):
            best = _best_column(k, column, ways, load, breadths[k], breadth, step)
            if best != column[k]:
                load[column[k]] -= breadths[k]
                load[best] += breadths[k]
                column[k] = best
                moved = True
        if not moved:
            break
    return _closed_up(column)


class _Ways:
    """Neighbours of each box with the weight of the link."""

    def __init__(self, count: int, links: Sequence[Link]) -> None:
        self.into: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        self.out: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        for source, target, weight in links:
            self.into[target].append((source, weight + EVERY_LINK))
            self.out[source].append((target, weight + EVERY_LINK))


def _depths(count: int, links: Sequence[Link]) -> tuple[list[int], list[int]]:
    """Longest way to each box from the first, and from each to the last."""
    depth, tail = [0] * count, [0] * count
    for link in sorted(links, key=lambda one: one.source):
        depth[link.target] = max(depth[link.target], depth[link.source] + 1)
    for link in sorted(links, key=lambda one: -one.target):
        tail[link.source] = max(tail[link.source], tail[link.target] + 1)
    return depth, tail


def _best_column(
    k: int,
    column: list[int],
    ways: _Ways,
    load: list[float],
    size: float,
    breadth: float,
    step: int,
) -> int:
    """Return the cheapest column for one box while the others stay."""
    low = max((column[j] + step for j, _ in ways.into[k] if j), default=1)
    high = min((column[m] - step for m, _ in ways.out[k]), default=len(load) - 2)
    best, least = column[k], np.inf
    for at in range(max(1, low), min(high, len(load) - 2) + 1):
        cost = sum(weight * _stretch(at - column[j]) for j, weight in ways.into[k])
        cost += sum(weight * _stretch(column[m] - at) for m, weight in ways.out[k])
        cost += BRANCHING * _branches(k, at, column, ways)
        without = load[at] - (size if at == column[k] else 0.0)
        cost += CROWDED * (((without + size) / breadth) ** 3 - (without / breadth) ** 3)
        if cost < least - 1e-9:
            best, least = at, cost
    return best


def _branches(k: int, at: int, column: list[int], ways: _Ways) -> int:
    """Count links within a column beyond a chain, if a box were there: they need a way round."""
    above = [j for j, _ in ways.into[k] if column[j] == at]
    below = [m for m, _ in ways.out[k] if column[m] == at]
    beside = sum(m != k and column[m] == at for j in above for m, _ in ways.out[j])
    beside += sum(j != k and column[j] == at for m in below for j, _ in ways.into[m])
    return beside + max(0, len(above) - 1) + max(0, len(below) - 1)


def _stretch(distance: int) -> float:
    return STAYING if distance == 0 else distance - 1.0


def _closed_up(column: list[int]) -> list[int]:
    """Drop empty columns."""
    rank = {at: number for number, at in enumerate(sorted(set(column)))}
    return [rank[at] for at in column]


def _order(found: Layers, staying: list[Link], position: list[float]) -> None:
    """Order each column so that few lines cross, by sweeps of barycentres and swaps."""
    for number, item in enumerate(found.items):
        found.columns[item.column].append(number)
    left, right = _sides(found)
    for column in found.columns:
        column.sort(key=lambda number: _start_key(found.items[number], number, position))
        _keep_down(column, staying)
    best, fewest = found.columns, np.inf
    few = len(found.items) <= MANY
    for sweep in range(ORDER_SWEEPS if few else ORDER_SWEEPS // 3):
        forward = sweep % 2 == 0
        numbers = range(len(found.columns))
        for at in numbers if forward else reversed(numbers):
            _sort_by_neighbours(found, at, left if forward else right, staying)
        if few:
            _swap(found, left, right, staying)
            crossings = _crossings(found, left)
            if crossings < fewest - 1e-9:
                best, fewest = [list(column) for column in found.columns], crossings
    found.columns = best


def _start_key(item: Item, number: int, position: list[float]) -> tuple[float, int]:
    return (position[item.box] if item.box is not None else 0.0, number)


Side = list[list[tuple[int, float]]]


def _sides(found: Layers) -> tuple[Side, Side]:
    """Neighbours of each item on the left and on the right, with weights."""
    left: Side = [[] for _ in found.items]
    right: Side = [[] for _ in found.items]
    for segment in found.segments:
        left[segment.right].append((segment.left, segment.weight + EVERY_LINK))
        right[segment.left].append((segment.right, segment.weight + EVERY_LINK))
    return left, right


def _places(found: Layers) -> list[int]:
    place = [0] * len(found.items)
    for column in found.columns:
        for at, number in enumerate(column):
            place[number] = at
    return place


def _sort_by_neighbours(found: Layers, at: int, side: Side, staying: list[Link]) -> None:
    place = _places(found)
    column = found.columns[at]

    def centre(number: int) -> float:
        near = side[number]
        if not near:
            return float(place[number])
        total = sum(weight for _, weight in near)
        return sum(place[other] * weight for other, weight in near) / total

    column.sort(key=lambda number: (centre(number), place[number]))
    _keep_down(column, staying)


def _keep_down(column: list[int], staying: list[Link]) -> None:
    """Put the targets of links within the column below their sources, right below if possible."""
    inside = set(column)
    below: dict[int, list[int]] = {}
    waiting = dict.fromkeys(column, 0)
    for link in sorted(staying, key=lambda one: one.weight):  # the last one is placed first
        if link.source in inside:
            below.setdefault(link.source, []).append(link.target)
            waiting[link.target] += 1
    if not below:
        return
    placed: list[int] = []
    for first in column:
        ready = [first] if waiting[first] == 0 else []
        while ready:
            number = ready.pop()
            placed.append(number)
            waiting[number] = -1
            for target in below.get(number, []):
                waiting[target] -= 1
                if waiting[target] == 0:
                    ready.append(target)
    column[:] = placed


def _swap(found: Layers, left: Side, right: Side, staying: list[Link]) -> None:
    """Swap neighbours in a column as long as fewer lines cross."""
    place = _places(found)
    chained = {number for link in staying for number in (link.source, link.target)}
    for column in found.columns:
        for _ in range(len(column)):
            swapped = False
            for at in range(len(column) - 1):
                upper, lower = column[at], column[at + 1]
                if upper in chained or lower in chained:
                    continue
                now = _pair(upper, lower, left, place) + _pair(upper, lower, right, place)
                then = _pair(lower, upper, left, place) + _pair(lower, upper, right, place)
                if then < now - 1e-9:
                    column[at], column[at + 1] = lower, upper
                    place[upper], place[lower] = at + 1, at
                    swapped = True
            if not swapped:
                break


def _pair(upper: int, lower: int, side: Side, place: list[int]) -> float:
    """Crossings between the lines of two items if one is above the other, by weight."""
    return sum(
        first * second
        for a, first in side[upper]
        for b, second in side[lower]
        if place[a] > place[b]
    )


def _crossings(found: Layers, left: Side) -> float:
    place = _places(found)
    total = 0.0
    for column in found.columns:
        for at, upper in enumerate(column):
            if left[upper]:
                total += sum(_pair(upper, lower, left, place) for lower in column[at + 1 :])
    return total
