"""Which events are missing at known places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.ask.engine.at_once import in_slices
from elision.ask.heard import Heard, check_top, excluded, gap_positions, hear, hear_all, single
from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True)
class Answer:
    """An event that may fill a gap, and how probable it is there."""

    event: str
    probability: float


@dataclass(frozen=True, slots=True)
class Filling:
    """Ranked answers for the gap at ``position`` of a narrative.

    ``fallback`` says that the script cannot tell the rest of the narrative at all. Then the answers
    are the events that it tells most often anywhere.
    """

    position: int
    answers: tuple[Answer, ...]
    fallback: bool = False

    def __str__(self) -> str:
        return "\n".join(f"{one.event}  {one.probability:.0%}" for one in self.answers)

    def _repr_html_(self) -> str:
        rows = [(one.event, one.probability) for one in self.answers]
        return _html.table(["event", "probability"], rows, caption=f"gap at {self.position}")


def fill(
    script: Script,
    narrative: Iterable[Item],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> list[Filling]:
    """Rank the events that may fill each gap (None) of a narrative, each gap by itself.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        Events, with None where one is missing.
    top
        How many answers a gap; all by default.
    exclude
        Events that stand in none of the gaps; the others share their probability.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If there is no gap, or no event is left to fill it.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> print(fill(script, ["hear doorbell", None, "open door"], top=2)[0])
    walk to door  81%
    look through peephole  19%
    """
    check_top(top)
    heard = hear(script, narrative, unknown=unknown)
    return _fill_heard(script, [heard], top, allowed_events(script, exclude))[0]


def fill_many(
    script: Script,
    narratives: Iterable[Iterable[Item]],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
    unknown: Unknown = "error",
) -> list[list[Filling]]:
    """Fill the gaps of many narratives, each as `fill` does, in far less time.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> found = fill_many(script, [[None, "open door"], ["open door", None]], top=1)
    >>> [fillings[0].answers[0].event for fillings in found]
    ['hear doorbell', 'close door']
    """
    check_top(top)
    allowed = allowed_events(script, exclude)
    heard = hear_all(script, narratives, unknown=unknown)
    return in_slices(heard, script.size, lambda part: _fill_heard(script, part, top, allowed))


def overall(script: Script) -> NDArray[np.float64]:
    """How often each event is told, as a distribution."""
    visits = np.zeros(script.size)
    visits[0] = 1.0
    for k in range(1, script.size):
        visits[k] = visits[:k] @ script.transition[:k, k] / (1 - script.transition[k, k])
    told = visits @ script.emission
    if not told.any():
        raise InputError("the script tells no event, so nothing can be filled in")
    return np.asarray(told / told.sum())


def emission_shares(emission: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each state tells when it is not silent; rows of 0 where it always is."""
    told = emission.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(emission, told, out=np.zeros_like(emission), where=told > 0))


def ranked(
    events: tuple[str, ...], chances: NDArray[np.float64], top: int | None
) -> list[tuple[Answer, ...]]:
    """Answers of each row of probabilities, most probable first, without the impossible ones."""
    order = np.argsort(-chances, axis=1, kind="stable")[:, :top]
    return [
        tuple([Answer(events[o], value) for o, value in zip(best, row, strict=True) if value > 0])
        for best, row in zip(
            order.tolist(), np.take_along_axis(chances, order, axis=1).tolist(), strict=True
        )
    ]


def _fill_heard(
    script: Script, heard: list[Heard], top: int | None, allowed: NDArray[np.bool_]
) -> list[list[Filling]]:
    gaps = [gap_positions(one) for one in heard]
    chances, fallback = gap_chances(script, heard, gaps, allowed)
    answers = iter(ranked(script.events, chances, top))
    known = iter(fallback.tolist())
    return [
        [Filling(one.positions[index], next(answers), next(known)) for index in places]
        for one, places in zip(heard, gaps, strict=True)
    ]


def allowed_events(script: Script, exclude: Iterable[str]) -> NDArray[np.bool_]:
    """Which of the script's events may be answers; at least one."""
    banned = {exclude} if isinstance(exclude, str) else set(exclude)
    allowed = np.array([event not in banned for event in script.events], bool)
    if not allowed.any():
        raise excluded()
    return allowed


def gap_chances(
    script: Script, heard: list[Heard], gaps: list[list[int]], allowed: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Probability of each event in each gap, gaps of all narratives below one another.

    Also whether the script cannot tell the narrative at all, and the answer is the usual one.
    """
    items = [single(one, "fill") for one in heard]
    packed = Packer(script.events).pack(_restricted(script, items, allowed))
    tables = script.lattice.posterior_tables(packed)
    number = [len(places) for places in gaps]
    rows = np.repeat(tables.first[packed.place], number) + [i for places in gaps for i in places]
    chances = tables.told[rows] @ emission_shares(script.emission * allowed)
    lost = tables.log_prob[packed.place] == -np.inf
    fallback = np.repeat(lost, number)
    if fallback.any():
        if not allowed.all():
            _check_exclusion(script, [items[n] for n in np.flatnonzero(lost).tolist()])
        chances[fallback] = _overall_events(script, allowed)
    return chances / chances.sum(axis=1, keepdims=True), fallback


def _check_exclusion(script: Script, narratives: list[list[Observation]]) -> None:
    """Complain where a narrative is impossible only because of what is excluded."""
    if (script.lattice.log_prob(Packer(script.events).pack(narratives)) > -np.inf).any():
        raise excluded()


def _overall_events(script: Script, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    chances = overall(script) * allowed
    if not chances.any():
        raise excluded()
    return np.asarray(chances)


def _restricted(
    script: Script, narratives: list[list[Observation]], allowed: NDArray[np.bool_]
) -> list[list[Observation]]:
    """Put the events that are allowed for each gap."""
    if allowed.all():
        return narratives
    gap = {event: 1.0 for event, kept in zip(script.events, allowed, strict=True) if kept}
    return [[gap if item is None else item for item in narrative] for narrative in narratives]
