"""Frames of pandas, polars and pyarrow with rows put in between; other rows stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from elision._backends import BACKENDS, library_of
from elision.errors import InputError, shown
from elision.io.columns import LIFECYCLE_KEY
from elision.io.tables import as_polars, failures
from elision.io.xes import CASE_PREFIX
from elision.logs.log import (
    ALTERNATIVES,
    EARLIEST,
    INSERTED,
    LATEST,
    MARKS,
    PROBABILITY,
    text_of_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from elision.io.columns import Columns
    from elision.io.times import Form
    from elision.logs.log import Placed

_NULLABLE = {"int": "Int", "uint": "UInt"}


def with_rows(
    native: Any,
    columns: Columns,
    placed: Sequence[Placed],
    form: Form | None,
    rows: Sequence[int] | None = None,
) -> Any:
    """Return a frame with rows put in and marked, each beside its neighbour.

    What is the same for the whole case is the neighbour's; event, time and marks are its own, and
    the other columns are null there. The rows stay in their order, or come in
    the one that is given.
    """
    order = _order(range(len(native)) if rows is None else rows, placed)
    anchors = [one.anchor for one in placed]
    own: dict[str, list[Any]] = {name: [one.marks[name] for one in placed] for name in MARKS}
    own[columns.activity] = [one.insertion.event for one in placed]
    if columns.time is not None:
        own[columns.time] = [one.time for one in placed]
    for name in {LIFECYCLE_KEY, columns.lifecycle} - {None}:
        own[str(name)] = ["complete"] * len(placed)
    same = {columns.case, columns.domain}
    ticks = form if form is not None and form.order == "ticks" else None
    library = library_of(native)
    if library is None:
        hint = "give a pandas, polars or pyarrow frame"
        raise InputError(f"a frame of {type(native).__module__}", hint=hint)
    timed = {str(columns.time), EARLIEST, LATEST} if ticks else set()
    with failures("data frame"):
        add = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}[library]
        return add(native, _Rows(anchors, order, own, same, timed, ticks, columns.time))


class _Rows(NamedTuple):
    """Rows to put in.

    Attributes
    ----------
    anchors
        Their neighbours.
    order
        Of all rows; those that are put in are numbered after the others.
    own
        Columns with values of their own.
    same
        Columns that are the neighbour's, beside those that begin with case:.
    timed
        Columns of dates as such, and ``ticks`` their form.
    time
        The column of the time.
    """

    anchors: list[int]
    order: list[int]
    own: dict[str, list[Any]]
    same: set[str | None]
    timed: set[str]
    ticks: Form | None
    time: str | None

    def is_same(self, name: object) -> bool:
        return name in self.same or (isinstance(name, str) and name.startswith(CASE_PREFIX))


def _order(rows: Sequence[int], placed: Sequence[Placed]) -> list[int]:
    """Return the order of rows and, numbered after them, of those that are put in."""
    import numpy as np  # noqa: PLC0415 - with the library of the frame

    rank = np.empty(len(rows), dtype=np.int64)
    rank[np.asarray(rows, dtype=np.int64)] = np.arange(len(rows))
    anchors = np.array([one.anchor for one in placed], dtype=np.int64)
    after = np.array([not one.before for one in placed], dtype=np.int64)
    keys = np.concatenate([3 * rank + 1, 3 * rank[anchors] + 2 * after])
    found: list[int] = np.argsort(keys, kind="stable").tolist()
    return found


def _whole_numbers(name: object, events: Sequence[Any]) -> list[int | None]:
    """Return events as the column has them: some logs number them."""
    for event in events:
        if isinstance(event, str) and not event.removeprefix("-").isdecimal():
            raise InputError(
                f"the event {shown(event)} does not fit column {shown(name)} of whole numbers",
                hint="make the column one of text",
            )
    return [None if event is None else int(event) for event in events]


def _marks_series(name: str, values: list[Any], rows: _Rows) -> pl.Series:
    """Return what is put into a column, of a type that suits it."""
    import polars as pl  # noqa: PLC0415 - slow to import

    if rows.ticks is not None and name in rows.timed:
        unit, zone = rows.ticks.unit, rows.ticks.zone
        ticks = pl.Series(name, values, dtype=pl.Int32 if unit == "d" else pl.Int64)
        return ticks.cast(pl.Date if unit == "d" else pl.Datetime(unit, zone))
    kinds = {INSERTED: pl.Boolean, PROBABILITY: pl.Float64, ALTERNATIVES: pl.String}
    if name in kinds:
        return pl.Series(name, values, dtype=kinds[name])
    none = all(value is None for value in values)
    return pl.Series(name, values, dtype=pl.String if none else None, strict=False)


def _polars(native: Any, rows: _Rows) -> Any:
    import polars as pl  # noqa: PLC0415 - the frame is of it

    block = native[rows.anchors]
    made = []
    for name, dtype in native.schema.items():
        if rows.is_same(name):
            continue
        if name not in rows.own:
            made.append(pl.Series(name, [None] * len(block), dtype=dtype))
        elif dtype.is_integer() and name not in MARKS and name != rows.time:
            made.append(pl.Series(name, _whole_numbers(name, rows.own[name]), dtype=dtype))
        else:
            said = _marks_series(name, rows.own[name], rows)
            if isinstance(dtype, pl.Enum) and not said.is_in([*dtype.categories]).all():
                native = native.with_columns(pl.col(name).cast(pl.String))
                dtype = pl.String
            made.append(said.cast(dtype))
    block = block.with_columns(made)
    for name in MARKS:
        if name not in native.columns:
            said = _marks_series(name, rows.own[name], rows)
            block = block.with_columns(said)
            first = pl.lit(False if name == INSERTED else None, said.dtype)
            native = native.with_columns(first.alias(name))
    return pl.concat([native, block])[rows.order]


def _pyarrow(native: Any, rows: _Rows) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - the frame is of it

    block = native.take(pa.array(rows.anchors, pa.int64()))
    for place, field in enumerate(native.schema):
        name, kind = field.name, field.type
        if rows.is_same(name):
            continue
        if name not in rows.own:
            column = pa.nulls(len(block), kind)
        elif pa.types.is_integer(kind) and name not in MARKS and name != rows.time:
            column = pa.array(_whole_numbers(name, rows.own[name]), kind)
        else:
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            said = _marks_series(name, rows.own[name], rows).to_arrow()
            column = said.cast(plain).cast(kind) if plain is not kind else said.cast(kind)
        block = block.set_column(place, pa.field(name, kind), column)
    native = native.cast(pa.schema([one.with_nullable(True) for one in native.schema]))
    for name in MARKS:
        if name not in native.schema.names:
            said = _marks_series(name, rows.own[name], rows).to_arrow()
            said = said.cast(pa.string()) if pa.types.is_large_string(said.type) else said
            first: Any = [False] * len(native) if name == INSERTED else [None] * len(native)
            native = native.append_column(name, pa.array(first, said.type))
            block = block.append_column(name, said)
    both = pa.concat_tables([native, block], promote_options="permissive")
    return both.unify_dictionaries().take(pa.array(rows.order, pa.int64()))


def _pandas(native: Any, rows: _Rows) -> Any:
    import pandas as pd  # noqa: PLC0415 - the frame is of it

    length = len(native)
    neighbours = [row if row < length else rows.anchors[row - length] for row in rows.order]
    new = [None if row < length else row - length for row in rows.order]
    gaps = [-1 if one is not None else row for row, one in zip(rows.order, new, strict=True)]
    made = {}
    for name in native.columns:
        old = native[name].reset_index(drop=True)
        if rows.is_same(name) or not rows.anchors:
            made[name] = old.take(neighbours).reset_index(drop=True)
        elif name not in rows.own:
            made[name] = _nullable(old).reindex(gaps).reset_index(drop=True)
        else:
            own = rows.own[name]
            if pd.api.types.is_integer_dtype(old.dtype) and name not in (*MARKS, rows.time):
                own = _whole_numbers(name, own)
            if name in rows.timed:
                own = _moments(own, rows.ticks)
            both = [*old.tolist(), *own]
            dtype = old.dtype
            if isinstance(dtype, pd.CategoricalDtype):
                more = [one for one in dict.fromkeys(own) if one not in dtype.categories]
                dtype = pd.CategoricalDtype([*dtype.categories, *more], dtype.ordered)
            made[name] = pd.Series(both, dtype=dtype).take(rows.order).reset_index(drop=True)
    for name in MARKS:
        if name not in made:
            first: Any = False if name == INSERTED else None
            said = _marks_series(name, rows.own[name], rows)
            dtype = {INSERTED: "bool", PROBABILITY: "float64"}.get(name)
            values = _moments(rows.own[name], rows.ticks) if name in rows.timed else [*said]
            column = [first if one is None else values[one] for one in new]
            if name in rows.timed:
                made[name] = pd.Series(column, dtype=native[rows.time].dtype)
            else:
                made[name] = pd.Series(column, dtype=dtype or "str")
    frame = pd.DataFrame(made)
    if not isinstance(native.index, pd.RangeIndex):
        frame.index = native.index.take(neighbours)
    return frame


def _moments(values: Sequence[Any], ticks: Form | None) -> list[Any]:
    """Return ticks as pandas has times; exact to the nanosecond."""
    import pandas as pd  # noqa: PLC0415 - the frame is of it

    unit: Any = "D" if ticks is None or ticks.unit == "d" else ticks.unit
    zone = None if ticks is None else ticks.zone
    found = [None if one is None else pd.Timestamp(one, unit=unit, tz="UTC") for one in values]
    return [
        None if one is None else one.tz_localize(None) if zone is None else one.tz_convert(zone)
        for one in found
    ]


def _nullable(series: Any) -> Any:
    """Return a column of pandas that can hold nulls and stays what it is: whole, true or false."""
    kind = str(series.dtype)
    if kind == "bool":
        return series.astype("boolean")
    letters = kind.rstrip("0123456789")
    if letters in _NULLABLE:
        return series.astype(kind.replace(letters, _NULLABLE[letters]))
    return series


def converted(native: Any, backend: str | None) -> Any:
    """Return a frame as one of another library: "pandas", "polars" or "pyarrow".

    Raises
    ------
    InputError
        Where there is no such library, or it is not installed.
    """
    if backend is None or library_of(native) == backend:
        return native
    if backend not in BACKENDS:
        raise InputError(f"backend {shown(backend)}, expected 'pandas', 'polars' or 'pyarrow'")
    try:
        __import__(backend)
    except ImportError:
        raise InputError(f"{backend} is not installed", hint=f"pip install {backend}") from None
    import narwhals as nw  # noqa: PLC0415 - slow to import

    if backend == "polars":
        return in_polars(native)
    with failures("data frame"):
        frame = nw.from_native(native)
        return frame.to_arrow() if backend == "pyarrow" else frame.to_pandas()


def in_polars(native: Any) -> pl.DataFrame:
    """Return a frame of any library as one of polars; what polars has no type for, as text."""
    import narwhals as nw  # noqa: PLC0415 - slow to import
    import polars as pl  # noqa: PLC0415 - slow to import

    if isinstance(native, pl.DataFrame):
        return native
    with failures("data frame"):
        frame: Any = nw.from_native(native)
        made = [
            as_polars(frame[:, place]).alias(str(name)) for place, name in enumerate(frame.columns)
        ]
        return pl.DataFrame([_plain(one) for one in made])


def _plain(column: pl.Series) -> pl.Series:
    import polars as pl  # noqa: PLC0415 - slow to import

    if column.dtype != pl.Object:
        return column
    return pl.Series(column.name, [text_of_value(one) for one in column], dtype=pl.String)
