"""Narratives that arrive: through a pipe, in a file that grows, as files in a folder.

Each source can be gone through without an end. What comes is a narrative, an `InputError` where
something was none, or None where nothing has come for a moment.
"""

from __future__ import annotations

import os
import select
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from elision.errors import InputError, shown
from elision.readers import read
from elision.readers.arriving_lines import Lines
from elision.readers.source import failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from elision.values.narrative import Narrative

    Arrival = Narrative | InputError | None

PAUSE = 0.2
"""Seconds between two looks."""

SETTLED = 2.0
"""Seconds after which a file in a folder that no longer changes is whole."""

CHUNK = 1 << 16
"""Bytes that are read at once."""

LONGEST_NARRATIVE = 8192
"""Events in a narrative, as in other learning."""

_TEMPORARY_ENDS = (".tmp", ".temp", ".part", ".partial", ".crdownload", ".swp", "~")
_TEMPORARY_STARTS = (".", "~", "#")


class Arriving(Protocol):
    """A source that may never end."""

    def arrivals(self) -> Iterator[Arrival]:
        """Go through what comes."""

    @property
    def position(self) -> dict[str, Any] | None:
        """Where to go on after what came last, as JSON has it; None if there is no going back."""

    @property
    def place(self) -> str:
        """How a message calls the place of what came last."""


def arriving(
    source: str, options: Mapping[str, Any], position: dict[str, Any] | None = None
) -> Arriving:
    """Return standard input ("-"), a file that grows or a folder, from a position on.

    ``options`` are those of `elision.read`; of pipes and growing files ``format`` and ``encoding``
    are heard, and the others refused.
    """
    if source != "-" and Path(source).is_dir():
        return Folder(Path(source), options, position)
    for name, value in options.items():
        if name not in ("format", "encoding", "sentences") and value not in (None, "complete"):
            problem = f"{name}={shown(value)} is for tables, which are not followed line by line"
            hint = "put tables of finished cases into a folder, and follow that"
            raise InputError(problem, where=_name(source), hint=hint)
    if source == "-":
        return Pipe(Lines("stdin", options))
    with failures(source), Path(source).open("rb"):
        return GrowingFile(Path(source), options, position)


class Pipe:
    """Standard input, to its end."""

    position = None

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    @property
    def place(self) -> str:
        """The line that was read last."""
        return self._lines.place

    def arrivals(self) -> Iterator[Arrival]:
        """Go through what comes."""
        if sys.stdin is None:
            raise InputError("there is no stdin", where="stdin")
        file: Any = getattr(sys.stdin, "buffer", sys.stdin)
        with failures("stdin"):
            try:
                number: int | None = file.fileno()
            except (OSError, ValueError):  # no file of the system, but one in memory
                number = None
            waiting = [] if number is None or os.name == "nt" else [number]
            while True:
                if waiting and not select.select(waiting, [], [], PAUSE)[0]:
                    yield None
                    continue
                data = file.read(CHUNK) if number is None else os.read(number, CHUNK)
                if not data:
                    break
                yield from self._lines.feed(data)
            yield from self._lines.finish()


class GrowingFile:
    """A file that is written to; whole lines of it.

    It may be cut short, or be renamed and another begun under its name: then that one is read from
    its beginning.
    """

    def __init__(
        self, path: Path, options: Mapping[str, Any], position: Mapping[str, Any] | None
    ) -> None:
        self._path = path
        self._options = options
        self._begin(*_checked_start(position))

    def _begin(self, offset: int = 0, before: bytes = b"") -> None:
        self._offset = offset
        self._lines = Lines(str(self._path), self._options, before)

    @property
    def position(self) -> dict[str, Any]:
        """Where the last narrative ends, and what stands before that."""
        return {"offset": self._offset + self._lines.taken, "before": self._lines.before.hex()}

    @property
    def place(self) -> str:
        """The line that was read last, counted from where following began."""
        return self._lines.place

    def arrivals(self) -> Iterator[Arrival]:
        """Go through what comes."""
        with failures(str(self._path)):
            while True:
                with self._path.open("rb") as file:
                    yield from self._until_another(file)
                self._begin()

    def _until_another(self, file: BinaryIO) -> Iterator[Arrival]:
        """Go through the file that has the name now, until another has it."""
        before = self._lines.before
        file.seek(max(0, self._offset - len(before)))
        if file.read(len(before)) != before:  # not the file that was read before
            self._begin()
        place = file.seek(self._offset)
        replaced = False
        while True:
            if data := file.read(CHUNK):
                place += len(data)
                yield from self._lines.feed(data)
            elif replaced:  # and nothing more was written to it before
                yield from self._lines.finish()
                return
            elif os.fstat(file.fileno()).st_size < place:
                self._begin()
                place = file.seek(0)
            elif self._is_another(file):
                replaced = True
            else:
                time.sleep(PAUSE)
                yield None

    def _is_another(self, file: BinaryIO) -> bool:
        """Whether another file has the name by now."""
        try:
            return not os.path.samestat(self._path.stat(), os.fstat(file.fileno()))
        except FileNotFoundError:  # renamed, and no other begun yet
            return False


