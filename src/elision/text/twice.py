"""Groups that most of their tellings tell twice: two events in the same words.

"Start the washer" and "start the dryer" are alike in all but one word, and a telling of the laundry
has both. A group that is told again and again in one telling, with something else in between, is
therefore cut in two where that leaves fewer repetitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.text.wording import Told

__all__ = ["cut_repeated", "repeating"]

OFTEN = 0.5
"""A group is cut if at least this share of its tellings tells it twice, not in a row."""

LEFT = 0.5
"""The parts may tell each other's events twice in at most this share of what the whole did."""


def cut_repeated(
    told: Told, similarity: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cut groups that most of their tellings tell twice; labels are numbered from 0.

    Examples
    --------
    >>> from elision.text.parse import RuleParser
    >>> from elision.text.wording import gather, read_wording
    >>> tell = [["start the washer", "wait", "start the dryer"]] * 3
    >>> told = gather([[read_wording(s, RuleParser()) for s in steps] for steps in tell])
    >>> alike = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.1], [0.9, 0.1, 1.0]])
    >>> cut_repeated(told, alike, np.array([0, 1, 0])).tolist()
    [0, 1, 2]
    """
    ends = np.cumsum(told.lengths)
    tellings = np.split(told.place, ends[:-1])
    labels = labels.copy()
    waiting = list(range(labels.max(initial=-1) + 1))
    while waiting:
        group = waiting.pop(0)
        members = np.flatnonzero(labels == group)
        before = repeating(tellings, labels, group)
        if len(members) < 2 or before < OFTEN:
            continue
        cut = labels.copy()
        cut[members[_other_half(told, similarity, members, tellings)]] = labels.max() + 1
        parts = (group, int(cut.max()))
        if parts[1] > labels.max() and all(
            repeating(tellings, cut, part) <= LEFT * before for part in parts
        ):
            labels = cut
            waiting += parts
    return labels


def repeating(tellings: list[NDArray[np.int64]], labels: NDArray[np.int64], group: int) -> float:
    """Share of the tellings of a group that tell it twice with something else in between."""
    having = twice = 0
    for wordings in tellings:
        at = np.flatnonzero(labels[wordings] == group)
        having += len(at) > 0
        twice += len(at) > 1 and int(at[-1] - at[0]) >= len(at)
    return twice / having if having else 0.0


def _other_half(
    told: Told,
    similarity: NDArray[np.float64],
    members: NDArray[np.intp],
    tellings: list[NDArray[np.int64]],
) -> NDArray[np.bool_]:
    """Which members go with the last sentence of a telling and not with the first.

    Each telling that has the group twice says which wordings come first and which last; the others
    follow the side to whose wordings they are nearer.
    """
    first = np.zeros(len(told.wordings))
    last = np.zeros(len(told.wordings))
    inside = np.zeros(len(told.wordings), bool)
    inside[members] = True
    for wordings in tellings:
        mine = wordings[inside[wordings]]
        if len(mine) > 1:
            first[mine[0]] += 1
            last[mine[-1]] += 1
    lead = (last - first)[members]
    near = similarity[np.ix_(members, members)]
    early, late = np.maximum(-lead, 0.0), np.maximum(lead, 0.0)
    if not early.any() or not late.any():
        return np.zeros(len(members), bool)
    side = (near * late).sum(axis=1) / late.sum() - (near * early).sum(axis=1) / early.sum()
    chosen: NDArray[np.bool_] = np.where(lead != 0, lead > 0, side > 0)
    return chosen
