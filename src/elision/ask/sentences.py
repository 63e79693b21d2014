"""Sentences as a script hears them, by the extractor that was learned with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from elision import text
from elision.errors import UnknownEventError
from elision.values.observations import HeardSentence, short, surely

if TYPE_CHECKING:
    from collections.abc import Iterable

    from elision.text.prose import Said
    from elision.values.observations import Observation
    from elision.values.script import Script

NEAREST = 3
"""Events that are named: as nearest to a sentence that stands for none, as what one may be."""

LEAST = 0.05
"""What a sentence is less probably is not named."""


_WITHOUT = re.compile(r"^\W*without\s+", re.IGNORECASE)
# "I washed my hands without soap": no soap was used. Without doing something is a denial by itself.
_LACKING = re.compile(
    r"(?:^\W*|,?\s+)without\s+(?!\w+ing\b)[^,.;!?]*?"
    r"(?=[,.;!?]|\s+(?:and|but|or|then|i|you|he|she|we|they)\b|$),?",
    re.IGNORECASE,
)
_COMMA = re.compile(r"\s*,\s*(?:(?:and|then|and then)\s+)?", re.IGNORECASE)


class Taken(NamedTuple):
    """What a sentence of a telling was taken for, with the share of the event's weight.

    A sentence that tells several things stands here several times, and one that tells nothing that
    the script knows has no event. ``denied`` is whether it says that something did not happen.
    ``others`` are what else it may be, with their shares, where it is uncertain.
    """

    position: int
    sentence: str
    event: str | None
    share: float
    denied: bool = False
    others: tuple[tuple[str, float], ...] = ()
    uncertain: bool = False

    @property
    def meant(self) -> str:
        """What it is taken for, in words.

        Examples
        --------
        >>> Taken(0, "Get it.", "get soap", 0.3, False, (("get towel", 0.2),), True).meant
        'uncertain: get soap (30%) or get towel (20%)'
        """
        if self.event is None:
            denied = "says that something did not happen, left out"
            return denied if self.denied else "unknown, left out"
        *first, last = (
            f"{event} ({share:.0%})" for event, share in ((self.event, self.share), *self.others)
        )
        if not self.uncertain:
            return last
        return f"uncertain: {' or '.join(filter(None, [', '.join(first), last]))}"


class Part(NamedTuple):
    """A sentence or a part of it, and what it may stand for: weights by event, none if nothing.

    ``denied`` is whether it says that something did not happen, and ``denies`` the event that did
    not, if it is surely one of the script's.
    """

    words: str
    heard: tuple[Mapping[str, float], ...]
    denied: bool = False
    denies: str | None = None


def parts(script: Script, sentence: str) -> list[Part]:
    """Return a sentence with what it may stand for, or its parts where it tells several things.

    It is cut as running text is, where two parts or more stand for different events, or where some
    of it is denied; and at the commas of a list where each item is surely another event. That
    something did not happen is no telling of it, unless that is how the event is told: "do not open
    the oven".
    """
    if script.extractor is None:
        return []
    said = [part for part in text.prose.said(sentence) if part.kind != "remark"]
    if len(said) == 1 and said[0].kind == "denied":
        return [_denial(script, sentence)]
    # The noun that "it" stands for may make a part too like the one that named it.
    for meant in (True, False):
        found = [found for part in said for found in _parts(script, part, meant=meant)]
        events = {_likeliest(one) for part in found for one in part.heard}
        if len(events) > 1 or any(part.denied for part in found):
            return found
    several = text.prose.sentences_of(sentence)
    if len(several) < 2:
        return [Part(sentence, _heard(script, sentence))]
    # One of them may be a remark that tells something all the same, or hides what another tells.
    each = [part for one in several for part in parts(script, one)]
    told = [part for part in each if part.heard]
    if len({_likeliest(one) for part in told for one in part.heard}) > 1:
        return told
    surest = max(told, key=lambda part: max(part.heard[0].values()), default=None)
    return [Part(sentence, () if surest is None else surest.heard)]


def _parts(script: Script, said: Said, *, meant: bool) -> list[Part]:
    if said.kind == "denied":
        return [_denial(script, said.words)]
    items = [item for item in _COMMA.split(said.words) if item]
    if len(items) > 1 and all(text.parse.parse(item).verb for item in items):
        listed = [Part(item, _heard(script, item)) for item in items]
        events = [surely(one) for part in listed for one in part.heard]
        names = {event for event in events if isinstance(event, str)}
        if len(names) == len(events) == len(items):
            return listed
    return [Part(said.words, _heard(script, said.meant if meant else said.words))]


def _likeliest(weights: Mapping[str, float]) -> str:
    return max(weights, key=lambda event: weights[event])


def candidates(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return what a sentence may stand for, a few events with their shares, likeliest first.

    Examples
    --------
    >>> candidates({"pour": 0.06, "wait": 0.36, "close": 0.02})
    [('wait', 0.36), ('pour', 0.06)]
    """
    first, *others = sorted(weights.items(), key=lambda one: (-one[1], one[0]))[:NEAREST]
    return [first, *(one for one in others if one[1] >= LEAST)]


