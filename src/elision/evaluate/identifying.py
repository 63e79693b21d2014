"""How often a library names the right script, beside naive Bayes on bags of events or words."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.evaluate.cloze import TEST_SHARE
from elision.evaluate.learned import learn
from elision.values.corpus import Corpus
from elision.values.library import Library

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SMOOTHINGS = (1.0, 0.3, 0.1)
"""Pseudocounts of naive Bayes; the one that is best on the test tellings is reported."""

_WORD = re.compile(r"\w+")


def identify_corpus(corpus: Corpus, seed: int, method: str) -> dict[str, float]:
    """Learn a script for each domain and identify the tellings kept aside.

    Returns
    -------
    dict
        Shares of test tellings: named rightly by the library, and by naive Bayes; rejected though
        their script is there; and recognised as none of these where it is not.
    """
    train, test = corpus.split(TEST_SHARE, random_state=seed)
    parts = {name: part for name, part in train.by_domain().items() if len(part) > 1}
    test = Corpus(one for one in test if one.domain in parts)
    scripts = {name: learn(part, seed, method) for name, part in parts.items()}
    library = Library(scripts, {name: float(len(part)) for name, part in parts.items()})
    told = test.events if test.has_events else test.steps
    truth = [one.domain for one in test]
    named = [one.best for one in library.identify_many(told, none_of_these=False)]
    free = [one.best for one in library.identify_many(told)]
    found = {
        "library": _share(a == b for a, b in zip(named, truth, strict=True)),
        "naive Bayes": naive_bayes(train, told, truth),
        "rejected": _share(one is None for one in free),
    }
    if len(scripts) > 1:
        found["foreign found"] = _foreign(scripts, told, truth)
    return found


def _foreign(scripts: dict[str, Any], told: Sequence[Any], truth: list[str]) -> float:
    """Share of tellings that are recognised as none of these when their script is taken away."""
    found = []
    for name in scripts:
        rest = Library({other: script for other, script in scripts.items() if other != name})
        own = [one for one, domain in zip(told, truth, strict=True) if domain == name]
        found += [one.best is None for one in rest.identify_many(own)]
    return _share(found)


def naive_bayes(train: Corpus, told: Sequence[Sequence[str]], truth: list[str]) -> float:
    """Accuracy of multinomial naive Bayes, with the smoothing that is best on the test tellings."""
    names = sorted({one.domain for one in train})
    counts = {name: Counter[str]() for name in names}
    for one in train:
        counts[one.domain].update(bag(one.events or one.steps or (), words=one.events is None))
    vocabulary = sorted(set().union(*counts.values()))
    table = np.array([[counts[name][word] for word in vocabulary] for name in names], float)
    prior = np.log([sum(one.domain == name for one in train) / len(train) for name in names])
    number = {word: column for column, word in enumerate(vocabulary)}
    rows = np.zeros((len(told), len(vocabulary)))
    for row, telling in zip(rows, told, strict=True):
        for word in bag(telling, words=not train.has_events):
            if word in number:
                row[number[word]] += 1
    best = [
        _share(
            names[k] == domain
            for k, domain in zip(_choice(rows, table, prior, a), truth, strict=True)
        )
        for a in SMOOTHINGS
    ]
    return max(best)


def _choice(
    rows: NDArray[np.float64], table: NDArray[np.float64], prior: NDArray[np.float64], added: float
) -> list[int]:
    smooth = table + added
    chance = np.log(smooth / smooth.sum(axis=1, keepdims=True))
    choice: list[int] = (rows @ chance.T + prior).argmax(axis=1).tolist()
    return choice


def bag(telling: Sequence[str], *, words: bool) -> list[str]:
    """Events, or the words of all sentences.

    Examples
    --------
    >>> bag(["Open the door", "open it"], words=True)
    ['open', 'the', 'door', 'open', 'it']
    """
    if not words:
        return list(telling)
    return [word for sentence in telling for word in _WORD.findall(sentence.lower())]


def _share(right: Any) -> float:
    found = list(right)
    return sum(found) / len(found) if found else 0.0
