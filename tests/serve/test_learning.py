"""Learning jobs: what is told, stopping, limits, and what stays behind."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import elision as el
from elision.errors import InputError
from elision.learning import DEFAULT, learn_domains
from elision.serve import worker
from elision.serve.jobs import Job, Jobs
from elision.serve.shelf import Shelf
from serving import upload

if TYPE_CHECKING:
    from serving import Running

TEXT = upload()


def stream(server: Running, job: str, last: int = 0) -> list[dict[str, Any]]:
    """Everything that a job says, until it ends."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    connection.request("GET", f"/api/learning/{job}/events", headers={"Last-Event-ID": str(last)})
    text = connection.getresponse().read().decode()
    connection.close()
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [json.loads(block.split("data: ", 1)[1]) for block in blocks]


def test_a_job_tells_what_happens_and_leaves_a_script(server: Running) -> None:
    job = server.ask("POST", "/api/learning?name=my%20door.txt", TEXT.encode())
    assert job.status == 202
    assert server.ask("POST", "/api/learning?name=b.txt", TEXT.encode()).status == 409
    said = stream(server, job.json["id"])
    kinds = [word["kind"] for word in said]
    assert kinds[:2] == ["reading", "domain"]
    assert kinds[-3:] == ["telling", "learned", "end"]
    batches = [word for word in said if word["kind"] == "batch"]
    assert [word["seen"] for word in batches] == [5, 10, 15, 20]
    for word in batches:
        states, scores = zip(*word["points"], strict=True)
        assert list(states) == sorted(states, reverse=True)
        assert list(scores) == sorted(scores)
        assert scores[-1] == pytest.approx(word["score_after"], rel=1e-9)
        assert states[-1] == word["states"]
    assert batches[-1]["svg"].startswith("<svg")
    number = said[-2]["script"]
    script = server.ask("GET", f"/api/scripts/{number}").json
    assert script["name"] == "my door"
    assert server.ask("GET", f"/api/learning/{job.json['id']}").json["state"] == "done"
    assert stream(server, job.json["id"], last=len(said) - 1)[-1]["kind"] == "end"


def test_what_cannot_be_learned_from_is_told_in_one_line(server: Running) -> None:
    job = server.ask("POST", "/api/learning?name=bad.jsonl", b'{"events": 3}\n').json
    end = stream(server, job["id"])[-1]
    assert end["state"] == "failed"
    assert end["problem"].startswith("bad: ")
    assert "/" not in end["problem"]
    assert "\n" not in end["problem"]


@pytest.mark.parametrize("name", ["", "x" * 201, "tellings", "tellings.exe", "a.json.gz"])
def test_names_that_say_no_kind_are_refused(server: Running, name: str) -> None:
    assert server.ask("POST", f"/api/learning?name={name}", b"x").status == 400


def test_too_large_a_file_is_refused_before_it_is_read(server: Running) -> None:
    headers = {"Content-Length": str(1 << 40)}
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    connection.putrequest("POST", "/api/learning?name=a.txt")
    for key, value in headers.items():
        connection.putheader(key, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


async def _started(jobs: Jobs, text: str, name: str = "tellings.txt") -> Job:
    job = jobs.start(text.encode(), name)
    async for found in job.listen():
        if found is not None and found[1]["kind"] == "batch":
            return job
    return job


def test_stopping_keeps_the_script_of_the_last_batch() -> None:
    async def run() -> None:
        shelf = Shelf()
        jobs = Jobs(shelf)
        try:
            job = await _started(jobs, TEXT * 20)
            await jobs.stop(job)
            assert job.state == "stopped"
            (held,) = shelf
            assert held.script.about["narratives"] < 400
            assert held.script.fill(["hear doorbell again", None, "open door again"])
            assert not jobs.busy
        finally:
            await jobs.close()

    asyncio.run(run())


def test_learning_ends_when_its_time_is_up() -> None:
    async def run() -> None:
        jobs = Jobs(Shelf(), seconds=0.2)
        try:
            job = await _started(jobs, TEXT)
            assert job.state == "stopped"
            assert job.problem == "stopped after 0 seconds"
        finally:
            await jobs.close()

    asyncio.run(run())


@pytest.mark.parametrize("name", ["../../evil.txt", "/etc/evil.txt", "..\\evil.txt", ".txt.txt"])
def test_uploads_stay_in_the_temporary_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def run() -> None:
        jobs = Jobs(Shelf())
        try:
            job = jobs.start(b"x", name)
            written = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert [path.name for path in written] == ["tellings.txt"]
            assert "/" not in job.name
            await jobs.stop(job)
        finally:
            await jobs.close()
        assert not list(tmp_path.iterdir())

    asyncio.run(run())


def test_the_page_learns_as_the_command_does(tmp_path: Path) -> None:
    """And what stopping would keep after the last batch is that script, without its tellings."""
    (tmp_path / "tellings.txt").write_text(TEXT)
    said: list[dict[str, Any]] = []
    found: list[el.Script] = []

    def tell(word: dict[str, Any]) -> None:
        said.append(word)
        if word["kind"] == "batch" and "file" in word:
            found.append(el.load(tmp_path / word["file"]))

    worker.learn(tmp_path / "tellings.txt", tmp_path, "tellings", tell)
    assert said[-1] == {"kind": "done"}
    learned = el.load(tmp_path / "script-1.json")
    assert learned.telling is not None
    assert found[-1].telling is None
    assert found[-1] == learned.with_telling(None)
    learn_domains(
        el.read(tmp_path / "tellings.txt"),
        tmp_path / "command.json",
        method=DEFAULT,
        settings={},
        resume=False,
        console=Console(file=io.StringIO()),
    )
    assert learned.noted(domain="") == el.load(tmp_path / "command.json").noted(domain="")


def test_the_worker_refuses_what_would_take_too_long(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("step\n" * 501)
    with pytest.raises(InputError, match="501 events in a telling, expected at most 500"):
        worker.learn(tmp_path / "long.txt", tmp_path, "long", print)


def test_sentences_are_learned_with_what_understands_them(tmp_path: Path) -> None:
    tellings = [
        one.steps
        for one in el.read(Path(el.__file__).with_name("data") / "tellings.jsonl").domain(
            "making tea"
        )
    ]
    lines = [json.dumps({"steps": one, "domain": "tea"}) for one in tellings]
    (tmp_path / "tea.jsonl").write_text("\n".join(lines))
    worker.learn(tmp_path / "tea.jsonl", tmp_path, "tea", lambda _: None)
    script = el.load(tmp_path / "script-1.json")
    assert script.extractor is not None
    assert script.about["domain"] == "tea"
