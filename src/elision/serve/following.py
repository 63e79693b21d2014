"""One telling being followed, as messages: for sockets and for ``elision follow --json``."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from elision import ask
from elision.ask.follow import RATE, Now
from elision.errors import InputError
from elision.serve import messages
from elision.values.observations import real, short
from elision.values.script import Script

if TYPE_CHECKING:
    from elision.ask.follow import Follower
    from elision.ask.follow_many import Guess, LibraryFollower
    from elision.ask.identify import Candidate
    from elision.ask.sentences import Taken
    from elision.values.library import Library

Known: TypeAlias = messages.Now | messages.Guess


class Following:
    """Follows a telling of a script, or of whichever script of a library it is.

    Parameters
    ----------
    scripts
        The script, or the library.
    false_alarms
        As for an `elision.ask.follow.Follower`.

    Raises
    ------
    InputError
        If that is no such share.

    Examples
    --------
    >>> import elision as el
    >>> following = Following(el.examples.doorbell())
    >>> following.tell("hear doorbell").next[0].event
    'walk to door'
    >>> following.tell("sneeze").unknown
    ['sneeze']
    >>> following.undo().count, following.finish().finished
    (1, True)
    """

    def __init__(self, scripts: Script | Library, *, false_alarms: float = RATE) -> None:
        self._rate = real(false_alarms)
        if not 0 < self._rate < 1:
            problem = f"the share of false alarms is {short(false_alarms)}"
            raise InputError(f"{problem}, expected more than 0 and less than 1")
        self._scripts = scripts
        self._follower: Follower | LibraryFollower = scripts.follow(false_alarms=self._rate)
        self.events = frozenset(scripts.events)
        """All that the scripts know."""
        self.lines = 0
        """How many events and sentences were told, also such as are not known."""
        self._finished = False

    @property
    def told(self) -> tuple[str, ...]:
        """What was told so far, as the script understands it."""
        return self._follower.told

    def taken_for(self, text: str, best: str | None = None) -> list[Taken]:
        """Say what a sentence is taken for; over a library by the script that it probably is of."""
        scripts = self._scripts
        script = scripts if isinstance(scripts, Script) else None if best is None else scripts[best]
        return [] if script is None else ask.sentences.taken_for(script, [text])

    def tell(self, text: str) -> Known:
        """Tell an event or a sentence."""
        if self._finished:
            raise InputError("the telling is finished", hint="undo takes that back")
        found = self._follower.tell(text)
        self.lines += 1
        return self._message(found)

    def now(self) -> Known:
        """Say what is known, with nothing more told."""
        return self._message(self._follower.now())

    def undo(self) -> Known:
        """Take back what was told last, or that the telling is finished."""
        found = self._follower.undo()
        self.lines -= not self._finished
        self._finished = False
        return self._message(found)

    def finish(self) -> Known:
        """Say that this was all."""
        self._finished = True
        return self._message(self._follower.finish())

    def _message(self, found: Now | Guess) -> Known:
        if isinstance(found, Now):
            return self._now(found, None)
        return messages.Guess(
            found.best,
            [_activity(one) for one in found.activities.candidates],
            None if found.now is None else self._now(found.now, found.about),
            found.about,
        )

    def _now(self, now: Now, name: str | None) -> messages.Now:
        knows = self._knows_alarms(name)
        return msgspec.convert({**asdict(now), "knows_alarms": knows}, messages.Now)

    def _knows_alarms(self, name: str | None) -> bool:
        """Whether it is known how rare an alarm is, by the script or by one of the library."""
        scripts = self._scripts
        script = scripts if isinstance(scripts, Script) else scripts[str(name)]
        alarms = script.outline().alarms
        return alarms is not None and alarms.known(self._rate)


def _activity(candidate: Candidate) -> messages.Activity:
    evidence = candidate.log_evidence if math.isfinite(candidate.log_evidence) else None
    return messages.Activity(candidate.name, candidate.probability, evidence)
