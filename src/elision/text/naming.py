"""Names of event types that a person can read: "hear", "open door", "turn on light"."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from elision.text import lexicon
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.text.wording import Wording

__all__ = ["name_types"]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LONGEST = 40
# Prepositions of one meaning, so that names agree.
_SAME = {"into": "in", "onto": "on", "inside": "in"}
_UNSAID = {"of": ""}


def name_types(types: Sequence[Sequence[tuple[Wording, int]]]) -> list[str]:
    """Return a name for each type, no two alike.

    A type is called by its most frequent verb, with its particle, where most sentences with that
    verb tell this type. Elsewhere the object or the prepositional phrase is added that best tells
    it from the other types: "put in dryer", not "put clothes". Where that is not enough, types are
    numbered. Sentences without a verb lend their object, or their words.

    Parameters
    ----------
    types
        The wordings of each type, most central first, and how often each was told.

    Examples
    --------
    >>> def told(*sentences):
    ...     from elision.text.parse import RuleParser
    ...     from elision.text.wording import read_wording
    ...     return [(read_wording(sentence, RuleParser()), 1) for sentence in sentences]
    >>> name_types([told("open the door"), told("open the letter"), told("walk to the door")])
    ['open door', 'open letter', 'walk']
    >>> washer = told("put the clothes in the washer", "put laundry in washer", "put clothes in")
    >>> dryer = told("put clothes in the dryer", "put the clothes into the dryer", "put in dryer")
    >>> name_types([washer, dryer])
    ['put in washer', 'put in dryer']
    """
    verbs = [_most_told(_verbs(told)) for told in types]
    said: Counter[str] = Counter()
    for told in types:
        said.update(_verbs(told))
    shared = Counter(verb for verb in verbs if verb)
    alone = [
        bool(verb) and shared[verb] == 1 and 2 * _verbs(told)[verb] >= said[verb]
        for told, verb in zip(types, verbs, strict=True)
    ]
    # Names that are sure come first, so that no numbered one takes them.
    names = [verb if sure else "" for verb, sure in zip(verbs, alone, strict=True)]
    used = {name for name in names if name}
    tails = [_tails(told, verb) for told, verb in zip(types, verbs, strict=True)]
    everywhere: dict[str, Counter[str]] = {}
    for verb, found in zip(verbs, tails, strict=True):
        everywhere.setdefault(verb, Counter()).update(found)
    sizes = [sum(count for _, count in told) for told in types]
    for number in sorted(range(len(types)), key=lambda number: -sizes[number]):
        if not names[number]:
            verb = verbs[number]
            ranked = _telling_apart(tails[number], everywhere[verb])
            shown = [_as_told(types[number], verb, tail) for tail in ranked]
            names[number] = _free(_candidates(types[number], verb, shown), used)
            used.add(names[number])
    return names


def _verbs(told: Sequence[tuple[Wording, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for wording, count in told:
        if wording.verb:
            found[_predicate(wording)] += count
    return found


def _predicate(wording: Wording) -> str:
    return f"{wording.verb} {wording.particle}".strip()


def _most_told(found: Counter[str]) -> str:
    # most_common keeps the order of first appearance among equals: the more central one wins.
    return found.most_common(1)[0][0] if found else ""


def _tails(told: Sequence[tuple[Wording, int]], verb: str) -> Counter[str]:
    """What follows the verb of a type, and how often: objects and prepositional phrases."""
    found: Counter[str] = Counter()
    for wording, count in told:
        if not verb or _predicate(wording) == verb:
            for tail in dict.fromkeys(map(_same, _phrases(wording))):
                found[tail] += count
    return found


def _as_told(told: Sequence[tuple[Wording, int]], verb: str, tail: str) -> str:
    """Return a tail with the preposition that it is most often told with: "into", not "in"."""
    found: Counter[str] = Counter()
    for wording, count in told:
        if not verb or _predicate(wording) == verb:
            for phrase in _phrases(wording):
                if _same(phrase) == tail:
                    found[phrase] += count
    return _most_told(found) or tail


def _same(phrase: str) -> str:
    first, _, rest = phrase.partition(" ")
    return f"{_SAME[first]} {rest}".strip() if rest and first in _SAME else phrase


def _telling_apart(own: Counter[str], everywhere: Counter[str]) -> list[str]:
    """Tails by how often this type has them and how much oftener than the others."""
    return sorted(own, key=lambda tail: -own[tail] * own[tail] / everywhere[tail])


def _candidates(told: Sequence[tuple[Wording, int]], verb: str, tails: Sequence[str]) -> list[str]:
    """Names for a type whose verb alone would not do, best first."""
    names = [f"{verb} {tail}".strip() for tail in tails]
    if len(tails) > 1:
        names.append(f"{verb} {tails[0]} {tails[1]}".strip())
    if verb:
        return [*names, verb]
    return [*names, " ".join(told[0][0].words)[:_LONGEST].strip() or "event"]


def _phrases(wording: Wording) -> list[str]:
    """Return the object and the prepositional phrases: "clothes", "into dryer"."""
    wordnet = WordNet.load()
    tokens = [match[0].lower() for match in _WORD.finditer(wording.text)]
    found: list[str] = []
    preposition, begun = "", not wording.verb
    content = set(wording.words)
    for at, token in enumerate(tokens):
        if not begun:
            begun = wording.verb in {token, wordnet.lemma(token, "v")}
            continue
        noun = wordnet.lemma(token, "n")
        if token in lexicon.CONJUNCTIONS or token in lexicon.SUBORDINATORS:
            break
        if token in lexicon.PREPOSITIONS and token != wording.particle:
            preposition = _UNSAID.get(token, token)
        elif noun and not content.isdisjoint({token, noun}) and token not in lexicon.CLOSED:
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            if following in lexicon.CLOSED or not wordnet.lemma(following, "n"):
                found.append(f"{preposition} {noun}".strip() if wording.verb else noun)
                preposition = ""
    if wording.object and not any(phrase.split()[-1] == wording.object for phrase in found):
        found.insert(0, wording.object)
    return found


def _free(candidates: list[str], used: set[str]) -> str:
    for name in candidates:
        if name not in used:
            return name
    number = 2
    while f"{candidates[0]} {number}" in used:
        number += 1
    return f"{candidates[0]} {number}"
