"""What every request must pass, and the headers that every response carries."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    Event = MutableMapping[str, Any]

BODY_SECONDS = 60.0
"""How long a client may take to send a body."""

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class TooLarge(Exception):  # noqa: N818 - it is a size, not a fault of ours
    """A body has more bytes than are taken."""


class Packed(Exception):  # noqa: N818
    """A body is compressed: how large it is would be known only later."""


class Guard:
    """Refuses requests that were not made for this server or come from another site.

    A page elsewhere can send requests here, by the address or by a name of its own that it lets
    point here. The first kind is told by ``Origin`` and ``Sec-Fetch-Site``, the second by ``Host``.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = {"localhost", host.strip("[]").casefold()}
        self._open = not is_loopback(host)
        if self._open:
            self._names |= {socket.gethostname().casefold(), socket.getfqdn().casefold()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        problem = self._problem(scope)
        if problem is None:
            await self._app(scope, receive, with_headers(send))
        else:
            await refuse(problem, 403)(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host) or len(headers.getlist("host")) != 1:
            return "the Host is not this server"
        origin = headers.get("origin")
        if origin is not None and origin.casefold() != f"{scope['scheme']}://{host}".casefold():
            return "the request comes from another origin"
        # A link to the page from elsewhere may be followed; nothing else may come from there.
        followed = scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not followed:
            return "the request comes from another site"
        return None

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname, parts.port
        except ValueError:
            return False
        if not name or parts.netloc != host or "@" in host:
            return False
        # Names can be made to point here, addresses cannot.
        return name in self._names or is_loopback(name) or (self._open and _is_address(name))


def with_headers(send: Send) -> Send:
    """Send with the headers that every response carries."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def refuse(problem: str, status: int) -> ASGIApp:
    """Return an application that says why a request is refused."""

    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        response = JSONResponse({"problem": problem}, status)
        await response(scope, receive, with_headers(send))

    return refusing


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def body_of(request: Request, most: int) -> bytes:
    """Read a body of at most so many bytes.

    Raises
    ------
    Packed
        If it would have to be unpacked first.
    TooLarge
        As soon as that is clear.
    TimeoutError
        If it takes too long.
    """
    packed = request.headers.get("content-encoding", "identity")
    if packed.strip().casefold() != "identity":
        raise Packed
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdigit() and int(said) > most:
        raise TooLarge
    parts: list[bytes] = []
    size = 0
    async with asyncio.timeout(BODY_SECONDS):
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise TooLarge
            parts.append(part)
    return b"".join(parts)
