"""What a telling would be worth had one thing gone differently: the deviations of a teller.

Everything is the probability of another telling over that of the one given: two neighbours
exchanged, an event left out, one put in, one moved elsewhere. All come from one forward and one
backward pass over the told events; none is sampled or approximated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.engine.told_chain import Tables, ToldChain

LARGEST_LOG_RATIO = 700.0
"""Ratios are cut here, short of overflow."""


class Deviations(NamedTuple):
    """Ratios for N tellings of m events.

    ``exchanged`` (N, m - 1): the telling with events i and i + 1 exchanged, over the telling;
    ``without`` (N, m): the telling without event i; ``entered`` (N, m + 1, states): times
    Omega(x|k), the telling with an x told by k put in after i events, and times the elision of k
    the expected silent passes of k there.
    """

    exchanged: NDArray[np.float64]
    without: NDArray[np.float64]
    entered: NDArray[np.float64]


def deviations(
    chain: ToldChain, tables: Tables, likelihood: NDArray[np.float64], log_prob: NDArray[np.float64]
) -> Deviations:
    """Weigh all deviations of tellings of the same length that the script can tell.

    Parameters
    ----------
    chain
        The chain of told events.
    tables
        Its tables of these tellings.
    likelihood
        (N, m, states): of each event in each state.
    log_prob
        (N,): of the tellings; finite.
    """
    before, arrived, before_scale, after, after_scale = tables
    # Telling i + 1 from where event i was due, then i.
    early = arrived[:, :-2] * likelihood[:, 1:]
    late = chain.arrivals(early) * likelihood[:, :-1]
    exchanged = _ratio(
        (late * after[:, 2:]).sum(axis=2),
        before_scale[:, :-2] + after_scale[:, 2:] - log_prob[:, None],
    )
    without = _ratio(
        (before[:, :-1] * after[:, 1:]).sum(axis=2),
        before_scale[:, :-1] + after_scale[:, 1:] - log_prob[:, None],
    )
    entered = _ratio(arrived * after, (before_scale + after_scale - log_prob[:, None])[:, :, None])
    return Deviations(exchanged, without, entered)


def moves(
    chain: ToldChain, tables: Tables, likelihood: NDArray[np.float64], log_prob: float
) -> NDArray[np.float64]:
    """What moving one event of a telling gains.

    Parameters
    ----------
    chain
        The chain of told events.
    tables
        The rows of one telling of its tables.
    likelihood
        (m, states): of each event in each state.
    log_prob
        Of the telling; finite.

    Returns
    -------
    numpy.ndarray
        (m, m): the gain in log-probability where event i becomes the event number p; 0 for i = p.
    """
    moved = np.full((len(likelihood), len(likelihood)), log_prob)
    _, arrived, before_scale, after, after_scale = map(np.ascontiguousarray, tables)
    likelihood = np.ascontiguousarray(likelihood)
    for kernel in (kernels.told_chain.later_moves, kernels.told_chain.earlier_moves):
        kernel(chain.model, likelihood, arrived, before_scale, after, after_scale, moved)
    return moved - log_prob


def _ratio(value: NDArray[np.float64], log_scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(value * np.exp(np.minimum(log_scale, LARGEST_LOG_RATIO)))
