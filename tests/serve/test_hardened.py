"""Clients that mean harm: slow, many, packed, forged, and on every route there is."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.routing import Route

import elision as el
from elision.errors import InputError
from elision.files.script import dumps
from elision.serve import uploads
from elision.serve.app import make_app
from elision.serve.guard import HEADERS
from elision.serve.jobs import Job, Jobs
from elision.serve.messages import Choices
from elision.serve.reading import look
from elision.serve.shelf import Shelf
from elision.serve.uploads import Upload, Uploads
from serving import HOSTILE, Running, hostile, large, served, upload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.applications import Starlette

    from serving import Answer

FORGED = (
    {"Host": "evil.example"},
    {"Host": "127.0.0.1.evil.example"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
)
HIDDEN = ("<script", "<img", "<b ", "\u202e", "\u2066")
"""What a name must never be in a page or a picture: markup, or marks that turn text around."""


def application() -> Starlette:
    shelf = Shelf()
    return make_app(shelf, Jobs(shelf))


def paths() -> list[tuple[str, str]]:
    """Every method and path that the application knows, whatever is added to it."""
    found = []
    for route in application().routes:
        assert isinstance(route, Route)
        path = re.sub(r"{\w+}", "x", route.path)
        found += [(method, path) for method in sorted(route.methods or ())]
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """One for all tests that need no limits of their own; the real command is tested elsewhere."""
    shelf = Shelf()
    shelf.add(el.examples.doorbell(), "answering the doorbell")
    shelf.add(hostile(), '<b onclick="x">hostile</b> \u202eactivity')
    jobs = Jobs(shelf)
    with served(make_app(shelf, jobs)) as running:
        yield running
    jobs.uploads.close()


def is_strict(answer: Answer) -> bool:
    return all(answer.headers[name] == value for name, value in HEADERS.items())


def opened(server: Running, sent: bytes = b"") -> socket.socket:
    line = socket.create_connection((server.host, server.port), timeout=20)
    line.sendall(sent)
    return line


class TestEveryRoute:
    def test_all_of_them_are_found(self) -> None:
        found = paths()
        assert len(found) > 20
        assert ("POST", "/api/scripts/x/telling.html") in found

    @pytest.mark.parametrize("forged", FORGED, ids=lambda one: " ".join(*one.items()))
    def test_forged_requests_are_refused(self, server: Running, forged: dict[str, str]) -> None:
        for method, path in paths():
            answer = server.ask(method, path, b"{}" if method == "POST" else None, forged)
            assert answer.status == 403, (method, path)
            assert method == "HEAD" or list(answer.json) == ["problem"]

    def test_every_response_has_the_headers(self, server: Running) -> None:
        asked = [*paths(), ("DELETE", "/api/scripts"), ("OPTIONS", "/"), ("GET", "/none/such")]
        for method, path in asked:
            answer = server.ask(method, path, b"{" if method == "POST" else None)
            assert answer.status != 500, (method, path)
            assert is_strict(answer), (method, path)

    def test_what_is_no_http_gets_them_too(self, server: Running) -> None:
        with opened(server, b"no request\r\n\r\n") as line:
            answer = line.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 400")
        assert f"Content-Security-Policy: {HEADERS['Content-Security-Policy']}".encode() in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["problem"]

    def test_an_error_of_our_own_says_nothing_and_has_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*_: object) -> None:
            raise RuntimeError("a secret")

        monkeypatch.setattr("elision.serve.api.listed", fails)
        shelf = Shelf()
        shelf.add(el.examples.doorbell(), "door")
        with served(make_app(shelf, Jobs(shelf))) as server:
            answer = server.ask("GET", "/api/scripts")
        assert (answer.status, answer.json) == (
            500,
            {"problem": "something is wrong in the server"},
        )
        assert is_strict(answer)


class TestSlowClients:
    @pytest.mark.parametrize(
        "sent",
        [
            b"",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
            b"GET /api/scripts HTTP/1.1\r\nHost: localhost\r\n\r\nG",
            b"POST /none HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n",
        ],
        ids=["nothing", "half a head", "half of the next", "a body that nobody reads"],
    )
    def test_they_are_left_though_they_go_on(self, sent: bytes) -> None:
        with served(application(), seconds=0.3) as server, opened(server, sent) as line:
            until = time.monotonic() + 20
            line.settimeout(0.05)
            while not _is_closed(line):
                assert time.monotonic() < until
            assert server.ask("GET", "/api/scripts").status == 200

    def test_who_takes_no_answer_is_left(self) -> None:
        shelf = Shelf()
        shelf.add(large(700), "large")
        asked = b"GET /api/scripts/large/file HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with served(make_app(shelf, Jobs(shelf)), seconds=0.5) as server:
            size = len(server.ask("GET", "/api/scripts/large/file").body)
            with socket.socket() as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                line.connect((server.host, server.port))
                line.sendall(asked * 100)
                assert _is_left(line)
                taken = 0
                with suppress(ConnectionResetError):
                    while part := line.recv(1 << 16):
                        taken += len(part)
                assert taken < size * 100

    def test_a_slow_answer_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("elision.serve.api.details", lambda _: time.sleep(1.2) or {"a": 1})
        shelf = Shelf()
        shelf.add(el.examples.doorbell(), "door")
        with served(make_app(shelf, Jobs(shelf)), seconds=0.2) as server:
            assert server.ask("GET", "/api/scripts/door").json == {"a": 1}

    def test_a_crowd_is_told_to_come_later(self) -> None:
        with served(application(), seconds=0.5, most=20) as server:
            crowd = [opened(server) for _ in range(20)]
            answer = server.ask("GET", "/api/scripts")
            assert answer.status == 503
            assert is_strict(answer)
            until = time.monotonic() + 20
            while server.ask("GET", "/api/scripts").status == 503:
                assert time.monotonic() < until
                time.sleep(0.1)
            for line in crowd:
                line.close()

    def test_a_body_must_come_in_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("elision.serve.guard.BODY_SECONDS", 0.2)
        head = b"POST /api/identify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        with served(application()) as server, opened(server, head) as line:
            assert line.recv(4096).startswith(b"HTTP/1.1 408")


def _is_closed(line: socket.socket) -> bool:
    """Send on, a byte at a time, and say whether anybody still listens."""
    try:
        line.sendall(b"x")
        return line.recv(1 << 16) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


class TestPacked:
    BOMB = gzip.compress(b'{"events": ["a"]}\n' * 2_000_000)

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "x"])
    def test_packed_bodies_are_refused(self, server: Running, encoding: str) -> None:
        headers = {"Content-Encoding": encoding}
        for path in ("/api/identify", "/api/uploads?name=a.jsonl"):
            answer = server.ask("POST", path, self.BOMB, headers)
            problem = "the body is compressed, expected it as it is"
            assert (answer.status, answer.json) == (400, {"problem": problem})

    @pytest.mark.parametrize("name", ["a.jsonl", "a.xes", "a.csv", "a.parquet"])
    def test_packed_files_are_refused_whatever_their_name(self, server: Running, name: str) -> None:
        answer = server.ask("POST", f"/api/uploads?name={name}", self.BOMB)
        problem = "the file is packed with gzip (unpack it first)"
        assert (answer.status, answer.json) == (400, {"problem": problem})
        assert server.ask("POST", f"/api/uploads?name={name}.gz", self.BOMB).status == 400

    def test_a_small_file_of_very_many_rows_is_refused(self, tmp_path: Path) -> None:
        same = pa.DictionaryArray.from_arrays(pa.nulls(3_000_000, pa.int32()).fill_null(0), ["a"])
        path = tmp_path / "tellings.parquet"
        pq.write_table(pa.table({"case": same, "activity": same}), path)
        assert path.stat().st_size < 1 << 20
        with pytest.raises(InputError, match=r"^tellings: 3000000 rows, expected at most 2000000"):
            look(path, "tellings", Choices())

    def test_a_small_file_of_a_huge_script_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "script.json"
        path.write_bytes(dumps(large(2100)))
        assert path.stat().st_size < 1 << 20
        with pytest.raises(InputError, match=r"2100 states .* too large for the page"):
            look(path, "script", Choices())


class TestMany:
    def test_one_job_at_a_time(self, server: Running) -> None:
        def learn(number: int) -> Answer:
            return server.learn(f"a{number}.txt", upload())

        with ThreadPoolExecutor(6) as pool:
            found = [*pool.map(learn, range(6))]
        begun = [answer.json["id"] for answer in found if answer.status == 202]
        assert begun
        assert {answer.status for answer in found} == {202, 409}
        for job in begun:
            server.ask("POST", f"/api/learning/{job}/stop")
        assert len(server.ask("GET", "/api/learning").json["jobs"]) <= 8

    def test_few_files_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(uploads, "MOST_AT_ONCE", 2)
        head = "POST /api/uploads?name=a.txt HTTP/1.1\r\nHost: localhost\r\n"
        with served(application()) as server:
            slow = [opened(server, f"{head}Content-Length: 5\r\n\r\nri".encode()) for _ in range(2)]
            until = time.monotonic() + 20
            while (answer := server.ask("POST", "/api/uploads?name=a.exe", b"x")).status != 503:
                assert time.monotonic() < until
            assert "try again later" in answer.json["problem"]
            for line in slow:
                line.close()
            while server.ask("POST", "/api/uploads?name=a.exe", b"x").status != 400:
                assert time.monotonic() < until

    def test_room_is_given_back(self) -> None:
        kept = Uploads()
        with pytest.raises(RuntimeError), kept.room():
            raise RuntimeError
        for _ in range(uploads.MOST_AT_ONCE + 1):
            with kept.room():
                pass


class TestWhoLeaves:
    def test_listeners_hold_up_no_job(self, tmp_path: Path) -> None:
        async def listen(job: Job) -> list[str]:
            return [found[1]["kind"] async for found in job.listen() if found is not None]

        async def run() -> None:
            job = Job(Upload("a", "a", tmp_path), Choices(), tmp_path)
            leaving = [asyncio.create_task(listen(job)) for _ in range(200)]
            staying = asyncio.create_task(listen(job))
            for _ in range(3):  # a stream that is left is cancelled again and again
                await asyncio.sleep(0)
                for one in leaving:
                    one.cancel()
            job.say({"kind": "reading"})
            await asyncio.sleep(0)
            job.end("done")
            async with asyncio.timeout(20):
                assert await staying == ["reading", "end"]
                ended = await asyncio.gather(*leaving, return_exceptions=True)
            assert {type(one) for one in ended} == {asyncio.CancelledError}

        asyncio.run(run())


@pytest.fixture(scope="module")
def path(server: Running) -> str:
    listed = server.ask("GET", "/api/scripts").json["scripts"]
    (found,) = [one["id"] for one in listed if "hostile" in one["id"]]
    return f"/api/scripts/{found}"


def _check_text(text: str) -> None:
    for hidden in HIDDEN:
        assert hidden not in text.lower(), hidden


class TestHostileNames:
    """Everything that is made of names: nothing of it is markup, nor turned around."""

    @pytest.mark.parametrize("kind", ["telling.html", "outline.svg"])
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_what_is_shared(self, server: Running, path: str, kind: str, theme: str) -> None:
        body = {"telling": [*HOSTILE[::2], *HOSTILE], "theme": theme}
        answer = server.ask("POST", f"{path}/{kind}", body)
        assert answer.status == 200
        _check_text(answer.body.decode())
        assert re.fullmatch(
            r'attachment; filename="[\w.-]+"', answer.headers["Content-Disposition"]
        )

    def test_pictures(self, server: Running, path: str) -> None:
        body = {"telling": [*HOSTILE], "theme": "light"}
        answer = server.ask("POST", f"{path}/outline.png", body)
        assert (answer.status, answer.body[:4]) == (200, b"\x89PNG")

    def test_the_outline(self, server: Running, path: str) -> None:
        found = server.ask("GET", f"{path}/outline").json
        _check_text(found["svg"])
        assert {step["event"] for step in found["steps"]} == {*HOSTILE}

    def test_the_matrix_of_tellings(self, server: Running, path: str) -> None:
        told = "".join(json.dumps({"events": [*HOSTILE[k:]]}) + "\n" for k in range(4))
        sent = server.ask("POST", "/api/uploads?name=%3Cb%3E%E2%80%AE.jsonl", told.encode()).json
        opened = server.ask("POST", f"/api/uploads/{sent['upload']}/tellings/{path[13:]}", b"{}")
        assert opened.status == 200, opened.body
        found = server.ask("POST", f"{path}/tellings", b"{}")
        assert found.status == 200
        assert found.headers["Content-Type"] == "application/json"
        assert found.json["tellings"] == 4


def _is_left(line: socket.socket) -> bool:
    """Whether the other side closes within a minute, while nothing of what it says is read."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            line.send(b" ")
        except (BrokenPipeError, ConnectionResetError):
            return True
        time.sleep(0.05)
    return False
