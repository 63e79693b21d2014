"""A log as it came, with its cases, and what goes in between."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from elision._backends import is_frame
from elision.errors import InputError, ReadingWarning, shown
from elision.io.cases import Reading, in_order
from elision.io.columns import Columns, time_of
from elision.io.formats import FORMATS, guessed
from elision.io.reading import check_options, read
from elision.io.source import is_readable, opened
from elision.io.tables import Text, collected, frame_table, parquet_frame, text_of
from elision.io.xes import CASE_PREFIX, XesLog, keys_of
from elision.values.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from elision.io.cases import Cases
    from elision.io.columns import Roles
    from elision.io.source import Source
    from elision.io.tables import Table
    from elision.io.times import Form, Moment
    from elision.values.narrative import Narrative

ROLES = ("case", "activity", "time", "domain")
CASE, ACTIVITY, DOMAIN, STEP = "case:concept:name", "concept:name", "domain", "step"

INSERTED = "elision:inserted"
PROBABILITY = "elision:probability"
ALTERNATIVES = "elision:alternatives"
EARLIEST = "elision:earliest"
LATEST = "elision:latest"
MARKS = (INSERTED, PROBABILITY, ALTERNATIVES, EARLIEST, LATEST)
"""Columns that say of a row whether it was inserted, how surely, and between which times."""

DIGITS = 6
"""Of probabilities as they are written."""


class Insertion(NamedTuple):
    """An event that happened and was not recorded.

    Attributes
    ----------
    case, domain
        Of the case in the log.
    gap
        Where it goes: before the event of this number, counted from 0; the number of events for
        the end.
    event
        What happened.
    probability
        That it did, and there.
    alternatives
        What else may have happened there: events with their probabilities.
    """

    case: str
    domain: str
    gap: int
    event: str
    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


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
        When each event was; None where not every row of the case says.
    """

    id: str
    domain: str
    events: tuple[str, ...]
    rows: tuple[int, ...]
    all_rows: tuple[int, ...]
    moments: tuple[Moment, ...] | None


class Placed(NamedTuple):
    """An insertion with its place in the log.

    Attributes
    ----------
    case
        The number of the case.
    insertion
        What is inserted.
    anchor
        The row that it stands next to.
    before
        Whether it stands before that row, or after it.
    time, earliest, latest
        Written as the times of the log are; None if there are none.
    """

    case: int
    insertion: Insertion
    anchor: int
    before: bool
    time: object
    earliest: object
    latest: object

    @property
    def marks(self) -> dict[str, object]:
        """What the columns of marks say of it."""
        alternatives = {event: round(float(p), DIGITS) for event, p in self.insertion.alternatives}
        text = msgspec.json.encode(alternatives).decode() if alternatives else None
        probability = round(float(self.insertion.probability), DIGITS)
        return dict(zip(MARKS, (True, probability, text, self.earliest, self.latest), strict=True))


@dataclass(frozen=True, slots=True)
class Log:
    """A log as it came.

    Attributes
    ----------
    came
        A frame of any library, a table in text, XES, or narratives.
    names, columns
        Its columns as a table, and which of them is what.
    cases
        In order of first appearance.
    times
        The time of each row as it came: of dates as such, whole numbers.
    form
        How times are written; None where there are none.
    """

    came: Any
    names: list[Any]
    columns: Columns
    cases: list[Case]
    times: Sequence[object] | dict[int, object]
    form: Form | None
    content: bytes = field(default=b"", repr=False)

    @property
    def traces(self) -> list[tuple[str, ...]]:
        """The events of each case."""
        return [case.events for case in self.cases]

    def placed(self, insertions: Iterable[tuple[int, Insertion]]) -> list[Placed]:
        """Return where insertions go, by case and gap: times lie between those of their neighbours.

        Before the first event and after the last, the time is that of the neighbour: an empty one
        could not be put in order.
        """
        gaps: dict[tuple[int, int], list[Insertion]] = {}
        for number, one in insertions:
            gaps.setdefault((number, one.gap), []).append(one)
        made: list[Placed] = []
        for (number, gap), several in sorted(gaps.items(), key=lambda item: item[0]):
            case, form = self.cases[number], self.form
            anchor, before = (case.rows[gap - 1], False) if gap else (case.rows[0], True)
            timed = form is not None and case.moments is not None
            earliest = self.times[case.rows[gap - 1]] if timed and gap else None
            latest = self.times[case.rows[gap]] if timed and gap < len(case.rows) else None
            moments = _between(case, gap, len(several)) if earliest is not None else []
            for place, one in enumerate(several):
                time = self.times[anchor] if timed else None
                if moments and form is not None:
                    time = form.written(moments[place], earliest)
                made.append(Placed(number, one, anchor, before, time, earliest, latest))
        return made

    def frame(self) -> Any:
        """Return the log as a frame: as it came if it was one, else one of polars."""
        if isinstance(self.came, XesLog):
            return self.came.frame()
        if isinstance(self.came, Corpus):
            return narratives_frame(self.came)[0]
        if isinstance(self.came, Text):
            return self.came.named_frame()
        return self.came


