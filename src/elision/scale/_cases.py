"""Rows of event logs in temporary files, by hashes of their cases, and the narratives of cases.

The rows of a case may be spread over a log, and a log over files. So rows go to files by case,
and then the rows of some cases at a time are put in order of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.errors import InputError, shown
from elision.readers.times import AMBIGUOUS_HINT
from elision.scale._arrays import map_arrays, write_arrays
from elision.scale._spill import BITS, BUCKETS, Rows, taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from elision.scale.rows import Events
    from elision.scale.slices import Told

ROW_BYTES = 120
"""What a row takes in memory while rows are put in order."""


@dataclass(frozen=True, slots=True)
class CaseSpill:
    """A file of rows, by buckets of their cases, else in the order given.

    Attributes
    ----------
    path
        The file.
    rows
        (buckets,): how many rows each has.
    names, domains
        What the numbers of activities and domains stand for.
    forms
        Forms that the time stamps may have, each with the type of the moments.
    ends, differing
        As in `Events`.
    """

    path: Path
    rows: NDArray[np.int64]
    names: tuple[str, ...]
    domains: tuple[str, ...]
    forms: dict[str, str]
    ends: bool
    differing: object

    def section(self, first: int, last: int, form: str | None) -> list[NDArray[Any]]:
        """Map rows of some buckets: case by two hashes, symbol, domain, finished, and moment."""
        number = int(self.rows.sum())
        kinds = ["<u8", "<u8", "<u4", "<u4", "|b1", *self.forms.values()]
        arrays = map_arrays(self.path, [(kind, number) for kind in kinds])
        begin, end = int(self.rows[:first].sum()), int(self.rows[:last].sum())
        moment = [] if form is None else [arrays[5 + list(self.forms).index(form)]]
        return [array[begin:end] for array in [*arrays[:5], *moment]]


@dataclass(frozen=True, slots=True)
class Order:
    """How the rows of all cases are read, as the whole of a log says.

    Attributes
    ----------
    form
        Of the time stamps; None to keep the order of the rows.
    whole
        Whether every event counts, finished or not.
    """

    form: str | None
    whole: bool


def spill_rows(events: Events, path: Path) -> CaseSpill:
    """Write rows to a file by their cases."""
    bucket = (events.case[:, 0] >> np.uint64(64 - BITS)).astype(np.int64)
    by_bucket = np.argsort(bucket, kind="stable")
    arrays: list[NDArray[Any]] = [*events.case.T, events.symbol, events.domain, events.finished]
    write_arrays(path, [one[by_bucket] for one in [*arrays, *events.moments.values()]])
    return CaseSpill(
        path,
        np.bincount(bucket, minlength=BUCKETS),
        events.names,
        events.domains,
        {name: moments.dtype.newbyteorder("<").str for name, moments in events.moments.items()},
        events.ends,
        events.differing,
    )


def settled(spills: Sequence[CaseSpill], lifecycle: str) -> Order:
    """Decide what only the whole of a log can say.

    Raises
    ------
    InputError
        If its time stamps have no form in common, or several that differ.
    """
    whole = lifecycle == "all" or not any(one.ends for one in spills)
    forms = [name for name in spills[0].forms if all(name in one.forms for one in spills)]
    timed = {bool(one.forms) for one in spills}
    if (not forms and True in timed) or len(timed) > 1:
        kinds = sorted({" or ".join(one.forms) or "none" for one in spills})
        problem = f"the timestamps of the log are not of one form: {'; '.join(kinds)}"
        raise InputError(problem, hint=AMBIGUOUS_HINT)
    differing = next((one.differing for one in spills if one.differing is not None), None)
    if len(forms) > 1 and differing is not None:
        problem = f"{shown(differing)} and all other timestamps may be read in {len(forms)} ways"
        raise InputError(problem, hint=AMBIGUOUS_HINT)
    return Order(forms[0] if forms else None, whole)


def narratives_of(
    spills: Sequence[CaseSpill], buckets: tuple[int, int], order: Order
) -> Iterator[Told]:
    """Put the rows of the cases of some buckets in order, and go through what they tell."""
    names = tuple(sorted(set().union(*(one.names for one in spills))))
    domains = tuple(sorted(set().union(*(one.domains for one in spills))))
    columns: list[list[NDArray[Any]]] = []
    for one in spills:
        found = one.section(*buckets, order.form)
        found[2] = _renamed(found[2], one.names, names)
        found[3] = _renamed(found[3], one.domains, domains)
        columns.append(found)
    case, other, symbol, domain, finished, *moment = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    ranked = np.lexsort([*moment, other, case])  # stable: rows of one moment stay in order
    case, other = case[ranked], other[ranked]
    begins = np.ones(len(case), bool)
    begins[1:] = (case[1:] != case[:-1]) | (other[1:] != other[:-1])
    kept = np.ones(len(case), bool) if order.whole else finished[ranked]
    first = np.flatnonzero(begins)
    lengths = np.add.reduceat(kept, first, dtype=np.int64) if len(first) else first
    offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = Rows(symbol[ranked][kept], offset, np.ones(len(first), np.int64))
    told_of = domain[ranked][first]
    for number, name in enumerate(domains):
        which = np.flatnonzero(told_of == number)
        if len(which):
            yield name, taken(rows, which), names


def _renamed(codes: NDArray[Any], names: Sequence[str], known: Sequence[str]) -> NDArray[np.uint32]:
    number = {name: code for code, name in enumerate(known)}
    return np.take(np.array([number[name] for name in names] or [0], np.uint32), codes)
