"""Learning an outline from tellings: steps, choices, and the order of both."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision._threads import one_blas_thread
from elision.learn.alternatives import find_choices, in_parts
from elision.learn.precedence import learn_precedence
from elision.values._script_parts import END, START
from elision.values.outline import Outline, Step, Unit
from elision.values.script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from elision.learn.alternatives import Choice


LEAST_SHARE = 0.05
"""Share of the tellings that must tell an event for it to be a step."""

FEW = 6
"""From so many tellings on, what only one of them tells is no step."""

TWICE = 0.5
"""Share of an event's tellings that must tell it at two places for it to be two steps."""

MOST_STEPS = 1.25
"""Steps for an event, on average."""

MOST_EVENTS = 400
"""That are steps, the most told ones: tables grow with their square."""

AGAIN = "(again)"

WORD = re.compile(r"[^\W\d_]+")


@one_blas_thread()
def learn_outline(
    tellings: Sequence[Sequence[int]],
    events: Sequence[str],
    *,
    title: str = "",
    wording: Mapping[str, Sequence[str]] | None = None,
    complete: bool = False,
    random_state: int = 0,
) -> Outline:
    """Learn the outline of tellings, given as numbers of events.

    Parameters
    ----------
    tellings
        Numbers of events.
    events
        Their names.
    title
        The activity.
    wording
        Sentences that people used for an event.
    complete
        Whether nothing was left out: what is not told did not happen.
    random_state
        Seed of the search for the order.

    Examples
    --------
    >>> outline = learn_outline([[0, 1, 2], [1, 0, 2], [0, 2], [1, 2]] * 5, ["a", "b", "c"])
    >>> [step.name for step in outline.steps]
    ['a', 'b', 'c']
    >>> outline.order.astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    counted = Counter(tuple(telling) for telling in tellings)
    different = sorted(counted)
    weight = np.array([counted[one] for one in different], dtype=np.float64)
    kinds = _kinds(different, weight, len(events))
    by_step = [_mentions(one, kinds) for one in different]
    names = [(event, part) for event in sorted(kinds) for part in range(len(kinds[event]))]
    number = {name: step for step, name in enumerate(names)}
    told = [[number[name] for name in one] for one in by_step]
    there = np.zeros((len(told), len(names)), dtype=bool)
    for row, one in enumerate(told):
        there[row, one] = True
    place = _places(told, weight, len(names))
    ahead = _pairs(told, weight, len(names)).astype(np.float64)
    whole = find_choices(there, place, weight, ahead=ahead, complete=complete) if names else []
    parted = in_parts(whole, there, place, weight, ahead) if names else []
    choices = [part for parts in parted for part in parts]
    apart = [one for one, parts in zip(whole, parted, strict=True) if len(parts) > 1]
    home = {s: u for u, unit in enumerate(choices) for branch in unit.branches for s in branch}
    in_units = [[home[step] for step in one] for one in told]
    order = learn_precedence(
        in_units,
        len(choices),
        often=weight.astype(int).tolist(),
        alike=_alike(choices, [events[event] for event, _ in names]),
        random_state=random_state,
    ).order
    pairs = _pairs(in_units, weight, len(choices))
    again = _again(told, weight, len(names))
    wording = wording or {}
    steps = {
        step: (
            events[event],
            _own_name(events[event], part, events),
            float(weight @ there[:, step] / weight.sum()),
            float(again[step]),
            float(place[step]),
            tuple(wording.get(events[event], ())),
        )
        for step, (event, part) in enumerate(names)
    }
    return _arranged(steps, choices, apart, order, pairs, place, int(weight.sum()), title)


def same_beginnings(names: Sequence[str]) -> NDArray[np.bool_]:
    """Which names begin with the same word, each with itself left out.

    A single letter is a code, as in "A_SUBMITTED", and no word.

    Examples
    --------
    >>> same_beginnings(["add salt", "Add_pepper", "stir"]).astype(int)
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    """
    first = [WORD.search(name.casefold()) for name in names]
    spelt = [found.group() if found else "" for found in first]
    word = np.array([one if len(one) > 1 else f" {i}" for i, one in enumerate(spelt)])
    same: NDArray[np.bool_] = (word[:, None] == word) & ~np.eye(len(word), dtype=bool)
    return same


def _alike(choices: Sequence[Choice], events: Sequence[str]) -> NDArray[np.bool_]:
    """Which units have steps, of different events, whose names begin with the same word."""
    same = same_beginnings(events)
    same &= np.array(events)[:, None] != np.array(events)
    inside = np.zeros((len(choices), len(events)), dtype=np.int64)
    for number, unit in enumerate(choices):
        inside[number, [step for branch in unit.branches for step in branch]] = 1
    found: NDArray[np.bool_] = (inside @ same @ inside.T > 0) & ~np.eye(len(choices), dtype=bool)
    return found


def _own_name(event: str, part: int, events: Sequence[str]) -> str:
    """The name of an event's first or second step, that no other event has."""
    name = event
    while part and name in events:
        name = f"{name} {AGAIN}"
    return name


