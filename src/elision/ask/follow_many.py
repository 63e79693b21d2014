"""Following a telling of which it is not known what it is of, over a library of scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from elision.ask.engine.evidence import BROKEN_OFF, STRAY, told_rates
from elision.ask.engine.filters import StateFilter, first_filter
from elision.ask.follow import RATE, Follower, checked_rate
from elision.ask.telling.evidence import BY_MEMORY
from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elision.ask.engine.filters import Filter
    from elision.ask.follow import Now
    from elision.ask.identify import Identification, Identifier, Witness
    from elision.values.script import Script

NONE_BY_EVENTS = 0.2
"""Prior probability that a telling is of no script: a few events must not name one too easily."""

NONE_BY_WORDS = 0.02
"""The same of sentences: a few words say less for the right script than names of events do."""

GOING_ON = 1 - STRAY - BROKEN_OFF
"""Probability of telling what the script says."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Which activity it is, as of now, and what is known of it.

    Attributes
    ----------
    activities
        How probable each activity is, and that it is none of them.
    now
        What is known by the script of ``about``; None where that is None.
    about
        The most probable activity. None where it is probably none of the scripts; but at the end,
        if only the end says so, the one that was most probable before: what is missing may be why.
    """

    activities: Identification
    now: Now | None
    about: str | None = None

    @property
    def best(self) -> str | None:
        """The most probable activity; None if it is none of them."""
        return self.activities.best

    def __str__(self) -> str:
        if self.now is None:
            return str(self.activities)
        as_what = "" if self.best is not None else f"as {self.about}:\n"
        return f"{self.activities}\n{as_what}{self.now}"


class _Account(Protocol):
    """Evidence for one script, event by event: what `Identifier.identify` would say of them."""

    states: list[Any]

    def tell(self, event: str, weight: float) -> None:
        """Hear one more event, which comes with this probability anywhere."""

    def evidence(self, finished: bool) -> float:
        """Log-evidence so far, relative to the background."""


class _Remembered:
    """By a telling model, as `elision.ask.telling.evidence` counts it."""

    def __init__(self, script: Script) -> None:
        rates = told_rates(script)
        self._rates = rates / max(rates.sum(), np.finfo(float).tiny)
        self._numbers = {event: o for o, event in enumerate(script.events)}
        self.states: list[tuple[Filter, float]] = [(first_filter(script), 0.0)]

    def tell(self, event: str, weight: float) -> None:
        filter_, total = self.states[-1]
        number = self._numbers.get(event)
        chance = 0.0
        if number is not None:
            ahead = math.exp(float(filter_.next_log_probs()[number]))
            mixed = BY_MEMORY * ahead + (1 - BY_MEMORY) * float(self._rates[number])
            chance = mixed / weight
            filter_ = filter_.tell(number)
        self.states.append((filter_, total + math.log(STRAY + GOING_ON * chance)))

    def evidence(self, finished: bool) -> float:
        filter_, total = self.states[-1]
        if not finished:
            return total
        return total + math.log(
            GOING_ON * math.exp(float(filter_.next_log_probs()[-1])) + BROKEN_OFF
        )


class _Stated:
    """By the states of a script, as `elision.ask.engine.evidence` counts it."""

    def __init__(self, script: Script) -> None:
        first = StateFilter.of(script)
        self._onward, self._emission = first.onward, first.emission
        self._numbers = {event: o for o, event in enumerate(script.events)}
        self.states: list[tuple[NDArray[np.float64], float]] = [(first.states, 0.0)]

    def tell(self, event: str, weight: float) -> None:
        told, total = self.states[-1]
        number = self._numbers.get(event)
        after = STRAY * told
        if number is not None:
            after += GOING_ON * (told @ self._onward) * self._emission[:, number] / weight
        whole = float(after.sum())
        self.states.append((after / whole, total + math.log(whole)))

    def evidence(self, finished: bool) -> float:
        told, total = self.states[-1]
        if not finished:
            return total
        return total + math.log(GOING_ON * float(told @ self._onward[:, -1]) + BROKEN_OFF)


class LibraryFollower:
    """Follows a telling over a library: which activity it is becomes surer with each event.

    Names of events are followed at the same cost for each. Sentences are read anew from the
    beginning each time, which takes longer the more there are.

    Parameters
    ----------
    identifier
        Of the library.
    witnesses
        Its scripts by name.
    none_of_these
        Probability beforehand that it is none of the scripts; None for the usual one,
        `NONE_BY_EVENTS` or `NONE_BY_WORDS`.
    false_alarms
        As for a `Follower`.
    """

    def __init__(
        self,
        identifier: Identifier,
        witnesses: dict[str, Witness],
        *,
        none_of_these: float | None = None,
        false_alarms: float = RATE,
    ) -> None:
        self._identifier, self._witnesses = identifier, witnesses
        self._share, self._rate = none_of_these, checked_rate(false_alarms)
        self._told: list[str] = []
        self._accounts: list[_Account] = [
            _Stated(one.script) if one.script.telling is None else _Remembered(one.script)
            for one in witnesses.values()
        ]
        self._followers: dict[str, Follower] = {}
        self._finished = False

    @property
    def told(self) -> tuple[str, ...]:
        """What was told so far."""
        return tuple(self._told)

    @property
    def activities(self) -> Identification:
        """How probable each activity is, and that it is none of them."""
        return self._activities()

    def tell(self, item: str) -> Guess:
        """Tell an event or a sentence, and return what is known then."""
        if self._finished:
            raise InputError("the telling is finished", hint="undo() takes that back")
        if not isinstance(item, str):
            raise InputError(f"{short(item)} came, expected an event or a sentence")
        self._told.append(item)
        weight = self._identifier.background.weight(item)
        for account in self._accounts:
            account.tell(item, weight)
        for follower in self._followers.values():
            follower.tell(item)
        return self.now()

    def undo(self) -> Guess:
        """Take back what was told last, or that the telling is finished."""
        if self._finished:
            self._finished = False
        elif self._told:
            self._told.pop()
            for account in self._accounts:
                account.states.pop()
        else:
            raise InputError("nothing was told that could be taken back")
        for follower in self._followers.values():
            follower.undo()
        return self.now()

    def finish(self) -> Guess:
        """Say that this was all."""
        self._finished = True
        for follower in self._followers.values():
            follower.finish()
        return self.now()

    def now(self) -> Guess:
        """What is known as of now."""
        found = self._activities()
        about = found.best
        if about is None and self._finished:  # what it lacks may have made it none of them
            about = self._activities(finished=False).best
        return Guess(found, None if about is None else self._follower(about).now(), about)

    def _follower(self, name: str) -> Follower:
        """The follower of one script, told all that was told."""
        if name not in self._followers:
            script: Script = self._witnesses[name].script
            follower = Follower(script, false_alarms=self._rate)
            for item in self._told:
                follower.tell(item)
            if self._finished:
                follower.finish()
            self._followers[name] = follower
        return self._followers[name]

    def _activities(self, *, finished: bool | None = None) -> Identification:
        """By what was told so far; by default finished if it is."""
        finished = self._finished if finished is None else finished
        if self._identifier.is_wordy(self._told):
            told = [list(self._told)]
            share = NONE_BY_WORDS if self._share is None else self._share
            return self._identifier.identify(told, share, begun=not finished)[0]
        evidence: NDArray[np.float64] = np.array(
            [account.evidence(finished) for account in self._accounts]
        )
        length = np.array([len(self._told)])
        nothing = self._identifier.background.log_length(length, STRAY, begun=not finished)
        share = NONE_BY_EVENTS if self._share is None else self._share
        return self._identifier.weighed(evidence, float(nothing[0]), share)
