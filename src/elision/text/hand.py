"""Event types corrected by hand: a table of sentences and their types, to edit and learn with.

One line a sentence, with tabs between domain, type, sentence and how often it was told. Giving two
types one name merges them, giving some sentences of a type another name splits it, and a sentence
without a type is left out.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from elision._files import shown_path, write_atomically
from elision.errors import FileFormatError, InputError, shown
from elision.text.extract import EventExtractor

if TYPE_CHECKING:
    import os

    from elision.values.corpus import Corpus

__all__ = ["HandTypes", "write_types"]

_COLUMNS = ("domain", "type", "sentence", "times")


class HandTypes:
    """Which type each sentence has.

    Parameters
    ----------
    types
        The type by domain and sentence; None where the sentence is to be left out.

    Examples
    --------
    >>> types = HandTypes({("", "hear the bell"): "ring", ("", "open the door"): "open"})
    >>> import elision as el
    >>> tellings = [el.Narrative(steps=("Hear the bell", "Open the door"))]
    >>> types.labels(el.Corpus(tellings))
    [['ring', 'open']]
    """

    def __init__(self, types: dict[tuple[str, str], str | None]) -> None:
        self._types = {(domain, _key(sentence)): kind for (domain, sentence), kind in types.items()}

    def rows(self) -> list[tuple[str, str, str | None]]:
        """The table: domain, sentence, type."""
        return sorted(((d, s, kind) for (d, s), kind in self._types.items()), key=lambda r: r[:2])

    def labels(self, corpus: Corpus) -> list[list[str | None]]:
        """Return the type of each sentence; those that the table lacks get the likeliest one.

        Raises
        ------
        InputError
            If the table has no sentence of the corpus.
        """
        rows = [[self._types.get((n.domain, _key(s))) for s in n.steps or ()] for n in corpus]
        lacking = [
            (at, place)
            for at, n in enumerate(corpus)
            for place, s in enumerate(n.steps or ())
            if (n.domain, _key(s)) not in self._types
        ]
        if not any(label for row in rows for label in row):
            raise InputError(
                "no sentence of these narratives has a type in the table",
                hint="make the table from them: elision events FILE -o types.tsv",
            )
        if lacking:
            guessed = EventExtractor().fit(corpus, rows).predict(corpus)
            for at, place in lacking:
                rows[at][place] = guessed[at][place]
        return rows

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> HandTypes:
        """Read a table that `write_types` wrote, edited or not.

        Raises
        ------
        FileFormatError
            If it is no such table; the message says where.
        """
        where = shown_path(path)
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise FileFormatError("no utf-8 text", where=where) from None
        except (OSError, ValueError) as error:
            problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            raise FileFormatError(problem, where=where) from None
        try:
            rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
        except csv.Error as error:
            raise FileFormatError(f"no table: {error}", where=where) from None
        header = [name.strip().lower() for name in rows[0]] if rows else []
        if "sentence" not in header or "type" not in header:
            names = ", ".join(map(shown, header[:8])) or "nothing"
            raise FileFormatError(
                f"the columns are {names}, expected {', '.join(_COLUMNS)}",
                where=where,
                hint="elision events FILE -o types.tsv writes such a table",
            )
        types: dict[tuple[str, str], str | None] = {}
        for number, row in enumerate(rows[1:], start=2):
            if not any(cell.strip() for cell in row):
                continue
            cells = dict(zip(header, map(str.strip, row), strict=False))
            if not cells.get("sentence"):
                raise FileFormatError(f"line {number} has no sentence", where=where)
            key = (cells.get("domain", ""), _key(cells["sentence"]))
            kind = cells.get("type") or None
            if types.get(key, kind) != kind:
                problem = f"line {number}: the sentence {shown(cells['sentence'])} has two types"
                raise FileFormatError(problem, where=where, hint="give it one of them")
            types[key] = kind
        return cls(types)


def write_types(
    corpus: Corpus, labels: list[list[str | None]], path: str | os.PathLike[str]
) -> None:
    """Write the table of the sentences of a corpus and their types, most told first."""
    counted: Counter[tuple[str, str, str]] = Counter()
    size: Counter[tuple[str, str]] = Counter()
    for narrative, row in zip(corpus, labels, strict=True):
        for sentence, label in zip(narrative.steps or (), row, strict=True):
            counted[narrative.domain, label or "", " ".join(sentence.split())] += 1
            size[narrative.domain, label or ""] += 1
    domains = {domain: number for number, domain in enumerate(corpus.domains)}
    seen: dict[tuple[str, str], str] = {}
    lines = ["\t".join(_COLUMNS)]
    ranked = sorted(
        counted.items(),
        key=lambda item: (
            domains[item[0][0]],
            not item[0][1],
            -size[item[0][:2]],
            item[0][1],
            -item[1],
        ),
    )
    for (domain, label, sentence), times in ranked:
        # One line a sentence: of two types that share its words, the one told oftener.
        if seen.setdefault((domain, _key(sentence)), label) == label:
            lines.append("\t".join((domain, label, sentence, str(times))))
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def _key(sentence: str) -> str:
    return " ".join(sentence.split()).casefold()
