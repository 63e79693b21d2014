"""Rows of a log, whatever its format: one frame of case, activity and time, and its cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from elision.errors import shown
from elision.io.times import Form, ambiguous, find
from elision.values.corpus import Corpus
from elision.values.narrative import unchecked

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

Lifecycle = Literal["complete", "all"]
Known: TypeAlias = "tuple[Form | None, bool]"

FINISHED = ("", "complete")
"""Transitions of events that count, in a log where any is complete, as do those that say none."""

LEAST_TIED, SHARE_TIED = 10, 0.1
"""Events with the time of the one before, and their share, that are worth a remark."""


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


@dataclass(frozen=True, slots=True)
class Cases:
    """The rows of a log by cases, in order of first appearance, and in order of time in each.

    Attributes
    ----------
    frame
        A row an event: ``row``, its number as it came; ``number``, the same for all rows of a case;
        ``domain``, ``case``, ``activity``; ``moment``, null where not every row of the case has
        one; ``kept``, whether it is an event of the narrative.
    form
        How time stamps are written; None where there are none.
    """

    frame: pl.DataFrame
    form: Form | None

    def corpus(self) -> Corpus:
        """Return the cases as narratives."""
        import polars as pl  # noqa: PLC0415 - slow to import

        # One string object an event type: logs repeat few types often.
        names = self.frame["activity"].drop_nulls().unique().sort()
        codes = self.frame["activity"].cast(pl.Enum(names)).to_physical()
        told = (
            self.frame.with_columns(codes.alias("code"))
            .group_by("number", maintain_order=True)
            .agg(pl.col("domain", "case").first(), pl.col("code").filter("kept"))
        )
        name = names.to_list().__getitem__
        return Corpus(
            unchecked(tuple(map(name, events)), None, domain, case)
            for _, domain, case, events in told.iter_rows()
        )


def in_order(
    rows: pl.DataFrame,
    reading: Reading,
    place: Callable[[int], str],
    where: str,
    lifecycle: str | None = None,
    known: Known | None = None,
) -> Cases:
    """Return the cases of some rows.

    Parameters
    ----------
    rows
        With ``domain``, ``case``, ``activity``, ``phase`` and ``time``; also with ``number`` where
        two cases may have one name. A row without an activity stands for a case without events.
    reading
        How to read them.
    place
        How messages call the time of a row, by its number.
    where
        How they call all times.
    lifecycle
        The column that says which events are complete, if it is found by what stands in it.
    known
        How times are written, and whether any event is complete, in a log that these rows are of.

    Raises
    ------
    InputError
        Where times cannot be read, or in several ways that matter.
    """
    import polars as pl  # noqa: PLC0415 - slow to import

    rows = rows.with_row_index("row")
    if "number" not in rows.columns:
        rows = rows.with_columns(number=pl.col("row").min().over("domain", "case"))
    form, ends = known or (None, False)
    forms = _forms(rows["time"], reading, place, form)
    ends |= bool((rows["phase"].str.to_lowercase() == "complete").any())
    counts = pl.col("phase").is_null() | pl.col("phase").str.to_lowercase().is_in(FINISHED)
    kept = pl.lit(True) if reading.lifecycle == "all" or not ends else counts
    rows = rows.with_columns(kept=kept & pl.col("activity").is_not_null()).drop("phase")
    made = [_sorted(rows, moments) for _, moments in forms]
    form, moments = forms[0]
    for _, (_, others), frame in zip(forms[1:], forms[1:], made[1:], strict=True):
        differing = (moments != others).arg_true()
        if len(differing) and (reading.exact or not frame["row"].equals(made[0]["row"])):
            value = rows["time"][differing[0]]
            raise ambiguous(value, [one for one, _ in forms if one is not None], where)
    if reading.remarks is not None:
        reading.remarks.extend(_remarks(made[0], lifecycle))
    return Cases(made[0], form)


def _forms(
    times: pl.Series, reading: Reading, place: Callable[[int], str], known: Form | None
) -> list[tuple[Form | None, pl.Series]]:
    """Return the forms that the times may have, with the moments in each."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if times.null_count() == len(times):
        return [(None, times.cast(pl.Int64))]
    dtype: Any = times.dtype
    if dtype.is_temporal():
        unit, zone = ("d", None) if dtype == pl.Date else (dtype.time_unit, dtype.time_zone)
        form = Form("ticks", unit=unit, zone=zone)
        return [(form, times.to_frame().select(form.moments(pl.col(times.name))).to_series())]
    if known is not None:
        return [(known, times.to_frame().select(known.moments(pl.col(times.name))).to_series())]
    return [*find(times, place, reading.time_format)]


def _sorted(rows: pl.DataFrame, moments: pl.Series) -> pl.DataFrame:
    """Return rows by case and time; where not every row of a case has one, in the given order."""
    import polars as pl  # noqa: PLC0415 - slow to import

    rows = rows.with_columns(moments.alias("moment")).drop("time")
    if moments.null_count():
        timed = pl.col("moment").null_count().over("number") == 0
        rows = rows.with_columns(moment=pl.when(timed).then("moment"))
    return rows.sort("number", "moment", "row")


def _remarks(frame: pl.DataFrame, lifecycle: str | None) -> list[str]:
    """Say what is doubtful in how the rows were taken, a line each."""
    import polars as pl  # noqa: PLC0415 - slow to import

    said = []
    told = frame.filter("kept")
    if lifecycle is not None and len(told) < len(frame):
        said.append(
            f"column {shown(lifecycle)}: only what is complete is read,"
            f" {len(told):,} of {len(frame):,} events (lifecycle='all' reads every one)"
        )
    beside = (pl.col("number") == pl.col("number").shift()) & (
        pl.col("activity") != pl.col("activity").shift()
    )
    equal = pl.col("moment") == pl.col("moment").shift()
    pairs, tied = (
        told.filter(pl.col("moment").is_not_null())
        .select(pairs=beside.sum(), tied=(beside & equal).sum())
        .row(0)
    )
    if tied >= max(LEAST_TIED, SHARE_TIED * pairs):
        said.append(
            f"{tied:,} of {pairs:,} events have the time of another one before them in their"
            " case: they are taken in the order of the rows, which may mean nothing"
            " (time= names a column of finer times)"
        )
    return said
