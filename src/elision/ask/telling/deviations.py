"""What one deviation of the teller would explain: every way to undo one, weighed against none.

A deviation exchanges two neighbours or moves an event, leaves one out, puts one in that does not
belong there, or tells it in place of another. With P the worth of a telling, the odds of a
deviation are

    sum over deviations of P(deviation) P(telling with the deviation undone) / P(telling)

where the four kinds of deviations are as probable as one another, and so are all deviations of a
kind.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.values.telling import TellingModel

FARTHEST = 8
"""Places that an event is moved at most."""

STRANGE = 1e-4
"""Share of events, in tellings without a deviation, that nobody told before, where it is not
known."""

BEFOREHAND = 0.05
"""How probable a deviation is before the telling is looked at."""

MOST_DEVIATIONS = 20
"""Deviations that are looked for in one telling."""

MOST_READ = 4_000_000
"""Events that are read to weigh all deviations of a telling, again after each deviation that was
found. Above some hundred events fewer deviations are looked for, above some 500 only where a
telling is odd."""

KINDS = 4

DeviationKind: TypeAlias = Literal["moved", "left out", "put in", "replaced"]


class Deviation(NamedTuple):
    """One deviation, found in a telling of event numbers.

    Attributes
    ----------
    kind
        What the teller did.
    place
        Of the event that was moved, put in or told in place of another; for one left out, that of
        the event before which it is due.
    event
        The event that is due at the place, if one was left out or replaced, else the one there.
    target
        Where a moved event goes, counted without it.
    gain
        By how much the telling is more probable without the deviation (log).
    chance
        Probability of this deviation.
    """

    kind: DeviationKind
    place: int
    event: int
    target: int
    gain: float
    chance: float


class Weighed(NamedTuple):
    """Gains of undoing each deviation, and with the rates of deviations their log-odds.

    Attributes
    ----------
    moved
        (moves,), see ``moves``: place and target of each.
    put_in
        (events told,).
    left_out
        (places, events).
    replaced
        (events told, events): what each event was told in place of.
    """

    told: NDArray[np.int64]
    moves: NDArray[np.int64]
    moved: NDArray[np.float64]
    put_in: NDArray[np.float64]
    left_out: NDArray[np.float64]
    replaced: NDArray[np.float64]

    def log_odds(self) -> tuple[NDArray[np.float64], ...]:
        """Of each deviation against none: moved, put in, left out, replaced."""
        length, events = self.replaced.shape
        near = np.abs(self.moves[:, 0] - self.moves[:, 1]) == 1
        # Half of the moves are exchanges of neighbours; each of those is here twice.
        moves = np.where(near, near.sum(), (~near).sum()) * (1 + (~near).any())
        return (
            self.moved - np.log(KINDS * moves),
            self.put_in - math.log(KINDS * max(length, 1) * events),
            self.left_out - math.log(KINDS * (length + 1)),
            self.replaced - math.log(KINDS * max(length, 1) * events),
        )

    @property
    def oddness(self) -> float:
        """Logarithm of how much more probable the telling is with one deviation than without."""
        every = np.concatenate([part.ravel() for part in self.log_odds()])
        return float(np.logaddexp.reduce(every))

    def likeliest(self) -> Deviation:
        """The deviation that explains most; its chance counts all places where it may have been."""
        moved, put_in, left_out, replaced = self.log_odds()
        best = {
            "moved": moved.max(initial=-np.inf),
            "put in": put_in.max(initial=-np.inf),
            "left out": left_out.max(),
            "replaced": replaced.max(initial=-np.inf),
        }
        kind: Any = max(best, key=lambda name: best[name])
        if kind == "moved":
            number = int(moved.argmax())
            place, target = self.moves[number].tolist()
            event, gain, alike = int(self.told[place]), self.moved[number], moved
        elif kind == "put in":
            place = target = int(put_in.argmax())
            event, gain = int(self.told[place]), self.put_in[place]
            alike = put_in[self.told == event]
        elif kind == "left out":
            place, event = divmod(int(left_out.argmax()), left_out.shape[1])
            target, gain, alike = place, self.left_out[place, event], left_out[:, event]
        else:
            place, event = divmod(int(replaced.argmax()), replaced.shape[1])
            target, gain, alike = place, self.replaced[place, event], replaced[place]
        share = float(np.logaddexp.reduce(alike)) - self.oddness
        chance = chance_of(self.oddness) * math.exp(min(share, 0.0))
        return Deviation(kind, place, event, target, float(gain), chance)


def weigh(model: TellingModel, told: NDArray[np.int64]) -> Weighed:
    """Weigh every deviation that a telling may have; of a long one, those at odd places."""
    length, events = len(told), len(model.events)
    places = _odd_places(model, told)
    moves = np.array(
        [
            (i, place)
            for i in places.tolist()
            for place in range(max(0, i - FARTHEST), min(length, i + FARTHEST + 1))
            if (told[min(i, place) : max(i, place) + 1] != told[i]).any()
        ],
        np.int64,
    ).reshape(-1, 2)
    moved = [np.insert(np.delete(told, i), place, told[i]) for i, place in moves.tolist()]
    without = [np.delete(told, i) for i in places.tolist()]
    worth = model.worths([told, *moved, *without])
    gain = worth[1:] - worth[0]
    put_in = np.full(length, -np.inf)
    put_in[places] = gain[len(moves) :]
    replaced = np.full((length, events), -np.inf)
    instead = np.empty((len(places), events))
    model.insert_each(without, places, instead)
    replaced[places] = instead + put_in[places, None]
    replaced[np.arange(length), told] = -np.inf
    left_out = _insertions(model, told, places)
    return Weighed(told, moves, gain[: len(moves)], put_in, left_out, replaced)


def most_deviations(length: int) -> int:
    """How many deviations are looked for in a telling of so many events.

    Examples
    --------
    >>> [most_deviations(length) for length in (10, 100, 150, 300, 1000)]
    [20, 20, 9, 2, 1]
    """
    return min(MOST_DEVIATIONS, max(1, MOST_READ // _read(length, length)))


def _read(places: int, length: int) -> int:
    """Events read to weigh the deviations at some places of a telling."""
    return max(1, 2 * (FARTHEST + 1) * places * length)


def _odd_places(model: TellingModel, told: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where deviations are weighed: everywhere, or where a long telling is least probable."""
    length = len(told)
    most = max(1, MOST_READ // _read(1, length))
    if length <= most:
        return np.arange(length)
    steps = model.step_log_probs([told])[0]
    return np.sort(np.argsort(steps[:length], kind="stable")[:most])


def _insertions(
    model: TellingModel, told: NDArray[np.int64], places: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What each event, put at these places, is worth; -inf at the others."""
    if len(places) == len(told):
        return model.insertions(told)
    found = np.full((len(told) + 1, len(model.events)), -np.inf)
    there = np.empty((len(places), len(model.events)))
    model.insert_each([told] * len(places), places, there)
    found[places] = there
    return found


def undone(told: NDArray[np.int64], deviation: Deviation) -> NDArray[np.int64]:
    """The telling as it would be without a deviation."""
    if deviation.kind == "left out":
        return np.insert(told, deviation.place, deviation.event)
    without = np.delete(told, deviation.place)
    if deviation.kind == "put in":
        return without
    return np.insert(without, deviation.target, deviation.event)


def with_unknown(oddness: float, unknown: int, events: int, strange: float = STRANGE) -> float:
    """Oddness of a telling some of whose events nobody told before.

    ``strange`` is the share of such events in tellings without a deviation.
    """
    if not unknown:
        return oddness
    return float(np.logaddexp(oddness, -unknown * math.log(strange) - math.log(events)))


def chance_of(oddness: float) -> float:
    """Probability that there is a deviation at all."""
    value = oddness + math.log(BEFOREHAND / (1 - BEFOREHAND))
    return 0.5 * (1 + math.tanh(value / 2))
