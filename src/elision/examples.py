"""Small things to try questions on: somebody rings at the door; orders, not all of it recorded."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from elision import learn
from elision.values.script import Script

if TYPE_CHECKING:
    import polars as pl

ORDER_ROLES = {
    "receive order": ("web shop", 0.0),
    "check credit": ("accounts", 0.1),
    "pick items": ("warehouse", 0.25),
    "pack items": ("warehouse", 0.2),
    "inspect parcel": ("warehouse", 0.1),
    "ship": ("carrier", 0.02),
    "send invoice": ("accounts", 0.05),
    "send reminder": ("accounts", 0.1),
    "charge late fee": ("accounts", 0.05),
    "receive payment": ("bank", 0.0),
}
"""Who does each step of an order, and how often it is not recorded."""

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
    title = "answering the doorbell"
    learned: Script = learn.learner.ScriptLearner(title=title).fit(doorbell_tellings()).script_
    return learned.annotated(domain=title)


def orders(cases: int = 600, *, complete: bool = False, random_state: int = 0) -> pl.DataFrame:
    """Return an event log of orders as a frame, with steps that were done and not recorded.

    Credit is checked while the items are picked and packed. One parcel in five is packed and
    inspected again. One customer in four is reminded to pay, and charged a late fee. How often a
    step goes unrecorded differs from step to step.

    Parameters
    ----------
    cases
        How many orders.
    complete
        Whether to record everything: the same orders, with nothing left out.

    Examples
    --------
    >>> orders().shape, orders(complete=True).shape
    ((4909, 5), (5400, 5))
    >>> orders()["activity"][:3].to_list()
    ['receive order', 'pick items', 'check credit']
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    rng = random.Random(random_state)  # noqa: S311
    rows: list[tuple[int, str, str, str, int]] = []
    for number in range(1, cases + 1):
        moment = datetime(2024, 1, 8, 8) + timedelta(minutes=37 * number)  # noqa: DTZ001
        amount = rng.randrange(20, 500)
        for step in _order(rng):
            moment += timedelta(minutes=rng.randrange(5, 300))
            who, left_out = ORDER_ROLES[step]
            if rng.random() >= left_out or complete:
                rows.append((number, step, f"{moment:%d.%m.%Y %H:%M}", who, amount))
    names = ["case_id", "activity", "timestamp", "resource", "case:amount"]
    return pl.DataFrame(rows, names, orient="row")


def _order(rng: random.Random) -> list[str]:
    """All that is done for one order, as it is done."""
    done = ["pick items", "pack items"]
    done.insert(rng.randrange(3), "check credit")
    done += ["inspect parcel"]
    while rng.random() < 0.2:
        done += ["pack items", "inspect parcel"]
    done += ["ship", "send invoice"]
    if rng.random() < 0.25:
        done += ["send reminder", "charge late fee"]
    return ["receive order", *done, "receive payment"]
