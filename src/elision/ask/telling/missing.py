"""The probability that an event is missing from the record at a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.missing import found_missing
from elision.ask.telling.gaps import over_openings
from elision.ask.telling.going_on import continuations
from elision.ask.telling.slots import model_of
from elision.values.telling import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.ask.missing import Omissions
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script
    from elision.values.telling import TellingModel


def missing(
    script: Script,
    narrative: Iterable[Item],
    *,
    min_probability: float = 0.05,
    unknown: Unknown = "error",
    finished: bool = True,
) -> Omissions:
    """Say which events are probably missing from the record, see `elision.ask.missing.missing`.

    The log-odds of inserting an event become a probability by what was learned from hiding told
    events of training narratives. Of a record that is not finished, probabilities are means over
    ways in which it may go on.
    """
    return found_missing(
        script,
        narrative,
        lambda items: (
            chances_missing(script, [items])[0] if finished else _chances_so_far(script, items)
        ),
        min_probability=min_probability,
        unknown=unknown,
        finished=finished,
    )


def chances_missing(script: Script, items: list[list[Observation]]) -> list[NDArray[np.float64]]:
    """Probability that each event is missing at each place of each narrative."""
    model = model_of(script)
    return [probabilities(model, over_openings(model, one)) for one in items]


def _chances_so_far(script: Script, items: list[Observation]) -> NDArray[np.float64]:
    """Probability that each event is missing at each place of a beginning."""
    model = model_of(script)
    result = np.zeros((len(items) + 1, len(model.events)))
    for whole, share in continuations(model, items):
        result += share * probabilities(model, over_openings(model, whole))[: len(result)]
    return result


def probabilities(model: TellingModel, odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn log-odds of insertion into probabilities."""
    if model.missing is None:
        return np.zeros_like(odds)
    value = evidence(odds) @ np.array(model.missing)
    return np.asarray(0.5 * (1 + np.tanh(value / 2)))


def evidence(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the probability is made of, (places, events, numbers): one, log-odds, and rivals."""
    largest = odds.max()
    result = np.ones((*odds.shape, len(Missing._fields)))
    result[..., 1] = odds
    result[..., 2] = largest + np.log(np.exp(odds - largest).sum())
    return result
