"""The probability that an event is missing from the record at a place.

Places and events are weighed one by one. What is then more probable together than it can be, one
event at several places or several at one, is lowered as far as putting in one of them rules out
the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.missing import found_missing
from elision.ask.telling.ahead import beginnings, drawn_on
from elision.ask.telling.gaps import over_openings, said_by_words
from elision.ask.telling.slots import model_of, sketch
from elision.values.observations import beside
from elision.values.telling import Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.ask.missing import Omissions
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script
    from elision.values.telling import TellingModel


LEAST_RIVAL = 0.1
"""What is less probable rules out nothing, and is not ruled out."""

MOST_TRIED = 40
"""Rivals that are put in to see what they rule out, the most probable ones."""

MOST_WEIGHED, MOST_PLACES = 10_000, 300
"""Places times events, and places, above which nothing is put in: that would take long."""

HALVINGS = 40
"""Of the interval in which log-odds are lowered: to the last digit."""


def missing(
    script: Script,
    narrative: Iterable[Item],
    *,
    min_probability: float = 0.05,
    unknown: Unknown = "error",
    finished: bool = True,
) -> Omissions:
    """Say which events are probably missing from the record, see `elision.ask.missing.missing`.

    The log-odds of inserting an event become a probability by what was learned from hiding told
    events of training narratives. Of a record that is not finished, probabilities are means over
    ways in which it may go on.
    """
    return found_missing(
        script,
        narrative,
        lambda items: (
            chances_missing(script, [items])[0] if finished else _chances_so_far(script, items)
        ),
        min_probability=min_probability,
        unknown=unknown,
        finished=finished,
    )


def chances_missing(script: Script, items: list[list[Observation]]) -> list[NDArray[np.float64]]:
    """Probability that each event is missing at each place of each narrative."""
    model = model_of(script)
    return [_chances(model, one) for one in items]


def _chances_so_far(script: Script, items: list[Observation]) -> NDArray[np.float64]:
    """Probability that each event is missing at each place of a beginning."""
    model = model_of(script)
    result = np.zeros((len(items) + 1, len(model.events)))
    for rest, share in continuations(model, items):
        result += share * _chances(model, [*items, *beside(items, rest)])[: len(result)]
    return result


def _chances(model: TellingModel, items: list[Observation]) -> NDArray[np.float64]:
    learned = model.missing
    if learned is None:
        return np.zeros((len(items) + 1, len(model.events)))

    def odds(told: list[Observation]) -> NDArray[np.float64]:
        return log_odds(learned, said_by_words(model, told, over_openings(model, told)))

    each = beside(items, model.events)

    def put_in(place: int, event: int) -> NDArray[np.float64]:
        return odds([*items[:place], each[event], *items[place:]])

    return agreed(odds(items), put_in)


def log_odds(missing: Missing, odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn log-odds of insertion into those of being missing, each event and place by itself."""
    return np.asarray(evidence(odds) @ np.array(missing))


def agreed(
    odds: NDArray[np.float64], put_in: Callable[[int, int], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Probabilities of (places, events), lowered where they rule out each other.

    See `agreed_odds`.

    Examples
    --------
    >>> odds = np.array([[2.0, 2.0], [-9.0, -9.0]])
    >>> agreed(odds, lambda place, event: np.full((3, 2), -9.0)).round(2)[0].tolist()
    [0.5, 0.5]
    >>> agreed(odds, lambda place, event: np.vstack([odds[:1], odds])).round(2)[0].tolist()
    [0.88, 0.88]
    """
    return chance(agreed_odds(odds, put_in))


def agreed_odds(
    odds: NDArray[np.float64], put_in: Callable[[int, int], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Log-odds of (places, events), lowered where they rule out each other.

    Parameters
    ----------
    odds
        Log-odds of each by itself.
    put_in
        The log-odds, one place more, once an event is put in at a place.
    """
    alone = chance(odds)
    if odds.size > MOST_WEIGHED or len(odds) > MOST_PLACES:
        return odds
    tried: dict[tuple[int, int], NDArray[np.float64]] = {}
    rivals = {(int(place), int(event)) for place, event in np.argwhere(alone >= LEAST_RIVAL)}
    if len(rivals) > MOST_TRIED:
        rivals = set(sorted(rivals, key=lambda one: (-alone[one], one))[:MOST_TRIED])

    def left(one: tuple[int, int], by: tuple[int, int]) -> float:
        """By how much the odds of one change if another is put in, at most not at all."""
        if by not in tried:
            tried[by] = put_in(*by)
        (place, event), found = one, tried[by]
        behind = place + (place > by[0])
        after = found[behind, event]
        if place == by[0]:  # before it or behind it
            after = max(after, found[place + 1, event])
        return math.exp(min(float(after - odds[one]), 0.0))

    lowered = odds
    for axis in (0, 1):  # first one event at several places, then what else stands at its place
        chances = chance(lowered)
        new = lowered.copy()
        for line in np.flatnonzero(chances.sum(axis=axis) > 1).tolist():
            group = sorted(one for one in rivals if one[1 - axis] == line)
            ruled = np.array(
                [
                    [1.0 if one == by else 1 - max(left(one, by), left(by, one)) for by in group]
                    for one in group
                ]
            )
            own = np.array([lowered[one] for one in group])
            for one, by in zip(group, ruled, strict=True):
                new[one] -= _excess(own, by)
        lowered = new
    return lowered


def _excess(odds: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """By how much all log-odds are to be lowered so that the weighed chances sum up to one."""
    if weights @ chance(odds) <= 1:
        return 0.0
    low, high = 0.0, float(odds.max()) + math.log(len(odds)) + 1
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if weights @ chance(odds - middle) > 1 else (low, middle)
    return high


def chance(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn log-odds into probabilities."""
    return np.asarray(0.5 * (1 + np.tanh(odds / 2)))


def evidence(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the probability is made of, (places, events, numbers): one, log-odds, and rivals."""
    largest = odds.max()
    result = np.ones((*odds.shape, len(Missing._fields)))
    result[..., 1] = odds
    result[..., 2] = largest + np.log(np.exp(odds - largest).sum())
    return result


DRAWN = 16
"""Ways to go on that are drawn. With 40, probabilities of beginnings were no better."""

MOST_ADDED = 100
"""Events by which a beginning is gone on with at most."""

MOST_READ = 1_000_000
"""Events, times kinds, of all ways together: fewer ways are drawn for long beginnings."""


def continuations(
    model: TellingModel, items: Sequence[Observation]
) -> list[tuple[list[str], float]]:
    """Draw how a telling that begins like this goes on, the different ways with their shares.

    The same beginning has the same continuations.
    """
    rng = np.random.default_rng(0)
    begun = beginnings(model, sketch(model, items))
    weight = np.array([one.log_prob for one in begun])
    chance = np.exp(weight - weight.max())
    number = max(1, min(DRAWN, MOST_READ // ((len(items) + 1) * len(model.events))))
    found: dict[tuple[int, ...], int] = {}
    for k in rng.choice(len(begun), number, p=chance / chance.sum()).tolist():
        whole = drawn_on(model, begun[k].told, rng, longest=len(items) + MOST_ADDED)
        rest = tuple(whole[len(items) :].tolist())
        found[rest] = found.get(rest, 0) + 1
    return [
        ([model.events[event] for event in rest], count / number) for rest, count in found.items()
    ]
