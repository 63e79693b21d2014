"""Rows as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elision._backends import BACKENDS
from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame_of(columns: Sequence[str], rows: Sequence[dict[str, Any]], backend: str) -> Any:
    """Return rows as a data frame of pandas, polars or pyarrow.

    Raises
    ------
    InputError
        If that library is not installed, or is another one.
    """
    if backend not in BACKENDS:
        problem = f"backend {short(backend)}, expected 'pandas', 'polars' or 'pyarrow'"
        raise InputError(problem)
    import narwhals as nw  # noqa: PLC0415 - slow to import

    values = {name: [row[name] for row in rows] for name in columns}
    try:
        return nw.from_dict(values, backend=backend).to_native()  # type: ignore[arg-type]
    except ModuleNotFoundError:
        raise InputError(f"{backend} is not installed", hint=f"pip install {backend}") from None
