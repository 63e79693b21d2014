"""`TellingModel`: a distribution over tellings that remembers what was told."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import _threads, kernels
from elision.errors import InputError, ScriptError, counted
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from elision.values.near_words import NearWords
    from elision.values.telling_kinds import Kinds


MOST_POWERS = 24
MOST_POWER_CELLS = 4_000_000
"""Exponentials of the tables that are kept: for so many events ago, and in so many cells."""

LARGEST_LOGIT = 1e4
"""Of any table, in size: far above all that is learned, and nothing overflows."""


STEP_WORK = 5_000
"""What a step of numpy's costs beside the numbers that it goes through, in such numbers."""

MOST_PLAIN_WORK = 2_000_000
"""Numbers that numpy goes through for one answer: a few hundredths of a second."""


class Missing(NamedTuple):
    """How log-odds of insertion become the probability that an event is missing at a place.

    logit P = constant + odds * log-odds + rivals * log(sum of exp(log-odds) over all places and
    events of the narrative)
    """

    constant: float
    odds: float
    rivals: float


class Calibration(NamedTuple):
    """How odd tellings were that were not learned from, for comparison.

    Attributes
    ----------
    oddness
        Of each of them, ascending.
    strange
        Share of their events that were not in the model.
    """

    oddness: NDArray[np.float64]
    strange: float

    @classmethod
    def of(cls, oddness: ArrayLike, strange: float) -> Calibration:
        """Numbers as a file can hold them, in order and fixed."""
        with np.errstate(over="ignore"):
            found = np.sort(np.asarray(oddness, np.float32).astype(np.float64))
        if found.ndim != 1 or not np.isfinite(found).all() or not 0 < strange < 1:
            raise ScriptError("telling model: the oddness of usual tellings is out of range")
        found.setflags(write=False)
        return cls(found, float(strange))

    def same(self, other: Calibration | None) -> bool:
        """Whether all numbers are the same."""
        if other is None:
            return False
        return self.strange == other.strange and np.array_equal(self.oddness, other.oddness)


