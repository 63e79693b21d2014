"""Words as the parser sees them: what each one could be, from WordNet and the closed classes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from string import ascii_lowercase
from typing import TYPE_CHECKING

from elision.text import lexicon
from elision.text.wordnet import WITH_SENSES, PartOfSpeech

if TYPE_CHECKING:
    from elision.text.wordnet import WordNet

__all__ = ["END", "TOKEN", "Dictionary", "Word"]

_LETTER = r"[^\W_]"
TOKEN = re.compile(
    rf"""
    o['’]clock
    | (?<!\S)w/o?(?!\S)
    | \d+(?:[./]\d+)+
    | {_LETTER}+?(?=n['’]t(?!{_LETTER}))      # do|n't
    | n['’]t(?!{_LETTER})
    | ['’](?:s|re|ve|ll|d|m)(?!{_LETTER})     # she|'s
    | {_LETTER}+(?:-{_LETTER}+)*
    | (?<!\S)-(?!\S) | [–—]
    | (?<!\S)['‘](?={_LETTER}) | ['’]          # quotation marks, and "my parents' house"
    | [.,;:!?()&/"“”]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STOPS = frozenset(".;:!?-–—")
_COMMAS = frozenset(',()"“”‘')
_CLOSED_VERBS = lexicon.BE | lexicon.HAVE | lexicon.DO | {"like"}
_CLOSED_NOUNS = frozenset({"back"})
# Before a vowel ending such a stem would have doubled its last letter: "hoping" is not from "hop".
_WOULD_DOUBLE = re.compile(r"(?:^|[^aeiou])[aeiou][^aeiouwxy]$")
_POS: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")
_SENSE = 0.25  # what one sense weighs against one occurrence in the tagged texts
_REMEMBERED = 100_000
_ENDINGS = ("ing", "ed", "es", "d", "s")


@dataclass(frozen=True, slots=True)
class Word:
    """What a token could be; several readings can hold at once."""

    text: str
    verb: str = ""  # lemma as a verb
    noun: str = ""  # lemma as a noun
    leaning: float = 0.0  # from 0, always a noun, to 1, always a verb
    base: bool = False
    third: bool = False  # "walks"
    past: bool = False  # or participle
    ing: bool = False
    adjective: bool = False
    mostly_adjective: bool = False  # rather than a noun
    adjectival: float = 0.0  # how many times oftener an adjective than a verb
    animate: bool = False
    adverb: bool = False
    determiner: bool = False  # opens a noun phrase: possessives and numbers too
    pronoun: bool = False  # as an object
    subject: bool = False  # pronoun as a subject
    preposition: bool = False
    particle: bool = False
    particles: frozenset[str] = frozenset()  # with which it makes a verb of its own
    auxiliary: bool = False
    conjunction: bool = False
    subordinator: bool = False
    negation: bool = False
    comma: bool = False
    stop: bool = False  # surely ends a clause
    closed: bool = False  # of a closed class: never a noun


END = Word("", stop=True, closed=True)


class Dictionary:
    """Analyses each word once."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self._known: dict[str, Word] = {}
        kinds = (wordnet.synsets(noun, "n")[:1] for noun in ("person", "animal", "people"))
        self._animate = frozenset(chain.from_iterable(kinds))

    def __getitem__(self, token: str) -> Word:
        """Return the analysis of a token."""
        word = self._known.get(token)
        if word is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            text = token.lower().replace("’", "'")
            if text == token and not self._is_entry(text):  # a capital may begin a name
                text = self._respelt(text)
            word = self._known[token] = self._analyse(text)
        return word

    def _analyse(self, text: str) -> Word:
        if text in _STOPS or text in _COMMAS:
            return Word(text, stop=text in _STOPS, comma=text in _COMMAS, closed=True)
        if text == "'":
            return Word("'s", closed=True)
        closed = text in lexicon.CLOSED
        never = text in lexicon.NEVER_VERBS or (closed and text not in _CLOSED_VERBS)
        verb = "" if never else self._verb(text)
        noun = (
            ""
            if closed and text not in _CLOSED_NOUNS
            else self._noun(text, known_otherwise=bool(verb))
        )
        inflected = bool(verb) and text != verb
        ing = inflected and text.endswith("ing")
        third = inflected and text.endswith("s") and not text.endswith("ss")
        return Word(
            text,
            verb=verb,
            noun=noun,
            leaning=self._leaning(verb, noun),
            base=bool(verb) and not inflected,
            third=third,
            past=(inflected and not ing and not third) or text in lexicon.UNCHANGED_PASTS,
            ing=ing,
            adjective=self._adjective_count(text) >= 0 and not closed,
            mostly_adjective=not closed and self._mostly_adjective(text, noun),
            adjectival=self._adjectival(text, verb),
            animate=bool(noun) and self._is_animate(noun),
            adverb=text in lexicon.ADVERBS
            or (not (closed or noun or verb) and self._is_adverb(text)),
            determiner=text in lexicon.OPENING_NOUN_PHRASES or text[0].isdigit(),
            pronoun=text in lexicon.OBJECT_PRONOUNS,
            subject=text in lexicon.SUBJECT_PRONOUNS,
            preposition=text in lexicon.PREPOSITIONS,
            particle=text in lexicon.PARTICLES,
            particles=frozenset(
                p for p in lexicon.PARTICLES if verb and self.wordnet.knows(f"{verb}_{p}", "v")
            ),
            auxiliary=text in lexicon.AUXILIARIES,
            conjunction=text in lexicon.CONJUNCTIONS,
            subordinator=text in lexicon.SUBORDINATORS,
            negation=text in lexicon.NEGATIONS,
            closed=closed,
        )

    def _is_entry(self, text: str) -> bool:
        return text in lexicon.CLOSED or any(self.wordnet.lemmas(text, pos) for pos in _POS)

    def _respelt(self, text: str) -> str:
        """Correct a typing error (a letter left out, put in, swapped) if only one word is near."""
        if not (text.isascii() and text.isalpha() and 3 < len(text) < 20):
            return text
        cuts = [(text[:i], text[i:]) for i in range(1, len(text) + 1)]
        near = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
        if len(text) > 4:
            near |= {a + b[1:] for a, b in cuts if b}
            near |= {a + letter + b for a, b in cuts for letter in ascii_lowercase}
        found = {
            lemma: form
            for form in sorted(near)
            for pos in WITH_SENSES
            for lemma in self.wordnet.lemmas(form, pos)
            if self.wordnet.frequency(lemma, pos)
        }
        return next(iter(found.values())) if len(found) == 1 else text

    def _verb(self, text: str) -> str:
        if text in lexicon.PASTS:
            return lexicon.PASTS[text]
        found = self.wordnet.lemmas(text, "v") or self._new_verbs(text)
        if not found or found[0] == text:
            return found[0] if found else ""
        stem = text.removesuffix("ing").removesuffix("ed")
        if _WOULD_DOUBLE.search(stem) and stem + "e" in found:
            return stem + "e"
        return max(found, key=lambda lemma: self.wordnet.frequency(lemma, "v"))

    def _new_verbs(self, text: str) -> list[str]:
        """Verbs that are not entries, but new, or an entry behind a prefix ("re-install")."""
        stems = [text, *(text.removesuffix(e) for e in _ENDINGS if text.endswith(e))]
        new = [stem for stem in stems if stem in lexicon.NEW_VERBS]
        if new or "-" not in text:
            return new
        joined = text.replace("-", "")
        return self.wordnet.lemmas(joined, "v") or self.wordnet.lemmas(text.rpartition("-")[2], "v")

    def _noun(self, text: str, *, known_otherwise: bool) -> str:
        if text in lexicon.PLURAL_ONLY:
            return text
        if text[0].isdigit():
            return ""
        found = self.wordnet.lemmas(text, "n")
        if found:
            return max(found, key=lambda lemma: (self._singular_count(lemma, text), lemma != text))
        if known_otherwise or self._adjective_count(text) >= 0 or self._is_adverb(text):
            return ""
        if "-" in text:
            return self._noun(text.rpartition("-")[2], known_otherwise=False)
        return (
            text[:-1] if text.endswith("s") and not text.endswith("ss") and len(text) > 3 else text
        )

    def _singular_count(self, lemma: str, text: str) -> int:
        """How often the noun was met, a plural that is an entry of its own counting as never."""
        plural = lemma == text and text.endswith("s") and not text.endswith(("ss", "us"))
        return 0 if plural else self.wordnet.frequency(lemma, "n")

    def _leaning(self, verb: str, noun: str) -> float:
        if not verb or not noun:
            return float(bool(verb))
        as_verb = self.wordnet.frequency(verb, "v") + _SENSE * len(self.wordnet.synsets(verb, "v"))
        as_noun = self.wordnet.frequency(noun, "n") + _SENSE * len(self.wordnet.synsets(noun, "n"))
        return as_verb / (as_verb + as_noun) if as_verb + as_noun else 0.5

    def _adjective_count(self, text: str) -> int:
        """How often the word was met as an adjective; -1 if it is none."""
        found = self.wordnet.lemmas(text, "a")
        return max((self.wordnet.frequency(lemma, "a") for lemma in found), default=-1)

    def _mostly_adjective(self, text: str, noun: str) -> bool:
        return self._adjective_count(text) > (self.wordnet.frequency(noun, "n") if noun else -1)

    def _adjectival(self, text: str, verb: str) -> float:
        as_verb = self.wordnet.frequency(verb, "v") if verb else 0
        return max(self._adjective_count(text), 0) / (as_verb + 1)

    def _is_adverb(self, text: str) -> bool:
        known = self.wordnet.knows(text, "r")
        return known and self.wordnet.frequency(text, "r") > self._adjective_count(text)

    def _is_animate(self, noun: str) -> bool:
        senses = self.wordnet.synsets(noun, "n")[:2]
        return any(not self._animate.isdisjoint(self.wordnet.ancestors(s)) for s in senses)
