"""Whether narratives still come as they did, and in words how they changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import counted
from elision.learn.exchangeable import YES_OR_NO, ExchangeTest, Grid
from elision.learn.reservoir import Reservoir, Told
from elision.learn.telling import learn_telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.telling import TellingModel

FIRST = 100
MOST = 3200
"""Narratives that the first model to judge by is learned from, and the last; each time twice as
many."""

LEARNED = 2 / 3
"""Share of them that the model is learned from. The others show how probable usual ones are."""

MOST_EVENTS = 64
"""Events whose being told is looked at each by itself: the most common."""

SCORE_SHARE = 0.5
"""Of the rate of false alarms, what goes to log-probabilities; the rest goes to the events."""

MOST_CACHED = 20_000
"""Narratives whose numbers are remembered."""

STRIKING = 4.0
MOST_SHOWN = 3
"""Standard errors from which a changed share is told of, and how many are."""


class Shift(NamedTuple):
    """A share of the narratives that changed; of those with both events, if it is of an order."""

    what: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.what} {self.before:.0%} -> {self.after:.0%}"


@dataclass(frozen=True, slots=True)
class Drift:
    """A change in what comes.

    Attributes
    ----------
    at
        Narratives that had come when it was noticed.
    since
        Narratives that had come before the change, by the best guess.
    log_prob
        Mean log-probability of a narrative before and since, by a model of those before.
    told
        Events that are told more often now, or less, by the share of narratives.
    order
        Pairs of events, as "a before b", that come in another order now.
    """

    at: int
    since: int
    log_prob: tuple[float, float]
    told: tuple[Shift, ...] = ()
    order: tuple[Shift, ...] = ()

    def __str__(self) -> str:
        before, after = self.log_prob
        seen = counted(self.at, "narrative")
        noticed = f"after {seen}: what is told has changed, since about {self.since}"
        parts = [noticed, f"log-probability {before:.2f} -> {after:.2f}"]
        for name, some in (("told", self.told), ("order", self.order)):
            if some:
                parts.append(f"{name}: {', '.join(map(str, some))}")
        return "; ".join(parts)


class Reference:
    """A model of narratives, and what is looked at in those that come after.

    Log-probability, whether an event is told that the model does not know, and whether each of the
    common ones is.

    Parameters
    ----------
    model
        How those before were told, forward.
    told
        Events in all that it was learned from: an unknown one counts as one in more than that.
    watched
        Numbers of the common events.
    """

    def __init__(self, model: TellingModel, told: int, watched: Sequence[int]) -> None:
        self.model = model
        self.told = told
        self.watched = list(watched)
        self._cache: dict[Told, NDArray[np.float64]] = {}

    @classmethod
    def learned(cls, narratives: Sequence[Told], seed: int) -> Reference:
        """Learn it."""
        tellers = Counter(event for one in narratives for event in set(one))
        events = sorted(tellers)
        number = {event: k for k, event in enumerate(events)}
        told = [[number[event] for event in one] for one in narratives]
        model = learn_telling(told, events, backward=False, random_state=seed)
        common = [number[event] for event, _ in tellers.most_common(MOST_EVENTS)]
        return cls(model, sum(map(len, told)), sorted(common))

    def rows(self, narratives: Sequence[Told]) -> NDArray[np.float64]:
        """What is looked at, a row a narrative."""
        if len(self._cache) > MOST_CACHED:
            self._cache.clear()
        new = [one for one in dict.fromkeys(narratives) if one not in self._cache]
        if new:
            self._cache.update(zip(new, self._computed(new), strict=True))
        return np.stack([self._cache[one] for one in narratives])

    def _computed(self, narratives: Sequence[Told]) -> NDArray[np.float64]:
        number = self.model.numbers
        known = [np.array([number[e] for e in one if e in number], np.int64) for one in narratives]
        length = np.array([len(one) for one in narratives])
        unknown = length - [len(one) for one in known]
        says = np.zeros((len(narratives), len(number)))
        for row, one in zip(says, known, strict=True):
            row[one] = 1.0
        total = -self.model.log_probs(known) + unknown * np.log(self.told + 1)
        return np.column_stack([total, unknown > 0, says[:, self.watched]])

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Of the rate of false alarms, what each column has."""
        events = 1 + len(self.watched)
        return np.repeat([SCORE_SHARE, (1 - SCORE_SHARE) / events], [1, events])