def _between(case: Case, gap: int, several: int) -> list[Moment]:
    """Return when each insertion of a gap was, spread evenly; nothing after the last event."""
    if case.moments is None or gap == len(case.rows):
        return []
    low, high = case.moments[gap - 1], case.moments[gap]
    shares = [Fraction(place, several + 1) for place in range(1, several + 1)]
    # In whole numbers where times are: a float does not hold nanoseconds since 1970.
    if isinstance(low, int) and isinstance(high, int):
        return [low + (high - low) * one.numerator // one.denominator for one in shares]
    return [low + (high - low) * one.numerator / one.denominator for one in shares]


def cases_of(cases: Cases) -> list[Case]:
    """Return the cases as values."""
    import polars as pl  # noqa: PLC0415 - slow to import

    made = cases.frame.group_by("number", maintain_order=True).agg(
        pl.col("case", "domain").first(),
        pl.col("activity", "row", "moment").filter("kept"),
        pl.col("row").filter(pl.col("activity").is_not_null()).alias("all"),
    )
    return [
        Case(
            name,
            domain,
            tuple(events),
            tuple(rows),
            tuple(every),
            tuple(moments) if moments and moments[0] is not None else None,
        )
        for _, name, domain, events, rows, moments, every in made.iter_rows()
    ]


def read_log(source: Any, **options: Any) -> Log:
    """Read a log and keep all of it; source and options are those of `elision.read`.

    Raises
    ------
    InputError
        Where it cannot be read, or where its times can be read in several ways: unlike the order
        of events, the times between them differ.
    """
    roles, reading, encoding, kind = parsed(options)
    if is_frame(source):
        name = "data frame"
        frame = collected(source, name).to_native()
        log = _table_log(frame_table(frame, name), frame, roles, reading)
    elif isinstance(source, str | os.PathLike) or is_readable(source):
        with opened(source, encoding) as file:
            name = file.name
            log = _file_log(file, kind or guessed(file, roles), roles, reading)
    else:
        name = type(source).__name__
        plain = {name: value for name, value in options.items() if name != "time"}
        log = narratives_log(read(source, **plain), roles["time"], reading)
    if not log.cases:
        raise InputError("there are no narratives in it", where=name)
    for one in reading.remarks or ():
        warnings.warn(one, ReadingWarning, stacklevel=3)
    return log


def parsed(options: dict[str, Any]) -> tuple[Roles, Reading, str, Any]:
    """Return options as columns, ways of reading, encoding and format."""
    known = {*ROLES, "format", "time_format", "lifecycle", "encoding"}
    for name in options:
        if name not in known:
            expected = ", ".join(sorted(known))
            raise InputError(f"there is no option {shown(name)}; expected {expected}")
    given = {"lifecycle": "complete", "format": None, "time_format": None} | options
    check_options(given["format"], given["lifecycle"], given["time_format"])
    roles: Roles = {role: options.get(role) for role in ROLES}
    reading = Reading(given["lifecycle"], given["time_format"], exact=True, remarks=[])
    return roles, reading, options.get("encoding", "utf-8"), given["format"]


def _file_log(file: Source, kind: Any, roles: Roles, reading: Reading) -> Log:
    if kind == "parquet":
        frame = parquet_frame(file)
        return _table_log(frame_table(frame, file.name), frame, roles, reading)
    if kind in ("csv", "tsv"):
        text = text_of(file, "\t" if kind == "tsv" else None)
        return _table_log(text.table(), text, roles, reading)
    if kind == "xes":
        content = file.stream.read()
        xes = XesLog(file, content, keys_of(roles), whole=True)
        rows = xes.rows()
        rows = rows.with_columns(domain=_literal(roles["domain"] or ""))
        cases = in_order(rows, reading, xes.place, f"{file.name}, key {shown(xes.keys.time)}")
        keys = xes.keys
        columns = Columns(CASE_PREFIX + keys.case, keys.activity, keys.time, None, keys.lifecycle)
        times = rows["time"].to_list()
        return Log(xes, [], columns, cases_of(cases), times, cases.form, content)
    corpus = FORMATS[kind].read(file, roles | {"time": None}, reading, None)
    return narratives_log(corpus, roles["time"], reading)


def _literal(text: str) -> pl.Expr:
    import polars as pl  # noqa: PLC0415 - slow to import

    return pl.lit(text)


def _table_log(table: Table, came: Any, roles: Roles, reading: Reading) -> Log:
    columns = table.columns(roles)
    cases = table.cases(columns, reading)
    times: Sequence[object] = ()
    if columns.time is not None:
        column = table.column(table.names.index(columns.time))
        ticks = cases.form is not None and cases.form.order == "ticks"
        times = (column.to_physical() if ticks else column).to_list()
    return Log(came, table.names, columns, cases_of(cases), times, cases.form)


# ---- narratives


def narratives_log(corpus: Corpus, time: str | None, reading: Reading) -> Log:
    """Return the log of narratives."""
    import polars as pl  # noqa: PLC0415 - slow to import

    corpus.events  # noqa: B018 - all must have events
    frame, fields = narratives_frame(corpus)
    column = time_of(sorted(fields), time)
    numbers = [number for number, one in enumerate(corpus) for _ in range(one.length)]
    empty = [number for number, one in enumerate(corpus) if not one.length]
    rows = pl.DataFrame(
        {
            "number": numbers + empty,
            "case": [corpus[number].id for number in numbers + empty],
            "domain": [corpus[number].domain for number in numbers + empty],
            "activity": [*frame[ACTIVITY], *[None] * len(empty)],
        },
        {"number": pl.UInt32} | dict.fromkeys(("case", "domain", "activity"), pl.String),
    )
    times: list[Any] = [None] * len(frame) if column is None else frame[column].to_list()
    said = [None if one is None else str(one) for one in times] + [None] * len(empty)
    rows = rows.with_columns(time=pl.Series(said, dtype=pl.String), phase=_literal("complete"))
    cases = in_order(rows, reading, lambda row: f"event {row}", "times")
    columns = Columns(CASE, ACTIVITY, column, DOMAIN if DOMAIN in frame.columns else None, None)
    return Log(corpus, frame.columns, columns, cases_of(cases), times, cases.form)


def narratives_frame(corpus: Sequence[Narrative]) -> tuple[pl.DataFrame, frozenset[str]]:
    """Return narratives as a table, a row an event; and the fields that have a value an event.

    Fields of another length stand in columns that begin with case:, the same in all rows.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    events = Corpus(corpus).events
    fits: dict[str, bool] = {}
    for one in corpus:
        for name, value in one.extra.items():
            parallel = isinstance(value, list | tuple) and len(value) == one.length
            fits[name] = fits.get(name, True) and parallel
    made: dict[str, list[object]] = {CASE: [one.id for one in corpus for _ in range(one.length)]}
    if any(one.domain for one in corpus):
        made[DOMAIN] = [one.domain for one in corpus for _ in range(one.length)]
    made[ACTIVITY] = [event for told in events for event in told]
    if any(one.steps is not None for one in corpus):
        made[STEP] = [step for one in corpus for step in (one.steps or [None] * one.length)]
    for name, parallel in fits.items():
        if parallel:
            made[name] = [
                value
                for one in corpus
                for value in one.extra.get(name, [None] * one.length)  # type: ignore[attr-defined]
            ]
        else:
            made[CASE_PREFIX + name] = [
                one.extra.get(name) for one in corpus for _ in range(one.length)
            ]
    of_events = frozenset(name for name, parallel in fits.items() if parallel)
    return pl.DataFrame({name: _column(values) for name, values in made.items()}), of_events


def _column(values: list[Any]) -> pl.Series:
    """Return a column of plain values; values of several types become text."""
    import polars as pl  # noqa: PLC0415 - slow to import

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str}:
        return pl.Series(values, dtype=pl.String)
    if kinds <= {int, float} or kinds == {bool}:
        try:
            return pl.Series(values, dtype=None if len(kinds) == 1 else pl.Float64, strict=False)
        except (TypeError, OverflowError, pl.exceptions.PolarsError):
            pass
    return pl.Series([text_of_value(value) for value in values], dtype=pl.String)


def text_of_value(value: object) -> str | None:
    """Return a value as text: JSON of what is neither text nor nothing."""
    if value is None or isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)
