"""Names of event types that a person can read: "hear", "open door", "turn on light"."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from elision.text import lexicon
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elision.text.wording import Wording

__all__ = ["name_types"]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LONGEST = 40
# Prepositions of one meaning, so that names agree.
_SAME = {"into": "in", "onto": "on", "inside": "in"}
_UNSAID = frozenset({"of"})
_MANY = 0.2  # share of the types from which on a verb that tells them is light, too
_FEW = 3  # types that are never many
_USES = 0.1  # share of a type's sentences from which on it is told by a verb
_PARTICLE = 1.1  # what a particle is worth: "throw away" rather than "throw", if nearly as true
_OBJECT = 0.4  # share of what a verb alone tells from which on its object is named: "fill sink",
_TOLD = 2  # if it was told as often as this
_TAIL = 1.25  # and what follows the verb, where no name is true of half of the sentences
_LITTLE = 0.2  # share of the sentences that a name must be true of, to be chosen for that
_TRIED = 200  # candidates for a name that are weighed, the most told


class _Name(NamedTuple):
    """A candidate: the verb with its particle, and what follows it; prepositions of one meaning."""

    predicate: str
    tails: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(" ".join((self.predicate, *self.tails)).split())


def name_types(types: Sequence[Sequence[tuple[Wording, int]]]) -> list[str]:
    """Return a name for each type, no two alike.

    A name is a verb with its particle, or with an object or prepositional phrase that follows it in
    some sentence: of all these the one that most of the type's sentences contain, word for word but
    for endings, and few sentences of other types. The verb alone is enough where it tells this type
    and no other, unless many say what it is done to ("fill sink"); verbs that say little ("put") or
    tell many types get what follows them. Where that is not enough, types are numbered. Sentences
    without a verb lend their object, or their words.

    Parameters
    ----------
    types
        The wordings of each type, most central first, and how often each was told.

    Examples
    --------
    >>> def told(*sentences):
    ...     from elision.text.wording import read_wording
    ...     return [(read_wording(sentence), 1) for sentence in sentences]
    >>> name_types([told("open the door"), told("open the letter"), told("walk to the door")])
    ['open door', 'open letter', 'walk']
    >>> washer = told("put the clothes in the washer", "put laundry in washer", "put clothes in")
    >>> dryer = told("put clothes in the dryer", "put the clothes into the dryer", "put in dryer")
    >>> name_types([washer, dryer])
    ['put in washer', 'put in dryer']
    """
    index = _Index(types)
    light = _light(types)
    names = [""] * len(types)
    used: set[str] = set()
    for number in sorted(range(len(types)), key=lambda number: -index.sizes[number]):
        names[number] = _free(_candidates(types[number], number, index, light), used)
        used.add(names[number])
    return names


class _Index:
    """Which sentences of each type contain which words, and which of all types give which name."""

    def __init__(self, types: Sequence[Sequence[tuple[Wording, int]]]) -> None:
        self.sizes = [sum(count for _, count in told) for told in types]
        self.names = [_counted(told) for told in types]
        self._everywhere: Counter[_Name] = Counter()
        for names in self.names:
            self._everywhere.update(names)
        self._told = [[(w.verb, _Forms(w), count) for w, count in told] for told in types]

    def score(self, name: _Name, number: int) -> float:
        """How many sentences of a type a name is true of, less where it is as true of others.

        It is true of those with its verb that contain all its words, a noun behind its preposition,
        and of those of other types that give the same name.
        """
        verb = name.predicate.partition(" ")[0]
        told = self._told[number]
        own = sum(count for said, forms, count in told if said == verb and forms.have(name))
        others = self._everywhere[name] - self.names[number][name]
        return own * own / max(own + others, 1)


def _counted(told: Sequence[tuple[Wording, int]]) -> Counter[_Name]:
    found: Counter[_Name] = Counter()
    for wording, count in told:
        for name in dict.fromkeys(name for name, _ in _told_names(wording)):
            found[name] += count
    return found


def _light(types: Sequence[Sequence[tuple[Wording, int]]]) -> set[str]:
    """Verbs that say little: by themselves, or because they tell several of the types."""
    uses: Counter[str] = Counter()
    leads: Counter[str] = Counter()
    for told in types:
        found: Counter[str] = Counter()
        for wording, count in told:
            found[f"{wording.verb} {wording.particle}".strip()] += count
        least = _USES * sum(found.values())
        uses.update(verb for verb, count in found.items() if count >= least)
        leads.update(verb for verb, _ in found.most_common(1))
    many = max(_FEW, _MANY * len(types))
    return {
        verb
        for verb, number in uses.items()
        if number > many or leads[verb] > 1 or verb in lexicon.LIGHT
    }


def _candidates(
    told: Sequence[tuple[Wording, int]], number: int, index: _Index, light: set[str]
) -> list[str]:
    """Names for a type, best first; a verb that says little is alone only if nothing follows it."""
    counted: Counter[_Name] = Counter()
    shown: dict[_Name, Counter[str]] = {}
    for wording, count in _central(told):
        for name, words in _told_names(wording):
            counted[name] += count
            shown.setdefault(name, Counter())[words] += count
    for name in _bare_of(counted):  # "wait food", where most say "wait for food"
        del counted[name]
    best = counted.most_common(_TRIED)  # the more central first among equals
    scores = {name: index.score(name, number) for name, _ in best}
    top = max(scores.values(), default=0.0)

    def rank(name: _Name) -> tuple[bool, float, int]:
        bare = not name.tails and name.predicate in light
        worth = scores[name] * (_PARTICLE if " " in name.predicate else 1.0)
        if 2 * top < index.sizes[number] and name.tails:
            worth *= _TAIL
        return bare, -worth, len(name.words)

    ranked = sorted(scores, key=rank)
    ranked = _objects(ranked, index.names[number]) + ranked
    if top <= _LITTLE * index.sizes[number]:
        # Nothing is true of many: then at least of the most typical.
        first = [name for name, _ in _told_names(told[0][0]) if name.predicate and name.tails]
        ranked = [*first[::-1][:1], *ranked]
    names = [shown[name].most_common(1)[0][0] for name in ranked if name in shown]
    return names or [" ".join(told[0][0].words)[:_LONGEST].strip() or "event"]


def _objects(ranked: list[_Name], told: Counter[_Name]) -> list[_Name]:
    """The best name with its usual object, if it is a verb alone and has one."""
    alone = ranked[0] if ranked and not ranked[0].tails else None
    if alone is None or not alone.predicate:
        return []
    objects = [
        name
        for name in ranked
        if name.predicate == alone.predicate
        and len(name.tails) == 1
        and not _preposition(name.tails[0])
        and told[name] >= max(_TOLD, _OBJECT * told[alone])
    ]
    return sorted(objects, key=lambda name: -told[name])[:1]


def _central(told: Sequence[tuple[Wording, int]]) -> list[tuple[Wording, int]]:
    """The middle of a type, half of its sentences: those with verbs, if it has any."""
    half, passed = sum(count for _, count in told) / 2, 0
    found = []
    for wording, count in told:
        if passed < half:
            found.append((wording, count))
        passed += count
    return [pair for pair in found if pair[0].verb] or found


def _bare_of(counted: Counter[_Name]) -> set[_Name]:
    """Names with a noun that oftener stands behind a preposition."""
    return {
        bare
        for name, count in counted.items()
        if len(name.tails) == 1 and _preposition(name.tails[0])
        for bare in [_Name(name.predicate, (name.tails[0].partition(" ")[2],))]
        if bare in counted and counted[bare] < count
    }


def _told_names(wording: Wording) -> Iterator[tuple[_Name, str]]:
    """The names that a sentence gives, each as a candidate and as it is told."""
    predicate = f"{wording.verb} {wording.particle}".strip()
    phrases = list(dict.fromkeys(_phrases(wording)))
    if predicate:
        yield _Name(predicate, ()), predicate
    for phrase in phrases:
        if phrase in predicate.split():  # "drink a drink"
            continue
        yield _Name(predicate, (_same(phrase),)), f"{predicate} {phrase}".strip()
    for first, second in pairwise(phrases):
        if predicate and _preposition(second):
            tails = (_same(first), _same(second))
            yield _Name(predicate, tails), f"{predicate} {first} {second}"


class _Forms:
    """The words of a sentence, as they stand and in their base forms, and where they stand."""

    def __init__(self, wording: Wording) -> None:
        wordnet = WordNet.load()
        self._all = {wording.verb, wording.object, *wording.words}
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        for place, match in enumerate(_WORD.finditer(wording.text)):
            word = match[0].lower()
            forms = {word, _SAME.get(word, word)}
            forms.update(wordnet.lemmas(word, "n"), wordnet.lemmas(word, "v"))
            self._all |= forms
            for form in forms:
                self._first.setdefault(form, place)
                self._last[form] = place

    def have(self, name: _Name) -> bool:
        """Whether all words of a name are here: "put in dish" is not "put the dish in the rack"."""
        return name.words <= self._all and all(
            self._last.get(tail.rpartition(" ")[2], -1) > self._first.get(_preposition(tail), -1)
            for tail in name.tails
            if _preposition(tail)
        )


def _preposition(phrase: str) -> str:
    first, _, rest = phrase.partition(" ")
    return first if rest else ""


def _same(phrase: str) -> str:
    first, _, rest = phrase.partition(" ")
    return f"{_SAME[first]} {rest}".strip() if rest and first in _SAME else phrase


def _phrases(wording: Wording) -> list[str]:
    """Return the object and the prepositional phrases: "clothes", "into dryer"."""
    wordnet = WordNet.load()
    tokens = [match[0].lower() for match in _WORD.finditer(wording.text)]
    found: list[str] = []
    preposition, begun = "", not wording.verb
    content = set(wording.words)
    for at, token in enumerate(tokens):
        if not begun:
            begun = _is_verb(token, wording.verb)
            continue
        noun = wordnet.lemma(token, "n")
        if token in lexicon.CONJUNCTIONS or token in lexicon.SUBORDINATORS:
            break
        if token in lexicon.PREPOSITIONS and token != wording.particle:
            # "a cup of tea", but "get out of the car"
            unsaid = token in _UNSAID and tokens[at - 1] != "out"
            preposition = "" if unsaid else token
        elif noun and not content.isdisjoint({token, noun}) and token not in lexicon.CLOSED:
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            if following in lexicon.CLOSED or not wordnet.lemma(following, "n"):
                found.append(f"{preposition} {noun}".strip() if wording.verb else noun)
                preposition = ""
    if found or not wording.object:
        return found
    verbs = (at for at, token in enumerate(tokens) if _is_verb(token, wording.verb))
    behind = tokens[next(verbs, 0) + 1 :] if wording.verb else []
    nouns = {wordnet.lemma(token, "n") for token in behind}.union(behind)
    # Before the verb it is what something is done to: "the card is inserted".
    return [] if wording.object in nouns else [wording.object]


def _is_verb(token: str, verb: str) -> bool:
    return verb in {token, WordNet.load().lemma(token, "v")}


def _free(candidates: list[str], used: set[str]) -> str:
    for name in candidates:
        if name not in used:
            return name
    number = 2
    while f"{candidates[0]} {number}" in used:
        number += 1
    return f"{candidates[0]} {number}"
