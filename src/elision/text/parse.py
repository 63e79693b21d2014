"""From a short sentence to the event it tells: verb, particle, object.

The parser is a set of rules over WordNet's words. It is made for the sentences people write when
they list what happens, one event at a time: orders ("Walk to the door."), reports ("John walked to
the door") and jottings ("cake in oven").
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from elision.text import lexicon
from elision.text._grammar import Grammar
from elision.text._words import TOKEN, Dictionary
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from re import Match

    from elision.text._phrases import Reading
    from elision.text._words import Word

_CLOSING = {"(": ")", '"': '"', "“": "”", "'": "'", "‘": "’"}


class Clause(NamedTuple):
    """What a sentence tells, as lower-case lemmas; empty strings where there is nothing.

    Parameters
    ----------
    verb
        The verb that counts: ``lock`` in "don't forget to lock the door".
    particle
        ``off`` in "take your coat off".
    object
        Head noun of the direct object, else of the first prepositional object. Pronouns and times
        do not count.
    text
        The clause as it was written.

    Examples
    --------
    >>> parse("take your coat off").particle
    'off'
    """

    verb: str
    particle: str
    object: str
    text: str


def parse(sentence: str) -> Clause:
    """Return the first event that a sentence tells; it never fails, whatever the text.

    Parameters
    ----------
    sentence
        Any text; short sentences are what the rules are made for.

    Examples
    --------
    >>> parse("don't forget to lock the door")
    Clause(verb='lock', particle='', object='door', text='forget to lock the door')
    >>> parse("When the water boils, add a cup of rice.")[:3]
    ('add', '', 'rice')
    """
    tokens, words = _analysed(sentence)
    wordnet = WordNet.load()
    clauses = Grammar(words, wordnet).clauses()
    start, end = clauses[0]
    reading = Grammar(words[start:end], wordnet).read()
    found = reading.direct or reading.oblique
    for begin, stop in clauses[1:]:
        if found or not _shares_object(reading, words[start:end]):
            break
        found = Grammar(words[begin:stop], wordnet).read().direct
    return Clause(reading.verb, reading.particle, found, _text(sentence, tokens[start:end]))


def split(sentence: str) -> list[str]:
    """Return the parts of a sentence that tell one event each, without what joins them.

    Examples
    --------
    >>> split("Next, pick a melon and put it in the basket.")
    ['pick a melon', 'put it in the basket']
    """
    tokens, words = _analysed(sentence)
    clauses = Grammar(words, WordNet.load()).clauses()
    return [part for part in (_text(sentence, tokens[a:b]) for a, b in clauses) if part]


@cache
def _dictionary() -> Dictionary:
    return Dictionary(WordNet.load())


def _analysed(sentence: str) -> tuple[list[Match[str]], list[Word]]:
    tokens = list(TOKEN.finditer(sentence))
    if not _CLOSING.keys().isdisjoint(sentence):
        tokens = _without_asides(tokens)
    dictionary = _dictionary()
    return tokens, [dictionary[token[0]] for token in tokens]


def _without_asides(tokens: list[Match[str]]) -> list[Match[str]]:
    """Leave out what stands between parentheses or quotation marks, unless nothing else is left."""
    last = {token[0]: at for at, token in enumerate(tokens)}
    kept: list[Match[str]] = []
    closing: str | None = None
    for at, token in enumerate(tokens):
        if closing is not None:
            closing = None if token[0] == closing else closing
        elif last.get(_CLOSING.get(token[0], ""), 0) > at and not _is_apostrophe(token):
            closing = _CLOSING[token[0]]
        else:
            kept.append(token)
    return kept or tokens


def _is_apostrophe(token: Match[str]) -> bool:
    """Tell "my parents' house" from 'a quotation'."""
    begins = token.start() == 0 or token.string[token.start() - 1].isspace()
    return token[0] == "'" and not begins


def _shares_object(reading: Reading, words: list[Word]) -> bool:
    """Say whether the object may stand in the next clause: "wash and dry the dishes"."""
    transitive = reading.verb not in lexicon.INTRANSITIVES
    return transitive and bool(words) and words[-1].verb == reading.verb


def _text(sentence: str, tokens: list[Match[str]]) -> str:
    last = next((one for one in reversed(tokens) if one[0][-1].isalnum()), None)
    return sentence[tokens[0].start() : last.end()] if last else ""
