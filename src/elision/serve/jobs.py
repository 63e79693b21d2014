"""Learning jobs: one worker process at a time, its words kept for whoever watches."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import sys
import tempfile
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from elision.errors import InputError
from elision.serve import messages
from elision.serve.shelf import title_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Literal

    from elision.serve.shelf import Shelf

SECONDS = 600.0
"""How long a job may take."""

MOST_JOBS = 8
"""Jobs that are remembered; the oldest goes first."""

LONGEST_WORD = 16 << 20
"""Bytes that a worker may say at once."""

KEEP_ALIVE = 15.0
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".txt", ".xes", ".parquet")


class Job:
    """What one worker said so far, and the scripts that it made."""

    def __init__(self, name: str, folder: Path) -> None:
        self.id = secrets.token_urlsafe(12)
        self.name = name
        self.folder = folder
        self.state: Literal["running", "done", "stopped", "failed"] = "running"
        self.problem = ""
        self.scripts: list[str] = []
        self.said: list[dict[str, Any]] = []
        self.stopping = False
        self._news = asyncio.Condition()

    def message(self) -> messages.Job:
        """Return where the job stands."""
        return messages.Job(self.id, self.name, self.state, self.problem, self.scripts)

    async def say(self, word: dict[str, Any]) -> None:
        """Keep a word, and wake those who listen."""
        self.said.append(word)
        async with self._news:
            self._news.notify_all()

    async def listen(self, start: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]] | None]:
        """Give everything said from ``start`` on, until the job ends; None now and then."""
        place = start
        while True:
            while place < len(self.said):
                word = self.said[place]
                place += 1
                yield place, word
            if self.state != "running":
                return
            async with self._news:
                if place == len(self.said) and self.state == "running":
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), KEEP_ALIVE)
            if place == len(self.said):
                yield None


class Jobs:
    """Starts, stops and remembers jobs; what is uploaded stays in one temporary folder."""

    def __init__(self, shelf: Shelf, *, seconds: float = SECONDS) -> None:
        self._shelf = shelf
        self._seconds = seconds
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None

    def get(self, number: str) -> Job | None:
        """Return the job of this id, if there is one."""
        return self._jobs.get(number)

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._task is not None and not self._task.done()

    def start(self, content: bytes, filename: str) -> Job:
        """Learn from the content of a file; its name says only what kind of file it is."""
        if self.busy:
            raise InputError("a job is running", hint="stop it, or wait until it is done")
        name = Path(filename.replace("\\", "/")).name
        suffix = Path(name).suffix.lower()
        if suffix not in SUFFIXES:
            expected = ", ".join(SUFFIXES)
            problem = f"a file of the kind {suffix[:20] or 'without suffix'!r}"
            raise InputError(f"{problem}, expected one of {expected}")
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="elision-")
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        (folder / f"tellings{suffix}").write_bytes(content)
        job = Job(Path(name).stem[:100] or "tellings", folder)
        self._jobs[job.id] = job
        while len(self._jobs) > MOST_JOBS:
            self._jobs.popitem(last=False)
        self._task = asyncio.create_task(self._run(job, folder / f"tellings{suffix}"))
        return job

    async def stop(self, job: Job) -> None:
        """End a job; the scripts that are complete are kept."""
        if job.state == "running" and self._task is not None:
            job.stopping = True
            self._kill()
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End what runs and delete everything that was uploaded."""
        for job in [*self._jobs.values()]:
            await self.stop(job)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _run(self, job: Job, source: Path) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._work(job, source)
        except TimeoutError:
            job.stopping = True
            job.problem = f"stopped after {self._seconds:.0f} seconds"
        except Exception as error:  # noqa: BLE001 - whatever it is, those who listen must hear of it
            job.problem = job.problem or f"learning failed: {type(error).__name__}"
        finally:
            self._kill()
        await self._end(job)

    async def _work(self, job: Job, source: Path) -> None:
        """Start the worker and note what it says."""
        command = [sys.executable, "-m", "elision.serve.worker"]
        self._process = process = await asyncio.create_subprocess_exec(
            *command,
            str(source),
            str(job.folder),
            job.name,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_WORD,
            start_new_session=True,  # Ctrl-C in the terminal is for the server, which ends it
        )
        if job.stopping:
            self._kill()
        if process.stdout is None:  # never: it is a pipe
            return
        while line := await process.stdout.readline():
            word = msgspec.json.decode(line)
            if word["kind"] == "failed":
                job.problem = word["problem"]
                continue
            if word["kind"] == "learned":
                word = {**word, "script": await self._shelve(job, word["file"])}
            if word["kind"] != "done":
                await job.say(word)
        await process.wait()
        if process.returncode and not job.stopping and not job.problem:
            job.problem = "learning failed: the worker ended before it was done"

    async def _shelve(self, job: Job, file: str) -> str:
        import elision as el  # noqa: PLC0415 - el imports nothing of the page

        script = await asyncio.to_thread(el.load, job.folder / file)
        held = self._shelf.add(script, title_of(script, job.name), learned=True)
        job.scripts.append(held.id)
        return held.id

    async def _end(self, job: Job) -> None:
        """Leave nothing behind, and tell how it ended."""
        if self._process is not None:
            await self._process.wait()
            self._process = None
        shutil.rmtree(job.folder, ignore_errors=True)
        job.state = "stopped" if job.stopping else "failed" if job.problem else "done"
        await job.say({"kind": "end", "state": job.state, "problem": job.problem})
