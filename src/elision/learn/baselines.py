"""Gap fillers to compare with: the paper's two baselines and the strong ones it left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elision.errors import InputError
from elision.learn.sem import Narratives, told_narratives, vocabulary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from numpy.typing import NDArray

Context = tuple[tuple[int, ...], tuple[int, ...]]
"""Numbers of the events before and after a gap."""


class GapFiller(BaseEstimator, ABC):
    """Common part of the baselines: names to numbers, and one answer for each gap.

    Subclasses learn in ``_learn`` and answer in ``_weigh``, which gives a non-negative weight to
    every event for one context, or in ``_weigh_all`` for many.
    """

    def __init__(self, *, events: Sequence[str] | None = None) -> None:
        self.events = events

    def fit(self, X: Narratives, y: object = None) -> Self:  # noqa: ARG002
        """Learn from narratives: lists of events."""
        narratives = told_narratives(X)
        self.events_ = vocabulary_of(narratives, self.events)
        number = {event: o for o, event in enumerate(self.events_)}
        try:
            self._learn([tuple(number[event] for event in one) for one in narratives])
        except KeyError as error:
            raise InputError(f"unknown event {error.args[0]!r}, not in `events`") from None
        return self

    def predict_gap(self, X: Iterable[Sequence[str | None]]) -> NDArray[np.float64]:
        """Probability of each event of ``events_`` in the gap (None) of each narrative."""
        check_is_fitted(self, "events_")
        number = {event: o for o, event in enumerate(self.events_)}
        contexts = [_context(place, one, number) for place, one in enumerate(X)]
        weights = self._weigh_all(contexts).reshape(len(contexts), len(self.events_))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    @abstractmethod
    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        """Learn from narratives of event numbers."""

    def _weigh_all(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        return np.array([self._weigh(context) for context in contexts])

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        """Weight of each event in one gap."""
        return np.asarray(self._weigh_all([context])[0])


def _context(place: int, narrative: Sequence[str | None], number: dict[str, int]) -> Context:
    holes = [position for position, item in enumerate(narrative) if item is None]
    if len(holes) != 1:
        raise InputError(f"narrative {place} has {len(holes)} gaps (None), expected one")
    known = [number.get(item) if item is not None else None for item in narrative]
    before = tuple(o for o in known[: holes[0]] if o is not None)
    after = tuple(o for o in known[holes[0] + 1 :] if o is not None)
    return before, after


def _contexts(narratives: list[tuple[int, ...]]) -> list[tuple[Context, int]]:
    """Every event of every narrative with what stands before and after it."""
    return [
        ((one[:place], one[place + 1 :]), event)
        for one in narratives
        for place, event in enumerate(one)
    ]


class Frequency(GapFiller):
    """The most frequent event that the narrative does not tell already (Orr et al. 2014).

    Examples
    --------
    >>> Frequency().fit([["a", "b"], ["a"], ["c", "a"]]).predict_gap([["b", None]]).argmax()
    np.int64(0)
    """

    def __init__(self, *, events: Sequence[str] | None = None, pseudocount: float = 0.3) -> None:
        super().__init__(events=events)
        self.pseudocount = pseudocount

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        told = [event for one in narratives for event in one]
        self._count = np.bincount(told, minlength=len(self.events_)) + self.pseudocount

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        weight = np.asarray(self._count, float).copy()
        # Far below everything else, yet not impossible: people do repeat themselves.
        weight[list({*context[0], *context[1]})] *= 1e-3
        return weight


class Conditional(GapFiller):
    """What most often follows the event before the gap (Orr et al. 2014)."""

    def __init__(self, *, events: Sequence[str] | None = None, pseudocount: float = 0.3) -> None:
        super().__init__(events=events)
        self.pseudocount = pseudocount

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        self._bigram = _bigrams(narratives, len(self.events_), self.pseudocount)

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        last = context[0][-1] if context[0] else -1
        return np.asarray(self._bigram[last, :-1])


class BidirectionalBigram(Conditional):
    """P(event | the one before) P(the one after | event), start and end included.

    Examples
    --------
    >>> bigram = BidirectionalBigram().fit([["a", "b", "c"], ["a", "d", "e"]])
    >>> bigram.predict_gap([["a", None, "e"]]).argmax()
    np.int64(3)
    """

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        following = context[1][0] if context[1] else -1
        return np.asarray(super()._weigh(context) * self._bigram[:-1, following])


class SkipNaiveBayes(GapFiller):
    """Naive Bayes on which events stand before and after the gap, and which do not."""

    def __init__(self, *, events: Sequence[str] | None = None, pseudocount: float = 0.3) -> None:
        super().__init__(events=events)
        self.pseudocount = pseudocount

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        count = len(self.events_)
        total = np.zeros(count)
        sides = np.zeros((2, count, count))
        for context, event in _contexts(narratives):
            total[event] += 1
            for side, told in zip(sides, context, strict=True):
                side[event, list(set(told))] += 1
        added = self.pseudocount
        share = (sides + added) / (total[:, None] + 2 * added)
        self._absent = np.log(total + added) + np.log1p(-share).sum(axis=(0, 2))
        self._present = np.log(share) - np.log1p(-share)

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        value = self._absent.copy()
        for side, told in zip(self._present, context, strict=True):
            value += side[:, list(set(told))].sum(axis=1)
        return np.asarray(np.exp(value - value.max()))


class LogisticGap(GapFiller):
    """Multinomial logistic regression on the events around the gap: the one to beat.

    Features: the event before, the event after, the set before, the set after.
    """

    def __init__(self, *, events: Sequence[str] | None = None, C: float = 0.3) -> None:
        super().__init__(events=events)
        self.C = C

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import

        told = _contexts(narratives)
        contexts, answers = [context for context, _ in told], [event for _, event in told]
        self._classes = np.unique(np.array(answers, np.int64))
        self._model: Any = None
        if len(self._classes) > 1:
            regression = LogisticRegression(C=self.C, max_iter=500)
            self._model = regression.fit(self._features(contexts), answers)

    def _features(self, contexts: Sequence[Context]) -> Any:
        """One row a context: one-hot event before and after, sets before and after."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        count = len(self.events_)
        columns: list[int] = []
        first = [0]
        for before, after in contexts:
            columns.append(before[-1] if before else count)
            columns.append(count + 1 + (after[0] if after else count))
            columns.extend(2 * count + 2 + o for o in set(before))
            columns.extend(3 * count + 2 + o for o in set(after))
            first.append(len(columns))
        ones = np.ones(len(columns))
        return csr_array((ones, columns, first), shape=(len(contexts), 4 * count + 2))

    def _weigh_all(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        weights = np.full((len(contexts), len(self.events_)), 1e-6)  # events never told in training
        if self._model is None:
            weights[:, self._classes] = 1.0
        elif contexts:
            weights[:, self._classes] += self._model.predict_proba(self._features(contexts))
        return weights


def _bigrams(
    narratives: list[tuple[int, ...]], events: int, pseudocount: float
) -> NDArray[np.float64]:
    """P(next | event), the last row and column standing for start and end."""
    count = np.full((events + 1, events + 1), pseudocount)
    for one in narratives:
        for first, second in zip((-1, *one), (*one, -1), strict=True):
            count[first, second] += 1
    return np.asarray(count / count.sum(axis=1, keepdims=True))
