"""Narratives as packed arrays of symbols: hard events, soft ones, and "some event"."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from elision.errors import InputError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Observation: TypeAlias = "str | None | Mapping[str, float]"
"""An event by name, None for "some event, unknown which", or weights of the events it may be."""

Unknown: TypeAlias = Literal["error", "ignore"]
"""What to do with an event that the script does not know."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Distinct narratives as arrays, longest first.

    Attributes
    ----------
    symbol
        Symbols of all distinct narratives, end to end.
    offset
        Narrative s is ``symbol[offset[s]:offset[s + 1]]``.
    weight
        How often each was given.
    place
        ``place[i]`` is the distinct narrative that the i-th given one became.
    soft
        Event weights of the symbols beyond the events themselves, one row each.
    """

    symbol: NDArray[np.uint32]
    offset: NDArray[np.int64]
    weight: NDArray[np.float64]
    place: NDArray[np.int64]
    soft: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the distinct narratives."""
        return len(self.weight)

    def likelihood(self, emission: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of each symbol in each state, shape (states, symbols)."""
        if not len(self.soft):
            return np.ascontiguousarray(emission)
        return np.hstack([emission, emission @ self.soft.T])

    def take(self, which: NDArray[np.int64]) -> Packed:
        """Keep the distinct narratives ``which`` (ascending), for the kernels."""
        lengths = np.diff(self.offset)[which]
        pieces = [self.symbol[self.offset[s] : self.offset[s + 1]] for s in which]
        return Packed(
            symbol=np.concatenate(pieces) if pieces else self.symbol[:0],
            offset=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            weight=self.weight[which],
            place=np.arange(len(which)),
            soft=self.soft,
        )


class Packer:
    """Turns narratives over a fixed vocabulary into `Packed` arrays.

    Examples
    --------
    >>> packed = Packer(("hear", "open")).pack([["hear", "open"], ["hear", None], ["hear", "open"]])
    >>> packed.weight.tolist(), packed.symbol.tolist()
    ([2.0, 1.0], [0, 1, 0, 2])
    """

    def __init__(self, events: Sequence[str], *, unknown: Unknown = "error") -> None:
        if unknown not in ("error", "ignore"):
            raise InputError(f"unknown={unknown!r}, expected 'error' or 'ignore'")
        self._index = {event: number for number, event in enumerate(events)}
        self._unknown = unknown
        self._soft: dict[tuple[tuple[int, float], ...], int] = {}

    def pack(
        self,
        narratives: Iterable[Iterable[Observation]],
        weights: Iterable[float] | None = None,
    ) -> Packed:
        """Pack narratives, identical ones once, with the number of times they were given."""
        distinct: dict[tuple[int, ...], int] = {}
        place: list[int] = []
        weight: list[float] = []
        given = None if weights is None else list(weights)
        for number, narrative in enumerate(narratives):
            key = self._symbols(number, narrative)
            slot = distinct.setdefault(key, len(distinct))
            if slot == len(weight):
                weight.append(0.0)
            weight[slot] += 1.0 if given is None else self._checked_weight(given, number)
            place.append(slot)
        if given is not None and len(given) != len(place):
            raise InputError(f"{len(given)} weights came for {len(place)} narratives")
        return self._arrays(list(distinct), np.asarray(weight, float), np.asarray(place, np.int64))

    def _arrays(
        self,
        keys: list[tuple[int, ...]],
        weight: NDArray[np.float64],
        place: NDArray[np.int64],
    ) -> Packed:
        lengths = np.fromiter((len(key) for key in keys), np.int64, len(keys))
        order = np.argsort(-lengths, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        symbols = [symbol for slot in order for symbol in keys[slot]]
        soft = np.zeros((len(self._soft), len(self._index)))
        for row, pairs in enumerate(self._soft):
            for event, share in pairs:
                soft[row, event] = share
        return Packed(
            symbol=np.asarray(symbols, np.uint32),
            offset=np.concatenate([[0], np.cumsum(lengths[order])]).astype(np.int64),
            weight=weight[order],
            place=rank[place] if len(place) else place,
            soft=soft,
        )

    def _symbols(self, number: int, narrative: Iterable[Observation]) -> tuple[int, ...]:
        if isinstance(narrative, (str, bytes)):
            raise InputError(
                f"narrative {number} is the text {_short(narrative)}, expected a list of events",
                hint="wrap a single narrative in a list of its events",
            )
        items = list(narrative)
        try:  # the common case: names only, all known
            return tuple([self._index[item] for item in items])  # type: ignore[index]
        except (KeyError, TypeError):
            found = [self._symbol(number, position, item) for position, item in enumerate(items)]
            return tuple([symbol for symbol in found if symbol is not None])

    def _symbol(self, number: int, position: int, item: object) -> int | None:
        where = f"narrative {number}, event {position}"
        if isinstance(item, str):
            known = self._index.get(item)
            if known is None and self._unknown == "error":
                raise self._unknown_event(item, where)
            return known
        if item is None:
            return self._soft_symbol(tuple((event, 1.0) for event in range(len(self._index))))
        if isinstance(item, Mapping):
            return self._soft_symbol(self._weights(item, where))
        raise InputError(
            f"{_short(item)} is no event, expected a name, None or weights by name", where=where
        )

    def _soft_symbol(self, pairs: tuple[tuple[int, float], ...]) -> int:
        return len(self._index) + self._soft.setdefault(pairs, len(self._soft))

    def _weights(self, item: Mapping[object, object], where: str) -> tuple[tuple[int, float], ...]:
        pairs = []
        for event, share in item.items():
            if not isinstance(event, str):
                raise InputError(f"{_short(event)} is no event name", where=where)
            if event not in self._index:
                if self._unknown == "error":
                    raise self._unknown_event(event, where)
                continue
            if (
                not isinstance(share, (int, float, np.number))
                or not math.isfinite(share)
                or share < 0
            ):
                raise InputError(
                    f"weight {_short(share)} of {event!r}, expected a number from 0", where=where
                )
            if share > 0:
                pairs.append((self._index[event], float(share)))
        if not pairs:
            raise InputError("no event has a positive weight", where=where)
        return tuple(sorted(pairs))

    def _unknown_event(self, event: str, where: str) -> UnknownEventError:
        near = difflib.get_close_matches(event, self._index, n=3)
        hint = "did you mean " + " or ".join(map(repr, near)) + "?" if near else None
        return UnknownEventError(
            f"unknown event {_short(event)}",
            where=where,
            hint=hint or "unknown='ignore' leaves such events out",
        )

    @staticmethod
    def _checked_weight(weights: list[float], number: int) -> float:
        weight = float(weights[number]) if number < len(weights) else math.nan
        if not (math.isfinite(weight) and weight > 0):
            raise InputError(
                f"weight of narrative {number} is {weight}, expected a positive number"
            )
        return weight


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