def _kinds(
    tellings: Sequence[tuple[int, ...]], weight: NDArray[np.float64], events: int
) -> dict[int, tuple[float, ...]]:
    """The events that are steps, each with the usual places of its one or two."""
    total = float(weight.sum())
    alone = np.zeros(events)
    twice = np.zeros(events)
    often = np.zeros(events)
    places = np.zeros((events, 2))
    for telling, count in zip(tellings, weight, strict=True):
        for event, found in _visits(telling).items():
            alone[event] += count
            if len(found) > 1:
                often[event] += count
                twice[event] += count * (len(found) == 2)
                places[event] += count * (np.array([found[0], found[-1]]) + 0.5) / len(telling)
    least = max(LEAST_SHARE * total, 2.0 if total >= FEW else 1.0)
    often_enough = min(int((alone >= least).sum()), MOST_EVENTS)
    chosen = sorted(np.argsort(-alone, kind="stable")[:often_enough].tolist())
    doubled = sorted(
        (e for e in chosen if often[e] >= TWICE * alone[e] and twice[e] > often[e] / 2),
        key=lambda e: (-often[e] / alone[e], e),
    )[: int((MOST_STEPS - 1) * len(chosen))]
    return {
        event: tuple((places[event] / often[event]).tolist()) if event in doubled else (0.5,)
        for event in chosen
    }


def _visits(telling: Sequence[int]) -> dict[int, list[int]]:
    """Where each event comes, mentions in a row counted once."""
    found: dict[int, list[int]] = {}
    for place, event in enumerate(telling):
        if place == 0 or telling[place - 1] != event:
            found.setdefault(event, []).append(place)
    return found


def _mentions(
    telling: Sequence[int], kinds: Mapping[int, tuple[float, ...]]
) -> list[tuple[int, int]]:
    """The telling as (event, which of its steps)."""
    visits = _visits(telling)
    which: dict[tuple[int, int], int] = {}
    for event, found in visits.items():
        usual = kinds.get(event, ())
        if len(usual) == 2 and len(found) == 1:
            here = (found[0] + 0.5) / len(telling)
            which[event, found[0]] = int(abs(here - usual[1]) < abs(here - usual[0]))
        else:
            for number, place in enumerate(found):
                which[event, place] = min(number, len(usual) - 1)
    result = []
    latest: dict[int, int] = {}
    for place, event in enumerate(telling):
        if event in kinds:
            latest[event] = which.get((event, place), latest.get(event, 0))
            result.append((event, latest[event]))
    return result


