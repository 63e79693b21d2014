"""A server of its own for tests, and what to ask it with."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn

import elision as el
from elision.serve.command import bound
from elision.serve.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

HOSTILE = (
    '<script>document.title="pwned"</script>',
    "<img src=x onerror=document.title='pwned'>",
    "x" * 10_000,
    "right\u202eto\u2066left\u200fmarks",
    "party \U0001f389 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "=1+1",
    "quote\" ' & amp; </title></svg>",
)

SERVE = (sys.executable, "-m", "elision", "serve")
"""The command that opens the page."""


def hostile() -> el.Script:
    """A chain of states whose events try to be something else."""
    names = [f"s{number}" for number in range(len(HOSTILE))]
    return el.Script.build(
        {name: {event: 0.7, None: 0.3} for name, event in zip(names, HOSTILE, strict=True)},
        {
            source: {target: 1.0}
            for source, target in zip(["start", *names], [*names, "end"], strict=True)
        },
        about={"activity": '<b onclick="x">hostile</b> \u202eactivity'},
    )


def large(states: int = 40) -> el.Script:
    """A script of so many states, each followed by one of the next three."""
    names = [f"step {number}" for number in range(states)]
    ends = [*names, "end"]
    edges: dict[str, dict[str, float]] = {"start": {names[0]: 1.0}}
    for number, name in enumerate(names):
        targets = ends[number + 1 : number + 4]
        edges[name] = {target: 1 / len(targets) for target in targets}
    return el.Script.build(
        {
            name: {f"event {number}": 0.5, f"event {number + 1}": 0.2, None: 0.3}
            for number, name in enumerate(names)
        },
        edges,
        about={"activity": "forty steps"},
    )


def tickets(cases: int = 300) -> list[list[str]]:
    """Cases of a help desk, with waiting, work done again, and rare events."""
    random = Random(3)
    found = []
    for _ in range(cases):
        case = ["assign seriousness", "take in charge"]
        while random.random() < 0.3:
            case += ["wait", *(["take in charge"] if random.random() < 0.6 else [])]
        if random.random() < 0.1:
            case.append("require upgrade")
        case.append("resolve ticket")
        if random.random() < 0.08:
            case += ["take in charge", "resolve ticket"]
        found.append([*case, "close"] if random.random() < 0.97 else case)
    return found


def upload() -> str:
    """Twenty tellings as a text file, of events that no other script has."""
    told = [[f"{event} again" for event in one] for one in el.examples.doorbell_tellings()]
    return "\n\n".join(map("\n".join, told)) + "\n\n"


@dataclass
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """``elision serve`` in a process of its own."""

    scripts: Sequence[Path]
    options: Sequence[str] = ("--port", "0")
    environment: Mapping[str, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [*SERVE, *map(str, self.scripts), "--no-open", *self.options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self.environment},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://([\w.:\[\]]+):(\d+)/", line)
        assert found, line + (self.process.stderr.read() if self.process.stderr else "")
        self.host, self.port = found[1], int(found[2])
        return self

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(method, path, content, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def learn(self, name: str, text: str) -> Answer:
        """Send a file of tellings, and learn from it as it is."""
        sent = self.ask("POST", f"/api/uploads?name={quote(name)}", text.encode()).json
        return self.ask("POST", f"/api/uploads/{sent['upload']}/learning", {})

    def stop(self, how: int = signal.SIGINT) -> tuple[int, str]:
        """End it as Ctrl-C does; its exit status, and what it complained of."""
        self.process.send_signal(how)
        _, errors = self.process.communicate(timeout=15)
        return self.process.returncode, errors

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.communicate()
                raise
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def served(app: Any, **limits: Any) -> Iterator[Running]:
    """A server of this process, whose connections have limits that tests can reach."""
    protocol: Any = type("Limited", (Connection,), limits)
    listening = bound("127.0.0.1", 0)
    config = uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    running = Running([])
    running.host, running.port = listening.getsockname()
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
