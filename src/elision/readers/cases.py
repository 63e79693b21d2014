"""What event logs share, whatever their format: lifecycles, and the order within a case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from elision.errors import shown
from elision.readers.times import TimeColumn
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elision.readers.times import Form, Moment

Lifecycle = Literal["complete", "all"]

LIFECYCLE_KEY = "lifecycle:transition"
FINISHED = (None, "", "complete")
"""Transitions of events that count, in a log where any is complete."""

LEAST_TIED, SHARE_TIED = 10, 0.1
"""Events with the time of the one before, and their share, that are worth a remark."""


class Ordered(NamedTuple):
    """One case of a log, its rows in order of time.

    Attributes
    ----------
    domain, name
        What it tells, and its id.
    rows
        All its rows, by number.
    kept
        Those that are events of the narrative: the lifecycle may leave out some.
    moments
        When each of those that are kept was, or None where not every row of the case says.
    """

    domain: str
    name: str
    rows: tuple[int, ...]
    kept: tuple[int, ...]
    moments: tuple[Moment, ...] | None


@dataclass(frozen=True, slots=True)
class Reading:
    """How the rows of a log are read.

    Attributes
    ----------
    lifecycle
        "complete" keeps the events whose transition is complete or not said, in a log where any is
        complete; "all" keeps every event.
    time_format
        Of the time stamps, None to find it.
    exact
        Whether moments must be known, not only the order of the events of each case.
    remarks
        Takes a line for each thing that can be taken in another way; None to do without.
    """

    lifecycle: Lifecycle = "complete"
    time_format: str | None = None
    exact: bool = False
    remarks: list[str] | None = None


@dataclass(slots=True)
class Cases:
    """Gathers the rows of a log by cases.

    How time stamps are written, and whether the log marks the end of its activities, is known only
    when the whole of it was seen.

    Parameters
    ----------
    reading
        How to read the rows.
    place
        How messages call a row, by its number.
    where
        How they call all its time stamps.
    """

    reading: Reading
    place: Callable[[int], str]
    where: str
    activities: list[str] = field(default_factory=list)
    times: list[object] = field(default_factory=list)
    phases: list[str | None] = field(default_factory=list)
    _cases: list[tuple[str, str, list[int]]] = field(default_factory=list)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _seen: dict[str, str] = field(default_factory=dict)
    form: Form | None = None
    """Of the time stamps, once it is known."""
    lifecycle: str | None = None
    """The column that says which events are complete, if it is found by what stands in it."""

    def __len__(self) -> int:
        return len(self._cases)

    def open(self, domain: str, name: str) -> int:
        """Return the number of a new case."""
        self._cases.append((domain, name, []))
        return len(self._cases) - 1

    def number(self, domain: str, name: str) -> int:
        """Return the number of a case that may have been seen."""
        found = self._numbers.get((domain, name))
        if found is None:
            found = self._numbers[domain, name] = self.open(domain, name)
        return found

    def add(self, case: int, activity: str, time: object, phase: str | None) -> None:
        """Add a row to a case; None for a time that is not said."""
        self._cases[case][2].append(len(self.activities))
        # One string object an event type: logs repeat few types often.
        self.activities.append(self._seen.setdefault(activity, activity))
        self.times.append(time)
        self.phases.append(phase and self._seen.setdefault(phase.lower(), phase.lower()))

    @property
    def marks_ends(self) -> bool:
        """Whether any event is said to be complete."""
        return "complete" in self.phases

    def ordered(self, form: Form | None = None, marks_ends: bool | None = None) -> list[Ordered]:
        """Return the cases in the order they were added, their rows in order of time, stably.

        Parameters
        ----------
        form
            Of the time stamps; by default it is found.
        marks_ends
            Whether any event of the log is complete; by default as these rows say.
        """
        moments = self._moments(form)
        ends = self.marks_ends if marks_ends is None else marks_ends
        whole = self.reading.lifecycle == "all" or not ends
        found = [
            self._ordered_case(domain, name, rows, moments, whole=whole)
            for domain, name, rows in self._cases
        ]
        if self.reading.remarks is not None:
            self.reading.remarks.extend(self._remarks(found))
        return found

    def _remarks(self, cases: Sequence[Ordered]) -> list[str]:
        """Say what is doubtful in how the rows were taken, a line each."""
        said = []
        kept = sum(len(one.kept) for one in cases)
        if self.lifecycle is not None and kept < len(self.activities):
            said.append(
                f"column {shown(self.lifecycle)}: only what is complete is read,"
                f" {kept:,} of {len(self.activities):,} events (lifecycle='all' reads every one)"
            )
        pairs = tied = 0
        for one in cases:
            told = [self.activities[row] for row in one.kept]
            for before, after, event, following in zip(
                one.moments or (), (one.moments or ())[1:], told, told[1:], strict=False
            ):
                pairs += event != following
                tied += event != following and before == after
        if tied >= max(LEAST_TIED, SHARE_TIED * pairs):
            said.append(
                f"{tied:,} of {pairs:,} events have the time of another one before them in their"
                " case: they are taken in the order of the rows, which may mean nothing"
                " (time= names a column of finer times)"
            )
        return said

    def _ordered_case(
        self,
        domain: str,
        name: str,
        rows: list[int],
        moments: Sequence[Moment | None],
        *,
        whole: bool,
    ) -> Ordered:
        known = [moments[row] for row in rows]
        timed = bool(rows) and None not in known
        if timed:
            rows = sorted(rows, key=moments.__getitem__)  # type: ignore[arg-type]  # none is None
        kept = rows if whole else [row for row in rows if self.phases[row] in FINISHED]
        found = tuple(moments[row] for row in kept) if timed else None
        return Ordered(domain, name, tuple(rows), tuple(kept), found)  # type: ignore[arg-type]

    def _moments(self, form: Form | None) -> Sequence[Moment | None]:
        rows = [row for row, time in enumerate(self.times) if time is not None]
        if not rows:
            return [None] * len(self.times)
        column = TimeColumn(self.reading.time_format, form or self.form)
        readings = column.see([self.times[row] for row in rows], lambda n: self.place(rows[n]))
        found = []
        for _, values in readings:
            moments: list[Moment | None] = [None] * len(self.times)
            for row, moment in zip(rows, values, strict=True):
                moments[row] = moment
            found.append(moments)
        if self.reading.exact:
            column.form(self.where)
        elif any(self._order(moments) != self._order(found[0]) for moments in found[1:]):
            column.refuse_ambiguous(self.where)
        self.form = column.forms[0]
        return found[0]

    def _order(self, moments: Sequence[Moment | None]) -> list[list[int]]:
        return [
            sorted(rows, key=moments.__getitem__)  # type: ignore[arg-type]  # none is None
            for _, _, rows in self._cases
            if all(moments[row] is not None for row in rows)
        ]

    def corpus(self) -> Corpus:
        """Return the cases as narratives, in the order they were added."""
        return Corpus(
            Narrative(tuple(self.activities[row] for row in one.kept), None, one.domain, one.name)
            for one in self.ordered()
        )
