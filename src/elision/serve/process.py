"""The worker's process as the server sees it: started with a plan, heard word by word, ended."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from elision.serve.worker import Plan

LONGEST_WORD = 16 << 20
"""Bytes that a worker may say at once."""


class Worker:
    """One process with one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._process: asyncio.subprocess.Process | None = None
        self._killed = False

    async def words(self) -> AsyncIterator[dict[str, Any]]:
        """Start it, and give what it says until it is done or ends.

        It is not waited for after it said that it is done: on a busy machine a process takes its
        time to leave, and meanwhile nothing else could be learned.

        Raises
        ------
        InputError
            If it says that it failed, or ends before its work is done.
        """
        path = Path(self._plan.folder) / "plan.json"
        path.write_bytes(msgspec.json.encode(self._plan))
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "elision.serve.worker", str(path)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_WORD,
            start_new_session=True,  # Ctrl-C in the terminal is for the server, which ends it
        )
        try:
            if self._killed:
                self.kill()
            while process.stdout and (line := await process.stdout.readline()):
                word = msgspec.json.decode(line)
                if word["kind"] == "failed":
                    raise InputError(word["problem"])
                yield word
                if word["kind"] == "done":
                    return
            await process.wait()
        finally:
            self.kill()
            await process.wait()
        if process.returncode and not self._killed:
            raise InputError("the worker ended before it was done")

    def kill(self) -> None:
        """End it, whatever it does."""
        running = self._process is not None and self._process.returncode is None
        self._killed = self._killed or running or self._process is None
        if self._process is not None and running:
            with suppress(ProcessLookupError):
                self._process.kill()


async def answer(plan: Plan, kind: str, seconds: float) -> dict[str, Any]:
    """Return the one word of this kind that a worker says.

    Raises
    ------
    InputError
        If it does not come, or not in time.
    """
    worker = Worker(plan)
    try:
        async with asyncio.timeout(seconds):
            said = {word["kind"]: word async for word in worker.words()}
    except TimeoutError:
        raise InputError(f"looking at the file took more than {seconds:.0f} seconds") from None
    if kind not in said:
        raise InputError("the worker ended before it was done")
    return said[kind]
