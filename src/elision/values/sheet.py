"""`Sheet`: what a library knows of a script without reading it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is known of a script without its arrays.

    Attributes
    ----------
    events
        Its events.
    rates
        How often each is told in a telling, on average.
    bounds
        The most that each can be told with, in any state, given that something is told.
    words
        In how many sentences each word was found, if it was learned from sentences.
    """

    events: tuple[str, ...]
    rates: tuple[float, ...]
    bounds: tuple[float, ...]
    words: Mapping[str, int] | None

    @cached_property
    def word_total(self) -> int:
        """How many words were found in all."""
        return sum((self.words or {}).values())
