"""A script as the page first shows it: what is known of it, and tellings to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.ask.restoring import left_out
from elision.errors import counted
from elision.serve import messages
from elision.serve.outlines import spoken
from elision.show.overlay import out_of_order
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.serve.shelf import Held
    from elision.values.outline import Outline

MOST_EVENTS = 5000
"""Events of the list."""

FEW = 30
"""Tellings of which the page says that they are few."""

DRAWN = 60
LINES, UNSAID = 5, 3
"""Lines told and steps left out of a telling that is worth reading."""

PROBABLE = 0.5
TRIED = 6
"""Tellings that are judged until one is found that is as it should be."""


def listed(held: Held) -> messages.Listed:
    """Return a line of the list of scripts."""
    script = held.script
    narratives = script.about.get("narratives")
    return messages.Listed(
        id=held.id,
        name=held.name,
        events=len(script.events),
        narratives=narratives if isinstance(narratives, int) else None,
        sentences=held.hears_sentences,
        learned=held.learned,
        source=held.source,
        tellings=int(held.tellings.counts.sum()) if held.tellings else 0,
    )


def details(held: Held) -> messages.Details:
    """Return what is known of a script, and examples to begin with.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> found = details(Held("door", "door", el.examples.doorbell()))
    >>> found.summary
    '10 steps. People do about 7 of them and mention 5.'
    """
    return messages.Details(
        id=held.id,
        name=held.name,
        summary=_summary(held.script.outline()),
        sentences=held.hears_sentences,
        events=list(held.script.events[:MOST_EVENTS]),
        examples=examples(held),
        source=held.source,
    )


def _summary(outline: Outline) -> str:
    """Say in a sentence what is known."""
    steps = len(outline.steps)
    done, told = sum(outline.happens), sum(step.told for step in outline.steps)
    number = counted(steps, "step")
    source = (
        f"Learned from {counted(outline.tellings, 'telling')}: {number}"
        if outline.tellings
        else number
    )
    rough = " So few that percentages are rough." if 0 < outline.tellings < FEW else ""
    if round(done) <= round(told):
        return f"{source}.{rough}"
    return f"{source}. People do about {done:.0f} of them and mention {told:.0f}.{rough}"


# --- tellings to begin with -----------------------------------------------------------------------


def examples(held: Held) -> list[messages.Example]:
    """Tellings to click, drawn from the script with a fixed seed, so that they stay the same.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> script = el.ScriptLearner().fit(el.examples.doorbell_tellings()).script_
    >>> [one.title for one in examples(Held("door", "door", script))]
    ['a usual one', 'with a gap', 'an odd one']
    """
    drawn = [tuple(one) for one in held.script.sample(DRAWN, random_state=7)]
    ranked = _worth_reading(held.script.outline(), drawn)
    if not ranked:
        return []
    told = _usual(held, ranked)
    found = [messages.Example("a usual one", _spoken(held, told))]
    if len(told) > 2:
        place = len(told) // 2
        gap = _spoken(held, told)
        gap[place] = "?"
        found.append(messages.Example("with a gap", gap))
        wrong = _odd(held, _disordered(told))
        found.append(messages.Example("an odd one", _spoken(held, wrong)))
    return found


def _worth_reading(outline: Outline, drawn: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tellings, and tellings with something taken out, the best to read first."""
    every = dict.fromkeys(
        version for told in drawn for version in (told, _thinned(told)) if len(version) > 1
    )
    ranked = sorted(every, key=lambda told: -_worth(outline, told))
    return [told for told in ranked if _unsaid(outline, told)[0]] or ranked


def _worth(outline: Outline, told: Sequence[str]) -> float:
    """How good a telling is to read: of some length, with some steps left out in several places."""
    unsaid, places = _unsaid(outline, told)
    repeated = len(told) - len(set(told))
    return min(places, 2) - abs(len(told) - LINES) - abs(unsaid - UNSAID) - 2 * repeated


def _unsaid(outline: Outline, told: Sequence[str]) -> tuple[int, int]:
    """How many steps were probably left out, and between how many lines."""
    left = left_out(outline, steps_told(outline, told), finished=True)
    probable = left.unsaid >= PROBABLE
    places = {place for place in left.place[probable].tolist() if 0 < place < len(told)}
    return int(np.count_nonzero(probable)), len(places)


def _thinned(told: Sequence[str]) -> tuple[str, ...]:
    """Without every third event; first and last stay."""
    return tuple(event for at, event in enumerate(told) if at in (0, len(told) - 1) or at % 3 != 2)


def _disordered(told: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [(told[-1], *told[:-1]), tuple(reversed(told)), (*told[1:], told[0])]


def _usual(held: Held, ranked: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first telling in the outline's order of which nothing is odd, or else the first."""
    outline = held.script.outline()
    ordered = [told for told in ranked if not out_of_order(outline, steps_told(outline, told))]
    for told in ordered[:TRIED]:
        (found,) = held.script.conform([told])
        if not (found.odd or found.flags or found.late):
            return told
    return (ordered or ranked)[0]


def _odd(held: Held, tellings: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The first telling that is odd, or else the first of all."""
    found = held.script.conform(tellings)
    return next((told for told, one in zip(tellings, found, strict=True) if one.odd), tellings[0])


def _spoken(held: Held, told: Sequence[str]) -> list[str]:
    """The events as somebody once told them."""
    outline = held.script.outline()
    words = {
        step.event: spoken(outline, number)
        for number, step in enumerate(outline.steps)
        if step.wording
    }
    if not words and (extractor := held.script.extractor) is not None:
        words = {
            one.name: one.sentences[0]
            for domain in extractor.domains_.values()
            for one in domain.types
            if one.sentences
        }
    return [words.get(event, event) for event in told]
