"""What is told next, after the beginning of a narrative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.ask.engine.chain import Chain
from elision.ask.fill import Answer, ranked
from elision.ask.heard import check_top, hear
from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.ask.heard import Item
    from elision.values.observations import Unknown
    from elision.values.script import Script

MOST_STEPS = 10_000
"""How far ahead one may ask."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What may be told at one step: events, or nothing because the telling has ended before."""

    answers: tuple[Answer, ...]
    ended: float

    def __str__(self) -> str:
        lines = [f"{one.event}  {one.probability:.0%}" for one in self.answers]
        return "\n".join([*lines, f"(nothing more)  {self.ended:.0%}"])


@dataclass(frozen=True, slots=True)
class Following:
    """What may be told next: ``steps[0]`` is the next event, ``steps[1]`` the one after it.

    ``log_prob`` is the log-probability that a narrative begins like this.
    """

    steps: tuple[Ahead, ...]
    log_prob: float

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The next event, most probable first."""
        return self.steps[0].answers

    @property
    def ended(self) -> float:
        """Probability that nothing more is told."""
        return self.steps[0].ended

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.steps))

    def _repr_html_(self) -> str:
        rows = [
            (str(number), event, probability)
            for number, step in enumerate(self.steps, start=1)
            for event, probability in [
                *((one.event, one.probability) for one in step.answers),
                ("(nothing more)", step.ended),
            ]
        ]
        return _html.table(["step", "event", "probability"], rows)


def following(
    script: Script,
    narrative: Iterable[Item],
    *,
    steps: int = 1,
    top: int | None = None,
    unknown: Unknown = "error",
) -> Following:
    """Say which event is told next, and whether any is, after the beginning of a narrative.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events told so far; it may be empty.
    steps
        How many events ahead. At each step, its events and ``ended`` sum to one.
    top
        How many events a step; all by default.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If no narrative of the script begins like this.

    Examples
    --------
    >>> import elision as el
    >>> print(following(el.examples.doorbell(), ["hear doorbell", "open door"], top=2))
    greet visitor  35%
    take parcel  23%
    (nothing more)  3%
    """
    check_top(top)
    check_steps(steps)
    items = hear(script, narrative, unknown=unknown).items
    if items[-1:] == [...]:
        raise InputError("the narrative ends in a stretch (...)", hint="leave the last ... away")
    chain = Chain(script, [*items, ...])
    row = len(chain.kept)
    here = chain.told[row - 1] if row else chain.start
    onward = chain.stretch(row)
    ended = 0.0
    found = []
    for _ in range(steps):
        here, stopped = onward.next(here)
        ended += stopped
        found.append((chain.chances(here), ended))
    answers = ranked(script.events, np.array([chances for chances, _ in found]), top)
    return Following(
        tuple(Ahead(one, done) for one, (_, done) in zip(answers, found, strict=True)),
        chain.log_prob,
    )


def check_steps(steps: int) -> None:
    """Refuse to look no step ahead, or too many."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        problem = f"steps is {short(steps)}, expected a whole number from 1 to {MOST_STEPS}"
        raise InputError(problem)
