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
from elision.pipeline.learning import DEFAULT, How, learn_domains
from elision.serve import worker
from elision.serve.jobs import Job, Jobs
from elision.serve.messages import Choices
from elision.serve.shelf import Shelf
from serving import upload

if TYPE_CHECKING:
    from serving import Running

TEXT = upload()


def planned(folder: Path, file: str, **choices: Any) -> worker.Plan:
    """A plan to learn from a file of a folder, into that folder."""
    source = folder / file
    return worker.Plan("learn", str(source), str(folder), source.stem, Choices(**choices))


def stream(server: Running, job: str, last: int = 0) -> list[dict[str, Any]]:
    """Everything that a job says, until it ends."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
    connection.request("GET", f"/api/learning/{job}/events", headers={"Last-Event-ID": str(last)})
    text = connection.getresponse().read().decode()
    connection.close()
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [json.loads(block.split("data: ", 1)[1]) for block in blocks]


def test_a_job_tells_what_happens_and_leaves_a_script(server: Running) -> None:
    job = server.learn("my door.txt", TEXT)
    assert job.status == 202
    assert server.learn("b.txt", TEXT).status == 409
    said = stream(server, job.json["id"])
    kinds = [word["kind"] for word in said]
    assert kinds == ["reading", "domain", *["stage"] * 4, "learned", "end"]
    about = {"domain": "my door", "number": 1, "of": 1, "narratives": 20, "sentences": False}
    assert said[1].items() >= {"kind": "domain", **about}.items()
    shares = [word["begins"] for word in said if word["kind"] == "stage"]
    assert shares == sorted(shares)
    assert [word["at"] for word in said] == sorted(word["at"] for word in said)
    assert said[-2]["types"][0].keys() == {"name", "tellings", "example"}
    number = said[-2]["script"]
    script = server.ask("GET", f"/api/scripts/{number}").json
    assert script["name"] == "my door"
    (found,) = [
        one
        for one in server.ask("GET", "/api/learning").json["jobs"]
        if one["id"] == job.json["id"]
    ]
    again = server.ask("POST", f"/api/learning/{job.json['id']}/stop").json
    assert found == again  # the time does not go on, either
    assert found["state"] == "done"
    assert stream(server, job.json["id"], last=len(said) - 1)[-1]["kind"] == "end"


def test_what_cannot_be_learned_from_is_told_in_one_line(server: Running) -> None:
    job = server.learn("bad.jsonl", '{"events": 3}\n').json
    end = stream(server, job["id"])[-1]
    assert end["state"] == "failed"
    assert end["problem"].startswith("bad line 1")
    assert "/" not in end["problem"]
    assert "\n" not in end["problem"]


@pytest.mark.parametrize("name", ["", "x" * 201, "tellings", "tellings.exe", "a.json.gz"])
def test_names_that_say_no_kind_are_refused(server: Running, name: str) -> None:
    assert server.ask("POST", f"/api/uploads?name={name}", b"x").status == 400


def test_too_large_a_file_is_refused_before_it_is_read(server: Running) -> None:
    headers = {"Content-Length": str(1 << 40)}
    connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
    connection.putrequest("POST", "/api/uploads?name=a.txt")
    for key, value in headers.items():
        connection.putheader(key, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


async def _until(kind: str, jobs: Jobs, text: str, name: str = "tellings.txt") -> Job:
    """Start a job, and wait until it says this, or ends."""
    job = jobs.learn(jobs.uploads.keep(text.encode(), name), Choices())
    async for found in job.listen():
        if found is not None and found[1]["kind"] == kind:
            return job
    return job


def test_stopping_keeps_the_scripts_that_are_complete() -> None:
    told = el.examples.doorbell_tellings()
    domains = {"short": told, "long": [one * 20 for one in told] * 100}
    lines = [
        json.dumps({"domain": domain, "events": one})
        for domain, tellings in domains.items()
        for one in tellings
    ]

    async def run() -> None:
        shelf = Shelf()
        jobs = Jobs(shelf)
        try:
            job = await _until("learned", jobs, "\n".join(lines), "two.jsonl")
            await jobs.stop(job)
            assert job.state == "stopped"
            (held,) = shelf
            assert job.scripts == [held.id]
            assert held.script.about["domain"] == "short"
            assert held.script.fill(["hear doorbell", None, "open door"])
            assert not jobs.busy
        finally:
            await jobs.close()

    asyncio.run(run())


def test_learning_ends_when_its_time_is_up() -> None:
    async def run() -> None:
        shelf = Shelf()
        jobs = Jobs(shelf, seconds=0.2)
        try:
            job = await _until("learned", jobs, TEXT)
            assert job.state == "stopped"
            assert job.problem == "stopped after 0 seconds"
            assert not list(shelf)
        finally:
            await jobs.close()

    asyncio.run(run())


def test_a_worker_that_is_done_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("""#!/bin/sh\necho '{"kind": "done"}'\nexec sleep 600\n""")
    slow.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(slow))

    async def run() -> list[dict[str, Any]]:
        return [word async for word in worker.Worker(planned(tmp_path, "tellings.txt")).words()]

    assert asyncio.run(asyncio.wait_for(run(), timeout=60)) == [{"kind": "done"}]


@pytest.mark.parametrize("name", ["../../evil.txt", "/etc/evil.txt", "..\\evil.txt", ".txt.txt"])
def test_uploads_stay_in_the_temporary_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def run() -> None:
        jobs = Jobs(Shelf())
        try:
            job = jobs.learn(jobs.uploads.keep(b"x", name), Choices())
            written = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert [path.name for path in written] == ["tellings.txt"]
            assert "/" not in job.name
            await jobs.stop(job)
        finally:
            await jobs.close()
        assert not list(tmp_path.iterdir())

    asyncio.run(run())


def test_the_page_learns_as_the_command_does(tmp_path: Path) -> None:
    corpus = el.Corpus.of(el.examples.doorbell_tellings(), domain="door")
    corpus.to_jsonl(tmp_path / "tellings.jsonl")
    said: list[dict[str, Any]] = []
    worker.learn(planned(tmp_path, "tellings.jsonl"), said.append)
    assert said[-1] == {"kind": "done"}
    learn_domains(
        corpus,
        tmp_path / "command.json",
        How(DEFAULT, {}),
        console=Console(file=io.StringIO()),
    )
    learned = (tmp_path / "script-1.json").read_bytes()
    assert learned == (tmp_path / "command.json").read_bytes()
    assert el.load(tmp_path / "script-1.json").telling is not None


def test_the_worker_refuses_what_would_take_too_long(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("step\n" * 501)
    with pytest.raises(InputError, match="501 events in a telling, expected at most 500"):
        worker.learn(planned(tmp_path, "long.txt"), print)


def test_sentences_are_learned_with_what_understands_them(tmp_path: Path) -> None:
    tellings = [
        one.steps
        for one in el.read(Path(el.__file__).with_name("data") / "tellings.jsonl").domain(
            "making tea"
        )
    ]
    lines = [json.dumps({"steps": one, "domain": "tea"}) for one in tellings]
    (tmp_path / "tea.jsonl").write_text("\n".join(lines))
    said: list[dict[str, Any]] = []
    worker.learn(planned(tmp_path, "tea.jsonl"), said.append)
    assert said[1]["sentences"]
    script = el.load(tmp_path / "script-1.json")
    assert script.extractor is not None
    assert script.about["domain"] == "tea"
    assert script.outline().title == "tea"
    assert all(step.wording for step in script.outline().steps)
