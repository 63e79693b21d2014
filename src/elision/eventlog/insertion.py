"""Events to put into a log, where they go, and when they probably were."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from elision.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.readers.times import Form, Moment

PREFIX = "elision:"
INSERTED = "elision:inserted"
PROBABILITY = "elision:probability"
ALTERNATIVES = "elision:alternatives"
EARLIEST = "elision:earliest"
LATEST = "elision:latest"
MARKS = (INSERTED, PROBABILITY, ALTERNATIVES, EARLIEST, LATEST)
"""Columns that say of a row whether it was inserted, how surely, and between which times."""


@dataclass(frozen=True, slots=True)
class Insertion:
    """An event that happened and was not recorded.

    Parameters
    ----------
    case
        The number of the case in the log.
    gap
        Where it goes: before the event of this number, counted from 0; the number of events for
        the end. Several in one gap go in the order in which they are given.
    event
        What happened.
    probability
        That it did, and there.
    alternatives
        What else may have happened there: events with their probabilities.
    share
        How far between its neighbours it was, from 0 to 1; by default those of a gap are spread
        evenly.

    Raises
    ------
    InputError
        Where something of it is out of range.
    """

    case: int
    gap: int
    event: str
    probability: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()
    share: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.event, str) or not self.event.strip():
            raise InputError(f"event {shown(self.event)} of an insertion; expected some text")
        for name in ("probability", "share"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"{name} {shown(value)} of an insertion; expected 0 to 1")


class Case(NamedTuple):
    """One case of a log.

    Attributes
    ----------
    id, domain
        As its narrative has them.
    events
        What was recorded, in order of time.
    rows
        The row of the log that each of them is.
    all_rows
        All rows of the case in order of time, also those that the lifecycle leaves out.
    moments
        When each event was: microseconds since 1970, or ticks or numbers as the column has them;
        None where not every row of the case says.
    """

    id: str
    domain: str
    events: tuple[str, ...]
    rows: tuple[int, ...]
    all_rows: tuple[int, ...]
    moments: tuple[Moment, ...] | None


@dataclass(frozen=True, slots=True)
class Placed:
    """An insertion with its place in the log.

    Attributes
    ----------
    insertion
        What is inserted.
    anchor
        The row that it stands next to; None if the case has no row.
    before
        Whether it stands before that row, or after it.
    time, earliest, latest
        Written as the times of the log are; None if there are none.
    """

    insertion: Insertion
    anchor: int | None
    before: bool
    time: object
    earliest: object
    latest: object


def check(insertions: Iterable[Insertion], cases: Sequence[Case]) -> tuple[Insertion, ...]:
    """Return insertions as they go into the log: by case and gap, else in the order given.

    Raises
    ------
    InputError
        Where a case or a gap is not there.
    """
    made = tuple(insertions)
    for number, one in enumerate(made):
        where = f"insertions[{number}]"
        if not isinstance(one, Insertion):
            raise InputError(f"{shown(one)} is not an Insertion", where=where)
        if not 0 <= one.case < len(cases):
            problem = f"there is no case {one.case}; the log has {len(cases)}"
            raise InputError(problem, where=where)
        most = len(cases[one.case].events)
        if not 0 <= one.gap <= most:
            problem = f"there is no gap {one.gap} in a case of {most} events; expected 0 to {most}"
            raise InputError(problem, where=where)
    return tuple(sorted(made, key=lambda one: (one.case, one.gap)))


def placed(
    insertions: Sequence[Insertion],
    cases: Sequence[Case],
    times: Sequence[object],
    form: Form | None,
) -> list[Placed]:
    """Return where sorted insertions go, with times between those of their neighbours.

    Before the first event and after the last, the time is that of the neighbour: an empty one
    could not be put in order.
    """
    made = []
    gaps: dict[tuple[int, int], list[Insertion]] = {}
    for one in insertions:
        gaps.setdefault((one.case, one.gap), []).append(one)
    for (number, gap), several in gaps.items():
        case = cases[number]
        anchor, before = _anchor(case, gap)
        moments = _moments(case, gap, several)
        low, high = _neighbours(case, gap)
        timed = form is not None and case.moments is not None
        earliest = times[low] if timed and low is not None else None
        latest = times[high] if timed and high is not None else None
        beside = times[anchor] if timed and anchor is not None else None
        for one, moment in zip(several, moments, strict=True):
            time = beside
            place = anchor, before
            if moment is not None and form is not None and earliest is not None:
                time = form.written(moment, earliest)
                if _is_at_next(form, time, case, gap):
                    place = case.rows[gap], True
            made.append(Placed(one, *place, time, earliest, latest))
    return made


def _is_at_next(form: Form, time: object, case: Case, gap: int) -> bool:
    """Whether an insertion has the time of the event after it, and not of the one before.

    It then stands beside that one, as rows of one time are in the order of the table.
    """
    read = form.read(time)
    if read is None or case.moments is None:
        return False
    return case.moments[gap - 1] < case.moments[gap] <= read[1]


def _anchor(case: Case, gap: int) -> tuple[int | None, bool]:
    if gap:
        return case.rows[gap - 1], False
    if case.rows:
        return case.rows[0], True
    return (case.all_rows[-1], False) if case.all_rows else (None, False)


def _neighbours(case: Case, gap: int) -> tuple[int | None, int | None]:
    low = case.rows[gap - 1] if gap else None
    high = case.rows[gap] if gap < len(case.rows) else None
    return low, high


def _moments(case: Case, gap: int, several: Sequence[Insertion]) -> list[Moment | None]:
    """Return when each insertion of a gap was; None where only one neighbour has a time."""
    if case.moments is None or not 0 < gap < len(case.rows):
        return [None] * len(several)
    low, high = case.moments[gap - 1], case.moments[gap]
    found: list[Moment | None] = []
    last = low
    for place, one in enumerate(several, start=1):
        share = Fraction(place, len(several) + 1) if one.share is None else one.share
        try:
            moment = low + _part(high - low, share)
        except OverflowError:  # a whole number of hundreds of digits, and one that is not whole
            moment = last
        last = max(last, min(moment, high))
        found.append(last)
    return found


def _part(span: Moment, share: float | Fraction) -> Moment:
    # In whole numbers where times are: a float does not hold nanoseconds since 1970.
    parts, of = share.as_integer_ratio()
    if isinstance(span, int):
        return span * parts // of
    return span * parts / of if isinstance(share, Fraction) else span * share