class Watch:
    """Watches narratives as they come, and notices when they no longer come as they did.

    Each model is judged by one test, the first with half of the rate of false alarms, the k-th with
    1 / k(k + 1) of it: together they keep it. After a report everything begins anew.

    Parameters
    ----------
    rate
        The probability that there is ever a report while nothing changes.
    seed
        Seed of what is random.
    """

    def __init__(self, rate: float, seed: int) -> None:
        self.rate = rate
        self.seed = seed
        self.restart(0)

    def restart(self, position: int) -> None:
        """Begin anew, after so many narratives."""
        self.began = position
        self.seen = 0
        self.models = 0
        self.test_from = position
        self.sample = Reservoir(MOST)
        self.reference: Reference | None = None
        self.test: ExchangeTest | None = None

    @property
    def next_model(self) -> int | None:
        """How many narratives there are when the next model is learned, if there is to be one."""
        wanted = FIRST << self.models
        return wanted if wanted <= MOST else None

    def see(self, narratives: Sequence[Told], block: Draws) -> tuple[int, int | None]:
        """Take in narratives that come next, up to an alarm.

        Returns
        -------
        how many were taken in, and the column that raised an alarm after the last of them, if any
        """
        taken = 0
        while taken < len(narratives):
            wanted = self.next_model
            room = len(narratives) - taken if wanted is None else wanted - self.seen
            part = narratives[taken : taken + room]
            alarm = None
            if self.test is not None and self.reference is not None:
                position = self.began + self.seen
                draws = block.rows(position, len(part), len(self.reference.shares))
                number, alarm = self.test.see(self.reference.rows(part), draws)
                part = part[:number]
            for one in part:
                position = self.began + self.seen
                self.sample.add(one, position, block.watched(position))
                self.seen += 1
            taken += len(part)
            if alarm is not None:
                return taken, alarm
            if self.seen == self.next_model:
                self._learn()
        return taken, None

    def _learn(self) -> None:
        self.models += 1
        narratives = self.sample.narratives
        order = np.random.default_rng([self.seed, 4, self.models]).permutation(len(narratives))
        cut = round(LEARNED * len(order))
        learned = [narratives[k] for k in order[:cut].tolist()]
        others = [narratives[k] for k in order[cut:].tolist()]
        self.reference = Reference.learned(learned, self.seed)
        grids = [Grid.around(self.reference.rows(learned)[:, 0])]
        grids += [YES_OR_NO] * (1 + len(self.reference.watched))
        rates = self.reference.shares * self.rate / (self.models * (self.models + 1))
        self.test = ExchangeTest(grids, self.reference.rows(others), rates)
        self.test_from = self.began + self.seen

    def change(self, column: int) -> int:
        """The position since which an alarm's column has been another, by the best guess."""
        began = 1 if self.test is None else self.test.changed(column)
        return self.test_from + began - 1

    def described(self, since: int, after: Sequence[Told], at: int) -> Drift:
        """In words, the change since a position, by what came after it."""
        before = [one.told for one in self.sample.kept if one.position < since]
        means = [
            float(-self.reference.rows(some)[:, 0].mean()) if some and self.reference else 0.0
            for some in (before, after)
        ]
        return Drift(at, since, (means[0], means[1]), *shifts(before, after))


class Draws:
    """Uniform draws that belong to positions, whatever pieces the stream comes in."""

    SIZE = 256
    COLUMNS = 2 + MOST_EVENTS

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._number = -1
        self._block = np.empty((0, 0))

    def _row(self, position: int) -> NDArray[np.float64]:
        number, row = divmod(position, self.SIZE)
        if number != self._number:
            rng = np.random.default_rng([self._seed, 5, number])
            self._number, self._block = number, rng.random((self.SIZE, self.COLUMNS + 2))
        return np.asarray(self._block[row])

    def kept(self, position: int) -> float:
        """What decides how long a narrative is learned from."""
        return float(self._row(position)[-1])

    def watched(self, position: int) -> float:
        """What decides how long it is compared with."""
        return float(self._row(position)[-2])

    def rows(self, position: int, number: int, columns: int) -> NDArray[np.float64]:
        """What decides among numbers that are alike."""
        return np.stack([self._row(position + k)[:columns] for k in range(number)])


def shifts(
    before: Sequence[Told], after: Sequence[Told]
) -> tuple[tuple[Shift, ...], tuple[Shift, ...]]:
    """The most striking changes of what is told, and of its order.

    Examples
    --------
    >>> told, order = shifts([("ring", "open")] * 50, [("open", "ring", "wave")] * 50)
    >>> print(*told, *order)
    wave 0% -> 100% open before ring 0% -> 100%
    """
    tellers = [Counter(event for one in some for event in set(one)) for some in (before, after)]
    sizes = (len(before), len(after))
    told = {event: tuple(zip(_each(tellers, event), sizes, strict=True)) for event in _all(tellers)}
    common = {event for event, _ in (tellers[0] + tellers[1]).most_common(MOST_EVENTS)}
    firsts = [_orders(some, common) for some in (before, after)]
    order = {}
    for first, second in sorted({tuple(sorted(pair)) for some in firsts for pair in some}):
        forth, back = _each(firsts, (first, second)), _each(firsts, (second, first))
        pairs = tuple((f, f + b) for f, b in zip(forth, back, strict=True))
        order[f"{first} before {second}"] = pairs
    return _striking(told), _striking(order)


def _each(counters: Sequence[Counter], key: object) -> list[int]:  # type: ignore[type-arg]
    return [counter[key] for counter in counters]


def _all(counters: Sequence[Counter[str]]) -> list[str]:
    return sorted(set().union(*counters))


def _orders(narratives: Sequence[Told], common: set[str]) -> Counter[tuple[str, str]]:
    """How often an event is first told before another."""
    found: Counter[tuple[str, str]] = Counter()
    for one in narratives:
        found.update(combinations(dict.fromkeys(event for event in one if event in common), 2))
    return found


def _striking(shares: dict[str, tuple[tuple[int, int], ...]]) -> tuple[Shift, ...]:
    found = []
    for name, ((some, of), (others, of_others)) in shares.items():
        if not of or not of_others:
            continue
        pooled = (some + others + 1) / (of + of_others + 2)
        error = float(np.sqrt(pooled * (1 - pooled) * (1 / of + 1 / of_others)))
        change = others / of_others - some / of
        if abs(change) >= STRIKING * error:
            found.append((-abs(change) / error, Shift(name, some / of, others / of_others)))
    return tuple(shift for _, shift in sorted(found)[:MOST_SHOWN])
