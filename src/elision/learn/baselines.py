"""Methods to compare with: the paper's two baselines and the strong ones it left out."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elision.errors import InputError
from elision.learn.sem import Narratives, told_narratives, vocabulary_of
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray


START = -1
"""Stands for the start of a narrative where histories are numbers of events."""


class Baseline(BaseEstimator, ABC):
    """Common part of the baselines: names to numbers; subclasses learn in ``_learn``."""

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

    def _numbers(self) -> dict[str, int]:
        check_is_fitted(self, "events_")
        return {event: o for o, event in enumerate(self.events_)}

    @abstractmethod
    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        """Learn from narratives of event numbers."""


class GapFiller(Baseline):
    """A baseline with one answer for each gap.

    Subclasses answer in ``_weigh``, which gives a non-negative weight to every event for one
    context, or in ``_weigh_all`` for many.
    """

    def predict_gap(self, X: Iterable[Sequence[str | None]]) -> NDArray[np.float64]:
        """Probability of each event of ``events_`` in the gap (None) of each narrative."""
        number = self._numbers()
        return self._chances([single_context(one, number) for one in X])

    def predict_gaps(self, X: Iterable[Sequence[str | None]]) -> list[NDArray[np.float64]]:
        """Probability of each event in each gap of each narrative, (gaps, events) each."""
        number = self._numbers()
        contexts = [contexts_of(one, number) for one in X]
        chances = self._chances([context for some in contexts for context in some])
        ends = np.cumsum([len(some) for some in contexts])
        return np.split(chances, ends)[:-1]

    def predict_anywhere(self, X: Iterable[Sequence[str]]) -> NDArray[np.float64]:
        """Probability that each event is the one that a narrative lacks, its place unknown."""
        number = self._numbers()
        return np.array([self._anywhere(one, number) for one in X]).reshape(-1, len(number))

    def predict_hidden(self, X: Iterable[Sequence[str]]) -> list[NDArray[np.float64]]:
        """A number from 0 to 1 for each place and event: that the event is missing there.

        Place i is before the i-th event told, and the last place the end: (events told + 1, events)
        for each narrative.
        """
        number = self._numbers()
        places = [[single_context(gap, number) for gap in every_place(one)] for one in X]
        found = self._hidden([context for some in places for context in some])
        ends = np.cumsum([len(some) for some in places], dtype=int)
        return np.split(found, ends)[:-1]

    def _hidden(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        """The chances of a gap at each place, as if one event were missing, at any place alike."""
        places = np.array([len(one.before) + len(one.after) + 1 for one in contexts], float)
        return np.asarray(self._chances(contexts) / places[:, None])

    def _anywhere(self, narrative: Sequence[str], number: dict[str, int]) -> NDArray[np.float64]:
        """Every place is as likely as another, as far as such a method can tell."""
        contexts = [single_context(one, number) for one in every_place(narrative)]
        return np.asarray(self._chances(contexts).mean(axis=0))

    def _chances(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        weights = self._weigh_all(contexts).reshape(len(contexts), len(self.events_))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _weigh_all(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        return np.array([self._weigh(context) for context in contexts])

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        """Weight of each event in one gap."""
        return np.asarray(self._weigh_all([context])[0])


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
        self._ends = len(narratives) + self.pseudocount

    def predict_next(self, X: Iterable[Sequence[str]]) -> NDArray[np.float64]:
        """Share of each event and, last, of the end among all that is told, whatever came before.

        Events told already are as probable as ever: what is next is no gap.
        """
        check_is_fitted(self, "events_")
        share = np.append(self._count, self._ends)
        return np.tile(share / share.sum(), (len(list(X)), 1))

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        weight = np.asarray(self._count, float).copy()
        # Far below everything else, yet not impossible: people do repeat themselves.
        weight[list({*context.before, *context.after})] *= 1e-3
        return weight


class Conditional(GapFiller):
    """What most often follows the event before the gap (Orr et al. 2014)."""

    def __init__(self, *, events: Sequence[str] | None = None, pseudocount: float = 0.3) -> None:
        super().__init__(events=events)
        self.pseudocount = pseudocount

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        self._bigram = bigrams(narratives, len(self.events_), self.pseudocount)

    def predict_next(self, X: Iterable[Sequence[str]]) -> NDArray[np.float64]:
        """Probability of each event and, last, of the end after the last event of each X."""
        number = self._numbers()
        last = [[-1, *(number[event] for event in one if event in number)][-1] for one in X]
        return np.asarray(self._bigram[np.array(last, int)])

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        last = context.before[-1] if context.before else -1
        return np.asarray(steps_on(self._bigram, context.hidden_before)[last, :-1])


class BidirectionalBigram(Conditional):
    """P(event | the one before) P(the one after | event), start and end included.

    Examples
    --------
    >>> bigram = BidirectionalBigram().fit([["a", "b", "c"], ["a", "d", "e"]])
    >>> bigram.predict_gap([["a", None, "e"]]).argmax()
    np.int64(3)
    """

    def _weigh(self, context: Context) -> NDArray[np.float64]:
        following = context.after[0] if context.after else -1
        onward = steps_on(self._bigram, context.hidden_after)[:-1, following]
        return np.asarray(super()._weigh(context) * onward)

    def _hidden(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        """The odds that an event was left out against that nothing was, as a chance."""
        last = np.array([(-1, *one.before)[-1] for one in contexts], int)
        following = np.array([(*one.after, -1)[0] for one in contexts], int)
        put = self._bigram[last, :-1] * self._bigram[:-1, following].T
        return np.asarray(put / (put + self._bigram[last, following][:, None]))

    def _anywhere(self, narrative: Sequence[str], number: dict[str, int]) -> NDArray[np.float64]:
        """Weigh a place by how much likelier the narrative becomes with an event put there."""
        told = [number[event] for event in narrative if event in number]
        total = np.zeros(len(number))
        for last, following in zip((-1, *told), (*told, -1), strict=True):
            put = self._bigram[last, :-1] * self._bigram[:-1, following]
            total += put / self._bigram[last, following]
        return np.asarray(total / total.sum())


class LogisticGap(GapFiller):
    """Multinomial logistic regression on the events around the gap: the one to beat.

    Features: the event before, the event after, the set before, the set after.
    """

    def __init__(self, *, events: Sequence[str] | None = None, C: float = 0.3) -> None:
        super().__init__(events=events)
        self.C = C

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow to import

        told = every_context(narratives)
        contexts, answers = [context for context, _ in told], [event for _, event in told]
        self._classes = np.unique(np.array(answers, np.int64))
        self._model: Any = None
        if len(self._classes) > 1:
            regression = LogisticRegression(C=self.C, max_iter=500)
            with warnings.catch_warnings():  # that most events were told once is no surprise here
                warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
                self._model = regression.fit(surroundings(contexts, len(self.events_)), answers)

    def _weigh_all(self, contexts: Sequence[Context]) -> NDArray[np.float64]:
        weights = np.full((len(contexts), len(self.events_)), 1e-6)  # events never told in training
        if self._model is None:
            weights[:, self._classes] = 1.0
        elif contexts:
            weights[:, self._classes] += self._model.predict_proba(
                surroundings(contexts, len(self.events_))
            )
        return weights


class NGram(Baseline):
    """What is told next by the last events, smoothed as by Witten and Bell (1991).

    P(event | history) = (count + T P(event | shorter history)) / (total + T), with T the number of
    different events that follow the history in training; below single events all are alike. The end
    is one of them, and the start of a narrative is part of a history as an event is.

    Parameters
    ----------
    order
        Length of the n-grams: 3 goes by the last two events, 1 by none.
    events
        The vocabulary, if it is larger than what the narratives tell.

    Examples
    --------
    >>> NGram(order=2).fit([["a", "b"], ["a", "b"]]).predict_next([["a"]]).argmax()
    np.int64(1)
    """

    def __init__(self, *, events: Sequence[str] | None = None, order: int = 3) -> None:
        super().__init__(events=events)
        self.order = order

    def _learn(self, narratives: list[tuple[int, ...]]) -> None:
        if isinstance(self.order, bool) or not isinstance(self.order, int) or self.order < 1:
            raise InputError(f"order is {short(self.order)}, expected a whole number from 1")
        self._followers: dict[tuple[int, ...], Counter[int]] = {}
        for one in narratives:
            line = (START, *one)
            for place, following in enumerate((*one, len(self.events_)), start=1):
                for history in self._histories(line[:place]):
                    self._followers.setdefault(history, Counter())[following] += 1

    def _histories(self, line: tuple[int, ...]) -> list[tuple[int, ...]]:
        """What the next event may depend on, the shortest first."""
        longest = min(self.order - 1, len(line))
        return [line[len(line) - length :] for length in range(longest + 1)]

    def predict_next(self, X: Iterable[Sequence[str]]) -> NDArray[np.float64]:
        """Probability of each event and, last, of the end after each beginning."""
        number = self._numbers()
        rows = [
            self._row((START, *(number[event] for event in one if event in number))) for one in X
        ]
        return np.array(rows).reshape(len(rows), len(number) + 1)

    def _row(self, line: tuple[int, ...]) -> NDArray[np.float64]:
        row = np.full(len(self.events_) + 1, 1 / (len(self.events_) + 1))
        for history in self._histories(line):
            followers = self._followers.get(history)
            if followers is None:  # nor is anything longer known
                break
            row *= len(followers)
            row[list(followers)] += list(followers.values())
            row /= followers.total() + len(followers)
        return row


def bigrams(
    narratives: list[tuple[int, ...]], events: int, pseudocount: float
) -> NDArray[np.float64]:
    """P(next | event), the last row and column standing for start and end."""
    count = np.full((events + 1, events + 1), pseudocount)
    for one in narratives:
        for first, second in zip((-1, *one), (*one, -1), strict=True):
            count[first, second] += 1
    return np.asarray(count / count.sum(axis=1, keepdims=True))


class Context(NamedTuple):
    """The events told before and after a gap, nearest last and nearest first.

    ``hidden_before`` and ``hidden_after`` count the other gaps between it and the nearest of them.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    hidden_before: int = 0
    hidden_after: int = 0


