"""What "it" and "them" stand for in running text, where that is safe to say.

Only a pronoun that something is done to is looked at: "folded them", "switched it on", and neither
"because it was sunny" nor "put soap in it". It stands for what the part before did something to, if
that is a thing and agrees in number. Verbs of operating ("start", "switch on", "close") take what
was named last and can be operated: in "put the things into the dryer and started it" the dryer.
Where nothing fits, the pronoun stays what it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from elision.text import lexicon
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from elision.text.parse import Clause, Parser

__all__ = ["Mentions"]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENSES = 3  # of a noun that count for what it is
_RECENT = 3  # parts among which something to operate is looked for
# Verbs of operating, by the particles that make them such; none where they are so alone.
_OPERATING = {
    "start": ("", "up"),
    "stop": ("",),
    "run": ("",),
    "switch": ("on", "off"),
    "turn": ("on", "off", "up", "down"),
    "shut": ("", "off", "down"),
    "plug": ("in",),
    "unplug": ("",),
    "open": ("", "up"),
    "close": ("", "up"),
    "lock": ("", "up"),
    "unlock": ("",),
    "fill": ("", "up"),
    "empty": ("",),
}
_OPENED = frozenset({"open", "close", "shut", "lock", "unlock", "fill", "empty"})
# WordNet's words for what can be operated, for what can be opened besides, and for all things.
_DEVICES = ("device", "appliance", "motor vehicle", "electronic equipment", "kitchen utensil")
_THINGS = ("physical entity",)
_OPENABLE = ("movable barrier", "container", "window")


class _Noun(NamedTuple):
    name: str
    plural: bool


class Mentions:
    """The things that a text has named so far, part by part.

    Parameters
    ----------
    parser
        What finds verbs and objects.

    Examples
    --------
    >>> from elision.text.parse import RuleParser
    >>> mentions = Mentions(RuleParser())
    >>> mentions.resolved("put the wet things into the dryer"), mentions.resolved("started it")
    ('put the wet things into the dryer', 'started the dryer')
    >>> mentions.resolved("went home because it was sunny")
    'went home because it was sunny'
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._acted_upon: _Noun | None = None
        self._recent: list[list[_Noun]] = []

    def forget(self) -> None:
        """Let nothing that was named before be what a pronoun stands for."""
        self._acted_upon = None
        self._recent.clear()

    def resolved(self, part: str) -> str:
        """Return a part with the noun for its pronoun, if that is known, and remember the part."""
        clause = self._parser.parse(part)
        words = list(_WORD.finditer(part))
        lower = [word[0].lower() for word in words]
        verb = _place_of_verb(lower, clause)
        at = _object_pronoun(lower, verb, clause)
        found = None
        if at is not None:
            found = self._antecedent(clause, plural=lower[at] == "them")
        else:
            self._acted_upon = _direct(lower, verb, clause)
        self._recent = [*self._recent, _nouns(lower, verb)][-_RECENT:]
        if at is None or found is None:
            return part
        return f"{part[: words[at].start()]}the {found.name}{part[words[at].end() :]}"

    def _antecedent(self, clause: Clause, *, plural: bool) -> _Noun | None:
        last = self._acted_upon
        if clause.particle in _OPERATING.get(clause.verb, ()):
            kinds = _DEVICES + (_OPENABLE if clause.verb in _OPENED else ())
            if last and last.plural == plural and _is_a(last.name, kinds):
                return last
            recent = [one for part in self._recent for one in part if one.plural == plural]
            return next((one for one in reversed(recent) if _is_a(one.name, kinds)), None)
        return last if last and last.plural == plural and _is_a(last.name, _THINGS) else None


def _place_of_verb(words: list[str], clause: Clause) -> int:
    """Where the verb stands; -1 if that is not known."""
    wordnet = WordNet.load()
    forms = (
        at
        for at, word in enumerate(words)
        if clause.verb and clause.verb in {word, wordnet.lemma(word, "v")}
    )
    return next(forms, -1)


def _object_pronoun(words: list[str], verb: int, clause: Clause) -> int | None:
    """Where "it" or "them" stands as what something is done to: right behind the verb."""
    if verb < 0:
        return None
    at = verb + 1
    if at < len(words) and words[at] == clause.particle:
        at += 1
    if at >= len(words) or words[at] not in {"it", "them"}:
        return None
    after = words[at + 1] if at + 1 < len(words) else ""
    return None if after in lexicon.AUXILIARIES else at


def _direct(words: list[str], verb: int, clause: Clause) -> _Noun | None:
    """The direct object of a part: a single one, before any prepositional phrase."""
    if not lexicon.CONJUNCTIONS.isdisjoint(words):
        return None
    for at in range(verb + 1, len(words)):
        if words[at] in lexicon.PREPOSITIONS - lexicon.PARTICLES:
            return None
        noun = _noun(words, at)
        if noun and clause.object in {words[at], WordNet.load().lemma(words[at], "n")}:
            return noun
    return None


def _nouns(words: list[str], verb: int) -> list[_Noun]:
    found = (_noun(words, at) for at in range(verb + 1, len(words)))
    return [one for one in found if one]


def _noun(words: list[str], at: int) -> _Noun | None:
    """The noun at a place, with the one before it if the two are one: "washing machine"."""
    wordnet = WordNet.load()
    lemma = wordnet.lemma(words[at], "n")
    if not lemma or words[at] in lexicon.CLOSED:
        return None
    plural = lemma != words[at] or words[at] in lexicon.PLURAL_ONLY
    pair = f"{words[at - 1]}_{lemma}" if at else ""
    name = f"{words[at - 1]} {words[at]}" if wordnet.knows(pair, "n") else words[at]
    return _Noun(name, plural)


@cache
def _is_a(name: str, kinds: tuple[str, ...]) -> bool:
    """Say whether a noun in one of its first senses is one of some kinds of things."""
    wordnet = WordNet.load()
    above = {one for kind in kinds for one in wordnet.synsets(kind.replace(" ", "_"), "n")[:2]}
    lemma = wordnet.lemma(name, "n") or ""
    senses = wordnet.synsets(lemma, "n")[:_SENSES]
    return any(not above.isdisjoint(wordnet.ancestors(sense)) for sense in senses)
