"""Which state told each event of a narrative: the most probable path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html, kernels
from elision.ask.heard import hear, name_of, single
from elision.errors import InputError
from elision.values.observations import Packer, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

SPURIOUS = -1
"""The state of an event that none told."""

MOST_NAMED = 5
"""Missing events that a message names."""

SELDOM = 1e-6
"""How often states that always tell are passed over, when what is missing is looked for."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an alignment.

    Attributes
    ----------
    event
        The event; None where the state was passed in silence.
    state
        The state that told it or was passed; None for a spurious event, which no state told.
    position
        Where the event stands in the narrative, None in silence.
    probability
        That of going to this state from the one before it and telling the event, or nothing.
    certainty
        How sure it is, all paths weighed: the probability that this state told this event, or was
        passed here in silence at least once.
    """

    event: str | None
    state: str | None
    position: int | None
    probability: float
    certainty: float


@dataclass(frozen=True, slots=True)
class Aligned:
    """A narrative step by step along its most probable path.

    ``log_prob`` is that of this path alone; the script's ``log_prob`` sums over all of them. It is
    the logarithm of the steps' probabilities, those of spurious events left out, and of ``ending``,
    the probability of going to the end from the last state.
    """

    steps: tuple[Step, ...]
    ending: float
    log_prob: float

    @property
    def spurious(self) -> tuple[int, ...]:
        """Positions of the events that no state told."""
        aside = (step.position for step in self.steps if step.state is None)
        return tuple(position for position in aside if position is not None)

    def __str__(self) -> str:
        return "\n".join(map(_line, self.steps))

    def _repr_html_(self) -> str:
        rows = [
            (step.event or "", step.state or "(spurious)", step.certainty) for step in self.steps
        ]
        return _html.table(["told", "state", "certainty"], rows)


def align(
    script: Script,
    narrative: Iterable[Item],
    *,
    unknown: Unknown = "error",
    finished: bool = True,
) -> Aligned:
    """Find the most probable path of a narrative through the script.

    Where the script cannot tell the narrative, as few events as possible are set aside as
    *spurious*, so that it can tell the rest; among such ways the most probable path is taken.
    Events that are ignored because the script does not know them are spurious as well.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        The events that were told, in order.
    unknown
        What to do with events that the script does not know: "error" or "ignore".
    finished
        Whether the narrative is at its end; if not, what the script always tells may come later.

    Raises
    ------
    InputError
        If the script cannot tell any part of the narrative.

    Examples
    --------
    >>> import elision as el
    >>> print(align(el.examples.doorbell(), ["walk to door", "hear doorbell", "close door"]))
    walk to door  [spurious]
    hear doorbell  [hear doorbell]  100%
      (walk to door)  100%
      (open door)  100%
      (take parcel)  58%
    close door  [close door]  100%
    """
    heard = hear(script, narrative, unknown=unknown)
    items, positions = single(heard, "align"), [*heard.positions]
    given = 1 + max([*positions, *(place for place, _ in heard.ignored)], default=-1)
    path, log_prob = _best_path(script, items)
    if log_prob == -np.inf:
        wanted = lacking(script, items)
        if finished or any(after < len(items) for _, after in wanted):
            raise _lacks(wanted)
        items = [*items, *(event for event, _ in wanted)]
        positions += range(given, given + len(wanted))
        path, log_prob = _best_path(script, items)
    aside = {index for state, index in path if state == SPURIOUS}
    kept = [item for index, item in enumerate(items) if index not in aside]
    found = script.lattice.posterior(Packer(script.events).pack([kept]))[0]
    # A silent pass is followed by another one of the same state with probability x(k).
    once = 1 - np.diag(script.transition) * script.elision
    silent = np.minimum(found.silent(script.elision) * once, 1.0)
    steps: list[Step] = []
    spurious = dict(heard.ignored)
    here = told = 0
    for state, index in path:
        if index >= 0:
            _set_aside(steps, spurious, positions[index])
        if state == SPURIOUS:
            spurious[positions[index]] = name_of(items[index])
            _set_aside(steps, spurious, positions[index] + 1)
            continue
        step = float(script.transition[here, state])
        name = script.states[state]
        if index < 0:
            chance = step * float(script.elision[state])
            steps.append(Step(None, name, None, chance, float(silent[told, state])))
        else:
            event, chance = _told(script, state, items[index])
            certainty = float(found.told[told, state])
            steps.append(Step(event, name, positions[index], step * chance, certainty))
            told += 1
        here = state
    _set_aside(steps, spurious, math.inf)
    steps = [step for step in steps if step.position is None or step.position < given]
    return Aligned(tuple(steps), float(script.transition[here, -1]), log_prob)


def _set_aside(steps: list[Step], spurious: dict[int, str], before: float) -> None:
    """Add the spurious events that stand before a position, and take them off the list."""
    places = sorted(place for place in spurious if place < before)
    steps += [Step(spurious.pop(place), None, place, 1.0, 0.0) for place in places]


def _best_path(script: Script, items: list[Observation]) -> tuple[list[tuple[int, int]], float]:
    """States and the items they told: -1 for no state, and for nothing told; none if impossible."""
    packed = Packer(script.events).pack([items])
    model = script.lattice.model(packed)
    state = np.empty(len(items) + script.size, np.int64)
    index = np.empty_like(state)
    log_prob, steps = kernels.asking.fewest_aside(
        model, script.lattice.log_model(model), packed.symbol, state, index
    )
    if log_prob == -np.inf:
        return [], float(log_prob)
    found = zip(state[:steps].tolist(), index[:steps].tolist(), strict=True)
    return list(found), float(log_prob)


def _lacks(wanted: list[tuple[str, int]]) -> InputError:
    names = ", ".join(short(event) for event, _ in wanted[:MOST_NAMED])
    more = ", ..." if len(wanted) > MOST_NAMED else ""
    return InputError(
        "the script cannot tell this narrative, nor any part of it",
        hint=f"a telling like it always has {names}{more}: put in what is missing, or ... at the"
        " end if it is not finished",
    )


def lacking(script: Script, items: list[Observation]) -> list[tuple[str, int]]:
    """What is missing from a narrative of which no part can be told, and after which item.

    Found by the same path in a script that may pass any state in silence.
    """
    never = _never_silent(script)
    path, _ = _best_path(_relaxed(script), items)
    found, after = [], 0
    for state, index in path:
        if index >= 0:
            after = index + 1
        elif never[state]:
            found.append((script.events[int(script.emission[state].argmax())], after))
    return found


def able(script: Script, items: list[Observation]) -> Script:
    """The script itself if it can tell a part of a narrative, else one that may leave out all."""
    _, log_prob = _best_path(script, items)
    return _relaxed(script) if log_prob == -np.inf else script


def _never_silent(script: Script) -> NDArray[np.bool_]:
    return np.asarray((script.elision == 0) & (script.emission.sum(axis=1) > 0))


def _relaxed(script: Script) -> Script:
    """A script that may pass any state in silence, if only seldom."""
    seldom = np.where(_never_silent(script), SELDOM, 0.0)
    return type(script)(
        script.events,
        script.transition,
        script.emission * (1 - seldom)[:, None],
        script.elision + seldom,
        states=script.states,
    )


def _told(script: Script, state: int, item: Observation) -> tuple[str, float]:
    """What a state told, as far as the item says, and how probable the item is there."""
    row = script.emission[state]
    if item is None:
        return name_of(item), float(row.sum())
    if isinstance(item, Mapping):
        weights = np.array([item.get(event, 0.0) for event in script.events]) * row
        return script.events[int(weights.argmax())], float(weights.sum())
    return item, float(row[script.events.index(item)])


def _line(step: Step) -> str:
    if step.state is None:
        return f"{step.event}  [spurious]"
    if step.event is None:
        return f"  ({step.state})  {step.certainty:.0%}"
    return f"{step.event}  [{step.state}]  {step.certainty:.0%}"
