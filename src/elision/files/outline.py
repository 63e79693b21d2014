"""Outlines in script files."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - msgspec

import msgspec
import numpy as np

from elision.errors import FileFormatError, ScriptError
from elision.values.outline import Alarms, Outline, Step, Unit


class PackedStep(msgspec.Struct, forbid_unknown_fields=True):
    """A step."""

    name: str
    event: str
    told: float
    telling: float
    again: float
    place: float
    wording: list[str]


class PackedUnit(msgspec.Struct, forbid_unknown_fields=True):
    """A unit: numbers of steps, by branch."""

    branches: list[list[int]]
    shares: list[float]
    happens: float


class PackedOutline(msgspec.Struct, forbid_unknown_fields=True):
    """An outline: ``before`` are pairs of units that stand directly before one another."""

    title: str
    tellings: int
    steps: list[PackedStep]
    units: list[PackedUnit]
    before: list[tuple[int, int]]
    pairs: list[list[int]]
    skipped: list[float] = []
    out_of_order: list[float] = []
    apart: list[PackedUnit] | msgspec.UnsetType = msgspec.UNSET

    @property
    def has_apart(self) -> bool:
        """Whether there are choices whose parts stand apart."""
        return self.apart is not msgspec.UNSET


def pack_outline(outline: Outline) -> PackedOutline:
    """Return what a file holds of an outline."""
    return PackedOutline(
        title=outline.title,
        tellings=outline.tellings,
        steps=[
            PackedStep(s.name, s.event, s.told, s.telling, s.again, s.place, list(s.wording))
            for s in outline.steps
        ],
        units=_pack_units(outline.units),
        before=[(a, b) for a, b in np.argwhere(outline.covers).tolist()],
        pairs=outline.pairs.tolist(),
        skipped=[] if outline.alarms is None else list(outline.alarms.skipped),
        out_of_order=[] if outline.alarms is None else list(outline.alarms.out_of_order),
        apart=_pack_units(outline.apart) if outline.apart else msgspec.UNSET,
    )


def _pack_units(units: Sequence[Unit]) -> list[PackedUnit]:
    return [PackedUnit([list(b) for b in u.branches], list(u.shares), u.happens) for u in units]


def _unpack_units(units: Sequence[PackedUnit]) -> tuple[Unit, ...]:
    return tuple(Unit(tuple(map(tuple, u.branches)), tuple(u.shares), u.happens) for u in units)


def unpack_outline(packed: PackedOutline, where: str) -> Outline:
    """Return the outline that `pack_outline` packed.

    Raises
    ------
    FileFormatError
        If its parts do not make an outline.
    """
    try:
        msgspec.json.encode(packed)
    except UnicodeError:
        problem = "damaged script file: half a surrogate pair in the outline, expected Unicode"
        raise FileFormatError(problem, where=where) from None
    n = len(packed.units)
    order = np.zeros((n, n), dtype=bool)
    for a, b in packed.before:
        if not (0 <= a < n and 0 <= b < n):
            raise FileFormatError(f"damaged script file: no unit {a} or {b}", where=where)
        order[a, b] = True
    for k in range(n):
        order |= np.outer(order[:, k], order[k])
    if any(len(row) != n for row in packed.pairs) or len(packed.pairs) != n:
        raise FileFormatError("damaged script file: pairs do not fit the units", where=where)
    if packed.tellings < 0 or any(count < 0 for row in packed.pairs for count in row):
        raise FileFormatError("damaged script file: fewer than 0 tellings", where=where)
    try:
        return Outline(
            tuple(
                Step(s.name, s.event, s.told, s.telling, s.again, s.place, tuple(s.wording))
                for s in packed.steps
            ),
            _unpack_units(packed.units),
            order,
            np.array(packed.pairs, dtype=np.int64).reshape(n, n),
            packed.tellings,
            packed.title,
            Alarms(tuple(packed.skipped), tuple(packed.out_of_order)) if packed.skipped else None,
            () if isinstance(packed.apart, msgspec.UnsetType) else _unpack_units(packed.apart),
        )
    except (ScriptError, OverflowError, IndexError) as error:
        raise FileFormatError(f"damaged script file: {error}", where=where) from None
