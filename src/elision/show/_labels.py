"""Probabilities beside the lines of a picture, where they help and nothing is in the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from elision.show._boxes import PLAIN, Text
from elision.show.layout import Box
from elision.show.words import percent, width

if TYPE_CHECKING:
    from elision.show.picture import Edge

LABELLED = 40
"""Pictures with more edges than this name the probabilities of the most used ones only."""

RAREST_LABEL = 0.06
CERTAIN = 0.995


def labelled(edges: list[Edge], taken: list[Box]) -> list[Edge]:
    """Put probabilities beside the starts of edges, where there is a choice and nothing else."""
    ways = Counter(edge.source for edge in edges)
    least = RAREST_LABEL if len(edges) > LABELLED else 0.0
    found: dict[int, Text] = {}
    for number in sorted(range(len(edges)), key=lambda number: (-edges[number].flow, number)):
        edge = edges[number]
        chosen = ways[edge.source] > 1 and edge.probability < CERTAIN
        if not (chosen and (edge.flow >= least or edge.taken)):
            continue
        label = _label(edge)
        box = label_box(label)
        if not any(overlapping(box, other) for other in taken):
            taken.append(box)
            found[number] = label
    return [replace(edge, label=found.get(number)) for number, edge in enumerate(edges)]


def _label(edge: Edge) -> Text:
    """Return the probability of an edge, above the start of its line or to the right of it."""
    text = percent(edge.probability)
    (x, y), (ahead_x, ahead_y) = edge.curve[0], edge.curve[1]
    if edge.source == edge.target:
        return Text(x - 4, y - 5, text, "label", "end")
    if abs(ahead_x - x) > abs(ahead_y - y):
        return Text(x + 3, y - 3, text, "label")
    return Text(x + 4, y + 12, text, "label")


def label_box(label: Text) -> Box:
    """Return the room that a label may take."""
    wide = width(label.text, PLAIN)
    left = label.x - (wide if label.anchor == "end" else 0.0)
    return Box(left, label.y - PLAIN * 0.8, wide, PLAIN * 0.85)


def overlapping(one: Box, other: Box) -> bool:
    """Whether two boxes share more than a border."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )
