"""Logs of narratives, one JSON object each: kept with all their fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from elision.errors import InputError, shown
from elision.eventlog.insertion import MARKS
from elision.eventlog.kept import (
    CASE_PREFIX,
    in_order,
    mark_values,
    marked_names,
    plain_row,
    rounded,
)
from elision.eventlog.texts import shown_times
from elision.readers.columns import Columns
from elision.values.narrative import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from elision.eventlog.insertion import Case, Placed
    from elision.eventlog.kept import Kept
    from elision.readers.times import Form
    from elision.values.narrative import Narrative

CASE, ACTIVITY, DOMAIN, STEP = "case:concept:name", "concept:name", "domain", "step"


@dataclass(slots=True)
class KeptRecords:
    """Narratives, with the fields that say something of each event and those that do not."""

    narratives: Sequence[Narrative]
    of_events: frozenset[str]
    names: list[str]
    columns: Columns
    _rows: list[tuple[Narrative, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._rows = [(one, place) for one in self.narratives for place in range(one.length)]

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> list[object]:
        """Return what a narrative says of one of its events, and of all."""
        one, place = self._rows[number]
        found: dict[str, object] = {CASE: one.id, DOMAIN: one.domain}
        found[ACTIVITY] = one.events[place] if one.events is not None else None
        if one.steps is not None:
            found[STEP] = one.steps[place]
        for name, value in one.extra.items():
            if name in self.of_events:
                found[name] = value[place]  # type: ignore[index]  # a list, as all of this name
            else:
                found[CASE_PREFIX + name] = value
        return [found.get(name) for name in self.names]


def kept_records(
    narratives: Sequence[Narrative], of_events: frozenset[str], time: str | None, names: list[str]
) -> KeptRecords:
    """Keep narratives whose fields are known."""
    columns = Columns(CASE, ACTIVITY, time, DOMAIN if DOMAIN in names else None, None)
    return KeptRecords(narratives, of_events, names, columns)


class Fields:
    """Which fields narratives have beside the usual ones, and which of them are lists by event."""

    def __init__(self) -> None:
        self._parallel: dict[str, bool] = {}
        self._domain = self._steps = False

    def see(self, one: Narrative) -> None:
        """Look at the fields of one more narrative."""
        self._domain |= bool(one.domain)
        self._steps |= one.steps is not None
        for name, value in one.extra.items():
            fits = isinstance(value, list | tuple) and len(value) == one.length
            self._parallel[name] = self._parallel.get(name, True) and fits

    @property
    def of_events(self) -> frozenset[str]:
        """Fields that are a list of one value an event, in each narrative that has them."""
        return frozenset(name for name, fits in self._parallel.items() if fits)

    @property
    def names(self) -> list[str]:
        """The columns, if the log is made into a table."""
        usual = [CASE, *([DOMAIN] if self._domain else []), ACTIVITY]
        others = [n if fits else CASE_PREFIX + n for n, fits in self._parallel.items()]
        return [*usual, *([STEP] if self._steps else []), *others]


def json_lines(
    kept: Kept,
    cases: Sequence[Case],
    additions: Sequence[Placed],
    form: Form | None,
    *,
    marked: bool,
) -> Iterator[bytes]:
    """Go through a log as lines of JSON, a narrative each."""
    encode = msgspec.json.Encoder().encode
    by_case: dict[int, list[Placed]] = {}
    for one in additions:
        by_case.setdefault(one.insertion.case, []).append(one)
    for number, case in enumerate(cases):
        own = by_case.get(number, [])
        if isinstance(kept, KeptRecords):
            record = _record(kept, kept.narratives[number], case, own, marked=marked)
        else:
            record = _gathered(kept, case, own, form, marked=marked)
        try:
            yield encode(record) + b"\n"
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            where = f"case {shown(case.id)}"
            raise InputError(f"cannot be written as JSON: {error}", where=where) from None


def _record(
    kept: KeptRecords, one: Narrative, case: Case, own: Sequence[Placed], *, marked: bool
) -> dict[str, Any]:
    """Return a narrative with inserted events in its lists, and its other fields as they are."""
    record = {name: getattr(one, name) for name in FIELDS}
    record = {name: value for name, value in record.items() if value is not None}
    record |= dict(one.extra)
    order = list(in_order(case.rows, own)) or [(-1, number) for number in range(len(own))]
    first = case.rows[0] if case.rows else 0
    places = [(row - first, None if number < 0 else own[number]) for row, number in order]
    for name in ("events", "steps"):
        if name in record:
            record[name] = [
                record[name][place] if new is None else new.insertion.event for place, new in places
            ]
    for name in kept.of_events & record.keys():
        said = "time" if name == kept.columns.time else None
        record[name] = [
            record[name][place] if new is None else getattr(new, said) if said else None
            for place, new in places
        ]
    if marked:
        record |= _marks([new for _, new in places], record)
    return record


def _gathered(
    kept: Kept, case: Case, own: Sequence[Placed], form: Form | None, *, marked: bool
) -> dict[str, Any]:
    """Return a case of a table: its columns as lists, those of the case as they are."""
    columns = kept.columns
    names = marked_names(kept.names) if marked else kept.names
    order = [(row, None if n < 0 else own[n]) for row, n in in_order(case.rows, own)]
    rows = [
        dict(
            zip(
                names,
                shown_times(plain_row(kept, row, new, marked=marked), names, columns.time, form),
                strict=True,
            )
        )
        for row, new in order
    ]
    record: dict[str, Any] = {"domain": case.domain} if case.domain else {}
    record |= {"id": case.id, "events": [str(row[columns.activity]) for row in rows]}
    for name in names:
        if name in (columns.case, columns.activity, columns.domain, *MARKS):
            continue
        of_case = str(name).startswith(CASE_PREFIX)
        key = str(name).removeprefix(CASE_PREFIX)
        key = f"column:{key}" if key in FIELDS else key
        record[key] = rows[0][name] if of_case and rows else [row[name] for row in rows]
    if marked:
        record |= _marks([new for _, new in order], {})
        for name in MARKS[3:]:
            record[name] = [row[name] for row in rows]
    return record


def _object(alternatives: Sequence[tuple[str, float]]) -> dict[str, float | None] | None:
    return {event: rounded(chance) for event, chance in alternatives} or None


def _marks(new: Sequence[Placed | None], record: dict[str, Any]) -> dict[str, list[object]]:
    """Return the marks of a narrative as lists; alternatives as objects."""
    found: dict[str, list[object]] = {}
    for name in MARKS:
        old = record.get(name)
        values = [mark_values(one)[name] for one in new]
        if name == "elision:alternatives":
            values = [None if one is None else _object(one.insertion.alternatives) for one in new]
        if isinstance(old, list) and len(old) == len(new):
            values = [
                before if one is None else value
                for before, one, value in zip(old, new, values, strict=True)
            ]
        found[name] = values
    return found
