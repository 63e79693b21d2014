"""Silence by an outline: what happened unsaid, in whatever order things were told.

A script made from an outline has its states in one order, where the outline may leave it open.
Whether a step happened depends only on what was told of its unit; where, on the order of all units.
For questions about states, what was told is put into the script's order first, and the answers
back into the order of the telling. What is one event rather than not was told as that event: else
an answer would name it as told, and as unsaid, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from elision.ask import align as _align
from elision.ask import posterior as _posterior
from elision.ask.between import Story, Unsaid
from elision.ask.engine import checks
from elision.ask.engine.unfinished import passed_by_now, prefix_log_prob
from elision.ask.heard import hear, hear_all, label_of, name_of, single
from elision.values.observations import Packer, surely
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.align import Aligned
    from elision.ask.heard import Item
    from elision.ask.posterior import StatePosterior
    from elision.values.observations import Observation, Unknown
    from elision.values.outline import Outline
    from elision.values.script import Script

SIBLING = 0.98
"""Probability that steps of one branch come in its order."""


def between(
    script: Script,
    narrative: Iterable[Item],
    *,
    unknown: Unknown = "error",
    min_probability: float = 0.05,
    finished: bool = True,
) -> Story:
    """Tell what probably happened unsaid in each gap of a narrative, the ends included.

    Parameters are those of `elision.ask.between.between`.

    Examples
    --------
    >>> import elision as el
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> print(script.between(["hear doorbell", "open door"], min_probability=0.5))
    hear doorbell
      (walk to door, 93%)
    open door
      100%: something was left out here
      (greet visitor, 72%)
      (let visitor in, 72%)
      (close door, 97%)
    """
    heard = hear(script, narrative, unknown=unknown)
    items = single(heard, "between")
    whole = script.log_probs([items])[0] if finished else prefix_log_prob(script, items)
    return _story(
        script, items, float(whole), min_probability, finished=finished, denied=heard.denied
    )


def between_many(
    script: Script,
    narratives: Iterable[Iterable[Item]],
    *,
    unknown: Unknown = "error",
    min_probability: float = 0.05,
) -> list[Story]:
    """Tell what happened unsaid in each of many narratives."""
    heard = hear_all(script, narratives, unknown=unknown)
    told = [single(one, "between") for one in heard]
    log_probs = script.log_probs(told).tolist()
    return [
        _story(script, items, whole, min_probability, finished=True, denied=one.denied)
        for items, whole, one in zip(told, log_probs, heard, strict=True)
    ]


def align(
    script: Script,
    narrative: Iterable[Item],
    *,
    unknown: Unknown = "error",
    finished: bool = True,
) -> Aligned:
    """Find the most probable path of what was told, put into the script's order.

    Positions are those of the telling, so that steps told out of the script's order can be seen.
    """
    heard = hear(script, narrative, unknown=unknown)
    items, order = _in_order(script, single(heard, "align"))
    found = _align.align(_align.able(script, items), items, finished=finished)
    denied = {step.name for step in _outline(script).steps if step.event in heard.denied}
    places = [heard.positions[index] for index in order]
    steps = [
        step if step.position is None else replace(step, position=places[step.position])
        for step in found.steps
        if step.event is not None or step.state not in denied
    ]
    steps += [_align.Step(name, None, place, 1.0, 0.0) for place, name in heard.ignored]
    return replace(found, steps=tuple(steps))


def posterior(
    script: Script, narrative: Iterable[Item], *, unknown: Unknown = "error"
) -> StatePosterior:
    """Weigh all paths of what was told, put into the script's order; other events are left out."""
    items = single(hear(script, narrative, unknown=unknown), "posterior")
    return _posterior_of(script, items)


def _posterior_of(script: Script, items: Sequence[Observation]) -> StatePosterior:
    ordered, _ = _in_order(script, items)
    script = _align.able(script, ordered)
    aside = _align.align(script, ordered).spurious
    kept = [item for index, item in enumerate(ordered) if index not in aside]
    return _posterior.posterior(script, kept)


def _in_order(script: Script, items: Sequence[Observation]) -> tuple[list[Observation], list[int]]:
    """What was told, in the order of the script's states, and where each stood."""
    items = _surely(script, items)
    outline = _outline(script)
    steps = steps_told(outline, [_event(item) for item in items])
    # An event without a step, or a gap, stays behind what it was told after.
    last, keys = -1, []
    for step in steps:
        last = last if step is None else step
        keys.append(last)
    order = sorted(range(len(items)), key=lambda index: keys[index])
    return [items[index] for index in order], order


def _surely(script: Script, items: Sequence[Observation]) -> list[Observation]:
    Packer(script.events).pack([items])  # complains of what is no observation
    return [surely(item) for item in items]


def _outline(script: Script) -> Outline:
    outline = script.made_from
    if outline is None:
        raise ValueError("the script was not made from an outline")
    return outline


def _event(item: Observation) -> str | None:
    return None if item is None else name_of(item)


