"""The outline of a script that has none of its own: of courses drawn from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from elision.ask.sample import stories
from elision.learn.outline import learn_outline

if TYPE_CHECKING:
    from elision.outline import Outline
    from elision.script import Script

COURSES = 2000


def outline_of_script(script: Script) -> Outline:
    """Draw complete courses, outline them, and note how often each step is told when it happens.

    Whole courses hide nothing: a step that is not in one did not happen.
    """
    drawn = stories(script, COURSES, random_state=0)
    number = {event: o for o, event in enumerate(script.events)}
    happened: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for one in drawn:
        for event in {entry.event for entry in one.story}:
            happened[event] += 1
        for event in set(one.told):
            told[event] += 1
    courses = [[number[entry.event] for entry in one.story] for one in drawn]
    whole = learn_outline(courses, script.events, complete=True, title=_title(script))
    steps = tuple(
        replace(
            step,
            told=min(step.told * told[step.event] / happened[step.event], 1.0),
            telling=told[step.event] / happened[step.event],
        )
        for step in whole.steps
    )
    return replace(whole, steps=steps, tellings=0)


def _title(script: Script) -> str:
    notes = script.about
    return str(notes.get("activity") or notes.get("domain") or "")
