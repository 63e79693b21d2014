"""Ctrl-C that is heard within a second, also while compiled code runs or threads are at work.

The interpreter hears of a signal only between two steps of its own, and compiled code is one step,
however long it takes. So a thread listens, too: where the usual way out takes too long, it ends the
process, and what was being written with it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from elision._files import discard_unfinished
from elision.cli import INTERRUPTED
from elision.terminal import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 0.5
"""Seconds that the usual way out may take: it says what can be gone on with, and tidies up."""

_SHOW_CURSOR = "\x1b[?25h"


_pressed = threading.Event()
_said: list[str] = []
"""What to say then: of the innermost part of the work that has something to say."""


@contextmanager
def heard_soon(said: str) -> Iterator[None]:
    """End the process soon after Ctrl-C, with this message, whatever it is doing.

    Inside of another such part, only the message changes.
    """
    _said.append(said)
    try:
        if len(_said) > 1 or not _can_listen():
            yield
        else:
            with _listening():
                yield
    finally:
        _said.pop()


def leave(status: int) -> NoReturn:
    """End the process; after Ctrl-C without tidying up all that was loaded, which takes a while."""
    if _pressed.is_set():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def _can_listen() -> bool:
    usable = os.name == "posix" and threading.current_thread() is threading.main_thread()
    return usable and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def _listening() -> Iterator[None]:
    listens, speaks = os.pipe()
    os.set_blocking(speaks, False)
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(listens, over), daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(speaks, warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.write(speaks, b"\0")
        watcher.join()
        os.close(listens)
        os.close(speaks)


def _watch(listens: int, over: threading.Event) -> None:
    while not over.is_set():
        came = os.read(listens, 1)
        if came != bytes([signal.SIGINT]):
            continue
        _pressed.set()
        if not over.wait(PATIENCE):
            discard_unfinished()
            if sys.stderr.isatty():  # a progress bar has hidden it
                sys.stderr.write("\r" + _SHOW_CURSOR)
            complain(_said[-1] if _said else "interrupted")
            os._exit(INTERRUPTED)
