"""Telling models that have not seen a part of the narratives, and that part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.learn.telling import learn_telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.telling import TellingModel

Narratives = list[tuple[int, ...]]

FOLDS = 4
"""One of so many narratives is held out."""

MOST_HELD_OUT = 400
"""Narratives that are held out at most. With no more than that, each is in turn."""


class HeldOut(NamedTuple):
    """A model, what it was learned from, and what it has not seen, with the numbers of those."""

    model: TellingModel
    seen: Narratives
    narratives: Narratives
    numbers: tuple[int, ...] = ()


def hold_out(
    narratives: Sequence[Sequence[int]],
    events: Sequence[str],
    *,
    heard: Sequence[Sequence[int]] | None = None,
    random_state: int = 0,
) -> list[HeldOut]:
    """Learn models without a part of the narratives each.

    Few narratives are all held out, part by part; of many, one part is. Where they are heard in
    another way, models are learned of both, and the narratives held out are those heard.
    """
    order = np.random.default_rng([random_state, 2]).permutation(len(narratives))
    parts = np.array_split(order, FOLDS)
    if len(narratives) > MOST_HELD_OUT:
        parts = [parts[0][:MOST_HELD_OUT]]
    found = []
    for part in parts:
        out = set(part.tolist())
        seen = [tuple(one) for k, one in enumerate(narratives) if k not in out]
        if out and seen:
            also = None
            if heard is not None:
                also = [tuple(one) for k, one in enumerate(heard) if k not in out]
            model = learn_telling(seen, events, heard=also, random_state=random_state)
            asked = narratives if heard is None else heard
            held_out = [tuple(asked[k]) for k in part.tolist()]
            numbers = tuple(part.tolist())
            found.append(HeldOut(model, [*seen, *(also or ())], held_out, numbers))
    return found
