"""What the page asks over HTTP: JSON in, JSON out, one method a request."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from elision.errors import ElisionError, InputError
from elision.serve import messages, sharing
from elision.serve.describe import details, listed
from elision.serve.guard import HEADERS, Packed, TooLarge, body_of
from elision.serve.lines import GAPS
from elision.serve.outlines import outlined
from elision.serve.restore import restore
from elision.serve.shelf import LONGEST_SENTENCE, title_of
from elision.serve.tellings import Tellings, browse
from elision.serve.uploads import CrowdedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from starlette.requests import Request

    from elision.serve.jobs import Job, Jobs
    from elision.serve.shelf import Held, Shelf
    from elision.serve.uploads import Upload

MOST_ASKED = 256 << 10
MOST_UPLOADED = 20 << 20
"""Bytes of a question, and of a file of tellings."""

LONGEST_NAME = 200

NARROWEST, WIDEST = 60, 2400
"""Pixels that an outline may be wide, and by which widths differ."""

SCRIPT, UPLOAD, JOB = "/api/scripts/{script}", "/api/uploads/{upload}", "/api/learning/{job}"
JSON = "application/json"
FILES: dict[str, tuple[type[Any], Callable[[Held, Any], bytes], str]] = {
    "restore.csv": (messages.Asking, sharing.as_csv, "text/csv; charset=utf-8"),
    "telling.html": (messages.Sharing, sharing.as_html, "text/html; charset=utf-8"),
    "outline.svg": (messages.Sharing, sharing.as_svg, "image/svg+xml"),
    "outline.png": (messages.Sharing, sharing.as_png, "image/png"),
}
"""What a telling can be kept as: the question, who answers it, and what that is."""

Asked = TypeVar("Asked", bound=msgspec.Struct)


class Api:
    """Answers requests about the scripts of a shelf, and about files that are sent."""

    def __init__(self, shelf: Shelf, jobs: Jobs) -> None:
        self._shelf = shelf
        self._jobs = jobs

    def routes(self) -> list[Route]:
        """Return all that can be asked."""
        return [
            Route("/api/scripts", self.scripts),
            Route(SCRIPT, self.script),
            Route(f"{SCRIPT}/file", self.file),
            Route(f"{SCRIPT}/outline", self.outline),
            Route(f"{SCRIPT}/restore", self.restore, methods=["POST"]),
            Route(f"{SCRIPT}/tellings", self.tellings, methods=["POST"]),
            *(
                Route(f"{SCRIPT}/{name}", partial(self.kept, name=name), methods=["POST"])
                for name in FILES
            ),
            Route("/api/identify", self.identify, methods=["POST"]),
            Route("/api/uploads", self.send, methods=["POST"]),
            Route(f"{UPLOAD}/look", self.look, methods=["POST"]),
            Route(f"{UPLOAD}/learning", self.learn, methods=["POST"]),
            Route(f"{UPLOAD}/tellings/{{script}}", self.open_beside, methods=["POST"]),
            Route(f"{UPLOAD}/script", self.open_script, methods=["POST"]),
            Route("/api/learning", self.jobs),
            Route(f"{JOB}/events", self.events),
            Route(f"{JOB}/stop", self.stop, methods=["POST"]),
        ]

    # --- scripts ----------------------------------------------------------------------------------

    async def scripts(self, _request: Request) -> Response:
        """List the scripts."""
        return reply(messages.Shelf([listed(held) for held in self._shelf]))

    async def script(self, request: Request) -> Response:
        """Describe one script."""
        held = self._held(request)
        return reply(await run_in_threadpool(held.remember, ("details",), lambda: details(held)))

    async def file(self, request: Request) -> Response:
        """Give the script's file."""
        held = self._held(request)
        content = await run_in_threadpool(held.content)
        return attachment(content, JSON, f"{held.id}.json")

    async def outline(self, request: Request) -> Response:
        """Draw the outline of a script."""
        return reply(await run_in_threadpool(outlined, self._held(request), _room(request)))

    async def restore(self, request: Request) -> Response:
        """Restore a telling: what it left out, what comes next, what is odd."""
        held = self._held(request)
        return reply(await run_in_threadpool(restore, held, await asked(request, messages.Asking)))

    async def kept(self, request: Request, *, name: str) -> Response:
        """Give a restored telling as a file of its own."""
        held, (kind, make, media) = self._held(request), FILES[name]
        content: bytes = await run_in_threadpool(make, held, await asked(request, kind))
        return attachment(content, media, f"{held.id}-{name}")

    async def tellings(self, request: Request) -> Response:
        """Show tellings beside a script."""
        held = self._held(request)
        return reply(await run_in_threadpool(browse, held, await asked(request, messages.Browsing)))

    async def identify(self, request: Request) -> Response:
        """Say which script a telling is of."""
        asking = await asked(request, messages.Identifying)
        return reply(await run_in_threadpool(identify, self._shelf, asking))

    # --- files ------------------------------------------------------------------------------------

    async def send(self, request: Request) -> Response:
        """Keep a file and look at it."""
        name = request.query_params.get("name", "")
        if not 0 < len(name) <= LONGEST_NAME:
            raise HTTPException(400, f"expected the file's name as ?name=, up to {LONGEST_NAME}")
        with self._room():
            upload = self._jobs.uploads.keep(await limited(request, MOST_UPLOADED), name)
            return await self._looked(upload, messages.Choices())

    async def look(self, request: Request) -> Response:
        """Look at a file again, with other columns, or as sentences or events."""
        upload = self._upload(request)
        choices = await asked(request, messages.Choices)
        with self._room():
            return await self._looked(upload, choices)

    async def open_beside(self, request: Request) -> Response:
        """Show the tellings of a file beside a script."""
        upload, held = self._upload(request), self._held(request)
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

    # --- learning ---------------------------------------------------------------------------------

    async def learn(self, request: Request) -> Response:
        """Start a learning job from a file that was sent."""
        upload = self._upload(request)
        choices = await asked(request, messages.Choices)
        if self._jobs.busy:
            raise HTTPException(409, "a job is running: stop it, or wait until it is done")
        return reply(self._jobs.learn(upload, choices).message(), 202)

    async def jobs(self, _request: Request) -> Response:
        """List the jobs, for a page that was loaded again."""
        return reply(messages.JobList([job.message() for job in self._jobs]))

    async def events(self, request: Request) -> Response:
        """Tell what happens in a job as it happens, as server-sent events."""
        job = self._job(request)
        last = request.headers.get("last-event-id", "")
        start = int(last) if last.isascii() and last.isdigit() and len(last) < 9 else 0
        return StreamingResponse(_stream(job, start), media_type="text/event-stream")

    async def stop(self, request: Request) -> Response:
        """Stop a job, and keep what it has learned."""
        job = self._job(request)
        await self._jobs.stop(job)
        return reply(job.message())

    # --- what a path names ------------------------------------------------------------------------

    def _held(self, request: Request) -> Held:
        return _there(self._shelf.get(request.path_params["script"]), "no such script")

    def _upload(self, request: Request) -> Upload:
        upload = self._jobs.uploads.get(request.path_params["upload"])
        return _there(upload, "no such file any more: send it again")

    def _job(self, request: Request) -> Job:
        return _there(self._jobs.get(request.path_params["job"]), "no such learning job")

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


