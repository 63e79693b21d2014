"""Many narratives at once: in slices that fit the memory, and without needless collections."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Given = TypeVar("Given")
Answered = TypeVar("Answered")

AT_ONCE = 4096
"""Narratives that are answered together: it bounds the memory, and more gain nothing."""


def in_slices(
    given: list[Given], answer: Callable[[list[Given]], list[Answered]]
) -> list[Answered]:
    """Answer slices of a list, one after the other."""
    found: list[Answered] = []
    with _collector_paused():
        for first in range(0, len(given), AT_ONCE):
            found += answer(given[first : first + AT_ONCE])
    return found


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
