"""Rules for what stands behind a verb: noun phrases, particles, objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from elision.text import lexicon
from elision.text._words import END, Word

if TYPE_CHECKING:
    from elision.text.wordnet import WordNet

__all__ = ["NounPhrase", "Phrases", "Reading"]

# Words that are read: no event needs more, and time and depth of recursion stay bounded.
_LONGEST = 200
# How far a word that is noun and verb must lean to the verb behind "to", to be one.
_TO_DO = 0.75  # "stop to rest", not "go to work"
_TO_DO_BEHIND_NOUN = 0.3  # "wait for the paint to dry"
_UP_TO_DO = 0.95  # "walk up to register"


class Reading(NamedTuple):
    """Lemmas of a clause, and an empty string where there is none."""

    verb: str = ""
    particle: str = ""
    direct: str = ""  # direct object, or what the event befalls
    oblique: str = ""  # first prepositional object


class NounPhrase(NamedTuple):
    """Lemma of the head (empty for a pronoun or a number) and the position behind the phrase."""

    head: str
    end: int


class Phrases:
    """Some words in a row; positions are indices into them, and three ends follow the last."""

    def __init__(self, words: list[Word], wordnet: WordNet) -> None:
        self.total = len(words)
        self.length = min(self.total, _LONGEST)
        self.words = [*words[: self.length], END, END, END]
        self.wordnet = wordnet

    def _skip_adverbs(self, at: int) -> int:
        while self.words[at].adverb or self.words[at].negation:
            at += 1
        return at

    # --- noun phrases ---------------------------------------------------------------------------

    def _noun_phrase(self, start: int) -> NounPhrase | None:
        """Read the noun phrase that begins at ``start``, if one does."""
        words = self.words
        head, at = self._head(start)
        if not head:
            if (at > start and words[start].determiner) or words[start].pronoun:
                return NounPhrase("", max(at, start + 1))
            return None
        content = None
        if words[at].text == "of":
            content = self._noun_phrase(at + 1)
        elif head in lexicon.MEASURES and (words[at].past or words[at].adjective):
            content = self._noun_phrase(at)
        if content is None:
            return NounPhrase(head, at)
        side = head in lexicon.SIDES and at == start + 1
        gives_way = bool(content.head) and (side or head in lexicon.CONTAINERS)
        return NounPhrase(content.head if gives_way else head, content.end)

    def _head(self, start: int) -> tuple[str, int]:
        """Last noun of the row of nouns and modifiers from ``start`` on, and where it ends."""
        at, head = start, ""
        while True:
            word = self.words[at]
            if head and word.text == "'s":
                head = ""
            elif self._is_can(at):
                head = "can"
            elif head and (not word.noun or word.particle or self._behind_head(at)):
                break
            elif word.noun and (not word.particle or self._is_back(at)):
                head = word.noun
            elif head or not self._modifies(start, at):
                break
            at += 1
        return head, at

    def _modifies(self, start: int, at: int) -> bool:
        """Say whether a word may stand before the noun in a phrase from ``start`` on."""
        word = self.words[at]
        if word.determiner or word.adverb:
            return True
        if not word.closed:
            return word.adjective or word.past or word.ing
        before, after = self.words[at - 1], self.words[at + 1]
        if word.text == "as":
            return after.determiner
        if at == start or word.text not in {"of", "and", "or", ","}:
            return False
        if word.text == "of" or (before.determiner and after.determiner):
            return True
        return (before.adjective or before.past) and after.adjective and not after.verb

    def _behind_head(self, at: int) -> bool:
        """Say whether a word that could be a noun stands behind the phrase: "get hair wet"."""
        word, after = self.words[at], self.words[at + 1]
        if word.text == "home":
            return not self.wordnet.knows(f"{self.words[at - 1].text}_home", "n")
        if word.mostly_adjective and not after.noun:
            return True
        if word.ing and self.words[at - 1].noun in lexicon.TIME_NOUNS:
            return True
        return word.leaning > 0.8 and (word.ing or after.determiner or after.pronoun)

    def _is_back(self, at: int) -> bool:
        """Say whether "back" is a noun."""
        before, after = self.words[at - 1], self.words[at + 1]
        return before.determiner or before.preposition or after.text == "of"

    def _is_can(self, at: int) -> bool:
        """Say whether "can" is a vessel: "the trash can"."""
        if self.words[at].text != "can":
            return False
        before, after = self.words[at - 1], self.words[at + 1]
        modal = after.base or after.adverb or after.negation or after.text == "be"
        return bool(before.noun or before.determiner) and not modal

    def _is_possessive(self, at: int) -> bool:
        """Say whether "'s" is not a form of be: "my dad's car"."""
        if self.words[at].text != "'s" or not self.words[at - 1].noun:
            return False
        after = self.words[self._skip_adverbs(at + 1)]
        if after.noun and not after.ing:
            return True
        return not (after.ing or after.past or after.preposition)

    # --- clauses below --------------------------------------------------------------------------

    def _finite_verb(self, start: int, *, bare: bool = False) -> int | None:
        """Find the verb behind the subject at ``start``; ``bare`` asks for an infinitive."""
        words = self.words
        subject = plural = False
        doubtful = None
        for at in range(start, self.length):
            word, before = words[at], words[at - 1] if at > start else END
            if word.stop or word.comma or (word.subordinator and at > start):
                break
            if before.subject and word.ing and not bare:
                return at
            finite = word.auxiliary or word.third or word.past or (word.base and plural)
            if subject and (word.base if bare else finite) and self._can_be_verb(at):
                if word.auxiliary or not word.noun or word.leaning >= 0.5:
                    return at
                doubtful = at
            if word.subject or word.pronoun or (word.noun and not before.preposition):
                subject = True
                plural = plural or word.text != word.noun or word.text == "people"
            plural = plural or (word.conjunction and subject)
        return doubtful

    def _can_be_verb(self, at: int) -> bool:
        word, before = self.words[at], self.words[at - 1]
        if before.determiner or before.preposition or (before.conjunction and word.noun):
            return False
        return not (self._is_can(at) or self._is_possessive(at))

    def _subject(self, start: int, verb: int) -> str:
        """Head of the noun phrase that stands from ``start`` up to ``verb``."""
        phrase = self._noun_phrase(start)
        if phrase and phrase.end <= verb:
            return phrase.head
        nouns = [word.noun for word in self.words[start:verb] if word.noun]
        return nouns[-1] if nouns else ""

    def _infinitive(self, at: int, needed: float = _TO_DO) -> bool:
        """Say whether the word behind "to" is a verb rather than a place."""
        word, after = self.words[at], self.words[at + 1]
        if not word.base or (word.adjectival > 1.5 and after.noun):
            return False
        if not word.noun or after.determiner or after.pronoun:
            return True
        if after.adjective and self.words[at + 2].noun:
            return True
        return word.leaning > (0.5 if after.particle or after.noun else needed)

    # --- objects --------------------------------------------------------------------------------

    def _complements(self, verb: int) -> Reading:
        """Read particle, direct object and first prepositional object behind a verb."""
        words = self.words
        lemma = words[verb].verb or words[verb].noun
        particle, at = self._particle("", lemma, self._skip_adverbs(verb + 1))
        if words[at].mostly_adjective and not words[at + 1].noun:
            at += 1
        direct = ""
        phrase = self._noun_phrase(at)
        if phrase:
            direct, at = self._direct(lemma, at, phrase)
            particle, at = self._particle(particle, "", self._skip_adverbs(self._conjuncts(at)))
        elif words[at].subordinator and lemma in lexicon.CHECKING:
            lower = self._finite_verb(at + 1)
            direct = "" if lower is None else self._subject(at + 1, lower)
        oblique = "" if direct else self._oblique(lemma, at, behind_phrase=phrase is not None)
        return Reading(lemma, particle if lemma else "", direct, oblique)

    def _particle(self, found: str, verb: str, at: int) -> tuple[str, int]:
        """Read a particle at ``at``, unless one was found before; also the place behind it."""
        word, after = self.words[at], self.words[at + 1]
        if word.text == "of" and verb in lexicon.OFF_VERBS:
            return "off", at + 1
        if not word.particle or (after.text == "of" and word.noun):
            return found, at
        if word.text not in lexicon.FREE_PARTICLES:
            own_noun = after.ing or (not found and self._noun_phrase(at + 1) is not None)
            if own_noun and verb not in lexicon.PARTICLE_VERBS.get(word.text, ()):
                return found, at
        at = self._skip_adverbs(at + 1)
        if not found and after.particle and self._noun_phrase(at + 1) is None:
            at += 1  # of two particles, as in "put it back on", the first counts
        return found or word.text, at

    def _direct(self, verb: str, at: int, phrase: NounPhrase) -> tuple[str, int]:
        """Head of the direct object, not of the recipient, and the place behind it."""
        words = self.words
        if verb in lexicon.PERCEPTIONS:
            lower = self._finite_verb(at, bare=True)
            if lower is not None and lower < phrase.end and words[lower - 1].animate:
                return self._subject(at, lower), lower
        following = words[phrase.end]
        opens_second = following.determiner and not following.subordinator
        if verb in lexicon.DITRANSITIVES and (opens_second or not phrase.head):
            second = self._noun_phrase(phrase.end)
            if second and second.head:
                return second.head, second.end
        modifier = words[phrase.end - 2]
        if phrase.head in lexicon.TIME_NOUNS and verb not in lexicon.ABOUT_TIME:
            return phrase.head if modifier.noun or modifier.verb else "", phrase.end
        return phrase.head, phrase.end

    def _conjuncts(self, at: int) -> int:
        """Skip the nouns that are coordinated with the one before."""
        while self.words[at].text in {"and", "or", ",", "&"}:
            phrase = self._noun_phrase(at + 1)
            if phrase is None:
                break
            at = phrase.end
        return at

    def _oblique(self, verb: str, at: int, *, behind_phrase: bool) -> str:
        """Head of the first prepositional object from ``at`` on, times left aside."""
        words = self.words
        needed = _TO_DO_BEHIND_NOUN if behind_phrase else _TO_DO
        if words[at - 1].text == "up":
            needed = _UP_TO_DO
        while not (words[at].stop or words[at].comma or words[at].conjunction):
            word = words[at]
            if word.text == "home":
                return "home"
            if word.subordinator:
                lower = self._finite_verb(at + 1) if verb == "wait" else None
                return "" if lower is None else self._subject(at + 1, lower)
            if word.text == "to" and self._infinitive(at + 1, needed):
                break
            if word.text in {"by", "without"} and words[at + 1].ing:
                break
            phrase = self._noun_phrase(at + 1) if word.preposition else None
            if phrase is None:
                at += 1
            elif phrase.head and phrase.head not in lexicon.TIME_NOUNS:
                return phrase.head
            else:
                at, needed = phrase.end, _TO_DO_BEHIND_NOUN
        return ""