def contexts_of(narrative: Sequence[str | None], number: Mapping[str, int]) -> list[Context]:
    """Context of each gap (None) of a narrative; events without a number are left out.

    Examples
    --------
    >>> contexts_of(["a", None, None, "b"], {"a": 0, "b": 1})
    [Context(before=(0,), after=(1,), hidden_before=0, hidden_after=1), \
Context(before=(0,), after=(1,), hidden_before=1, hidden_after=0)]
    """
    kept = [item for item in narrative if item is None or item in number]
    return [context_at(kept, place, number) for place, item in enumerate(kept) if item is None]


def context_at(narrative: Sequence[str | None], place: int, number: Mapping[str, int]) -> Context:
    """Context of one place of a narrative all of whose events have numbers."""
    kept = [-1 if item is None else number[item] for item in narrative]
    return _context(kept, place)


def _context(kept: list[int], place: int) -> Context:
    before, after = kept[:place], kept[place + 1 :]
    return Context(
        before=tuple(o for o in before if o >= 0),
        after=tuple(o for o in after if o >= 0),
        hidden_before=_hidden(before[::-1]),
        hidden_after=_hidden(after),
    )


def _hidden(nearest_first: list[int]) -> int:
    for distance, event in enumerate(nearest_first):
        if event >= 0:
            return distance
    return len(nearest_first)


