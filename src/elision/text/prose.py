"""Free text as what happens in it: one short sentence an event, remarks and moods set aside.

A paragraph is cut into sentences and these into the parts that tell one event each. Parts that say
how things are, what somebody thinks, or what was not done tell no event and are left out, and so
are sentences that begin with "if". What a pronoun stands for is said beside the part where that is
sure; the words stay those of the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from elision.text import lexicon
from elision.text.parse import parse, split
from elision.text.wording import MEANT
from elision.text.wordnet import WordNet
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.text.parse import Clause


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
# Where what happens and what does not meet: their verbs differ in form, and no parser cuts there.
_DOER = r"(?:(?:i|you|he|she|it|we|they)\s+)?"
_CONTRAST = re.compile(
    r",?\s+(?:but|yet|so)\s+(?!that\b)"
    rf"|,?\s+and\s+(?={_DOER}(?:never\b|\w+\s+not\b|\w+n['’]?t\b|\w+ed\b))",
    re.IGNORECASE,
)
# "without washing it I left": what is denied stands in a phrase of its own.
_WITHOUT = re.compile(
    r",?\s*\bwithout\s+(?:(?:even|ever|first|\w+ly)\s+)?\w+ing\b.*?"
    r"(?=[,.;!?]|\s+(?:and|but|or|then|i|you|he|she|we|they)\b|$)[,;]?\s*",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^(?:even\s+)?(?:if|unless|in case)\b", re.IGNORECASE)

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
    meant
        The part with the noun that a pronoun stands for, if that is sure; else as it was written.
    """

    words: str
    kind: Literal["event", "denied", "remark"]
    meant: str


def said(text: str) -> list[Said]:
    """Return the parts of a text that tell one thing each, in its order.

    Examples
    --------
    >>> [one[:2] for one in said("It was late. I went in but did not pay.")]
    [('It was late', 'remark'), ('I went in', 'event'), ('did not pay', 'denied')]
    >>> [one[:2] for one in said("Without paying I left.")]
    [('Without paying', 'denied'), ('I left', 'event')]
    >>> [one.meant for one in said("I found the book and checked it out.")]
    ['I found the book', 'checked the book out']
    """
    mentions = Mentions()
    found: list[Said] = []
    for sentence in (piece for whole in sentences_of(text) for piece in _apart(whole)):
        if _WITHOUT.match(sentence):
            found.append(Said(sentence, "denied", sentence))
            continue
        pieces = _CONTRAST.split(sentence) if _NOT.search(sentence) else [sentence]
        begin = 0
        for part in (part for piece in pieces if piece for part in split(piece) or [piece]):
            at = max(sentence.find(part, begin), 0)
            whole = _denied(sentence[begin:], at - begin) + part
            if _CONDITION.match(sentence):
                found.append(Said(part, "remark", part))
            elif is_denied(whole):
                found.append(Said(whole, "denied", whole))
            elif tells_an_event(whole):
                found.append(Said(part, "event", mentions.resolved(part)))
            else:
                found.append(Said(part, "remark", part))
            if found[-1].kind != "event":
                mentions.forget()
            begin = at + len(part)
    return found


def telling(text: str, domain: str = "", name: str = "") -> Narrative | None:
    """Return what a text tells as a narrative, in its own words; None if it tells nothing.

    What pronouns stand for is kept beside them, as the field ``meant`` of ``extra``.

    Examples
    --------
    >>> told = telling("I found the book and checked it out.")
    >>> told.steps, dict(told.extra)
    (('I found the book', 'checked it out'), {'meant': {'checked it out': 'checked the book out'}})
    """
    events = [one for one in said(text) if one.kind == "event"]
    meant: dict[str, set[str]] = {}
    for one in events:
        meant.setdefault(one.words, set()).add(one.meant)
    # Of the same words for different things it cannot be kept which are which.
    sure = {words: next(iter(all_)) for words, all_ in meant.items() if len(all_) == 1}
    changed = {words: one for words, one in sure.items() if words != one}
    steps = tuple(one.words for one in events)
    if not steps:
        return None
    return Narrative(steps=steps, domain=domain, id=name, extra={MEANT: changed} if changed else {})


def _apart(sentence: str) -> list[str]:
    """Cut what was done without doing something else into the two; "not without" denies nothing."""
    without = _WITHOUT.search(sentence)
    if without is None or _NOT.search(sentence) or _CONDITION.match(sentence):
        return [sentence]
    denied = without[0].strip(" ,;")
    pieces = [sentence[: without.start()].strip(), denied, sentence[without.end() :].strip()]
    return [piece for piece in pieces if _WORD.search(piece)]


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