def _places(
    told: Sequence[Sequence[int]], weight: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    total = np.zeros(steps)
    often = np.zeros(steps)
    for one, count in zip(told, weight, strict=True):
        for where, step in enumerate(one):
            total[step] += count * (where + 0.5) / len(one)
            often[step] += count
    middle: NDArray[np.float64] = total / np.maximum(often, 1)
    return middle


def _again(
    told: Sequence[Sequence[int]], weight: NDArray[np.float64], steps: int
) -> NDArray[np.float64]:
    mentions = np.zeros(steps)
    tellings = np.zeros(steps)
    for one, count in zip(told, weight, strict=True):
        for step, times in Counter(one).items():
            mentions[step] += count * times
            tellings[step] += count
    more: NDArray[np.float64] = 1 - tellings / np.maximum(mentions, 1)
    return more


def _pairs(
    told: Sequence[Sequence[int]], weight: NDArray[np.float64], units: int
) -> NDArray[np.int64]:
    counts = np.zeros((units, units))
    for one, count in zip(told, weight, strict=True):
        first = list(dict.fromkeys(one))
        for place, unit in enumerate(first):
            counts[unit, first[place + 1 :]] += count
    return counts.astype(np.int64)


def _arranged(
    steps: dict[int, tuple[str, str, float, float, float, tuple[str, ...]]],
    choices: Sequence[Choice],
    apart: Sequence[Choice],
    order: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    place: NDArray[np.float64],
    tellings: int,
    title: str,
) -> Outline:
    """Number units and steps in an order that agrees with the partial order."""
    middle = [float(np.mean([place[s] for b in unit.branches for s in b])) for unit in choices]
    left = set(range(len(choices)))
    ranked: list[int] = []
    while left:
        free = [u for u in left if not any(order[v, u] for v in left)]
        ranked.append(min(free, key=lambda u: (middle[u], u)))
        left.remove(ranked[-1])
    rate = {
        step: value
        for unit in choices
        for branch, values in zip(unit.branches, unit.telling, strict=True)
        for step, value in zip(branch, values, strict=True)
    }
    old = [s for u in ranked for branch in choices[u].branches for s in branch]
    new = {step: number for number, step in enumerate(old)}
    made = []
    for step in old:
        event, name, told, again, where, wording = steps[step]
        made.append(Step(name, event, min(told, 1.0), rate[step], again, where, wording))
    units, wholes = (
        tuple(
            Unit(
                tuple(tuple(new[s] for s in branch) for branch in one.branches),
                one.shares,
                one.happens,
            )
            for one in some
        )
        for some in ([choices[u] for u in ranked], apart)
    )
    grid = np.ix_(ranked, ranked)
    return Outline(
        tuple(made), units, order[grid].copy(), pairs[grid].copy(), tellings, title, apart=wholes
    )


LEAST_EDGE = 1e-6
"""Probability below which a way past several units is left out, and goes to the next one."""


def sharp_script(
    outline: Outline, events: Sequence[str], *, about: Mapping[str, Any] | None = None
) -> Script:
    """Return the script of an outline, over the given events.

    Examples
    --------
    >>> from elision.learn.outline import learn_outline
    >>> tellings = [["boil", "pour", "drink"], ["boil", "pour"], ["pour", "drink"]] * 4
    >>> number = {"boil": 0, "pour": 1, "drink": 2}
    >>> outline = learn_outline([[number[e] for e in one] for one in tellings], list(number))
    >>> sharp_script(outline, list(number)).states
    ('start', 'boil', 'pour', 'drink', 'end')
    """
    size = len(outline.steps) + 2
    number = {event: o for o, event in enumerate(events)}
    emission = np.zeros((size, len(events)))
    elision = np.zeros(size)
    loops = np.zeros(size)
    for state, step in enumerate(outline.steps, start=1):
        silent = 1 - step.telling
        # Told again only after it was told: the chance of never being told must not change.
        loops[state] = min(step.again, 0.9)
        elision[state] = silent / (1 - loops[state] + loops[state] * silent) if silent else 0.0
        emission[state, number[step.event]] = 1 - elision[state]
    names = [START, *_state_names(outline), END]
    transition = _transition(outline, loops)
    return Script(events, transition, emission, elision, states=names, about=about, outline=outline)


def _state_names(outline: Outline) -> list[str]:
    """Names of the steps, but for those that only the ends of a script may have."""
    return [f"{step.name} " if step.name in (START, END) else step.name for step in outline.steps]


def _transition(outline: Outline, loops: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    size = len(loops)
    transition = np.zeros((size, size))
    waiting = {0: 1.0}
    for unit in outline.units:
        skips = 1 - unit.happens
        ahead: dict[int, float] = {}
        for state, weight in waiting.items():
            passing = weight * skips
            if passing < LEAST_EDGE:
                passing = 0.0
            if passing:
                ahead[state] = passing
            for branch, share in zip(unit.branches, unit.shares, strict=True):
                transition[state, branch[0] + 1] += (weight - passing) * share
        for branch in unit.branches:
            for first, second in pairwise(branch):
                transition[first + 1, second + 1] = 1.0
            ahead[branch[-1] + 1] = 1.0
        waiting = ahead
    for state, weight in waiting.items():
        transition[state, -1] = weight
    transition[:-1] *= (1 - loops[:-1])[:, None]
    transition[np.diag_indices(size)] = loops
    transition[:-1] /= transition[:-1].sum(axis=1, keepdims=True)
    return transition
