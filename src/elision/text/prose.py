"""Free text as what happens in it: one short sentence an event, remarks and moods set aside.

A paragraph is cut into sentences and these into the parts that tell one event each. Parts that say
how things are, what somebody thinks, or what was not done tell no event and are left out, and so
are sentences that begin with "if". A pronoun gets the noun that it stands for, where the part
before named one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from elision.text import lexicon
from elision.text.parse import RuleParser, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.text.parse import Parser

__all__ = ["happenings", "is_prose", "sentences_of", "tells_an_event"]

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n+")
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|st|etc|e\.g|i\.e|vs|approx|[a-z])\.$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NOT = re.compile(
    r"\b(?:not|never|cannot|(?:do|does|did|is|was|were|are|has|have|had|wo|ca|could|would|should)"
    r"n['’]?t)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(rf"{_NOT.pattern}\s*$", re.IGNORECASE)
_SHALL = re.compile(r"\b(?:forget|miss)\b|\bwait\b|\bsure\b|\bonly\b", re.IGNORECASE)
_CONDITION = re.compile(r"^(?:even\s+)?(?:if|unless|in case)\b", re.IGNORECASE)
_THINGS = re.compile(r"(?<=\s)(?:it|them)\b")  # not what begins a sentence

_LONG_LINE = 14  # words; a step that somebody lists is shorter


def sentences_of(text: str) -> list[str]:
    """Cut a text into sentences.

    Examples
    --------
    >>> sentences_of("I got up. Mr. Hill called! Then I left.")
    ['I got up.', 'Mr. Hill called!', 'Then I left.']
    """
    found: list[str] = []
    begin = 0
    for end in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text[: end.start()]) and "\n" not in end[0]:
            continue
        found.append(text[begin : end.start()])
        begin = end.end()
    found.append(text[begin:])
    return [sentence.strip() for sentence in found if sentence.strip()]


def is_prose(blocks: Iterable[Iterable[str]]) -> bool:
    """Say whether blocks of lines are paragraphs of running text, and not lists of steps.

    Examples
    --------
    >>> is_prose([["I went in. I found the book and read it.", "Then I left."]])
    True
    >>> is_prose([["go in", "find the book", "leave"]])
    False
    """
    several = long = lines = 0
    for block in blocks:
        for line in block:
            lines += 1
            several += len(sentences_of(line)) > 1
            long += len(_WORD.findall(line)) > _LONG_LINE
    return bool(lines) and 2 * (several + long) >= lines


def tells_an_event(sentence: str) -> bool:
    """Say whether a sentence tells something that happens.

    Examples
    --------
    >>> tells_an_event("I took the bus"), tells_an_event("It was a lovely morning")
    (True, False)
    >>> tells_an_event("I didn't pay"), tells_an_event("don't forget to pay")
    (False, True)
    """
    if _CONDITION.match(sentence):
        return False
    clause = parse(sentence)
    if not clause.verb or (clause.verb in lexicon.STATES and not _is_order(sentence, clause.verb)):
        return False
    denied = _NOT.search(sentence)
    return denied is None or bool(_SHALL.search(sentence))


def happenings(text: str, parser: Parser | None = None) -> list[str]:
    """Return what a text tells, one short sentence an event, in its order.

    Examples
    --------
    >>> happenings("It was late. I went in, found the book and checked it out. I was so happy!")
    ['I went in', 'found the book', 'checked the book out']
    """
    rules = parser or _rules()
    found: list[str] = []
    thing = ""
    for sentence in sentences_of(text):
        begin = 0
        for part in rules.split(sentence) or [sentence]:
            at = max(sentence.find(part, begin), 0)
            told = not _CONDITION.match(sentence) and tells_an_event(
                _DENIAL.sub("", part) if _SHALL.search(part) else _denied(sentence, at) + part
            )
            if told:
                found.append(_THINGS.sub(f"the {thing}", part, count=1) if thing else part)
            thing = _acted_upon(rules, part) if told else ""
            begin = at + len(part)
    return found


def _denied(sentence: str, at: int) -> str:
    """Return the denial that stands right before a part, which splitting leaves out."""
    found = _DENIAL.search(sentence[:at])
    return found[0] if found else ""


def _acted_upon(parser: Parser, part: str) -> str:
    """Return the thing that a part names as the one that something is done to."""
    name = parser.parse(part).object
    words = _WORD.findall(part.lower())
    if not name or name == "home":
        return ""
    for at, word in enumerate(words):
        if word.startswith(name[: max(3, len(name) - 2)]):
            before = [w for w in words[:at] if w in lexicon.PREPOSITIONS - lexicon.PARTICLES]
            return "" if before else name
    return ""


def _is_order(sentence: str, verb: str) -> bool:
    """Say whether a sentence begins with its verb: "feel for the hole"."""
    words = _WORD.findall(sentence.lower())
    first = next((word for word in words if word not in lexicon.ADVERBS), "")
    return first == verb


@cache
def _rules() -> RuleParser:
    return RuleParser()
