"""What all our files have in common: format, version and checksum, read strictly."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from elision._files import shown_path
from elision.errors import FileFormatError, ScriptError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

VERSION = 1
"""Of all our files."""

LARGEST_BYTES = 64 << 20
"""A larger file is refused before the memory runs out."""

NO_CHECKSUM = f"sha256:{'0' * 64}"
"""Stands in a text until it is sealed."""

_CHECKSUM = re.compile(rb'"checksum": ?"sha256:([0-9a-f]{64})"')

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Envelope:
    """A kind of file.

    Attributes
    ----------
    format
        What it says that it is.
    noun
        What it is called in messages.
    largest
        The most bytes.
    hint
        What to do where it is refused.
    edited
        What to do where only its checksum does not fit, if that is another thing.
    """

    format: str
    noun: str
    largest: int = LARGEST_BYTES
    hint: str | None = None
    edited: str | None = None

    def written(self, fields: Mapping[str, Any]) -> bytes:
        """Return the bytes of a file with these fields, one a line."""
        head = {"format": self.format, "version": VERSION, "checksum": NO_CHECKSUM}
        lines = [f"{_json(name)}: {_json(value)}" for name, value in (head | dict(fields)).items()]
        return self.sealed("{\n" + ",\n".join(lines) + "\n}\n")

    def sealed(self, text: str) -> bytes:
        """Put the checksum of a file's text where it holds 64 zeros."""
        content = text.encode()
        if len(content) > self.largest:
            raise ScriptError(f"{len(content)} bytes as a file, expected at most {self.largest}")
        digest = hashlib.sha256(content).hexdigest().encode()
        found = _CHECKSUM.search(content)
        start, end = found.span(1) if found else (0, 0)
        return content[:start] + digest[: end - start] + content[end:]

    def read(self, path: str | PathLike[str]) -> bytes:
        """Return the bytes of a file that is not too large."""
        try:
            with Path(path).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                content = file.read(self.largest + 1) if size <= self.largest else b""
        except (OSError, ValueError) as error:  # ValueError: a null character in the path
            problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            raise FileFormatError(problem, where=shown_path(path)) from None
        if max(size, len(content)) > self.largest:  # a pipe or device does not tell its size
            problem = f"too large, expected a {self.noun} of at most {self.largest} bytes"
            raise FileFormatError(problem, where=shown_path(path), hint=self.hint)
        return content

    def opened(self, content: bytes, where: str, *, checksum: bool = True) -> dict[str, Any]:
        """Return the fields of a file of this format, whose version and checksum fit.

        Raises
        ------
        FileFormatError
            If it is no such file; the message is one line.
        """
        raw: dict[str, Any] = self._parsed(content, where)
        self.check_header(raw, where)
        if checksum and not _checksum_fits(content, raw.get("checksum")):
            problem = f"damaged {self.noun}: the checksum does not fit"
            raise FileFormatError(problem, where=where, hint=self.edited or self.hint)
        return raw

    def _parsed(self, content: bytes, where: str) -> Any:
        """Read JSON strictly: no key twice, no number that is not finite."""
        try:
            return json.loads(
                content.decode(),  # json itself would guess at UTF-16 and let half a surrogate pass
                parse_constant=_no_constant,
                parse_float=_finite,
                object_pairs_hook=_distinct,
            )
        except RecursionError:
            self._refuse("nested too deeply", where)
        except ValueError as error:
            self._refuse(str(error)[:150], where)

    def converted(self, raw: Mapping[str, Any], kind: type[Kind], where: str) -> Kind:
        """Check fields and their types."""
        try:
            return msgspec.convert(raw, kind, strict=True)
        except (msgspec.ValidationError, UnicodeError) as error:  # or half a surrogate pair
            self.damaged(repr(str(error))[1:-1][:150], where)

    def damaged(self, problem: str, where: str) -> NoReturn:
        """Refuse a file of this format in which something is wrong."""
        raise FileFormatError(
            f"damaged {self.noun}: {problem}", where=where, hint=self.hint
        ) from None

    def check_header(self, raw: Any, where: str) -> None:
        """Refuse another format, or another version of it."""
        if not isinstance(raw, dict):
            self._refuse(f"a {type(raw).__name__}, expected an object", where)
        kind, version = raw.get("format"), raw.get("version")
        if kind != self.format:
            self._refuse(f"format is {_scalar(kind)}, expected {self.format!r}", where)
        if type(version) is not int or version != VERSION:
            newer = type(version) is int and version > VERSION
            raise FileFormatError(
                f"{self.noun} of version {_scalar(version)}, this release reads version {VERSION}",
                where=where,
                hint="a newer release may read it" if newer else self.hint,
            )

    def _refuse(self, problem: str, where: str) -> NoReturn:
        raise FileFormatError(f"no {self.noun}: {problem}", where=where, hint=self.hint) from None


def _checksum_fits(content: bytes, claimed: object) -> bool:
    found = _CHECKSUM.search(content)
    if found is None or claimed != f"sha256:{found.group(1).decode()}":
        return False
    start, end = found.span(1)
    digest = hashlib.sha256(content[:start])
    digest.update(b"0" * 64)
    digest.update(memoryview(content)[end:])
    return digest.hexdigest().encode() == found.group(1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number here")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {short(text)} is too large")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {short(twice)} stands twice")
    return result


def _scalar(value: object) -> str:
    """Return a value for a message, a list or an object only by its type: it may be huge."""
    return f"a {type(value).__name__}" if isinstance(value, (list, dict)) else short(value)
