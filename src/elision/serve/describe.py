"""A script in words and numbers: what the page knows of it without asking again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.serve import messages
from elision.serve.examples import examples

if TYPE_CHECKING:
    from elision.serve.shelf import Held
    from elision.values.outline import Outline

MOST_EVENTS = 5000
"""Events of the list."""

FEW = 30
"""Tellings of which the page says that they are few."""


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
    number = f"{steps} step" if steps == 1 else f"{steps} steps"
    source = f"Learned from {outline.tellings} tellings: {number}" if outline.tellings else number
    rough = " So few that percentages are rough." if 0 < outline.tellings < FEW else ""
    if round(done) <= round(told):
        return f"{source}.{rough}"
    return f"{source}. People do about {done:.0f} of them and mention {told:.0f}.{rough}"
