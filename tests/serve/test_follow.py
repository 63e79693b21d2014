"""Following a telling over a WebSocket: answers, refusals, limits, and who may."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import elision as el
from elision.serve import sockets
from elision.serve.api import REFUSALS
from elision.serve.command import bound
from elision.serve.following import Following
from elision.serve.shelf import Shelf
from elision.serve.sockets import PATH, Sockets, answered
from serving import HOSTILE, Running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from websockets.sync.client import ClientConnection

DOORBELL = "?script=answering-the-doorbell"
TELLING = ("hear doorbell", "open door", "greet visitor", "close door")


def opened(server: Running, query: str = "", **more: Any) -> ClientConnection:
    return connect(f"ws://{server.host}:{server.port}{PATH}{query}", **more)


def ask(socket: ClientConnection, message: object) -> Any:
    said = message if isinstance(message, str | bytes) else json.dumps(message)
    socket.send(said)
    return json.loads(socket.recv(timeout=30))


def refusal(server: Running, query: str = "", **more: Any) -> tuple[int, str]:
    """The status with which a socket is refused, and the one line that says why."""
    with pytest.raises(InvalidStatus) as refused, opened(server, query, **more):
        pass
    response = refused.value.response
    assert response.body is not None
    return response.status_code, json.loads(response.body)["problem"]


class TestAnswers:
    def test_tell_undo_and_finish(self, server: Running) -> None:
        following = Following(el.examples.doorbell())
        with opened(server, DOORBELL) as socket:
            for event in TELLING:
                expected = msgspec.to_builtins(following.tell(event))
                assert ask(socket, {"tell": event}) == pytest.approx_like(expected)
            before = msgspec.to_builtins(following.undo())
            assert ask(socket, {"undo": True}) == before
            finished = ask(socket, {"finish": True})
            assert (finished["finished"], finished["count"]) == (True, 3)
            assert ask(socket, {"undo": True}) == before
