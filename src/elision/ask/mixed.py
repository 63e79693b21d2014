"""Answers of several scripts as one, each weighed by how probable its script is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from elision.ask.between import Story, Unsaid
from elision.ask.fill import Answer, Filling
from elision.ask.following import Ahead, Following
from elision.ask.heard import check_top, hear, impossible, name_of
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from elision.values.observations import Observation
    from elision.values.script import Script


def fill(
    scripts: Sequence[tuple[Script, float]],
    narrative: Sequence[Observation],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
) -> list[Filling]:
    """Fill each gap with the events of all scripts.

    Parameters
    ----------
    scripts
        Scripts with their probabilities.
    narrative, top, exclude
        As for `elision.ask.fill.fill`.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> print(fill([(script, 0.6), (script, 0.4)], ["hear doorbell", None, "open door"], top=1)[0])
    walk to door  81%
    """
    check_top(top)
    banned = tuple(exclude)
    found = _asked(scripts, lambda one: one.fill(narrative, exclude=banned, unknown="ignore"))
    return [
        Filling(
            gaps[0].position,
            _ranked(
                [(gap.answers, weight) for gap, weight in zip(gaps, _weights(found), strict=True)],
                top,
            ),
            fallback=all(gap.fallback for gap in gaps),
        )
        for gaps in zip(*(answer for answer, _ in found), strict=True)
    ]


def following(
    scripts: Sequence[tuple[Script, float]],
    narrative: Sequence[Observation],
    *,
    steps: int = 1,
    top: int | None = None,
) -> Following:
    """Say what is told next by all scripts; parameters as for `elision.ask.following`."""
    check_top(top)
    found = _asked(scripts, lambda one: one.next(narrative, steps=steps, unknown="ignore"))
    weights = _weights(found)
    ahead = [
        Ahead(
            _ranked(
                [(one.answers, weight) for one, weight in zip(step, weights, strict=True)], top
            ),
            math.fsum(weight * one.ended for one, weight in zip(step, weights, strict=True)),
        )
        for step in zip(*(answer.steps for answer, _ in found), strict=True)
    ]
    largest = max(answer.log_prob for answer, _ in found)
    total = math.fsum(
        weight * math.exp(answer.log_prob - largest)
        for (answer, _), weight in zip(found, weights, strict=True)
    )
    return Following(tuple(ahead), largest + math.log(total))


def between(
    scripts: Sequence[tuple[Script, float]],
    narrative: Sequence[Observation],
    *,
    min_probability: float = 0.05,
    finished: bool = True,
) -> Story:
    """Tell what was left unsaid by all scripts; parameters as for `elision.ask.between`.

    A script that does not know an event of the narrative passes over it: what it finds unsaid in
    the gap around that event is put before the next event that it does know.
    """

    def placed(one: Script) -> tuple[Story, list[int]]:
        heard = hear(one, narrative, unknown="ignore")
        story = one.between(narrative, unknown="ignore", min_probability=0.0, finished=finished)
        return story, [*heard.positions, len(narrative)]

    found = _asked(scripts, placed)
    weights = _weights(found)
    unsaid: list[dict[str, tuple[float, float]]] = [{} for _ in range(len(narrative) + 1)]
    nothing = [0.0] * (len(narrative) + 1)
    for ((story, places), _), weight in zip(found, weights, strict=True):
        for place in set(range(len(narrative) + 1)) - set(places):
            nothing[place] += weight
        for gap, alone, place in zip(story.unsaid, story.nothing, places, strict=True):
            nothing[place] += weight * alone
            for one in gap:
                expected, probability = unsaid[place].get(one.event, (0.0, 0.0))
                unsaid[place][one.event] = (
                    expected + weight * one.expected,
                    probability + weight * one.probability,
                )
    largest = max(story.log_prob for (story, _), _ in found)
    total = math.fsum(
        weight * math.exp(story.log_prob - largest)
        for ((story, _), _), weight in zip(found, weights, strict=True)
    )
    return Story(
        told=tuple(map(name_of, narrative)),
        unsaid=tuple(
            tuple(
                Unsaid(event, expected, probability)
                for event, (expected, probability) in gap.items()
                if probability >= min_probability and probability > 0
            )
            for gap in unsaid
        ),
        nothing=tuple(nothing),
        log_prob=largest + math.log(total),
    )


def _asked(
    scripts: Sequence[tuple[Script, float]], question: Callable[[Script], Any]
) -> list[tuple[Any, float]]:
    """Answers with the weights of those that could answer; at least one."""
    found = []
    problem: InputError = impossible()
    for script, weight in scripts:
        try:
            found.append((question(script), weight))
        except InputError as error:
            problem = error
    if not found:
        raise problem
    return found


def _weights(found: Sequence[tuple[Any, float]]) -> list[float]:
    total = math.fsum(weight for _, weight in found)
    return [weight / total for _, weight in found]


def _ranked(
    answers: Sequence[tuple[tuple[Answer, ...], float]], top: int | None
) -> tuple[Answer, ...]:
    chances: dict[str, float] = {}
    for ranked, weight in answers:
        for one in ranked:
            chances[one.event] = chances.get(one.event, 0.0) + weight * one.probability
    order = sorted(chances, key=lambda event: -chances[event])[:top]
    return tuple(Answer(event, chances[event]) for event in order)
