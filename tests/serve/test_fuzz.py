"""Requests of any kind: each is answered in time and in one line, and the server lives on."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elision.serve import messages

if TYPE_CHECKING:
    from serving import Running

SLOWEST = 20.0
"""Seconds within which a request must be answered."""

QUESTIONS = {
    "scripts/{script}/restore": messages.Asking,
    "scripts/{script}/restore.csv": messages.Asking,
    "scripts/{script}/telling.html": messages.Sharing,
    "scripts/{script}/outline.svg": messages.Sharing,
    "scripts/{script}/tellings": messages.Browsing,
    "identify": messages.Identifying,
    "uploads/{upload}/look": messages.Choices,
    "uploads/{upload}/tellings/{script}": messages.Choices,
}

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2000)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["hear doorbell", "open door", "?", "told", "count", "dark"]),
    lambda some: (
        st.lists(some, max_size=4) | st.dictionaries(st.text(max_size=5), some, max_size=3)
    ),
    max_leaves=6,
)


def questions(kind: type[msgspec.Struct]) -> st.SearchStrategy[bytes]:
    """Objects with fields as these, some of whose values are as they should be; and anything."""
    telling = st.lists(st.text(max_size=20) | st.none(), max_size=5)
    fields: dict[str, Any] = {
        field.name: telling | VALUES if field.name == "telling" else VALUES
        for field in msgspec.structs.fields(kind)
    }
    named = st.fixed_dictionaries({}, optional=fields)
    return st.binary(max_size=50) | (named | VALUES).map(lambda one: json.dumps(one).encode())


@pytest.mark.parametrize("path", QUESTIONS)
def test_no_question_breaks_the_server(server: Running, path: str) -> None:
    script = server.ask("GET", "/api/scripts").json["scripts"][0]["id"]
    sent = server.ask("POST", "/api/uploads?name=a.txt", b"ring\nopen\n\nopen\n").json
    where = "/api/" + path.format(script=script, upload=sent["upload"])

    @settings(
        max_examples=15,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(questions(QUESTIONS[path]))
    def ask(body: bytes) -> None:
        began = time.monotonic()
        answer = server.ask("POST", where, body)
        assert answer.status in (200, 400)
        assert answer.status == 200 or "\n" not in answer.json["problem"]
        assert time.monotonic() - began < SLOWEST

    ask()
    assert server.ask("GET", "/api/scripts").status == 200


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET / HTTP/9.9",
        b"GET",
        b"\x00\xff\x00",
        b"POST /api/identify HTTP/1.1\r\nHost: a\r\nHost: b",
    ],
)
def test_garbage_on_the_line_does_no_harm(server: Running, request_line: bytes) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(request_line + b"\r\n\r\n")
        answer = line.recv(4096)
    assert b" 4" in answer.split(b"\r\n")[0]
    assert b"\r\ncontent-security-policy: default-src 'none'" in answer.lower()
    assert server.ask("GET", "/api/scripts").status == 200
