"""A telling laid over an outline: what it tells, leaves unsaid, and tells out of order."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from elision.errors import InputError
from elision.values.observations import short
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from elision.values.outline import Outline

State: TypeAlias = Literal["told", "unsaid", "astray", "denied", "faded"]
"""A step is told, probably done but unsaid, told out of order, said not to have happened, or none
of these."""

NOTHING: Mapping[str, Sequence[int]] = MappingProxyType({})
PROBABLE = 0.5
"""Above this probability an untold step counts as done: of two alternatives, one at most."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """What each step is for a telling.

    Attributes
    ----------
    states
        What each step is.
    lines
        Places in the telling that tell it, or that say that it did not happen, counted from 1.
    chance
        Probability that it happened.
    strange
        Events of the telling that are no step.
    length
        Number of its lines.
    """

    states: tuple[State, ...]
    lines: tuple[tuple[int, ...], ...]
    chance: tuple[float, ...]
    strange: tuple[str, ...]
    length: int


def laid_over(
    outline: Outline,
    telling: Sequence[str | None],
    *,
    places: Sequence[int] | None = None,
    length: int | None = None,
    denied: Mapping[str, Sequence[int]] = NOTHING,
) -> Overlay:
    """Lay a telling, given as names of events, over an outline.

    Parameters
    ----------
    outline
        The outline.
    telling
        Names of events; None stands for a gap.
    places
        In which line each stands, counted from 0; by default each in one of its own.
    length
        Number of lines; by default that of the events.
    denied
        Events that are said not to have happened, and in which lines.

    Examples
    --------
    >>> import elision as el
    >>> outline = el.examples.doorbell().outline()
    >>> laid = laid_over(outline, ["hear doorbell", "open door"])
    >>> sum(state == "told" for state in laid.states)
    2
    """
    told = _checked(telling)
    found = steps_told(outline, told)
    lines: list[list[int]] = [[] for _ in outline.steps]
    for place, step in zip(range(len(told)) if places is None else places, found, strict=True):
        if step is not None and place + 1 not in lines[step]:
            lines[step].append(place + 1)
    mentioned = [step for step, its_lines in enumerate(lines) if its_lines]
    chance = outline.happened(mentioned)
    astray = out_of_order(outline, found)
    states: list[State] = []
    for step, its_lines in enumerate(lines):
        event = outline.steps[step].event
        if its_lines:
            states.append("astray" if step in astray else "told")
        elif event in denied:
            states.append("denied")
            its_lines += [place + 1 for place in denied[event]]
            chance[step] = 0.0
        else:
            states.append("unsaid" if chance[step] > PROBABLE else "faded")
    strange = [event for event, step in zip(told, found, strict=True) if event and step is None]
    return Overlay(
        tuple(states),
        tuple(map(tuple, lines)),
        tuple(float(one) for one in chance),
        tuple(dict.fromkeys(strange)),
        len(told) if length is None else length,
    )


def _checked(telling: Sequence[str | None]) -> list[str | None]:
    items = None if isinstance(telling, (str, bytes)) else list(telling)
    if items is None or not all(item is None or isinstance(item, str) for item in items):
        raise InputError(f"telling is {short(telling)}, expected a list of names of events")
    return items


def out_of_order(outline: Outline, told: Sequence[int | None]) -> frozenset[int]:
    """Return the fewest steps without which the telling keeps to the order of the outline.

    A step counts where it is told first.

    Examples
    --------
    >>> import elision as el
    >>> outline = el.examples.doorbell().outline()
    >>> sorted(out_of_order(outline, [1, 2, 3, 0]))
    [0]
    """
    steps = [step for step in dict.fromkeys(told) if step is not None]
    units = [outline.unit_of[step] for step in steps]
    # An earlier one that should come after a later one. As the order is transitive, so is this,
    # and the largest set without such a pair is an antichain, found by a matching (Dilworth).
    broken = np.triu(outline.order[np.ix_(units, units)].T, 1) if units else np.zeros((0, 0), bool)
    if not broken.any():
        return frozenset()
    return frozenset(steps[k] for k in _cover(broken))


def _cover(pairs: NDArray[np.bool_]) -> list[int]:
    """Return the fewest numbers that every pair has one of; the pairs are transitive (Kőnig)."""
    partner = maximum_bipartite_matching(csr_array(pairs), perm_type="row").tolist()
    matched = {row for row in partner if row >= 0}
    rows = {row for row in range(len(pairs)) if row not in matched}
    columns: set[int] = set()
    waiting = sorted(rows)
    while waiting:
        for column in np.flatnonzero(pairs[waiting.pop()]).tolist():
            if column not in columns:
                columns.add(column)
                if partner[column] not in rows:
                    rows.add(partner[column])
                    waiting.append(partner[column])
    return sorted({row for row in range(len(pairs)) if row not in rows} | columns)
