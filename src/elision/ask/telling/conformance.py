"""How well tellings fit, by a telling model: surprises, deviations, how usual ones compare."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _threads
from elision._backends import library_of
from elision.ask import sentences
from elision.ask.engine.checks import share_of, whole
from elision.ask.engine.conformance import times
from elision.ask.engine.passing import Passing, untold
from elision.ask.heard import hear, name_of, single, understood_all
from elision.ask.score import FALSE_ALARMS, Conformance, Conformances, Deviations, Flag, named
from elision.ask.telling.deviations import (
    STRANGE,
    Deviation,
    most_deviations,
    undone,
    weigh,
    with_unknown,
)
from elision.ask.telling.slots import likeliest, model_of, sketch
from elision.errors import InputError, relocated
from elision.values.observations import surely
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.score import Kind
    from elision.values.observations import Observation, Unknown
    from elision.values.outline import Outline
    from elision.values.script import Script


MOST_DRAWN = 200
"""Tellings that are drawn at most, where none were held out: each is weighed with all its
deviations."""

ALIKE = 0.25
"""Tellings whose oddness differs by less count as equally odd: the models that judged the tellings
held out have seen fewer than the one that judges now, and differ by about that much."""

LEAST_CHANCE = 0.1
"""Of a deviation that is flagged. An odd telling may have none that is so probable by itself."""


def conform(
    script: Script,
    narratives: Iterable[Iterable[Observation]],
    *,
    unknown: Unknown = "ignore",
    false_alarms: float = FALSE_ALARMS,
    samples: int = 1000,
    random_state: int = 0,
) -> Conformances:
    """Say how well each of many tellings fits, see `elision.ask.score.conform`.

    The p-value compares the oddness with that of tellings which were not learned from, or, where
    the model knows of none, with that of drawn ones; and what speaks for a step's coming too late
    with what spoke for it in usual tellings, where the script has an outline that knows. Like
    tellings are looked at once.
    """
    told, ids = understood_all(script, narratives)
    seed = whole(random_state, "random_state")
    rate = share_of(false_alarms, "false_alarms")
    examiner = _Examiner(script, unknown, rate, whole(samples, "samples"), seed)
    return Conformances(examiner.examine(told), ids, library_of(narratives))


class _Telling(NamedTuple):
    """A narrative as it is examined: ``places`` says where in it each of the ``items`` stood."""

    names: tuple[str, ...]
    items: list[Observation]
    places: list[int]
    told: NDArray[np.int64]


class _Found(NamedTuple):
    """A deviation, the p-value of the telling without those found before, and what it is about."""

    deviation: Deviation
    p_value: float | None
    place: int
    event: str
    """At the place, or left out before it."""
    other: str
    """What the event belongs before or after, or was told in place of."""
    again: bool


class _Examiner:
    def __init__(
        self, script: Script, unknown: Unknown, false_alarms: float, samples: int, seed: int
    ) -> None:
        self._script, self._unknown, self._rate = script, unknown, false_alarms
        self._samples, self._seed = samples, seed
        self._model = model_of(script)
        outline = script.made_from
        self._lateness = None if outline is None else Lateness(outline)

    def examine(self, narratives: Iterable[Iterable[Observation]]) -> Iterator[Conformance]:
        """Examine tellings, each different one once."""
        heard = [self._hear(number, one) for number, one in enumerate(narratives)]
        keys = [_key(one, number) for number, one in enumerate(heard)]
        distinct = dict(zip(keys, heard, strict=True))
        waiting = list(distinct)
        found: dict[object, Conformance] = {}
        if waiting:
            _ = self._reference  # before threads ask for it

        def examine(number: int) -> None:
            found[waiting[number]] = self._examined(distinct[waiting[number]])

        _threads.run(examine, range(len(waiting)))
        return (found[key] for key in keys)

    def _examined(self, telling: _Telling) -> Conformance:
        surprises, ending = self._surprises(telling)
        per_place: list[float | None] = [None] * len(telling.names)
        for place, surprise in zip(telling.places, surprises, strict=True):
            per_place[place] = (per_place[place] or 0.0) + surprise
        lost = sorted(set(range(len(telling.names))) - set(telling.places))
        oddness, deviations = self._deviations(telling)
        strange = STRANGE if self._model.calibration is None else self._model.calibration.strange
        oddness = with_unknown(oddness, len(lost), len(telling.names), strange)
        flags = [
            Flag("unknown", place, telling.names[place], math.inf, "not in the script", 1.0)
            for place in lost
        ]
        late = self._late(telling.told)
        p_value = self._p_value(oddness, late)
        alarms = [] if self._lateness is None else self._lateness.alarms(late, self._rate)
        if self._odd(p_value):
            explained = [_flag(one) for one in deviations if self._is_alarm(one)]
            flags += explained or [_late_flag(telling, one) for one in alarms]
        flags.sort(key=lambda flag: (flag.position, flag.kind))
        found = Conformance(
            told=telling.names,
            log_prob=-(sum(surprises) + ending),
            surprises=tuple(per_place),
            ending=ending,
            p_value=p_value,
            oddness=oddness,
            flags=tuple(flags),
            deviations=_counted((one.deviation for one in deviations), len(lost)),
            false_alarms=self._rate,
            untold=self._untold(telling),
            late=tuple(telling.names[telling.places[one.place]] for one in alarms),
            steps=self._steps(telling),
        )
        return named(found)

    def _untold(self, telling: _Telling) -> tuple[str, ...]:
        """What is missing, whatever it is that uncertain sentences tell."""
        outline = self._script.made_from
        if outline is None:
            return ()
        likeliest = self._names(telling.told)
        sure = [
            best if item is None else item if isinstance(item, str) else None
            for item, best in zip(map(surely, telling.items), likeliest, strict=True)
        ]
        perhaps = {event for item in telling.items for event in sentences.perhaps(item)}
        told = np.zeros(len(outline.steps), bool)
        told[[step for step in steps_told(outline, sure) if step is not None]] = True
        return tuple(one.name(outline) for one in untold(outline, told, perhaps.union(likeliest)))

    def _steps(self, telling: _Telling) -> tuple[int, float] | None:
        """How many steps it tells, and how many a telling has on average."""
        outline = self._script.made_from
        if outline is None:
            return None
        told = {*steps_told(outline, self._names(telling.told))} - {None}
        return len(told), float(outline.told_shares.sum())

    def _names(self, told: NDArray[np.int64]) -> list[str]:
        return [self._model.events[event] for event in told]

    def _late(self, told: NDArray[np.int64]) -> list[Late]:
        return [] if self._lateness is None else self._lateness.late(self._names(told))

    def _hear(self, number: int, narrative: Iterable[Observation]) -> _Telling:
        listed = list(narrative) if isinstance(narrative, Iterator) else narrative
        try:
            heard = hear(self._script, listed, unknown=self._unknown)
            kept = single(heard, "score")
        except InputError as error:
            raise relocated(error, f"narrative {number}") from None
        told = likeliest(self._model, kept, narrative=number)
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

    # --- how odd it is among its like -----------------------------------------------------------

    @cached_property
    def _reference(self) -> NDArray[np.float64]:
        """Oddness of usual tellings, ascending."""
        if self._model.calibration is not None:
            return self._model.calibration.oddness
        number = min(self._samples, MOST_DRAWN)
        drawn = self._script.sample(number, random_state=np.random.default_rng(self._seed))
        numbers = self._model.numbers
        found = np.empty(len(drawn))

        def judge(k: int) -> None:
            told = np.array([numbers[event] for event in drawn[k]], np.int64)
            found[k] = weigh(self._model, told).oddness

        _threads.run(judge, range(len(drawn)))
        return np.sort(found)

    def _p_value(self, oddness: float, late: list[Late]) -> float | None:
        of = len(self._reference)
        if not of:
            return None
        above = of - np.searchsorted(self._reference, oddness - ALIKE, side="left")
        share = (1 + int(above)) / (of + 1)
        if not above:
            # Oddness is a ratio of probabilities: among usual tellings, each nat is e times rarer.
            share *= math.exp(self._reference[-1] - (oddness - ALIKE))
        if self._lateness is None or not self._lateness.known:
            return share
        return joint(share, self._lateness.share(late), self._lateness.ever)

    def _odd(self, p_value: float | None) -> bool:
        return p_value is None or p_value <= self._rate

    # --- what is odd about it -------------------------------------------------------------------

    def _deviations(self, telling: _Telling) -> tuple[float, list[_Found]]:
        """How odd the known events are; the likeliest deviation, then what else is odd."""
        told = telling.told
        places: list[int | None] = list(telling.places)
        weighed = weigh(self._model, told)
        first = oddness = weighed.oddness
        found: list[_Found] = []
        most = most_deviations(len(told))
        while oddness > 0:
            deviation = weighed.likeliest()
            if deviation.gain <= 0:  # many together are likely, but none of them by itself
                break
            p_value = self._p_value(oddness, self._late(told))
            found.append(self._located(telling, told, places, deviation, p_value))
            if len(found) == most:
                break
            told, places = undone(told, deviation), _moved_places(places, deviation)
            weighed = weigh(self._model, told)
            oddness = weighed.oddness
        return first, found

    def _located(
        self,
        telling: _Telling,
        told: NDArray[np.int64],
        places: list[int | None],
        deviation: Deviation,
        p_value: float | None,
    ) -> _Found:
        later = (place for place in places[deviation.place :] if place is not None)
        place = next(later, len(telling.names))
        due = self._model.events[deviation.event]
        if deviation.kind == "left out":
            return _Found(deviation, p_value, place, due, "", again=False)
        event = self._model.events[told[deviation.place]]
        other = due if deviation.kind == "replaced" else self._model.events[told[deviation.target]]
        again = bool((told[: deviation.place] == told[deviation.place]).any())
        return _Found(deviation, p_value, place, event, other, again)

    def _is_alarm(self, found: _Found) -> bool:
        return self._odd(found.p_value) and found.deviation.chance >= LEAST_CHANCE


def _flag(found: _Found) -> Flag:
    deviation = found.deviation
    kind: Kind = "skipped"
    note = "skipped"
    more = times(deviation.gain)
    if deviation.kind == "moved":
        side = "before" if deviation.target < deviation.place else "after"
        kind, note = "out of order", f"out of order: {more} as probable {side} {found.other}"
    elif deviation.kind == "put in":
        kind = "repeated" if found.again else "superfluous"
        note = f"{'told again' if found.again else 'superfluous'}: {more} as probable without"
    elif deviation.kind == "replaced":
        kind, note = "replaced", f"in place of {found.other}, which is {more} as probable"
    note += f", {deviation.chance:.0%}"
    return Flag(kind, found.place, found.event, deviation.chance, note, deviation.chance)


def _late_flag(telling: _Telling, late: Late) -> Flag:
    place = telling.places[late.place]
    note = f"out of order: usually before {late.before}, {late.probability:.0%}"
    return Flag("out of order", place, telling.names[place], late.probability, note)


def _moved_places(places: list[int | None], deviation: Deviation) -> list[int | None]:
    """Where in the narrative each event stands once a deviation is undone; None if put in."""
    if deviation.kind == "replaced":
        return places
    found = list(places)
    if deviation.kind == "left out":
        found.insert(deviation.place, None)
        return found
    place = found.pop(deviation.place)
    if deviation.kind == "moved":
        found.insert(deviation.target, place)
    return found


def _counted(deviations: Iterable[Deviation], unknown: int) -> Deviations:
    chances = {"moved": 0.0, "left out": 0.0, "put in": float(unknown), "replaced": 0.0}
    for deviation in deviations:
        chances[deviation.kind] += deviation.chance
    return Deviations(
        missing=chances["left out"] + chances["replaced"],
        superfluous=chances["put in"] + chances["replaced"],
        out_of_order=chances["moved"],
    )


def _key(telling: _Telling, number: int) -> object:
    """The same for like tellings; those with open events are each by themselves."""
    names = all(isinstance(item, str) for item in telling.items)
    return (telling.names, tuple(telling.places)) if names else number


class Late(NamedTuple):
    """An event that tells its step too late.

    Attributes
    ----------
    place
        Of the event in the telling.
    worth
        How much speaks for it (log-odds).
    before
        The event told which its own most surely comes before.
    probability
        That it does.
    """

    place: int
    worth: float
    before: str
    probability: float


class Lateness:
    """What comes too late in tellings, by the orders that an outline has counted."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._start = Passing.of(outline)
        self._usual = () if outline.alarms is None else outline.alarms.out_of_order

    @property
    def known(self) -> bool:
        """Whether it is known how usual it is that something comes too late."""
        return bool(self._usual)

    @property
    def ever(self) -> float:
        """Share of usual tellings in which anything at all speaks for a step's coming too late."""
        return (1 + sum(worth > 0 for worth in self._usual)) / (len(self._usual) + 1)

    def late(self, told: Sequence[str]) -> list[Late]:
        """Every event for whose coming too late something speaks, as they were told."""
        outline, passing = self._outline, self._start
        found = []
        first: dict[int, str] = {}
        for place, event in enumerate(told):
            step = passing.step_of(event)
            if step is None:
                continue
            worth, unit = passing.out_of_order(step)
            own = outline.unit_of[step]
            if unit is not None and worth > 0:
                found.append(Late(place, worth, first[unit], float(outline.ahead[own, unit])))
            first.setdefault(own, event)
            passing = passing.tell(step)
        return found

    def alarms(self, late: Sequence[Late], rate: float) -> list[Late]:
        """Those that would raise an alarm while the telling is followed."""
        if self._outline.alarms is None:
            return []
        limit = self._outline.alarms.threshold("out_of_order", rate)
        return [one for one in late if one.worth > limit]

    def share(self, late: Sequence[Late]) -> float:
        """Share of usual tellings in which as much speaks for one step's coming too late.

        Beyond the most that was seen each nat makes it rarer by a factor of e.
        """
        most = max((one.worth for one in late), default=0.0)
        if not self._usual or most <= 0:
            return 1.0
        above = sum(worth >= most for worth in self._usual)
        beyond = 0.0 if above else most - self._usual[0]
        return (above + 1) * math.exp(-beyond) / (len(self._usual) + 1)


def joint(first: float, second: float, ever: float) -> float:
    """Share of usual tellings in which the product of two such shares is as small.

    Parameters
    ----------
    first
        Equally distributed between 0 and 1.
    second
        1, but in a share ``ever`` of tellings equally distributed between 0 and ``ever``.
    ever
        With 1, this is Fisher's method.

    Examples
    --------
    >>> round(joint(0.05, 0.05, 1.0), 4)
    0.0175
    >>> joint(0.05, 1.0, 0.0)
    0.05
    """
    product = first * second
    if product >= ever:
        return product * (1 - ever) + ever
    return product * (2 - ever + math.log(ever / product)) if product > 0 else 0.0