Found = TypeVar("Found")


def _there(found: Found | None, problem: str) -> Found:
    """Return what was found, or refuse."""
    if found is None:
        raise HTTPException(404, problem)
    return found


def identify(shelf: Shelf, asking: messages.Identifying) -> messages.Identified:
    """Say which script a telling is of; an empty telling is of none."""
    said = [line.strip() for line in asking.telling if line is not None and line.strip()]
    told = [None if line in GAPS else line[:LONGEST_SENTENCE] for line in said]
    if not any(told):
        return messages.Identified([])
    found = shelf.identify(told)
    names = {held.id: held.name for held in shelf}
    return messages.Identified(
        [
            messages.Match(one.name, names.get(one.name or "", "none of these"), one.probability)
            for one in found.candidates
        ]
    )


def _room(request: Request) -> float | None:
    """How wide a drawing should be; a few widths, so that few are remembered."""
    text = request.query_params.get("width", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) >= NARROWEST):
        raise HTTPException(400, f"expected ?width= of at least {NARROWEST} pixels")
    return float(min(int(text), WIDEST) // NARROWEST * NARROWEST)


async def _stream(job: Job, start: int) -> AsyncIterator[bytes]:
    async for found in job.listen(start):
        if found is None:
            yield b": still there\n\n"
            continue
        number, word = found
        data = msgspec.json.encode(word)
        yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, word["kind"].encode(), data)
        await asyncio.sleep(0)


async def limited(request: Request, most: int) -> bytes:
    """Read a body, or refuse it."""
    try:
        return await body_of(request, most)
    except Packed:
        raise HTTPException(400, "the body is compressed, expected it as it is") from None
    except TooLarge:
        raise HTTPException(413, f"too large, expected at most {most} bytes") from None
    except TimeoutError:
        raise HTTPException(408, "the body took too long to come") from None


async def asked(request: Request, kind: type[Asked]) -> Asked:
    """Read a question."""
    content = await limited(request, MOST_ASKED)
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise HTTPException(400, f"the question is not as expected: {error}") from None


def reply(value: msgspec.Struct, status: int = 200) -> Response:
    """Answer in JSON."""
    return Response(msgspec.json.encode(value), status, media_type=JSON)


def attachment(content: bytes, media: str, name: str) -> Response:
    """Answer with a file to be kept."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media, headers=headers)


async def refused(_request: Request, error: Exception) -> Response:
    """Answer a request that cannot be met, in one line."""
    if isinstance(error, HTTPException):
        problem = messages.Problem(error.detail)
        return Response(
            msgspec.json.encode(problem), error.status_code, dict(error.headers or {}), JSON
        )
    return reply(messages.Problem(str(error)), 400)


async def broken(_request: Request, _error: Exception) -> Response:
    """Answer where the server itself is wrong; the error goes to its terminal."""
    answer = reply(messages.Problem("something is wrong in the server"), 500)
    answer.headers.update(HEADERS)  # sent outside of the guard
    return answer


REFUSALS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    HTTPException: refused,
    ElisionError: refused,
    Exception: broken,
}
