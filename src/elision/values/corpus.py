"""Corpora of narratives: immutable values that can be picked, split and written."""

from __future__ import annotations

import difflib
import gzip
import math
import operator
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, overload

import msgspec
import numpy as np

from elision import logs
from elision._backends import is_frame
from elision._files import write_atomically
from elision.errors import InputError, counted, relocated, shown
from elision.values.narrative import FIELDS, NO_EVENTS_HINT, Narrative, check_text, checked_strings

__all__ = ["Corpus"]


class Corpus(Sequence[Narrative]):
    """An immutable sequence of narratives, perhaps of several domains.

    Parameters
    ----------
    narratives
        The narratives, in order.

    Examples
    --------
    >>> corpus = Corpus.of([["hear", "walk", "open"], ["hear", "open"]], domain="doorbell")
    >>> corpus
    <Corpus: 2 narratives, 1 domain ('doorbell'), 3 event types>
    >>> corpus.vocabulary
    ('hear', 'open', 'walk')
    >>> corpus[1].events
    ('hear', 'open')
    """

    __slots__ = ("_narratives",)

    def __init__(self, narratives: Iterable[Narrative] = ()) -> None:
        self._narratives = tuple(narratives)
        for index, narrative in enumerate(self._narratives):
            if not isinstance(narrative, Narrative):
                raise InputError(
                    f"{shown(narrative)} is not a Narrative",
                    where=f"narratives[{index}]",
                    hint="use Corpus.of for lists of strings",
                )

    @classmethod
    def of(cls, narratives: Iterable[Iterable[str]], domain: str = "") -> Corpus:
        """Return the corpus of some lists of event types.

        Parameters
        ----------
        narratives
            One list of event types a narrative.
        domain
            The activity they tell.

        Returns
        -------
        Corpus
            With the position of each narrative as its id.

        Raises
        ------
        InputError
            Where a narrative is not a list of non-empty strings.

        Examples
        --------
        >>> Corpus.of([["hear", "open"], ["open"]]).events
        [('hear', 'open'), ('open',)]
        """
        if is_frame(narratives):
            problem = "a data frame came, expected a list of lists of strings"
            raise InputError(problem, hint="read it first: el.read(frame) makes a corpus of it")
        if not isinstance(narratives, Iterable) or isinstance(narratives, str | bytes | Mapping):
            raise InputError(f"{shown(narratives)} is not a list of lists of strings")
        check_text(domain, "domain")
        made = []
        for index, events in enumerate(narratives):
            try:
                made.append(Narrative(checked_strings(events, "events"), None, domain, str(index)))
            except InputError as error:
                raise relocated(error, f"narratives[{index}]") from None
        return cls(made)

    def __len__(self) -> int:
        return len(self._narratives)

    def __iter__(self) -> Iterator[Narrative]:
        return iter(self._narratives)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Narrative: ...
    @overload
    def __getitem__(self, index: slice) -> Corpus: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Narrative | Corpus:
        if isinstance(index, slice):
            return Corpus(self._narratives[index])
        return self._narratives[index]

    def __eq__(self, other: object) -> bool:
        return (
            self._narratives == other._narratives if isinstance(other, Corpus) else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self._narratives)

    def __reduce__(self) -> tuple[type[Corpus], tuple[tuple[Narrative, ...]]]:
        return Corpus, (self._narratives,)

    def __repr__(self) -> str:
        named = ", ".join(map(repr, self.domains[:3])) + (", …" if len(self.domains) > 3 else "")
        told = [narrative.events for narrative in self if narrative.events is not None]
        types = "no events yet" if not told else counted(len(_types(told)), "event type")
        if 0 < len(told) < len(self):
            types += f" in {len(told)} of them"
        parts = [counted(len(self), "narrative"), counted(len(self.domains), "domain"), types]
        if named:
            parts[1] += f" ({named})"
        return f"<Corpus: {', '.join(parts)}>" if len(self) else "<Corpus: empty>"

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains, in order of first appearance."""
        return tuple(dict.fromkeys(narrative.domain for narrative in self))

    def by_domain(self) -> dict[str, Corpus]:
        """Return the narratives of each domain, in order of first appearance.

        Examples
        --------
        >>> corpus = Corpus([Narrative(("ring",), domain="a"), Narrative(("boil",), domain="b")])
        >>> {name: len(part) for name, part in corpus.by_domain().items()}
        {'a': 1, 'b': 1}
        """
        parts: dict[str, list[Narrative]] = {}
        for narrative in self:
            parts.setdefault(narrative.domain, []).append(narrative)
        return {name: Corpus(part) for name, part in parts.items()}

    def domain(self, name: str) -> Corpus:
        """Return the narratives of one domain.

        Parameters
        ----------
        name
            The domain.

        Raises
        ------
        InputError
            Where no narrative is of that domain; names those that are spelt alike.

        Examples
        --------
        >>> len(Corpus.of([["ring"], ["ring", "open"]], domain="doorbell").domain("doorbell"))
        2
        """
        part = [narrative for narrative in self if narrative.domain == name]
        if not part:
            near = difflib.get_close_matches(str(name), self.domains, n=3)
            known = near or self.domains[:8]
            listed = ", ".join(map(repr, known)) + (", …" if len(known) < len(self.domains) else "")
            raise InputError(
                f"no domain {shown(name)} in this corpus",
                hint=f"did you mean {listed}?" if near else f"it has {listed or 'no narratives'}",
            )
        return Corpus(part)

    @property
    def has_events(self) -> bool:
        """Whether the events of every narrative are known."""
        return all(narrative.events is not None for narrative in self)

    @property
    def events(self) -> list[tuple[str, ...]]:
        """The event types of each narrative; an InputError where only sentences are known."""
        return self._told("events", NO_EVENTS_HINT)

    @property
    def steps(self) -> list[tuple[str, ...]]:
        """The sentences of each narrative; an InputError where only event types are known."""
        return self._told("steps", "this corpus gives events; use .events")

    def _told(self, name: str, hint: str) -> list[tuple[str, ...]]:
        told = [getattr(narrative, name) for narrative in self]
        if None in told:
            index = told.index(None)
            raise InputError(
                f"it has no {name}",
                where=f"narratives[{index}] (id {shown(self[index].id)})",
                hint=hint,
            )
        return told

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The event types, sorted."""
        return tuple(sorted(_types(self.events)))

    def filter(self, *, min_events: int) -> Corpus:
        """Return the narratives that are long enough.

        Parameters
        ----------
        min_events
            The least number of events; of sentences where the events are not known yet.

        Examples
        --------
        >>> len(Corpus.of([["ring"], ["ring", "open"]]).filter(min_events=2))
        1
        """
        return Corpus(narrative for narrative in self if narrative.length >= min_events)

    def split(self, test: float = 0.4, *, random_state: int = 0) -> tuple[Corpus, Corpus]:
        """Split each domain by chance into narratives to learn from and narratives to test on.

        The part that a narrative falls in depends on the seed, the name of its domain and its
        place among the narratives of that domain, and on nothing else: not on the other domains,
        the machine or the version of numpy.

        Parameters
        ----------
        test
            The share to test on, above 0 and below 1. In each domain the number is rounded, halves
            up, and at least one narrative is left to learn from.
        random_state
            The seed, 0 or above.

        Returns
        -------
        train, test : Corpus
            Both in the order of this corpus.

        Raises
        ------
        InputError
            Where the share or the seed is out of range.

        Examples
        --------
        >>> corpus = Corpus.of([["ring"], ["ring", "open"], ["open"], ["walk"], ["hear"]])
        >>> train, test = corpus.split(0.4, random_state=0)
        >>> [narrative.id for narrative in test]
        ['2', '3']
        """
        seed = _checked_split(test, random_state)
        places: dict[str, list[int]] = {}
        for index, narrative in enumerate(self):
            places.setdefault(narrative.domain, []).append(index)
        chosen: set[int] = set()
        for name, indices in places.items():
            count = min(math.floor(test * len(indices) + 0.5), len(indices) - 1)
            chosen.update(indices[place] for place in _shuffled(len(indices), seed, name)[:count])
        train = Corpus(narrative for index, narrative in enumerate(self) if index not in chosen)
        return train, Corpus(self[index] for index in sorted(chosen))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object a line, so that `elision.read` gives this corpus again.

        The file appears whole or not at all: it is written beside its place under a temporary
        name and then renamed.

        Parameters
        ----------
        path
            The file to write, packed with gzip if its name ends in .gz; a file that is there
            already is replaced.

        Raises
        ------
        InputError
            Where the place cannot be written, or a value cannot be put in JSON.

        Examples
        --------
        >>> import tempfile
        >>> from elision.io import read
        >>> corpus = Corpus.of([["hear", "open"]], domain="doorbell")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     corpus.to_jsonl(f"{folder}/stories.jsonl")
        ...     read(f"{folder}/stories.jsonl") == corpus
        True
        """
        encode = msgspec.json.Encoder().encode
        lines = []
        for index, narrative in enumerate(self):
            record = {name: getattr(narrative, name) for name in FIELDS}
            stated = {name: value for name, value in record.items() if value is not None}
            try:
                lines.append(encode(stated | dict(narrative.extra)))
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                raise InputError(
                    f"cannot be written as JSON: {error}",
                    where=f"narratives[{index}] (id {shown(narrative.id)})",
                ) from None
        content = b"\n".join([*lines, b""])
        target = _regular(path)
        packed = str(os.fspath(path)).endswith(".gz")
        # Without the time of writing, so that the same corpus makes the same bytes.
        write_atomically(target, gzip.compress(content, mtime=0) if packed else content)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return an event log: a row an event, with the columns that process mining knows.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".

        Returns
        -------
        frame
            With `case:concept:name`, `concept:name`, `domain` and `step` where there are such, and
            extra fields; `elision.read` gives this corpus again, but for narratives without events.

        Raises
        ------
        InputError
            Where only sentences are known, or the library is not installed.

        Examples
        --------
        >>> Corpus.of([["hear", "open"]], domain="doorbell").to_frame()
          case:concept:name    domain concept:name
        0                 0  doorbell         hear
        1                 0  doorbell         open
        """
        return logs.frames.converted(logs.log.narratives_frame(self)[0], backend)


