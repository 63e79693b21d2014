"""Many tellings summed up: by step, and by variant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from elision import _html
from elision.ask.engine.frames import frame_of
from elision.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.ask.score import Conformance

STEP_COLUMNS = ("step", "told", "surprise", "missing", "superfluous", "out_of_order")
VARIANT_COLUMNS = (
    "variant", "tellings", "share", "fitness", "p_value", "oddness", "odd", "flags",
)  # fmt: skip

LEAST_SHOWN = 0.0005
"""Smaller shares would show as 0.000."""

LEFT = ("step", "variant", "flags")
"""Columns of words; the others are numbers, at the right."""

COUNTED = {
    "skipped": "missing",
    "superfluous": "superfluous",
    "repeated": "superfluous",
    "unknown": "superfluous",
    "impossible": "superfluous",
    "replaced": "superfluous",
    "out of order": "out_of_order",
}
"""The column that each kind of deviation is counted in."""


class Summary(Sequence[Mapping[str, Any]]):
    """A table: one dictionary a row.

    Parameters
    ----------
    columns
        Their names.
    rows
        Values by column.
    """

    __slots__ = ("_rows", "columns")

    def __init__(self, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        self.columns, self._rows = tuple(columns), tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Summary: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Summary:
        if isinstance(index, slice):
            return Summary(self.columns, self._rows[index])
        return self._rows[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<Summary: {counted(len(self), 'row')} of {', '.join(self.columns)}>"

    def __str__(self) -> str:
        lines = [[name.replace("_", " ") for name in self.columns], *self.shown()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            isinstance(self._rows[0][name], str) if self._rows else True for name in self.columns
        ]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(line, widths, text, strict=True)
            ).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        return _html.table([name.replace("_", " ") for name in self.columns], self.shown())

    def shown(self) -> list[list[str]]:
        """The rows as text."""
        return [[_text(name, row[name]) for name in self.columns] for row in self._rows]

    def flagged(self) -> Summary:
        """Return the rows that have flags."""
        names = [name for name in STEP_COLUMNS[3:] if name in self.columns] or ["odd", "flags"]
        return Summary(self.columns, [row for row in self._rows if any(row[n] for n in names)])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary a row, of plain values."""
        return [dict(row) for row in self._rows]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the rows as a data frame of pandas, polars or pyarrow."""
        return frame_of(self.columns, self.to_rows(), backend)


def by_step(found: Sequence[Conformance]) -> Summary:
    """Sum up step by step: those flagged most often first.

    An event that is told in place of another counts as superfluous, the other is not counted.
    """
    told: Counter[str] = Counter()
    surprise: dict[str, float] = {}
    flagged: dict[str, Counter[str]] = {name: Counter() for name in STEP_COLUMNS[3:]}
    for one in found:
        for event, value in zip(one.told, one.surprises, strict=True):
            told[event] += 1
            surprise[event] = surprise.get(event, 0.0) + (value or 0.0)
        for flag in one.flags:
            if flag.kind in COUNTED:  # what is only surprising is no deviation
                flagged[COUNTED[flag.kind]][flag.event] += 1
    steps = dict.fromkeys([*told, *(event for some in flagged.values() for event in some)])
    rows: list[dict[str, Any]] = [
        {
            "step": step,
            "told": told[step],
            "surprise": surprise.get(step, 0.0) / max(told[step], 1),
            **{name: some[step] for name, some in flagged.items()},
        }
        for step in steps
    ]
    rows.sort(key=lambda row: -sum(row[name] for name in flagged))
    return Summary(STEP_COLUMNS, rows)


def by_variant(found: Sequence[Conformance]) -> Summary:
    """Sum up tellings that are alike: the most frequent first."""
    alike: dict[tuple[str, ...], list[Conformance]] = {}
    for one in found:
        alike.setdefault(one.told, []).append(one)
    rows: list[dict[str, Any]] = [
        {
            "variant": ", ".join(told),
            "tellings": len(some),
            "share": len(some) / len(found),
            "fitness": some[0].fitness,
            "p_value": some[0].p_value,
            "oddness": some[0].oddness,
            "odd": some[0].odd,
            "flags": "; ".join(map(str, some[0].flags)),
        }
        for told, some in alike.items()
    ]
    rows.sort(key=lambda row: -row["tellings"])
    return Summary(VARIANT_COLUMNS, rows)


def shown_share(share: float) -> str:
    """Return a share of tellings for people: one that would show as none is said to be small.

    Examples
    --------
    >>> shown_share(0.0481), shown_share(1e-9)
    ('0.048', '< 0.001')
    """
    return f"{share:.3f}" if share >= LEAST_SHOWN else "< 0.001"


def _text(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "odd" if value else ""
    if isinstance(value, float):
        if name == "p_value":
            return shown_share(value)
        decimals = {"share": ".1%", "fitness": ".2f"}
        return format(value, decimals.get(name, ".1f"))
    return str(value)
