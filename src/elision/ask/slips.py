"""What a telling would be worth had one thing gone differently: the slips of a teller.

Everything is the probability of another telling over that of the one given: two neighbours
exchanged, an event left out, one put in, one moved elsewhere. All come from one forward and one
backward pass over the told events; none is sampled or approximated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.ask.hops import normalised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.hops import Hops

LARGEST_LOG_RATIO = 700.0
"""Ratios are cut here, short of overflow."""


class Slips(NamedTuple):
    """Ratios for N tellings of m events.

    ``exchanged`` (N, m - 1): the telling with events i and i + 1 exchanged, over the telling;
    ``without`` (N, m): the telling without event i; ``entered`` (N, m + 1, states): times
    Omega(x|k), the telling with an x told by k put in after i events, and times the elision of k
    the expected silent passes of k there.
    """

    exchanged: NDArray[np.float64]
    without: NDArray[np.float64]
    entered: NDArray[np.float64]


def slips(hops: Hops, likelihood: NDArray[np.float64], log_prob: NDArray[np.float64]) -> Slips:
    """Weigh all slips of tellings of the same length that the script can tell.

    Parameters
    ----------
    hops
        The chain of told events.
    likelihood
        (N, m, states): of each event in each state.
    log_prob
        (N,): of the tellings; finite.
    """
    before, before_scale, after, after_scale = hops.tables(likelihood)
    arrived = hops.arrivals(before)
    # Telling i + 1 from where event i was due, then i.
    early = arrived[:, :-2] * likelihood[:, 1:]
    late = hops.arrivals(early) * likelihood[:, :-1]
    exchanged = _ratio(
        (late * after[:, 2:]).sum(axis=2),
        before_scale[:, :-2] + after_scale[:, 2:] - log_prob[:, None],
    )
    without = _ratio(
        (before[:, :-1] * after[:, 1:]).sum(axis=2),
        before_scale[:, :-1] + after_scale[:, 1:] - log_prob[:, None],
    )
    entered = _ratio(arrived * after, (before_scale + after_scale - log_prob[:, None])[:, :, None])
    return Slips(exchanged, without, entered)


def moves(hops: Hops, likelihood: NDArray[np.float64], log_prob: float) -> NDArray[np.float64]:
    """What moving one event of a telling gains.

    Parameters
    ----------
    hops
        The chain of told events.
    likelihood
        (m, states): of each event in each state.
    log_prob
        Of the telling; finite.

    Returns
    -------
    numpy.ndarray
        (m, m): the gain in log-probability where event i becomes the event number p; 0 for i = p.
    """
    events = len(likelihood)
    before, before_scale, after, after_scale = (part[0] for part in hops.tables(likelihood[None]))
    gain = np.zeros((events, events))
    # Row i of `ahead`: the events up to p without event i told, for every i < p.
    ahead, ahead_scale = before[:0], before_scale[:0]
    for p in range(1, events):
        ahead = hops.arrivals(np.vstack([ahead, before[p - 1]])) * likelihood[p]
        ahead, gained = normalised(ahead)
        ahead_scale = np.append(ahead_scale, before_scale[p - 1]) + gained
        moved = (hops.arrivals(ahead) * likelihood[:p]) @ after[p + 1]
        gain[:p, p] = _log(moved) + ahead_scale + after_scale[p + 1] - log_prob
    # Row i - p - 1 of `behind`: the events from p on without event i, for every i > p.
    behind, behind_scale = after[:0], after_scale[:0]
    for p in range(events - 2, -1, -1):
        behind = hops.departures(np.vstack([after[p + 2], behind]) * likelihood[p])
        behind, gained = normalised(behind)
        behind_scale = np.append(after_scale[p + 2], behind_scale) + gained
        moved = (hops.arrivals(before[p]) * likelihood[p + 1 :] * behind).sum(axis=1)
        gain[p + 1 :, p] = _log(moved) + before_scale[p] + behind_scale - log_prob
    return gain


def _ratio(value: NDArray[np.float64], log_scale: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(value * np.exp(np.minimum(log_scale, LARGEST_LOG_RATIO)))


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
