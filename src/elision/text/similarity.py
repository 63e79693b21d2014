"""How alike two wordings are: the paper's sum over WordNet, a richer mixture, or a user's own.

Each ingredient of a similarity is rounded to a multiple of 2^-20 before products are summed. Such
sums are exact in double precision, whatever their order, so a matrix product gives the same bits
on one thread or many, and a sentence is measured alike alone or in company.

No ingredient looks at the sentences before or after: what is said of one step can then never
betray another one that was taken away to be guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from elision.text.lexicon import opposite_particles, opposite_verbs
from elision.text.vectors import DIMENSIONS, word_vectors
from elision.text.wording import distinct
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.text.wording import Wording


@dataclass(frozen=True, slots=True)
class Weights:
    """What counts how much when two wordings, or two groups of them, are compared.

    Chosen on the package's own labelled tellings (``python benchmarks/sentences.py types``).

    Parameters
    ----------
    verb, object
        Path similarity of the verbs and of the objects.
    words
        How well the content words of each find a partner in the other, rare words counting more.
    vectors
        Cosine of the mean word vectors, the mean of the domain taken away.
    shared
        Cosine of the content words that both share, rare words counting more (tf-idf).
    opposite
        Taken off where particles (on, off) or verbs (open, close) are opposites.
    position
        Taken off in proportion to the distance of the places in their tellings.
    together
        Taken off in proportion to how often one telling has both: who tells two things in one
        breath means two things.
    apart
        Added in proportion to how many tellings a pair of groups covers.
    around
        Weight of what stands before and after when groups are looked at again (see `regroup`).
    strictness
        Standard deviations by which a type must be more alike than two steps of one telling are.
    phrasal
        Whether verb and particle are looked up as one verb where WordNet has it ("take off").
    """

    verb: float
    object: float
    words: float = 0.0
    vectors: float = 0.0
    shared: float = 0.0
    opposite: float = 0.0
    position: float = 0.0
    together: float = 0.0
    apart: float = 0.0
    around: float = 0.0
    strictness: float = 1.5
    phrasal: bool = True


WORDNET = Weights(
    verb=0.6, object=0.4, position=0.6, together=0.2, apart=0.1, strictness=1.3, phrasal=False
)
"""The paper's w1 PS(verb) + w2 PS(object), and what the tellings say."""

MIXED = Weights(
    verb=0.3,
    object=0.15,
    words=0.4,
    vectors=0.3,
    opposite=0.3,
    position=0.6,
    together=0.2,
    apart=0.1,
    around=0.3,
    strictness=1.3,
)

MIXED_WITHOUT_VECTORS = replace(MIXED, verb=0.2, object=0.2, words=0.8, vectors=0.0, shared=0.2)


_GRAIN = float(1 << 20)
_ROWS = 256  # wordings aligned at a time: keeps the working table to a few MB


class Measure(Protocol):
    """A similarity between wordings, each side prepared once and compared many times."""

    def prepare(self, wordings: Sequence[Wording]) -> Any:
        """Return whatever makes comparing these wordings quick."""
        ...

    def compare(self, rows: Any, columns: Any) -> NDArray[np.float64]:
        """Return the similarity of each row with each column."""
        ...


class _Side(NamedTuple):
    """One side of a comparison: words as places in lists of distinct ones."""

    keys: list[object]
    verbs: tuple[list[str], NDArray[np.intp]]
    heads: tuple[list[str], NDArray[np.intp]]  # verbs, with the particle where it belongs
    particles: tuple[list[str], NDArray[np.intp]]
    objects: tuple[list[str], NDArray[np.intp]]
    words: list[str]
    spelt: NDArray[np.intp]  # words of all wordings, end to end
    starts: list[int]
    distinct: NDArray[np.intp]  # the same without repetitions inside a wording
    offsets: list[int]  # where each wording begins in it
    shares: NDArray[np.float64]  # weights of these words, which sum to 1 in a wording
    tfidf: NDArray[np.float64]  # the same, squares sum to 1
    vectors: NDArray[np.float64]


