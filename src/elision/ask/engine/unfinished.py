"""Tellings that are not finished: what comes after the last event is still to come."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.ask.align import lacking
from elision.ask.between import Story, unsaid_of
from elision.ask.engine.checks import probability
from elision.ask.engine.filters import first_filter
from elision.ask.engine.passing import Passing
from elision.ask.fill import emission_shares
from elision.ask.heard import events_of, hear, impossible, name_of, single
from elision.ask.score import Deviations, named
from elision.values.observations import SMALLEST, Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.ask.align import Aligned
    from elision.ask.heard import Item
    from elision.ask.score import Conformance, Flag
    from elision.values.observations import Observation, Unknown
    from elision.values.outline import Outline
    from elision.values.script import Script

MOST_ADDED = 100
"""Events by which a beginning is gone on with at most, to judge it."""


def prefix_log_prob(script: Script, items: Sequence[Observation]) -> float:
    """Log-probability that a telling begins with these events; an open one counts as no event."""
    Packer(script.events).pack([items])  # complains of what is no observation
    state, total = first_filter(script), 0.0
    number = {event: o for o, event in enumerate(script.events)}
    for item in items:
        if item is not None:
            event = number[name_of(item)]
            total += float(state.next_log_probs()[event])
            state = state.tell(event)
    return total


def between(
    script: Script,
    narrative: Iterable[Item],
    *,
    unknown: Unknown = "error",
    min_probability: float = 0.05,
) -> Story:
    """Tell what happened unsaid so far, by all paths of a script that begin with a narrative.

    For events i = 1..n, with onward = (1 - T E)^-1 T the ways from one state to another over silent
    ones, a(i) the states that told event i and b(i) what follows of it, each state k passed in
    silence before event i + 1 has the weight

        (a(i) onward)(k) E(k) (onward told(i + 1) b(i + 1))(k).
    """
    min_probability = probability(min_probability, "min_probability")
    items = single(hear(script, narrative, unknown=unknown), "between")
    Packer(script.events).pack([items])  # complains of what is no observation
    size = script.size
    silent = script.transition * script.elision
    onward = np.linalg.solve(np.eye(size) - silent, script.transition)
    number = {event: o for o, event in enumerate(script.events)}
    told = [
        script.emission.sum(axis=1) if item is None else script.emission[:, number[name_of(item)]]
        for item in items
    ]
    after = [np.eye(size)[0]]
    log_prob = 0.0
    for tells in told:
        reached = (after[-1] @ onward) * tells
        total = float(reached.sum())
        if not total > SMALLEST:
            raise impossible()
        log_prob += math.log(total)
        after.append(reached / total)
    follows = np.ones(size)
    passes = np.zeros((len(items) + 1, size))
    nothing = np.ones(len(items) + 1)
    for i in range(len(items) - 1, -1, -1):
        goal = told[i] * follows
        ways = onward @ goal
        whole = float(after[i] @ ways)
        passes[i] = (after[i] @ onward) * script.elision * ways / whole
        nothing[i] = float(after[i] @ script.transition @ goal) / whole
        # Only states that told event i count, and are of order one: others might hide them.
        follows = np.divide(ways, whole, out=np.zeros(size), where=after[i] > SMALLEST)
    shares = emission_shares(script.emission)
    chance = np.minimum(passes @ shares, 1.0)
    return Story(
        tuple(name_of(item) for item in items),
        tuple(unsaid_of(script.events, passes, shares, chance, min_probability)),
        tuple(nothing.tolist()),
        log_prob,
    )


def aligned(found: Aligned) -> Aligned:
    """Leave out what a path passes after the last event told."""
    steps = list(found.steps)
    while steps and steps[-1].position is None:
        steps.pop()
    chances = [step.probability for step in steps if step.state is not None]
    return replace(found, steps=tuple(steps), ending=1.0, log_prob=float(np.log(chances).sum()))


def passed_by_now(
    script: Script, outline: Outline, items: Iterable[Observation]
) -> NDArray[np.float64]:
    """Probability that each step of an outline is no longer to come after a beginning.

    It is what `elision.ask.follow` says after the last event; one where the step was told.

    Examples
    --------
    >>> import elision as el
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> outline = script.outline()
    >>> found = passed_by_now(script, outline, ["open door"])
    >>> {step.name: round(p, 2) for step, p in zip(outline.steps, found.tolist())}["close door"]
    0.01
    """
    state, passing = first_filter(script), Passing.of(outline)
    number = {event: o for o, event in enumerate(script.events)}
    for item in items:
        if item is None:
            continue
        event = name_of(item)
        step = passing.step_of(event)
        passing = passing if step is None else passing.tell(step)
        state = state.tell(number[event])
    return passing.no_longer_to_come(script.events, np.exp(state.next_log_probs()[:-1]))


def completed(script: Script, narrative: Any) -> tuple[Any, int]:
    """Go on with a beginning as it most probably does, and say by how many events.

    What is judged is then a whole telling, as others are, that lacks nothing which may still come.
    """
    told = list(narrative) if isinstance(narrative, Iterator) else narrative
    items = single(hear(script, told, unknown="ignore"), "score")
    added = _likely_rest(script, items)
    if script.telling is None and script.log_prob([*items, *added]) == -math.inf:
        # What it tells, it cannot tell; it may be able to if it has all that it always has.
        wanted = [] if script.log_prob(items) > -math.inf else lacking(script, items)
        behind = all(after == len(items) for _, after in wanted)
        added = [event for event, _ in wanted] if behind else []
    return ([*events_of(told, script), *added], len(added)) if added else (told, 0)


def _likely_rest(script: Script, items: Iterable[Observation]) -> list[str]:
    """What is most probably told next, event by event to the end; nothing if there is none."""
    number = {event: o for o, event in enumerate(script.events)}
    state = first_filter(script)
    for item in items:
        state = state if item is None else state.tell(number[name_of(item)])
    added: list[str] = []
    while len(added) <= MOST_ADDED:
        event = int(state.next_log_probs().argmax())
        if event == len(number):
            return added
        added.append(script.events[event])
        state = state.tell(event)
    return []


def conformed(found: Conformance, added: int = 0) -> Conformance:
    """Leave out what follows: its surprise, what was skipped there, the comparison with others.

    ``added`` are the last events, which were not told yet.
    """
    end = len(found.told) - added
    certain = [flag for flag in found.flags if flag.kind != "surprising"]  # which has no others now
    flags = [flag for flag in certain if flag.position < end]
    surprises = found.surprises[end:]
    later = found.ending + sum(one for one in surprises if one is not None)
    begun = replace(
        found,
        told=found.told[:end],
        surprises=found.surprises[:end],
        log_prob=found.log_prob + later if found.log_prob > -math.inf else -math.inf,
        ending=0.0,
        p_value=None,
        untold=(),
        steps=None,
        late=tuple(event for event in found.late if event in found.told[:end]),
        flags=tuple(flags),
        deviations=_without(found.deviations, [one for one in certain if one.position >= end]),
    )
    return named(begun)


def _without(found: Deviations, flags: Iterable[Flag]) -> Deviations:
    """Deviations without those that were flagged."""
    missing, superfluous, out_of_order = found
    for flag in flags:
        chance = flag.weight if flag.kind == "skipped" else flag.probability
        if chance is None:
            continue
        missing -= chance if flag.kind in {"skipped", "replaced"} else 0.0
        superfluous -= chance if flag.kind in {"superfluous", "repeated", "replaced"} else 0.0
        out_of_order -= chance if flag.kind == "out of order" else 0.0
    return Deviations(max(0.0, missing), max(0.0, superfluous), max(0.0, out_of_order))