def _is_order(sentence: str, verb: str) -> bool:
    """Say whether a sentence begins with its verb: "feel for the hole"."""
    words = _WORD.findall(sentence.lower())
    first = next((word for word in words if word not in lexicon.ADVERBS), "")
    return first == verb


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENSES = 3  # of a noun that count for what it is
_RECENT = 3  # parts among which something to operate is looked for
# Verbs of operating, by the particles that make them such; none where they are so alone.
_OPERATING = {
    "start": ("", "up"),
    "stop": ("",),
    "run": ("",),
    "switch": ("on", "off"),
    "turn": ("on", "off", "up", "down"),
    "shut": ("", "off", "down"),
    "plug": ("in",),
    "unplug": ("",),
    "open": ("", "up"),
    "close": ("", "up"),
    "lock": ("", "up"),
    "unlock": ("",),
    "fill": ("", "up"),
    "empty": ("",),
}
_OPENED = frozenset({"open", "close", "shut", "lock", "unlock", "fill", "empty"})
# WordNet's words for what can be operated, for what can be opened besides, and for all things.
_DEVICES = ("device", "appliance", "motor vehicle", "electronic equipment", "kitchen utensil")
_THINGS = ("physical entity",)
_OPENABLE = ("movable barrier", "container", "window")


class _Noun(NamedTuple):
    name: str
    plural: bool


class Mentions:
    """The things that a text has named so far, part by part.

    Examples
    --------
    >>> mentions = Mentions()
    >>> mentions.resolved("put the wet things into the dryer"), mentions.resolved("started it")
    ('put the wet things into the dryer', 'started the dryer')
    >>> mentions.resolved("went home because it was sunny")
    'went home because it was sunny'
    """

    def __init__(self) -> None:
        self._acted_upon: _Noun | None = None
        self._recent: list[list[_Noun]] = []

    def forget(self) -> None:
        """Let nothing that was named before be what a pronoun stands for."""
        self._acted_upon = None
        self._recent.clear()

    def resolved(self, part: str) -> str:
        """Return a part with the noun for its pronoun, if that is known, and remember the part."""
        clause = parse(part)
        words = list(_WORD.finditer(part))
        lower = [word[0].lower() for word in words]
        verb = _place_of_verb(lower, clause)
        at = _object_pronoun(lower, verb, clause)
        found = None
        if at is not None:
            found = self._antecedent(clause, plural=lower[at] == "them")
        else:
            self._acted_upon = _direct(lower, verb, clause)
        self._recent = [*self._recent, _nouns(lower, verb)][-_RECENT:]
        if at is None or found is None:
            return part
        return f"{part[: words[at].start()]}the {found.name}{part[words[at].end() :]}"

    def _antecedent(self, clause: Clause, *, plural: bool) -> _Noun | None:
        last = self._acted_upon
        if clause.particle in _OPERATING.get(clause.verb, ()):
            kinds = _DEVICES + (_OPENABLE if clause.verb in _OPENED else ())
            if last and last.plural == plural and _is_a(last.name, kinds):
                return last
            recent = [one for part in self._recent for one in part if one.plural == plural]
            return next((one for one in reversed(recent) if _is_a(one.name, kinds)), None)
        return last if last and last.plural == plural and _is_a(last.name, _THINGS) else None


def _place_of_verb(words: list[str], clause: Clause) -> int:
    """Where the verb stands; -1 if that is not known."""
    wordnet = WordNet.load()
    forms = (
        at
        for at, word in enumerate(words)
        if clause.verb and clause.verb in {word, wordnet.lemma(word, "v")}
    )
    return next(forms, -1)


def _object_pronoun(words: list[str], verb: int, clause: Clause) -> int | None:
    """Where "it" or "them" stands as what something is done to: right behind the verb."""
    if verb < 0:
        return None
    at = verb + 1
    if at < len(words) and words[at] == clause.particle:
        at += 1
    if at >= len(words) or words[at] not in {"it", "them"}:
        return None
    after = words[at + 1] if at + 1 < len(words) else ""
    return None if after in lexicon.AUXILIARIES else at


def _direct(words: list[str], verb: int, clause: Clause) -> _Noun | None:
    """The direct object of a part: a single one, before any prepositional phrase."""
    if not lexicon.CONJUNCTIONS.isdisjoint(words):
        return None
    for at in range(verb + 1, len(words)):
        if words[at] in lexicon.PREPOSITIONS - lexicon.PARTICLES:
            return None
        noun = _noun(words, at)
        if noun and clause.object in {words[at], WordNet.load().lemma(words[at], "n")}:
            return noun
    return None


def _nouns(words: list[str], verb: int) -> list[_Noun]:
    found = (_noun(words, at) for at in range(verb + 1, len(words)))
    return [one for one in found if one]


def _noun(words: list[str], at: int) -> _Noun | None:
    """The noun at a place, with the one before it if the two are one: "washing machine"."""
    wordnet = WordNet.load()
    lemma = wordnet.lemma(words[at], "n")
    if not lemma or words[at] in lexicon.CLOSED:
        return None
    plural = lemma != words[at] or words[at] in lexicon.PLURAL_ONLY
    pair = f"{words[at - 1]}_{lemma}" if at else ""
    name = f"{words[at - 1]} {words[at]}" if wordnet.knows(pair, "n") else words[at]
    return _Noun(name, plural)


@cache
def _is_a(name: str, kinds: tuple[str, ...]) -> bool:
    """Say whether a noun in one of its first senses is one of some kinds of things."""
    wordnet = WordNet.load()
    above = {one for kind in kinds for one in wordnet.synsets(kind.replace(" ", "_"), "n")[:2]}
    lemma = wordnet.lemma(name, "n") or ""
    senses = wordnet.synsets(lemma, "n")[:_SENSES]
    return any(not above.isdisjoint(wordnet.ancestors(sense)) for sense in senses)
