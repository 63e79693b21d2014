"""What a telling says for and against each of many scripts.

All evidence is relative to *none of these*: events drawn from the background b, the events of all
scripts in the proportions in which they are told, and any number of them. A script is taken with
some noise. Before each step the teller tells a stray event with probability `STRAY`, breaks off
with `BROKEN_OFF`, and else goes on as the script says. With ``onward`` the chain of the script from
one told event to the next, over the states k that told last,

    A(i+1, k) = STRAY * stray(i) * A(i, k)
                + (1 - STRAY - BROKEN_OFF) * (A(i) onward)(k) * tell(i, k)

where tell(i, k) = Omega(x|k) / b(x) for an event x, 0 if the script does not know it, and stray(i)
= 1: so a foreign event costs a script the factor `STRAY`, and nothing is impossible.

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

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from elision import text
from elision.ask.engine.told_chain import normalised, visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from elision.ask.engine.told_chain import ToldChain
    from elision.ask.identify import Witness
    from elision.text.extract import EventExtractor
    from elision.values.script import Script


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is known of a script without its arrays.

    Attributes
    ----------
    events
        Its events.
    rates
        How often each is told in a telling, on average.
    bounds
        The most that each can be told with, in any state, given that something is told.
    words
        In how many sentences each word was found, if it was learned from sentences.
    """

    events: tuple[str, ...]
    rates: tuple[float, ...]
    bounds: tuple[float, ...]
    words: Mapping[str, int] | None

    @cached_property
    def word_total(self) -> int:
        """How many words were found in all."""
        return sum((self.words or {}).values())


STRAY = 0.05
"""Share of events that do not belong to the script."""

BROKEN_OFF = 1e-3
"""Probability of breaking off before each step."""

SELDOM = 0.04
"""Share of what is told that no step of an outline stands for."""

OPEN = 0.05
"""Share of the background that goes to events no script knows."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in a telling, as opposed to the name of an event."""

    text: str


Symbol: TypeAlias = str | tuple[tuple[str, float], ...] | Sentence | None
"""One distinct observation, in a form that can be compared."""


def shares_of(symbol: Symbol) -> tuple[tuple[str, float], ...]:
    """Events that an observation may stand for."""
    if isinstance(symbol, Sentence):  # a script that knows no words may know it as an event
        return ((symbol.text, 1.0),)
    if isinstance(symbol, str):
        return ((symbol, 1.0),)
    return () if symbol is None else symbol


def told_rates(script: Script) -> NDArray[np.float64]:
    """How often each event is told in a telling, on average."""
    rates: NDArray[np.float64] = visits(script) @ script.emission
    seldom = rates <= 0
    if script.made_from is not None and seldom.any():
        rates[seldom] = SELDOM * rates.sum() / seldom.sum()
    return rates


class Background:
    """Events of all scripts in the proportions in which they are told, and some unknown ones."""

    def __init__(self, sheets: Sequence[Sheet], priors: NDArray[np.float64]) -> None:
        total: dict[str, float] = {}
        length = 0.0
        for sheet, prior in zip(sheets, priors.tolist(), strict=True):
            length += prior * math.fsum(sheet.rates)
            for event, rate in zip(sheet.events, sheet.rates, strict=True):
                total[event] = total.get(event, 0.0) + prior * rate
        everything = math.fsum(total.values()) or 1.0
        self.unknown = OPEN / (len(total) + 1)
        self.known = {
            event: (1 - OPEN) * rate / everything + self.unknown for event, rate in total.items()
        }
        self.length = length

    def weight(self, symbol: Symbol) -> float:
        """Probability of an observation of events."""
        return math.fsum(
            share * self.known.get(event, self.unknown) for event, share in shares_of(symbol)
        )

    def log_length(
        self, lengths: NDArray[np.int64], stray: float, *, begun: bool
    ) -> NDArray[np.float64]:
        """Log-probability of numbers of events under *none of these*: geometric.

        The mean is that of the scripts, strays included. What has only begun has no end yet.
        """
        mean = self.length / (1 - stray) + 1e-9
        ending = 0.0 if begun else math.log1p(mean)
        return np.asarray(lengths * (math.log(mean) - math.log1p(mean)) - ending)


class Heard(NamedTuple):
    """What a script makes of distinct observations.

    ``tell`` (observations, states) and ``stray`` (observations,) are relative to the background
    and to exp(``scale``), which brings both to order one.
    """

    tell: NDArray[np.float64]
    stray: NDArray[np.float64]
    scale: NDArray[np.float64]


