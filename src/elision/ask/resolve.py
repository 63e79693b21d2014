"""What an ambiguous observation stands for, in the light of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import _html
from elision.ask.heard import check_top, hear, impossible, single
from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Heard, Item
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script


@dataclass(frozen=True, slots=True)
class Candidate:
    """An event that an observation may stand for.

    ``weight`` is its share of the observation's weights, before the rest of the narrative is heard,
    and ``probability`` its probability given all of it.
    """

    event: str
    weight: float
    probability: float


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the observation at ``position`` may stand for, most probable first."""

    position: int
    candidates: tuple[Candidate, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{one.event}  {one.weight:.0%} -> {one.probability:.0%}" for one in self.candidates
        )

    def _repr_html_(self) -> str:
        rows = [(one.event, one.weight, one.probability) for one in self.candidates]
        header = ["event", "by itself", "in context"]
        return _html.table(header, rows, caption=f"observation at {self.position}")


def resolve(
    script: Script,
    narrative: Iterable[Item],
    *,
    candidates: Iterable[str] | Mapping[str, float] | None = None,
    top: int | None = None,
    unknown: Unknown = "error",
) -> list[Resolution]:
    """Say what each ambiguous observation of a narrative stands for, in the light of the rest.

    Ambiguous are mappings from event to weight, sentences that may stand for several events, and
    vague lines, given as None.

    Parameters
    ----------
    script
        The script of the activity.
    narrative
        Events in order, some of them ambiguous.
    candidates
        What a vague line (None) may stand for: events, or their weights; any event by default.
    top
        How many candidates each; all by default.
    unknown
        What to do with events that the script does not know: "error" or "ignore".

    Raises
    ------
    InputError
        If nothing is ambiguous, or the script cannot tell the narrative.

    Examples
    --------
    >>> import elision as el
    >>> unsure = {"greet visitor": 0.5, "take parcel": 0.5}
    >>> print(resolve(el.examples.doorbell(), ["open door", unsure, "say goodbye"])[0])
    greet visitor  50% -> 61%
    take parcel  50% -> 39%
    """
    check_top(top)
    heard, items, unsure = ambiguous(script, narrative, candidates, unknown)
    packed = Packer(script.events).pack([items])
    found = script.lattice.posterior(packed)[0]
    if found.log_prob == -np.inf:
        raise impossible()
    resolutions = []
    for index in unsure:
        weights = packed.soft[int(packed.symbol[index]) - len(script.events)]
        chances = _in_context(script.emission, weights, found.told[index])
        order = [o for o in np.lexsort((-weights, -chances)).tolist() if weights[o] > 0][:top]
        share = weights / weights.sum()
        resolutions.append(
            Resolution(
                heard.positions[index],
                tuple(
                    Candidate(script.events[o], float(share[o]), float(chances[o])) for o in order
                ),
            )
        )
    return resolutions


def ambiguous(
    script: Script,
    narrative: Iterable[Item],
    candidates: Iterable[str] | Mapping[str, float] | None,
    unknown: Unknown,
) -> tuple[Heard, list[Observation], list[int]]:
    """Hear a narrative: its items with the candidates of the vague ones, and which are unsure."""
    vague = _weights(candidates)
    heard = hear(script, narrative, unknown=unknown)
    items = [vague if item is None else item for item in single(heard, "resolve")]
    unsure = [index for index, item in enumerate(items) if not isinstance(item, str)]
    if not unsure:
        raise InputError("nothing in the narrative is ambiguous", hint="give weights by event")
    return heard, items, unsure


def _in_context(
    emission: NDArray[np.float64], weights: NDArray[np.float64], told: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(o) = sum_k told(k) w(o) Omega(o|k) / l(k, w), as a distribution."""
    states, events = np.flatnonzero(told), np.flatnonzero(weights)  # often few of many
    # One over the smallest weight would overflow.
    parts = emission[np.ix_(states, events)] * (weights[events] / weights.max())
    likelihood = parts.sum(axis=1)
    shares = np.divide(told[states], likelihood, out=np.zeros(len(states)), where=likelihood > 0)
    chances = np.zeros(len(weights))
    chances[events] = shares @ parts
    return np.asarray(chances / chances.sum())


def _weights(candidates: Iterable[str] | Mapping[str, float] | None) -> Observation:
    if candidates is None or isinstance(candidates, Mapping):
        return candidates
    if isinstance(candidates, str):
        return {candidates: 1.0}
    return dict.fromkeys(candidates, 1.0)
