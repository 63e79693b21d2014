"""Layered layouts: boxes stand apart, lines keep off them, and everything goes onward."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elision.show.layout import Link, Spacing, layout

ROUNDED = 0.15


def overlapping(one, other):
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


@st.composite
def graphs(draw):
    """Sizes and links of a graph without circles, the first box before all, the last after all."""
    count = draw(st.integers(2, 14))
    random = draw(st.randoms(use_true_random=False))
    links = {}
    for k in range(1, count):
        links[random.randrange(k), k] = random.random()
    for k in range(count - 1):
        links[k, random.randrange(k + 1, count)] = random.random()
    for _ in range(draw(st.integers(0, 2 * count))):
        j, k = sorted(random.sample(range(count), 2))
        links[j, k] = random.random()
    sizes = [(random.uniform(30, 130), random.uniform(20, 120)) for _ in range(count)]
    return sizes, [Link(j, k, weight) for (j, k), weight in sorted(links.items())]


def points_along(curve, each=9):
    for start in range(0, len(curve) - 1, 3):
        a, b, c, d = (np.array(point) for point in curve[start : start + 4])
        for t in np.linspace(0, 1, each):
            s = 1 - t
            yield s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d


def distance_to_border(point, box):
    x, y = point
    sides = (
        abs(x - box.x) if box.y - ROUNDED <= y <= box.y + box.height + ROUNDED else np.inf,
        abs(x - box.x - box.width)
        if box.y - ROUNDED <= y <= box.y + box.height + ROUNDED
        else np.inf,
        abs(y - box.y) if box.x - ROUNDED <= x <= box.x + box.width + ROUNDED else np.inf,
        abs(y - box.y - box.height)
        if box.x - ROUNDED <= x <= box.x + box.width + ROUNDED
        else np.inf,
    )
    return min(sides)


def inside(point, box, slack=ROUNDED):
    x, y = point
    return (
        box.x + slack < x < box.x + box.width - slack
        and box.y + slack < y < box.y + box.height - slack
    )


@settings(max_examples=150)
@given(graphs(), st.integers(1, 8), st.sampled_from([150.0, 700.0]))
def test_layout_keeps_boxes_apart_and_lines_off_them(graph, columns, breadth):
    sizes, links = graph
    found = layout(sizes, links, columns=columns, breadth=breadth, spacing=Spacing())
    assert [(round(w, 6), round(h, 6)) for _, _, w, h in found.boxes] == [
        (round(w, 6), round(h, 6)) for w, h in sizes
    ]
    for k, box in enumerate(found.boxes):
        assert box.x >= -1e-6
        assert box.y >= -1e-6
        assert not any(overlapping(box, other) for other in found.boxes[:k])
    for link, curve in zip(links, found.curves, strict=True):
        assert len(curve) % 3 == 1
        assert distance_to_border(curve[0], found.boxes[link.source]) < 1e-6
        assert distance_to_border(curve[-1], found.boxes[link.target]) < 1e-6
        for point in points_along(curve):
            assert not any(inside(point, box) for box in found.boxes)


@settings(max_examples=100)
@given(graphs(), st.integers(1, 30))
def test_links_never_go_back(graph, columns):
    sizes, links = graph
    found = layout(sizes, links, columns=columns, breadth=700.0, spacing=Spacing())
    for link in links:
        source, target = found.boxes[link.source], found.boxes[link.target]
        ahead = target.x + target.width / 2 - source.x - source.width / 2
        assert ahead > 1e-6 or (abs(ahead) <= 1e-6 and target.y > source.y)


def test_enough_columns_keep_a_chain_in_one_line():
    links = [Link(k, k + 1, 1.0) for k in range(5)]
    found = layout([(50, 20)] * 6, links, columns=4, breadth=700.0, spacing=Spacing())
    assert {box.y for box in found.boxes} == {0}
