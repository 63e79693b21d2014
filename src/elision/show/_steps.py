"""What an export tells of each state, and names as XML can hold them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from elision.show.flow import checked_share, select

if TYPE_CHECKING:
    from elision.show.flow import Passage
    from elision.values.script import Script

READABLE = 0.05
"""Least probability of an event that is named, if what is readable is wanted."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Step(NamedTuple):
    """An interior state with the events it may tell."""

    state: int
    name: str
    events: tuple[tuple[int, float], ...]
    silence: float
    more: int


def steps(script: Script, min_share: float | None) -> tuple[list[Step], tuple[Passage, ...]]:
    """Interior states and passages that are rarer than ``min_share`` left out; see `select`.

    Of the events of a state those are left out that are less probable, but the likeliest stays.
    """
    chosen = select(script, min_share=min_share)
    rarest = READABLE if min_share is None else checked_share(min_share)
    found = []
    for k in chosen.states[1:-1]:
        chances = script.emission[k]
        order = [int(o) for o in np.argsort(-chances, kind="stable") if chances[o] > 0]
        events = tuple((o, float(chances[o])) for o in order[:1] if chances[o] > 0)
        events += tuple((o, float(chances[o])) for o in order[1:] if chances[o] >= rarest)
        silence = float(script.elision[k])
        if events and silence < rarest:
            silence = 0.0
        found.append(Step(k, script.states[k], events, silence, len(order) - len(events)))
    return found, chosen.passages


def xml_text(text: str) -> str:
    r"""Return a text for the inside of an element, without what XML cannot hold.

    Examples
    --------
    >>> xml_text("salt & \x00pepper")
    'salt &amp; �pepper'
    """
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"\r": "&#13;"})


def xml_attribute(text: str) -> str:
    """Return a text as the quoted value of an attribute."""
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