def hear_events(script: Script, symbols: Sequence[Symbol], background: Background) -> Heard:
    """Say how well each state of a script tells each observation."""
    number = {event: o for o, event in enumerate(script.events)}
    weights = np.zeros((len(symbols), len(number)))
    for row, symbol in enumerate(symbols):
        if symbol is None:
            weights[row] = 1.0
        for event, share in shares_of(symbol):
            if event in number:
                weights[row, number[event]] = share / background.weight(symbol)
    tell = weights @ script.emission.T
    return Heard(tell, np.ones(len(symbols)), np.zeros(len(symbols)))


def evidence_of(
    witness: Witness,
    symbols: Sequence[Symbol],
    tellings: Sequence[NDArray[np.int64]],
    background: Background,
    stray: float,
    *,
    begun: bool = False,
) -> NDArray[np.float64]:
    """Log-evidence of each telling of events, by the states of the script."""
    heard = hear_events(witness.script, symbols, background)
    return log_evidence(witness.chain, heard, tellings, stray, begun=begun)


def log_evidence(
    chain: ToldChain,
    heard: Heard,
    tellings: Sequence[NDArray[np.int64]],
    stray: float,
    *,
    begun: bool = False,
) -> NDArray[np.float64]:
    """Log-evidence of each telling, a list of numbers of observations, relative to the background.

    Parameters
    ----------
    chain
        The script from one told event to the next.
    heard
        What it makes of the observations.
    tellings
        Numbers of the observations, in order.
    stray
        Share of strays.
    begun
        Whether more may follow, so that the end is no evidence.
    """
    result = np.zeros(len(tellings))
    by_length: dict[int, list[int]] = {}
    for place, telling in enumerate(tellings):
        by_length.setdefault(len(telling), []).append(place)
    going_on = 1 - stray - BROKEN_OFF
    for length, places in by_length.items():
        numbers = np.array([tellings[place] for place in places]).reshape(len(places), length)
        told = np.zeros((len(places), chain.states))
        told[:, 0] = 1.0
        total = heard.scale[numbers].sum(axis=1)
        for i in range(length):
            here = numbers[:, i]
            moved = going_on * chain.arrivals(told) * heard.tell[here]
            told, gained = normalised(moved + stray * heard.stray[here, None] * told)
            total += gained
        if not begun:
            total += np.log(going_on * (told @ chain.ending) + BROKEN_OFF)
        result[places] = total
    return result


class Bounds:
    """What an observation can say for each of many scripts at most, from their sheets alone.

    The probability of the next event is a mean of Omega(x|k) / (1 - e(k)) over the states that may
    tell it, so it is at most the largest of these.
    """

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self._sheets = len(sheets)
        found: dict[str, tuple[list[int], list[float]]] = {}
        for row, sheet in enumerate(sheets):
            for event, bound in zip(sheet.events, sheet.bounds, strict=True):
                rows, bounds = found.setdefault(event, ([], []))
                rows.append(row)
                bounds.append(bound)
        self._by_event = {
            event: (np.array(rows), np.array(bounds)) for event, (rows, bounds) in found.items()
        }

    def log_bounds(self, symbols: Sequence[Symbol], background: Background) -> NDArray[np.float64]:
        """Bound the log-evidence of each observation for each script, (scripts, observations)."""
        result = np.zeros((self._sheets, len(symbols)))
        for column, symbol in enumerate(symbols):
            if symbol is None:
                result[:, column] = 1.0
            for event, share in shares_of(symbol):
                if event in self._by_event:
                    rows, bounds = self._by_event[event]
                    result[rows, column] += share / background.weight(symbol) * bounds
        return np.asarray(np.log(STRAY + (1 - STRAY - BROKEN_OFF) * result))


def symbols_of(
    tellings: Iterable[Sequence[Symbol]],
) -> tuple[list[Symbol], list[NDArray[np.int64]]]:
    """Distinct observations, and each telling as their numbers."""
    known: dict[Symbol, int] = {}
    numbers = [
        np.array([known.setdefault(symbol, len(known)) for symbol in telling], np.int64)
        for telling in tellings
    ]
    return list(known), numbers


def sheet_of(script: Script, words: Mapping[str, int] | None) -> Sheet:
    """Make the sheet of a script."""
    telling = script.emission.sum(axis=1)[:, None]
    shares = np.divide(
        script.emission, telling, out=np.zeros_like(script.emission), where=telling > 0
    )
    rates = told_rates(script)
    bounds = shares.max(axis=0, initial=0.0)
    if script.telling is not None:  # it may be certain of any event
        bounds = np.ones_like(bounds)
    return Sheet(script.events, tuple(rates.tolist()), tuple(bounds.tolist()), words)


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
