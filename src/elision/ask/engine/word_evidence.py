"""What raw sentences say for and against each of many scripts, by their words.

A sentence is a bag of content words. Each event of a script has a distribution over words, from the
sentences that its extractor grouped; it is smoothed by that of all sentences of the script, and
that one by the words of all scripts:

    P(w)     = (n(w) + 1/2) / (n + (V + 1) / 2)
    P(w|s)   = (n(w, s) + SCRIPT_WEIGHT * P(w)) / (n(s) + SCRIPT_WEIGHT)
    P(w|x,s) = (n(w, x) + EVENT_WEIGHT * P(w|s)) / (n(x) + EVENT_WEIGHT)

The words of a telling are far from independent, so they count to the power `WORD_POWER`. Evidence
is relative to the words of all *other* scripts together: what is said everywhere says little.

Which script is nearest is one question, whether it is near enough another. The words of a telling
are k(w), the number of its sentences with w, those of a script p(w) = n(w, s) / n(s), and each has
the weight v(w) = -log P(w | other scripts). The cosine of the two, k v and p v, is compared with
what it is of as many words drawn from p, the *likeness* of the telling:

    likeness = cos(k v, p v) * sqrt(1 + sum(p (1 - p) v^2) / (m |p v|^2)),    m = sum k(w)

It is about 1 for tellings of the script, however long they and however manifold its words are, and
far less where what is said again and again is something else.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from elision import text
from elision.ask.engine.evidence import Heard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from elision.ask.engine.evidence import Sentence
    from elision.text.extract import EventExtractor
    from elision.values.script import Script
    from elision.values.sheet import Sheet

SCRIPT_WEIGHT = 300.0
EVENT_WEIGHT = 10.0
WORD_POWER = 0.2
"""Chosen on the tellings of DeScript, for accuracy and calibration; both are flat around them."""

WORDY_STRAY = 0.4
"""Share of sentences that tell no event of the script, or none that is recognised."""

LIKENESS_WEIGHT = 3.0
"""Log-evidence for none of the scripts that a sentence has for each unit of likeness that lacks.

One half of the activities of DeScript would have it 10, the other 2. On average over how much is
told, each gains by the choice of the other, too; of whole tellings the second half does not. From
2 to 6 hardly anything changes."""

UNDECIDED = 0.4
"""Likeness that speaks neither for a script nor for none of them.

