"""What a telling left out, each step once: how probably it happened unsaid, and where.

`elision.ask.outlined.between` spreads a step over all places where it may have happened; to read a
restored telling, one needs to see it in one place, with one number. Whoever puts it there must not
be told afterwards that it is out of order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.ask.outlined import nothing_unsaid, silences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.outline import Outline
    from elision.values.script import Script

NEARLY = 1.0
"""Places count as equally good for a step where the telling is less than e times as probable: the
verdict, which is the telling model's, would not call it out of order there."""


class LeftOut(NamedTuple):
    """What was probably left out of a telling.

    Attributes
    ----------
    unsaid
        Probability that each step happened by now and was not told.
    place
        Where it is to be told: before which of the told events, or after the last.
    something
        For each place, the probability that any of the steps that belong there was left out.
    """

    unsaid: NDArray[np.float64]
    place: NDArray[np.int64]
    something: NDArray[np.float64]


def left_out(
    outline: Outline,
    told: Sequence[int | None],
    *,
    finished: bool,
    passed: NDArray[np.float64] | None = None,
    places: Sequence[int] | None = None,
    gains: NDArray[np.float64] | None = None,
    denied: Sequence[int] = (),
) -> LeftOut:
    """Say what was left out of a telling, every step at one place.

    That is one where the telling gains nearly as much by it as anywhere; of several, the one where
    it breaks the outline's order least.

    Parameters
    ----------
    outline
        The outline.
    told
        The step of each event told, None where there is none.
    finished
        Whether the telling is at its end; if not, what comes after its last event is still to come.
    passed
        Of a telling that is not, the probability that each step is no longer to come, see
        `elision.ask.engine.unfinished.passed_by_now`; by default one.
    places
        Numbers of the places before each event and after the last, ascending, where some of these
        are one and the same; by default all differ.
    gains
        (events + 1, steps): what the telling gains by each step at each place, see `gained`; by
        default the outline alone says what is likeliest.
    denied
        Steps of which it is said that they did not happen.

    Examples
    --------
    >>> import elision as el
    >>> outline = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_.outline()
    >>> names = [step.name for step in outline.steps]
    >>> found = left_out(outline, [names.index("open door")], finished=False)
    >>> [round(float(found.unsaid[names.index(one)]), 2) for one in ("walk to door", "close door")]
    [0.96, 0.0]
    """
    where = np.arange(len(told) + 1) if places is None else np.asarray(places, np.int64)
    spread = silences(outline, told)
    best = _best_places(outline, told, spread, gains)
    if not finished:
        spread *= 1.0 if passed is None else passed
        spread[-1] = 0.0
        spread[:, best == len(told)] = 0.0
    spread[:, [*denied]] = 0.0
    unsaid = np.minimum(spread.sum(axis=0), 1.0)
    place = where[best]
    gathered = np.zeros((int(where[-1]) + 1, len(outline.steps)))
    gathered[place, np.arange(len(place))] = unsaid
    return LeftOut(unsaid, place, 1 - nothing_unsaid(outline, told, gathered))


def gained(
    script: Script, outline: Outline, told: Sequence[str | None]
) -> NDArray[np.float64] | None:
    """What a telling gains by each step at each place, None if nothing but the outline says so."""
    model = script.telling
    if model is None:
        return None
    numbers = model.numbers
    known = [event is not None for event in told]
    odds = model.insertions(np.array([numbers[event] for event in told if event], np.int64))
    rows = np.concatenate([[0], np.cumsum(known)]).astype(np.int64)
    columns = np.array([numbers[step.event] for step in outline.steps], np.int64)
    return np.asarray(odds[np.ix_(rows, columns)])


def _best_places(
    outline: Outline,
    told: Sequence[int | None],
    spread: NDArray[np.float64],
    gains: NDArray[np.float64] | None,
) -> NDArray[np.int64]:
    """Of the places that gain nearly most, those that break the order least; of these, the best."""
    broken = breaches(outline, told)
    worth = spread
    if gains is not None:
        worth = gains
        broken = np.where(gains >= gains.max(axis=0) - NEARLY, broken, len(told) + 1)
    worth = np.where(broken == broken.min(axis=0), worth, -np.inf)
    return np.asarray(worth.argmax(axis=0), np.int64)


def breaches(outline: Outline, told: Sequence[int | None]) -> NDArray[np.int64]:
    """How many of the steps told each step would stand on the wrong side of, at each place.

    Returns
    -------
    ndarray
        (events + 1, steps).
    """
    units = outline.unit_numbers
    count = len(outline.steps)
    found = np.zeros((len(told) + 1, count), np.int64)
    for place, step in enumerate(told):
        if step is None or step in told[:place]:
            continue
        unit = outline.unit_of[step]
        earlier, later = outline.order[units, unit], outline.order[unit, units]
        for branch in outline.units[unit].branches:
            if step in branch:
                at = branch.index(step)
                earlier[list(branch[:at])] = True
                later[list(branch[at + 1 :])] = True
        found[: place + 1] += later
        found[place + 1 :] += earlier
    return found