def _regular(path: str | os.PathLike[str]) -> Path:
    """Return the file to replace: behind a link, and never a device or a folder."""
    try:
        target = Path(os.path.realpath(path))
        usable = target.is_file() or not target.exists()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {error}", where=str(os.fspath(path))) from None
    if not usable:
        problem = "cannot be written: there is something other than a file"
        raise InputError(problem, where=str(os.fspath(path)))
    return target


def _types(narratives: Iterable[Iterable[str]]) -> set[str]:
    return set().union(*narratives)


def _checked_split(test: float, random_state: int) -> int:
    """Return the seed, once share and seed are known to be usable."""
    if not isinstance(test, int | float) or not 0 < test < 1:
        raise InputError(f"test={shown(test)}; expected a share above 0 and below 1")
    try:
        seed = operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0 or isinstance(random_state, bool):
        raise InputError(f"random_state={shown(random_state)}; expected a whole number, 0 or above")
    return seed


def _shuffled(count: int, seed: int, name: str) -> list[int]:
    """Return the places 0..count-1 in an order that hangs on the seed and the name only."""
    entropy = [seed, zlib.crc32(name.encode("utf-8", "surrogatepass"))]
    # numpy promises the raw bits for ever; Generator.permutation it may change.
    keys = np.random.PCG64(np.random.SeedSequence(entropy)).random_raw(count)
    order: list[int] = np.argsort(keys, kind="stable").tolist()
    return order