class WordMeasure:
    """Similarity by words, for the wordings of one domain.

    Parameters
    ----------
    weights
        What counts how much.
    senses
        How many senses of each word count; None for all.
    frequency
        How many sentences of the domain have each word.
    sentences
        How many sentences there are.
    centroid
        Mean of the vectors of the sentences; nothing where vectors are not used.

    Examples
    --------
    >>> from elision.text.wording import read_wording
    >>> tell = [read_wording(s) for s in ("open door", "shut door", "ring")]
    >>> measure = WordMeasure.of(tell, [1, 1, 1], WORDNET)
    >>> side = measure.prepare(tell)
    >>> measure.compare(side, side).round(2)[0].tolist()
    [1.0, 0.6, 0.15]
    """

    def __init__(
        self,
        weights: Weights,
        *,
        senses: int | None = 3,
        frequency: Mapping[str, int],
        sentences: int,
        centroid: NDArray[np.float64] | None = None,
    ) -> None:
        self.weights = weights
        self.senses = senses
        self.frequency = dict(frequency)
        self.sentences = sentences
        self.centroid = np.zeros(DIMENSIONS) if centroid is None else centroid
        self._wordnet = WordNet.load()

    @classmethod
    def of(
        cls,
        wordings: Sequence[Wording],
        count: Iterable[float],
        weights: Weights,
        *,
        senses: int | None = 3,
    ) -> WordMeasure:
        """Return the measure of a domain, from its wordings and how often each was told."""
        frequency: Counter[str] = Counter()
        told = [int(number) for number in count]
        for wording, number in zip(wordings, told, strict=True):
            frequency.update(dict.fromkeys(wording.words, number))
        common = {"senses": senses, "frequency": frequency, "sentences": sum(told)}
        measure = cls(weights, **common)  # type: ignore[arg-type]
        if not weights.vectors or not wordings:
            return measure
        rows = measure.prepare(wordings).vectors * np.array(told, float)[:, None]
        centroid = grained(rows.sum(axis=0) / sum(told))
        return cls(weights, centroid=centroid, **common)  # type: ignore[arg-type]

    def prepare(self, wordings: Sequence[Wording]) -> _Side:
        """Look up everything that hangs on one wording only."""
        words = distinct(chain.from_iterable(w.words for w in wordings))
        place = {word: number for number, word in enumerate(words)}
        spelt = np.array([place[word] for w in wordings for word in w.words], np.intp)
        starts = list(accumulate((len(w.words) for w in wordings[:-1]), initial=0))
        distinct_words, offsets, shares, tfidf = self._rarities(wordings, place)
        return _Side(
            keys=[w.key for w in wordings],
            verbs=_indexed([w.verb for w in wordings]),
            heads=_indexed([self._head(w) for w in wordings]),
            particles=_indexed([w.particle for w in wordings]),
            objects=_indexed([w.object for w in wordings]),
            words=words,
            spelt=spelt,
            starts=starts if wordings else [],
            distinct=distinct_words,
            offsets=offsets,
            shares=shares,
            tfidf=tfidf,
            vectors=self._sentence_vectors(words, spelt, starts) if wordings else _no_vectors(),
        )

    def compare(self, rows: _Side, columns: _Side) -> NDArray[np.float64]:
        """Return the similarity of each row with each column."""
        weights = self.weights
        total = weights.verb * self._paths(rows.heads, columns.heads, "v")
        total += weights.object * self._paths(rows.objects, columns.objects, "n")
        if weights.words:
            total += weights.words * self._partners(rows, columns)
        if weights.vectors:
            total += weights.vectors * (rows.vectors @ columns.vectors.T)
        if weights.shared:
            total += weights.shared * _shared(rows, columns)
        if weights.opposite:
            total -= weights.opposite * _opposites(rows, columns)
        # A wording is wholly like itself, also where it lacks a verb or an object.
        place = {key: number for number, key in enumerate(columns.keys)}
        same = [(i, place[key]) for i, key in enumerate(rows.keys) if key in place]
        whole = weights.verb + weights.object + weights.words + weights.vectors + weights.shared
        total[[i for i, _ in same], [j for _, j in same]] = whole
        return total

    def _head(self, wording: Wording) -> str:
        joined = f"{wording.verb}_{wording.particle}"
        phrasal = self.weights.phrasal and wording.particle and self._wordnet.knows(joined, "v")
        return joined if phrasal else wording.verb

    def _rarities(
        self, wordings: Sequence[Wording], place: Mapping[str, int]
    ) -> tuple[NDArray[np.intp], list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Distinct words, where each wording begins, and two weights of each word."""
        rarity = {
            word: math.log((2 + self.sentences) / (1 + self.frequency.get(word, 0)))
            for word in place
        }
        offset: list[int] = []
        column: list[int] = []
        share: list[float] = []
        unit: list[float] = []
        for wording in wordings:
            words = distinct(wording.words)
            values = [rarity[word] for word in words]
            whole, length = math.fsum(values), math.hypot(*values)
            offset.append(len(column))
            column += [place[word] for word in words]
            share += [value / whole for value in values]
            unit += [value / length for value in values]
        return (
            np.array(column, np.intp),
            offset,
            grained(np.array(share)),
            grained(np.array(unit)),
        )

    def _sentence_vectors(
        self, words: list[str], spelt: NDArray[np.intp], starts: list[int]
    ) -> NDArray[np.float64]:
        if not self.weights.vectors:
            return _no_vectors()
        sums = np.add.reduceat(word_vectors(words)[spelt], starts, axis=0)
        return grained(unit_rows(unit_rows(sums) - self.centroid))

    def _paths(
        self,
        rows: tuple[list[str], NDArray[np.intp]],
        columns: tuple[list[str], NDArray[np.intp]],
        pos: Any,
    ) -> NDArray[np.float64]:
        """Path similarities of words; a word that is missing is like nothing."""
        table = self._wordnet.similarities(rows[0], columns[0], pos=pos, senses=self.senses)
        if "" in rows[0]:
            table[rows[0].index("")] = 0.0
        if "" in columns[0]:
            table[:, columns[0].index("")] = 0.0
        return table[np.ix_(rows[1], columns[1])]

    def _partners(self, rows: _Side, columns: _Side) -> NDArray[np.float64]:
        """Mean over both directions of how well each word finds a partner on the other side."""
        table = self._word_table(rows.words, columns.words)
        there = _best_partners(table, rows, columns)
        if rows is columns:
            return (there + there.T) / 2
        return (there + _best_partners(table.T, columns, rows).T) / 2

    def _word_table(self, words: list[str], others: list[str]) -> NDArray[np.float64]:
        """Similarity of words that may be nouns or verbs."""
        ask = self._wordnet.similarities
        nouns = ask(words, others, pos="n", senses=self.senses)
        table = np.maximum(nouns, ask(words, others, pos="v", senses=self.senses), out=nouns)
        if self.weights.vectors:
            ours, theirs = (grained(unit_rows(word_vectors(one))) for one in (words, others))
            cosine = ours @ theirs.T
            table = (table + np.maximum(cosine, 0.0)) / 2
        return grained(table)


def _best_partners(table: NDArray[np.float64], rows: _Side, columns: _Side) -> NDArray[np.float64]:
    """For each column, the mean over its words of the best partner that the row offers."""
    size = len(rows.starts)
    result = np.empty((size, len(columns.starts)))
    ends = [*rows.starts[1:], len(rows.spelt)]
    for begin in range(0, size, _ROWS):
        stop = min(begin + _ROWS, size)
        first = rows.starts[begin]
        spelt = rows.spelt[first : ends[stop - 1]]
        starts = [start - first for start in rows.starts[begin:stop]]
        best = np.maximum.reduceat(table[spelt], starts, axis=0)
        result[begin:stop] = _weighted(best, columns, columns.shares)
    return result


def _weighted(
    values: NDArray[np.float64], columns: _Side, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each column, the weighted sum over its words of what each row has for a word."""
    if not columns.offsets:
        return np.zeros((len(values), 0))
    products = values[:, columns.distinct]
    products *= weights
    sums: NDArray[np.float64] = np.add.reduceat(products, columns.offsets, axis=1)
    return sums


def _shared(rows: _Side, columns: _Side) -> NDArray[np.float64]:
    place = {word: number for number, word in enumerate(columns.words)}
    # A word that the other side lacks goes to a last column, which no wording has.
    link = np.array([place.get(word, len(place)) for word in rows.words], np.intp)
    size = len(rows.offsets)
    owner = np.repeat(np.arange(size), np.diff([*rows.offsets, len(rows.distinct)]))
    found = np.empty((size, len(columns.offsets)))
    for begin in range(0, size, _ROWS):
        stop = min(begin + _ROWS, size)
        mine = (owner >= begin) & (owner < stop)
        values = np.zeros((stop - begin, len(place) + 1))
        values[owner[mine] - begin, link[rows.distinct[mine]]] = rows.tfidf[mine]
        values[:, -1] = 0.0
        found[begin:stop] = _weighted(values, columns, columns.tfidf)
    return found


def _opposites(rows: _Side, columns: _Side) -> NDArray[np.bool_]:
    verbs = _asked(opposite_verbs, rows.verbs, columns.verbs)
    return verbs | _asked(opposite_particles, rows.particles, columns.particles)


def _asked(
    question: Callable[[str, str], bool],
    rows: tuple[list[str], NDArray[np.intp]],
    columns: tuple[list[str], NDArray[np.intp]],
) -> NDArray[np.bool_]:
    table = np.array([[question(a, b) for b in columns[0]] for a in rows[0]], dtype=bool)
    return table.reshape(len(rows[0]), len(columns[0]))[np.ix_(rows[1], columns[1])]


def _indexed(words: list[str]) -> tuple[list[str], NDArray[np.intp]]:
    found = distinct(words)
    place = {word: number for number, word in enumerate(found)}
    return found, np.array([place[word] for word in words], np.intp)


def grained(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round so that sums of products are exact."""
    rounded: NDArray[np.float64] = np.round(values * _GRAIN)
    return rounded / _GRAIN


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to length 1; what has no length stays as it is."""
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    scaled: NDArray[np.float64] = rows / np.where(lengths > 0, lengths, 1.0)
    return scaled


def _no_vectors() -> NDArray[np.float64]:
    return np.zeros((0, DIMENSIONS))
