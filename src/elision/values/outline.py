"""`Outline`: what everybody would agree happens: steps, their order, choices, and silence.

An outline says which steps there are, which come before which, which come in any order, which
instead of each other, which may be left out, and which repeat. It is made of *units*: a unit is one
step, or a choice between several branches of steps. Units stand in a partial order. Whether a unit
happens, which branch is taken and whether each of its steps is told are independent of everything
else, so that what was done unsaid follows from what was told of the same unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elision import show, values
from elision.errors import ScriptError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

ROW_TOLERANCE = 1e-9

UNSEEN = 0.5
"""Tellings for either order of two units that were never told together."""

FIRM = 3.0
"""Tellings for the order that the outline says, beside those that were counted."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an outline.

    Attributes
    ----------
    name
        Its own name: that of its event, or with "(again)" where the event happens at two places.
    event
        The event that tells it.
    told
        Share of the tellings that tell it.
    telling
        Probability that it is told when it happens.
    again
        Probability that it is told once more after it was told, at the same place.
    place
        Where it usually stands in a telling, from 0 to 1.
    wording
        Sentences that people used for it, the most usual first, if it was learned from sentences.
    """

    name: str
    event: str
    told: float
    telling: float
    again: float = 0.0
    place: float = 0.5
    wording: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One step, or a choice between branches of steps.

    Attributes
    ----------
    branches
        Numbers of the steps of each branch, in their order; all of a branch happen, or none.
    shares
        Probability of each branch when the unit happens.
    happens
        Probability that the unit happens at all.
    """

    branches: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    happens: float

    @property
    def steps(self) -> tuple[int, ...]:
        """All its steps."""
        return tuple(step for branch in self.branches for step in branch)


@dataclass(frozen=True, slots=True)
class Relation:
    """One unit comes directly before another.

    ``holds`` and ``broken`` are the numbers of tellings that tell both in this order and the other
    way round.
    """

    before: int
    after: int
    holds: int
    broken: int


@dataclass(frozen=True, slots=True)
class Alarms:
    """What ordinary tellings look like to somebody who waits for skipped steps and deviations.

    Attributes
    ----------
    skipped
        For each of some tellings, the most that ever spoke for a step's having been skipped which
        was told later, in log-odds; largest first. None of these tellings was learned from.
    out_of_order
        The most that spoke for one's being out of order.
    """

    skipped: tuple[float, ...]
    out_of_order: tuple[float, ...]

    def threshold(self, kind: Literal["skipped", "out_of_order"], rate: float) -> float:
        """What must speak for an alarm so that at most this share of tellings has a false one.

        Where there are too few tellings to know, more than in any of them must; where not even half
        of one may have a false alarm, so much more as if each nat made it rarer by a factor of e.

        Examples
        --------
        >>> Alarms((3.0, 2.0, 1.0), (0.0, 0.0, 0.0)).threshold("skipped", 0.5)
        2.0
        """
        seen = getattr(self, kind)
        if not seen:
            return float("inf")
        allowed = rate * (len(seen) + 1)
        if allowed < 0.5:
            return float(seen[0] - np.log(2 * allowed))
        return float(seen[min(max(int(allowed), 1), len(seen)) - 1])

    def known(self, rate: float) -> bool:
        """Whether there are enough tellings to know how rare an alarm of this rate is."""
        return rate * (len(self.skipped) + 1) >= 1


