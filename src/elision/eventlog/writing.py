"""Logs to files: whole, or piece by piece, and either all of a file or none of it."""

from __future__ import annotations

import gzip
import os
from contextlib import ExitStack
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast, get_args

from elision._files import atomic_file, shown_path
from elision.errors import InputError, shown
from elision.eventlog.records import json_lines
from elision.eventlog.texts import csv_head, csv_lines
from elision.eventlog.xes import FOOT, HEAD, KeptXes, xes_traces
from elision.readers.frames import failures
from elision.readers.table import arrow

if TYPE_CHECKING:
    from types import TracebackType
    from typing import BinaryIO

    from elision.eventlog.log import EventLog

LogFormat: TypeAlias = Literal["csv", "parquet", "xes", "jsonl"]

_SUFFIXES: dict[str, LogFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xes": "xes",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def format_of(path: str | os.PathLike[str], given: str | None = None) -> LogFormat:
    """Return the format in which a log goes to a file: the one named, or as the suffix says.

    Raises
    ------
    InputError
        Where it is none that logs are written in.
    """
    known = get_args(LogFormat)
    if given is not None:
        if given not in known:
            raise InputError(f"format {shown(given)}; expected one of {', '.join(known)}")
        return cast("LogFormat", given)
    suffix = PurePath(os.fspath(path).lower().removesuffix(".gz")).suffix
    if suffix not in _SUFFIXES:
        raise InputError(
            f"cannot tell the format from the suffix {shown(suffix)}",
            where=shown_path(path),
            hint="end the name in .csv, .parquet, .xes or .jsonl",
        )
    return _SUFFIXES[suffix]


class LogWriter:
    """Writes a log, or all pieces of one, to a file that appears when everything is written.

    Parameters
    ----------
    path
        The file; packed with gzip if its name ends in .gz. One that is there is replaced.
    format
        "csv", "parquet", "xes" or "jsonl"; by default the suffix decides.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from elision.eventlog import EventLog
    >>> log = EventLog.read([["hear", "open"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with LogWriter(f"{folder}/log.csv") as writer:
    ...         writer.write(log)
    ...     print(Path(f"{folder}/log.csv").read_text())
    case:concept:name,concept:name
    0,hear
    0,open
    <BLANKLINE>
    """

    def __init__(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        self._path = path
        self._format = format_of(path, format)
        self._stack = ExitStack()
        self._file: BinaryIO | None = None
        self._parquet: Any = None
        self._foot = ""
        self._begun = False

    def __enter__(self) -> Self:
        file = self._stack.enter_context(atomic_file(self._path))
        if os.fspath(self._path).endswith(".gz") and self._format != "parquet":
            # Without name and time of writing, so that the same log makes the same bytes.
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            file = cast("BinaryIO", self._stack.enter_context(packed))
        self._file = file
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            try:
                self._finish()
            except BaseException as failed:
                self._stack.__exit__(type(failed), failed, failed.__traceback__)
                raise
        self._stack.__exit__(kind, error, trace)

    def _finish(self) -> None:
        if self._parquet is not None:
            with failures(shown_path(self._path)):
                self._parquet.close()
        elif self._file is not None:
            self._file.write(self._foot.encode())

    def write(self, log: EventLog) -> None:
        """Write a log, or the next piece of one, with what was inserted into it."""
        if self._file is None:
            raise InputError("this writer is not open", hint="use it in a with statement")
        {
            "csv": self._write_csv,
            "parquet": self._write_parquet,
            "xes": self._write_xes,
            "jsonl": self._write_jsonl,
        }[self._format](log, self._file)
        self._begun = True

    def _write_csv(self, log: EventLog, file: BinaryIO) -> None:
        if not self._begun:
            file.write(_encoded(csv_head(log.kept, marked=log.is_marked)))
        file.writelines(
            _encoded(line)
            for line in csv_lines(log.kept, log.additions, log.form, marked=log.is_marked)
        )

    def _write_jsonl(self, log: EventLog, file: BinaryIO) -> None:
        made = json_lines(log.kept, log.cases, log.additions, log.form, marked=log.is_marked)
        file.writelines(made)

    def _write_xes(self, log: EventLog, file: BinaryIO) -> None:
        if isinstance(log.kept, KeptXes):
            file.write(log.kept.written(log.additions))
            return
        if not self._begun:
            file.write(HEAD.encode())
            self._foot = FOOT
        made = xes_traces(log.kept, log.cases, log.additions, log.form, marked=log.is_marked)
        file.writelines(_encoded(trace) for trace in made)

    def _write_parquet(self, log: EventLog, file: BinaryIO) -> None:
        _, pq = arrow(shown_path(self._path))
        table = log.to_frame("pyarrow")
        with failures(shown_path(self._path)):
            if self._parquet is None:
                self._parquet = pq.ParquetWriter(file, table.schema)
            schema = self._parquet.schema
            self._parquet.write_table(table.select(schema.names).cast(schema))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
