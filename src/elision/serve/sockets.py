"""Tellings that are followed over WebSockets: a message in, a message out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocketDisconnect

from elision.ask.follow import RATE
from elision.errors import ElisionError, InputError
from elision.serve import messages
from elision.serve.following import Following
from elision.serve.shelf import LONGEST_SENTENCE
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from elision.serve.following import Known
    from elision.serve.shelf import Shelf
    from elision.values.library import Library
    from elision.values.script import Script

PATH = "/api/follow"

MOST_FOLLOWERS = 100
"""Tellings that are followed at once."""

MOST_TOLD = 1000
"""Events and sentences of a telling that is followed."""

IDLE_SECONDS = 1800.0
"""How long a client may say nothing, or take nothing in."""

IDLE = 1001
"""Code with which a connection is closed then: going away."""

GOODBYE_SECONDS = 3.0

Done = TypeVar("Done")


class Sockets:
    """Follows a telling for each connection."""

    def __init__(
        self, shelf: Shelf, *, most: int = MOST_FOLLOWERS, idle: float = IDLE_SECONDS
    ) -> None:
        self._shelf = shelf
        self._most = most
        self._idle = idle
        self._open = 0
        self._turn = asyncio.Lock()  # the others wait here, not in threads that answer the page

    async def follow(self, socket: WebSocket) -> None:
        """Follow one telling: of the script that the address names, or of any."""
        if self._open >= self._most:
            raise HTTPException(503, f"{self._most} tellings are being followed, try again later")
        self._open += 1
        try:
            following = await self._in_turn(partial(self._begun, socket.query_params))
            await socket.accept()
            await self._converse(socket, following)
        except WebSocketDisconnect:
            return
        except TimeoutError:
            await _close(socket, f"nothing came for {self._idle:.0f} seconds")
        finally:
            self._open -= 1

    async def plain(self, _request: Request) -> Response:
        """Refuse a request that opens no socket."""
        raise HTTPException(426, "expected a WebSocket", {"Upgrade": "websocket"})

    def _begun(self, wanted: Mapping[str, str]) -> Following:
        scripts = self._scripts(wanted.get("script"))
        return Following(scripts, false_alarms=_share(wanted.get("false_alarms", str(RATE))))

    def _scripts(self, name: str | None) -> Script | Library:
        """The script of this id, or all of them."""
        if name is None and len(self._shelf):
            return self._shelf.library()
        held = None if name is None else self._shelf.get(name)
        if held is None:
            raise HTTPException(404, "no such script")
        return held.script

    async def _converse(self, socket: WebSocket, following: Following) -> None:
        """Answer message after message until the client leaves, or says nothing for too long."""
        while True:
            async with asyncio.timeout(self._idle):
                said = await socket.receive()
            if said["type"] == "websocket.disconnect":
                return
            content = said.get("text") or said.get("bytes") or b""
            answer = await self._in_turn(partial(answered, following, content))
            async with asyncio.timeout(self._idle):
                await socket.send_text(answer.decode())

    async def _in_turn(self, work: Callable[[], Done]) -> Done:
        """Do work of which there is one piece at a time: libraries remember what they are asked."""

        def locked() -> Done:
            with self._shelf.lock:
                return work()

        async with self._turn:
            return await run_in_threadpool(locked)


def answered(following: Following, content: str | bytes) -> bytes:
    """Do what a message says; if that cannot be, say why in one line.

    Examples
    --------
    >>> import elision as el
    >>> following = Following(el.examples.doorbell())
    >>> answered(following, '{"undo": true}')
    b'{"error":{"problem":"nothing was told that could be taken back"}}'
    """
    found: msgspec.Struct
    try:
        found = _done(following, msgspec.json.decode(content, type=messages.Follow))
    except (msgspec.MsgspecError, UnicodeError) as error:
        found = messages.Failed(messages.Problem(f"the message is not as expected: {error}"))
    except ElisionError as error:
        found = messages.Failed(messages.Problem(str(error)))
    return msgspec.json.encode(found)


def _done(following: Following, said: messages.Follow) -> Known:
    if (said.tell is not None) + said.undo + said.finish != 1:
        raise InputError("expected one of tell, undo and finish in a message")
    if said.tell is None:
        return following.undo() if said.undo else following.finish()
    text = said.tell.strip()
    if not text:
        raise InputError("nothing was told, expected an event or a sentence")
    if len(text) > LONGEST_SENTENCE and text not in following.events:
        raise InputError(f"{len(text)} characters, expected {LONGEST_SENTENCE} at most")
    if following.lines >= MOST_TOLD:
        raise InputError(f"{MOST_TOLD} were told, more are not followed")
    return following.tell(text)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"false_alarms is {short(text)}, expected a number") from None


async def _close(socket: WebSocket, reason: str) -> None:
    """Say goodbye, if the client still listens."""
    with suppress(TimeoutError, WebSocketDisconnect):
        async with asyncio.timeout(GOODBYE_SECONDS):
            await socket.close(IDLE, reason)
