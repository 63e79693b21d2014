"""Groups of wordings that tell the same event: average linkage that also listens to the tellings.

Two groups are joined when their wordings are alike on average (as scipy's average linkage has it,
each wording counted as often as it was told), and the tellings add what words alone cannot say: who
tells two things one after the other means two things.

Where to stop is read off the data. The steps of one telling are nearly always different events, so
the similarities between them show what "different" looks like in this domain, in whatever units;
joining ends where groups are no longer more alike than that by some standard deviations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from elision.text.regroup import cut_repeated, regroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from elision.text.similarity import Weights
    from elision.text.wording import Told

__all__ = [
    "Clusters",
    "Different",
    "Merge",
    "average_linkage",
    "cluster",
    "different",
    "told_together",
]

LARGEST = 2500
"""Wordings that are compared all with all; the more frequent ones first where there are more."""

Method: TypeAlias = Literal["full matrix", "two stages", "labels"]
Compare: TypeAlias = "Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]"
"""Similarity of the wordings at some places with those at others."""

_NEVER = -np.inf
_BLOCK = 1000


class Merge(NamedTuple):
    """One step of the linkage: group ``gone`` joins group ``kept``, a smaller place."""

    kept: int
    gone: int
    value: float


class Different(NamedTuple):
    """What the similarity of two different events looks like: mean and standard deviation."""

    mean: float
    deviation: float


class Clusters(NamedTuple):
    """Groups of wordings.

    Parameters
    ----------
    labels
        The group of each wording, numbered in order of first appearance.
    cut
        Groups were joined above this value.
    method
        "full matrix", or "two stages" where there were too many wordings: then the most frequent
        ones are grouped, each other one joins the group that it is most like if it is like enough,
        and what is left over is treated in the same way again; groups are then not looked at
        again in the light of the tellings, as `regroup` does. "labels" where the groups were given.
    """

    labels: NDArray[np.int64]
    cut: float
    method: Method


def average_linkage(
    similarity: NDArray[np.float64],
    size: NDArray[np.float64],
    both: NDArray[np.float64] | None = None,
    *,
    tellings: int = 1,
    together: float = 0.0,
    apart: float = 0.0,
) -> list[Merge]:
    """Join the two groups of greatest value until one is left.

    The value of a pair of groups A and B is the mean similarity of their members, less ``together``
    times the share of the smaller group that is told beside the other, plus ``apart`` times
    min(|A|, |B|) / tellings. With both at 0 this is average linkage.

    Parameters
    ----------
    similarity
        Of each wording with each other, symmetric.
    size
        How often each was told.
    both
        How often one telling tells both, counted in pairs.
    tellings
        How many tellings there are.
    together, apart
        Weights of what the tellings say.

    Returns
    -------
    list of Merge
        One fewer than wordings; of equal values the first in order.

    Examples
    --------
    >>> table = np.array([[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]])
    >>> [(m.kept, m.gone, round(m.value, 2)) for m in average_linkage(table, np.ones(3))]
    [(0, 1, 0.8), (0, 2, 0.2)]
    """
    count = len(similarity)
    if count < 2:
        return []
    mean, size, alive = similarity.copy(), size.copy(), np.ones(count, bool)
    pairs = None if both is None or not together else both.copy()
    smaller = np.minimum.outer(size, size)
    value = mean + (apart / tellings) * smaller
    if pairs is not None:
        value -= together * np.minimum(pairs / smaller, 1.0)
    np.fill_diagonal(value, _NEVER)
    del smaller
    best = value.argmax(axis=1)
    top = value[np.arange(count), best]
    merges = []
    for _ in range(count - 1):
        first = int(top.argmax())
        i, j = sorted((first, int(best[first])))
        merges.append(Merge(i, j, float(top[first])))
        mean[i] = (size[i] * mean[i] + size[j] * mean[j]) / (size[i] + size[j])
        mean[:, i] = mean[i]
        size[i] += size[j]
        alive[j] = False
        smaller_row = np.minimum(size, size[i])
        row = mean[i] + (apart / tellings) * smaller_row
        if pairs is not None:
            pairs[i] += pairs[j]
            pairs[:, i] = pairs[i]
            row -= together * np.minimum(pairs[i] / smaller_row, 1.0)
        row[~alive] = _NEVER
        row[i] = _NEVER
        value[i], value[:, i] = row, row
        value[j], value[:, j] = _NEVER, _NEVER
        top[j] = _NEVER
        # Only rows whose favourite is gone or changed need a new search.
        stale = alive & ((best == i) | (best == j))
        stale[i] = True
        closer = alive & ~stale & (row > top)
        best[closer], top[closer] = i, row[closer]
        search = np.flatnonzero(stale)
        best[search] = value[search].argmax(axis=1)
        top[search] = value[search, best[search]]
    return merges


def different(
    similarity: NDArray[np.float64], both: NDArray[np.float64], size: NDArray[np.float64]
) -> Different:
    """Return the similarity of two steps of one telling, its mean and standard deviation.

    Where no telling has two steps, any two sentences stand in for them.

    Parameters
    ----------
    similarity
        Of each wording with each other.
    both
        How often one telling tells both, counted in pairs; on the diagonal, twice.
    size
        How often each was told.

    Examples
    --------
    >>> table = np.array([[1.0, 0.4], [0.4, 1.0]])
    >>> different(table, np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([2.0, 2.0]))
    Different(mean=0.4, deviation=0.0)
    """
    weight = both
    if not weight.any():
        weight = np.outer(size, size)
        np.fill_diagonal(weight, size * (size - 1))
    whole = weight.sum()
    if not whole:
        return Different(0.0, 0.0)
    mean = float((weight * similarity).sum() / whole)
    variance = float((weight * (similarity - mean) ** 2).sum() / whole)
    return Different(mean, math.sqrt(max(variance, 0.0)))


def cluster(
    told: Told,
    compare: Compare,
    weights: Weights,
    *,
    n_types: int | None = None,
    min_tellings: int = 1,
    largest: int = LARGEST,
) -> Clusters:
    """Group the wordings of one domain.

    Parameters
    ----------
    told
        The wordings and how they were told.
    compare
        Similarity of the wordings at some places with those at others.
    weights
        What the tellings add, and how strict to be.
    n_types
        As many groups as come nearest to this are made, rather than what the data suggest; groups
        of fewer tellings than ``min_tellings`` do not count.
    min_tellings
        See ``n_types``.
    largest
        Wordings that are compared all with all.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> from elision.text.similarity import WORDNET, WordMeasure
    >>> from elision.text.wording import gather, read_wording
    >>> tell = [["hear the bell", "open the door"], ["hear a bell ring", "open door wide"]]
    >>> told = gather([[read_wording(s) for s in steps] for steps in tell])
    >>> measure = WordMeasure.of(told.wordings, told.count, WORDNET)
    >>> side = measure.prepare(told.wordings)
    >>> table = measure.compare(side, side)
    >>> cluster(told, lambda rows, columns: table[np.ix_(rows, columns)], WORDNET).labels.tolist()
    [0, 1, 0, 1]
    """
    count = told.count
    labels = np.full(len(count), -1, np.int64)
    left = np.argsort(-count, kind="stable")
    cut = math.nan
    method: Method = "full matrix" if len(left) <= largest else "two stages"
    while len(left):
        core, others = np.sort(left[:largest]), left[largest:]
        similarity = compare(core, core)
        both = told_together(told, core)
        if math.isnan(cut):
            found = different(similarity, both, count[core])
            cut = found.mean + weights.strictness * found.deviation
        merges = average_linkage(
            similarity,
            count[core],
            both,
            tellings=told.tellings.shape[1],
            together=weights.together,
            apart=weights.apart,
        )
        if n_types is None or labels.max(initial=-1) >= 0:
            stop = next((n for n, m in enumerate(merges) if m.value <= cut), len(merges))
        else:
            stop = _stop_near(n_types, merges, told, core, min_tellings)
            cut = merges[stop - 1].value if stop else cut
        groups = _labels(len(core), merges[:stop])
        if weights.around and n_types is None and method == "full matrix":
            groups = cut_repeated(told, similarity, groups)
            groups = regroup(told, similarity, groups, unit=found.deviation, around=weights.around)
        groups = groups + labels.max(initial=-1) + 1
        labels[core] = groups
        left = others[~_join(others, core, groups, compare, count, cut, labels)]
    return Clusters(_renumbered(labels), 0.0 if math.isnan(cut) else cut, method)


def told_together(told: Told, core: NDArray[np.intp]) -> NDArray[np.float64]:
    """How often one telling tells both wordings, counted in pairs of sentences."""
    part = told.tellings[core]
    both: NDArray[np.float64] = (part @ part.T).toarray()
    # A wording does not stand beside itself, only beside another sentence that is worded alike.
    both[np.diag_indices_from(both)] -= told.count[core]
    return both


def _labels(count: int, merges: list[Merge]) -> NDArray[np.int64]:
    group = list(range(count))
    for kept, gone, _ in reversed(merges):
        # Backwards, the group that swallows has its final label already.
        group[gone] = group[kept]
    return _renumbered(np.array(group, np.int64))


def _renumbered(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number groups in the order of their first members."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


def _stop_near(
    n_types: int, merges: list[Merge], told: Told, core: NDArray[np.intp], min_tellings: int
) -> int:
    """After how many merges the number of groups that are told often enough is nearest."""
    rows = told.tellings
    tellers = [set(rows.indices[rows.indptr[at] : rows.indptr[at + 1]].tolist()) for at in core]
    enough = sum(len(group) >= min_tellings for group in tellers)
    best, gap = 0, abs(enough - n_types)
    for number, (kept, gone, _) in enumerate(merges, start=1):
        enough -= (len(tellers[kept]) >= min_tellings) + (len(tellers[gone]) >= min_tellings)
        tellers[kept] |= tellers[gone]
        enough += len(tellers[kept]) >= min_tellings
        # Of equal gaps the last: groups as large as the number of types allows.
        if abs(enough - n_types) <= gap:
            best, gap = number, abs(enough - n_types)
    return best


def _join(
    others: NDArray[np.intp],
    core: NDArray[np.intp],
    groups: NDArray[np.int64],
    compare: Compare,
    count: NDArray[np.float64],
    cut: float,
    labels: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Let each other wording join the group it is most like; return which were like enough."""
    offset = groups.min(initial=0)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.unique(groups))
    weight = count[core][order]
    whole = np.add.reduceat(weight, starts)
    joined = np.zeros(len(others), bool)
    for begin in range(0, len(others), _BLOCK):
        block = others[begin : begin + _BLOCK]
        mean = np.add.reduceat(compare(block, core)[:, order] * weight, starts, axis=1) / whole
        best = mean.argmax(axis=1)
        near = mean[np.arange(len(block)), best] > cut
        labels[block[near]] = best[near] + offset
        joined[begin : begin + _BLOCK] = near
    return joined
