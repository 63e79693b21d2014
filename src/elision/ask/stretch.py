"""What is missing where any number of events may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.ask.engine.best_first import (
    MOST_WORK,
    Branch,
    Effort,
    Path,
    likeliest,
    unrolled,
    worthwhile,
)
from elision.ask.engine.chain import Chain
from elision.ask.fill import Filling, allowed_events, ranked
from elision.ask.joint import Course

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.engine.chain import Onward
    from elision.ask.heard import Heard
    from elision.values.script import Script

LEAST_LEFT = 1e-9
"""Counts go on until more events than that are less probable than this."""

LONGEST = 10_000
"""Counts end here in any case: a state may repeat itself very often."""

FEWEST_COUNTS = 100
"""They go so far however large the script is."""

DEFAULT_COURSES = 5
"""How many courses are returned where nothing is said."""


@dataclass(frozen=True, slots=True)
class Expected:
    """An event, and how often it is expected to stand in a stretch."""

    event: str
    expected: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """What may stand at ``position`` of a narrative, where ``...`` left the number open.

    Attributes
    ----------
    position
        Where the stretch is in the narrative.
    counts
        ``counts[n]`` is the probability that n events were told there.
    more
        Probability of more events than ``counts`` goes.
    answers
        The events, most expected first.
    courses
        The likeliest courses of all events of the stretch, in order.
    exact
        Whether there are certainly no courses more probable than these.
    """

    position: int
    counts: tuple[float, ...]
    more: float
    answers: tuple[Expected, ...]
    courses: tuple[Course, ...]
    exact: bool = True

    def __str__(self) -> str:
        return "\n".join(map(str, self.courses))

    def _repr_html_(self) -> str:
        rows = [(", ".join(one.events) or "(nothing)", one.probability) for one in self.courses]
        caption = f"stretch at {self.position}"
        return _html.table(["events", "probability"], rows, caption=caption)


def fill_stretches(
    script: Script, heard: Heard, *, top: int | None = None, exclude: Iterable[str] = ()
) -> list[Filling | Stretch]:
    """Say what may stand in the stretches (...) and gaps (None) of a narrative, each by itself.

    A stretch stands for n = 0, 1, 2, ... events that were told there, in proportion to the
    probability of the narrative with n gaps in its place.

    Parameters
    ----------
    script
        The script of the activity.
    heard
        Events, None where one is missing, ``...`` where any number may be missing, also none.
    top
        How many events and courses; all events and five courses by default.
    exclude
        Events that stand in none of the gaps and stretches.

    Raises
    ------
    InputError
        If the script cannot tell such a narrative.

    Examples
    --------
    >>> import elision as el
    >>> (found,) = el.examples.doorbell().fill(["open door", ..., "close door"], top=1)
    >>> print(found)
    take parcel  15%
    >>> [round(probability, 2) for probability in found.counts]
    [0.11, 0.43, 0.42, 0.04]
    """
    chain = Chain(script, heard.items, allowed=allowed_events(script, exclude))
    told = chain.told
    effort = Effort.of(chain.cost, len(chain.open_rows))
    affordable = MOST_WORK // (chain.cost * len(chain.open_rows))
    longest = min(LONGEST, max(FEWEST_COUNTS, affordable))
    found: list[Filling | Stretch] = []
    row = 0
    for item, position in zip(heard.items, heard.positions, strict=True):
        if item is ...:
            begin = told[row - 1] if row else chain.start
            one = _stretch(script.events, chain, row, begin, position, top, longest, effort)
            found.append(one)
            continue
        if item is None:
            chances = told[row] @ chain.shares
            (answers,) = ranked(script.events, chances[None] / chances.sum(), top)
            found.append(Filling(position, answers))
        row += 1
    return found


def _stretch(
    events: tuple[str, ...],
    chain: Chain,
    row: int,
    begin: NDArray[np.float64],
    position: int,
    top: int | None,
    longest: int,
    effort: Effort,
) -> Stretch:
    onward = chain.stretch(row)
    counts: list[float] = []
    here = begin
    while len(counts) < longest and here.sum() > LEAST_LEFT:
        here, stopped = onward.next(here)
        counts.append(stopped)
    in_all = chain.chances(onward.in_all(begin))
    order = [o for o in np.argsort(-in_all, kind="stable").tolist() if in_all[o] > 0][:top]
    root: Node = (None, begin)
    courses, exact = likeliest(
        root,
        lambda node, least, most: _extend(node, least, most, chain, onward),
        top or DEFAULT_COURSES,
        effort,
    )
    return Stretch(
        position=position,
        counts=tuple(counts),
        more=float(here.sum()),
        answers=tuple(Expected(events[o], float(in_all[o])) for o in order),
        courses=tuple(
            Course(tuple(events[o] for o in unrolled(branch.node[0])), branch.probability)
            for branch in courses
        ),
        exact=exact,
    )


Node = tuple[Path, "NDArray[np.float64]"]
"""The first events of a stretch, and the probability of all but the last and the state there."""


def _extend(
    node: Node, least: float, most: int, chain: Chain, onward: Onward
) -> list[Branch[Node]]:
    events, here = node
    if events is not None:
        here = here * chain.shares[:, events[1]]
    ahead, end = onward.next(here)
    chances = chain.chances(ahead)
    branches: list[Branch[Node]] = [
        Branch(float(chances[o]), False, ((events, o), ahead))
        for o in worthwhile(chances, least, most)
    ]
    if end > 0 and end >= least:
        branches.append(Branch(end, True, node))
    return branches