def perhaps(item: Observation) -> set[str]:
    """Return the events that an item may tell, where it does not surely tell one.

    Examples
    --------
    >>> sorted(perhaps({"wait": 0.36, "pour": 0.06})), perhaps({"wait": 0.8, "pour": 0.1})
    (['pour', 'wait'], set())
    """
    sure = surely(item)
    return {event for event, _ in candidates(sure)} if isinstance(sure, Mapping) else set()


def _heard(script: Script, words: str) -> tuple[HeardSentence, ...]:
    if script.extractor is None:
        return ()
    known = set(script.events)
    had = _LACKING.sub("", words).strip()
    weights = (
        HeardSentence.of(one).among(known)
        for one in script.extractor.observe([had or words])
        if isinstance(one, Mapping)
    )
    return tuple(one for one in weights if one)


def _denial(script: Script, words: str) -> Part:
    """A denial, and what it may stand for: events that most of their own sentences so tell."""
    heard = _heard(script, _WITHOUT.sub("", words))
    if script.extractor is None or not heard:
        return Part(words, (), denied=True)
    events = {event for one in heard for event in one}
    so_told = {
        kind.name
        for domain in script.extractor.domains_.values()
        for kind in domain.types
        if kind.name in events
        and 2 * sum(map(text.prose.is_denied, kind.sentences)) > len(kind.sentences)
    }
    weights = (one.among(so_told) for one in heard)
    told = tuple(one for one in weights if one)
    denied = None if told else surely(heard[0])
    return Part(words, told, denied=True, denies=denied if isinstance(denied, str) else None)


def taken_for(script: Script, items: Iterable[object]) -> list[Taken]:
    """Say what each sentence of a telling is taken for; names of events and gaps are left out.

    Examples
    --------
    >>> import elision as el
    >>> told = [["hear the bell", "walk to the door", "open the door"]] * 3
    >>> extractor = el.EventExtractor("wordnet").fit(told)
    >>> learned = el.ScriptLearner().fit(extractor.transform(told)).script_
    >>> script = learned.annotated(extractor=extractor.to_dict())
    >>> [(one.sentence, one.event) for one in taken_for(script, ["she heard a bell", None])]
    [('she heard a bell', 'hear bell')]
    """
    found: list[Taken] = []
    if script.extractor is None:
        return found
    known = set(script.events)
    for position, item in enumerate(items):
        if not isinstance(item, str) or item in known:
            continue
        for part in parts(script, item):
            for weights in part.heard:
                likely = candidates(weights)
                if isinstance(surely(weights), str):
                    likely, uncertain = likely[:1], False
                else:
                    uncertain = True
                (event, share), *others = likely
                found.append(
                    Taken(
                        position,
                        part.words,
                        event,
                        float(share),
                        others=tuple((other, float(weight)) for other, weight in others),
                        uncertain=uncertain,
                    )
                )
            if not part.heard:
                found.append(Taken(position, part.words, None, 0.0, part.denied))
    return found


def unknown_sentence(script: Script, sentence: str, where: str) -> UnknownEventError:
    """Return the complaint about a sentence that stands for none of the script's events."""
    near: list[str] = []
    if script.extractor is not None:
        rows = script.extractor.transform_proba([[sentence]])[0]
        weights = rows[0] if rows else {}
        near = sorted(weights, key=lambda name: -weights[name])[:NEAREST]
    nearest = "; nearest: " + ", ".join(near) if near else ""
    return UnknownEventError(
        f"unknown sentence {short(sentence)}{nearest}",
        where=where,
        hint="unknown='ignore' leaves such sentences out",
    )
