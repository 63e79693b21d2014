"""Thousands of clients that follow tellings or listen to a job and leave, most of them rudely.

``python benchmarks/followers.py --clients 10000`` prints one JSON object: how many came in which
way, what the server's memory, open files and threads were after the first of them and after the
last, and how many tellings can be followed at once then, which are all that ever could.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

import elision as el
from elision.serve.sockets import MOST_FOLLOWERS, PATH
from serve import ask, memory, started

AT_ONCE = 50
"""Clients at the same time."""

WARM_UP = 0.1
"""Share of the clients after which memory is looked at for the first time."""

PATIENCE = 60.0
UPGRADE = (
    f"GET {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=10_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        el.examples.doorbell().save(path)
        server, port = started(path)
        try:
            result = asyncio.run(visited(server.pid, port, chosen.clients))
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
    print(json.dumps(result, indent=2))


async def visited(pid: int, port: int, clients: int) -> dict[str, object]:
    """Let them all come and go."""
    job = await listened_to(port)
    ways = [polite, rude, in_the_middle, half_open, listening]
    first = int(clients * WARM_UP)
    done: Counter[str] = Counter()
    began = time.perf_counter()

    async def client(number: int) -> None:
        way = ways[number % len(ways)]
        try:
            await way(port, job)
            done[way.__name__] += 1
        except (OSError, EOFError, WebSocketException) as error:
            done[f"{way.__name__}: {type(error).__name__}"] += 1

    await waves(client, range(first))
    before = await settled(pid, None)
    await waves(client, range(first, clients))
    after = await settled(pid, before["files"])
    return {
        "clients": done,
        "seconds": round(time.perf_counter() - began, 1),
        "before": before,
        "after": after,
        "followed_at_once": await most_at_once(port),
    }


async def waves(client: object, numbers: range) -> None:
    """Run clients, some at a time."""
    for start in range(0, len(numbers), AT_ONCE):
        await asyncio.gather(*map(client, numbers[start : start + AT_ONCE]))  # type: ignore[call-overload]


async def settled(pid: int, files: float | None) -> dict[str, float]:
    """What the server holds once it has heard that all have left."""
    until = time.monotonic() + PATIENCE
    while True:
        await asyncio.sleep(1)
        found = {
            "memory_mib": round(memory(pid), 1),
            "files": len([*Path(f"/proc/{pid}/fd").iterdir()]),
            "threads": len([*Path(f"/proc/{pid}/task").iterdir()]),
        }
        if files is None or found["files"] <= files or time.monotonic() > until:
            return found


async def listened_to(port: int) -> str:
    """A job to listen to: it ends soon, and what it said is told to whoever comes."""
    told = "\n\n".join("\n".join(one) for one in el.examples.doorbell_tellings())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    _, answer = await ask(reader, writer, "/api/learning?name=tellings.txt", told.encode())
    writer.close()
    return str(json.loads(answer)["id"])


async def polite(port: int, _job: str) -> None:
    """Tell, undo, say goodbye."""
    async with connect(f"ws://127.0.0.1:{port}{PATH}", compression=None) as line:
        await line.send('{"tell": "hear doorbell"}')
        await line.recv()
        await line.send('{"undo": true}')
        await line.recv()


async def rude(port: int, _job: str) -> None:
    """Tell, and be gone without a word."""
    line = await connect(f"ws://127.0.0.1:{port}{PATH}", compression=None)
    await line.send('{"tell": "hear doorbell"}')
    await line.recv()
    line.transport.abort()


async def in_the_middle(port: int, _job: str) -> None:
    """Tell, and be gone before the answer comes."""
    line = await connect(f"ws://127.0.0.1:{port}{PATH}", compression=None)
    await line.send('{"tell": "hear doorbell"}')
    line.transport.abort()


async def half_open(port: int, _job: str) -> None:
    """Ask for a socket, and be gone before there is one."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE)
    await writer.drain()
    reset(writer)


async def listening(port: int, job: str) -> None:
    """Listen to a job, and be gone after its first words."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /api/learning/{job}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await asyncio.wait_for(reader.read(512), PATIENCE)
    reset(writer)


def reset(writer: asyncio.StreamWriter) -> None:
    """Leave without a goodbye of the connection itself."""
    line = writer.get_extra_info("socket")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def most_at_once(port: int) -> int:
    """How many tellings can be followed at once."""
    lines: list[ClientConnection] = []
    with suppress(InvalidStatus):
        while len(lines) <= MOST_FOLLOWERS:
            lines.append(await connect(f"ws://127.0.0.1:{port}{PATH}", compression=None))
    for line in lines:
        line.transport.abort()
    return len(lines)


if __name__ == "__main__":
    main()
