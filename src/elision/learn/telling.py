"""Learning a telling model: counts that have not seen what they speak of, and weights for them.

    logit(e | past) = weights . features(e, past) + after[last, e] + sum_i fade^(t-i) memory[s_i, e]

The features are log-probabilities that are counted, and what only names and repetitions say. Each
narrative's features are counted in the other folds; weights, ``after`` and ``memory`` have normal
priors and are found by L-BFGS on all beginnings of all narratives.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _threads, kernels
from elision.learn._beginnings import Beginnings, grow
from elision.learn._telling_counts import (
    PLACES,
    Counts,
    Histories,
    count,
    find_histories,
    history_rows,
)
from elision.learn._telling_parts import added_up, cut
from elision.values.telling import Chain, TellingModel
from elision.values.telling_kinds import find_kinds, names_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from elision.learn._telling_parts import Piece

FADE = 0.8
"""What is left of a memory with each further event told."""

FOLDS = 4
"""Parts of the narratives that are counted without one another."""

PRIOR_WEIGHTS = {"pair": 0.7, "sum": 0.3, "again": -1.0}
"""Where learning starts, and what it goes back to where there is little to learn from; else 0."""

WEIGHT_SPREAD = 0.7
TABLE_SPREAD = 0.4
"""Standard deviations of the normal priors of the weights, and of ``after`` and ``memory``."""

MOST_STEPS = 100
LEAST_GAIN = 1e-6
"""Of L-BFGS: steps, and the share of the loss that a step must gain."""

MOST_CELLS = 8_000_000
FEW_CELLS = 3_000_000
"""Beginnings times events that are learned from: of more narratives, a random part. Fewer where
events share kinds: then there are so many of them that less is said of each anyway."""

_WORD = re.compile(r"[^\W_]+")


FEATURES = (
    "sum",  # of what the set told so far says, by naive Bayes
    "average",  # the same divided by the number of events told
    "again",  # whether the event is told already
    "ago",  # what the events told before say, the longer ago the less
    "words ago",  # words that its name shares with theirs, likewise
    "history",  # what the last few events say together
    "pair",  # log P(event | the last one)
    "twice",  # whether it was the last one
    "words",  # words that its name shares with the last one's
    "place",  # log P(event | how many are told)
    "common",  # log P(event)
)
OWN = 6
"""So many of them, the first ones, are arrays of each beginning; the others are rows of tables."""


class _Parts(NamedTuple):
    """What features are made of: counts of all narratives, or of those without a fold."""

    counts: Counts
    history: NDArray[np.float64]


def learn_telling(
    narratives: Sequence[Sequence[int]],
    events: Sequence[str],
    *,
    heard: Sequence[Sequence[int]] | None = None,
    backward: bool = True,
    without: Collection[str] = (),
    random_state: int = 0,
) -> TellingModel:
    """Learn a telling model from narratives of event numbers.

    Parameters
    ----------
    narratives
        The tellings.
    events
        Names of the events.
    heard
        The same tellings as others like them will be heard, if that is not the same. They count as
        far as they agree with the tellings (`agreement`), and the tellings themselves for the rest.
    backward
        Whether to learn a second chain, which tells from the end.
    without
        `FEATURES` to do without.
    random_state
        Seed of the folds.

    Examples
    --------
    >>> learn_telling([(0, 1, 2), (0, 2), (0, 1, 2)], ["ring", "walk", "open"])
    TellingModel(3 events, both directions)
    """
    rng = np.random.default_rng(random_state)
    versions, weights = [narratives], [1.0]
    if heard is not None:
        trust = agreement(narratives, heard)
        versions, weights = [heard, narratives], [trust, 1 - trust]
    kinds = find_kinds([one for version in versions for one in version], len(events))
    names = events
    if kinds is not None:
        versions = [[kinds.of[list(one)].tolist() for one in version] for version in versions]
        names = names_of(kinds, events)
    most = MOST_CELLS if kinds is None else FEW_CELLS
    chosen = _some(versions, len(names) + 1, rng, most)
    number = max(1, min(FOLDS, len(chosen)))
    folds = np.empty(len(chosen), np.int64)
    folds[rng.permutation(len(chosen))] = np.arange(len(chosen)) % number
    # Identical narratives of one fold once: a log of many cases often has few variants.
    counted: defaultdict[tuple[tuple[int, ...], int], float] = defaultdict(float)
    for version, weight in zip(versions, weights, strict=True):
        for k, fold in zip(chosen, folds.tolist(), strict=True):
            counted[tuple(version[k]), fold] += weight
    weighed = {one: weight for one, weight in counted.items() if weight > 0}
    different, of_fold = zip(*weighed, strict=True) if weighed else ((), ())
    often = list(weighed.values())
    words = shared_words(names)
    found: list[Chain | None] = [None, None]

    def learn(direction: int) -> None:
        told = [one[::-1] for one in different] if direction else different
        found[direction] = _learn_chain(told, of_fold, words, without, often)

    _threads.run(learn, range(1 + backward))
    forward, other = found
    return TellingModel(events, forward, other, kinds=kinds)  # type: ignore[arg-type]


def agreement(narratives: Sequence[Sequence[int]], heard: Sequence[Sequence[int]]) -> float:
    """Share of what narratives tell that is heard in them.

    Examples
    --------
    >>> agreement([(0, 1, 1), (2,)], [(1, 0), (3, 3)])
    0.5
    """
    told = sum(map(len, narratives))
    both = sum(
        (Counter(one) & Counter(other)).total()
        for one, other in zip(narratives, heard, strict=True)
    )
    return both / told if told else 1.0


def _some(
    versions: Sequence[Sequence[Sequence[int]]], symbols: int, rng: np.random.Generator, most: int
) -> list[int]:
    """Places of all narratives, or of a random part with as many beginnings as fit the memory."""
    lengths = [[len(one) + 1 for one in version] for version in versions]
    beginnings = np.array(lengths, np.int64).sum(axis=0)
    if int(beginnings.sum()) * symbols <= most:
        return list(range(len(beginnings)))
    order = rng.permutation(len(beginnings))
    kept = np.cumsum(beginnings[order]) * symbols <= most
    kept[0] = True
    return np.sort(order[kept]).tolist()  # type: ignore[no-any-return]


def _learn_chain(
    narratives: Sequence[Sequence[int]],
    folds: Sequence[int],
    words: NDArray[np.float64],
    without: Collection[str],
    often: Sequence[float] | None = None,
) -> Chain:
    tree = grow(narratives, folds, len(words), often)
    histories = find_histories(tree)

    def parts(weight: NDArray[np.float64]) -> _Parts:
        counts = count(tree, weight)
        return _Parts(counts, history_rows(tree, histories, weight, counts.pair))

    whole = parts(tree.weight)
    number = int(tree.fold.max()) + 1
    of_fold = tree.fold[tree.after]
    held_out = [
        parts(np.where(of_fold == fold, 0.0, tree.weight)) if number > 1 else whole
        for fold in range(number)
    ]
    names = [name for name in FEATURES if name not in without]
    own = [name for name in FEATURES[:OWN] if name not in without]
    pieces = cut(
        tree,
        FADE,
        _own_features(tree, held_out, histories, words, own),
        *_shared_features(tree, held_out, words, names[len(own) :]),
    )
    prior = np.array([PRIOR_WEIGHTS.get(name, 0.0) for name in names])
    weights, after, memory = _Problem(pieces, prior).solve()
    return _chain(dict(zip(names, weights.tolist(), strict=True)), after, memory, whole,
                  histories, words)  # fmt: skip


def _chain(
    weights: dict[str, float],
    after: NDArray[np.float64],
    memory: NDArray[np.float64],
    whole: _Parts,
    histories: Histories,
    words: NDArray[np.float64],
) -> Chain:
    """Put weights, counts and tables together."""
    size = len(words)
    counts = whole.counts
    weight = {name: weights.get(name, 0.0) for name in FEATURES}
    wide = np.pad(words, ((0, 1), (0, 1)))
    each = np.arange(size)
    by_set = weight["sum"] + weight["average"]
    after = after + weight["pair"] * counts.pair + weight["words"] * wide
    after += weight["common"] * counts.common + by_set * counts.absent
    after[each, each] += weight["twice"]
    return Chain(
        after=after,
        memory=memory + weight["ago"] * counts.ago + weight["words ago"] * wide[:-1],
        told=counts.present,
        place=weight["place"] * counts.place,
        fade=FADE,
        again=weight["again"],
        total=weight["sum"],
        average=weight["average"],
        keys=histories.keys if weight["history"] else histories.keys[:0],
        singles=histories.singles if weight["history"] else 0,
        history=weight["history"] * whole.history if weight["history"] else whole.history[:0],
    )


def _own_features(
    tree: Beginnings,
    held_out: list[_Parts],
    histories: Histories,
    words: NDArray[np.float64],
    names: list[str],
) -> NDArray[np.float64]:
    """Features that each beginning has by itself, (nodes, features, V + 1)."""
    symbols = tree.size + 1
    result = np.zeros((tree.nodes, len(names), symbols))
    several = np.maximum(tree.told.sum(axis=1), 1)[:, None]
    for column, name in enumerate(names):
        values = np.zeros((tree.nodes, symbols))
        if name in ("sum", "average"):
            for fold, parts in enumerate(held_out):
                here = tree.fold == fold
                said = tree.told[here] @ parts.counts.present
                divisor = several[here] if name == "average" else 1
                values[here] = parts.counts.absent + said / divisor
        elif name == "again":
            values[:, :-1] = tree.told
        elif name == "ago":
            rows = np.vstack([parts.counts.ago for parts in held_out])
            kernels.telling_learning.spread_down(
                tree.parent, tree.fold * tree.size + tree.event, rows, FADE, values
            )
        elif name == "words ago":
            kernels.telling_learning.spread_down(
                tree.parent, tree.event, np.pad(words, ((0, 0), (0, 1))), FADE, values
            )
        else:
            longer = histories.of_beginning > histories.singles
            row = histories.of_beginning - histories.singles - 1
            for fold, parts in enumerate(held_out):
                here = longer & (tree.fold == fold)
                values[here] = parts.history[row[here]]
        result[:, column] = values
    return result


def _shared_features(
    tree: Beginnings, held_out: list[_Parts], words: NDArray[np.float64], names: list[str]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features as (features, rows, V + 1), and the row of each of them that a beginning has."""
    symbols = tree.size + 1
    tables: list[NDArray[np.float64]] = []
    rows: list[NDArray[np.int64]] = []
    for name in names:
        if name == "pair":
            tables.append(np.vstack([parts.counts.pair for parts in held_out]))
            rows.append(tree.fold * symbols + tree.event)
        elif name == "twice":
            tables.append(np.eye(tree.size, symbols))
            rows.append(tree.event)
        elif name == "words":
            tables.append(np.pad(words, ((0, 1), (0, 1))))
            rows.append(tree.event)
        elif name == "place":
            tables.append(np.vstack([parts.counts.place for parts in held_out]))
            rows.append(tree.fold * PLACES + np.minimum(tree.length, PLACES - 1))
        else:
            tables.append(np.vstack([parts.counts.common for parts in held_out]))
            rows.append(tree.fold)
    deepest = max(map(len, tables), default=0) + 1  # at least a row of zeros: after the start
    padded = [np.pad(one, ((0, deepest - len(one)), (0, 0))) for one in tables]
    shape = (len(names), deepest, symbols)
    return (
        np.array(padded).reshape(shape),
        np.array(rows, np.int64).reshape(len(names), tree.nodes).T.copy(),
    )


