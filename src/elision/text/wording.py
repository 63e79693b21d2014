"""Sentences as wordings: what is said, told apart from who said it and when.

Two sentences that tell the same verb, particle, object and content words are one *wording*. All
that comes later works on distinct wordings and on how often, where and by whom each was told, so
that ten people who write "open the door" cost no more than one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.text import lexicon
from elision.text.parse import parse
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from elision.values.narrative import Narrative

__all__ = [
    "MEANT",
    "PLACES",
    "Told",
    "Wording",
    "content_words",
    "gather",
    "meanings",
    "read_wording",
]

PLACES = 10
"""Positions in a telling are rounded to tenths: sums over them are then exact."""

MEANT = "meant"
"""Field of a narrative with what sentences mean whose pronouns were resolved, by sentence."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Closed-class words that tell events apart all the same.
_DIRECTIONS = frozenset({"on", "off", "in", "out", "up", "down", "back", "away"})
_SKIPPED = lexicon.CLOSED - _DIRECTIONS


class Wording(NamedTuple):
    """One distinct way to tell an event.

    Parameters
    ----------
    verb, particle, object
        As the parser gives them.
    words
        Lemmas of the content words, in order.
    text
        The first sentence that was told so; two wordings that differ only here are the same.

    Examples
    --------
    >>> read_wording("She turned the light off.").words
    ('turn', 'light', 'off')
    """

    verb: str
    particle: str
    object: str
    words: tuple[str, ...]
    text: str

    @property
    def key(self) -> tuple[str, str, str, tuple[str, ...]]:
        """What makes two wordings the same."""
        return self[:4]


def content_words(sentence: str) -> tuple[str, ...]:
    """Return the lemmas of the words that say something, in order; never nothing.

    Closed-class words count only where there are no others, and a sentence without any word (an
    emoji) stands for itself.

    Examples
    --------
    >>> content_words("Then she walked to the doors.")
    ('walk', 'door')
    >>> content_words("🔔"), content_words("it is")
    (('🔔',), ('it', 'is'))
    """
    tokens = [match[0].lower() for match in _WORD.finditer(sentence)]
    telling = [token for token in tokens if token not in _SKIPPED]
    return tuple(map(_lemma, telling)) or tuple(tokens) or (sentence.strip(),)


def _lemma(word: str) -> str:
    """Reduce a word to the verb or the noun that it more often is."""
    if word in _DIRECTIONS:
        return word
    wordnet = WordNet.load()
    verb, noun = wordnet.lemma(word, "v"), wordnet.lemma(word, "n")
    if verb and (not noun or wordnet.frequency(verb, "v") >= wordnet.frequency(noun, "n")):
        return verb
    return noun or word


def read_wording(sentence: str, meant: str | None = None) -> Wording:
    """Return the wording of a sentence.

    ``meant`` is the sentence with nouns for its pronouns, where these are known: it says what the
    object is, and the words stay those of the sentence.

    Examples
    --------
    >>> wording = read_wording("switched it on", "switched the washer on")
    >>> wording.object, wording.words, wording.text
    ('washer', ('switch', 'on'), 'switched it on')
    """
    clause = parse(meant or sentence)
    return Wording(clause.verb, clause.particle, clause.object, content_words(sentence), sentence)


def meanings(narrative: Narrative) -> Mapping[str, str]:
    """Return what sentences of a narrative mean, where something says so."""
    found = narrative.extra.get(MEANT)
    if not isinstance(found, Mapping):
        return {}
    return {said: meant for said, meant in found.items() if isinstance(meant, str)}


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The distinct wordings of some tellings, and how they were told.

    Parameters
    ----------
    wordings
        In the order in which they were first told.
    place
        The wording of each sentence, end to end, shape (sentences,).
    tellings
        How often each telling uses each wording, sparse, shape (wordings, tellings).
    positions
        How often each wording stands at each tenth of a telling, shape (wordings, 11).
    lengths
        How many sentences each telling has.
    """

    wordings: list[Wording]
    place: NDArray[np.int64]
    tellings: sparse.csr_array
    positions: NDArray[np.float64]
    lengths: NDArray[np.int64]

    @property
    def count(self) -> NDArray[np.float64]:
        """How often each wording was told."""
        return np.asarray(self.positions.sum(axis=1))


def gather(narratives: Sequence[Sequence[Wording]]) -> Told:
    """Return the distinct wordings of some tellings.

    Parameters
    ----------
    narratives
        One list of wordings a telling.

    Examples
    --------
    >>> tell = [["hear bell", "open door"], ["open the door"]]
    >>> told = gather([[read_wording(s) for s in steps] for steps in tell])
    >>> [wording.text for wording in told.wordings], told.place.tolist()
    (['hear bell', 'open door'], [0, 1, 1])
    """
    from scipy import sparse  # noqa: PLC0415 - slow, and no question to a script comes here

    found: dict[object, int] = {}
    wordings: list[Wording] = []
    place: list[int] = []
    teller: list[int] = []
    tenth: list[int] = []
    for number, steps in enumerate(narratives):
        for position, wording in enumerate(steps):
            slot = found.setdefault(wording.key, len(found))
            if slot == len(wordings):
                wordings.append(wording)
            place.append(slot)
            teller.append(number)
            tenth.append(_tenth(position, len(steps)))
    at = np.array(place, np.int64)
    ones = np.ones(len(at))
    shape = (len(wordings), len(narratives))
    tellings = sparse.coo_array((ones, (at, np.array(teller, np.int64))), shape=shape).tocsr()
    positions = np.zeros((len(wordings), PLACES + 1))
    np.add.at(positions, (at, np.array(tenth, np.int64)), 1.0)
    lengths = np.array([len(steps) for steps in narratives], np.int64)
    return Told(wordings, at, tellings, positions, lengths)


def _tenth(position: int, length: int) -> int:
    if length == 1:
        return PLACES // 2
    return (2 * PLACES * position + length - 1) // (2 * (length - 1))


def distinct(items: Iterable[str]) -> list[str]:
    """Return each item once, in order of first appearance."""
    return list(dict.fromkeys(items))
