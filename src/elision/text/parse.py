"""From a short sentence to the event it tells: verb, particle, object.

The parser is a set of rules over WordNet's words. It is made for the sentences people write when
they list what happens, one event at a time: orders ("Walk to the door."), reports ("John walked to
the door") and jottings ("cake in oven"). Plug in another one through :class:`Parser`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from elision.text import lexicon
from elision.text._grammar import Grammar
from elision.text._words import TOKEN, Dictionary
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Match

    from elision.text._phrases import Reading
    from elision.text._words import Word

__all__ = ["Clause", "Parser", "RuleParser", "SpacyParser", "parse", "split"]

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


class Parser(Protocol):
    """What the rest of Elision needs of a parser.

    Examples
    --------
    >>> parser: Parser = RuleParser()
    >>> parser.parse("hear the bell").verb
    'hear'
    """

    def parse(self, sentence: str) -> Clause:
        """Return the first event that the sentence tells."""
        ...

    def split(self, sentence: str) -> list[str]:
        """Return the parts of the sentence that tell one event each."""
        ...


class RuleParser:
    """The parser by rules.

    Parameters
    ----------
    wordnet
        The lexicon; the one that comes with the package if None.

    Examples
    --------
    >>> RuleParser().parse("When the water boils, add a cup of rice.")
    Clause(verb='add', particle='', object='rice', text='add a cup of rice')
    """

    def __init__(self, wordnet: WordNet | None = None) -> None:
        self._wordnet = wordnet or WordNet.load()
        self._dictionary = Dictionary(self._wordnet)

    def parse(self, sentence: str) -> Clause:
        """Return the first event that the sentence tells; it never fails, whatever the text.

        Examples
        --------
        >>> RuleParser().parse("John walked to the door")[:3]
        ('walk', '', 'door')
        """
        tokens, words = self._analyse(sentence)
        clauses = Grammar(words, self._wordnet).clauses()
        start, end = clauses[0]
        reading = Grammar(words[start:end], self._wordnet).read()
        found = reading.direct or reading.oblique
        for begin, stop in clauses[1:]:
            if found or not _shares_object(reading, words[start:end]):
                break
            found = Grammar(words[begin:stop], self._wordnet).read().direct
        return Clause(reading.verb, reading.particle, found, _text(sentence, tokens[start:end]))

    def split(self, sentence: str) -> list[str]:
        """Return the parts of the sentence that tell one event each, without what joins them.

        Examples
        --------
        >>> RuleParser().split("Next, pick a melon and put it in the basket.")
        ['pick a melon', 'put it in the basket']
        """
        tokens, words = self._analyse(sentence)
        parts = (_text(sentence, tokens[a:b]) for a, b in Grammar(words, self._wordnet).clauses())
        return [part for part in parts if part]

    def _analyse(self, sentence: str) -> tuple[list[Match[str]], list[Word]]:
        tokens = list(TOKEN.finditer(sentence))
        if not _CLOSING.keys().isdisjoint(sentence):
            tokens = _without_asides(tokens)
        dictionary = self._dictionary
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


class SpacyParser:
    """A parser that asks a spaCy pipeline (or anything whose tokens look like spaCy's).

    Parameters
    ----------
    nlp
        The loaded pipeline, with a tagger, a dependency parser and a lemmatiser. Elision neither
        needs nor installs spaCy.

    Examples
    --------
    >>> from types import SimpleNamespace as Token
    >>> root = Token(dep_="ROOT", pos_="VERB", lemma_="wait", children=[])
    >>> SpacyParser(lambda sentence: [root]).parse("Wait!").verb
    'wait'
    """

    def __init__(self, nlp: Callable[[str], Iterable[Any]]) -> None:
        self._nlp = nlp

    def parse(self, sentence: str) -> Clause:
        """Return the event of the root of the dependency tree."""
        tokens = list(self._nlp(sentence))
        root = next((token for token in tokens if token.dep_ == "ROOT"), None)
        if root is None:
            return Clause("", "", "", sentence)
        if root.pos_ not in {"VERB", "AUX"}:
            return Clause("", "", root.lemma_.lower(), sentence)
        children = {token.dep_: token for token in reversed(list(root.children))}
        particle = children["prt"].lemma_.lower() if "prt" in children else ""
        nouns = [children[dep] for dep in ("dobj", "obj", "nsubjpass") if dep in children]
        nouns += [token for token in tokens if token.dep_ == "pobj" and token.head.head is root]
        heads = (noun.lemma_.lower() for noun in nouns if noun.pos_ != "PRON")
        return Clause(root.lemma_.lower(), particle, next(heads, ""), sentence)

    def split(self, sentence: str) -> list[str]:
        """Return the sentence: a tree of dependencies does not say where to cut."""
        return [sentence]


@cache
def _default() -> RuleParser:
    return RuleParser()


def parse(sentence: str) -> Clause:
    """Return the first event that a sentence tells, by the rules.

    Parameters
    ----------
    sentence
        Any text; short sentences are what the rules are made for.

    Examples
    --------
    >>> parse("don't forget to lock the door")
    Clause(verb='lock', particle='', object='door', text='forget to lock the door')
    """
    return _default().parse(sentence)


def split(sentence: str) -> list[str]:
    """Return the parts of a sentence that tell one event each, by the rules.

    Examples
    --------
    >>> split("turn off the engine and get out")
    ['turn off the engine', 'get out']
    """
    return _default().split(sentence)
