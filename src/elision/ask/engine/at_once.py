"""Many narratives at once: in slices that fit the memory, and without needless collections."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from elision.ask.engine.checks import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from elision.ask.heard import Heard

Answered = TypeVar("Answered")

AT_ONCE = 4096
"""Narratives that are answered together: it bounds the memory, and more gain nothing."""


def in_slices(
    heard: list[Heard], width: int, answer: Callable[[list[Heard]], list[Answered]]
) -> list[Answered]:
    """Answer slices of a list, one after the other; a row of the tables is ``width`` wide."""
    found: list[Answered] = []
    with _collector_paused():
        for part in _sliced(heard, width):
            found += answer(part)
    return found


def _sliced(heard: list[Heard], width: int) -> Iterator[list[Heard]]:
    """Slices of no more narratives and cells than are answered together."""
    part: list[Heard] = []
    cells = 0
    for one in heard:
        size = (len(one.items) + 1) * width
        if part and (len(part) == AT_ONCE or cells + size > MOST_CELLS):
            yield part
            part, cells = [], 0
        part.append(one)
        cells += size
    if part:
        yield part


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the collector of cyclic garbage, which answers have none of.

    It starts whenever many objects were made, and looks through everything that numba and others
    hold: several times the work of making the answers.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
