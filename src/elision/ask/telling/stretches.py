"""What is missing where any number of events may be missing, by a telling model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from elision.ask.fill import Filling, ranked
from elision.ask.joint import Course
from elision.ask.stretch import DEFAULT_COURSES, Expected, Stretch
from elision.ask.telling.slots import check_open, completions, filled, model_of, sketch, softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.heard import Heard, Item
    from elision.values.observations import Observation
    from elision.values.script import Script
    from elision.values.telling import TellingModel

WIDTH = 64
"""Tellings of each number of inserted events that are followed up."""

LEAST_GAIN = 1e-4
"""No more events are inserted once they add less than this share of all that was found."""

MOST_INSERTED = 30
"""Events that are inserted at most."""


class _Told(NamedTuple):
    """One way to tell it all: events, the item that each stands for, and the worth."""

    events: NDArray[np.int64]
    item: NDArray[np.int64]
    worth: float
    last: int
    """The stretch that was filled last: no earlier one is then, so that nothing is found twice."""


def fill_stretches(
    script: Script, heard: Heard, *, top: int | None, allowed: NDArray[np.bool_]
) -> list[Filling | Stretch]:
    """Say what may stand in stretches (...) and gaps (None), see `elision.ask.stretch`.

    Events are inserted one after the other, the likeliest tellings being followed up, so ``exact``
    is always false.
    """
    model = model_of(script)
    found = _tellings(model, heard.items, allowed)
    shares = softmax(np.array([one.worth for one in found]))
    answers: list[Filling | Stretch] = []
    for index, (item, position) in enumerate(zip(heard.items, heard.positions, strict=True)):
        if item is ...:
            answers.append(_stretch(model, found, shares, index, position, top))
        elif item is None:
            chances = np.zeros(len(model.events))
            for one, share in zip(found, shares.tolist(), strict=True):
                chances[one.events[one.item == index]] += share
            answers.append(Filling(position, ranked(model.events, chances[None], top)[0]))
    return answers


def _tellings(model: TellingModel, items: list[Item], allowed: NDArray[np.bool_]) -> list[_Told]:
    """The likeliest tellings, with any number of events in each stretch."""
    kept = [index for index, item in enumerate(items) if item is not ...]
    known = cast("list[Observation]", [items[index] for index in kept])
    sketched = sketch(model, known, allowed)
    ways = completions(model, sketched)
    base = float(model.worths([sketched.told])[0])
    stretches = [index for index, item in enumerate(items) if item is ...]
    check_open(len(stretches), len(known), len(model.events), "stretches (...)")
    begun = []
    for k in np.argsort(-ways.worth, kind="stable")[:WIDTH].tolist():
        told = filled(sketched, ways.choices[k])
        begun.append(_Told(told, np.array(kept, np.int64), base + float(ways.worth[k]), 0))
    found = list(begun)
    for _ in range(MOST_INSERTED):
        begun = _one_more(model, begun, stretches, allowed)
        if not begun:
            break
        added = np.logaddexp.reduce([one.worth for one in begun])
        found += begun
        if added - np.logaddexp.reduce([one.worth for one in found]) < np.log(LEAST_GAIN):
            break
    return found


def _one_more(
    model: TellingModel, begun: list[_Told], stretches: list[int], allowed: NDArray[np.bool_]
) -> list[_Told]:
    """Each telling with one more event at the end of a stretch, the last one filled or a later."""
    tried = [
        (one, index, int(np.searchsorted(one.item, index, side="right")))
        for one in begun
        for index in stretches
        if index >= one.last
    ]
    if not tried:
        return []
    odds = np.empty((len(tried), len(model.events)))
    places = np.array([place for _, _, place in tried], np.int64)
    model.insert_each([one.events for one, _, _ in tried], places, odds)
    options = np.flatnonzero(allowed)
    worth = odds[:, options] + np.array([one.worth for one, _, _ in tried])[:, None]
    grown: list[_Told] = []
    for best in np.argsort(-worth, axis=None, kind="stable")[:WIDTH].tolist():
        row, option = divmod(best, len(options))
        one, index, place = tried[row]
        events = np.insert(one.events, place, options[option])
        item = np.insert(one.item, place, index)
        grown.append(_Told(events, item, float(worth[row, option]), index))
    return grown


def _stretch(
    model: TellingModel,
    found: list[_Told],
    shares: NDArray[np.float64],
    index: int,
    position: int,
    top: int | None,
) -> Stretch:
    courses: dict[tuple[int, ...], float] = {}
    for one, share in zip(found, shares.tolist(), strict=True):
        course = tuple(one.events[one.item == index].tolist())
        courses[course] = courses.get(course, 0.0) + share
    longest = max(map(len, courses))
    counts = [0.0] * (longest + 1)
    expected = np.zeros(len(model.events))
    for course, share in courses.items():
        counts[len(course)] += share
        np.add.at(expected, list(course), share)
    order = [o for o in np.argsort(-expected, kind="stable").tolist() if expected[o] > 0][:top]
    return Stretch(
        position=position,
        counts=tuple(counts),
        more=0.0,
        answers=tuple(Expected(model.events[o], float(expected[o])) for o in order),
        courses=tuple(
            Course(tuple(model.events[o] for o in course), share)
            for course, share in sorted(courses.items(), key=lambda entry: -entry[1])[
                : top or DEFAULT_COURSES
            ]
        ),
        exact=False,
    )
