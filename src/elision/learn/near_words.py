"""Learning what words say of the event in a gap, and of what comes next: logistic regression.

Every sentence of every telling is left out in turn, and its event is to be guessed by the words of
the others; then what follows each beginning by its words. See `elision.values.near_words` for the
model. Weights have normal priors and are found by L-BFGS.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from elision import _threads
from elision.errors import InputError
from elision.values.near_words import NearWords, WordChances, near
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

_SEVERAL = (list, tuple, set, frozenset)

LEAST_TELLINGS = 2
"""A word counts that so many tellings have."""

MOST_WORDS = 1000
"""Words that count, the most frequent ones."""

MOST_EVENTS = 300
MOST_SENTENCES = 6000
"""With more events there is no such model; of more sentences, a random part is learned from."""

PRECISION = 2.0
CONSTANT_PRECISION = 0.1
"""Of the normal priors of the table and of the constants."""

MOST_SHARE = 0.5
HALF_SHARE = 30
"""Share of the words where tellings are very many, and the tellings of which it is half of that."""

MOST_STEPS = 150
LEAST_GAIN = 1e-6
"""Of L-BFGS: steps, and the share of the loss that a step must gain."""


def learn_near_words(
    narratives: Sequence[Sequence[int]],
    words: Sequence[Sequence[Collection[str]]],
    events: int,
    *,
    random_state: int = 0,
) -> NearWords | None:
    """Learn from narratives of event numbers and the words of the sentences that told them.

    Returns None where there is nothing to learn: no word that two tellings have, or no two events,
    or more than `MOST_EVENTS`.

    Examples
    --------
    >>> told = [(0, 1), (0, 2)] * 5
    >>> words = [[("ring", "loud"), ("run",)], [("ring",), ("walk",)]] * 5
    >>> model = learn_near_words(told, words, 3)
    >>> int(model.around.log_chances([("ring", "loud"), None], 1).argmax())
    1
    >>> int(model.ahead.log_chances([("ring",), ("walk",)], 2).argmax())  # the end
    3
    """
    if not 2 <= events <= MOST_EVENTS:
        return None
    chosen = _some([len(one) for one in narratives], random_state)
    tellers = Counter(word for k in chosen for word in sorted(set().union(*words[k])))
    often = [word for word, count in tellers.most_common(MOST_WORDS) if count >= LEAST_TELLINGS]
    if not often:
        return None
    numbers = {word: number for number, word in enumerate(sorted(often))}
    share = MOST_SHARE * len(chosen) / (len(chosen) + HALF_SHARE)
    around, inside, ahead, following = [], [], [], []
    for k in chosen:
        for place, event in enumerate((*narratives[k], events)):  # the last one is the end
            ahead.append(near(words[k][:place], place, numbers))
            following.append(event)
            if event != events:
                around.append(near(words[k], place, numbers))
                inside.append(event)
    known, count = tuple(numbers), len(numbers)
    return NearWords(
        WordChances(known, *_solved(around, inside, (2, count, events)), share),
        WordChances(known, *_solved(ahead, following, (1, count, events + 1)), share),
    )


def told_words(
    words: Sequence[Sequence[Sequence[str]]], lengths: list[int]
) -> list[Sequence[Sequence[str]]]:
    """Return the words of the sentence of each event, checked.

    Raises
    ------
    InputError
        If there are not as many as narratives of these lengths have events, or one is no words.
    """
    parts = [words, *words] if isinstance(words, _SEVERAL) else [words]
    if not all(isinstance(one, _SEVERAL) for one in parts) or lengths != list(map(len, words)):
        raise InputError("words of other narratives, expected those of each event")
    for number, narrative in enumerate(words):
        for place, sentence in enumerate(narrative):
            if not isinstance(sentence, _SEVERAL) or not all(
                isinstance(word, str) for word in sentence
            ):
                raise InputError(
                    f"{short(sentence)} is no words, expected a list of words",
                    where=f"narrative {number}, event {place}",
                )
    return list(words)


def _some(lengths: list[int], random_state: int) -> list[int]:
    """Places of all narratives, or of a random part with as many sentences as are learned from."""
    if sum(lengths) <= MOST_SENTENCES:
        return list(range(len(lengths)))
    order = np.random.default_rng([random_state, 21]).permutation(len(lengths))
    kept = np.cumsum(np.array(lengths)[order]) <= MOST_SENTENCES
    return np.sort(order[kept]).tolist()  # type: ignore[no-any-return]


def _solved(
    rows: list[list[tuple[int, int, float]]], answers: list[int], shape: tuple[int, int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Table of this shape and constant."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import
    from scipy.sparse import csr_array  # noqa: PLC0415

    sides, words, events = shape
    ends = np.cumsum([0, *map(len, rows)])
    column = [side * words + number for row in rows for side, number, _ in row]
    strength = [value for row in rows for _, _, value in row]
    features = csr_array((strength, column, ends), shape=(len(rows), sides * words))
    turned = features.T.tocsr()
    each = np.arange(len(rows))

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        _threads.check_stopped()  # Ctrl-C is not for threads
        whole = point.reshape(sides * words + 1, events)
        table, constant = whole[:-1], whole[-1]
        logit = features @ table + constant
        logit -= logit.max(axis=1, keepdims=True)
        chance = np.exp(logit)
        total = chance.sum(axis=1)
        value = float(np.log(total).sum() - logit[each, answers].sum())
        value += 0.5 * PRECISION * float((table**2).sum())
        value += 0.5 * CONSTANT_PRECISION * float((constant**2).sum())
        chance /= total[:, None]
        chance[each, answers] -= 1
        slope = np.empty_like(whole)
        slope[:-1] = turned @ chance + PRECISION * table
        slope[-1] = chance.sum(axis=0) + CONSTANT_PRECISION * constant
        return value, slope.ravel()

    start = np.zeros((sides * words + 1) * events)
    options = {"maxiter": MOST_STEPS, "ftol": LEAST_GAIN}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return found[:-events].reshape(shape), found[-events:]
