"""A script in words and numbers: what the page knows of it without asking again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elision.serve import messages
from elision.show.flow import flow
from elision.show.words import cleaned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.script import Script
    from elision.serve.shelf import Held

MOST_EVENTS = 5000
MOST_WAYS = 60
"""Events of the list, and edges or events of a state, that are shown at most."""

RAREST_WAY = 1e-4
EXAMPLE_LENGTH = 5
USUAL = 0.5


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
            before=_ways(script.transition[:, k], passages[:, k]),
            after=_ways(script.transition[k], passages[k]),
        )
        for k in range(script.size)
    ]
    return messages.Details(
        id=held.id,
        name=held.name,
        summary=_summary(script, flows.chance),
        sentences=held.hears_sentences,
        states=states,
        events=list(held.script.events[:MOST_EVENTS]),
        examples=_examples(held),
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


def _summary(script: Script, chance: NDArray[np.float64]) -> str:
    """Say in a sentence what usually happens."""
    inner = range(1, script.size - 1)
    usual = [k for k in inner if chance[k] >= USUAL]
    unsaid = [k for k in usual if script.elision[k] >= USUAL]
    text = f"{script.size - 2} steps, {len(usual)} of them in most courses"
    return f"{text}; {len(unsaid)} of those are usually left unsaid." if unsaid else f"{text}."


def _examples(held: Held) -> list[messages.Example]:
    """Tellings to click: one that leaves things out, one with a gap, one told in the wrong order.

    They are drawn from the script with a fixed seed, so they stay the same.
    """
    drawn = held.script.sample(20, random_state=7)
    told = max(drawn, key=lambda one: (min(len(one), EXAMPLE_LENGTH), len(set(one))))
    told = _thinned(told, EXAMPLE_LENGTH)
    found = [messages.Example("a short telling", _thinned(told, 3))]
    if len(told) >= 3:
        gap = [*told]
        gap[len(gap) // 2] = "?"
        found.append(messages.Example("one with a gap", gap))
        found.append(messages.Example("an odd one", [told[-1], *told[:-1]]))
    if held.hears_sentences:
        found.insert(0, messages.Example("in sentences", _sentences(held, told)))
    return [one for one in found if one.telling]


def _thinned(told: Sequence[str], length: int) -> list[str]:
    """Leave out evenly, first and last stay."""
    if len(told) <= length:
        return [*told]
    return [told[round(k * (len(told) - 1) / (length - 1))] for k in range(length)]


def _sentences(held: Held, told: Sequence[str]) -> list[str]:
    """The events as somebody once told them."""
    extractor = held.script.extractor
    types = extractor.domains_.values() if extractor else ()
    wording = {
        one.name: one.sentences[0] for domain in types for one in domain.types if one.sentences
    }
    return [wording.get(event, event) for event in told]