class _Problem:
    """Weights, ``after`` and ``memory`` that make what follows each beginning most probable."""

    def __init__(self, pieces: list[Piece], prior: NDArray[np.float64]) -> None:
        self._pieces, self._prior = pieces, prior
        size = pieces[0].size
        self._precision = np.full(len(prior) + (2 * size + 1) * (size + 1), TABLE_SPREAD**-2)
        self._precision[: len(prior)] = WEIGHT_SPREAD**-2

    def solve(self) -> list[NDArray[np.float64]]:
        """Return weights, after and memory."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

        start = np.zeros(len(self._precision))
        start[: len(self._prior)] = self._prior
        options = {"maxiter": MOST_STEPS, "ftol": LEAST_GAIN}

        def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            _threads.check_stopped()  # Ctrl-C is not for threads
            return self._loss(point)

        found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
        return self._taken_apart(found.x)

    def _taken_apart(self, point: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return self._pieces[0].taken_apart(point)

    def _loss(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss and its slope."""
        loss, slope = added_up(self._pieces, point)
        change = point.copy()
        change[: len(self._prior)] -= self._prior
        slope += self._precision * change
        return loss + 0.5 * float(self._precision @ change**2), slope


def shared_words(events: Sequence[str]) -> NDArray[np.float64]:
    """Share of words that the names of two different events have in common, (events, events).

    Examples
    --------
    >>> shared_words(["open(door)", "close(door)"])[0].round(2).tolist()
    [0.0, 0.33]
    """
    words = [set(_WORD.findall(event.lower())) for event in events]
    known = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    holds = np.zeros((len(events), len(known)))
    for row, some in zip(holds, words, strict=True):
        row[[known[word] for word in some]] = 1.0
    both = holds @ holds.T
    size = holds.sum(axis=1)
    either = size[:, None] + size[None, :] - both
    share = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    np.fill_diagonal(share, 0.0)
    return np.asarray(share)
