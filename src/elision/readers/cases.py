"""What event logs share, whatever their format: clocks, lifecycles, and the order within a case."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from elision.corpus import Corpus
from elision.errors import InputError, shown
from elision.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Lifecycle = Literal["complete", "all"]

LIFECYCLE_KEY = "lifecycle:transition"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPACE_BEFORE_ZONE = re.compile(r"\s+(?=[+-]\d\d:?\d\d$)")
_YEAR_FIRST = re.compile(r"^(\d{4})/(\d\d)/(\d\d)")


class Logged(NamedTuple):
    """One row or element of a log: an event, when it happened, and in which phase it is."""

    activity: str
    time: float | None = None
    transition: str | None = None


class Clock:
    """Turns the timestamps of one source into numbers that can be compared.

    Numbers, times with a zone and times without one cannot be put in one order, so the first
    timestamp says which kind the source has.
    """

    def __init__(self) -> None:
        self._kind: str | None = None

    def read(self, value: object) -> float:
        """Return a number that grows with time.

        Raises
        ------
        InputError
            Where the value is no timestamp, or of another kind than those before it.
        """
        kind, moment = _instant(value)
        if self._kind is None:
            self._kind = kind
        if kind != self._kind:
            raise InputError(
                f"{shown(value)} is a {kind}, but those before are each a {self._kind}",
                hint="write all timestamps in one way",
            )
        return moment


def _instant(value: object) -> tuple[str, float]:
    """Return the kind of a timestamp, and the timestamp as a number."""
    text = value.strip() if isinstance(value, str) else ""
    # Most are dates, and asking first whether those are numbers takes longer than the rest.
    dated = _moment(value) if text[4:5] in ("-", "/") else None
    if dated is None:
        number = _number(value)
        if number is not None:
            return "number", number
        dated = _moment(value)
    if dated is None:
        raise InputError(
            f"{shown(value)} is not a timestamp; expected ISO 8601 or a number",
            hint="write it as 2024-05-31T18:30:00, or pass time='' to keep the given order",
        )
    if dated.tzinfo is None:
        return "time without a zone", (dated.replace(tzinfo=UTC) - _EPOCH).total_seconds()
    return "time with a zone", (dated - _EPOCH).total_seconds()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        # Nanoseconds since 1970 do not fit a float, so whole numbers stay whole.
        number = int(value) if isinstance(value, str | int) else value
    except ValueError:
        try:
            number = float(value)
        except ValueError:
            return None
    return number if math.isfinite(number) else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - a day has no zone
    if not isinstance(value, str):
        return None
    text = value.strip()
    return _iso(text) or _iso(_SPACE_BEFORE_ZONE.sub("", _YEAR_FIRST.sub(r"\1-\2-\3", text)))


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


class Cases:
    """Gathers the cases of a log and makes a corpus of them.

    Whether a log marks the end of its activities is known only when the whole of it was seen, so
    each case is kept in both readings until then.

    Parameters
    ----------
    lifecycle
        "complete" keeps the events whose transition is complete or not said, in a log where any is
        complete; "all" keeps every event.
    """

    def __init__(self, lifecycle: Lifecycle) -> None:
        self._cases: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = []
        self._only_complete = lifecycle == "complete"
        self._any_complete = False
        self._seen: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._cases)

    def add(self, domain: str, case: str, logged: Sequence[Logged]) -> None:
        """Add a case; its events are put in order of time, stably, if each has one."""
        ordered: Iterable[Logged] = logged
        if all(event.time is not None for event in logged):
            ordered = sorted(logged, key=lambda event: event.time or 0)
        # One string object an event type: logs repeat few types often.
        told = tuple(self._seen.setdefault(event.activity, event.activity) for event in ordered)
        phases = [event.transition and event.transition.lower() for event in ordered]
        self._any_complete |= "complete" in phases
        finished = told
        if set(phases) - {None, "", "complete"}:
            pairs = zip(told, phases, strict=True)
            finished = tuple(name for name, phase in pairs if phase in (None, "", "complete"))
        self._cases.append((domain, case, told, finished))

    def corpus(self) -> Corpus:
        """Return the cases as narratives, in the order they were added."""
        pick = self._only_complete and self._any_complete
        return Corpus(
            Narrative(finished if pick else told, None, domain, case)
            for domain, case, told, finished in self._cases
        )
