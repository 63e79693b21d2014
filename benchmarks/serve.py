"""Many clients asking ``fill`` of a running server, beside a learning job.

``python benchmarks/serve.py --seconds 30`` prints one JSON object: requests, errors, the 50th and
95th percentile of the time to an answer in milliseconds, and by how much the server's memory grew
after the first fifth of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import elision as el

TELLINGS = Path(el.__file__).with_name("data") / "tellings.jsonl"
DOMAIN = "answering the doorbell"
WARM_UP = 0.2
"""Share of the time after which memory is looked at for the first time."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--idle", action="store_true", help="no learning job beside it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        narratives = el.read(TELLINGS).domain(DOMAIN).events
        script = el.SEMHMM(score="marginal", random_state=0).fit(narratives).script_
        script.annotated(domain=DOMAIN).save(path)
        server, port = started(path)
        try:
            result = asyncio.run(load(server.pid, port, chosen, narratives))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=20)
    states = {"states": script.size - 2, "clients": chosen.clients, "seconds": chosen.seconds}
    print(json.dumps({**states, **result}, indent=2))


def started(path: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "elision.serve", str(path), "--port", "0", "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline() if server.stdout else ""
    found = re.search(r":(\d+)/", line)
    if not found:
        raise SystemExit(f"the server did not start: {line}")
    return server, int(found[1])


async def load(
    pid: int, port: int, chosen: argparse.Namespace, narratives: list[tuple[str, ...]]
) -> dict[str, object]:
    """Ask for the given time, and learn all the while."""
    times: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + chosen.seconds
    tellings = [[*told[:1], None, *told[2:]] for told in narratives]
    tasks = [
        asyncio.create_task(client(port, tellings[number % len(tellings)], until, times, errors))
        for number in range(chosen.clients)
    ]
    if not chosen.idle:
        tasks.append(asyncio.create_task(learner(port, narratives, until)))
    await asyncio.sleep(chosen.seconds * WARM_UP)
    before = memory(pid)
    await asyncio.gather(*tasks)
    after = memory(pid)
    p50, p95, p99 = np.percentile(np.array(times) * 1000, [50, 95, 99]).round(1).tolist()
    return {
        "learning": not chosen.idle,
        "requests": len(times),
        "errors": len(errors),
        "first_error": errors[:1],
        "p50_ms": p50,
        "p95_ms": p95,
        "p99_ms": p99,
        "memory_mib": round(after, 1),
        "memory_growth_mib": round(after - before, 1),
    }


async def client(
    port: int, telling: list[str | None], until: float, times: list[float], errors: list[str]
) -> None:
    """Ask again as soon as the answer is there, on one connection."""
    body = json.dumps({"telling": telling}).encode()
    path = f"/api/scripts/{DOMAIN.replace(' ', '-')}/fill"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        began = time.perf_counter()
        try:
            status, answer = await asyncio.wait_for(ask(reader, writer, path, body), 10)
        except (OSError, EOFError, TimeoutError) as error:
            errors.append(repr(error))
            break
        times.append(time.perf_counter() - began)
        if status != 200 or not json.loads(answer)["fillings"][0]["answers"]:
            errors.append(answer.decode()[:200])
    writer.close()


async def learner(port: int, narratives: list[tuple[str, ...]], until: float) -> None:
    """Keep one learning job running."""
    text = "\n\n".join("\n".join(told) for told in narratives * 16).encode()
    while time.monotonic() < until:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        _, answer = await ask(reader, writer, "/api/learning?name=load.txt", text)
        job = json.loads(answer)["id"]
        while time.monotonic() < until:
            await asyncio.sleep(0.5)
            _, answer = await ask(reader, writer, f"/api/learning/{job}", None)
            if json.loads(answer)["state"] != "running":
                break
        else:
            await ask(reader, writer, f"/api/learning/{job}/stop", b"")
        writer.close()


async def ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes | None
) -> tuple[int, bytes]:
    """Send one request on an open connection, and read the answer."""
    method = "GET" if body is None else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body or b'')}\r\n"
    writer.write(head.encode() + b"\r\n" + (body or b""))
    await writer.drain()
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = re.search(r"content-length: (\d+)", answer)
    content = await reader.readexactly(int(length[1])) if length else b""
    return int(answer.split()[1]), content


def memory(pid: int) -> float:
    """Resident memory of a process in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
