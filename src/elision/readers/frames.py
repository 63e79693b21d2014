"""Data frames of any library that narwhals knows: their columns, and the values of these."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elision.errors import InputError, shown
from elision.readers.columns import FIRST_CELLS
from elision.readers.source import one_line
from elision.readers.times import Ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import narwhals as nw

    from elision.readers.times import Form


def known_frame(native: Any, name: str) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Return a frame as narwhals has it.

    Raises
    ------
    InputError
        Where it is none.
    """
    import narwhals as nw  # noqa: PLC0415 - slow to import, and only frames need it

    try:
        return nw.from_native(_table_of_batch(native))  # type: ignore[no-any-return]
    except TypeError:
        hint = "give a pandas, polars or pyarrow frame"
        raise InputError(f"{shown(native)} is not a known frame", where=name, hint=hint) from None
    except nw.exceptions.NarwhalsError as error:
        raise InputError(one_line(error), where=name) from None


def _table_of_batch(native: Any) -> Any:
    """Return a record batch of pyarrow as a table, and anything else as it is."""
    kind = type(native)
    if kind.__name__ != "RecordBatch" or not kind.__module__.startswith("pyarrow"):
        return native
    import pyarrow as pa  # noqa: PLC0415 - it is imported, as somebody has made a batch

    return pa.Table.from_batches([native])


def collected(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], name: str) -> nw.DataFrame[Any]:
    """Return a frame that is at hand, once a lazy one has done its work."""
    import narwhals as nw  # noqa: PLC0415 - as above

    with failures(name):
        return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def first_cells(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: list[str], where: str
) -> dict[str, list[Any]]:
    """Return the first values of some columns."""
    with failures(where):
        first = collected(frame.select(names).head(FIRST_CELLS), where)
        return {name: values_of(first[name], where) for name in names}


@contextmanager
def failures(where: str) -> Iterator[None]:
    """Turn whatever a library of frames raises into one line."""
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise
    except BaseException as error:  # each library has exceptions of its own
        # What polars, which is in Rust, calls a panic is no Exception.
        if not isinstance(error, Exception) and type(error).__module__ != "pyo3_runtime":
            raise
        problem = f"cannot be read: {one_line(error)[:200] or type(error).__name__}"
        raise InputError(problem, where=where) from None


def values_of(series: nw.Series[Any], where: str) -> list[Any]:
    """Return the values, with None for each of the ways that libraries have to say null."""
    import narwhals as nw  # noqa: PLC0415 - as above

    with failures(where):
        nulls = series.is_null()
        if isinstance(series.dtype, nw.Datetime) and series.dtype.time_unit == "ns":
            # Some libraries cannot give nanoseconds as Python times.
            series = series.cast(nw.Datetime("us", series.dtype.time_zone))
        values: list[Any] = series.to_list()
        if nulls.any():
            pairs = zip(values, nulls.to_list(), strict=True)
            values = [None if null else value for value, null in pairs]
        return values


class _NoLabel:
    """Stands for a date or a duration where text is expected: Python's own may not reach as far."""

    def __init__(self, kind: object) -> None:
        self._kind = kind

    def __repr__(self) -> str:
        return f"a {self._kind}"


def labels_of(series: nw.Series[Any], where: str) -> list[Any]:
    """Return the values of a column of texts or numbers; dates and durations as mere marks."""
    import narwhals as nw  # noqa: PLC0415 - as above

    if not isinstance(series.dtype, (nw.Date, nw.Datetime, nw.Duration, nw.Time)):
        return values_of(series, where)
    with failures(where):
        mark = _NoLabel(series.dtype)
        return [None if null else mark for null in series.is_null().to_list()]


def times_of(series: nw.Series[Any], where: str) -> tuple[list[Any], Form | None]:
    """Return time stamps and their form; None where it is to be found from their values.

    Dates go as whole numbers of their own unit: Python's own do not reach as far.
    """
    import narwhals as nw  # noqa: PLC0415 - as above

    dtype = series.dtype
    if isinstance(dtype, nw.Datetime):
        form = Ticks(dtype.time_unit, dtype.time_zone)
    elif isinstance(dtype, nw.Date):
        form = Ticks("d", None)
    else:
        return labels_of(series, where), None
    with failures(where):
        nulls: list[bool] = series.is_null().to_list()
        there = series.drop_nulls()
        days = there.cast(nw.Int32) if form.unit == "d" else there
        ticks = iter(days.cast(nw.Int64).to_list())
        return [None if null else int(next(ticks)) for null in nulls], form
