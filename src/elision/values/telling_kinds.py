"""Kinds of events in a telling model: where there are very many events, rare ones share a kind.

The tables of a telling model grow with the square of what they speak of. So the most told events
have a kind each, and the others, by where in a telling they usually stand, share a few. An event is
as probable as its kind, times its share of that:

    P(e | past) = P(kind of e | kinds of the past) * share(e)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision.errors import ScriptError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_KINDS = 300
"""With no more events than that, each has a kind of its own."""

SHARED_KINDS = 20
"""Kinds that several events share, where there are more."""

UNTOLD = 0.5
"""Times that each event counts as told beside those that it was."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Which kind each event is of.

    Attributes
    ----------
    of
        (events,): the number of its kind.
    share
        (events,): the logarithm of its share of what is told of that kind.
    """

    of: NDArray[np.int64]
    share: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Freeze the arrays, with the numbers that a file can hold."""
        of = np.ascontiguousarray(self.of, np.int64).copy()
        with np.errstate(over="ignore"):
            share = np.asarray(self.share).astype(np.float32).astype(np.float64)
        whole = of.ndim == 1 and of.shape == share.shape and len(of) and of.min() == 0
        if not whole or len(np.unique(of)) != of.max() + 1:
            raise ScriptError("telling model: kinds of events, expected each number from 0 on")
        total = np.bincount(of, np.exp(np.minimum(share, 1.0)))
        if not (share <= 0).all() or not np.allclose(total, 1, rtol=1e-3):
            raise ScriptError("telling model: shares of kinds do not sum to 1")
        for name, value in (("of", of), ("share", share)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def number(self) -> int:
        """How many kinds there are."""
        return int(self.of.max()) + 1

    def spread(self, by_kind: NDArray[np.float64], result: NDArray[np.float64]) -> None:
        """Write what holds of each kind, as a logarithm along the last axis, for each event.

        The end, if there is one, comes last in both.
        """
        events = len(self.of)
        np.take(by_kind, self.of, axis=-1, out=result[..., :events])
        result[..., :events] += self.share
        result[..., events:] = by_kind[..., self.number :]

    def drawn(self, kinds: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw an event of each kind, by their shares."""
        found = np.empty(len(kinds), np.int64)
        for place, kind in enumerate(kinds.tolist()):
            events = np.flatnonzero(self.of == kind)
            chance = np.exp(self.share[events])
            found[place] = (
                events[0] if len(events) == 1 else rng.choice(events, p=chance / chance.sum())
            )
        return found

    def same(self, other: Kinds | None) -> bool:
        """Whether all numbers are the same."""
        return (
            other is not None
            and np.array_equal(self.of, other.of)
            and np.array_equal(self.share, other.share)
        )


def find_kinds(narratives: Sequence[Sequence[int]], events: int) -> Kinds | None:
    """Find the kinds of events, given as numbers; None if there are few enough for one each.

    Examples
    --------
    >>> find_kinds([(0, 1, 2)], 3) is None
    True
    >>> find_kinds([range(MOST_KINDS + 10)], MOST_KINDS + 10).number
    300
    """
    if events <= MOST_KINDS:
        return None
    told = np.concatenate(
        [np.empty(0, np.int64), *(np.asarray(one, np.int64) for one in narratives)]
    )
    places = [(np.arange(len(one)) + 0.5) / max(len(one), 1) for one in narratives]
    count = np.bincount(told, minlength=events)
    summed = np.bincount(told, np.concatenate([np.empty(0), *places]), minlength=events)
    place = summed / np.maximum(count, 1)
    ranked = np.argsort(-count, kind="stable")
    own, rest = np.sort(ranked[: MOST_KINDS - SHARED_KINDS]), ranked[MOST_KINDS - SHARED_KINDS :]
    rest = rest[np.lexsort((rest, place[rest], count[rest] == 0))]  # never told ones go together
    of = np.empty(events, np.int64)
    of[own] = np.arange(len(own))
    for number, part in enumerate(np.array_split(rest, min(SHARED_KINDS, len(rest)))):
        of[part] = len(own) + number
    weight = count + UNTOLD
    return Kinds(of, np.log(weight / np.bincount(of, weight)[of]))


def names_of(kinds: Kinds, events: Sequence[str]) -> list[str]:
    """The name of the one event of each kind; none for a kind that several share."""
    names = [""] * kinds.number
    several = np.bincount(kinds.of) > 1
    for event, kind in zip(events, kinds.of.tolist(), strict=True):
        names[kind] = "" if several[kind] else event
    return names
