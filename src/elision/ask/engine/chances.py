"""What a script answers in numbers, for learners and measurements: arrays instead of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.anywhere import insertions
from elision.ask.between import between_many
from elision.ask.engine.at_once import in_slices
from elision.ask.engine.unfinished import between as begun
from elision.ask.engine.unfinished import prefix_log_prob
from elision.ask.fill import gap_chances as chances_and_fallback
from elision.ask.fill import overall
from elision.ask.following import following
from elision.ask.heard import gap_positions
from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.heard import Heard, Item
    from elision.values.observations import Observation
    from elision.values.script import Script


def gap_chances(
    script: Script, heard: list[Heard], allowed: NDArray[np.bool_]
) -> list[NDArray[np.float64]]:
    """Probability of each event in each gap of each narrative, (gaps, events) each.

    A narrative that the script cannot tell at all gets the events' overall probabilities.
    """

    def answer(part: list[Heard]) -> list[NDArray[np.float64]]:
        gaps = [gap_positions(one) for one in part]
        chances, _ = chances_and_fallback(script, part, gaps, allowed)
        return np.split(chances, np.cumsum([len(places) for places in gaps])[:-1])

    return in_slices(heard, script.size, answer)


def anywhere_chances(
    script: Script, items: list[Observation], allowed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Probability that each event is the missing one at each place, (events told + 1, events)."""
    put = insertions(script, Packer(script.events).pack([items])) * allowed
    if not put.any():
        put = np.tile(overall(script) * allowed, (len(items) + 1, 1))
    return np.asarray(put / put.sum())


def missing_chances(
    script: Script, items: list[list[Observation]], *, finished: bool = True
) -> list[NDArray[np.float64]]:
    """Probability that each event was passed in silence at each place, for each narrative.

    Zero all over where the script cannot tell the narrative, or none that begins like it if they
    are not ``finished``.
    """
    number = {event: o for o, event in enumerate(script.events)}
    result = [np.zeros((len(one) + 1, len(number))) for one in items]
    if finished:
        possible = script.lattice.log_prob(packed := Packer(script.events).pack(items)) > -np.inf
        told = [k for k, place in enumerate(packed.place.tolist()) if possible[place]]
        stories = between_many(script, [items[k] for k in told], min_probability=0.0)
    else:
        told = [k for k, one in enumerate(items) if prefix_log_prob(script, one) > -np.inf]
        stories = [begun(script, items[k], min_probability=0.0) for k in told]
    for k, story in zip(told, stories, strict=True):
        for row, unsaid in zip(result[k], story.unsaid, strict=True):
            for one in unsaid:
                row[number[one.event]] = one.probability
    return result


def next_chances(script: Script, beginnings: list[list[Item]]) -> NDArray[np.float64]:
    """Probability of each next event after each beginning, the end last."""
    number = {event: o for o, event in enumerate(script.events)}
    result = np.zeros((len(beginnings), len(number) + 1))
    for row, one in zip(result, beginnings, strict=True):
        try:
            found = following(script, one)
        except InputError:  # no narrative of the script begins like this
            row[:-1] = overall(script)
            continue
        row[-1] = found.ended
        for answer in found.answers:
            row[number[answer.event]] = answer.probability
    return np.asarray(result / result.sum(axis=1, keepdims=True))
