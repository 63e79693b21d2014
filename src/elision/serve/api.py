"""The questions over HTTP: JSON in, JSON out, one function a route."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from elision.errors import ElisionError, InputError
from elision.serve import messages, questions, sharing
from elision.serve.describe import details, listed
from elision.serve.guard import HEADERS, Packed, TooLarge, body_of
from elision.serve.lines import GAPS, fitting_nowhere, understood, worded
from elision.serve.outlines import outlined
from elision.serve.restore import restore
from elision.serve.shelf import LONGEST_SENTENCE
from elision.serve.table import table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from elision.serve.shelf import Held, Shelf

MOST_ASKED = 256 << 10
"""Bytes of a question."""

NARROWEST, WIDEST = 60, 2400
"""Pixels that an outline may be wide, and by which widths differ."""

ONE = "/api/scripts/{script}"
JSON = "application/json"
CSV = "text/csv; charset=utf-8"


Asked = TypeVar("Asked", bound=msgspec.Struct)


class Route(NamedTuple):
    """One way to ask: what it takes and gives, for the application and its documentation."""

    method: str
    path: str
    handle: Callable[[Request], Awaitable[Response]]
    summary: str
    takes: type[msgspec.Struct] | None = None
    gives: type[msgspec.Struct] | str = JSON
    status: int = 200
    refuses: tuple[int, ...] = ()
    named: bool = False
    """Whether the body is a file, named by ``?name=``."""


class Api:
    """Answers requests about the scripts of a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def routes(self) -> list[Route]:
        """Return all ways to ask."""
        return [
            Route("GET", "/api/scripts", self.scripts, "All scripts", gives=messages.Shelf),
            *self._described(),
            *self._asked(),
            Route(
                "POST",
                "/api/identify",
                self.identify,
                "Which script is this telling of?",
                takes=messages.Identifying,
                gives=messages.Identified,
                refuses=(400, 408, 413),
            ),
        ]

    def _described(self) -> list[Route]:
        """What is said of a script by itself."""
        details = "A script: states, edges, events, examples"
        outline = "The outline of a script: its drawing and its steps"
        file = "A script as a file of its own"
        return [
            Route("GET", ONE, self.script, details, gives=messages.Details, refuses=(404,)),
            Route("GET", f"{ONE}/file", self.file, file, refuses=(404,)),
            Route(
                "GET",
                f"{ONE}/outline",
                self.outline,
                outline,
                gives=messages.Outlined,
                refuses=(400, 404),
            ),
        ]

    def _asked(self) -> list[Route]:
        """What is asked of a script with a telling."""
        asking, shared = messages.Asking, messages.Sharing
        ways: list[tuple[str, Any, str, type[msgspec.Struct], type[msgspec.Struct] | str]] = [
            (
                "restore",
                self.restore,
                "A telling restored: what it left out, what comes next, what is odd",
                asking,
                messages.Restored,
            ),
            ("restore.csv", self.restore_csv, "The same as a table", asking, "text/csv"),
            (
                "telling.html",
                self.telling_html,
                "A restored telling as a page of its own, to be shared",
                shared,
                "text/html",
            ),
            (
                "fill",
                self.fill,
                "Ranked answers for the gaps of a telling",
                messages.Filling,
                messages.Fillings,
            ),
            *(
                (
                    f"ask/{name}",
                    partial(self._question, question=name),
                    takes.__doc__ or "",
                    takes,
                    questions.Answered,
                )
                for name, takes in questions.ASKS.items()
            ),
        ]
        for kind, media in (("svg", "image/svg+xml"), ("png", "image/png")):
            outline = partial(self._outline_file, kind=kind, media=media)
            laid = f"The outline as {kind.upper()} file, with a telling laid over it"
            ways.append((f"outline.{kind}", outline, laid, shared, media))
        return [
            Route(
                "POST",
                f"{ONE}/{path}",
                handle,
                says,
                takes=takes,
                gives=gives,
                refuses=(400, 404, 408, 413),
            )
            for path, handle, says, takes, gives in ways
        ]

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
        """Restore a telling."""
        return reply(await self._answer(request, messages.Asking, restore))

    async def restore_csv(self, request: Request) -> Response:
        """Restore a telling as a table."""
        content = await self._answer(request, messages.Asking, table)
        return attachment(content, CSV, "answers.csv")

    async def telling_html(self, request: Request) -> Response:
        """Make a page of a restored telling."""
        content = await self._answer(request, messages.Sharing, sharing.as_html)
        return attachment(content, "text/html; charset=utf-8", "telling.html")

    async def fill(self, request: Request) -> Response:
        """Fill gaps."""
        return reply(await self._answer(request, messages.Filling, fill))

    async def _question(self, request: Request, *, question: str) -> Response:
        ask = partial(questions.answer, question=question)
        return reply(await self._answer(request, questions.ASKS[question], ask))

    async def identify(self, request: Request) -> Response:
        """Say which script a telling is of."""
        asking = await asked(request, messages.Identifying)
        found = await run_in_threadpool(identify, self._shelf, asking)
        return reply(found)

    def _held(self, request: Request) -> Held:
        return held_of(self._shelf, request)

    async def _answer(
        self, request: Request, kind: type[Asked], question: Callable[[Held, Asked], Any]
    ) -> Any:
        held = self._held(request)
        asking = await asked(request, kind)
        return await run_in_threadpool(question, held, asking)

    async def _outline_file(self, request: Request, *, kind: str, media: str) -> Response:
        held = self._held(request)
        wanted = await asked(request, messages.Sharing)
        content = await run_in_threadpool(sharing.outline_file, held, wanted, kind)
        return attachment(content, media, f"{held.id}.{kind}")


def held_of(shelf: Shelf, request: Request) -> Held:
    """Return the script that a path names, or refuse."""
    held = shelf.get(request.path_params["script"])
    if held is None:
        raise HTTPException(404, "no such script")
    return held


def fill(held: Held, filling: messages.Filling) -> messages.Fillings:
    """Fill the gaps of a telling; what the script does not know is left out."""
    every = understood(held, filling.telling)
    said = [one for one in every if one.is_told]
    excluded = [event for event in filling.exclude if event is not None]
    found = held.script.fill(
        [worded(held, one) for one in said],
        top=filling.top,
        exclude=fitting_nowhere(held, every, excluded),
    )
    return messages.Fillings(
        [
            messages.Filled(
                said[one.position].line,
                [messages.Answer(each.event, each.probability) for each in one.answers],
                one.fallback,
            )
            for one in found
        ]
    )


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
    InputError: refused,
    ElisionError: refused,
    Exception: broken,
}

__all__ = ["REFUSALS", "Api", "Route"]
