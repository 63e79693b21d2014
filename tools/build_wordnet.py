"""Write ``src/elision/data/wordnet.bin`` and ``WORDNET-LICENSE`` from Debian's ``wordnet-base``.

Run it as ``python tools/build_wordnet.py`` after ``apt-get install wordnet-base``. The same
database files give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elision.text.wordnet import MAGIC, PARTS, WITH_SENSES, Ints, PartOfSpeech, Ragged, Tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA = Path(__file__).resolve().parent.parent / "src" / "elision" / "data"
PREFACE = "wordnet.bin is a compact form of WordNet 3.0, which is under the following licence.\n\n"
FILE_NAMES: dict[PartOfSpeech, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
KEY_NUMBERS: dict[str, PartOfSpeech] = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
HYPERNYM_POINTERS = frozenset({"@", "@i"})
LICENCE_BEGINS = "This software and database is being provided"


def licence(copyright_file: Path) -> str:
    """Return Princeton's notice from a Debian copyright file, its indentation taken off."""
    text = copyright_file.read_text(encoding="utf-8")
    paragraph = next(p for p in text.split("\n\n") if LICENCE_BEGINS in p)
    begin = paragraph.index(LICENCE_BEGINS)
    lines = (line.strip() for line in paragraph[begin:].splitlines())
    return PREFACE + "\n".join("" if line == "." else line for line in lines) + "\n"


def read_folder(folder: Path) -> Tables:
    """Read Princeton's database files; only those of nouns and verbs must be there."""
    data = {pos: _fields(folder / f"data.{FILE_NAMES[pos]}") for pos in WITH_SENSES}
    keys = [(pos, entry[0]) for pos in WITH_SENSES for entry in data[pos]]
    number = dict(zip(keys, range(len(keys)), strict=True))
    words: dict[PartOfSpeech, list[str]] = {}
    counts: dict[PartOfSpeech, Ints] = {}
    counted = _read_counts(folder / "cntlist.rev")
    senses: dict[PartOfSpeech, Ragged] = {}
    exceptions: dict[PartOfSpeech, dict[str, tuple[str, ...]]] = {}
    for pos, name in FILE_NAMES.items():
        path = folder / f"index.{name}"
        index = _fields(path, optional=pos not in WITH_SENSES)
        words[pos] = [entry[0] for entry in index]
        counts[pos] = np.array([counted[pos, word] for word in words[pos]], dtype=np.int32)
        if pos in WITH_SENSES:
            senses[pos] = _ragged(
                [number[pos, key] for key in entry[-int(entry[2]) :]] for entry in index
            )
        listed = _fields(folder / f"{name}.exc", optional=True)
        exceptions[pos] = {form: tuple(lemmas) for form, *lemmas in listed}
    hypernyms = _ragged(
        [number[key] for key in _hypernym_keys(entry)] for pos in WITH_SENSES for entry in data[pos]
    )
    return Tables(words, counts, senses, exceptions, hypernyms, len(data["n"]))


def pack(tables: Tables) -> bytes:
    """Return the one packed file, the same bytes for the same tables.

    It is one xz stream. Inside: a line that names the format, a line of JSON with the number of
    noun synsets and the length of each section, then the sections, in the order in which
    ``elision.text.wordnet`` takes them.
    """
    sections = ["\n".join(tables.words[pos]).encode() for pos in PARTS]
    sections += [tables.counts[pos].astype("<i4").tobytes() for pos in PARTS]
    for pos in PARTS:
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
    content = b"".join([MAGIC, b"\n", header.encode(), b"\n", *sections])
    return lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)


def _fields(path: Path, *, optional: bool = False) -> list[list[str]]:
    """Fields of each line, without the licence (indented) and the gloss (after a bar)."""
    if optional and not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [line.partition("|")[0].split() for line in lines if line[0] not in " \n"]


def _read_counts(path: Path) -> Counter[tuple[PartOfSpeech, str]]:
    """Occurrences of each word, from sense keys such as ``walk%2:38:00::`` with their counts."""
    counts: Counter[tuple[PartOfSpeech, str]] = Counter()
    for key, _, count in _fields(path, optional=True):
        word, _, numbers = key.partition("%")
        counts[KEY_NUMBERS[numbers[0]], word] += int(count)
    return counts


def _hypernym_keys(entry: list[str]) -> Iterator[tuple[PartOfSpeech, str]]:
    # A line of a data file is: offset, file, part of speech, number of words (hexadecimal), a word
    # and an id for each, number of pointers, and symbol, offset, part of speech, ends for each.
    pointers = 4 + 2 * int(entry[3], 16)
    for at in range(pointers + 1, pointers + 1 + 4 * int(entry[pointers]), 4):
        if entry[at] in HYPERNYM_POINTERS:
            yield ("v" if entry[at + 2] == "v" else "n"), entry[at + 1]


def _ragged(lists: Iterable[list[int]]) -> Ragged:
    rows = list(lists)
    return Ragged.of([len(row) for row in rows], list(chain.from_iterable(rows)))


def main() -> None:
    """Build both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument(
        "--copyright", type=Path, default=Path("/usr/share/doc/wordnet-base/copyright")
    )
    parser.add_argument("--out", type=Path, default=DATA)
    options = parser.parse_args()
    packed = pack(read_folder(options.folder))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "wordnet.bin").write_bytes(packed)
    (options.out / "WORDNET-LICENSE").write_text(licence(options.copyright), encoding="utf-8")
    print(f"wordnet.bin: {len(packed)} bytes, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
