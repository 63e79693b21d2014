"""Logs in files repaired by a script: whole where they fit, else some cases at a time.

What is put in is found part by part: each part has all rows of some of the cases, wherever in the
file they stand. Then the file is gone through once more, and written with the new rows in between.
"""

from __future__ import annotations

import shutil
import tempfile
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision._parallel import parallel
from elision.io.columns import Columns
from elision.io.formats import guessed
from elision.io.large import collected, large_table
from elision.io.source import opened
from elision.io.tables import Table, failures
from elision.logs.frames import with_rows
from elision.logs.log import Log, cases_of, parsed
from elision.logs.writing import csv_lines, format_of, opened_to_write
from elision.repairing.repaired import Tally, insertions_of, repair
from elision.repairing.repairer import MOST_CASES, Repairer, is_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import polars as pl

    from elision.io.cases import Known
    from elision.io.large import LargeTable
    from elision.logs.log import Placed
    from elision.repairing.omission import Rates
    from elision.repairing.repaired import Observer, Report
    from elision.repairing.repairer import Answer
    from elision.values.script import Script

LARGE = 1 << 28
"""Bytes from which on a file is repaired in parts."""

PART = 1 << 26
"""Bytes of the file that a part has, about."""

ROWS = 1 << 18
"""Rows of a Parquet file that are written at once."""


def repair_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    script: Script,
    omission: Rates | None = None,
    threshold: float | None = None,
    random_state: int = 0,
    observer: Observer | None = None,
    jobs: int = 1,
    dask: Any = None,
    **options: Any,
) -> Report:
    """Repair a file by a script learned elsewhere, into another file.

    Large files of CSV and Parquet that stay what they are need not fit in memory. Unless
    ``omission`` is given, it is estimated from the first cases. ``observer`` hears of cases that
    got done; ``jobs`` and ``dask`` are processes that parts are spread over.
    """
    given = {"omission": omission, "threshold": threshold, "random_state": random_state}
    log = _large(source, target, options)
    if log is None:
        found = repair(source, script=script, **given, **options)  # type: ignore[arg-type]
        found.write(target)
        return found.report
    first = [] if is_whole(omission) else log.first(MOST_CASES)
    repairer = Repairer.of_script(script, first, omission=omission, random_state=random_state)
    tally = Tally()
    placed: list[Placed] = []
    work = partial(_repaired_part, log, repairer, threshold)
    for _, (traces, answers, here) in parallel(
        work, range(log.parts), jobs=jobs, dask=dask, ordered=True
    ):
        tally.add(traces, answers)
        placed += here
        if observer is not None:
            observer(len(traces), None)
    log.write(sorted(placed, key=lambda one: (one.anchor, not one.before)), target)
    return tally.report([repairer], threshold)


def _repaired_part(
    log: _Large, repairer: Repairer, threshold: float | None, part: int
) -> tuple[list[tuple[str, ...]], list[Answer], list[Placed]]:
    """Return the traces of a part, what is missing from them, and what is put in where."""
    one = log.part(part)
    answers = repairer.answers(one.traces, threshold=threshold)
    return one.traces, answers, one.placed(insertions_of(one, answers))


def _large(
    source: str | os.PathLike[str], target: str | os.PathLike[str], options: dict[str, Any]
) -> _Large | None:
    """Return a file that is to be repaired in parts; None if it is small or another kind."""
    roles, reading, encoding, kind = parsed(options)
    if source == "-" or not Path(source).is_file() or Path(source).stat().st_size < LARGE:
        return None
    with opened(source, encoding) as file:
        kind = kind or guessed(file, roles)
    written = "csv" if kind == "tsv" else kind
    table = large_table(source, kind, roles, reading, encoding)
    if table is None or table.columns is None or written != format_of(target):
        return None
    return _Large(table, table.columns, Path(source).stat().st_size // PART + 1, table.known())


@dataclass(frozen=True, slots=True)
class _Large:
    """A large file of a log.

    Attributes
    ----------
    table, columns
        The file, and which of its columns is what.
    parts
        In how many parts it is read.
    known
        How its times are written, and whether any event is said to be complete.
    """

    table: LargeTable
    columns: Columns
    parts: int
    known: Known

    def first(self, cases: int) -> list[tuple[str, ...]]:
        """Return the traces of the first cases."""
        import polars as pl  # noqa: PLC0415 - slow to import

        rows, key = self.table.rows(), ["case", "domain"]
        known = rows.group_by(key).agg(first=pl.col("row").min()).sort("first").head(cases)
        return self._log(collected(rows.join(known, on=key, how="semi")).sort("row")).traces

    def part(self, number: int) -> Log:
        """Return the log of some of the cases, its rows numbered as in the file."""
        import polars as pl  # noqa: PLC0415 - slow to import

        here = pl.struct("case", "domain").hash() % self.parts == number
        return self._log(collected(self.table.rows().filter(here)).sort("row"))

    def _log(self, frame: pl.DataFrame) -> Log:
        rows = frame["row"].to_list()
        name, roles = str(self.table.path), ["case", "activity", "time", "domain", "phase"]
        names = ["case", "activity", "time", "domain", "phase"]
        table = Table(
            name,
            names,
            lambda place: frame[names[place]],
            lambda row: f"{name} row {rows[row]}",
            name,
        )
        used = [role if one else None for role, one in zip(roles, self.columns.roles, strict=True)]
        columns = Columns("case", "activity", *used[2:])
        cases = table.cases(columns, self.table.reading, self.known)
        made = [
            one._replace(
                rows=tuple(rows[row] for row in one.rows),
                all_rows=tuple(rows[row] for row in one.all_rows),
            )
            for one in cases_of(cases)
        ]
        ticks = cases.form is not None and cases.form.order == "ticks"
        said = frame["time"].to_physical() if ticks else frame["time"]
        times = dict(zip(rows, said.to_list(), strict=True))
        return Log(None, self.table.names, self.columns, made, times, cases.form)

    def write(self, placed: Sequence[Placed], target: str | os.PathLike[str]) -> None:
        """Write the file with rows put in between, as it is read once more."""
        import polars as pl  # noqa: PLC0415 - slow to import

        log = Log(None, self.table.names, self.columns, [], [], None)
        if self.table.text is not None:
            with opened_to_write(target) as file:
                file.writelines(one.encode() for one in csv_lines(self.table.text, log, placed))
            return
        form = self.part(0).form
        folder = Path(target).resolve().parent
        with (
            opened_to_write(target, packed=False) as file,
            failures(str(target), "cannot be written"),
            tempfile.TemporaryDirectory(dir=folder) as temporary,
        ):
            whole, pieces = pl.scan_parquet(self.table.path), []
            length = collected(whole.select(pl.len())).item()
            for start in range(0, length, ROWS):
                here = [
                    one._replace(anchor=one.anchor - start)
                    for one in placed[_at(placed, start) : _at(placed, start + ROWS)]
                ]
                frame = whole.slice(start, ROWS).collect()
                pieces.append(Path(temporary) / f"{start}.parquet")
                with_rows(frame, self.columns, here, form).write_parquet(pieces[-1])
            made = Path(temporary) / "all"
            pl.scan_parquet(pieces).sink_parquet(made)
            with made.open("rb") as came:
                shutil.copyfileobj(came, file)


def _at(placed: Sequence[Placed], row: int) -> int:
    return bisect_left(placed, row, key=lambda one: one.anchor)
