"""Learning jobs: one worker process at a time, its words kept for whoever watches."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from elision import files
from elision.errors import InputError
from elision.io import read
from elision.serve import messages
from elision.serve.shelf import title_of
from elision.serve.tellings import Tellings
from elision.serve.uploads import Uploads
from elision.serve.worker import Plan, Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path
    from typing import Literal

    from elision.serve.shelf import Shelf
    from elision.serve.uploads import Upload
    from elision.values.script import Script

SECONDS = 600.0
"""How long a job may take."""

MOST_JOBS = 8
"""Jobs that are remembered; the oldest goes first."""

KEEP_ALIVE = 15.0


class Job:
    """What one worker said so far, and the scripts that it made."""

    def __init__(self, upload: Upload, choices: messages.Choices, folder: Path) -> None:
        self.id = secrets.token_urlsafe(12)
        self.upload = upload.id
        self.choices = choices
        self.name = upload.name
        self.folder = folder
        self.state: Literal["running", "done", "stopped", "failed"] = "running"
        self.problem = ""
        self.scripts: list[str] = []
        self.said: list[dict[str, Any]] = []
        self.stopping = False
        self._news = asyncio.Event()
        self._began = time.monotonic()
        self._ended: float | None = None

    def message(self) -> messages.Job:
        """Return where the job stands."""
        return messages.Job(
            self.id,
            self.name,
            self.state,
            self.problem,
            self.scripts,
            self.upload,
            self.choices,
            self.seconds,
        )

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (self._ended or time.monotonic()) - self._began

    def end(self, state: Literal["done", "stopped", "failed"]) -> None:
        """Say that nothing more comes."""
        self.state = state
        self._ended = time.monotonic()
        self.say({"kind": "end", "state": state, "problem": self.problem})

    def say(self, word: dict[str, Any]) -> None:
        """Keep a word with its time, and wake those who listen."""
        self.said.append({**word, "at": round(self.seconds, 2)})
        self._news.set()
        self._news = asyncio.Event()

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
            # No lock: who listens may leave at any moment, and must hold up nobody.
            with suppress(TimeoutError):
                async with asyncio.timeout(KEEP_ALIVE):
                    await self._news.wait()
            if place == len(self.said):
                yield None


class Jobs:
    """Starts, stops and remembers jobs."""

    def __init__(self, shelf: Shelf, *, seconds: float = SECONDS) -> None:
        self.uploads = Uploads()
        self._shelf = shelf
        self._seconds = seconds
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._worker: Worker | None = None

    def __iter__(self) -> Iterator[Job]:
        return iter([*self._jobs.values()])

    def get(self, number: str) -> Job | None:
        """Return the job of this id, if there is one."""
        return self._jobs.get(number)

    @property
    def busy(self) -> bool:
        """Whether a job is running."""
        return self._task is not None and not self._task.done()

    def learn(self, upload: Upload, choices: messages.Choices) -> Job:
        """Learn from a file, taken as it was chosen.

        Raises
        ------
        InputError
            If another job is running.
        """
        if self.busy:
            raise InputError("a job is running", hint="stop it, or wait until it is done")
        job = Job(upload, choices, self.uploads.folder())
        self._jobs[job.id] = job
        while len(self._jobs) > MOST_JOBS:
            self._jobs.popitem(last=False)
        plan = Plan("learn", str(upload.path), str(job.folder), upload.name, choices)
        self._worker = Worker(plan)
        self._task = asyncio.create_task(self._run(job, self._worker))
        return job

    async def stop(self, job: Job) -> None:
        """End a job; the scripts that are complete are kept."""
        if job.state == "running" and self._task is not None and self._worker is not None:
            job.stopping = True
            self._worker.kill()
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End what runs and delete everything that was uploaded."""
        for job in self:
            await self.stop(job)
        self.uploads.close()

    async def _run(self, job: Job, worker: Worker) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                async for word in worker.words():
                    await self._hear(job, word)
        except TimeoutError:
            job.stopping = True
            job.problem = f"stopped after {self._seconds:.0f} seconds"
        except InputError as error:
            job.problem = "" if job.stopping else str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who listen must hear of it
            job.problem = f"learning failed: {type(error).__name__}"
        finally:
            worker.kill()
        shutil.rmtree(job.folder, ignore_errors=True)
        job.end("stopped" if job.stopping else "failed" if job.problem else "done")

    async def _hear(self, job: Job, word: dict[str, Any]) -> None:
        if word["kind"] == "learned":
            script, tellings = await asyncio.to_thread(_loaded, job.folder, word)
            title = title_of(script, job.name)
            held = self._shelf.add(script, title, learned=True, source=job.name, tellings=tellings)
            job.scripts.append(held.id)
            word = {**word, "script": held.id, "name": held.name}
        if word["kind"] != "done":
            job.say(word)


def _loaded(folder: Path, word: dict[str, Any]) -> tuple[Script, Tellings]:
    script = files.script.load(folder / word["file"])
    return script, Tellings(script, read(folder / word["tellings"]))
