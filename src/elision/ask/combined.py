"""Gaps filled by several scripts together, and by what no script can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask._at_once import in_slices
from elision.ask.anywhere import Anywhere, Placed, insertions
from elision.ask.fill import Answer, Filling, allowed_events, gap_chances
from elision.ask.heard import check_top, excluded, gap_positions, impossible, name_of, single
from elision.contexts import context_at, contexts_of, every_place
from elision.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Heard
    from elision.ensemble import Ensemble
    from elision.observations import Observation


def fill_heard(
    ensemble: Ensemble,
    heard: list[Heard],
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
) -> list[list[Filling]]:
    """Rank the events for each gap of each narrative, with how much the scripts disagree."""
    check_top(top)
    allowed = allowed_events(ensemble.script, exclude)
    return in_slices(heard, lambda part: _fill_part(ensemble, part, top, allowed))


def _fill_part(
    ensemble: Ensemble, heard: list[Heard], top: int | None, allowed: NDArray[np.bool_]
) -> list[list[Filling]]:
    gaps = [gap_positions(one) for one in heard]
    chances, spread = chances_and_spread(ensemble, heard, gaps, allowed)
    order = np.argsort(-chances, axis=1, kind="stable")[:, :top]
    events = ensemble.events
    ranked = iter(
        [
            tuple([Answer(events[o], row[o], apart[o]) for o in best if row[o] > 0])
            for best, row, apart in zip(
                order.tolist(), chances.tolist(), spread.tolist(), strict=True
            )
        ]
    )
    return [
        [Filling(one.positions[index], next(ranked)) for index in places]
        for one, places in zip(heard, gaps, strict=True)
    ]


def chances_and_spread(
    ensemble: Ensemble,
    heard: list[Heard],
    gaps: list[list[int]],
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability of each event in each gap, and the standard deviation among the scripts."""
    said = np.stack([gap_chances(one, heard, gaps, allowed)[0] for one in ensemble.scripts])
    average = np.einsum("sge,s->ge", said, ensemble.weights)
    spread = np.sqrt(np.einsum("sge,s->ge", (said - average) ** 2, ensemble.weights))
    if ensemble.last_step is None:
        return average, spread
    number = {event: o for o, event in enumerate(ensemble.events)}
    contexts = [
        context for one in heard for context in contexts_of(_names(single(one, "fill")), number)
    ]
    chances = ensemble.last_step.chances(contexts, average) * allowed
    return chances / chances.sum(axis=1, keepdims=True), spread


def _names(items: list[Observation]) -> list[str | None]:
    return [None if item is None else name_of(item) for item in items]


def fill_anywhere(
    ensemble: Ensemble,
    heard: Heard,
    *,
    top: int | None = None,
    exclude: Iterable[str] = (),
) -> Anywhere:
    """Rank the events of which one is missing, its place unknown.

    Where it is missing the scripts say; which event it would be at each place, all say together.
    """
    check_top(top)
    items = single(heard, "fill anywhere")
    allowed = allowed_events(ensemble.script, exclude)
    chances = anywhere_chances(ensemble, items, allowed)
    events = chances.sum(axis=0)
    order = [o for o in np.argsort(-events, kind="stable").tolist() if events[o] > 0][:top]
    return Anywhere(
        told=tuple(map(name_of, items)),
        answers=tuple(
            Placed(ensemble.events[o], float(events[o]), tuple(chances[:, o].tolist()))
            for o in order
        ),
        places=tuple(chances.sum(axis=1).tolist()),
    )


def anywhere_chances(
    ensemble: Ensemble, items: list[Observation], allowed: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Probability that each event is missing at each place, (events told + 1, events)."""
    packed = Packer(ensemble.events).pack([items])
    joint = np.zeros((len(items) + 1, len(ensemble.events)))
    possible = False
    for script, weight in zip(ensemble.scripts, ensemble.weights.tolist(), strict=True):
        put = insertions(script, packed)
        possible |= bool(put.any())
        put *= allowed
        joint += weight * put / max(put.sum(), np.finfo(float).tiny)
    if not joint.any():
        raise excluded() if possible else impossible()
    joint /= joint.sum()
    if ensemble.last_step is None:
        return joint
    place = joint.sum(axis=1, keepdims=True)
    shown = np.flatnonzero(place)
    number = {event: o for o, event in enumerate(ensemble.events)}
    gaps = every_place(_names(items))
    contexts = [context_at(gaps[i], i, number) for i in shown.tolist()]
    chances = ensemble.last_step.chances(contexts, joint[shown] / place[shown]) * allowed
    joint[shown] = place[shown] * chances / chances.sum(axis=1, keepdims=True)
    return joint
