"""Rules for which verb counts: behind auxiliaries, "want to", "make sure", "let"."""

from __future__ import annotations

from elision.text import lexicon
from elision.text._phrases import Phrases, Reading
from elision.text._words import END

__all__ = ["Predicates"]

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
