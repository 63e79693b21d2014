"""Groups of wordings, looked at again in the light of the tellings.

Words alone cannot always say which of two events a sentence tells: "put the clothes in" is the
washer or the dryer. What stands before and after it often can. Beginning with the groups that the
words make, each sentence goes to the group to which its wording is nearest, where it fits between
its neighbours, and which its own telling does not have yet; groups and their order are then counted
anew, until nothing moves. The sentences of one wording stay together: they go where most of what
is said of them points to. Groups that lose all their sentences are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.text.wording import Told


ROUNDS = 6
NEAREST = 3
"""A group is as near to a wording as this many of its wordings are on average, the nearest."""

TWICE = 0.5
"""Taken off a group for each other sentence of the telling that is in it."""

TWICE_IN_A_ROW = 0.15
"""The same for a sentence next to it: people do tell one event in two breaths."""

_UNSEEN = 0.2  # added to the count of each pair of neighbours
_FAR = -1e6


def regroup(
    told: Told,
    similarity: NDArray[np.float64],
    labels: NDArray[np.int64],
    *,
    unit: float,
    around: float,
) -> NDArray[np.int64]:
    """Return the group of each wording, after what the tellings say.

    Parameters
    ----------
    told
        The wordings and their tellings.
    similarity
        Of each wording with each other.
    labels
        The group of each wording to begin with, numbered from 0.
    unit
        Standard deviation of the similarity between different events.
    around
        Weight of what stands before and after, against nearness in units.

    Examples
    --------
    >>> from elision.text.wording import gather, read_wording
    >>> tell = [["wash", "press", "dry"], ["dry", "sing"]] * 3 + [["wash", "it", "dry"]]
    >>> told = gather([[read_wording(s) for s in steps] for steps in tell])
    >>> [wording.text for wording in told.wordings]
    ['wash', 'press', 'dry', 'sing', 'it']
    >>> regroup(told, np.eye(5), np.array([0, 1, 2, 3, 3]), unit=1.0, around=1.0).tolist()
    [0, 1, 2, 3, 1]
    """
    if unit <= 0:
        return labels
    alone = similarity.copy()
    # A sentence is no evidence for itself, but its repetitions by others are.
    once = told.count == 1
    alone[once, once] = -np.inf
    tellings = [part.tolist() for part in np.split(told.place, np.cumsum(told.lengths)[:-1])]
    for _ in range(ROUNDS):
        groups, labels = np.unique(labels, return_inverse=True)
        near = _nearness(alone, labels, len(groups)) / unit
        order = around * _order(tellings, labels, len(groups))
        votes = np.zeros_like(near)
        for wordings in tellings:
            _vote(wordings, labels, near, order, votes)
        again = votes.argmax(axis=1)
        if (again == labels).all():
            break
        labels = again
    return labels


def _nearness(
    similarity: NDArray[np.float64], labels: NDArray[np.int64], groups: int
) -> NDArray[np.float64]:
    """Mean similarity of each wording with the nearest of each group, shape (wordings, groups)."""
    near = np.empty((len(labels), groups))
    for group in range(groups):
        part = similarity[:, labels == group]
        if part.shape[1] > NEAREST:
            part = -np.partition(-part, NEAREST - 1, axis=1)[:, :NEAREST]
        there = np.isfinite(part)
        found = np.where(there, part, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        near[:, group] = np.where(there.any(axis=1), found, _FAR)
    return near


def _order(
    tellings: list[list[int]], labels: NDArray[np.int64], groups: int
) -> NDArray[np.float64]:
    """How much likelier each group follows each other than by chance; last, begin and end."""
    follows = np.full((groups + 1, groups + 1), _UNSEEN)
    for wordings in tellings:
        told = [groups, *labels[wordings].tolist(), groups]
        np.add.at(follows, (told[:-1], told[1:]), 1.0)
    chance = np.outer(follows.sum(axis=1), follows.sum(axis=0)) / follows.sum()
    ratio: NDArray[np.float64] = np.log(follows / chance)
    return ratio


def _vote(
    wordings: list[int],
    labels: NDArray[np.int64],
    near: NDArray[np.float64],
    order: NDArray[np.float64],
    votes: NDArray[np.float64],
) -> None:
    """Let each sentence of a telling choose in turn, twice; add what the second choice went by."""
    edge = near.shape[1]
    chosen = labels[wordings].tolist()
    used = np.bincount(chosen, minlength=edge).astype(float)
    for final in (False, True):
        for at, wording in enumerate(wordings):
            before = chosen[at - 1] if at else edge
            after = chosen[at + 1] if at + 1 < len(chosen) else edge
            used[chosen[at]] -= 1
            value = near[wording] + order[before, :edge] + order[:edge, after] - TWICE * used
            for neighbour in (before, after):
                if neighbour < edge:
                    value[neighbour] += TWICE - TWICE_IN_A_ROW
            chosen[at] = int(value.argmax())
            used[chosen[at]] += 1
            if final:
                votes[wording] += value


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
    >>> from elision.text.wording import gather, read_wording
    >>> tell = [["start the washer", "wait", "start the dryer"]] * 3
    >>> told = gather([[read_wording(s) for s in steps] for steps in tell])
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
