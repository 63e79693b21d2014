"""Words as the parser sees them: what each could be, from WordNet and the closed classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elision.text import lexicon

if TYPE_CHECKING:
    from elision.text.wordnet import PartOfSpeech, WordNet

__all__ = ["END", "TOKEN", "Dictionary", "Word"]

_LETTER = r"[^\W_]"
TOKEN = re.compile(
    rf"""
    o['’]clock
    | {_LETTER}+?(?=n['’]t(?!{_LETTER}))      # do|n't
    | n['’]t(?!{_LETTER})
    | ['’](?:s|re|ve|ll|d|m)(?!{_LETTER})     # she|'s
    | {_LETTER}+(?:-{_LETTER}+)*
    | [.,;:!?()&/"“”]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STOPS = frozenset(".;:!?")
_DOUBLING = re.compile(r"(?:^|[^aeiou])[aeiou][^aeiouwxy]$")
_PRIOR = 0.25  # what one sense weighs against one occurrence in the tagged texts


@dataclass(frozen=True, slots=True)
class Word:
    """What a token could be; several readings may be true at once."""

    text: str
    verb: str = ""  # lemma of the verb reading
    noun: str = ""  # lemma of the noun reading
    leaning: float = 0.0  # share of the verb reading against the noun reading
    base: bool = False
    third: bool = False  # "walks"
    past: bool = False  # past or participle
    ing: bool = False
    adjective: bool = False
    adverb: bool = False
    determiner: bool = False  # also possessives and numbers: opens a noun phrase
    pronoun: bool = False  # can be an object
    subject: bool = False  # pronoun that can be a subject
    preposition: bool = False
    particle: bool = False
    auxiliary: bool = False  # modals and forms of be, have, do
    conjunction: bool = False
    subordinator: bool = False
    negation: bool = False
    comma: bool = False
    stop: bool = False  # ends a clause for sure


END = Word("", stop=True)


class Dictionary:
    """Analyses words once and remembers them."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self._known: dict[str, Word] = {}

    def __getitem__(self, token: str) -> Word:
        """Return the analysis of a token."""
        word = self._known.get(token)
        if word is None:
            word = self._known[token] = self._analyse(token.lower().replace("’", "'"))
        return word

    def _analyse(self, text: str) -> Word:
        if text in _STOPS:
            return Word(text, stop=True)
        if text in lexicon.PUNCTUATION:
            return Word(text, comma=True)
        verb = self._verb_lemma(text)
        noun = self._noun_lemma(text)
        closed = text in lexicon.CLOSED
        return Word(
            text,
            verb=verb,
            noun="" if closed else noun,
            leaning=self._leaning(verb, noun),
            base=text == verb,
            third=bool(verb) and text != verb and text.endswith("s"),
            past=bool(verb)
            and (text in lexicon.UNCHANGED_PASTS or (text != verb and text[-1] != "s" and not text.endswith("ing"))),
            ing=text.endswith("ing") and bool(verb) and text != verb,
            adjective=bool(self.wordnet.lemma(text, "a")),
            adverb=text in lexicon.ADVERBS or self._only_adverb(text),
            determiner=text in lexicon.OPENING_NOUN_PHRASES or text[0].isdigit(),
            pronoun=text in lexicon.OBJECT_PRONOUNS,
            subject=text in lexicon.SUBJECT_PRONOUNS,
            preposition=text in lexicon.PREPOSITIONS,
            particle=text in lexicon.FREE_PARTICLES or text in lexicon.BARE_PARTICLES,
            auxiliary=text in lexicon.AUXILIARIES,
            conjunction=text in lexicon.CONJUNCTIONS,
            subordinator=text in lexicon.SUBORDINATORS,
            negation=text in lexicon.NEGATIONS,
        )
