"""The scripts of the page, each under a name that a link can hold."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from elision import ask, values
from elision.files.library import free_name
from elision.show.words import cleaned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from elision.ask.identify import Identification
    from elision.ask.sentences import Part
    from elision.serve.tellings import Tellings
    from elision.values.library import Library
    from elision.values.script import Script

MOST_LEARNED = 20
"""Learned scripts that are held; the oldest goes first."""

LONGEST_SENTENCE = 1000
"""Characters of a line that is still taken for a sentence."""

LONGEST_NAME = 200
HEARD, REMEMBERED = 4096, 64
"""Sentences and drawings that each script remembers."""

Found = TypeVar("Found")


class Held:
    """A script on the shelf."""

    def __init__(
        self,
        number: str,
        name: str,
        script: Script,
        *,
        learned: bool = False,
        source: str = "",
        tellings: Tellings | None = None,
    ) -> None:
        self.id = number
        self.name = name
        self.learned = learned
        self.source = source
        self.tellings = tellings
        self.script = script
        self._lock = Lock()
        self._remembered: dict[tuple[object, ...], object] = {}
        self._heard: Callable[[str], tuple[Part, ...]] = lru_cache(HEARD)(self._hear)

    @cached_property
    def known(self) -> frozenset[str]:
        """The events of the script."""
        return frozenset(self.script.events)

    @cached_property
    def spelt(self) -> dict[str, str]:
        """The events by how people may write them, and by sentences that were kept for them."""
        outline = self.script.made_from
        kept = (
            {folded(said): step.event for step in outline.steps for said in step.wording}
            if outline
            else {}
        )
        return {**kept, **{folded(event): event for event in reversed(self.script.events)}}

    @cached_property
    def hears_sentences(self) -> bool:
        """Whether the script was learned from sentences."""
        return "extractor" in self.script.about

    @cached_property
    def goes_by_words(self) -> bool:
        """Whether gaps between sentences are filled by the words of these, too."""
        telling = self.script.telling
        return self.hears_sentences and telling is not None and telling.near_words is not None

    def remember(self, key: tuple[object, ...], make: Callable[[], Found]) -> Found:
        """Return what was made for this key before, or make it."""
        with self._lock:
            if key in self._remembered:
                return cast("Found", self._remembered[key])
        made = make()
        with self._lock:
            self._remembered[key] = made
            if len(self._remembered) > REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
        return made

    def content(self) -> bytes:
        """Return the bytes of the script's file."""
        with TemporaryDirectory(prefix="elision-") as folder:
            path = Path(folder) / "script.json"
            self.script.save(path)
            return path.read_bytes()

    def sentence(self, text: str) -> tuple[Part, ...]:
        """What the parts of a sentence stand for or deny; none if no sentence is understood."""
        if not self.hears_sentences or len(text) > LONGEST_SENTENCE:
            return ()
        with self._lock:
            return self._heard(text)

    def _hear(self, text: str) -> tuple[Part, ...]:
        return tuple(ask.sentences.parts(self.script, text))


class Shelf:
    """Scripts in the order in which they came.

    Examples
    --------
    >>> import elision as el
    >>> shelf = Shelf()
    >>> shelf.add(el.examples.doorbell(), "Answering the door!").id
    'answering-the-door'
    """

    def __init__(self) -> None:
        self._held: dict[str, Held] = {}
        self._used: set[str] = set()
        self._library: Library | None = None
        self.lock = Lock()
        """For whoever asks the library, which remembers what it was asked."""

    def __iter__(self) -> Iterator[Held]:
        return iter([*self._held.values()])

    def __len__(self) -> int:
        return len(self._held)

    def get(self, number: str) -> Held | None:
        """Return the script of this id, if there is one."""
        return self._held.get(number)

    def add(
        self,
        script: Script,
        name: str,
        *,
        learned: bool = False,
        source: str = "",
        tellings: Tellings | None = None,
    ) -> Held:
        """Put a script on the shelf; one whose name is taken gets a number behind it.

        ``source`` is where it comes from, ``tellings`` are those that are shown beside it.
        """
        title = free_name(cleaned(name)[:LONGEST_NAME], {held.name for held in self})
        held = Held(
            self._free_id(title), title, script, learned=learned, source=source, tellings=tellings
        )
        self._held[held.id] = held
        old = [one.id for one in self._held.values() if one.learned][:-MOST_LEARNED]
        for number in old:
            del self._held[number]
        self._library = None
        return held

    def identify(self, telling: list[str | None]) -> Identification:
        """Say which of the scripts a telling is of, by their ids."""
        with self.lock:
            return self.library().identify(telling)

    def library(self) -> Library:
        """Return all scripts by their ids, to be asked by the holder of the lock."""
        if self._library is None:
            self._library = values.library.Library({held.id: held.script for held in self})
        return self._library

    def _free_id(self, name: str) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:60] or "script"
        found, number = slug, 1
        while found in self._used:  # also of scripts that are gone: links must not change meaning
            number += 1
            found = f"{slug}-{number}"
        self._used.add(found)
        return found


def folded(text: str) -> str:
    """Return a text without capitals, underscores and final marks.

    Examples
    --------
    >>> folded("Open_Door.")
    'open door'
    """
    return " ".join(text.casefold().replace("_", " ").split()).rstrip(".!")


def title_of(script: Script, otherwise: str) -> str:
    """Return the activity that a script notes, or else another name."""
    noted = (script.about.get(key) for key in ("activity", "domain"))
    return next((text for text in noted if isinstance(text, str) and text.strip()), otherwise)
