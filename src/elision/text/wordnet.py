"""WordNet 3.0 in one small file: base forms, senses, and how far apart two senses are.

The package carries a compact copy of Princeton's WordNet 3.0 (``data/wordnet.bin``, written by
``tools/build_wordnet.py``; its notice is ``data/WORDNET-LICENSE``), so nothing is downloaded.
Synsets are plain integers: nouns come first, then verbs, each in the order of Princeton's files.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from importlib import resources
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from elision.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_T = TypeVar("_T")

PartOfSpeech = Literal["n", "v", "a", "r"]
Ints = NDArray[np.int32]

PARTS: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")
WITH_SENSES: tuple[PartOfSpeech, ...] = ("n", "v")
MAGIC = b"elision wordnet 1"

_ENDINGS: dict[PartOfSpeech, str] = {
    "n": "s- ses-s ves-f xes-x zes-z ches-ch shes-sh men-man ies-y",
    "v": "s- ies-y es-e es- ed-e ed- ing-e ing-",
    "a": "er- est- er-e est-e",
    "r": "",
}
_DETACHMENTS = {
    pos: [(ending, base) for ending, _, base in (rule.partition("-") for rule in rules.split())]
    for pos, rules in _ENDINGS.items()
}
_FAR = 1 << 14  # beyond any path, and twice that still fits an int16
_DEEPEST = 32  # levels to look for; below that, a taxonomy that runs in a circle
_BLOCK = 512  # source synsets swept at a time: keeps the working matrix to a few MB


class Ragged(NamedTuple):
    """Lists of unequal length, end to end: list i is ``items[starts[i]:starts[i + 1]]``."""

    starts: Ints
    items: Ints

    @classmethod
    def of(cls, lengths: Sequence[int] | NDArray[np.uint8], items: Sequence[int] | Ints) -> Ragged:
        """Build from the length of each list and all items end to end."""
        starts = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=starts[1:])
        return cls(starts, np.asarray(items, dtype=np.int32))

    def row(self, index: int) -> list[int]:
        """Return list number ``index``."""
        row: list[int] = self.items[self.starts[index] : self.starts[index + 1]].tolist()
        return row


class Tables(NamedTuple):
    """What is read from WordNet, whichever kind of file it came from.

    ``words``, ``counts`` (how often a word was met in Princeton's tagged texts) and ``exceptions``
    have the four parts of speech as keys, ``senses`` (a row per word) only nouns and verbs;
    ``hypernyms`` has a row per synset, the first ``n_nouns`` of them nouns.
    """

    words: dict[PartOfSpeech, list[str]]
    counts: dict[PartOfSpeech, Ints]
    senses: dict[PartOfSpeech, Ragged]
    exceptions: dict[PartOfSpeech, dict[str, tuple[str, ...]]]
    hypernyms: Ragged
    n_nouns: int


class WordNet:
    """Base forms, senses and path similarity of English nouns and verbs.

    `load` gives the copy that comes with the package.

    Examples
    --------
    >>> wordnet = WordNet.load()
    >>> wordnet.lemma("boxes", "n"), wordnet.lemma("went", "v")
    ('box', 'go')
    >>> round(wordnet.similarity("get", "take", "v"), 3)
    0.333
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._rows: dict[PartOfSpeech, dict[str, int]] = {
            pos: dict(zip(words, range(len(words)), strict=True))
            for pos, words in tables.words.items()
        }
        self._ancestors: dict[int, dict[int, int]] = {}

    @staticmethod
    @cache
    def load() -> WordNet:
        """Return WordNet 3.0 as the package carries it; read on the first call, then shared.

        Examples
        --------
        >>> WordNet.load() is WordNet.load()
        True
        """
        packed = resources.files("elision") / "data" / "wordnet.bin"
        return WordNet(unpack(packed.read_bytes(), where=str(packed)))

    def knows(self, lemma: str, pos: PartOfSpeech) -> bool:
        """Say whether ``lemma`` is, as it stands, an entry of that part of speech.

        Examples
        --------
        >>> WordNet.load().knows("box", "v"), WordNet.load().knows("boxes", "v")
        (True, False)
        """
        return lemma in self._rows[pos]

    def frequency(self, lemma: str, pos: PartOfSpeech) -> int:
        """Return how often the entry was met in Princeton's sense-tagged texts; 0 if unknown.

        Examples
        --------
        >>> wordnet = WordNet.load()
        >>> wordnet.frequency("wash", "v") > wordnet.frequency("wash", "n")
        True
        """
        row = _checked(self._rows, pos).get(lemma)
        return 0 if row is None else int(self.tables.counts[pos][row])

    def lemmas(self, word: str, pos: PartOfSpeech) -> list[str]:
        """Return every base form of ``word`` that is an entry, most literal first.

        The word itself comes first if it is an entry, then what the exception list says, or, for a
        word without exceptions, what is left when an ending is detached.

        Examples
        --------
        >>> WordNet.load().lemmas("saw", "v")
        ['saw', 'see']
        """
        entries = _checked(self._rows, pos)
        form = word.lower().replace(" ", "_")
        candidates: Sequence[str] | None = self.tables.exceptions[pos].get(form)
        if candidates is None:
            candidates = [
                form.removesuffix(ending) + base
                for ending, base in _DETACHMENTS[pos]
                if form.endswith(ending)
            ]
        return [c for c in dict.fromkeys(chain((form,), candidates)) if c in entries]

    def lemma(self, word: str, pos: PartOfSpeech) -> str | None:
        """Return the first of :meth:`lemmas`, or None if no base form is an entry.

        Examples
        --------
        >>> WordNet.load().lemma("taking", "v")
        'take'
        >>> WordNet.load().lemma("qwxz", "v") is None
        True
        """
        found = self.lemmas(word, pos)
        return found[0] if found else None

    def synsets(self, lemma: str, pos: PartOfSpeech) -> list[int]:
        """Return the senses of an entry, most frequent first; none if it is not an entry.

        Examples
        --------
        >>> len(WordNet.load().synsets("kettle", "n"))
        4
        """
        senses: Ragged = _checked(self.tables.senses, pos)
        row = self._rows[pos].get(lemma)
        return [] if row is None else senses.row(row)

    def hypernyms(self, synset: int) -> list[int]:
        """Return the synsets directly above ``synset``, those of instances included.

        Examples
        --------
        >>> wordnet = WordNet.load()
        >>> entity = wordnet.synsets("entity", "n")[0]
        >>> wordnet.hypernyms(entity)
        []
        """
        return self.tables.hypernyms.row(synset)

    def ancestors(self, synset: int) -> dict[int, int]:
        """Return every synset above ``synset`` with its distance in edges, itself at 0.

        Examples
        --------
        >>> wordnet = WordNet.load()
        >>> physical, entity = (wordnet.synsets(w, "n")[0] for w in ("physical_entity", "entity"))
        >>> wordnet.ancestors(physical) == {physical: 0, entity: 1}
        True
        """
        distances = self._ancestors.get(synset)
        if distances is None:
            distances = {}
            level, distance = [synset], 0
            while level:
                distances.update(dict.fromkeys(level, distance))
                above = chain.from_iterable(map(self.hypernyms, level))
                level = list(dict.fromkeys(s for s in above if s not in distances))
                distance += 1
            self._ancestors[synset] = distances
        return distances

    def path_similarity(
        self, first: int, second: int, *, simulate_root: bool = True
    ) -> float | None:
        """Return 1 / (1 + edges of the shortest path through a common hypernym).

        Verbs have no common top. With ``simulate_root`` one is put above the farthest ancestor of
        each synset as soon as one of the two is a verb, which is what nltk does too.

        Returns
        -------
        float or None
            None if nothing connects the two.

        Examples
        --------
        >>> wordnet = WordNet.load()
        >>> cat, dog = (wordnet.synsets(word, "n")[0] for word in ("cat", "dog"))
        >>> wordnet.path_similarity(cat, dog)
        0.2
        """
        up, other = self.ancestors(first), self.ancestors(second)
        paths = [distance + other[synset] for synset, distance in up.items() if synset in other]
        if simulate_root and max(first, second) >= self.tables.n_nouns:
            paths.append(_root_distance(up) + _root_distance(other))
        return 1 / (1 + min(paths)) if paths else None

    def similarity(
        self, first: str, second: str, pos: PartOfSpeech, *, senses: int | None = 3
    ) -> float:
        """Return the greatest path similarity between two words, over their first senses.

        Words are reduced to their lemma first. A word that WordNet does not know is like itself
        (1.0) and like nothing else (0.0).

        Parameters
        ----------
        first, second
            The words.
        pos
            ``"n"`` or ``"v"``.
        senses
            How many senses of each word count; None for all.

        Examples
        --------
        >>> WordNet.load().similarity("cat", "dog", "n")
        0.2
        """
        mine, its = self._first_senses(first, pos, senses), self._first_senses(second, pos, senses)
        if not mine or not its:
            return float(first == second)
        pairs = (self.path_similarity(a, b) for a in mine for b in its)
        return max(value or 0.0 for value in pairs)

    def similarities(
        self,
        words: Sequence[str],
        others: Sequence[str] | None = None,
        *,
        pos: PartOfSpeech,
        senses: int | None = 3,
    ) -> NDArray[np.float64]:
        """Return :meth:`similarity` of every word with every other word, as a matrix.

        Much faster than asking for one pair after another.

        Parameters
        ----------
        words
            The words of the rows.
        others
            The words of the columns; the same words if None.
        pos
            ``"n"`` or ``"v"``.
        senses
            How many senses of each word count; None for all.

        Returns
        -------
        numpy.ndarray
            Of shape (words, others).

        Examples
        --------
        >>> WordNet.load().similarities(["cat", "dog", "qwxz"], pos="n")
        array([[1. , 0.2, 0. ],
               [0.2, 1. , 0. ],
               [0. , 0. , 1. ]])
        """
        columns = words if others is None else others
        row_names, column_names = np.array(words, dtype=object), np.array(columns, dtype=object)
        result: NDArray[np.float64] = np.equal.outer(row_names, column_names).astype(np.float64)
        row_senses = [self._first_senses(word, pos, senses) for word in words]
        column_senses = [self._first_senses(word, pos, senses) for word in columns]
        known_rows = [i for i, found in enumerate(row_senses) if found]
        known_columns = [i for i, found in enumerate(column_senses) if found]
        if known_rows and known_columns:
            distances = self._distances(
                [row_senses[i] for i in known_rows],
                [column_senses[i] for i in known_columns],
                simulate_root=pos == "v",
            )
            similar = np.where(distances < _FAR, 1 / (1.0 + distances), 0.0)
            result[np.ix_(known_rows, known_columns)] = similar
        return result

    def _first_senses(self, word: str, pos: PartOfSpeech, senses: int | None) -> list[int]:
        if senses is not None and senses < 1:
            raise InputError(f"senses={senses} where 1 or more, or None for all, was expected")
        lemma = self.lemma(word, pos)
        return [] if lemma is None else self.synsets(lemma, pos)[:senses]

    def _distances(
        self, rows: list[list[int]], columns: list[list[int]], *, simulate_root: bool
    ) -> NDArray[np.int16]:
        """Least distance of any sense of a row from any sense of a column; no list is empty.

        For all sources at once: write each one's distance on its ancestors, then let the least
        distance sink from hypernym to hyponym, a level of the taxonomy at a time.
        """
        targets, sources = list(chain.from_iterable(rows)), list(chain.from_iterable(columns))
        nodes = sorted(set().union(*map(self.ancestors, {*targets, *sources})))
        place = dict(zip(nodes, range(len(nodes)), strict=True))
        descent = self._descent(nodes, place)
        target_places = [place[synset] for synset in targets]
        target_roots = self._root_distances(targets)
        blocks = []
        for begin in range(0, len(sources), _BLOCK):
            block = sources[begin : begin + _BLOCK]
            table = np.full((len(nodes), len(block)), _FAR, dtype=np.int16)
            for column, ancestors in enumerate(map(self.ancestors, block)):
                table[[place[synset] for synset in ancestors], column] = list(ancestors.values())
            descent.sink(table)
            found = table[target_places]
            if simulate_root:
                np.minimum(found, target_roots[:, None] + self._root_distances(block), out=found)
            blocks.append(np.minimum.reduceat(found, _starts(rows), axis=0))
        return np.minimum.reduceat(np.hstack(blocks), _starts(columns), axis=1)

    def _root_distances(self, synsets: list[int]) -> NDArray[np.int16]:
        return np.array([_root_distance(self.ancestors(s)) for s in synsets], dtype=np.int16)

    def _descent(self, nodes: list[int], place: dict[int, int]) -> _Descent:
        """Edges from hypernym to hyponym among ``nodes``, in the order in which to follow them."""
        above = [self.hypernyms(synset) for synset in nodes]
        child = np.repeat(np.arange(len(nodes)), [len(row) for row in above])
        parent = np.array([place[synset] for row in above for synset in row], dtype=np.intp)
        rank = np.array([i for row in above for i in range(len(row))], dtype=np.intp)
        level = np.zeros(len(nodes), dtype=np.intp)
        for _ in range(_DEEPEST):
            np.maximum.at(level, child, level[parent] + 1)
        groups = level[child] * (rank.max(initial=0) + 1) + rank
        order = np.argsort(groups, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
        circular = bool((level[parent] >= level[child]).any())
        return _Descent([(child[part], parent[part]) for part in parts], circular)


class _Descent(NamedTuple):
    """Groups of (children, parents), top level first, no child twice in a group."""

    groups: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    circular: bool

    def sink(self, table: NDArray[np.int16]) -> None:
        """Lower each child's row of ``table`` to at most one more than each of its parents'."""
        while True:
            before = table.copy() if self.circular else None
            for children, parents in self.groups:
                table[children] = np.minimum(table[children], table[parents] + 1)
            if before is None or np.array_equal(before, table):
                return


def _root_distance(ancestors: dict[int, int]) -> int:
    return max(ancestors.values()) + 1


def _starts(lists: list[list[int]]) -> list[int]:
    return list(accumulate(map(len, lists[:-1]), initial=0))


def _checked(table: dict[PartOfSpeech, _T], pos: PartOfSpeech) -> _T:
    if pos not in table:
        raise InputError(
            f"part of speech {pos!r} where one of {', '.join(map(repr, table))} was expected",
            hint="n is noun, v verb, a adjective, r adverb; only nouns and verbs have senses here",
        )
    return table[pos]


def unpack(packed: bytes, *, where: str) -> Tables:
    """Read what ``tools/build_wordnet.py`` packed; ``where`` names the file in an error."""
    try:
        return _unpack(lzma.decompress(packed))
    except (lzma.LZMAError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise FileFormatError(
            f"not the packed WordNet that comes with Elision ({type(error).__name__}: {error})",
            where=where,
            hint="install the package again",
        ) from error


def _unpack(content: bytes) -> Tables:
    magic, header, body = content.split(b"\n", 2)
    if magic != MAGIC:
        raise ValueError(f"it begins with {magic[:40]!r}")
    described = json.loads(header)
    ends = accumulate(described["sections"], initial=0)
    sections = (body[a:b] for a, b in pairwise(ends))
    words = {pos: next(sections).decode().split("\n") for pos in PARTS}
    counts = {pos: np.frombuffer(next(sections), dtype="<i4") for pos in PARTS}
    exceptions = {pos: _unpack_exceptions(next(sections)) for pos in PARTS}
    senses = {pos: _unpack_ragged(sections) for pos in WITH_SENSES}
    steps = _unpack_ragged(sections)
    lengths = np.diff(steps.starts)
    above = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths) - steps.items
    hypernyms = Ragged(steps.starts, above)
    return Tables(words, counts, senses, exceptions, hypernyms, int(described["nouns"]))


def _unpack_ragged(sections: Iterator[bytes]) -> Ragged:
    lengths = np.frombuffer(next(sections), dtype=np.uint8)
    return Ragged.of(lengths, np.frombuffer(next(sections), dtype="<i4"))


def _unpack_exceptions(section: bytes) -> dict[str, tuple[str, ...]]:
    entries = map(str.split, section.decode().splitlines())
    return {form: tuple(lemmas) for form, *lemmas in entries}
