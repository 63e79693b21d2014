"""Narratives of lines that arrive in pieces, as bytes."""

from __future__ import annotations

import codecs
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elision.errors import InputError, shown
from elision.readers.columns import looks_known
from elision.readers.formats import SUFFIXES
from elision.readers.records import Records, narrative_of_line
from elision.readers.table import sniffed
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_LINE = 1 << 26
"""Bytes that a line may have."""

REMEMBERED = 64
"""Bytes before a place in a file by which it is known again."""

_SUFFIXES: dict[str, str] = {**SUFFIXES, ".gz": "gzip"}
_PACKED = (b"\x1f\x8b", b"PAR1")


class Lines:
    """Narratives of lines, as bytes come: JSON objects, or events with a blank line between.

    ``taken`` are the bytes up to the end of the last narrative, and ``before`` the last of them.
    """

    def __init__(self, name: str, options: Mapping[str, Any], before: bytes = b"") -> None:
        self._name = name
        self._encoding = _codec(options.get("encoding") or "utf-8")
        self._format = options.get("format") or _SUFFIXES.get(Path(name).suffix.lower())
        if self._format not in (None, "jsonl", "text"):
            _refuse_format(str(self._format), name)
        self._may_be_table = self._format is None and not before
        self._rest = b""
        self._told: list[str] = []
        self._heard = 0
        self._number = 0
        self._last = self.before = before
        self.taken = 0

    def feed(self, data: bytes) -> Iterator[Narrative | InputError]:
        """Take in some bytes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield from self._line(line + b"\n")
        if len(self._rest) > LONGEST_LINE:
            problem = f"a line of more than {LONGEST_LINE} bytes"
            raise InputError(problem, where=self._name, hint="write one narrative a line")

    def finish(self) -> Iterator[Narrative | InputError]:
        """Take what there is for all."""
        line, self._rest = self._rest, b""
        yield from self._line(line)
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[Narrative | InputError]:
        self._number += 1
        self._heard += len(line)
        self._last = (self._last + line)[-REMEMBERED:]
        if self._format is None and (line.startswith(_PACKED) or b"\0" in line):
            _refuse_format("of packed bytes", self._name)
        try:
            text = line.decode(self._encoding).removeprefix("\ufeff").strip()
        except UnicodeDecodeError as error:
            self._take()
            hint = "name the encoding, such as encoding='cp1252'"
            yield InputError(f"not valid text: {error.reason}", where=self.place, hint=hint)
            return
        if text and self._format is None:
            self._format = "jsonl" if text[0] in "{[" else "text"
        if self._format == "text" and text:
            self._told.append(text)
            self._check_no_table()
            return
        self._take()
        if self._told:
            self._may_be_table = False
            told, self._told = self._told, []
            yield Narrative(tuple(told))
        elif text:
            try:
                yield narrative_of_line(text, Records(""), self.place)
            except InputError as error:
                yield error

    def _check_no_table(self) -> None:
        """Refuse a table by its header, or by a first and second line of as many cells."""
        if not self._may_be_table:
            return
        try:
            header, *others = [sniffed(line) for line in self._told]
        except csv.Error:  # as of a carriage return within a line
            self._may_be_table = False
            return
        is_table = len(header[0]) > 1 and (
            looks_known(header[0])
            if not others
            else (len(header[0]), header[1]) == (len(others[0][0]), others[0][1])
        )
        if is_table:
            raise InputError(
                f"the first line, {shown(self._told[0])}, looks like the header of a table, which"
                " cannot be followed line by line",
                where=self._name,
                hint="put tables of finished cases into a folder, and follow that; or pass"
                " format='text' if each line is an event",
            )
        self._may_be_table = not others

    @property
    def place(self) -> str:
        """The line that was read last."""
        return f"{self._name} line {self._number}"

    def _take(self) -> None:
        self.taken, self.before = self._heard, self._last


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        keeps_lines = "\n".encode(name) == b"\n"
    except (LookupError, TypeError, ValueError):
        keeps_lines = False
    if not keeps_lines:
        problem = f"encoding={shown(encoding)} cannot be followed line by line"
        raise InputError(problem, hint="use 'utf-8' or another that keeps ASCII")
    return name


def _refuse_format(kind: str, name: str) -> None:
    raise InputError(
        f"a file {kind if kind.startswith('of') else f'in the format {kind!r}'} cannot be followed"
        " line by line, expected JSONL or text",
        where=name,
        hint="put whole files into a folder, and follow that",
    )
