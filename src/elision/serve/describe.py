"""A script in words and numbers: what the page knows of it without asking again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.serve import messages
from elision.serve.examples import examples
from elision.serve.outlines import happens
from elision.show.flow import flow
from elision.show.words import cleaned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.serve.shelf import Held
    from elision.values.outline import Outline
    from elision.values.script import Script

MOST_EVENTS = 5000
MOST_WAYS = 60
"""Events of the list, and edges or events of a state, that are shown at most."""

RAREST_WAY = 1e-4

FEW = 30
"""Tellings of which the page says that they are few."""


def listed(held: Held) -> messages.Listed:
    """Return a line of the list of scripts."""
    script = held.script
    narratives = script.about.get("narratives")
    return messages.Listed(
        id=held.id,
        name=held.name,
        states=script.size - 2,
        edges=len(script.parameters.source),
        events=len(script.events),
        narratives=narratives if isinstance(narratives, int) else None,
        sentences=held.hears_sentences,
        learned=held.learned,
        source=held.source,
        tellings=int(held.tellings.counts.sum()) if held.tellings else 0,
    )


def details(held: Held) -> messages.Details:
    """Return all states with their events and edges, and examples to begin with.

    Examples
    --------
    >>> import elision as el
    >>> from elision.serve.shelf import Held
    >>> found = details(Held("door", "door", el.examples.doorbell()))
    >>> found.states[3].name, [found.states[way.state].name for way in found.states[3].after]
    ('look through peephole', ['open door'])
    """
    script = held.script
    flows = flow(script)
    passages = script.transition * flows.visits[:, None]
    states = [
        messages.State(
            state=k,
            name=cleaned(script.states[k]),
            chance=float(flows.chance[k]),
            elision=float(script.elision[k]),
            events=_events(script, k),
            before=_ways(_shares(passages[:, k]), passages[:, k]),
            after=_ways(script.transition[k], passages[k]),
        )
        for k in range(script.size)
    ]
    return messages.Details(
        id=held.id,
        name=held.name,
        summary=_summary(script.outline()),
        sentences=held.hears_sentences,
        states=states,
        events=list(held.script.events[:MOST_EVENTS]),
        examples=examples(held),
        source=held.source,
    )


def _events(script: Script, state: int) -> list[messages.Answer]:
    chances = script.emission[state]
    order = np.argsort(-chances, kind="stable")[:MOST_WAYS].tolist()
    return [messages.Answer(script.events[o], float(chances[o])) for o in order if chances[o] > 0]


def _ways(probability: NDArray[np.float64], passages: NDArray[np.float64]) -> list[messages.Way]:
    """Edges, the most used first, without those that hardly any course takes."""
    order = np.argsort(-passages, kind="stable")[:MOST_WAYS].tolist()
    least = min(RAREST_WAY, float(passages.max(initial=0.0)))
    return [
        messages.Way(k, float(probability[k]), float(passages[k]))
        for k in order
        if probability[k] > 0 and passages[k] >= least
    ]


def _shares(passages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of all that come to a state, the share that comes from each other one."""
    total = float(passages.sum())
    return passages / total if total > 0 else passages


def _summary(outline: Outline) -> str:
    """Say in a sentence what is known."""
    steps = len(outline.steps)
    done, told = sum(happens(outline)), sum(step.told for step in outline.steps)
    number = f"{steps} step" if steps == 1 else f"{steps} steps"
    source = f"Learned from {outline.tellings} tellings: {number}" if outline.tellings else number
    rough = " So few that percentages are rough." if 0 < outline.tellings < FEW else ""
    if round(done) <= round(told):
        return f"{source}.{rough}"
    return f"{source}. People do about {done:.0f} of them and mention {told:.0f}.{rough}"
