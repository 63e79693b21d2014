"""``elision serve``: loads, binds, warns, runs, and stops cleanly."""

from __future__ import annotations

import errno
import socket
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import elision as el
from elision import files, values
from elision import serve as page
from elision._files import shown_path
from elision.errors import InputError, counted
from elision.terminal import complain, err, out, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.serve.shelf import Shelf

HOST, PORT, LAST_PORT = "127.0.0.1", 8350, 65535

BUILT_IN = "built-in example"
"""Where the script comes from that is shown if none is given."""

TRIED = 100
"""Ports after a used one that are looked at to offer one."""

BROWSER_DELAY = 0.5
PATIENCE = 3
"""Seconds for requests to end after Ctrl-C."""


def serve(
    scripts: Sequence[Path],
    *,
    tellings: Sequence[Path] = (),
    host: str = HOST,
    port: int = PORT,
    open_browser: bool = True,
) -> None:
    """Serve the page of some scripts until Ctrl-C.

    Parameters
    ----------
    scripts
        Script files, and folders of them or of libraries; without any, a built-in example.
    tellings
        Files of tellings, to be shown beside the scripts of their domains.
    host
        Where to listen; anything but this machine itself brings a warning.
    port
        Which port; 0 for any that is free.
    open_browser
        Whether to open the page in a browser.

    Raises
    ------
    InputError
        If a file is no script, the port is in use, or the extra ``page`` is not installed.
    """
    try:
        import h11  # noqa: F401, PLC0415
        import uvicorn  # noqa: PLC0415 - an extra
        from starlette import applications as _  # noqa: F401, PLC0415
    except ImportError as error:
        problem = f"the page needs {error.name}, which is not installed"
        raise InputError(problem, hint='pip install "elision[page]"') from None
    listening = bound(host, port)
    try:
        with err.status("Getting ready; the first time takes longest."):
            shelf = loaded(scripts) if scripts else demo()
            for path in tellings:
                open_beside(shelf, path)
            _warm_up(shelf)
        _run(uvicorn, shelf, listening, host, open_browser=open_browser)
    finally:
        listening.close()


def loaded(paths: Sequence[Path]) -> Shelf:
    """Read scripts and libraries."""
    shelf = page.shelf.Shelf()
    for path in paths:
        shown = shown_path(path)
        if Path(path).is_dir():
            for name, script in values.library.Library.load(path).items():
                shelf.add(script, name, source=shown)
        else:
            script = files.script.load(path)
            shelf.add(script, page.shelf.title_of(script, Path(path).stem), source=shown)
    return shelf


def demo() -> Shelf:
    """Return what the page starts with if nothing is given: twenty tellings, and their script."""
    shelf = page.shelf.Shelf()
    script = el.examples.learned_doorbell()
    corpus = el.Corpus.of(el.examples.doorbell_tellings())
    tellings = page.tellings.Tellings(script, corpus)
    shelf.add(script, page.shelf.title_of(script, "demo"), source=BUILT_IN, tellings=tellings)
    return shelf


def open_beside(shelf: Shelf, path: Path) -> None:
    """Show the tellings of a file beside the scripts that they are of.

    Raises
    ------
    InputError
        If they are of none of them.
    """
    corpus = el.read(path)
    scripts = [*shelf]
    fitting = [held for held in scripts if held.script.about.get("domain") in corpus.domains]
    if not fitting and len(scripts) == len(corpus.domains) == 1:
        fitting = scripts
    if not fitting:
        raise InputError(
            "these tellings are of none of the scripts",
            where=shown_path(path),
            hint=f"they are of {', '.join(map(repr, corpus.domains[:8]))}",
        )
    for held in fitting:
        held.tellings = page.tellings.Tellings(
            held.script, page.reading.for_script(held.script, corpus)
        )


def bound(host: str, port: int) -> socket.socket:
    """Listen at a port.

    Raises
    ------
    InputError
        If that cannot be; names the next free port if this one is in use.
    """
    if not 0 <= port <= LAST_PORT:
        raise InputError(f"port {port}, expected one from 0 to {LAST_PORT}")
    try:
        return _listening(host, port)
    except (OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            free = _next_free(host, port)
            hint = f"{free} is free: --port {free}" if free else "--port 0 takes any that is free"
            raise InputError(f"port {port} is in use", hint=hint) from None
        problem = getattr(error, "strerror", None) or "no such host"
        raise InputError(f"cannot listen at {shown_path(host)}:{port}: {problem}") from None


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    found = socket.socket(family, kind, protocol)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen()
    except BaseException:
        found.close()
        raise
    return found


def _next_free(host: str, port: int) -> int | None:
    for other in range(port + 1, min(port + TRIED, LAST_PORT) + 1):
        with suppress(OSError):
            _listening(host, other).close()
            return other
    return None


def _warm_up(shelf: Shelf) -> None:
    """Ask each script once, so that compiled code is loaded before the first person asks."""
    for held in shelf:
        told: list[str | None] = [*held.script.events[:1], None]
        page.restore.restore(held, page.messages.Asking(told, finished=True))
        page.outlines.outlined(held)
        held.sentence("warm up")


def _run(
    uvicorn: Any, shelf: Shelf, listening: socket.socket, host: str, *, open_browser: bool
) -> None:
    jobs = page.jobs.Jobs(shelf)

    class Server(uvicorn.Server):  # type: ignore[misc]
        """Ends learning first: those who watch it would hold the server up."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await jobs.close()
            await super().shutdown(sockets)

    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}/"
    out.print(
        f"Serving {counted(len(shelf), 'script')} at {printable(url)} (Ctrl-C stops)", markup=False
    )
    if not page.guard.is_loopback(host):
        complain(f"warning: {host} can be reached by others, who can then ask, upload and learn")
    config = uvicorn.Config(
        page.app.make_app(shelf, jobs, host=host),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
        http=page.connection.Connection,
        ws="none",
        lifespan="off",
    )
    if open_browser:
        timer = Timer(BROWSER_DELAY, webbrowser.open, [url])
        timer.daemon = True
        timer.start()
    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[listening])
    err.print("Stopped.")
