"""Commands for tests: in this process, in one of their own, and in a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from functools import cache, partial
from pathlib import Path

import msgspec
import pytest
import typer.main

from elision.cli import entry, main

COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'elision'; from elision.cli import main; main()",
)
PATIENCE = 60


def run(monkeypatch, capsys, *arguments, stdin=b""):
    """Run a command in this process: its exit status, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["elision", *map(str, arguments)])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, *capsys.readouterr()


def quick(monkeypatch):
    """Put the commands together once, not for each that is run: it takes most of the time."""
    monkeypatch.setattr(entry, "app", partial(whole()))


@cache
def whole():
    return typer.main.get_command(entry.app)


def refused(answer):
    """Check that a command could not be done: one line on standard error and nothing else."""
    status, out, err = answer
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("elision: ")
    assert err.isascii() or err.rstrip("\n").isprintable()
    return err


def write(path, narratives, domain=""):
    """Write narratives by domain, or of one."""
    by_domain = narratives if isinstance(narratives, dict) else {domain: narratives}
    records = [
        {"domain": domain, "events": list(events)}
        for domain, told in by_domain.items()
        for events in told
    ]
    Path(path).write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


def files(folder="."):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))


def start(*arguments, **more):
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *arguments], **(pipes | more))


def finished(*arguments, **more):
    with start(*arguments, **more) as process:
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def wait_for(path, process):
    until = time.monotonic() + PATIENCE
    while not Path(path).exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.002)


class Terminal:
    """A command in a terminal of 80 columns: what it shows, and keys to press."""

    def __init__(self, *arguments, **environment):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        self.process = start(
            *arguments,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=kept | {"TERM": "xterm"} | environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.shown = ""
        self._read = 0

    def press(self, keys):
        os.write(self._ours, keys.encode())

    def interrupt(self):
        """Press Ctrl-C as people do, a moment later: before it waits, readline does not hear it."""
        time.sleep(0.5)
        self.press("\x03")

    def until(self, text):
        """Wait for a text after what was waited for before, and return all up to it."""
        end = time.monotonic() + PATIENCE
        while (found := self.shown.find(text, self._read)) < 0:
            assert self._more(end), f"no {text!r} in {self.shown[self._read :]!r}"
        before, self._read = self._read, found + len(text)
        return self.shown[before : self._read]

    def ended(self):
        """Wait for the end: exit status and everything shown."""
        end = time.monotonic() + PATIENCE
        while self._more(end):
            pass
        os.close(self._ours)
        return self.process.wait(PATIENCE), self.shown

    def _more(self, end):
        if not select.select([self._ours], [], [], max(0.0, end - time.monotonic()))[0]:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"too late, after {self.shown!r}")
        try:
            part = os.read(self._ours, 1 << 16)
        except OSError:  # the other end was closed
            return False
        self.shown += part.decode(errors="replace")
        return bool(part)
