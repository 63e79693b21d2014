"""The likeliest ways that a script went in silence between the events of a narrative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.engine.best_first import Branch, likeliest, worthwhile
from elision.ask.engine.chain import Chain
from elision.ask.joint import Course

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.observations import Observation
    from elision.values.script import Script

Node = tuple[tuple[int, ...], float]
"""The first states of a way, and the probability that it begins with them."""


def silent_ways(
    script: Script, items: Sequence[Observation], top: int
) -> tuple[tuple[Course, ...], ...]:
    """Likeliest courses of states passed in silence, for each place of a narrative.

    A state stands once in a course however often it was passed there. Probabilities are those of
    the whole course: just these states, in this place.

    Examples
    --------
    >>> import elision as el
    >>> found = silent_ways(el.examples.doorbell(), ["hear doorbell", "open door"], 2)
    >>> [str(way) for way in found[1]]
    ['walk to door  77%', 'walk to door, look through peephole  23%']
    """
    chain = Chain(script, list(items))
    told = np.vstack([chain.start, chain.told])
    return tuple(
        _ways_of_row(script.states, chain, row, told[row], top) for row in range(len(items) + 1)
    )


def _ways_of_row(
    states: tuple[str, ...], chain: Chain, row: int, begin: NDArray[np.float64], top: int
) -> tuple[Course, ...]:
    silent, _, item = chain.entries(row)
    step, leave = chain.dense(silent), chain.dense(item).sum(axis=1)
    entered, nothing = begin @ step, float(begin @ leave)
    # Once entered in silence, a state may turn silently any number of times before it is left.
    left = 1 - np.diag(step)
    onward, stop = step / left[:, None], leave / left
    np.fill_diagonal(onward, 0.0)

    def extend(node: Node, least: float, most: int) -> list[Branch[Node]]:
        passed, probability = node
        ahead = probability * onward[passed[-1]] if passed else entered
        branches: list[Branch[Node]] = [
            Branch(float(ahead[k]), False, ((*passed, k), float(ahead[k])))
            for k in worthwhile(ahead, least, most)
        ]
        end = probability * float(stop[passed[-1]]) if passed else nothing
        return [*branches, Branch(end, True, node)] if end > 0 and end >= least else branches

    root: Node = ((), 1.0)
    found, _ = likeliest(root, extend, top)
    return tuple(
        Course(tuple(states[k] for k in branch.node[0]), branch.probability) for branch in found
    )
