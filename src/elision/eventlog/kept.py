"""What a log keeps of the table or file that it came from, and rows with others in between."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Protocol

import msgspec

from elision.eventlog.insertion import (
    ALTERNATIVES,
    EARLIEST,
    INSERTED,
    LATEST,
    MARKS,
    PROBABILITY,
)
from elision.readers.cases import LIFECYCLE_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from elision.eventlog.insertion import Insertion, Placed
    from elision.readers.columns import Columns

DIGITS = 6
"""Of probabilities as they are written."""

CASE_PREFIX = "case:"
"""Columns of what is the same in all rows of a case, as in the frames of process mining."""


class Kept(Protocol):
    """The rows of a log as they came."""

    @property
    def names(self) -> list[str]:
        """The columns."""

    @property
    def columns(self) -> Columns:
        """Which of them is what."""

    def __len__(self) -> int:
        """How many rows there are."""

    def row(self, number: int) -> Sequence[object]:
        """Return the plain values of a row, in the order of the names."""


def in_order(count: Iterable[int], additions: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """Go through rows with insertions in between: (row, -1), or (its neighbour, insertion)."""
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for number, one in enumerate(additions):
        if one.anchor is not None:
            (before if one.before else after).setdefault(one.anchor, []).append(number)
    for row in count:
        yield from ((row, number) for number in before.get(row, ()))
        yield row, -1
        yield from ((row, number) for number in after.get(row, ()))


def mark_values(one: Placed | None) -> dict[str, object]:
    """Return what the columns of marks say of a row: of an original one, if there is none."""
    if one is None:
        return dict.fromkeys(MARKS) | {INSERTED: False}
    return {
        INSERTED: True,
        PROBABILITY: rounded(one.insertion.probability),
        ALTERNATIVES: alternatives_text(one.insertion),
        EARLIEST: one.earliest,
        LATEST: one.latest,
    }


def rounded(probability: float | None) -> float | None:
    """Return a probability with as many digits as are written."""
    return None if probability is None else round(float(probability), DIGITS)


def alternatives_text(one: Insertion) -> str | None:
    """Return alternatives as a JSON object, None if there are none."""
    if not one.alternatives:
        return None
    found = {event: rounded(probability) for event, probability in one.alternatives}
    return msgspec.json.encode(found).decode()


def new_values(
    kept: Kept, one: Placed, neighbour: Sequence[object], names: Sequence[str]
) -> list[object]:
    """Return the values of an inserted row: its event and time, and those of its case."""
    columns = kept.columns
    found: list[object] = []
    for name, value in zip(names, neighbour, strict=True):
        if name == columns.activity:
            found.append(one.insertion.event)
        elif name == columns.time:
            found.append(one.time)
        elif name in (columns.case, columns.domain) or name.startswith(CASE_PREFIX):
            found.append(value)
        elif name in (columns.lifecycle, LIFECYCLE_KEY):
            found.append("complete")
        else:
            found.append(None)
    return found


def plain_rows(
    kept: Kept, additions: Sequence[Placed], *, marked: bool, rows: Iterable[int] | None = None
) -> Iterator[tuple[int, list[object]]]:
    """Go through rows of plain values with the inserted ones: number of the insertion, values.

    With marks, these are the last columns, but for those that the table has already.
    """
    for row, number in in_order(range(len(kept)) if rows is None else rows, additions):
        one = None if number < 0 else additions[number]
        yield number, plain_row(kept, row, one, marked=marked)


def plain_row(kept: Kept, row: int, one: Placed | None, *, marked: bool) -> list[object]:
    """Return the values of a row, or of one that is inserted beside it."""
    values = list(kept.row(row))
    if one is not None:
        values = new_values(kept, one, values, kept.names)
    if marked:
        values = with_marks(values, kept.names, mark_values(one), original=one is None)
    return values


def marked_names(names: Sequence[str]) -> list[str]:
    """Return the columns with those of the marks."""
    return [*names, *(mark for mark in MARKS if mark not in names)]


def with_marks(
    values: list[object], names: Sequence[str], marks: dict[str, object], *, original: bool
) -> list[object]:
    """Return the values of a row with its marks; those of a log repaired before stay."""
    if any(name in marks for name in names):
        values = [
            marks[name] if name in marks and not original else value
            for name, value in zip(names, values, strict=True)
        ]
    return [*values, *(marks[mark] for mark in MARKS if mark not in names)]


def text_of(value: object) -> str:
    """Return a value as a cell of text."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | datetime):
        return value.isoformat()
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return str(value)