class Folder:
    """A folder into which files are put; each is read once, when it no longer changes.

    Names that begin with . ~ or # or end as temporary files do are left alone.
    """

    def __init__(
        self, path: Path, options: Mapping[str, Any], position: Mapping[str, Any] | None
    ) -> None:
        self._path = path
        self._options = {name: value for name, value in options.items() if value is not None}
        start: Mapping[str, Any] = position or {}
        try:
            self._done = {str(name) for name in start.get("done", ())}
            self._file = str(start.get("file", ""))
            self._taken = int(start.get("taken", 0))
        except (TypeError, ValueError, AttributeError):
            raise _no_position() from None
        self._seen: dict[str, tuple[tuple[int, int], float]] = {}

    @property
    def position(self) -> dict[str, Any]:
        """Files that are done, and what was taken of the one that is not."""
        return {"done": sorted(self._done), "file": self._file, "taken": self._taken}

    @property
    def place(self) -> str:
        """The narrative that was read last."""
        return f"{self._path / self._file} narrative {self._taken}"

    def arrivals(self) -> Iterator[Arrival]:
        """Go through what comes."""
        while True:
            with failures(str(self._path)):
                names = self._whole()
            for name in names:
                yield from self._of_file(name)
            time.sleep(PAUSE)
            yield None

    def _whole(self) -> list[str]:
        """Names of files that are whole and not done, in the order of their times."""
        now = time.monotonic()
        found = {}
        with os.scandir(self._path) as entries:
            for entry in entries:
                try:
                    if entry.is_file() and not _is_temporary(entry.name):
                        found[entry.name] = entry.stat()
                except OSError:  # gone again
                    continue
        self._done &= found.keys()
        self._seen = {name: seen for name, seen in self._seen.items() if name in found}
        whole = []
        for name, state in found.items():
            state_now = (state.st_size, state.st_mtime_ns)
            before, since = self._seen.get(name, (None, now))
            self._seen[name] = (state_now, since if before == state_now else now)
            waited = max(now - self._seen[name][1], time.time() - state.st_mtime)
            if name not in self._done and waited >= SETTLED:
                whole.append((state.st_mtime_ns, name))
        return [name for _, name in sorted(whole, key=lambda one: (one[1] != self._file, one))]

    def _of_file(self, name: str) -> Iterator[Arrival]:
        if name != self._file:
            self._file, self._taken = name, 0
        path = self._path / name
        try:
            for narrative in read(path, **self._options)[self._taken :]:
                self._taken += 1
                yield narrative
        except InputError as error:
            if path.exists():
                yield error
        self._done.add(name)
        self._file, self._taken = "", 0


def _is_temporary(name: str) -> bool:
    return name.startswith(_TEMPORARY_STARTS) or name.lower().endswith(_TEMPORARY_ENDS)


def _checked_start(position: Mapping[str, Any] | None) -> tuple[int, bytes]:
    if position is None:
        return 0, b""
    try:
        return int(position["offset"]), bytes.fromhex(position["before"])
    except (KeyError, TypeError, ValueError):
        raise _no_position() from None


def _no_position() -> InputError:
    return InputError("another kind of source was followed before", hint="follow the same source")


def _name(source: str) -> str:
    return "stdin" if source == "-" else source


def as_told(arrival: Narrative, domain: str | None) -> tuple[str, ...]:
    """Return the events of a narrative that arrived.

    Raises
    ------
    InputError
        Where it has only sentences, or is of another domain.
    """
    if arrival.events is None:
        hint = "turn sentences into events first: EventExtractor().fit_transform(corpus)"
        raise InputError("a narrative of sentences came, expected one of events", hint=hint)
    if domain is not None and arrival.domain != domain:
        problem = f"a narrative of the domain {shown(arrival.domain)}, expected {shown(domain)}"
        raise InputError(problem, hint="follow each domain by itself")
    if len(arrival.events) > LONGEST_NARRATIVE:
        problem = f"{len(arrival.events)} events, expected at most {LONGEST_NARRATIVE}"
        raise InputError(problem, hint="cut it into episodes")
    return arrival.events
