"""What is left out where narratives are so many or so long that learning has to be bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.learn.backoff import most_states
from elision.learn.outline import MOST_EVENTS
from elision.learn.structure import MOST_EXACT_STATES, MOST_TREE_STATES, MOST_TRIED
from elision.learn.telling import FEW_CELLS, MOST_CELLS
from elision.values.telling_kinds import MOST_KINDS, SHARED_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.learn.sem import SEMHMM

FEW_STATES = 250
"""A search seldom ends with more: a bound above is not worth a word."""


def of_default(narratives: Sequence[Sequence[str]]) -> list[str]:
    """What the default learner will leave out of these narratives, a line each; mostly nothing.

    Examples
    --------
    >>> of_default([["ring", "open"]] * 10)
    []
    >>> of_default([[f"event {number}" for number in range(350)]])[0]
    '350 event types: the 280 most told are learned each for itself, the others in 20 groups'
    """
    events = len({event for one in narratives for event in one})
    said = []
    if events > MOST_KINDS:
        own = MOST_KINDS - SHARED_KINDS
        others = f"the others in {SHARED_KINDS} groups"
        said.append(
            f"{events} event types: the {own} most told are learned each for itself, {others}"
        )
    if events > MOST_EVENTS:
        said.append(f"{events} event types: at most the {MOST_EVENTS} most told become steps")
    symbols, most = (events, MOST_CELLS) if events <= MOST_KINDS else (MOST_KINDS, FEW_CELLS)
    told = sum(len(one) + 1 for one in narratives)
    if told * (symbols + 1) > most:
        share = most / (told * (symbols + 1))
        said.append(f"{told} events: how they are told is learned from about {share:.1%} of them")
    return said


def of_search(learner: SEMHMM, narratives: Sequence[Sequence[str]]) -> list[str]:
    """What a search will leave out of these narratives, a line each; mostly nothing."""
    longest = max(map(len, narratives), default=0)
    states = longest * min(learner.batch_size, len(narratives)) + 2
    said = []
    if states > MOST_TREE_STATES:
        said.append(
            f"narratives of up to {longest} events: the search compares at most {MOST_TREE_STATES}"
            " states, and only counts what would make more"
        )
    if learner.score == "exact" and states > MOST_EXACT_STATES:
        said.append(
            f"with more than {MOST_EXACT_STATES} states, moves are scored by expected counts alone"
        )
    distinct = set(map(tuple, narratives))
    told = sum(map(len, distinct))
    steps = told + len(distinct)  # their ends are told, too
    if learner.score == "exact" and steps > MOST_TRIED:
        share = MOST_TRIED / steps
        said.append(
            f"{told} events in distinct narratives: moves are tried on about {share:.1%} of them"
        )
    most = most_states(steps)
    if learner.score == "marginal" and most < FEW_STATES:
        said.append(
            f"{told} events in distinct narratives: with more than {most} states, only ways that"
            " were told are learned"
        )
    return said