def _story(
    script: Script,
    items: Sequence[Observation],
    log_prob: float,
    min_probability: float,
    *,
    finished: bool,
    denied: frozenset[str] = frozenset(),
) -> Story:
    min_probability = checks.probability(min_probability, "min_probability")
    outline, items = _outline(script), _surely(script, items)
    steps = steps_told(outline, [_event(item) for item in items])
    if all(isinstance(item, str) for item in items):
        at = silences(outline, steps)
    else:  # whatever it was that was told, the script weighs it
        at = places(outline, steps) * _passed(script, items)
        sure = zip(items, steps, strict=True)
        at[:, [s for item, s in sure if isinstance(item, str) and s is not None]] = 0.0
    if not finished:
        at *= passed_by_now(script, outline, items)  # what is still to come was not left out
        at[-1] = 0.0
    at[:, [k for k, step in enumerate(outline.steps) if step.event in denied]] = 0.0
    return Story(
        tuple(label_of(item) for item in items),
        tuple(_unsaid(outline, row, max(min_probability, 1e-12)) for row in at),
        tuple(nothing_unsaid(outline, steps, at).tolist()),
        log_prob,
    )


def _passed(script: Script, items: Sequence[Observation]) -> NDArray[np.float64]:
    """Probability that each step was passed in silence and never told, by the script."""
    found = _posterior_of(script, items)
    # A silent pass is followed by another one of the same state with probability x(k).
    once = 1 - np.diag(script.transition) * script.elision
    silent = np.minimum(found.silent.sum(axis=0) * once, 1 - found.told.sum(axis=0))
    result: NDArray[np.float64] = np.clip(silent, 0.0, 1.0)[1:-1]
    return result


def _unsaid(
    outline: Outline, row: NDArray[np.float64], min_probability: float
) -> tuple[Unsaid, ...]:
    """Events of one place, in the order of the steps; some have two."""
    found: dict[str, Unsaid] = {}
    for step in np.flatnonzero(row > 0).tolist():
        event, chance = outline.steps[step].event, float(row[step])
        before = found.get(event, Unsaid(event, 0.0, 0.0))
        either = before.probability + chance * (1 - before.probability)
        found[event] = Unsaid(event, before.expected + chance, either)
    return tuple(one for one in found.values() if one.probability >= min_probability)


def silences(outline: Outline, told: Sequence[int | None]) -> NDArray[np.float64]:
    """Probability that each step happened unsaid at each place of a finished telling.

    Parameters
    ----------
    outline
        The outline.
    told
        The step of each event told, None where there is none.

    Returns
    -------
    ndarray
        (events + 1, steps): before each event, and after the last.
    """
    known = {step for step in told if step is not None}
    happened = outline.happened(known)
    happened[list(known)] = 0.0
    result: NDArray[np.float64] = places(outline, told) * happened
    return result


def places(outline: Outline, told: Sequence[int | None]) -> NDArray[np.float64]:
    """Probability of each place of a telling for each step, if it happened there unsaid.

    Every unit told weighs by how often it comes before or after the step's; where several of its
    steps are told, each bears its part of that, so that a step which comes after the unit comes
    after all of them.
    """
    logs = np.log(outline.ahead)
    units = np.array(outline.unit_of, dtype=np.int64)
    steps = len(outline.steps)
    before = np.zeros((len(told) + 1, steps))
    after = np.zeros((len(told) + 1, steps))
    first_told = {step: place for place, step in reversed([*enumerate(told)]) if step is not None}
    parts = Counter(outline.unit_of[step] for step in first_told)
    for step, place in first_told.items():
        unit = outline.unit_of[step]
        first, second = logs[unit, units] / parts[unit], logs[units, unit] / parts[unit]
        for branch in outline.units[unit].branches:
            here = branch.index(step) if step in branch else None
            for number, sibling in enumerate(branch):
                later = 0.5 if here is None else SIBLING if number > here else 1 - SIBLING
                first[sibling], second[sibling] = np.log(later), np.log(1 - later)
        before[place + 1] = first
        after[place] = second
    weight = before.cumsum(axis=0) + after[::-1].cumsum(axis=0)[::-1]
    # What is told twice in a row is told once: nothing came between.
    weight[[p for p, (a, b) in enumerate(pairwise(told), 1) if a is not None and a == b]] = -np.inf
    weight = np.exp(weight - weight.max(axis=0, keepdims=True)) if steps else weight
    shares: NDArray[np.float64] = weight / weight.sum(axis=0, keepdims=True)
    return shares


def nothing_unsaid(
    outline: Outline, told: Sequence[int | None], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Probability that no step was left unsaid, for each place."""
    known = {step for step in told if step is not None}
    rest = np.ones(len(at))
    silent = [one for one in outline.decisions if known.isdisjoint(one.steps)]
    whole = {step for one in silent for step in one.steps}
    for unit in (*silent, *(one for one in outline.units if whole.isdisjoint(one.steps))):
        if known.isdisjoint(unit.steps):  # one branch of it at most, and that in one place
            rest *= 1 - sum(at[:, list(branch)].max(axis=1) for branch in unit.branches)
        else:
            rest *= np.prod(1 - at[:, list(unit.steps)], axis=1)
    result: NDArray[np.float64] = np.clip(rest, 0.0, 1.0)
    return result
