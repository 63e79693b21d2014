"""Tellings with open places: their events as numbers, and the likeliest ways to fill them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from elision.errors import InputError
from elision.values.observations import Packer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from elision.values.observations import Observation
    from elision.values.script import Script
    from elision.values.telling import TellingModel

BEAM = 48
"""Fillings of some places that are followed up; where there are no more, nothing is left out."""


CONTEXTS = 24
"""Fillings of the other places for which one is filled in every way, where not all are known."""


MOST_READ = 10_000_000
"""Open places, times events, times kinds to the power of 1.5, as it grows by what was measured: a
question takes some 20 seconds then."""


def check_open(places: int, events: int, kinds: int, what: str) -> None:
    """Refuse a telling with so many open places that filling them would take minutes."""
    most = int(MOST_READ / (max(places + events, 1) * kinds**1.5))
    if places > max(most, 1):
        raise InputError(
            f"{places:,} {what} among {events:,} events of {kinds:,} kinds, expected at most"
            f" {max(most, 1):,}",
            hint="ask about a part of the telling, or leave fewer places open",
        )


@dataclass(frozen=True, slots=True)
class Slot:
    """An open place: its index among the items, the events it may hold, and their log-weights."""

    index: int
    options: NDArray[np.int64]
    log_weights: NDArray[np.float64]


class Sketch(NamedTuple):
    """A telling with open places: the events of the others in order, and the open ones."""

    told: NDArray[np.int64]
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Completions:
    """Ways to fill all open places of a telling.

    Attributes
    ----------
    choices
        (ways, slots): event numbers.
    worth
        Of each way, up to a constant.
    exact
        Whether these are all ways.
    """

    choices: NDArray[np.int64]
    worth: NDArray[np.float64]
    exact: bool

    @property
    def shares(self) -> NDArray[np.float64]:
        """Probability of each way, given that it is one of them."""
        return softmax(self.worth)


def model_of(script: Script) -> TellingModel:
    """The telling model of a script that has one."""
    return cast("TellingModel", script.telling)


def sketch(
    model: TellingModel,
    items: Sequence[Observation],
    allowed: NDArray[np.bool_] | None = None,
    *,
    narrative: int = 0,
) -> Sketch:
    """Turn observations into numbers; ``allowed`` are the events that a gap (None) may hold.

    ``narrative`` is the number of the narrative, for complaints.
    """
    number = model.numbers
    told: list[int] = []
    slots: list[Slot] = []
    for index, item in enumerate(items):
        known = number.get(item) if isinstance(item, str) else None
        if known is not None:
            told.append(known)
        elif item is None:
            every = np.ones(len(number), bool) if allowed is None else allowed
            options = np.flatnonzero(every)
            slots.append(Slot(index, options, np.zeros(len(options))))
        else:  # weights, or something that is to be complained of
            weights = _weights(model, item, f"narrative {narrative}, event {index}")
            options = np.flatnonzero(weights)
            slots.append(Slot(index, options, np.log(weights[options])))
    return Sketch(np.array(told, np.int64), tuple(slots))


def _weights(model: TellingModel, item: Observation, where: str) -> NDArray[np.float64]:
    try:
        packed = Packer(model.events).pack([[item]])
    except InputError as error:
        raise type(error)(error.problem, where=where, hint=error.hint) from None
    return np.asarray(packed.soft[int(packed.symbol[0]) - len(model.events)])


def completions(model: TellingModel, sketched: Sketch, width: int = BEAM) -> Completions:
    """Fill the open places from left to right, those further right being left out meanwhile.

    Each filling so far is weighed by the worth of the telling that it makes, so that both sides
    have their say. The ``width`` best ones are followed up; the last place is filled in every way.
    """
    check_open(len(sketched.slots), len(sketched.told), len(model.events), "open places")
    choices = np.empty((1, 0), np.int64)
    tellings, worth = [sketched.told], np.zeros(1)
    exact = True
    for place, slot in enumerate(sketched.slots):
        places = np.full(len(tellings), slot.index)
        odds = np.empty((len(tellings), len(model.events)))
        model.insert_each(tellings, places, odds)
        grown = (worth[:, None] + odds[:, slot.options] + slot.log_weights).ravel()
        best = np.arange(len(grown))
        last = place + 1 == len(sketched.slots)
        if not last and len(grown) > width:
            best = np.sort(np.argsort(-grown, kind="stable")[:width])
            exact = False
        row, option = np.divmod(best, len(slot.options))
        events = slot.options[option]
        choices = np.column_stack([choices[row], events])
        worth = grown[best]
        if not last:
            tellings = [
                np.insert(tellings[k], slot.index, event)
                for k, event in zip(row.tolist(), events.tolist(), strict=True)
            ]
    return Completions(choices, worth, exact)


def likeliest(
    model: TellingModel, items: Sequence[Observation], *, narrative: int = 0
) -> NDArray[np.int64]:
    """Numbers of the events of a telling, each open place being what makes the whole likeliest."""
    sketched = sketch(model, items, narrative=narrative)
    told = sketched.told
    if sketched.slots:
        ways = completions(model, sketched)
        best = ways.choices[int(ways.worth.argmax())].tolist()
        for slot, event in zip(sketched.slots, best, strict=True):
            told = np.insert(told, slot.index, event)
    return told


def marginals(model: TellingModel, sketched: Sketch) -> list[NDArray[np.float64]]:
    """Probability of each option of each slot, the others being whatever they may be."""
    slots = sketched.slots
    if len(slots) == 1:
        slot = slots[0]
        odds = model.insertions(sketched.told, slot.index, slot.index)[0]
        return [softmax(odds[slot.options] + slot.log_weights)]
    found = completions(model, sketched)
    if found.exact:
        shares = found.shares
        return [
            np.asarray(np.bincount(found.choices[:, k], shares, len(model.events))[slot.options])
            for k, slot in enumerate(slots)
        ]
    weights = np.empty(found.choices.shape)
    for column, (slot, choices) in enumerate(zip(slots, found.choices.T, strict=True)):
        weights[:, column] = slot.log_weights[np.searchsorted(slot.options, choices)]
    return [_marginal(model, sketched, found, weights, place) for place in range(len(slots))]


def _marginal(
    model: TellingModel,
    sketched: Sketch,
    found: Completions,
    weights: NDArray[np.float64],
    place: int,
) -> NDArray[np.float64]:
    """Fill one place in every way, for each of the likeliest fillings of the others.

    ``weights`` are the log-weights of all choices.
    """
    slot = sketched.slots[place]
    others = np.delete(found.choices, place, axis=1)
    contexts, one_of, row = np.unique(others, axis=0, return_index=True, return_inverse=True)
    best = np.full(len(contexts), -np.inf)
    np.maximum.at(best, row.ravel(), found.worth)
    held = one_of[np.argsort(-best, kind="stable")[:CONTEXTS]]
    tellings = [np.delete(filled(sketched, found.choices[k]), slot.index) for k in held.tolist()]
    table = np.empty((len(held), len(model.events)))
    model.insert_each(tellings, np.full(len(held), slot.index), table)
    weight = np.delete(weights[held], place, axis=1).sum(axis=1)
    table += (model.worths(tellings) + weight)[:, None]
    table = table[:, slot.options] + slot.log_weights
    chance = np.exp(table - table.max()).sum(axis=0)
    return np.asarray(chance / chance.sum())


def filled(sketched: Sketch, choices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The telling with an event in each open place."""
    places = np.array([slot.index for slot in sketched.slots], np.int64)
    whole = np.empty(len(sketched.told) + len(places), np.int64)
    known = np.ones(len(whole), bool)
    known[places] = False
    whole[known] = sketched.told
    whole[places] = choices
    return whole


def softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities in proportion to the exponentials, over the last axis."""
    chance = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=-1, keepdims=True))
