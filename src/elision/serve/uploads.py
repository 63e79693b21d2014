"""Files that were sent to the page: kept in one temporary folder, the last few of them."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from elision import files
from elision.errors import InputError
from elision.io import read
from elision.io.formats import SUFFIXES
from elision.io.source import GZIP
from elision.serve.messages import Choices, Looked
from elision.serve.worker import Plan, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.serve.shelf import Held
    from elision.values.corpus import Corpus
    from elision.values.script import Script

MOST_UPLOADS = 8
"""Files that are kept; the oldest goes first."""

SECONDS = 120.0
"""How long it may take to look at a file."""

MOST_AT_ONCE = 8
"""Files that are being sent or looked at; others are told to come again later."""


class CrowdedError(InputError):
    """Too many files at once."""


class Upload(NamedTuple):
    """A file, and what it was called."""

    id: str
    name: str
    path: Path


class Uploads:
    """Keeps files under names of its own, and has a worker look at them, one at a time."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._kept: OrderedDict[str, Upload] = OrderedDict()
        self._scripts: set[str] = set()
        self._turn = asyncio.Lock()
        self._at_once = 0

    @contextmanager
    def room(self) -> Iterator[None]:
        """Make sure that few files are worked on at once: each may be large.

        Raises
        ------
        CrowdedError
            If there are too many.
        """
        if self._at_once >= MOST_AT_ONCE:
            raise CrowdedError(f"{MOST_AT_ONCE} files are being looked at, try again later")
        self._at_once += 1
        try:
            yield
        finally:
            self._at_once -= 1

    def keep(self, content: bytes, filename: str) -> Upload:
        """Keep the content of a file; its name says only what kind of file it is.

        Raises
        ------
        InputError
            If that is none of the kinds that can be read, or the file is packed.
        """
        name = Path(filename.replace("\\", "/")).name
        suffix = Path(name).suffix.lower()
        if suffix not in SUFFIXES:
            expected = ", ".join(SUFFIXES)
            problem = f"a file of the kind {suffix[:20] or 'without suffix'!r}"
            raise InputError(f"{problem}, expected one of {expected}")
        if content.startswith(GZIP):
            raise InputError("the file is packed with gzip", hint="unpack it first")
        path = self.folder() / f"tellings{suffix}"
        path.write_bytes(content)
        upload = Upload(secrets.token_urlsafe(12), Path(name).stem[:100] or "tellings", path)
        self._kept[upload.id] = upload
        while len(self._kept) > MOST_UPLOADS:
            number, old = self._kept.popitem(last=False)
            self._scripts.discard(number)
            shutil.rmtree(old.path.parent, ignore_errors=True)
        return upload

    def get(self, number: str) -> Upload | None:
        """Return the file of this id, if it is still there."""
        return self._kept.get(number)

    def folder(self) -> Path:
        """Make a new folder that is deleted when all is."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="elision-")
        return Path(tempfile.mkdtemp(dir=self._folder.name))

    async def look(self, upload: Upload, choices: Choices) -> Looked:
        """Say what a file seems to be."""
        with self._working() as folder:
            plan = Plan("look", str(upload.path), str(folder), upload.name, choices)
            word = await self._answer(plan, "looked")
        found = msgspec.convert(word["found"], Looked)
        found.upload = upload.id
        if found.kind == "script":
            self._scripts.add(upload.id)
        return found

    async def script(self, upload: Upload) -> Script:
        """Return the script of a file that the worker has found to be one.

        Raises
        ------
        InputError
            If it is none, or too large for the page.
        """
        if upload.id not in self._scripts and (await self.look(upload, Choices())).kind != "script":
            raise InputError("no script file", where=upload.name)
        return await asyncio.to_thread(files.script.load, upload.path)

    async def tellings(self, upload: Upload, choices: Choices, held: Held) -> Corpus:
        """Return the tellings of a file as events of a script."""
        with self._working() as folder:
            script = folder / "script.json"
            await asyncio.to_thread(held.script.save, script)
            plan = Plan("tell", str(upload.path), str(folder), upload.name, choices, str(script))
            word = await self._answer(plan, "told")
            return await asyncio.to_thread(read, folder / word["file"])

    async def _answer(self, plan: Plan, kind: str) -> dict[str, Any]:
        async with self._turn:
            return await answer(plan, kind, SECONDS)

    @contextmanager
    def _working(self) -> Iterator[Path]:
        """A folder that is there only as long as it is needed."""
        folder = self.folder()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Delete everything."""
        self._kept.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
