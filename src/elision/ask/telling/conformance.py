"""How well tellings fit, by a telling model: surprises, slips, and a comparison with drawn ones.

Everything is the worth of another telling against that of the one given: two neighbours exchanged,
an event left out, put in or moved elsewhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.ask._checks import whole
from elision.ask._conformance import (
    IMPROBABLE,
    MISPLACED,
    OUT_OF_ORDER,
    SKIPPED,
    STRANGE,
    times,
)
from elision.ask.heard import hear, name_of, single, understood_all
from elision.ask.score import Conformance, Conformances, Flag
from elision.ask.telling.missing import probabilities
from elision.ask.telling.slots import completions, model_of, sketch
from elision.errors import InputError, relocated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.observations import Observation, Unknown
    from elision.script import Script

FORGOTTEN = 2.0
"""How much more often a teller leaves out a usual event than exchanges two, or tells a strange one.

Chosen on Breakfast, CrossTask and DeScript labels for what tells altered tellings from untouched
ones: more finds more omissions and fewer exchanges.
"""

DRAWN = 400
"""Tellings from which is learned how often each event is told."""

LONGEST_ORDERED = 60
"""Events of a telling up to which every move of every event is weighed."""

USUALLY_TOLD = 0.5
"""An event is skipped only if it is told in more than this share of tellings."""


def conform(
    script: Script,
    narratives: Iterable[Iterable[Observation]],
    *,
    unknown: Unknown = "ignore",
    samples: int = 1000,
    random_state: int = 0,
) -> Conformances:
    """Say how well each of many tellings fits, see `elision.ask.score.conform`.

    The p-value compares the mean surprise of an event with that of tellings drawn from the model,
    of whatever length.
    """
    told, ids = understood_all(script, narratives)
    seed = whole(random_state, "random_state")
    examiner = _Examiner(script, unknown, whole(samples, "samples"), seed)
    return Conformances((examiner.examine(number, one) for number, one in enumerate(told)), ids)


def oddness(
    script: Script, narratives: Iterable[Iterable[Observation]], *, unknown: Unknown = "ignore"
) -> NDArray[np.float64]:
    """The oddness of each of many tellings and nothing else, see `elision.ask.score.oddness`."""
    told, _ = understood_all(script, narratives)
    examiner = _Examiner(script, unknown, 0, 0)
    return np.array([examiner.oddness(number, one) for number, one in enumerate(told)])


class _Telling(NamedTuple):
    """A narrative as it is examined: ``places`` says where in it each of the ``items`` stood."""

    names: tuple[str, ...]
    items: list[Observation]
    places: list[int]
    told: NDArray[np.int64]


class _Examiner:
    def __init__(self, script: Script, unknown: Unknown, samples: int, seed: int) -> None:
        self._script, self._unknown = script, unknown
        self._samples, self._seed = samples, seed
        self._model = model_of(script)

    def examine(self, number: int, narrative: Iterable[Observation]) -> Conformance:
        """Examine one telling."""
        telling = self._hear(number, narrative)
        surprises, ending = self._surprises(telling)
        log_prob = -(sum(surprises) + ending)
        per_place: list[float | None] = [None] * len(telling.names)
        for place, surprise in zip(telling.places, surprises, strict=True):
            per_place[place] = (per_place[place] or 0.0) + surprise
        lost = sorted(set(range(len(telling.names))) - set(telling.places))
        flags = [
            Flag("unknown", place, telling.names[place], math.inf, "not in the script")
            for place in lost
        ]
        flags += self._repeated(telling, surprises)
        flags += self._out_of_order(telling)
        flags += self._skipped(telling)
        flags.sort(key=lambda flag: (flag.position, flag.kind))
        return Conformance(
            told=telling.names,
            log_prob=log_prob,
            surprises=tuple(per_place),
            ending=ending,
            p_value=self._p_value(-log_prob / (len(surprises) + 1)),
            oddness=self._oddness(telling),
            flags=tuple(flags),
        )

    def oddness(self, number: int, narrative: Iterable[Observation]) -> float:
        """How odd one telling is."""
        return self._oddness(self._hear(number, narrative))

    def _oddness(self, telling: _Telling) -> float:
        odds = self._odds(telling.told)
        lost = len(telling.names) - len(set(telling.places))
        if lost:
            strange = -lost * math.log(STRANGE) - math.log(len(telling.names))
            odds = float(np.logaddexp(odds, strange))
        return odds - math.log(2 + FORGOTTEN)

    def _hear(self, number: int, narrative: Iterable[Observation]) -> _Telling:
        listed = list(narrative) if isinstance(narrative, Iterator) else narrative
        try:
            heard = hear(self._script, listed, unknown=self._unknown)
            kept = single(heard, "score")
        except InputError as error:
            raise relocated(error, f"narrative {number}") from None
        sketched = sketch(self._model, kept, narrative=number)
        told = sketched.told
        if sketched.slots:
            ways = completions(self._model, sketched)
            best = ways.choices[int(ways.worth.argmax())].tolist()
            for slot, event in zip(sketched.slots, best, strict=True):
                told = np.insert(told, slot.index, event)
        names = tuple(map(name_of, listed))
        return _Telling(names, kept, list(heard.positions), told)

    def _surprises(self, telling: _Telling) -> tuple[list[float], float]:
        """-log P of each event given those before it, and of the end.

        What is open counts as its likeliest event for those after it.
        """
        steps = self._model.step_log_probs([telling.told])[0]
        found = (-steps).tolist()
        for place, item in enumerate(telling.items):
            if isinstance(item, str):
                continue
            ahead = np.exp(self._model.next_log_probs(telling.told[:place]))
            slot = sketch(self._model, [item]).slots[0]
            chance = ahead[slot.options] @ np.exp(slot.log_weights)
            found[place] = -math.log(float(chance))
        return found[:-1], float(found[-1])

    # --- how probable it is among its like ------------------------------------------------------

    @cached_property
    def _drawn(self) -> list[NDArray[np.int64]]:
        tellings = self._script.sample(
            max(self._samples, DRAWN), random_state=np.random.default_rng(self._seed)
        )
        number = self._model.numbers
        return [np.array([number[event] for event in one], np.int64) for one in tellings]

    @cached_property
    def _reference(self) -> NDArray[np.float64]:
        """Mean surprises of drawn tellings, ascending."""
        steps = self._model.step_log_probs(self._drawn[: self._samples])
        return np.sort([-one.mean() for one in steps])

    def _p_value(self, mean: float) -> float | None:
        if not self._samples:
            return None
        above = len(self._reference) - np.searchsorted(self._reference, mean - 1e-9, side="left")
        return (1 + int(above)) / (self._samples + 1)

    @cached_property
    def _told_in(self) -> NDArray[np.float64]:
        """Share of drawn tellings that tell each event."""
        found = np.zeros(len(self._model.events))
        for one in self._drawn[:DRAWN]:
            found[np.unique(one)] += 1
        return np.asarray(found / DRAWN)

    @cached_property
    def _overall(self) -> NDArray[np.float64]:
        """Share of each event among all that are told."""
        every = np.concatenate([np.empty(0, np.int64), *self._drawn[:DRAWN]])
        found = np.bincount(every, minlength=len(self._model.events)) + 1.0
        return np.asarray(found / found.sum())

    # --- what is odd about it -------------------------------------------------------------------

    def _odds(self, told: NDArray[np.int64]) -> float:
        """Logarithm of how much more probable it is with one slip undone, all slips weighed."""
        length = len(told)
        swaps = np.flatnonzero(told[1:] != told[:-1]).tolist()
        exchanged = [_exchanged(told, i) for i in swaps]
        without = [np.delete(told, i) for i in range(length)]
        worth = self._model.worths([told, *exchanged, *without])
        gain = worth[1:] - worth[0]
        parts = [gain[: len(swaps)] - math.log(max(len(swaps), 1))]
        usual = np.log(self._overall[told]) + math.log(MISPLACED) - math.log(max(length, 1))
        parts.append(gain[len(swaps) :] + usual)
        untold = np.ones(len(self._model.events), bool)
        untold[told] = False
        told_in = np.maximum(self._told_in, np.finfo(float).tiny)
        with np.errstate(divide="ignore"):
            rate = np.log(told_in * untold) + math.log(FORGOTTEN) - math.log(length + 1)
        parts.append((self._model.insertions(told) + rate).ravel())
        return float(np.logaddexp.reduce(np.concatenate(parts)))

    def _repeated(self, telling: _Telling, surprises: list[float]) -> Iterator[Flag]:
        seen: Counter[str] = Counter()
        for item, place, surprise in zip(telling.items, telling.places, surprises, strict=True):
            if isinstance(item, str):
                if seen[item] and surprise > -math.log(IMPROBABLE):
                    note = f"told before, {math.exp(-surprise):.1%} probable here"
                    yield Flag("repeated", place, item, surprise, note)
                seen[item] += 1

    def _out_of_order(self, telling: _Telling) -> Iterator[Flag]:
        """Moves that gain much, the best first, none across another."""
        told = telling.told
        if not 2 <= len(told) <= LONGEST_ORDERED:
            return
        moved = [
            np.insert(np.delete(told, i), place, told[i])
            for i in range(len(told))
            for place in range(len(told))
        ]
        worth = self._model.worths(moved).reshape(len(told), len(told))
        gain = worth - worth[0, 0]  # moving the first to the first place changes nothing
        best, most = gain.argmax(axis=1), gain.max(axis=1)
        crossed = np.zeros(len(told), bool)
        for i in np.argsort(-most, kind="stable").tolist():
            if most[i] <= OUT_OF_ORDER:
                break
            target = int(best[i])
            first, last = sorted((i, target))
            if not crossed[first : last + 1].any():
                crossed[first : last + 1] = True
                side = "before" if target < i else "after"
                where = f"{side} {telling.names[telling.places[target]]}"
                note = f"out of order: {times(float(most[i]))} as probable {where}"
                place = telling.places[i]
                yield Flag("out of order", place, telling.names[place], float(most[i]), note)

    def _skipped(self, telling: _Telling) -> Iterator[Flag]:
        """Usual events that are probably missing from the record."""
        chances = probabilities(self._model, self._model.insertions(telling.told))
        chances[:, telling.told] = 0.0
        ends = [*telling.places, len(telling.names)]
        total = np.minimum(chances.sum(axis=0), 1.0)
        for event in np.flatnonzero((total >= SKIPPED) & (self._told_in > USUALLY_TOLD)).tolist():
            place = int(chances[:, event].argmax())
            note = f"probably skipped, {total[event]:.0%}"
            yield Flag("skipped", ends[place], self._model.events[event], float(total[event]), note)


def _exchanged(told: NDArray[np.int64], i: int) -> NDArray[np.int64]:
    found = told.copy()
    found[i], found[i + 1] = told[i + 1], told[i]
    return found