@dataclass(frozen=True, eq=False)
class Outline:
    """The steps of an activity, their partial order, and which of them may be missing.

    Attributes
    ----------
    steps
        All steps, in an order that agrees with the partial order.
    units
        What they make up, in the same order; every step is in one unit.
    order
        (units, units): whether the first comes before the second; transitive.
    pairs
        (units, units): number of tellings that tell both, the first first.
    tellings
        How many tellings it was learned from; 0 if from none.
    title
        The activity.
    alarms
        How much spoke for a skipped step, or one out of order, in ordinary tellings.
    apart
        Choices between whose steps others come, each as a whole; each part of one is a unit.
    """

    steps: tuple[Step, ...]
    units: tuple[Unit, ...]
    order: NDArray[np.bool_]
    pairs: NDArray[np.int64]
    tellings: int = 0
    title: str = ""
    alarms: Alarms | None = None
    apart: tuple[Unit, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.units)
        members = [step for unit in self.units for step in unit.steps]
        if sorted(members) != list(range(len(self.steps))):
            raise ScriptError("every step of an outline must be in exactly one unit")
        names = [step.name for step in self.steps]
        if len(set(names)) != len(names):
            raise ScriptError("two steps of an outline have the same name")
        for name, kind in (("order", np.bool_), ("pairs", np.int64)):
            table = _frozen(np.array(getattr(self, name), kind))
            if table.shape != (n, n):
                raise ScriptError(f"a table of {table.shape}, expected ({n}, {n})")
            object.__setattr__(self, name, table)
        reach = self.order.astype(np.float32)  # whose products are quick, and exact here
        if np.diag(self.order).any() or ((reach @ reach > 0) & ~self.order).any():
            raise ScriptError("the order of an outline must be transitive and without cycles")
        for unit in (*self.units, *self.apart):
            _check_unit(unit)
        self._check_apart()
        for step in self.steps:
            for value in (step.told, step.telling, step.again, step.place):
                if not 0 <= value <= 1:
                    raise ScriptError(f"step {step.name!r}: {value} is no probability")

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by making it anew: arrays would come back writable."""
        return Outline, tuple(getattr(self, field.name) for field in fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outline):
            return NotImplemented
        return (
            (self.steps, self.units, self.tellings, self.title, self.alarms, self.apart)
            == (other.steps, other.units, other.tellings, other.title, other.alarms, other.apart)
            and np.array_equal(self.order, other.order)
            and np.array_equal(self.pairs, other.pairs)
        )

    def __hash__(self) -> int:
        return hash((self.steps, self.units, self.tellings, self.title))

    def _check_apart(self) -> None:
        """Each unit is a part of one choice, with steps of its branches, or of none."""
        branch_of: dict[int, tuple[int, int]] = {}
        for number, whole in enumerate(self.apart):
            inside = set(whole.steps)
            if not inside <= set(range(len(self.steps))) or len(inside) < len(whole.steps):
                raise ScriptError(
                    f"choice {number} of an outline has a step twice or an unknown one"
                )
            if not inside.isdisjoint(branch_of):
                raise ScriptError("two choices of an outline have a step in common")
            branch_of |= {step: (number, b) for b, way in enumerate(whole.branches) for step in way}
        for unit in self.units:
            ways = [{branch_of.get(step) for step in branch} for branch in unit.branches]
            several = set[tuple[int, int] | None]().union(*ways)
            if several == {None}:
                continue
            numbers = {None if way is None else way[0] for way in several}
            if len(numbers) > 1 or not len(several) == len(ways) == sum(map(len, ways)):
                number = min(one for one in numbers if one is not None)
                raise ScriptError(f"a unit of an outline is no part of choice {number}")

    @cached_property
    def decisions(self) -> tuple[Unit, ...]:
        """The units, but each choice whose parts stand apart as a whole."""
        parts = {step for whole in self.apart for step in whole.steps}
        return (*(unit for unit in self.units if unit.steps[0] not in parts), *self.apart)

    @cached_property
    def decided_by(self) -> tuple[int, ...]:
        """The decision that each step belongs to."""
        home = {step: d for d, one in enumerate(self.decisions) for step in one.steps}
        return tuple(home[step] for step in range(len(self.steps)))

    @cached_property
    def unit_of(self) -> tuple[int, ...]:
        """The unit of each step."""
        home = {step: u for u, unit in enumerate(self.units) for step in unit.steps}
        return tuple(home[step] for step in range(len(self.steps)))

    @cached_property
    def steps_of(self) -> dict[str, tuple[int, ...]]:
        """The steps that an event can tell, in order; most events tell one."""
        found: dict[str, list[int]] = {}
        for number, step in enumerate(self.steps):
            found.setdefault(step.event, []).append(number)
        return {event: tuple(numbers) for event, numbers in found.items()}

    @cached_property
    def covers(self) -> NDArray[np.bool_]:
        """Who stands directly before whom: the transitive reduction of the order."""
        reach = self.order.astype(np.float32)  # whose products are quick, and exact here
        return _frozen(self.order & ~(reach @ reach > 0))

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Relations between units that stand directly before one another, with their evidence."""
        return tuple(
            Relation(a, b, int(self.pairs[a, b]), int(self.pairs[b, a]))
            for a, b in np.argwhere(self.covers).tolist()
        )

    @cached_property
    def ahead(self) -> NDArray[np.float64]:
        """(units, units): probability that the first comes before the second, if both do."""
        held = self.pairs + UNSEEN + FIRM * self.order
        return _frozen(held / (held + held.T))

    @cached_property
    def log_counted(self) -> NDArray[np.float64]:
        """(units, units): log-probability that the first comes before the second, as counted."""
        return _frozen(log_counted(self.pairs))

    @cached_property
    def odds_counted(self) -> NDArray[np.float64]:
        """(units, units): log-odds of that."""
        return _frozen(self.log_counted - self.log_counted.T)

    @cached_property
    def unit_numbers(self) -> NDArray[np.int64]:
        """The unit of each step, as an array."""
        return _frozen(np.array(self.unit_of, dtype=np.int64))

    @cached_property
    def told_shares(self) -> NDArray[np.float64]:
        """Share of the tellings that tell each step, as an array."""
        return _frozen(np.array([step.told for step in self.steps]))

    @cached_property
    def happens(self) -> tuple[float, ...]:
        """Probability that each step happens, before anything is told."""
        chances = [0.0] * len(self.steps)
        for unit in self.units:
            for branch, share in zip(unit.branches, unit.shares, strict=True):
                for step in branch:
                    chances[step] = unit.happens * share
        return tuple(chances)

    def happened(self, told: Iterable[int]) -> NDArray[np.float64]:
        """Probability that each step happened, when these are told of a finished telling.

        Where steps of several branches are told, against the outline, each branch is as probable as
        its part of them.

        Examples
        --------
        >>> import elision as el
        >>> outline = el.examples.doorbell().outline()
        >>> walk = [step.name for step in outline.steps].index("walk to door")
        >>> round(float(outline.happened([])[walk]), 2)
        1.0
        """
        known = set(told)
        result = np.zeros(len(self.steps))
        for unit in self.decisions:
            for branch, chance in zip(
                unit.branches, self._branch_chances(unit, known), strict=True
            ):
                result[list(branch)] = chance
        result[list(known)] = 1.0
        return result

    def _branch_chances(self, unit: Unit, told: set[int]) -> list[float]:
        """Probability that each branch was taken."""
        heard = [sum(step in told for step in branch) for branch in unit.branches]
        if any(heard):
            return [one / sum(heard) for one in heard]
        silent = [
            unit.happens * share * math.prod([1 - self.steps[s].telling for s in branch])
            for branch, share in zip(unit.branches, unit.shares, strict=True)
        ]
        total = 1 - unit.happens + sum(silent)
        # A unit that must happen and is never passed over, untold: no telling of this outline.
        return [one / total for one in silent] if total > 0 else list(unit.shares)

    @cached_property
    def unsaid(self) -> NDArray[np.float64]:
        """Probability that each step happened where nothing of its unit is told."""
        return _frozen(self.happened(()))

    def text(self, *, wording: bool | None = None) -> str:
        """Return the outline in words.

        Parameters
        ----------
        wording
            Whether each step has one of the sentences beside it that people used, where some are
            known; None where the names of all steps are codes without letters.

        Examples
        --------
        >>> step = Step("open door", "open door", 1.0, 1.0, wording=("I opened the door",))
        >>> units, none = (Unit(((0,),), (1.0,), 1.0),), np.zeros((1, 1))
        >>> outline = Outline((step,), units, none, none)
        >>> print(outline.text(wording=True))
        What happens
         1  open door (100%)   "I opened the door"
        """
        return values.outline_reading.text(self, wording=wording)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        steps, units = counted(len(self.steps), "step"), counted(len(self.units), "unit")
        return f"Outline({steps}, {units}, {counted(len(self.relations), 'relation')})"

    def _repr_html_(self) -> str:
        return show.notebook.outline_html(self)

    def to_frame(self) -> pd.DataFrame:
        """A row a step: how often it is told, happens, is unsaid, repeats, and what it comes after.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return show.notebook.outline_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, texts and numbers, as a task graph."""
        return show.graphs.outline_json(self)


