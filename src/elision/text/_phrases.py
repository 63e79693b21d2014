"""Phrases of a sentence, and which of its verbs counts: behind "want to", "make sure", "let"."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from elision.text import lexicon
from elision.text._words import END, Word

if TYPE_CHECKING:
    from elision.text.wordnet import WordNet


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


_GOES = frozenset({"go", "come"})


class Predicates(Phrases):
    """Words whose verb is known: what they tell."""

    def _predicate(self, at: int, subject: str = "") -> Reading:
        """Read on from a verb, through the verbs that stand before the one that counts."""
        at = self._skip_adverbs(at)
        word = self.words[at]
        ahead = self._behind_auxiliary(at, has_subject=bool(subject))
        if ahead is None:
            ahead = self._behind_introduction(word.verb, self._skip_adverbs(at + 1))
        if ahead is not None:
            return self._predicate(ahead, subject)
        if word.text in lexicon.BE:
            return self._be(at, subject)
        ahead = self._skip_adverbs(at + 1)
        if word.verb == "make" and self.words[ahead].text in lexicon.SURE:
            return self._make_sure(ahead + 1)
        caused = self._caused(word.verb, ahead) if word.verb in lexicon.CAUSATIVES else None
        return caused or self._complements(at)

    def _behind_auxiliary(self, at: int, *, has_subject: bool) -> int | None:
        """Where the verb behind the auxiliary at ``at`` stands; None if this is none."""
        words = self.words
        ahead = self._skip_adverbs(at + 1)
        text, after = words[at].text, words[ahead]
        done = text in lexicon.HAVE and after.past and (not after.noun or after.leaning >= 0.5)
        does = text in lexicon.DO and (words[at + 1].negation or (has_subject and after.base))
        found = None
        if text in lexicon.MODALS:
            found = ahead + (after.text == "to")
        elif done or does:
            found = ahead
        elif text in lexicon.BE:
            second = self._skip_adverbs(ahead + 1)
            if after.text in lexicon.BE or (after.ing and after.adjectival < 0.5):
                found = ahead
            elif words[second].text == "to" and words[second + 1].verb:
                found = second + 1  # "is about to", "are ready to"
            elif after.text in {"done", "finished"} and words[ahead + 1].ing:
                found = ahead + 1
        return found

    def _behind_introduction(self, verb: str, ahead: int) -> int | None:
        """Where the verb behind "want to", "keep" or "go and" stands; None if there is none."""
        after, second = self.words[ahead], self.words[ahead + 1]
        joined = verb in lexicon.BEFORE_AND and after.text in {"and", "&"} and second.base
        indirect = verb in lexicon.BEFORE_ING and after.text in {"by", "on", "with"} and second.ing
        found = None
        if after.text == "to":
            found = self._behind_to(verb, self._skip_adverbs(ahead + 1))
        elif verb in lexicon.BEFORE_ING and after.ing:
            found = ahead
        elif joined or indirect:
            found = ahead + 1
        elif verb == "go" and after.text == "ahead" and second.text == "and":
            found = ahead + 2
        elif verb in _GOES and after.base and (not after.noun or after.leaning > 0.6):
            found = ahead
        elif verb == "get" and after.text == "ready" and second.text == "to":
            found = ahead + 2
        elif verb == "get" and after.past and not after.noun:
            found = ahead if second.particle or not second.noun else None
        return found

    def _behind_to(self, verb: str, at: int) -> int | None:
        word = self.words[at]
        if verb in _GOES:
            looked_through = self._infinitive(at)
        else:
            looked_through = verb in lexicon.BEFORE_TO or verb == "allow"
        return at if looked_through and (word.base or word.auxiliary) else None

    def _be(self, at: int, subject: str) -> Reading:
        """Read a passive, "be sure", or a plain form of be."""
        ahead = self._skip_adverbs(at + 1)
        after = self.words[ahead]
        if after.text in lexicon.SURE:
            return self._make_sure(ahead + 1)
        if not after.past:
            return self._complements(at)
        below = self._complements(ahead)
        perfect = self.words[at].text == "'s" and self.words[at - 1].subject
        return below if perfect else below._replace(direct=subject or below.direct)

    def _make_sure(self, at: int) -> Reading:
        """Read what stands behind "make sure"."""
        words = self.words
        while words[at].text == "that" or words[at].negation:
            at += 1
        if words[at].text == "to":
            return self._predicate(at + 1)
        verb = self._finite_verb(at)
        if verb is None:
            phrase = self._noun_phrase(at + words[at].preposition)
            return Reading("make", direct=phrase.head if phrase else "")
        subject = self._subject(at, verb)
        below = self._predicate(verb, subject)
        return Reading("make", direct=subject) if below.verb == "be" else below

    def _caused(self, verb: str, at: int) -> Reading | None:
        """Read "let the dough rest", "have the barber trim the sides", "get the car washed"."""
        words = self.words
        if verb == "let" and words[at].base and not words[at + 1].noun:
            return self._predicate(at)
        phrase = self._noun_phrase(at)
        lower = None if phrase is None else self._lower_verb(verb, at, phrase.end)
        if lower is None:
            return None
        below = self._predicate(lower)
        return below._replace(direct=below.direct or self._subject(at, lower))

    def _lower_verb(self, verb: str, at: int, end: int) -> int | None:
        """Find the verb that the noun phrase from ``at`` to ``end`` is let, had or got to do."""
        lower = None
        if self.words[end].text == "to":
            with_to = verb in lexicon.CAUSATIVES_WITH_TO or (verb == "get" and self._person(at))
            lower = end + 1 if with_to and self._infinitive(end + 1, 0.3) else None
        elif verb == "let":
            lower = self._finite_verb(at, bare=True)
        elif verb in {"have", "get"}:
            lower = self._participle(at)
            if lower is None and verb == "have" and self._person(at):
                lower = self._finite_verb(at, bare=True)
        return lower

    def _person(self, at: int) -> bool:
        """Say whether the first noun from ``at`` on is somebody."""
        nouns = (word for word in self.words[at:] if word.noun or word.pronoun or word is END)
        first = next(nouns)
        return first.animate or first.pronoun

    def _participle(self, start: int) -> int | None:
        """Find the participle behind a noun phrase: "the car washed"."""
        for at in range(start + 1, self.length):
            before, word, after = self.words[at - 1 : at + 2]
            if word.preposition or word.conjunction or word.comma:
                break
            follows_noun = before.noun or before.pronoun
            past = word.past and (not word.noun or word.text in lexicon.UNCHANGED_PASTS)
            if follows_noun and past and not after.noun:
                return at
        return None
