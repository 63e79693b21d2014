"""WordNet's tables: read from Princeton's database files, packed into one file, and unpacked."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from contextlib import contextmanager
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elision.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["WITH_SENSES", "PartOfSpeech", "Ragged", "Tables", "pack", "read_folder", "unpack"]

PartOfSpeech = Literal["n", "v", "a", "r"]
Ints = NDArray[np.int32]

WITH_SENSES: tuple[PartOfSpeech, ...] = ("n", "v")
_FILE_NAMES: dict[PartOfSpeech, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_KEY_NUMBERS: dict[str, PartOfSpeech] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_HYPERNYM_POINTERS = frozenset({"@", "@i"})
_MAGIC = b"elision wordnet 1"


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


def read_folder(folder: Path) -> Tables:
    """Read Princeton's database files; only those of nouns and verbs must be there."""
    data = {pos: _fields(folder / f"data.{_FILE_NAMES[pos]}") for pos in WITH_SENSES}
    keys = [(pos, entry[0]) for pos in WITH_SENSES for entry in data[pos]]
    number = dict(zip(keys, range(len(keys)), strict=True))
    words: dict[PartOfSpeech, list[str]] = {}
    counts: dict[PartOfSpeech, Ints] = {}
    counted = _read_counts(folder / "cntlist.rev")
    senses: dict[PartOfSpeech, Ragged] = {}
    exceptions: dict[PartOfSpeech, dict[str, tuple[str, ...]]] = {}
    for pos, name in _FILE_NAMES.items():
        path = folder / f"index.{name}"
        index = _fields(path, optional=pos not in WITH_SENSES)
        words[pos] = [entry[0] for entry in index]
        counts[pos] = np.array([counted[pos, word] for word in words[pos]], dtype=np.int32)
        if pos in WITH_SENSES:
            with _reading(path):
                senses[pos] = _ragged(
                    [number[pos, key] for key in entry[-int(entry[2]) :]] for entry in index
                )
        listed = _fields(folder / f"{name}.exc", optional=True)
        exceptions[pos] = {form: tuple(lemmas) for form, *lemmas in listed}
    with _reading(folder):
        hypernyms = _ragged(
            [number[key] for key in _hypernym_keys(entry)]
            for pos in WITH_SENSES
            for entry in data[pos]
        )
    return Tables(words, counts, senses, exceptions, hypernyms, len(data["n"]))


def pack(tables: Tables) -> bytes:
    """Return the one packed file, the same bytes for the same tables.

    It is one xz stream. Inside: a line that names the format, a line of JSON with the number of
    noun synsets and the length of each section, then the sections, in the order in which
    :func:`unpack` takes them.
    """
    sections = ["\n".join(tables.words[pos]).encode() for pos in _FILE_NAMES]
    sections += [tables.counts[pos].astype("<i4").tobytes() for pos in _FILE_NAMES]
    for pos in _FILE_NAMES:
        lines = (" ".join((form, *found)) for form, found in tables.exceptions[pos].items())
        sections.append("\n".join(lines).encode())
    for pos in WITH_SENSES:
        starts, items = tables.senses[pos]
        sections += [bytes(np.diff(starts).tolist()), items.astype("<i4").tobytes()]
    lengths = np.diff(tables.hypernyms.starts)
    # Most synsets stand close below their hypernym, so the steps are what packs well.
    steps = np.repeat(np.arange(len(lengths)), lengths) - tables.hypernyms.items
    sections += [bytes(lengths.tolist()), steps.astype("<i4").tobytes()]
    header = json.dumps({"nouns": tables.n_nouns, "sections": [len(s) for s in sections]})
    content = b"".join([_MAGIC, b"\n", header.encode(), b"\n", *sections])
    return lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)


def unpack(packed: bytes, *, where: str) -> Tables:
    """Read what :func:`pack` wrote; ``where`` names the file in an error."""
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
    if magic != _MAGIC:
        raise ValueError(f"it begins with {magic[:40]!r}")
    described = json.loads(header)
    ends = accumulate(described["sections"], initial=0)
    sections = (body[a:b] for a, b in pairwise(ends))
    words = {pos: next(sections).decode().split("\n") for pos in _FILE_NAMES}
    counts = {pos: np.frombuffer(next(sections), dtype="<i4") for pos in _FILE_NAMES}
    exceptions = {pos: _unpack_exceptions(next(sections)) for pos in _FILE_NAMES}
    senses = {pos: _unpack_ragged(sections) for pos in WITH_SENSES}
    steps = _unpack_ragged(sections)
    lengths = np.diff(steps.starts)
    above = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths) - steps.items
    hypernyms = Ragged(steps.starts, above)
    return Tables(words, counts, senses, exceptions, hypernyms, int(described["nouns"]))


def _fields(path: Path, *, optional: bool = False) -> list[list[str]]:
    """Fields of each line, without the licence (indented) and the gloss (after a bar)."""
    if optional and not path.exists():
        return []
    with _reading(path), path.open(encoding="utf-8") as lines:
        return [line.partition("|")[0].split() for line in lines if line[0] not in " \n"]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise FileFormatError(
            f"not a WordNet database file ({type(error).__name__}: {error})",
            where=str(path),
            hint="give a folder of WordNet 3.0 database files, such as Debian's /usr/share/wordnet",
        ) from error


def _read_counts(path: Path) -> Counter[tuple[PartOfSpeech, str]]:
    """Occurrences of each word, from sense keys such as ``walk%2:38:00::`` with their counts."""
    counts: Counter[tuple[PartOfSpeech, str]] = Counter()
    with _reading(path):
        for key, _, count in _fields(path, optional=True):
            word, _, numbers = key.partition("%")
            counts[_KEY_NUMBERS[numbers[0]], word] += int(count)
    return counts


def _hypernym_keys(entry: list[str]) -> Iterator[tuple[PartOfSpeech, str]]:
    # A line of a data file is: offset, file, part of speech, number of words (hexadecimal), a word
    # and an id for each, number of pointers, and symbol, offset, part of speech, ends for each.
    pointers = 4 + 2 * int(entry[3], 16)
    for at in range(pointers + 1, pointers + 1 + 4 * int(entry[pointers]), 4):
        if entry[at] in _HYPERNYM_POINTERS:
            yield ("v" if entry[at + 2] == "v" else "n"), entry[at + 1]


def _ragged(lists: Iterable[list[int]]) -> Ragged:
    rows = list(lists)
    return Ragged.of([len(row) for row in rows], list(chain.from_iterable(rows)))


def _unpack_ragged(sections: Iterator[bytes]) -> Ragged:
    lengths = np.frombuffer(next(sections), dtype=np.uint8)
    return Ragged.of(lengths, np.frombuffer(next(sections), dtype="<i4"))


def _unpack_exceptions(section: bytes) -> dict[str, tuple[str, ...]]:
    entries = map(str.split, section.decode().splitlines())
    return {form: tuple(lemmas) for form, *lemmas in entries}
