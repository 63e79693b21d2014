"""Files of tellings over HTTP: looked at, learned from, and shown beside a script."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from elision.errors import InputError
from elision.serve import corpus_messages as messages
from elision.serve.api import Route, asked, held_of, limited, reply
from elision.serve.browsing import browse
from elision.serve.shelf import title_of
from elision.serve.tellings import Tellings
from elision.serve.uploads import CrowdedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from elision.serve.jobs import Job, Jobs
    from elision.serve.shelf import Shelf
    from elision.serve.uploads import Upload

MOST_UPLOADED = 20 << 20
"""Bytes of a file of tellings."""

LONGEST_NAME = 200

JOB, UPLOAD = "/api/learning/{job}", "/api/uploads/{upload}"
ASKED, SENT = (400, 404, 408, 413), (400, 408, 413, 503)
"""Statuses with which a question of something, and a file, may be refused."""

BUSY = "a job is running: stop it, or wait until it is done"


class CorpusApi:
    """Answers requests about files of tellings and what is learned from them."""

    def __init__(self, shelf: Shelf, jobs: Jobs) -> None:
        self._shelf = shelf
        self._jobs = jobs

    def routes(self) -> list[Route]:
        """Return all ways to ask."""
        beside = Route(
            "POST",
            "/api/scripts/{script}/tellings",
            self.tellings,
            "Tellings beside a script: told, unsaid and absent steps, sorted and filtered",
            takes=messages.Browsing,
            gives=messages.Matrix,
            refuses=ASKED,
        )
        return [beside, *self._of_files(), *self._of_jobs()]

    def _of_files(self) -> list[Route]:
        """What is done with a file that is sent."""
        choices, looked = messages.Choices, messages.Looked
        return [
            Route(
                "POST",
                "/api/uploads",
                self.send,
                "Send a file, and hear what it seems to be",
                gives=looked,
                refuses=SENT,
                named=True,
            ),
            Route(
                "POST",
                f"{UPLOAD}/look",
                self.look,
                "Look at a file again, with other columns, or as sentences or events",
                takes=choices,
                gives=looked,
                refuses=(*ASKED, 503),
            ),
            Route(
                "POST",
                f"{UPLOAD}/learning",
                self.learn_from,
                "Learn from a file",
                takes=choices,
                gives=messages.Job,
                status=202,
                refuses=(*ASKED, 409),
            ),
            Route(
                "POST",
                f"{UPLOAD}/tellings/{{script}}",
                self.open_beside,
                "Show the tellings of a file beside a script",
                takes=choices,
                gives=messages.Opened,
                refuses=(*ASKED, 503),
            ),
            Route(
                "POST",
                f"{UPLOAD}/script",
                self.open_script,
                "Put a script file on the list",
                gives=messages.Opened,
                refuses=(400, 404, 503),
            ),
        ]

    def _of_jobs(self) -> list[Route]:
        """What is done with what learns from a file."""
        return [
            Route(
                "GET",
                "/api/learning",
                self.jobs,
                "All learning jobs that are remembered",
                gives=messages.JobList,
            ),
            Route(
                "POST",
                "/api/learning",
                self.learn,
                "Send a file of tellings and learn from it at once",
                gives=messages.Job,
                status=202,
                refuses=(*SENT, 409),
                named=True,
            ),
            Route(
                "GET",
                JOB,
                self.job,
                "How far a learning job is",
                gives=messages.Job,
                refuses=(404,),
            ),
            Route(
                "GET",
                f"{JOB}/events",
                self.events,
                "What happens in a job, as it happens",
                gives="text/event-stream",
                refuses=(404,),
            ),
            Route(
                "POST",
                f"{JOB}/stop",
                self.stop,
                "Stop a job and keep what it has learned",
                gives=messages.Job,
                refuses=(404,),
            ),
        ]

    async def tellings(self, request: Request) -> Response:
        """Show tellings beside a script."""
        held = held_of(self._shelf, request)
        wanted = await asked(request, messages.Browsing)
        return reply(await run_in_threadpool(browse, held, wanted))

    async def send(self, request: Request) -> Response:
        """Keep a file and look at it."""
        name = _name(request)
        with self._room():
            upload = self._jobs.uploads.keep(await limited(request, MOST_UPLOADED), name)
            return await self._looked(upload, messages.Choices())

    async def look(self, request: Request) -> Response:
        """Look at a file again."""
        upload = self._upload(request)
        choices = await asked(request, messages.Choices)
        with self._room():
            return await self._looked(upload, choices)

    async def learn_from(self, request: Request) -> Response:
        """Start a learning job from a file that was sent."""
        upload = self._upload(request)
        choices = await asked(request, messages.Choices)
        if self._jobs.busy:
            raise HTTPException(409, BUSY)
        return reply(self._jobs.learn(upload, choices).message(), 202)

    async def open_beside(self, request: Request) -> Response:
        """Show the tellings of a file beside a script."""
        upload, held = self._upload(request), held_of(self._shelf, request)
        choices = await asked(request, messages.Choices)
        with self._room():
            corpus = await self._jobs.uploads.tellings(upload, choices, held)
        held.tellings = await run_in_threadpool(Tellings, held.script, corpus)
        return reply(messages.Opened(held.id, len(corpus)))

    async def open_script(self, request: Request) -> Response:
        """Put a script file on the list."""
        upload = self._upload(request)
        with self._room():
            script = await self._jobs.uploads.script(upload)
        name = title_of(script, upload.name)
        held = self._shelf.add(script, name, learned=True, source=upload.name)
        return reply(messages.Opened(held.id, 0))

    async def learn(self, request: Request) -> Response:
        """Start a learning job."""
        name = _name(request)
        if self._jobs.busy:
            raise HTTPException(409, BUSY)
        with self._room():
            content = await limited(request, MOST_UPLOADED)
        if self._jobs.busy:  # another one came meanwhile
            raise HTTPException(409, BUSY)
        return reply(self._jobs.start(content, name).message(), 202)

    async def jobs(self, _request: Request) -> Response:
        """List the jobs, for a page that was loaded again."""
        return reply(messages.JobList([job.message() for job in self._jobs]))

    async def job(self, request: Request) -> Response:
        """Tell how far a job is."""
        return reply(self._job(request).message())

    async def events(self, request: Request) -> Response:
        """Tell what happens in a job, as server-sent events."""
        job = self._job(request)
        last = request.headers.get("last-event-id", "")
        start = int(last) if last.isascii() and last.isdigit() and len(last) < 9 else 0
        return StreamingResponse(_stream(job, start), media_type="text/event-stream")

    async def stop(self, request: Request) -> Response:
        """Stop a job."""
        job = self._job(request)
        await self._jobs.stop(job)
        return reply(job.message())

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            with self._jobs.uploads.room():
                yield
        except CrowdedError as error:
            raise HTTPException(503, str(error)) from None

    async def _looked(self, upload: Upload, choices: messages.Choices) -> Response:
        """What a file seems to be, also if that is nothing."""
        try:
            found = await self._jobs.uploads.look(upload, choices)
        except InputError as error:
            found = messages.Looked(upload.id, upload.name, "tellings", problem=str(error))
        return reply(found)

    def _upload(self, request: Request) -> Upload:
        upload = self._jobs.uploads.get(request.path_params["upload"])
        if upload is None:
            raise HTTPException(404, "no such file any more: send it again")
        return upload

    def _job(self, request: Request) -> Job:
        job = self._jobs.get(request.path_params["job"])
        if job is None:
            raise HTTPException(404, "no such learning job")
        return job


def _name(request: Request) -> str:
    name = request.query_params.get("name", "")
    if not 0 < len(name) <= LONGEST_NAME:
        raise HTTPException(400, f"expected the file's name as ?name=, up to {LONGEST_NAME}")
    return name


async def _stream(job: Job, start: int) -> AsyncIterator[bytes]:
    async for found in job.listen(start):
        if found is None:
            yield b": still there\n\n"
            continue
        number, word = found
        data = msgspec.json.encode(word)
        yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, word["kind"].encode(), data)
        await asyncio.sleep(0)