def log_counted(pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Log-probability that the first comes before the second, by numbers of tellings."""
    held = pairs + UNSEEN
    return np.asarray(np.log(held / (held + held.T)))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _check_unit(unit: Unit) -> None:
    if not unit.branches or not all(unit.branches):
        raise ScriptError("a unit of an outline needs a branch, and a branch a step")
    if len(unit.shares) != len(unit.branches) or not all(share >= 0 for share in unit.shares):
        raise ScriptError("a unit of an outline needs a share for each branch")
    if abs(sum(unit.shares) - 1) > ROW_TOLERANCE:
        raise ScriptError(f"shares of a choice sum to {sum(unit.shares)}, expected 1")
    if not 0 <= unit.happens <= 1:
        raise ScriptError(f"a unit happens with {unit.happens}, expected a probability")


def steps_told(outline: Outline, told: Sequence[str | None]) -> list[int | None]:
    """The step that each told event tells, None where the outline has none for it.

    An event with two steps tells the one that agrees better with what was told around it; told
    twice at different places, both.
    """
    found: list[int | None] = []
    single = [_only(outline, event) for event in told]
    for place, event in enumerate(told):
        choices = outline.steps_of.get(event, ()) if event is not None else ()
        if len(choices) < 2:
            found.append(choices[0] if choices else None)
            continue
        found.append(
            max(choices, key=lambda step: (_agreement(outline, step, place, single), -step))
        )
    return _both_places(outline, told, found)


def _only(outline: Outline, event: str | None) -> int | None:
    choices = outline.steps_of.get(event, ()) if event is not None else ()
    return choices[0] if len(choices) == 1 else None


def _agreement(outline: Outline, step: int, place: int, others: Sequence[int | None]) -> float:
    """Log-probability of the order of a step at a place with the other steps told."""
    unit, ahead, total = outline.unit_of[step], outline.ahead, 0.0
    for where, other in enumerate(others):
        if other is not None and where != place:
            unit_there = outline.unit_of[other]
            total += np.log(ahead[unit_there, unit] if where < place else ahead[unit, unit_there])
    return float(total)


def _both_places(
    outline: Outline, told: Sequence[str | None], found: list[int | None]
) -> list[int | None]:
    """Where all mentions of an event with two steps fell on one, the others are the second's."""
    for event, choices in outline.steps_of.items():
        if len(choices) > 1:
            where = [place for place, one in enumerate(told) if one == event]
            apart = any(b - a > 1 for a, b in pairwise(where))
            if apart and len({found[place] for place in where}) == 1:
                found[where[0]] = choices[0]
                for place in where[1:]:
                    found[place] = choices[-1] if place - where[0] > 1 else choices[0]
    return found
