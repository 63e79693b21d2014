"""Logs in data frames, kept as they are; and frames made of other logs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from elision._backends import library_of
from elision.errors import InputError, shown
from elision.eventlog import _columns
from elision.eventlog.insertion import (
    ALTERNATIVES,
    EARLIEST,
    INSERTED,
    LATEST,
    MARKS,
    PROBABILITY,
)
from elision.eventlog.kept import (
    CASE_PREFIX,
    in_order,
    mark_values,
    marked_names,
    plain_rows,
)
from elision.readers.cases import LIFECYCLE_KEY
from elision.readers.frames import failures, times_of, values_of
from elision.readers.times import Ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from elision.eventlog.insertion import Placed
    from elision.eventlog.kept import Kept
    from elision.readers.columns import Columns
    from elision.readers.times import Form

_KINDS = {INSERTED: "bool", PROBABILITY: "float", ALTERNATIVES: "str"}


@dataclass(slots=True)
class KeptFrame:
    """A data frame, with its times as they are read: as ticks where it holds dates as such."""

    frame: nw.DataFrame[Any]
    names: list[Any]
    columns: Columns
    times: Sequence[object]
    _values: list[Sequence[object]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.frame)

    def row(self, number: int) -> list[object]:
        """Return the plain values of a row; times as `times` has them."""
        if not self._values:
            self._values = [
                self.times
                if name == self.columns.time
                else values_of(self.series(name), f"column {shown(name)}")
                for name in self.names
            ]
        return [values[number] for values in self._values]

    def series(self, name: Any) -> nw.Series[Any]:
        """Return a column, whatever its name is: pandas has others than text."""
        import narwhals as nw  # noqa: PLC0415 - slow to import

        if isinstance(name, str):
            return self.frame[name]
        return nw.from_native(self.frame.to_native()[name], series_only=True)

    def column(self, name: Any) -> Any:
        """Return a column as its library has it."""
        return self.series(name).to_native()


def to_frame(
    kept: Kept, additions: Sequence[Placed], form: Form | None, *, marked: bool, backend: str | None
) -> Any:
    """Return a log as a frame: of the library that it came from, if none is named."""
    if not isinstance(kept, KeptFrame):
        known = _columns.checked_backend(backend or "pandas")
        names = marked_names(kept.names) if marked else kept.names
        rows = [values for _, values in plain_rows(kept, additions, marked=marked)]
        with failures("data frame"):
            cells = {
                name: _columns.new_column(
                    [row[place] for row in rows],
                    known,
                    None if name in kept.names else _KINDS.get(name),
                )
                for place, name in enumerate(names)
            }
            return _columns.frame_of(cells, known)
    with failures("data frame"):
        native = _with_insertions(kept, additions, form) if marked else kept.frame.to_native()
    if backend is None or backend == library_of(native):
        return native
    return converted(native, _columns.checked_backend(backend))


def converted(native: Any, backend: str) -> Any:
    """Return a frame as one of another library, by way of pyarrow."""
    import narwhals as nw  # noqa: PLC0415 - slow to import

    with failures("data frame"):
        table = nw.from_native(native).to_arrow()
        if backend == "pyarrow":
            return table
        return nw.from_arrow(table, backend=backend).to_native()  # type: ignore[arg-type]


def _with_insertions(kept: KeptFrame, additions: Sequence[Placed], form: Form | None) -> Any:
    native = kept.frame.to_native()
    backend = library_of(native)
    if backend is None:
        hint = "give a pandas, polars or pyarrow frame"
        raise InputError(f"a frame of {type(native).__module__}", hint=hint)
    order = list(in_order(range(len(kept)), additions))
    rows = [row for row, _ in order]
    new = [None if number < 0 else additions[number] for _, number in order]
    made = {name: _column(kept, name, rows, new, form) for name in kept.names}
    marks = [mark_values(one) for one in new]
    like = None if kept.columns.time is None else kept.column(kept.columns.time)
    for name in MARKS:
        if name not in kept.names:
            values = [mark[name] for mark in marks]
            timed = name in (EARLIEST, LATEST) and isinstance(form, Ticks)
            made[name] = (
                _columns.of_ticks(values, form, like)  # type: ignore[arg-type]
                if timed
                else _columns.new_column(values, backend, _KINDS.get(name))
            )
    frame = _columns.frame_of(made, backend)
    if backend == "pandas" and not _is_count(native.index):
        frame.index = native.index.take(rows)
    if backend == "pyarrow" and native.schema.metadata:
        # What pandas noted there speaks of the rows as they were.
        others = {k: v for k, v in native.schema.metadata.items() if k != b"pandas"}
        frame = frame.replace_schema_metadata(others or None)
    return frame


def _is_count(index: Any) -> bool:
    """Whether the labels of rows are only their numbers."""
    return type(index).__name__ == "RangeIndex"


def _column(
    kept: KeptFrame,
    name: Any,
    rows: list[int],
    new: list[Placed | None],
    form: Form | None,
) -> Any:
    """Return a column with what it says of the inserted rows."""
    native, columns = kept.column(name), kept.columns
    of_case = isinstance(name, str) and name.startswith(CASE_PREFIX)
    if of_case or name in (columns.case, columns.domain) or not any(new):
        return _columns.taken(native, rows)
    if isinstance(form, Ticks) and name in (columns.time, EARLIEST, LATEST):
        known, own = times_of(kept.series(name), shown(name))
        if isinstance(own, Ticks) and own.unit == form.unit:
            pairs = zip(rows, new, strict=True)
            said = {columns.time: "time", EARLIEST: "earliest", LATEST: "latest"}[name]
            ticks = [known[row] if one is None else getattr(one, said) for row, one in pairs]
            return _columns.of_ticks(ticks, form, native)
    if name not in (columns.activity, columns.time, columns.lifecycle, LIFECYCLE_KEY, *MARKS):
        pairs = zip(rows, new, strict=True)
        return _columns.taken(native, [row if one is None else None for row, one in pairs])
    old = kept.times if name == columns.time else values_of(kept.series(name), shown(name))
    values: list[object] = []
    for row, one in zip(rows, new, strict=True):
        if one is None:
            values.append(old[row])
        elif name == columns.time:
            values.append(one.time)
        elif name == columns.activity:
            values.append(_event(one, old[row]))
        else:
            values.append(
                "complete" if name in (columns.lifecycle, LIFECYCLE_KEY) else mark_values(one)[name]
            )
    return _columns.rebuilt(values, native)


def _event(one: Placed, like: object) -> object:
    """Return the event as the column has events: some logs number them."""
    name = one.insertion.event
    if isinstance(like, str):
        return name
    try:
        return int(name)
    except ValueError:
        raise InputError(
            f"the event {shown(name)} does not fit a column of whole numbers",
            hint="make the column one of text",
        ) from None