def single_context(narrative: Sequence[str | None], number: Mapping[str, int]) -> Context:
    """Context of the only gap of a narrative."""
    found = contexts_of(narrative, number)
    if len(found) != 1:
        raise InputError(f"a narrative has {len(found)} gaps (None), expected one")
    return found[0]


def every_context(narratives: Iterable[Sequence[int]]) -> list[tuple[Context, int]]:
    """Every event of every narrative, with what stands before and after it."""
    return [
        (Context(tuple(one[:place]), tuple(one[place + 1 :])), event)
        for one in narratives
        for place, event in enumerate(one)
    ]


def every_place(narrative: Sequence[str | None]) -> list[list[str | None]]:
    """The narrative with a gap put before each of its events, and after the last.

    Examples
    --------
    >>> every_place(["a"])
    [[None, 'a'], ['a', None]]
    """
    told = list(narrative)
    return [[*told[:place], None, *told[place:]] for place in range(len(told) + 1)]


def surroundings(contexts: Sequence[Context], events: int) -> Any:
    """Sparse features, a row a context: the events next to the gap, the sets before and after."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    columns: list[int] = []
    first = [0]
    for before, after, hidden_before, hidden_after in contexts:
        if not hidden_before:
            columns.append(before[-1] if before else events)
        if not hidden_after:
            columns.append(events + 1 + (after[0] if after else events))
        columns.extend(2 * events + 2 + o for o in set(before))
        columns.extend(3 * events + 2 + o for o in set(after))
        first.append(len(columns))
    ones = np.ones(len(columns))
    return csr_array((ones, columns, first), shape=(len(contexts), 4 * events + 2))


def steps_on(bigram: NDArray[np.float64], hidden: int) -> NDArray[np.float64]:
    """P(event after some hidden ones | event), none of the hidden being the end."""
    onward = bigram
    for _ in range(hidden):
        onward = bigram[:, :-1] @ onward[:-1]
    return onward
