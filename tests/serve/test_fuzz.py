"""The API against its own documentation, with whatever schemathesis thinks of."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

if TYPE_CHECKING:
    from serving import Running

CASES = 5
"""Requests an operation."""

SLOWEST = 20.0
"""Seconds within which a request must be answered."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


def test_no_request_breaks_the_server(server: Running) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}api/openapi.json")
    known = server.ask("GET", "/api/scripts").json["scripts"][0]["id"]
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) == 31
    for operation in operations:
        upload = ""
        if "{upload}" in operation.path:  # a new one each time: only the last few files are kept
            path = "/api/uploads?name=a.txt"
            upload = server.ask("POST", path, b"ring\nopen\n\nopen\n").json["upload"]
        _fuzz(operation, known, upload)
    assert server.ask("GET", "/api/scripts").status == 200


def _fuzz(operation: schemathesis.APIOperation, known: str, upload: str) -> None:
    @settings(
        max_examples=CASES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case) -> None:
        if "script" in case.path_parameters and len(case.path_parameters["script"]) % 4:
            case.path_parameters["script"] = known  # most requests are to get past the 404
        if "upload" in case.path_parameters and len(case.path_parameters["upload"]) % 4 == 1:
            case.path_parameters["upload"] = upload  # each of these starts a process
        began = time.monotonic()
        case.call_and_validate(checks=CHECKS, timeout=30)
        assert time.monotonic() - began < SLOWEST, case.as_curl_command()

    ask()


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
