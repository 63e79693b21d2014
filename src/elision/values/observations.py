"""Narratives as packed arrays of symbols: hard events, soft ones, and "some event"."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from elision._backends import is_frame
from elision.errors import InputError, UnknownEventError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from numpy.typing import NDArray

Observation: TypeAlias = "str | Mapping[str, float] | None"
"""An event by name, None for "some event, unknown which", or weights of the events it may be."""

Unknown: TypeAlias = Literal["error", "ignore"]
"""What to do with an event that the script does not know."""

SMALLEST = 1e-290
"""Sums of probabilities below this have few digits left, and one over them may overflow."""

LONGEST_LIKENED = 100
"""Characters above which no similar name is sought for an unknown event: it takes too long."""


class HeardSentence(dict[str, float]):
    """What a sentence may tell, weights by event, with the words that it tells it in.

    Examples
    --------
    >>> heard = HeardSentence({"open": 0.7, "close": 0.2}, ("open", "door"))
    >>> heard.among({"open"}), heard.among({"open"}).words
    ({'open': 0.7}, ('open', 'door'))
    """

    def __init__(self, weights: Mapping[str, float] = {}, words: Sequence[str] = ()) -> None:
        super().__init__(weights)
        self.words = tuple(words)

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> HeardSentence:
        """Return weights as they are, or, where only these are known, without words."""
        return weights if isinstance(weights, cls) else cls(weights)

    def among(self, events: Container[str | None]) -> HeardSentence:
        """Return the same without the weights of other events."""
        return HeardSentence({e: share for e, share in self.items() if e in events}, self.words)


def words_of(items: Iterable[object]) -> list[tuple[str, ...] | None] | None:
    """Return the words of each sentence, None for a gap; None where not all else are sentences.

    Examples
    --------
    >>> words_of([HeardSentence({"open": 1.0}, ("open", "door")), None])
    [('open', 'door'), None]
    >>> words_of(["open", None]) is None
    True
    """
    found: list[tuple[str, ...] | None] = []
    for item in items:
        if item is not None and not isinstance(item, HeardSentence):
            return None
        found.append(None if item is None else item.words)
    return found if any(found) else None


def beside(items: Iterable[object], events: Iterable[str]) -> list[Observation]:
    """Return events to be put among the items of a telling: sentences without words, if among such.

    >>> beside([HeardSentence({"open": 1.0}, ("open", "door"))], ["close"])
    [{'close': 1.0}]
    >>> beside(["open"], ["close"])
    ['close']
    """
    if words_of(items) is None:
        return [*events]
    return [HeardSentence({event: 1.0}) for event in events]


def likeliest(item: str | Mapping[str, float]) -> str:
    """Return the event that an item most probably is.

    >>> likeliest({"wait": 0.36, "pour": 0.06}), likeliest("pour")
    ('wait', 'pour')
    """
    return item if isinstance(item, str) else max(item, key=lambda event: item[event])


def likeliest_events(items: Iterable[Observation]) -> tuple[str, ...]:
    """Return the events that items most probably are, without those that are none (None).

    >>> likeliest_events([{"wait": 0.36, "pour": 0.06}, None, "drink"])
    ('wait', 'drink')
    """
    return tuple(likeliest(item) for item in items if item is not None)


def surely(item: Observation) -> Observation:
    """Return an item that is one event rather than not as that event, and any other as it was.

    What several weights leave over to one is that it is none of them: they say so of sentences.

    Examples
    --------
    >>> surely({"wash hair": 0.8, "rinse": 0.15}), surely({"wait": 0.36, "pour": 0.06})
    ('wash hair', {'wait': 0.36, 'pour': 0.06})
    """
    if not isinstance(item, Mapping) or not item:
        return item
    event = likeliest(item)
    whole = max(1.0, math.fsum(item.values()))
    return event if len(item) == 1 or 2 * item[event] > whole else item


@dataclass(frozen=True, slots=True, eq=False)
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
        offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.repeat(self.offset[which] - offset[:-1], lengths) + np.arange(offset[-1])
        return Packed(
            symbol=self.symbol[source],
            offset=offset,
            weight=self.weight[which],
            place=np.arange(len(which)),
            soft=self.soft,
        )

    def cut(self, first: int, last: int) -> Packed:
        """The distinct narratives from ``first`` up to ``last``, for the kernels."""
        begin, end = self.offset[first], self.offset[last]
        return Packed(
            symbol=self.symbol[begin:end],
            offset=self.offset[first : last + 1] - begin,
            weight=self.weight[first:last],
            place=np.arange(last - first),
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
        if len(self._index) < len(events):  # symbols beyond the events would collide with them
            raise InputError(f"{len(events)} events, only {len(self._index)} of them distinct")
        self._unknown = unknown
        self._soft: dict[tuple[tuple[int, float], ...], int] = {}

    def pack(
        self,
        narratives: Iterable[Iterable[Observation]],
        weights: Iterable[float] | None = None,
    ) -> Packed:
        """Pack narratives, identical ones once, with the number of times they were given.

        Parameters
        ----------
        narratives
            Events in order; None stands for some event, a mapping for weights by event.
        weights
            How much each narrative counts, 1 if absent.

        Raises
        ------
        UnknownEventError
            If an event is not in the vocabulary and ``unknown`` is "error".
        InputError
            If something is no narrative, no event or no positive weight.
        """
        if is_frame(narratives):
            hint = "read it first: el.read(frame).events"
            raise InputError("a data frame came, expected a list of narratives", hint=hint)
        self._soft = {}
        distinct: dict[tuple[int, ...], int] = {}
        place: list[int] = []
        weight: list[float] = []
        given = None if weights is None else list(weights)
        for number, narrative in enumerate(narratives):
            key = self._symbols(number, narrative)
            slot = distinct.setdefault(key, len(distinct))
            if slot == len(weight):
                weight.append(0.0)
            place.append(slot)
            if given is None:
                weight[slot] += 1.0
            elif number < len(given):
                weight[slot] += _checked_weight(given[number], number)
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

    def kept(self, narrative: Iterable[Observation]) -> list[Observation]:
        """The items of a narrative that `pack` keeps: all, unless unknown events are ignored."""
        items = list(narrative)
        found = [self._symbol(0, position, item) for position, item in enumerate(items)]
        return [item for item, symbol in zip(items, found, strict=True) if symbol is not None]

    def _symbols(self, number: int, narrative: Iterable[Observation]) -> tuple[int, ...]:
        if isinstance(narrative, (str, bytes)):
            raise InputError(
                f"narrative {number} is the text {short(narrative)}, expected a list of events",
                hint="wrap a single narrative in a list of its events",
            )
        items = _items(number, narrative)
        try:  # the common case: names only, all known
            return tuple([self._index[item] for item in items])  # type: ignore[index]
        except (KeyError, TypeError):
            if is_frame(narrative):
                hint = "read it first: el.read(frame), and take one case of that"
                raise InputError("a data frame came, expected one narrative", hint=hint) from None
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
            pairs = self._weights(item, where)
            return self._soft_symbol(pairs) if pairs else None
        raise InputError(
            f"{short(item)} is no event, expected a name, None or weights by name", where=where
        )

    def _soft_symbol(self, pairs: tuple[tuple[int, float], ...]) -> int:
        return len(self._index) + self._soft.setdefault(pairs, len(self._soft))

    def _weights(self, item: Mapping[object, object], where: str) -> tuple[tuple[int, float], ...]:
        """Return the positive weights by event number; none if only unknown events have some."""
        pairs = []
        ignored = False
        for event, share in item.items():
            if not isinstance(event, str):
                raise InputError(f"{short(event)} is no event name", where=where)
            if event not in self._index and self._unknown == "error":
                raise self._unknown_event(event, where)
            number = real(share)
            if not 0 <= number <= 1:
                problem = f"weight {short(share)} of {short(event)}, expected a number from 0 to 1"
                raise InputError(problem, where=where)
            if number > 0 and event in self._index:
                pairs.append((self._index[event], number))
            elif number > 0:
                ignored = True
        if not pairs and not ignored:
            raise InputError("no event has a positive weight", where=where)
        largest = max((share for _, share in pairs), default=1.0)
        if largest < SMALLEST:  # proportions are what matters, and such numbers have lost theirs
            pairs = [(event, share / largest * SMALLEST) for event, share in pairs]
        return tuple(sorted(pairs))

    def _unknown_event(self, event: str, where: str) -> UnknownEventError:
        likened = len(event) <= LONGEST_LIKENED
        near = difflib.get_close_matches(event, self._index, n=3) if likened else []
        hint = "did you mean " + " or ".join(map(short, near)) + "?" if near else None
        return UnknownEventError(
            f"unknown event {short(event)}",
            where=where,
            hint=hint or "unknown='ignore' leaves such events out",
        )


def short(value: object) -> str:
    """Return a value as one line for a message, cut if it is long."""
    try:
        texts = isinstance(value, (str, bytes))
        text = repr(value[:60]) if texts else " ".join(repr(value).split())  # type: ignore[index]
    except ValueError:  # a number of thousands of digits, which Python does not write
        return f"<{type(value).__name__} that is too long to show>"
    return text if len(text) <= 60 else text[:57] + "..."


def real(value: object) -> float:
    """Return a number as float, and NaN for anything else."""
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return math.inf


def _items(number: int, narrative: Iterable[Observation]) -> list[Observation]:
    ordered = not isinstance(narrative, (Mapping, set, frozenset))
    try:
        items = iter(narrative) if ordered else None
    except TypeError:
        items = None
    if items is None:
        raise InputError(f"narrative {number} is {short(narrative)}, expected a list of events")
    return list(items)


def _checked_weight(weight: object, number: int) -> float:
    value = real(weight)
    if not (math.isfinite(value) and value > 0):
        problem = f"weight of narrative {number} is {short(weight)}, expected a positive number"
        raise InputError(problem)
    return value