The largest tenth with which less than 5 % of DeScript's tellings are refused falsely by default,
however much of them was told."""


def event_words(extractor: EventExtractor) -> dict[str, dict[str, int]]:
    """In how many sentences of each event type each word was found."""
    found: dict[str, dict[str, int]] = {}
    for types in extractor.domains_.values():
        lemmas = hasattr(types.measure, "frequency")  # else a word is a whole sentence
        for kind in types.types:
            counts = found.setdefault(kind.name, {})
            for wording, number in zip(kind.wordings, kind.counts, strict=True):
                for word in set(
                    wording.words if lemmas else text.wording.content_words(wording.text)
                ):
                    counts[word] = counts.get(word, 0) + number
    return found


def script_words(extractor: EventExtractor) -> dict[str, int]:
    """In how many sentences each word was found, those of rare types included where known."""
    total: Counter[str] = Counter()
    for types in extractor.domains_.values():
        total.update(getattr(types.measure, "frequency", {}))
    if not total:
        for counts in event_words(extractor).values():
            total.update(counts)
    return dict(sorted(total.items()))


class Reading:
    """Some sentences, read to be heard by any number of scripts.

    Parameters
    ----------
    sentences
        The sentences.
    all_words
        In how many sentences of all scripts each word was found.
    """

    def __init__(self, sentences: Sequence[Sentence], all_words: Counter[str]) -> None:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        bags = [tuple(dict.fromkeys(text.wording.content_words(one.text))) for one in sentences]
        self._words = list(dict.fromkeys(word for bag in bags for word in bag))
        number = {word: column for column, word in enumerate(self._words)}
        columns = [number[word] for bag in bags for word in bag]
        first = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])
        shape = (len(bags), len(number))
        self._bags = csr_array((np.ones(len(columns)), columns, first), shape=shape)
        self._all_words = all_words
        self._count = np.array([all_words[word] for word in self._words], float)
        self._total = all_words.total()
        self._distinct = len(all_words) + 1
        self._overall = (self._count + 0.5) / (self._total + 0.5 * self._distinct)

    def unigram(self, sheet: Sheet) -> NDArray[np.float64]:
        """Log-evidence of each sentence for a script by its words alone."""
        own, others = self._own(sheet)
        return np.asarray(WORD_POWER * (self._bags @ np.log(own / others)))

    def _own(self, sheet: Sheet) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Probability of each word in the sentences of a script, and in all others."""
        words = sheet.words or {}
        count = np.array([words.get(word, 0) for word in self._words], float)
        total = sheet.word_total
        own = (count + SCRIPT_WEIGHT * self._overall) / (total + SCRIPT_WEIGHT)
        others = (self._count - count + 1) / (self._total - total + self._distinct)
        return own, others

    def tally(self, tellings: Sequence[Sequence[int]]) -> csr_array:
        """Count in how many sentences of each telling each word is, (tellings, words).

        Parameters
        ----------
        tellings
            The numbers of their sentences.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        columns = [number for telling in tellings for number in telling]
        first = np.concatenate([[0], np.cumsum([len(telling) for telling in tellings])])
        shape = (len(tellings), self._bags.shape[0])
        return csr_array((np.ones(len(columns)), columns, first), shape=shape) @ self._bags

    def likeness(self, sheet: Sheet, tally: csr_array) -> NDArray[np.float64]:
        """How like the words of a script those of each telling are: about 1 if it is of it.

        Parameters
        ----------
        sheet
            The script, which has some words.
        tally
            The words of the tellings, each of which has some: see `tally`.
        """
        words = sheet.words or {}
        share = np.array(list(words.values()), float) / sheet.word_total
        everywhere = np.array([self._all_words[word] for word in words], float)
        squares = self._squares(sheet, everywhere, share)
        length = (share**2 * squares).sum()
        spread = (share * (1 - share) * squares).sum()
        here = np.array([words.get(word, 0) for word in self._words], float) / sheet.word_total
        squares = self._squares(sheet, self._count, here)
        total = tally @ np.ones(len(here))
        cosine = tally @ (here * squares) / np.sqrt(tally.power(2) @ squares * length)
        return np.asarray(cosine * np.sqrt(1 + spread / (total * length)))

    def _squares(
        self, sheet: Sheet, everywhere: NDArray[np.float64], share: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Squared weights of words, found so often in all scripts, and with this share in one."""
        others = everywhere - share * sheet.word_total + 1
        return np.asarray(np.log(others / (self._total - sheet.word_total + self._distinct)) ** 2)

    def hear(self, script: Script, sheet: Sheet, by_event: dict[str, dict[str, int]]) -> Heard:
        """Say how well each state of a script tells each sentence.

        Parameters
        ----------
        script, sheet
            The script.
        by_event
            Its words by event, see `event_words`.
        """
        own, others = self._own(sheet)
        events = np.empty((self._bags.shape[0], len(script.events)))
        for o, event in enumerate(script.events):
            words = by_event.get(event, {})
            count = np.array([words.get(word, 0) for word in self._words], float)
            chance = (count + EVENT_WEIGHT * own) / (sum(words.values()) + EVENT_WEIGHT)
            events[:, o] = WORD_POWER * (self._bags @ np.log(chance / others))
        stray = self.unigram(sheet)
        scale = np.maximum(stray, events.max(axis=1, initial=-np.inf))
        tell = np.exp(events - scale[:, None]) @ script.emission.T
        return Heard(tell, np.exp(stray - scale), scale)
