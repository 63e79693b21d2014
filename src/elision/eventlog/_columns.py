"""Columns of pandas, polars and pyarrow: rows taken from them, with nulls in between, and new ones.

The libraries differ in how they say null, and narwhals does not take rows that are not there, so
this is done with each library's own means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision._backends import BACKENDS, library_of
from elision.errors import InputError, shown
from elision.eventlog.kept import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elision.readers.times import Ticks

_WIDTH = {"int": "Int", "uint": "UInt"}


def checked_backend(backend: object) -> str:
    """Return the name of a library of frames.

    Raises
    ------
    InputError
        Where there is no such library, or it is not installed.
    """
    if not isinstance(backend, str) or backend not in BACKENDS:
        raise InputError(f"backend {shown(backend)}, expected 'pandas', 'polars' or 'pyarrow'")
    try:
        __import__(backend)
    except ImportError:
        raise InputError(f"{backend} is not installed", hint=f"pip install {backend}") from None
    return backend


def taken(native: Any, rows: Sequence[int | None]) -> Any:
    """Return the values of a column at some rows, null where there is none."""
    library = library_of(native)
    if library == "polars":
        import polars as pl  # noqa: PLC0415 - as the column is one of polars

        return native.gather(pl.Series(rows, dtype=pl.UInt32))
    if library == "pyarrow":
        import pyarrow as pa  # noqa: PLC0415 - as the column is one of pyarrow

        return native.take(pa.array(rows, pa.int64()))
    plain = native.reset_index(drop=True)
    if None not in rows:
        return plain.take(rows).reset_index(drop=True)
    found = _nullable(plain).reindex([-1 if row is None else row for row in rows])
    return found.reset_index(drop=True)


def _nullable(series: Any) -> Any:
    """Return a column of pandas that can hold nulls and stays what it is: whole, true or false."""
    kind = str(series.dtype)
    if kind == "bool":
        return series.astype("boolean")
    letters = kind.rstrip("0123456789")
    return series.astype(kind.replace(letters, _WIDTH[letters])) if letters in _WIDTH else series


def rebuilt(values: Sequence[object], like: Any) -> Any:
    """Return a column of plain values, of the type of another."""
    library = library_of(like)
    if library == "polars":
        import polars as pl  # noqa: PLC0415 - as above

        dtype = like.dtype
        if isinstance(dtype, pl.Enum) and not set(values) <= {*dtype.categories, None}:
            dtype = pl.String
        return pl.Series(values, dtype=dtype)
    if library == "pyarrow":
        import pyarrow as pa  # noqa: PLC0415 - as above

        plain = like.type.value_type if pa.types.is_dictionary(like.type) else like.type
        made = pa.chunked_array([pa.array(values, plain)])
        return made.cast(like.type) if plain is not like.type else made
    dtype = like.dtype
    if str(dtype) == "category":
        known = list(dtype.categories)
        more = [
            value for value in dict.fromkeys(values) if value is not None and value not in known
        ]
        dtype = type(dtype)([*known, *more], dtype.ordered)
    return type(like)(values, dtype=dtype)


def of_ticks(ticks: Sequence[int | None], form: Ticks, like: Any) -> Any:
    """Return a column of dates, of the type of another, from whole numbers of its unit."""
    library = library_of(like)
    if library == "polars":
        import polars as pl  # noqa: PLC0415 - as above

        days = pl.Series(ticks, dtype=pl.Int32 if form.unit == "d" else pl.Int64)
        return days.cast(like.dtype)
    if library == "pyarrow":
        import pyarrow as pa  # noqa: PLC0415 - as above

        numbers = pa.array(ticks, pa.int32() if form.unit == "d" else pa.int64())
        return pa.chunked_array([numbers.cast(like.type)])
    kind = str(like.dtype)
    rows = [None if tick is None else row for row, tick in enumerate(ticks)]
    width = 32 if form.unit == "d" else 64
    plain = f"int{width}[pyarrow]" if kind.endswith("[pyarrow]") else f"int{width}"
    numbers = type(like)([tick or 0 for tick in ticks], dtype=plain).astype(like.dtype)
    return taken(numbers, rows) if None in rows else numbers


def new_column(values: Sequence[object], backend: str, kind: str | None = None) -> Any:
    """Return a column of plain values; values of several types become text.

    `kind` is "bool", "int", "float", "str" or "other"; by default the values say.
    """
    values, kind = _typed(values) if kind is None else (values, kind)
    if backend == "polars":
        import polars as pl  # noqa: PLC0415 - it was asked for

        types = {"bool": pl.Boolean, "int": pl.Int64, "float": pl.Float64, "str": pl.String}
        return pl.Series(values, dtype=types.get(kind))
    if backend == "pyarrow":
        import pyarrow as pa  # noqa: PLC0415 - as above

        types = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "str": pa.string()}
        return pa.chunked_array([pa.array(values, types.get(kind))])
    import pandas as pd  # noqa: PLC0415 - as above

    if None in values and kind in ("bool", "int"):
        return pd.Series(values, dtype={"bool": "boolean", "int": "Int64"}[kind])
    if kind == "other":
        return pd.Series(values)
    return pd.Series(values, dtype={"str": "str"}.get(kind, kind))


def _typed(values: Sequence[object]) -> tuple[list[Any], str]:
    """Return values of one type, and its name."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return list(values), "bool"
    if kinds == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):  # type: ignore[operator]
        return list(values), "int"
    if kinds and kinds <= {int, float}:
        try:
            return [None if v is None else float(v) for v in values], "float"  # type: ignore[arg-type]
        except OverflowError:
            pass
    elif len(kinds) == 1 and not kinds & {str, list, tuple, dict}:
        return list(values), "other"
    return [None if value is None else text_of(value) for value in values], "str"


def frame_of(columns: Mapping[Any, Any], backend: str) -> Any:
    """Return columns of one library as its frame."""
    if backend == "polars":
        import polars as pl  # noqa: PLC0415 - as above

        return pl.DataFrame({str(name): column for name, column in columns.items()})
    if backend == "pyarrow":
        import pyarrow as pa  # noqa: PLC0415 - as above

        return pa.table(dict(columns))
    import pandas as pd  # noqa: PLC0415 - as above

    return pd.DataFrame(dict(columns))
