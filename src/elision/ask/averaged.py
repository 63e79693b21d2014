"""What several scripts say of what was left unsaid, and of what comes next, on the average."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from elision.ask.between import Story, Unsaid, between_many
from elision.ask.fill import Answer
from elision.ask.following import Ahead, Following, following
from elision.ask.heard import impossible
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from elision.ask.heard import Item
    from elision.ask.last_step import LastStep
    from elision.ensemble import Ensemble
    from elision.observations import Observation
    from elision.script import Script

Given = TypeVar("Given")


def average_story(
    ensemble: Ensemble, items: list[Observation], least: float, ways: int = 0
) -> Story:
    """Average the stories of all scripts that can tell the narrative.

    A script has several states for an event whose place varies, and thinks that those it passes
    were left unsaid even where the event is told elsewhere. How much less likely a told event is,
    the last step has learned: its odds are changed by that. The silent ``ways`` are those of the
    script to read.
    """
    stories, weights = _answers(ensemble, lambda one: between_many(one, [items], least=0.0)[0])
    stories = [_told_once(story, ensemble.last_step) for story in stories]
    first = stories[0]
    places = range(len(first.unsaid))
    courses = ensemble.script.between(items, ways=ways).ways if ways else ()
    return Story(
        told=first.told,
        unsaid=tuple(
            _average_gap([story.unsaid[place] for story in stories], weights, least)
            for place in places
        ),
        nothing=tuple(
            math.fsum(w * story.nothing[place] for story, w in zip(stories, weights, strict=True))
            for place in places
        ),
        log_prob=_together([story.log_prob for story in stories], weights),
        ways=courses,
    )


def _told_once(story: Story, last_step: LastStep | None) -> Story:
    """Change the odds of events that are told already, before or after the gap."""
    if last_step is None:
        return story
    gaps = []
    for place, gap in enumerate(story.unsaid):
        before, after = set(story.told[:place]), set(story.told[place:])
        gaps.append(
            tuple(
                _changed(one, last_step.told_again(one.event in before, one.event in after))
                for one in gap
            )
        )
    return replace(story, unsaid=tuple(gaps))


def _changed(one: Unsaid, factor: float) -> Unsaid:
    chance = one.probability
    if factor == 1 or chance == 0:
        return one
    changed = chance * factor / (1 - chance + chance * factor)
    return Unsaid(one.event, one.expected * changed / chance, changed)


def average_following(
    ensemble: Ensemble, narrative: Iterable[Item], *, steps: int, top: int | None
) -> Following:
    """Average what all scripts in which a narrative can begin like this expect next."""
    items = list(narrative)
    found, weights = _answers(ensemble, lambda one: following(one, items, steps=steps))
    ahead = []
    for at in range(len(found[0].steps)):
        chances = _moments(
            [
                {answer.event: answer.probability for answer in one.steps[at].answers}
                for one in found
            ],
            weights,
        )
        best = sorted(chances.items(), key=lambda one: -one[1][0])[:top]
        answers = tuple(Answer(event, mean, spread) for event, (mean, spread) in best)
        ended = math.fsum(w * one.steps[at].ended for one, w in zip(found, weights, strict=True))
        ahead.append(Ahead(answers, ended))
    return Following(tuple(ahead), _together([one.log_prob for one in found], weights))


def _answers(
    ensemble: Ensemble, question: Callable[[Script], Given]
) -> tuple[list[Given], list[float]]:
    """Answers of the scripts that have one, with their weights."""
    found, weights = [], []
    problem = None
    for script, weight in zip(ensemble.scripts, ensemble.weights.tolist(), strict=True):
        try:
            found.append(question(script))
            weights.append(weight)
        except InputError as error:
            problem = error
    if not math.fsum(weights):
        raise problem or impossible()
    total = math.fsum(weights)
    return found, [weight / total for weight in weights]


def _average_gap(
    gaps: list[tuple[Unsaid, ...]], weights: list[float], least: float
) -> tuple[Unsaid, ...]:
    chances = _moments([{one.event: one.probability for one in gap} for gap in gaps], weights)
    expected = _moments([{one.event: one.expected for one in gap} for gap in gaps], weights)
    place = _places(gaps, weights)
    likely = [event for event, (mean, _) in chances.items() if mean >= least and mean > 0]
    return tuple(
        Unsaid(event, expected[event][0], chances[event][0], chances[event][1])
        for event in sorted(likely, key=lambda event: place[event])
    )


def _places(gaps: list[tuple[Unsaid, ...]], weights: list[float]) -> dict[str, float]:
    """Where each event comes among the others: its mean rank, weighed by how likely it is."""
    total: dict[str, float] = {}
    weight_of: dict[str, float] = {}
    for gap, weight in zip(gaps, weights, strict=True):
        passed = 0.0
        everything = math.fsum(one.expected for one in gap) or 1.0
        for one in gap:
            middle = (passed + one.expected / 2) / everything
            passed += one.expected
            share = weight * one.expected
            total[one.event] = total.get(one.event, 0.0) + share * middle
            weight_of[one.event] = weight_of.get(one.event, 0.0) + share
    return {event: total[event] / (weight_of[event] or 1.0) for event in total}


def _moments(
    chances: list[dict[str, float]], weights: list[float]
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of each event's number, 0 where a script has none."""
    events = dict.fromkeys(event for one in chances for event in one)
    result = {}
    for event in events:
        values = [one.get(event, 0.0) for one in chances]
        mean = math.fsum(w * v for v, w in zip(values, weights, strict=True))
        variance = math.fsum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
        result[event] = (mean, math.sqrt(variance))
    return result


def _together(log_probs: list[float], weights: list[float]) -> float:
    """Log-probability under the mixture."""
    with np.errstate(divide="ignore"):
        return float(np.logaddexp.reduce(np.array(log_probs) + np.log(weights)))
