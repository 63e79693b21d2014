"""Rules for clauses: where one begins, where the next does, and where its first verb stands."""

from __future__ import annotations

from elision.text import lexicon
from elision.text._phrases import Predicates, Reading
from elision.text._words import END, Word

__all__ = ["Grammar"]

_SURELY_FINITE = lexicon.MODALS | lexicon.BE | {"has", "had", "does", "did"}
_SOFT_STOPS = frozenset(":-–—")
_STEPS = frozenset({"step", "thing", "task", "job"})
_PREFACES = frozenset(
    {
        ("after", "that"),
        ("after", "this"),
        ("before", "that"),
        ("let", "'s"),
        ("ready", "to"),
        ("time", "to"),
        ("how", "to"),
        ("do", "not"),
        ("do", "n't"),
    }
)
_ALWAYS, _NEVER = -1.0, 2.0


class Grammar(Predicates):
    """The words of a sentence."""

    def clauses(self) -> list[tuple[int, int]]:
        """Return where each coordinated clause begins and ends, without what opens it."""
        start = self._opening(0)
        found = []
        at = start + 1
        while at < self.length:
            word = self.words[at]
            if word.stop or word.comma or word.conjunction:
                follows = self._opening(at)
                if self._begins_clause(start, at, follows):
                    found.append((start, at))
                    start = at = follows
            at += 1
        return [*found, (start, self.total)]

    def read(self) -> Reading:
        """Read the words as one clause."""
        start = self._opening(0)
        verb = self._first_verb(start)
        if verb is not None:
            return self._predicate(verb, self._subject(start, verb))
        phrases = (self._noun_phrase(at) for at in range(self.length))
        heads = (phrase.head for phrase in phrases if phrase and phrase.head)
        return Reading(direct=next(heads, ""))

    # --- coordination ---------------------------------------------------------------------------

    def _begins_clause(self, start: int, joint: int, at: int) -> bool:
        """Say whether a clause begins at ``at``, behind the comma or conjunction at ``joint``."""
        words = self.words
        word = words[at]
        last = joint - 1
        while last > start and (words[last].comma or words[last].conjunction):
            last -= 1
        if word is END:
            return False
        if words[joint].stop and words[joint].text not in _SOFT_STOPS:
            return len(words[last].text) > 1
        verb = self._first_verb(start)
        if verb is None or verb > joint or self._go_and(joint):
            return False
        if word.subject or (word.determiner and words[joint].text not in {",", "or"}):
            return self._is_statement(at, words[verb])
        return self._continues(verb, last, joint, at)

    def _go_and(self, joint: int) -> bool:
        before = self.words[joint - 1]
        joins = self.words[joint].text in {"and", "&"}
        return joins and (before.verb in lexicon.BEFORE_AND or before.text == "ahead")

    def _is_statement(self, at: int, main: Word) -> bool:
        verb = self._finite_verb(at)
        if verb is None or self.words[verb].noun:
            return False
        found = self.words[verb]
        return found.auxiliary or self.words[at].subject or _same_form(main, found)

    def _continues(self, verb: int, last: int, joint: int, at: int) -> bool:
        """Say whether the word at ``at`` is a verb beside the one at ``verb``."""
        words = self.words
        word, before, after = words[at], words[last], words[at + 1]
        if word.text in {"do", "have", "be"}:
            return after.determiner or after.pronoun or after.adjective or bool(after.noun)
        purpose = before.base and words[last - 1].text == "to"
        if not word.verb or purpose or word.auxiliary or not _same_form(words[verb], word):
            return False
        beside_noun = last != verb and (before.noun or before.pronoun)
        if not word.noun or not beside_noun or word.ing:
            return True
        if any(between.text == "then" for between in words[joint:at]):
            return True
        return self._verb_in_context(at, 0.8 if words[joint].text == "and" else 0.95)

    def _verb_in_context(self, at: int, needed: float = 0.6) -> bool:
        """Say whether a word that could be a noun is a verb, from the word behind it."""
        word, after = self.words[at], self.words[at + 1]
        if after.determiner or after.pronoun:
            return True
        if after.particle and self.words[at + 2].stop:
            return word.leaning > 0.6
        if after.particle or after.preposition:
            return word.leaning > 0.35 and after.text != "of"
        return word.leaning > needed or (bool(after.noun) and word.verb in lexicon.ACTIONS)

    # --- what stands before the main clause -----------------------------------------------------

    def _opening(self, at: int) -> int:
        """Return where the main clause begins: behind adverbs, opening clauses and phrases."""
        while True:
            ahead = self._skip_one(at)
            if ahead == at:
                return at
            at = ahead

    def _skip_one(self, at: int) -> int:
        word, after = self.words[at], self.words[at + 1]
        text = word.text
        numbered = (text.isdigit() or len(text) == 1) and after.text in {".", ")"}
        numbered = numbered or (
            text == "step" and (after.text[:1].isdigit() or after.text == "one")
        )
        ahead = at
        if word is END:
            pass
        elif word.stop or word.comma or word.conjunction:
            ahead = at + 1
        elif after.text == ":" or numbered or (text, after.text) in _PREFACES:
            ahead = at + 2
        elif (text == "step" or word.determiner or word.adverb) and self._heading(at):
            ahead = self._heading(at)
        elif text in lexicon.OPENERS:
            ahead = self._behind_opening_clause(at)
        elif word.adverb or word.negation:
            ahead = at + 1
        elif text in {"it", "its", "what"} or word.determiner or word.noun in _STEPS:
            ahead = self._behind_preamble(at)
        elif word.preposition or word.ing:
            ahead = self._behind_opening_phrase(at)
        return ahead

    def _heading(self, at: int) -> int:
        """Return the position behind "last step:" and the like; 0 if there is no such thing."""
        for position in range(at + 1, min(at + 5, self.length)):
            if self.words[position].text in _SOFT_STOPS:
                return position + 1
        return 0

    def _behind_preamble(self, at: int) -> int:
        """Skip "it's time to", "what you do is" and "the next step is to"."""
        words = self.words
        for position in range(at + 1, min(at + 7, self.length)):
            word, after = words[position], words[position + 1]
            if word.text == "time" and after.text == "to" and words[at].text != "the":
                return position + 2
            if word.text in lexicon.BE:
                before = words[position - 1 - words[position - 1].adverb]
                if before.text == "do" and (after.base or after.text == "to"):
                    return position + 1 + (after.text == "to")
                if before.noun in _STEPS and after.text == "to":
                    return position + 2
        return at

    def _behind_opening_clause(self, at: int) -> int:
        """Skip "when the water boils, "; the comma may be missing."""
        comma = self._comma(at)
        if comma and any(word.verb for word in self.words[comma + 1 :]):
            return comma + 1
        phrase = self._noun_phrase(at + 1)
        if phrase and phrase.head and self.words[phrase.end].subject:
            return phrase.end
        return self._second_verb(at + 1) or at + 1

    def _behind_opening_phrase(self, at: int) -> int:
        """Skip "in a bowl, ", "to get the stain out, ", "using a fork, "."""
        words = self.words
        comma = self._comma(at)
        if comma:
            ahead = self._opening(comma + 1)
            first = words[ahead]
            return ahead if first.base or first.subject or first.determiner else at
        for position in range(at + 1, self.length):
            if words[position].noun in lexicon.TIME_NOUNS and words[position + 1].base:
                return position + 1
        if words[at].preposition and not words[at + 1].verb:
            phrase = self._noun_phrase(at + 1)
            if phrase and words[phrase.end].base and not words[phrase.end].noun:
                return phrase.end
        return at

    def _comma(self, at: int) -> int:
        commas = (i for i in range(at + 1, self.length - 1) if self.words[i].comma)
        return next(commas, 0)

    def _second_verb(self, at: int) -> int:
        """Find the main verb behind an opening clause that no comma ends; 0 if there is none."""
        words = self.words
        first = at if words[at].ing or words[at].past else self._finite_verb(at)
        if first is None:
            return 0
        for position in range(first + 1, self.length):
            before, word = words[position - 1], words[position]
            if before.determiner or before.auxiliary or before.conjunction or before.text == "to":
                continue
            if word.subject and not word.pronoun and words[position + 1].verb:
                return position
            if word.base and (not word.noun or self._verb_in_context(position)):
                return position
        return 0

    # --- the first verb -------------------------------------------------------------------------

    def _first_verb(self, start: int) -> int | None:
        """Find the first verb of the clause, auxiliaries included."""
        word, after = self.words[start], self.words[start + 1]
        if word.subject or word.determiner or not self._begins_with_verb(start):
            found = self._finite_verb(start)
            if found is None:
                sure = (i for i in range(start, self.length) if self._surely_verb(i))
                found = next(sure, None)
            return found
        if word.auxiliary and after.subject:
            return start + 2
        # "double check the door", "air dry the dishes"
        joined = after.base and self.wordnet.knows(f"{word.text}-{after.text}", "v")
        return start + 1 if joined else start

    def _surely_verb(self, at: int) -> bool:
        word, before = self.words[at], self.words[at - 1]
        follows = at == 0 or before.animate or before.adverb
        return follows and word.leaning > 0.9 and word.adjectival < 12

    def _begins_with_verb(self, at: int) -> bool:
        word, after = self.words[at], self.words[at + 1]
        if word.auxiliary:
            return True
        if not word.verb:
            return bool(word.noun) and after.determiner and not word.adjective
        if word.adjectival > 12 and after.noun:
            return False
        if word.text in lexicon.NAMES and (after.third or after.past):
            return False
        return word.leaning > self._leaning_needed(at)

    def _leaning_needed(self, at: int) -> float:
        """How far the first word must lean to the verb to be one, from the word behind it."""
        word, after, second = self.words[at : at + 3]
        opens_object = after.determiner or after.pronoun
        if not word.noun or opens_object or (word.base and word.leaning > 0.8):
            needed = _ALWAYS
        elif word.ing:
            needed = 0.5 if after.noun else _ALWAYS
        elif after.text in _SURELY_FINITE:
            needed = _NEVER
        elif word.base and word.verb in lexicon.ACTIONS:
            needed = _ALWAYS
        elif after.comma or after.stop:
            needed = 0.3
        elif after.conjunction and second.base and second.leaning > 0.6:
            needed = _ALWAYS
        elif after.conjunction or word.third:
            needed = 0.35
        elif after.preposition or after.particle:
            needed = _needed_before_preposition(word, after.text)
        elif after.third or (after.past and not second.noun):
            needed = _NEVER if word.animate or not after.noun or after.leaning >= 0.4 else _ALWAYS
        elif after.base and not after.noun and after.adjectival <= 1.5 and word.animate:
            needed = _NEVER
        else:
            needed = _ALWAYS if word.base else 0.5
        return needed


def _needed_before_preposition(word: Word, preposition: str) -> float:
    if preposition == "of":
        return _NEVER
    if preposition in lexicon.FREE_PARTICLES or preposition in word.particles:
        return _ALWAYS
    if word.verb in lexicon.PARTICLE_VERBS.get(preposition, ()):
        return _ALWAYS
    return 0.35 if preposition in lexicon.PLACES else 0.22


def _same_form(first: Word, second: Word) -> bool:
    """Say whether two verbs can be coordinated."""
    return (
        first.auxiliary
        or (first.base and second.base)
        or (first.past and second.past)
        or (first.third and second.third)
        or (first.ing and second.ing)
    )
