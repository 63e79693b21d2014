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


def name_types(types: Sequence[Sequence[tuple[Wording, int]]]) -> list[str]:
    """Return a name for each type, no two alike.

    A type is called by its most frequent verb, with its particle. Where several types share one,
    each is called by verb and object, and where that is not enough, they are numbered. Sentences
    without a verb lend their object, or their words.

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
    """
    verbs = [_most_told(_verbs(told)) for told in types]
    shared = Counter(verb for verb in verbs if verb)
    # Names that are sure come first, so that no numbered one takes them.
    names = [verb if verb and shared[verb] == 1 else "" for verb in verbs]
    used = {name for name in names if name}
    sizes = [sum(count for _, count in told) for told in types]
    for number in sorted(range(len(types)), key=lambda number: -sizes[number]):
        if not names[number]:
            names[number] = _free(_candidates(types[number], verbs[number]), used)
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


def _candidates(told: Sequence[tuple[Wording, int]], verb: str) -> list[str]:
    """Names for a type whose verb alone would not do, best first."""
    objects: Counter[str] = Counter()
    for wording, count in told:
        if wording.object and (not verb or _predicate(wording) == verb):
            objects[_with_preposition(wording)] += count
    names = [f"{verb} {thing}".strip() for thing, _ in objects.most_common()]
    if verb:
        return [*names, verb]
    return [*names, " ".join(told[0][0].words)[:_LONGEST].strip() or "event"]


def _with_preposition(wording: Wording) -> str:
    """Return the object, behind the preposition that the sentence has between it and the verb."""
    wordnet = WordNet.load()
    tokens = [match[0].lower() for match in _WORD.finditer(wording.text)]
    named = [wording.object in {token, wordnet.lemma(token, "n")} for token in tokens]
    if True not in named:
        return wording.object
    for before in reversed(tokens[: named.index(True)]):
        if wording.verb in {before, wordnet.lemma(before, "v")}:
            break
        if before in lexicon.PREPOSITIONS and before not in {wording.particle, "of"}:
            return f"{before} {wording.object}" if wording.verb else wording.object
    return wording.object


def _free(candidates: list[str], used: set[str]) -> str:
    for name in candidates:
        if name not in used:
            return name
    number = 2
    while f"{candidates[0]} {number}" in used:
        number += 1
    return f"{candidates[0]} {number}"
