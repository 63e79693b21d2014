"""Learning on a cluster of two processes: the same bytes as in one, whoever dies on the way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Progress

import commands
import elision as el
import scale_tasks
from commands import files, write
from elision.learn import _telling_parts
from elision.learn.em import Converged, Prior, pseudocounts, run_em
from elision.learn.telling import learn_telling
from elision.pipeline.domains import batches
from elision.scale import engine, passes
from elision.scale.journal import Journal
from elision.values.observations import Packer

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

STORY = [f"step {number}" for number in range(12)]


@pytest.fixture(scope="module")
def two_processes():
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )
        try:
            with distributed.Client(cluster, set_as_default=False) as found:
                yield found
        finally:
            with contextlib.suppress(
                AssertionError
            ):  # distributed's, of a worker that is just being started
                cluster.close()


@pytest.fixture
def client(two_processes):
    """A worker is there, though some may have died just before."""
    two_processes.wait_for_workers(1, timeout=2 * commands.PATIENCE)
    return two_processes


def kill_a_worker(client):
    client.wait_for_workers(2, timeout=2 * commands.PATIENCE)
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def tellings(number, seed=0):
    """Different tellings of one story, each leaving a third of it out."""
    kept = np.random.default_rng(seed).random((number, len(STORY))) < 0.67
    return [[step for step, here in zip(STORY, row, strict=True) if here] for row in kept]


@pytest.fixture
def sent(monkeypatch):
    """Everything goes to workers, however small."""
    monkeypatch.setattr("elision.lattice.CHUNK_UPDATES", 20_000)
    monkeypatch.setattr(passes, "pays", lambda _: engine.current().remote)


def test_em_is_the_same_wherever_it_is_done(client, sent):
    packed = Packer(STORY).pack(tellings(600))
    script = el.SEMHMM(score="approx").fit(tellings(30)).script_
    prior = pseudocounts(Prior(base="unigram"), len(STORY), packed)
    here = run_em(script.parameters, packed, prior, stop=Converged(0, 3))
    with el.on(client) as used:
        assert used is engine.current()
        there = run_em(script.parameters, packed, prior, stop=Converged(0, 3))
    assert engine.current() is engine.LOCAL
    assert len(passes._groups(passes.Lattice(script.parameters), packed)) > 3
    assert there.history == here.history
    for one, other in zip(there.counts, here.counts, strict=True):
        assert one.tobytes() == other.tobytes()
    assert there.parameters.emission.tobytes() == here.parameters.emission.tobytes()


def test_a_search_with_its_passes_on_the_cluster(client, sent, tmp_path):
    told = tellings(120, seed=2)
    learner = el.SEMHMM(score="marginal", plan="growing")
    learner.fit(told).script_.save(tmp_path / "here.json")
    with el.on(client):
        learner.fit(told).script_.save(tmp_path / "there.json")
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


def test_a_telling_model_in_pieces_on_the_cluster(client, monkeypatch):
    numbers = [[STORY.index(step) for step in one] for one in tellings(10, seed=3)]
    monkeypatch.setattr(_telling_parts, "PIECE_CELLS", 400)
    here = learn_telling(numbers, STORY, backward=False)
    monkeypatch.setattr(_telling_parts, "pays", lambda *_, **__: engine.current().remote)
    monkeypatch.setattr("elision.learn.telling.LOCAL", None)  # nothing stays here
    with el.on(client):
        there = learn_telling(numbers, STORY, backward=False)
    for name in ("after", "memory", "history", "place"):
        assert getattr(there.forward, name).tobytes() == getattr(here.forward, name).tobytes()


def test_what_takes_long_goes_where_more_threads_are(client, monkeypatch):
    monkeypatch.setattr("elision._threads.get_threads", lambda: 1)
    assert not engine.pays(1e9)  # there is no cluster
    with el.on(client):
        assert engine.current().workers() == 2
        assert engine.pays(1.0)
        assert not engine.pays(engine.JOURNEY)
        monkeypatch.setattr("elision._threads.get_threads", lambda: 2)
        assert not engine.pays(1e9)  # as many threads are here
        assert engine.pays(1.0, most_threads=1)


# Tasks


def test_results_come_in_order_and_errors_as_they_were(client):
    large = [np.arange(30_000.0) + k for k in range(5)]
    with el.on(client) as used:
        assert used.map(scale_tasks.square, [3, 1, 2]) == [9, 1, 4]
        assert used.map(scale_tasks.total, large, shared=2.0) == [one.sum() + 2 for one in large]
        with pytest.raises(ValueError, match="-1 came"):
            used.map(scale_tasks.square, [1, -1])
        with used.hold(large) as held:
            assert held.map(scale_tasks.total, shared=0.0) == [one.sum() for one in large]


# Many domains

LEARN = ("learn", "stories.jsonl", "--method", "approx", "-o")


def many(number):
    return {f"story {k}": tellings(6, seed=k) for k in range(number)}


def scripts(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.json")}


@pytest.fixture
def cluster(client):
    return client.scheduler_info(n_workers=0)["address"]


@pytest.fixture
def after(monkeypatch):
    """Do something after so many tasks were noted."""

    def patch(tasks, action):
        note, seen = Journal.note, []

        def noted(journal, done):
            note(journal, done)
            seen.append(done)
            if len(seen) == tasks:
                action()

        monkeypatch.setattr(Journal, "note", noted)
        return seen

    return patch


def test_the_default_learner_with_the_same_bytes(elision, cluster):
    write("stories.jsonl", many(2))
    learn = ("learn", "stories.jsonl", "-o")
    assert elision(*learn, "here")[0] == 0
    assert elision(*learn, "there", "--dask", cluster)[0] == 0
    assert scripts("there") == scripts("here")


def test_a_domain_that_fails_is_reported_and_the_others_are_learned(elision, cluster):
    stories = many(3)
    write("stories.jsonl", stories)
    assert elision(*LEARN, "here")[0] == 0
    stories["story 1"] = [["a"] * 9000]
    write("stories.jsonl", stories)
    status, out, err = elision(*LEARN, "there", "--dask", cluster, "--json")
    assert status == 1
    assert [one["domain"] for one in json.loads(out)] == ["story 0", "story 2"]
    first, second = err.splitlines()
    assert first.startswith("elision: story 1: narratives[0]")
    assert "9000 events, expected at most 8192" in first
    assert second == "elision: 1 domain failed, the others are learned"
    assert files("there") == ["elision.progress", "story-0.json", "story-2.json"]

    # When it is mended, the others need not be learned again.
    write("stories.jsonl", many(3))
    before = Path("there/story-0.json").stat().st_mtime_ns
    status, _, err = elision(*LEARN, "there", "--dask", cluster, "--resume")
    assert (status, err) == (0, "")
    assert Path("there/story-0.json").stat().st_mtime_ns == before
    assert scripts("there") == scripts("here")
    assert files("there") == ["story-0.json", "story-1.json", "story-2.json"]


def _address(where, scheduler):
    """What a scheduler writes when it has begun; for a moment the file is there and empty."""
    while True:
        commands.wait_for(where, scheduler)
        with contextlib.suppress(json.JSONDecodeError):
            return json.loads(where.read_text())["address"]


@pytest.fixture
def doomed(tmp_path):
    """A scheduler of its own with a worker, to be killed."""
    where = tmp_path / "scheduler.json"
    run = partial(subprocess.Popen, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    dask = [sys.executable, "-m"]
    options = ["--scheduler-file", str(where), "--no-dashboard"]
    with (
        run([*dask, "distributed.cli.dask_scheduler", "--port", "0", *options]) as scheduler,
        run(
            [*dask, "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", *options]
        ) as worker,
    ):
        try:
            yield _address(where, scheduler), scheduler
        finally:  # whatever happened: leaving waits for both
            scheduler.kill()
            worker.kill()


def test_a_run_goes_on_after_its_scheduler_was_lost(elision, cluster, doomed, after, monkeypatch):
    monkeypatch.setattr("elision.scale.dask_engine.PATIENCE", 2.0)  # a client waits for its return
    write("stories.jsonl", many(6))
    assert elision(*LEARN, "here")[0] == 0
    address, scheduler = doomed
    seen = after(3, scheduler.kill)
    err = commands.refused(elision(*LEARN, "there", "--dask", address))
    done = len(seen)
    assert 3 <= done < 6  # one may have been under way to us
    assert err == (
        f"elision: the scheduler at {address} was lost"
        f" ({done} of 6 domains are complete, --resume goes on with the others)\n"
    )
    Path("there/story-1.json").unlink()
    with Path("there/elision.progress").open("a") as file:
        file.write('{"domain": "story 3", "lear')  # cut off
    status, _, err = elision(*LEARN, "there", "--dask", cluster, "--resume")
    assert (status, err) == (0, "")
    assert sum(map(len, seen[done:])) == 6 - done + 1
    assert scripts("there") == scripts("here")
    assert files("there") == files("here")


def test_tasks_have_few_domains_or_one_large_one():
    assert batches([]) == []
    assert [len(one) for one in batches([5] * 100)] == [1] * 100
    assert {len(one) for one in batches([5] * 2000)} == {10}
    assert {len(one) for one in batches([5] * 200_000)} == {100}
    large = batches([5] * 1000 + [5000] + [5] * 1000)
    assert range(1000, 1001) in large
    assert [k for one in large for k in one] == list(range(2001))


# What is said


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("local:0", "cluster 'local:0', expected a number of processes such as 'local:2'"),
        ("", "a cluster came as '', expected a distributed.Client, an address or 'local:2'"),
        (
            "nonsense://x",
            "cluster 'nonsense://x', expected 'tcp://10.0.0.1:8786', say, or 'local:4'",
        ),
    ],
)
def test_no_cluster(elision, where, said):
    write("stories.jsonl", many(2))
    err = commands.refused(elision(*LEARN, "there", "--dask", where))
    assert said in err


def test_nobody_listens_at_the_address(elision, monkeypatch):
    monkeypatch.setattr("elision.scale.dask_engine.PATIENCE", 0.2)
    write("stories.jsonl", many(2))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and it does not listen
        where = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        err = commands.refused(elision(*LEARN, "there", "--dask", where))
    assert err.startswith(f"elision: no scheduler answers at {where}: ")
    assert not Path("there").exists()


def test_without_distributed(elision, monkeypatch):
    write("stories.jsonl", many(2))
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name in ("dask_engine", "_dask_run"):
        monkeypatch.delitem(sys.modules, f"elision.scale.{name}", raising=False)
        monkeypatch.delattr(f"elision.scale.{name}", raising=False)
    err = commands.refused(elision(*LEARN, "there", "--dask", "local:2"))
    assert err == (
        "elision: a cluster needs the package distributed (pip install 'elision[cluster]')\n"
    )


# Other commands


def test_a_log_is_repaired_with_the_same_bytes(elision, cluster, monkeypatch):
    rng = np.random.default_rng(0)
    rows = ["kind,case,activity"]
    for case in range(60):
        kept = [step for step in ("ask", "check", "pay", "ship") if rng.random() < 0.8]
        rows += [f"{'ab'[case % 2]},{case},{step}" for step in kept]
    Path("log.csv").write_text("\n".join(rows))
    repair = ("repair", "log.csv", "--domain-column", "kind", "-o")
    assert elision(*repair, "here.csv")[0] == 0
    heard = []
    monkeypatch.setattr(Progress, "update", lambda *_, **to: heard.append(to))
    assert elision(*repair, "there.csv", "--dask", cluster)[0] == 0
    assert heard == [{"advance": 1, "total": 2}] * 2
    assert Path("here.csv").read_bytes() == Path("there.csv").read_bytes()
    assert "elision:inserted" in Path("here.csv").read_text()


# At the end, because workers die


def test_a_worker_dies_with_its_data_between_two_steps(client, sent):
    packed = Packer(STORY).pack(tellings(2000, seed=1))
    script = el.SEMHMM(score="approx").fit(tellings(30)).script_
    prior = pseudocounts(Prior(), len(STORY), packed)
    here = run_em(script.parameters, packed, prior, stop=Converged(0, 3))

    def stop(history, narratives):
        if len(history) == 2:
            kill_a_worker(client)
        return len(history) > 3

    with el.on(client):
        there = run_em(script.parameters, packed, prior, stop=stop)
    assert there.history == here.history
    assert there.parameters.transition.tobytes() == here.parameters.transition.tobytes()


def test_domains_are_learned_with_the_same_bytes_although_a_worker_dies(
    elision, client, cluster, after
):
    write("stories.jsonl", many(8))
    status, here, _ = elision(*LEARN, "here", "--json")
    assert status == 0
    seen = after(2, lambda: kill_a_worker(client))
    status, there, err = elision(*LEARN, "there", "--dask", cluster, "--json")
    assert (status, err) == (0, "")
    assert len(seen) == 8
    assert json.loads(there.replace("there/", "here/")) == json.loads(here)
    assert scripts("there") == scripts("here")
    assert files("there") == files("here")


def test_what_kills_workers_is_given_up_and_the_rest_is_done(client):
    with el.on(client) as used:
        found = dict(used.completed(scale_tasks.square, [2, 13, -1, 3]))
    assert (found[0], found[3]) == (4, 9)
    assert found[1].killed
    assert not found[2].killed
    assert str(found[2].error) == "-1 came"
