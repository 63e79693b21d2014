"""Which event is missing at a known place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.between import emission_shares
from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.observations import Observation, Unknown
    from elision.script import Script


def fill_gaps(
    script: Script,
    narratives: Iterable[Sequence[Observation]],
    *,
    unknown: Unknown = "error",
) -> NDArray[np.float64]:
    """Probability of each event in the gap (None) of each narrative, (narratives, events).

    A narrative that the script cannot tell at all gets the events' overall probabilities: a gap
    always has an answer.

    Examples
    --------
    >>> import elision as el
    >>> script = el.examples.doorbell()
    >>> found = fill_gaps(script, [["hear doorbell", None, "open door"]])
    >>> script.events[found[0].argmax()]
    'walk to door'
    """
    narratives = [list(narrative) for narrative in narratives]
    gaps = []
    for number, narrative in enumerate(narratives):
        holes = [position for position, item in enumerate(narrative) if item is None]
        if len(holes) != 1:
            raise InputError(f"narrative {number} has {len(holes)} gaps (None), expected one")
        kept = [item for item in narrative[: holes[0]] if _known(script, item, unknown)]
        gaps.append(len(kept))
    packed = script.pack(narratives, unknown=unknown)
    found = script.lattice.posterior(packed)
    told = np.array([found[place].told[gap] for place, gap in zip(packed.place, gaps, strict=True)])
    filled = told.reshape(len(narratives), script.size) @ emission_shares(script.emission)
    lost = filled.sum(axis=1) == 0
    if lost.any():
        filled[lost] = overall(script)
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


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


def _known(script: Script, item: Observation, unknown: Unknown) -> bool:
    return unknown == "error" or not isinstance(item, str) or item in script.events
