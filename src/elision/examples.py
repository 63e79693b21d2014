"""A small script and some tellings to try things on: somebody rings at the door."""

from __future__ import annotations

from elision.script import Script

DOORBELL_TELLINGS = """
hear doorbell, walk to door, open door, greet visitor, let visitor in, close door
hear doorbell, walk to door, look through peephole, open door, greet visitor, close door
hear doorbell, open door, greet visitor
hear doorbell, walk to door, open door, take parcel, close door
walk to door, open door, let visitor in, close door
hear doorbell, walk to door, look through peephole, open door, take parcel, say goodbye, close door
hear doorbell, open door, take parcel, close door
hear doorbell, walk to door, open door, greet visitor, say goodbye, close door
walk to door, look through peephole, open door, greet visitor, let visitor in
hear doorbell, walk to door, open door, greet visitor, let visitor in, close door
hear doorbell, look through peephole, open door, sign for parcel, take parcel, close door
hear doorbell, walk to door, open door, sign for parcel, take parcel, say goodbye
walk to door, open door, greet visitor, let visitor in, close door
hear doorbell, walk to door, open door, close door
hear doorbell, open door, let visitor in, close door
hear doorbell, walk to door, open door, greet visitor, let visitor in
hear doorbell, walk to door, look through peephole, open door, let visitor in, close door
open door, take parcel, say goodbye, close door
hear doorbell, walk to door, open door, sign for parcel, take parcel, close door
hear doorbell, walk to door, greet visitor, let visitor in, close door
"""


def doorbell() -> Script:
    """Return a hand-made script of answering the doorbell, its numbers only guessed.

    Examples
    --------
    >>> doorbell()
    Script(10 states, 16 edges, 10 events)
    """
    silence = 0.3
    steps = (
        "hear doorbell",
        "walk to door",
        "look through peephole",
        "open door",
        "greet visitor",
        "let visitor in",
        "sign for parcel",
        "take parcel",
        "say goodbye",
        "close door",
    )
    return Script.build(
        states={step: {step: 1 - silence, None: silence} for step in steps},
        edges={
            "start": {"hear doorbell": 1},
            "hear doorbell": {"walk to door": 1},
            "walk to door": {"look through peephole": 0.5, "open door": 0.5},
            "look through peephole": {"open door": 1},
            "open door": {"greet visitor": 0.5, "sign for parcel": 0.25, "take parcel": 0.25},
            "greet visitor": {"let visitor in": 0.5, "say goodbye": 0.5},
            "let visitor in": {"close door": 1},
            "sign for parcel": {"take parcel": 1},
            "take parcel": {"say goodbye": 0.5, "close door": 0.5},
            "say goodbye": {"close door": 1},
            "close door": {"end": 1},
        },
        about={"activity": "answering the doorbell"},
    )


def doorbell_tellings() -> list[list[str]]:
    """Return twenty tellings of answering the doorbell, each leaving something out.

    Examples
    --------
    >>> doorbell_tellings()[2]
    ['hear doorbell', 'open door', 'greet visitor']
    """
    return [line.split(", ") for line in DOORBELL_TELLINGS.strip().splitlines()]


def learned_doorbell() -> Script:
    """Return the script that is learned from the twenty tellings.

    Examples
    --------
    >>> learned_doorbell().about["narratives"]
    20
    """
    from elision.learn.learner import ScriptLearner  # noqa: PLC0415 - slow to import

    title = "answering the doorbell"
    learned: Script = ScriptLearner(title=title).fit(doorbell_tellings()).script_
    return learned.noted(domain=title)
