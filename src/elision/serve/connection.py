"""Connections that are given up: they send no whole request, or do not take their answer."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from elision.serve.guard import HEADERS, refuse

if TYPE_CHECKING:
    import asyncio

SECONDS = 20.0
"""How long a connection may send no whole head of a request, or take less than it must."""

LEAST_TAKEN = 64 << 10
"""Bytes of an answer that must be taken in that time."""

MOST_CONNECTIONS = 500
"""More are told to come again later."""

CROWDED = refuse("too many connections, try again later", 503)


class Connection(H11Protocol):
    """A connection that is looked at now and then, and closed when nothing comes of it.

    While an answer is being made nothing is asked of the client, and bodies have a time of their
    own. Everything else has to get on: a half request, a body that nobody reads any more, an answer
    that is not taken.
    """

    seconds = SECONDS
    most = MOST_CONNECTIONS

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look at it."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self.app = CROWDED
        self._before: tuple[Any, int] = (None, 0)
        self._looking = self.loop.call_later(self.seconds, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Look at it no more."""
        self._looking.cancel()
        super().connection_lost(exc)

    def _should_upgrade(self) -> bool:
        """Answer a request that would rather be a WebSocket as what it is."""
        return False

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, with the headers of every other response."""
        headers = [*HEADERS.items(), ("Content-Type", "application/json"), ("Connection", "close")]
        content = b'{"problem":"%s"}' % msg.encode("ascii")
        parts = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        )
        with suppress(h11.LocalProtocolError):  # in the middle of another answer
            for part in parts:
                self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def _look(self) -> None:
        cycle, waiting = self.cycle, self.transport.get_write_buffer_size()
        before, waited = self._before
        self._before = (cycle, waiting)
        if waiting and waited:
            is_stuck = waiting > waited - LEAST_TAKEN
        else:
            answering = cycle is not None and not cycle.response_complete
            is_stuck = not waiting and not answering and cycle is before
        if is_stuck:
            self.transport.abort()
        else:
            self._looking = self.loop.call_later(self.seconds, self._look)