@dataclass(frozen=True, eq=False)
class Chain:
    """One direction of a telling model: each next event given all that was told before it.

    With V events, start and end both number V. After the events s_1 .. s_t the next one is e with
    a probability proportional to exp of

        after[s_t, e] + place[t, e] + sum_i fade^(t-i) memory[s_i, e]
        + (total + average / n) * sum over the n different events d told of told[d, e]
        + again if e is told already + history[the longest history that s ends in, e]

    Attributes
    ----------
    after
        (V + 1, V + 1).
    memory, told
        (V, V + 1).
    place
        (places, V + 1); the last row stands for all further places.
    fade, again, total, average
        Numbers.
    keys, singles, history
        The suffix tree of histories and a row for each of two events or more, see
        `elision.kernels.tellings.Tables`.
    """

    after: NDArray[np.float64]
    memory: NDArray[np.float64]
    told: NDArray[np.float64]
    place: NDArray[np.float64]
    fade: float
    again: float
    total: float
    average: float
    keys: NDArray[np.int64]
    singles: int
    history: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Freeze the arrays, with the numbers that a file can hold."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "keys":
                value = np.ascontiguousarray(value, np.int64).copy()
            elif field.name == "singles":
                value = int(value)
            elif isinstance(value, np.ndarray):
                with np.errstate(over="ignore"):
                    value = np.ascontiguousarray(value.astype(np.float32).astype(np.float64))
            else:
                value = float(value)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)
        self._check()

    def _check(self) -> None:
        size = len(self.memory)
        shapes = {
            "after": (size + 1, size + 1),
            "memory": (size, size + 1),
            "told": (size, size + 1),
            "place": (max(1, len(self.place)), size + 1),
            "history": (max(0, len(self.keys) - self.singles), size + 1),
        }
        for name, shape in shapes.items():
            found = getattr(self, name)
            if found.shape != shape:
                raise ScriptError(f"telling model: {name} is {found.shape}, expected {shape}")
            if not (np.abs(found) <= LARGEST_LOGIT).all():
                raise ScriptError(f"telling model: {name} has a number that is out of range")
        numbers = np.array([self.again, self.total, self.average])
        if not 0 <= self.fade < 1 or not (np.abs(numbers) <= LARGEST_LOGIT).all():
            raise ScriptError("telling model: fade, again, total or average is out of range")
        sorted_keys = (np.diff(self.keys) > 0).all() and (self.keys >= 0).all()
        if not sorted_keys or not 0 <= self.singles <= len(self.keys):
            raise ScriptError("telling model: the keys of its histories are not in order")

    @cached_property
    def nodes(self) -> dict[int, int]:
        """The node that each edge of the suffix tree leads to, by its key."""
        return {key: node for node, key in enumerate(self.keys.tolist(), start=1)}

    @cached_property
    def tables(self) -> Any:
        """The same for the kernels."""
        return kernels.tellings.Tables(
            *(getattr(self, name) for name in kernels.tellings.Tables._fields)
        )

    @cached_property
    def powers(self) -> Any:
        """Exponentials of the tables, as many as are worth their memory."""
        size = max(1, len(self.memory))
        number = max(1, min(MOST_POWERS, MOST_POWER_CELLS // (2 * size * (size + 1))))
        return kernels.tellings.Powers(*kernels.tellings.powers_of(self.tables, number, number))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by making it anew: arrays would come back writable."""
        return Chain, tuple(getattr(self, field.name) for field in fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chain):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


class TellingModel:
    """A proper distribution over tellings of one activity, which remembers what was told.

    It answers what is asked about tellings: gaps, what comes next, orders, scores. What happened in
    silence only a script can say. A telling model belongs to a `Script` of the same events, see
    ``Script.telling``.

    Parameters
    ----------
    events
        Names of the events.
    forward
        The chain that tells from the beginning: the distribution itself.
    backward
        One that tells from the end. Where whole tellings are compared, the mean of both
        log-probabilities is.
    missing
        How probable it is that an event is missing from the record.
    calibration
        How odd tellings were that were not learned from, for comparison.
    kinds
        Which kind each event is of, if the chains speak of kinds that several events share.
    near_words
        What the words of sentences say of the event in a gap between them, or after them.
    """

    def __init__(
        self,
        events: Sequence[str],
        forward: Chain,
        backward: Chain | None = None,
        *,
        missing: Missing | None = None,
        calibration: Calibration | None = None,
        kinds: Kinds | None = None,
        near_words: NearWords | None = None,
    ) -> None:
        self._events = tuple(events)
        if near_words is not None:
            sizes = near_words.around.constant.size, near_words.ahead.constant.size - 1
            if set(sizes) != {len(self._events)}:
                raise ScriptError(f"telling model: near words of {sizes} events")
        if kinds is not None and len(kinds.of) != len(self._events):
            raise ScriptError(f"telling model: kinds of {len(kinds.of)} events")
        number = len(self._events) if kinds is None else kinds.number
        for chain in (forward, backward):
            if chain is not None and len(chain.memory) != number:
                problem = f"telling model of {len(chain.memory)} events, expected"
                raise ScriptError(f"{problem} {number}")
        self._kinds = kinds
        self._near_words = near_words
        self._forward, self._backward, self._missing = forward, backward, missing
        self._size = len(self._events)
        self._calibration = calibration

    @property
    def events(self) -> tuple[str, ...]:
        """Names of the events that can be told."""
        return self._events

    @property
    def forward(self) -> Chain:
        """The chain that tells from the beginning."""
        return self._forward

    @property
    def backward(self) -> Chain | None:
        """The chain that tells from the end, if there is one."""
        return self._backward

    @property
    def missing(self) -> Missing | None:
        """How log-odds of insertion become probabilities, if that was learned."""
        return self._missing

    @property
    def calibration(self) -> Calibration | None:
        """How odd tellings were that were not learned from, if that is known."""
        return self._calibration

    @property
    def kinds(self) -> Kinds | None:
        """Which kind each event is of, if several share one."""
        return self._kinds

    @property
    def near_words(self) -> NearWords | None:
        """What words say of gaps and of what comes next, if it was learned from sentences."""
        return self._near_words

    def with_missing(self, missing: Missing | None) -> TellingModel:
        """Return the same model with another notion of what is missing."""
        return self._with(missing=missing)

    def with_calibration(self, calibration: Calibration | None) -> TellingModel:
        """Return the same model with other tellings to compare with."""
        return self._with(calibration=calibration)

    def with_near_words(self, near_words: NearWords | None) -> TellingModel:
        """Return the same model with other words."""
        return self._with(near_words=near_words)

    def _with(self, **changed: Any) -> TellingModel:
        parts = {
            "missing": self._missing,
            "calibration": self._calibration,
            "kinds": self._kinds,
            "near_words": self._near_words,
        }
        return TellingModel(self._events, self._forward, self._backward, **{**parts, **changed})

    def step_log_probs(self, narratives: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
        """Log-probability of each event given those before it, and of the end, a narrative each."""
        return self._steps(self._forward, [self._checked(one) for one in narratives])

    def _steps(
        self, chain: Chain, narratives: Sequence[NDArray[np.int64]]
    ) -> list[NDArray[np.float64]]:
        found = _steps(chain, [self.kinds_of(one) for one in narratives])
        if self._kinds is not None:
            for steps, told in zip(found, narratives, strict=True):
                steps[:-1] += self._kinds.share[told]
        return found

    def kinds_of(self, told: NDArray[np.int64]) -> NDArray[np.int64]:
        """The kinds of events, which the chains speak of: mostly the events themselves."""
        return told if self._kinds is None else self._kinds.of[told]

    def by_event(self, by_kind: NDArray[np.float64]) -> NDArray[np.float64]:
        """What holds of each kind next, the end last, for each event: mostly the same."""
        if self._kinds is None:
            return by_kind
        result = np.empty((*by_kind.shape[:-1], self._size + 1))
        self._kinds.spread(by_kind, result)
        return result

    def _insert(self, what: str, chain: Chain, *arguments: Any) -> None:
        """Compute insertions into the last of the arguments, by events."""
        *given, result = arguments
        if self._kinds is None:
            _compute(what, chain, *given, result)
            return
        by_kind = np.empty((*result.shape[:-1], self._kinds.number))
        _compute(what, chain, *given, by_kind)
        self._kinds.spread(by_kind, result)

    def _checked(self, told: ArrayLike) -> NDArray[np.int64]:
        """Event numbers as the kernels take them: they do not look where they read."""
        try:
            found = np.ascontiguousarray(told, np.int64)
        except (TypeError, ValueError, OverflowError):
            found = np.full((1, 1), -1)
        if found.ndim != 1 or (len(found) and not (found.min() >= 0 and found.max() < self._size)):
            problem = f"event numbers {short(told)}, expected a list of some from 0"
            raise InputError(f"{problem} to {self._size - 1}")
        return found

    def log_probs(self, narratives: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Log-probability of each telling of event numbers."""
        return np.array([steps.sum() for steps in self.step_log_probs(narratives)])

    def worths(self, narratives: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        """What tellings are compared by: the mean of both directions' log-probabilities."""
        found = self.log_probs(narratives)
        if self._backward is None:
            return found
        turned = [np.ascontiguousarray(self._checked(one)[::-1]) for one in narratives]
        back = [steps.sum() for steps in self._steps(self._backward, turned)]
        return np.asarray((found + back) / 2)

    def next_log_probs(self, told: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log-probability that each event comes next, the end last."""
        result = np.empty(len(self._forward.memory) + 1)
        _compute("next_log_probs", self._forward, self.kinds_of(self._checked(told)), result)
        return self.by_event(result)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each event."""
        return {event: o for o, event in enumerate(self._events)}

    def insert_each(
        self,
        told: Sequence[NDArray[np.int64]],
        places: NDArray[np.int64],
        result: NDArray[np.float64],
    ) -> None:
        """The same as `insertions` for many tellings, at one place of each, into ``result``."""
        lengths = np.array([len(one) for one in told], np.int64)
        offset = np.concatenate([[0], np.cumsum(lengths)])
        events = self.kinds_of(np.concatenate([np.empty(0, np.int64), *told]))
        forward, backward = self._forward, self._backward
        self._insert("insert_each", forward, events, offset, places, result)
        if backward is not None:
            other = np.empty_like(result)
            turned = np.concatenate([np.empty(0, np.int64), *(one[::-1] for one in told)])
            turned = self.kinds_of(turned)
            self._insert("insert_each", backward, turned, offset, lengths - places, other)
            result += other
            result /= 2

    def insertions(
        self, told: NDArray[np.int64], low: int = 0, high: int | None = None
    ) -> NDArray[np.float64]:
        """By how much each event, put at a place, changes the worth of a telling.

        Returns
        -------
        (high - low + 1, events) for the places low..high; by default all, 0 to the number of told
        events. The place i is before the event i.
        """
        told = self.kinds_of(self._checked(told))
        length = len(told)
        high = length if high is None else high
        if not 0 <= low <= high <= length:
            raise InputError(f"places {low} to {high}, expected some from 0 to {length}")
        result = np.empty((high - low + 1, len(self._events)))
        self._insert("insertions", self._forward, told, low, high, result)
        if self._backward is None:
            return result
        other = np.empty_like(result)
        turned = np.ascontiguousarray(told[::-1])
        self._insert("insertions", self._backward, turned, length - high, length - low, other)
        return np.asarray((result + other[::-1]) / 2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TellingModel):
            return NotImplemented
        return (
            self._events == other._events
            and self._forward == other._forward
            and self._backward == other._backward
            and self._missing == other._missing
            and (self._kinds.same(other._kinds) if self._kinds else other._kinds is None)
            and (
                self._calibration.same(other._calibration)
                if self._calibration
                else other._calibration is None
            )
            and (
                self._near_words.same(other._near_words)
                if self._near_words
                else other._near_words is None
            )
        )

    def __hash__(self) -> int:
        return hash((self._events, float(self._forward.after.sum())))

    def __repr__(self) -> str:
        directions = "forward only" if self._backward is None else "both directions"
        return f"TellingModel({counted(len(self._events), 'event')}, {directions})"


def _compute(what: str, chain: Chain, events: NDArray[np.int64], *arguments: Any) -> None:
    """Let numpy answer what is asked once and is small, compiled code what is large or one of many.

    Loading compiled code takes two seconds, a small answer of numpy some milliseconds. Nothing but
    the call decides, so that the same call has the same answer to the last bit.
    """
    if not _threads.in_batch() and _plain_work(what, chain, events, arguments) <= MOST_PLAIN_WORK:
        getattr(kernels.plain_tellings, what)(chain, events, *arguments)
        return
    powers = (chain.powers,) if what in ("insertions", "insert_each") else ()
    getattr(kernels.tellings, what)(chain.tables, *powers, events, *arguments)


def _plain_work(
    what: str, chain: Chain, events: NDArray[np.int64], arguments: tuple[Any, ...]
) -> int:
    """Numbers that numpy would go through, and what its steps cost beside."""
    if what == "insertions":
        low, high, _ = arguments
        steps = (int(high) - int(low) + 1) * (2 * len(events) - int(low) - int(high) + 2) // 2
    elif what == "insert_each":
        offset, places, _ = arguments
        steps = int((offset[1:] - offset[:-1] - places + 1).sum())
    else:
        return (len(events) + 1) * (STEP_WORK + len(chain.after))
    return steps * (STEP_WORK + int(chain.after.size))


def _steps(chain: Chain, narratives: Sequence[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
    lengths = [len(one) for one in narratives]
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    events = np.concatenate([np.empty(0, np.int64), *narratives])
    result = np.empty(len(events) + len(narratives))
    _compute("step_log_probs", chain, events, offset, 0, len(narratives), result)
    ends = (offset + np.arange(len(narratives) + 1)).tolist()
    return [result[first:last] for first, last in pairwise(ends)]
