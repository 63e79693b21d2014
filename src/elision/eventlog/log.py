"""Event logs kept whole: their cases, and all that the table or file says beside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from elision import eventlog
from elision.errors import counted
from elision.eventlog.frames import to_frame
from elision.eventlog.insertion import Insertion, check, placed
from elision.eventlog.writing import LogWriter
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from elision.eventlog.insertion import Case, Placed
    from elision.eventlog.kept import Kept
    from elision.readers.times import Form

__all__ = ["EventLog"]


@dataclass(frozen=True)
class EventLog:
    r"""A log with every row and attribute that it came with, and events put in between.

    Attributes
    ----------
    kept
        The rows as they came.
    cases
        What was recorded of each case, in order of time.
    times
        The time of each row as it came; None where it has none.
    form
        How times are written; None where there are none.
    insertions
        What was inserted, by case and gap; None if nothing was looked for.

    Examples
    --------
    >>> import io
    >>> table = "case;activity;time;cost\n7;ring;13.5.2024 9:00;3\n7;open;13.5.2024 9:10;4\n"
    >>> log = EventLog.read(io.StringIO(table))
    >>> log.cases[0].events
    ('ring', 'open')
    >>> repaired = log.insert([Insertion(case=0, gap=1, event="walk", probability=0.8)])
    >>> repaired.to_frame()[["activity", "time", "cost", "elision:inserted"]]
      activity            time cost  elision:inserted
    0     ring  13.5.2024 9:00    3             False
    1     walk  13.5.2024 9:05  NaN              True
    2     open  13.5.2024 9:10    4             False
    """

    kept: Kept
    cases: tuple[Case, ...]
    times: Sequence[object]
    form: Form | None = None
    insertions: tuple[Insertion, ...] | None = None

    @staticmethod
    def read(source: Any, **options: Any) -> EventLog:
        """Read a log and keep all of it; source and options are those of `elision.read`.

        Raises
        ------
        InputError
            Where it cannot be read, or where its times can be read in several ways: unlike the
            order of events, the times between them differ.
        """
        return eventlog.reading.read_log(source, **options)

    @staticmethod
    def stream(
        path: str | os.PathLike[str], *, cases: int = 1000, **options: Any
    ) -> Iterator[EventLog]:
        """Go through a log that need not fit in memory, some whole cases at a time.

        The file is read twice: first to learn how its times are written and that the rows of each
        case stand together.

        Parameters
        ----------
        path
            A file of CSV, TSV, Parquet, XES or JSONL.
        cases
            How many cases to have in memory.
        **options
            As for `elision.read`.

        Yields
        ------
        EventLog
            The next cases, numbered from 0 in each piece.

        Raises
        ------
        InputError
            As for `read`, and where the rows of a case do not stand together.
        """
        return eventlog.streaming.stream_log(path, cases=cases, **options)

    def __repr__(self) -> str:
        inserted = "" if self.insertions is None else f", {len(self.insertions)} inserted"
        cases, rows = counted(len(self.cases), "case"), counted(len(self.kept), "row")
        return f"<EventLog: {cases}, {rows}{inserted}>"

    @cached_property
    def corpus(self) -> Corpus:
        """The cases as narratives, as `elision.read` gives them."""
        return Corpus(Narrative(one.events, None, one.domain, one.id) for one in self.cases)

    @property
    def is_marked(self) -> bool:
        """Whether rows say if they were inserted."""
        return self.insertions is not None

    @cached_property
    def additions(self) -> list[Placed]:
        """What was inserted, with its place and its time."""
        return placed(self.insertions or (), self.cases, self.times, self.form)

    def insert(self, insertions: Iterable[Insertion]) -> EventLog:
        """Return the log with events put in between; they replace those that were inserted before.

        Raises
        ------
        InputError
            Where a case or a gap is not there.
        """
        made = check(insertions, self.cases)
        return EventLog(self.kept, self.cases, self.times, self.form, made)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the log as a frame of pandas, polars or pyarrow.

        Rows, columns and their types are those that came, in the order in which they came;
        inserted rows stand beside their neighbours and have the case, the event and the time.
        Whole numbers and truth values of pandas become its types that can hold nulls.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default as the log came, pandas for files.

        Raises
        ------
        InputError
            If that library is not installed.
        """
        return to_frame(
            self.kept, self.additions, self.form, marked=self.is_marked, backend=backend
        )

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Write the log as "csv", "parquet", "xes" or "jsonl"; by default the suffix decides.

        The file appears whole or not at all. A log that came in the same format keeps what it
        had: lines of CSV and bytes of XES stay as they were, with more in between.

        Raises
        ------
        InputError
            Where the place cannot be written, or a value not in this format.
        """
        with LogWriter(path, format) as writer:
            writer.write(self)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the log as CSV; as for `write`."""
        self.write(path, "csv")

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the log as Parquet; as for `write`."""
        self.write(path, "parquet")

    def to_xes(self, path: str | os.PathLike[str]) -> None:
        """Write the log as XES, a trace a case; as for `write`."""
        self.write(path, "xes")

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the log as one JSON object a case, columns as lists; as for `write`."""
        self.write(path, "jsonl")
