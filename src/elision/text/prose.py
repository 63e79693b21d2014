"""Free text as what happens in it: one short sentence an event, remarks and moods set aside.

A paragraph is cut into sentences and these into the parts that tell one event each. Parts that say
how things are, what somebody thinks, or what was not done tell no event and are left out, and so
are sentences that begin with "if". A pronoun gets the noun that it stands for, where the part
before named one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from elision.text import lexicon
from elision.text.parse import RuleParser, parse
from elision.text.wordnet import WordNet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.text.parse import Clause, Parser

__all__ = [
    "Said",
    "happenings",
    "is_denied",
    "is_prose",
    "said",
    "sentences_of",
    "tells_an_event",
]

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n+")
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|st|etc|e\.g|i\.e|vs|approx|[a-z])\.$", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NOT = re.compile(
    r"\b(?:not|never|cannot|nobody|no one|none|neither"
    r"|(?:do|does|did|is|was|were|are|has|have|had|wo|ca|could|would|should|must|need|might|ai)"
    r"n['’]?t)\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(rf"(?:\b(?:do|does|did)\s+)?{_NOT.pattern}\s*$", re.IGNORECASE)
# "don't forget to", "be sure not to": what is meant does happen.
_SHALL = re.compile(
    r"\b(?:forg[eo]t\w*|miss\w*|wait to|(?:make|making|made|be) sure|(?:un)?till?)\b"
    r"|(?:\bnot|n['’]?t)\s+(?:only|just)\b",
    re.IGNORECASE,
)
# "forgot to lock the door", "added no salt": it does not.
_FAILED = re.compile(
    r"\b(?:forg[eo]t|forgets|forgetting|fail|fails|failed|neglect|neglects|neglected|refuse|refuses"
    r"|refused) to\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\s+(?:no|nothing|none|nobody)\b(?!\s+longer)", re.IGNORECASE)
# Where what happens and what does not meet: their verbs differ in form, and parsers do not cut there.
_DOER = r"(?:(?:i|you|he|she|it|we|they)\s+)?"
_CONTRAST = re.compile(
    r",?\s+(?:but|yet|so)\s+(?!that\b)"
    rf"|,?\s+and\s+(?={_DOER}(?:never\b|\w+\s+not\b|\w+n['’]?t\b|\w+ed\b))",
    re.IGNORECASE,
)
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
    return not _is_denied(sentence, clause)


def is_denied(sentence: str) -> bool:
    """Say whether a sentence says that something does not happen.

    What stands behind the verb denies nothing: "rinse until there is no soap left".

    Examples
    --------
    >>> is_denied("I did not add detergent"), is_denied("I forgot to lock the door")
    (True, True)
    >>> is_denied("I added detergent, not bleach"), is_denied("don't forget to lock the door")
    (False, False)
    """
    return _is_denied(sentence, parse(sentence))


class Said(NamedTuple):
    """A part of a text that tells one thing.

    Parameters
    ----------
    words
        The part as it was written; with the "did not" before it, where there is one.
    kind
        "event" where something happens, "denied" where it is said not to, "remark" for all else.
    """

    words: str
    kind: Literal["event", "denied", "remark"]


def said(text: str, parser: Parser | None = None) -> list[Said]:
    """Return the parts of a text that tell one thing each, in its order.

    Examples
    --------
    >>> [tuple(one) for one in said("It was late. I went in but did not pay.")]
    [('It was late', 'remark'), ('I went in', 'event'), ('did not pay', 'denied')]
    """
    rules = parser or _rules()
    found: list[Said] = []
    for sentence in sentences_of(text):
        pieces = _CONTRAST.split(sentence) if _NOT.search(sentence) else [sentence]
        begin = 0
        for part in (part for piece in pieces if piece for part in rules.split(piece) or [piece]):
            at = max(sentence.find(part, begin), 0)
            whole = _denied(sentence[begin:], at - begin) + part
            if _CONDITION.match(sentence):
                found.append(Said(part, "remark"))
            elif is_denied(whole):
                found.append(Said(whole, "denied"))
            else:
                found.append(Said(part, "event" if tells_an_event(whole) else "remark"))
            begin = at + len(part)
    return found


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
    for part in said(text, rules):
        told = part.kind == "event"
        if told:
            found.append(_THINGS.sub(f"the {thing}", part.words, count=1) if thing else part.words)
        thing = _acted_upon(rules, part.words) if told else ""
    return found


def _denied(sentence: str, at: int) -> str:
    """Return the denial that stands right before a part, which splitting leaves out."""
    found = _DENIAL.search(sentence[:at])
    return found[0] if found else ""


def _is_denied(sentence: str, clause: Clause) -> bool:
    at = max(sentence.find(clause.text), 0)
    told = _denied(sentence, at) + clause.text
    wordnet = WordNet.load()
    verbs = (w for w in _WORD.finditer(told) if wordnet.lemma(w[0].lower(), "v") == clause.verb)
    verb = next(verbs, None)
    before = told if verb is None else told[: verb.start()]
    if _NOT.search(before):
        return not _SHALL.search(told)
    return bool(_FAILED.search(before) or (verb and _NO.match(told, verb.end())))


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
