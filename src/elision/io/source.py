"""Bytes and lines of a source: paths, stdin and open files, gzip, encodings, failures."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, cast

from elision.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 1 << 16
GZIP = b"\x1f\x8b"


class Readable(Protocol):
    """An open file, of bytes or of text."""

    def read(self, size: int = -1, /) -> Any:
        """Read up to `size` bytes or characters; all without it."""


def is_readable(source: object) -> TypeGuard[Readable]:
    """Whether something is an open file."""
    return hasattr(source, "read")


@dataclass(frozen=True, slots=True)
class Source:
    """An open source, unpacked if it was gzip.

    Parameters
    ----------
    stream
        The bytes, from the first one.
    head
        The first of the bytes, to guess the format by.
    name
        How messages call it.
    encoding
        How text is written in it.
    was_text
        Whether it came as text, so that no declaration inside can be right about the encoding.
    """

    stream: io.BufferedReader
    head: bytes
    name: str
    encoding: str
    was_text: bool

    def lines(self, newline: str | None) -> Iterator[str]:
        """Yield the lines as text, with their ends as `newline` says (see `io.TextIOWrapper`)."""
        text = io.TextIOWrapper(self.stream, encoding=self.encoding, newline=newline)
        done = 0
        try:
            for line in text:
                yield line
                done += 1
        except UnicodeDecodeError as error:
            # The decoder reads ahead: the lines before the bad byte are in the error itself.
            good = error.object[: error.start].decode(self.encoding, "replace")
            breaks = good.count("\n") if newline == "\n" else len(_universal(good).split("\n")) - 1
            raise InputError(
                f"byte 0x{error.object[error.start]:02x} is not {_plain(self.encoding)} text",
                where=f"{self.name} line {done + breaks + 1}",
                hint="name the encoding, such as encoding='cp1252' or encoding='utf-16'",
            ) from None

    def text(self) -> str:
        """Return the whole as text."""
        return "".join(self.lines(newline="\n"))


def _universal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _plain(encoding: str) -> str:
    return encoding.removesuffix("-sig")


class _Joined(io.RawIOBase):
    """Bytes that were read ahead, then the rest of a file that is left open at the end."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        room = len(buffer)
        if self._head:
            taken, self._head = self._head[:room], self._head[room:]
        else:
            taken = self._file.read(room) or b""
        buffer[: len(taken)] = taken
        return len(taken)


def _peeked(file: Readable, size: int) -> tuple[bytes, io.BufferedReader]:
    """Return the first bytes and a stream that still has them; pipes may hand out fewer at once."""
    head = b""
    while len(head) < size and (more := file.read(size - len(head))):
        head += more
    return head, io.BufferedReader(_Joined(head, file), buffer_size=HEAD)


@contextmanager
def opened(source: str | os.PathLike[str] | Readable, encoding: str) -> Iterator[Source]:
    """Open a source and close again what was opened here; every failure is an InputError.

    Parameters
    ----------
    source
        A path, "-" for stdin, or an open file of bytes or text, which is left open.
    encoding
        How text is written in it. A byte order mark is passed over.

    Yields
    ------
    Source
    """
    codec = _codec(encoding)
    name = _name(source)
    with failures(name), ExitStack() as stack:
        file, was_text = _file(source, name, stack)
        if was_text:
            codec = "utf-8-sig"
            file = io.BytesIO(str(file.read()).encode())
        magic, packed = _peeked(file, len(GZIP))
        is_gzip = magic == GZIP
        plain = stack.enter_context(gzip.GzipFile(fileobj=packed)) if is_gzip else packed
        head, stream = _peeked(plain, HEAD)
        if not head:
            raise InputError("the file is empty", where=name, hint="expected narratives")
        yield Source(stream, head, name, codec, was_text)


def one_line(error: BaseException) -> str:
    """Return what an error of another library says, on one line."""
    return " ".join(str(error).split())


@contextmanager
def failures(name: str) -> Iterator[None]:
    """Turn the failures of files, gzip and encodings into an InputError about `name`."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        hint = "check the path, or give '-' to read stdin"
        raise InputError("there is no such file", where=name, hint=hint) from None
    except IsADirectoryError:
        hint = "name one file in it"
        raise InputError("this is a directory; expected a file", where=name, hint=hint) from None
    except PermissionError:
        hint = "ask for the right to read it"
        raise InputError("permission to read it is denied", where=name, hint=hint) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        hint = "fetch or pack the file again"
        raise InputError(f"broken gzip: {error}", where=name, hint=hint) from None
    except UnicodeError as error:
        raise InputError(f"not valid text: {one_line(error)}", where=name) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=name) from None


def _file(
    source: str | os.PathLike[str] | Readable, name: str, stack: ExitStack
) -> tuple[Readable, bool]:
    """Return the file behind a source, and whether it is one of text."""
    try:
        if not isinstance(source, str | os.PathLike):
            file = source
        elif source == "-":
            file = _stdin()
        else:
            file = stack.enter_context(Path(source).open("rb"))  # noqa: SIM115 - the caller's stack
        return file, isinstance(file.read(0), str)
    except ValueError as error:  # a closed file, a file for writing, a path with a null character
        raise InputError(f"cannot be read: {error}", where=name) from None


def _codec(encoding: str) -> str:
    try:
        codec = codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        hint = "use a name that Python knows, such as 'utf-8' or 'cp1252'"
        raise InputError(f"encoding={shown(encoding)} is not a text encoding", hint=hint) from None
    return "utf-8-sig" if codec.name == "utf-8" else codec.name


def _name(source: object) -> str:
    if isinstance(source, str | os.PathLike):
        return "stdin" if source == "-" else str(os.fspath(source))
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "open file"


def _stdin() -> Readable:
    if sys.stdin is None:
        raise InputError("there is no stdin", where="stdin")
    return cast("Readable", getattr(sys.stdin, "buffer", sys.stdin))
