"""Every question answers the same in Python, on the command line and over HTTP."""

from __future__ import annotations

import json
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import fields

import commands
import elision as el
from elision.serve.questions import ASKS
from elision.terminal import plain

if TYPE_CHECKING:
    from pathlib import Path

    from serving import Running

OPTIONS: dict[str, dict[str, Any]] = {
    "between": {"min_probability": 0.3, "ways": 2},
    "missing": {"min_probability": 0.01},
    "next": {"steps": 2, "top": 3},
    "order": {"top": 2, "beam": 50},
}
SCRIPTS = {"doorbell": "answering-the-doorbell", "door": "answering-the-door"}


def arguments(options: dict[str, Any]) -> list[str]:
    pairs = ((f"--{name.replace('_', '-')}", str(value)) for name, value in options.items())
    return [*chain.from_iterable(pairs)]


@pytest.mark.parametrize("given", [False, True], ids=["usual", "options"])
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("question", ASKS)
def test_an_answer_is_the_same_everywhere(
    server: Running,
    scripts: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    question: str,
    script: str,
    given: bool,
) -> None:
    told = ["hear doorbell", "open door"]
    usual = {one.name: one.default for one in fields(ASKS[question]) if one.name != "telling"}
    options = OPTIONS[question] if given else {}
    own = plain(getattr(el.load(scripts[script]), question)(told, **{**usual, **options}))
    elision = partial(commands.run, monkeypatch, capsys)
    asked = elision(question, str(scripts[script]), *told, "--json", *arguments(options))
    assert asked[::2] == (0, "")
    assert json.loads(asked[1]) == json.loads(json.dumps(own))
    path = f"/api/scripts/{SCRIPTS[script]}/ask/{question}"
    sent = server.ask("POST", path, json.dumps({"telling": told, **options}).encode())
    assert sent.status == 200
    assert sent.json == {"answer": json.loads(json.dumps(own))}


def test_a_telling_that_is_not_finished(server: Running, scripts: dict[str, Path]) -> None:
    told = ["hear doorbell", "..."]
    own = plain(el.load(scripts["door"]).between(["hear doorbell", ...]))
    path = f"/api/scripts/{SCRIPTS['door']}/ask/between"
    sent = server.ask("POST", path, json.dumps({"telling": told}).encode())
    assert sent.json == {"answer": json.loads(json.dumps(own))}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"telling": ["sneeze"]}, "unknown event 'sneeze'"),
        ({"telling": ["open door"], "min_probability": 2}, "min_probability"),
        ({"telling": ["open door"], "most": 2}, "most"),
        ({}, "telling"),
    ],
)
def test_what_cannot_be_asked(server: Running, body: dict[str, Any], problem: str) -> None:
    path = f"/api/scripts/{SCRIPTS['doorbell']}/ask/between"
    sent = server.ask("POST", path, json.dumps(body).encode())
    assert sent.status == 400
    assert problem in sent.json["problem"]
    assert "\n" not in sent.json["problem"]
