"""The outline of a script that has none of its own: of courses drawn from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from elision.ask.sample import stories
from elision.learn.outline import learn_outline
from elision.values.outline import Outline, Step, Unit

if TYPE_CHECKING:
    from elision.values.script import Script

COURSES, FEW_COURSES = 2000, 500

LARGEST = 100
"""Events of a script up to which an outline is learned; that takes more than their square."""


def outline_of_script(script: Script) -> Outline:
    """Draw complete courses, outline them, and note how often each step is told when it happens.

    Whole courses hide nothing: a step that is not in one did not happen. The outline of a very
    large script is one row of steps in their mean order, each of which happens or not by itself.
    """
    large = len(script.events) > LARGEST
    drawn = stories(script, FEW_COURSES if large else COURSES, random_state=0)
    number = {event: o for o, event in enumerate(script.events)}
    happened: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for one in drawn:
        for event in {entry.event for entry in one.story}:
            happened[event] += 1
        for event in set(one.told):
            told[event] += 1
    courses = [[number[entry.event] for entry in one.story] for one in drawn]
    if large:
        whole = _row(courses, script)
    else:
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


def _row(courses: list[list[int]], script: Script) -> Outline:
    """An outline of single steps, in the order of their mean places."""
    size = len(script.events)
    count, place = np.zeros(size), np.zeros(size)
    for course in courses:
        for at, event in enumerate(dict.fromkeys(course)):
            count[event] += 1
            place[event] += at / len(course)
    known = np.flatnonzero(count)
    place[known] /= count[known]
    ordered = known[np.argsort(place[known], kind="stable")].tolist()
    pairs = np.zeros((len(ordered), len(ordered)), np.int32)
    for course in courses:
        told = list(dict.fromkeys(course))
        early, late = np.full(size, size, np.int32), np.full(size, -1, np.int32)
        early[told] = late[told] = np.arange(len(told))
        pairs += early[ordered][:, None] < late[ordered]
    shares = count / len(courses)
    return Outline(
        steps=tuple(
            Step(
                script.events[event],
                script.events[event],
                told=float(shares[event]),
                telling=1.0,
                place=float(place[event]),
            )
            for event in ordered
        ),
        units=tuple(
            Unit(((step,),), (1.0,), float(shares[event])) for step, event in enumerate(ordered)
        ),
        order=np.triu(np.ones((len(ordered),) * 2, bool), 1),
        pairs=pairs.astype(np.int64),
        title=_title(script),
    )


def _title(script: Script) -> str:
    notes = script.about
    return str(notes.get("activity") or notes.get("domain") or "")
