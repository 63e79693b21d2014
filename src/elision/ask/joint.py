"""Which events are missing together: the likeliest fillings of several gaps at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _html
from elision.ask.engine.best_first import (
    Branch,
    Effort,
    Path,
    likeliest,
    unrolled,
    worthwhile,
)
from elision.ask.engine.chain import Chain
from elision.ask.engine.checks import check_cells
from elision.ask.fill import allowed_events
from elision.ask.heard import check_top, gap_positions, hear

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Unknown
    from elision.values.script import Script

STEP_COST = 20
"""Multiply-adds that take as long as the probability of an edge given the narrative."""

DEFAULT_TOP = 10
"""How many courses are returned where nothing is said: there may be very many."""


@dataclass(frozen=True, slots=True)
class Course:
    """Events that may have come one after the other, and how probable just these are."""

    events: tuple[str, ...]
    probability: float

    def __str__(self) -> str:
        return f"{', '.join(self.events) or '(nothing)'}  {self.probability:.0%}"


@dataclass(frozen=True, slots=True)
class Joint:
    """Ranked fillings of all gaps at once: event g of an answer stands at ``positions[g]``.

    ``exact`` says that there are certainly none more probable; each probability is exact anyway.
    """

    positions: tuple[int, ...]
    answers: tuple[Course, ...]
    exact: bool = True

    def __str__(self) -> str:
        return "\n".join(map(str, self.answers))

    def _repr_html_(self) -> str:
        header = [*(f"gap at {position}" for position in self.positions), "probability"]
        return _html.table(header, [(*one.events, one.probability) for one in self.answers])


def fill_joint(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> Joint:
    """Rank the fillings of all gaps (None) of a narrative together.

    The probability of a filling is P(narrative with it) / P(narrative with gaps). Stretches (...)
    are summed over. The search is best first, and exact unless it would follow up more than
    `elision.ask.engine.best_first.MOST_EXPANDED` beginnings, which takes several gaps that hardly
    depend on anything; then it goes on as a beam.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        Events, with None where one is missing.
    top
        How many fillings; ten by default.
    exclude
        Events that stand in none of the gaps.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> print(fill_joint(el.examples.doorbell(), ["open door", None, None], top=2))
    take parcel, close door  24%
    greet visitor, close door  17%
    """
    check_top(top)
    heard = hear(script, narrative, unknown=unknown)
    positions = tuple(heard.positions[index] for index in gap_positions(heard))
    chain = Chain(script, heard.items, allowed=allowed_events(script, exclude))
    first, links = _between_gaps(chain)
    root: Node = (0, None, first)
    found, exact = likeliest(
        root,
        lambda node, least, most: _extend(node, least, most, links, chain),
        top or DEFAULT_TOP,
        Effort.of(chain.cost + STEP_COST * len(script.parameters.source), longest=len(positions)),
    )
    return Joint(
        positions,
        tuple(
            Course(tuple(script.events[o] for o in unrolled(branch.node[1])), branch.probability)
            for branch in found
        ),
        exact,
    )


Node = tuple[int, Path, "NDArray[np.float64]"]
"""How many gaps are filled, their events, and the probability of all but the last and the state
there."""


class _Link(NamedTuple):
    """How the states that may have told a gap lead to those that tell the next one."""

    states: NDArray[np.int64]
    ways: NDArray[np.float64]

    def after(self, told: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(told[self.states] @ self.ways)


class _Adjacent(NamedTuple):
    """The same where the next gap, that of a row, follows at once."""

    chain: Chain
    row: int

    def after(self, told: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.chain.step(self.row).next(told)[0]


def _between_gaps(chain: Chain) -> tuple[NDArray[np.float64], list[_Link | _Adjacent]]:
    """Which state tells the first gap, and how each gap's state leads to that of the next."""
    gaps = [row for row, item in enumerate(chain.kept) if item is None]
    links: list[_Link | _Adjacent] = []
    cells = 0
    for gap, following in pairwise(gaps):
        if following == gap + 1:
            links.append(_Adjacent(chain, following))
            continue
        states = np.flatnonzero(chain.told[gap])
        cells += len(states) * chain.told.shape[1]
        check_cells(cells, "states of gaps times states that tell the next")
        ways = np.zeros((chain.told.shape[1], len(states)))
        ways[states, np.arange(len(states))] = 1.0
        for row in range(gap + 1, following + 1):
            ways = chain.step(row).steps(ways)
        links.append(_Link(states, np.ascontiguousarray(ways.T)))
    return chain.told[gaps[0]], links


def _extend(
    node: Node, least: float, most: int, links: list[_Link | _Adjacent], chain: Chain
) -> list[Branch[Node]]:
    filled, events, here = node
    if events is not None:
        here = links[filled - 1].after(here * chain.shares[:, events[1]])
    done = filled == len(links)
    chances = chain.chances(here)
    return [
        Branch(float(chances[o]), done, (filled + 1, (events, o), here))
        for o in worthwhile(chances, least, most)
    ]
