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
from elision.ask.fill import emission_shares
from elision.ask.heard import events_of, hear, impossible, name_of, single
from elision.ask.score import named
from elision.values.observations import SMALLEST, Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.ask.align import Aligned
    from elision.ask.heard import Item
    from elision.ask.score import Conformance
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


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


def completed(script: Script, narrative: Any) -> tuple[Any, int]:
    """Add to a beginning what the script always tells later, and say how many events that is.

    Without them, a script that never leaves them out could not tell it.
    """
    told = list(narrative) if isinstance(narrative, Iterator) else narrative
    if script.telling is not None:
        return told, 0
    items = single(hear(script, told, unknown="ignore"), "score")
    if script.log_prob(items) > -math.inf:
        return told, 0
    wanted = lacking(script, items)
    if any(after < len(items) for _, after in wanted):
        return told, 0
    return [*events_of(told, script), *(event for event, _ in wanted)], len(wanted)


def conformed(found: Conformance, added: int = 0) -> Conformance:
    """Leave out what follows: its surprise, what was skipped there, the comparison with others.

    ``added`` are the last events, which were not told yet.
    """
    end = len(found.told) - added
    certain = [flag for flag in found.flags if flag.kind != "surprising"]  # which has no others now
    flags = [flag for flag in certain if flag.position < end]
    left_out = sum(flag.weight for flag in certain if flag not in flags)
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
        flags=tuple(flags),
        deviations=found.deviations._replace(missing=max(0.0, found.deviations.missing - left_out)),
    )
    return named(begun)
