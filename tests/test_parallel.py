"""One function for many items: the same results wherever they are made, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import socket
import time

import pytest

import elision as el
import parallel_tasks
from elision import _parallel
from elision._parallel import WorkersError, parallel

ANYWHERE = [{}, {"jobs": 2}]


@pytest.fixture(scope="module")
def client():
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        )
        with cluster, distributed.Client(cluster, set_as_default=False) as found:
            yield found


@pytest.mark.parametrize("where", ANYWHERE)
def test_results_come_with_their_numbers(where):
    assert sorted(parallel(parallel_tasks.square, range(20), **where)) == [
        (k, k * k) for k in range(20)
    ]
    slow_first = [0.3, 0.0, 0.1]
    assert list(parallel(parallel_tasks.wait, slow_first, ordered=True, **where)) == [
        *enumerate(slow_first)
    ]
    assert list(parallel(parallel_tasks.square, [], **where)) == []


@pytest.mark.parametrize("where", ANYWHERE)
def test_an_error_ends_the_work(where):
    with pytest.raises(el.InputError, match="-1 came"):
        list(parallel(parallel_tasks.square, [1, -1, 2], **where))


def test_a_cluster(client):
    assert sorted(parallel(parallel_tasks.square, range(20), dask=client)) == [
        (k, k * k) for k in range(20)
    ]
    with pytest.raises(el.InputError, match="-1 came"):
        list(parallel(parallel_tasks.square, [1, -1], dask=client))


def test_a_worker_has_one_thread():
    assert [one for _, one in parallel(parallel_tasks.threads, range(2), jobs=2)] == [1, 1]


@pytest.mark.parametrize("cluster", [False, True], ids=["processes", "cluster"])
def test_a_worker_that_is_killed(cluster, tmp_path, request):
    where = {"dask": request.getfixturevalue("client")} if cluster else {"jobs": 2}
    items = [(k, tmp_path / "died" if k == 3 else None, 1) for k in range(8)]
    found = sorted(parallel(parallel_tasks.die, items, **where))
    assert found == [(k, k) for k in range(8)]
    assert (tmp_path / "died").read_text() == "x"


@pytest.mark.parametrize("cluster", [False, True], ids=["processes", "cluster"])
def test_workers_that_die_again_and_again(cluster, tmp_path, request, monkeypatch):
    monkeypatch.setattr(_parallel, "MOST_LOSSES", 1)
    where = {"dask": request.getfixturevalue("client")} if cluster else {"jobs": 2}
    with pytest.raises(WorkersError, match=r"died 2 times") as found:
        list(parallel(parallel_tasks.die, [(0, tmp_path / "died", 9)], **where))
    assert "\n" not in str(found.value)


def test_workers_end_with_their_parent(tmp_path):
    parent = os.fork()
    if not parent:
        for _, number in parallel(parallel_tasks.process, range(2), jobs=2):
            (tmp_path / str(number)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(parent, 0)
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert workers
    until = time.monotonic() + 60
    while any(map(parallel_tasks.is_running, workers)):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("local:0", "expected a number of processes such as 'local:2'"),
        ("local:many", "expected a number of processes such as 'local:2'"),
        ("nowhere", "expected 'tcp://10.0.0.1:8786', say, or 'local:4'"),
        (3, "no scheduler answers at 3"),
    ],
)
def test_what_is_no_cluster(where, said):
    pytest.importorskip("distributed")
    with pytest.raises(el.ElisionError, match=said):
        list(parallel(parallel_tasks.square, [1], dask=where))


def test_a_scheduler_that_does_not_answer(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(_parallel, "PATIENCE", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(WorkersError, match="no scheduler answers at"):
        list(parallel(parallel_tasks.square, [1], dask=address))


def test_without_distributed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(el.InputError, match=r"pip install 'elision\[cluster\]'"):
        list(parallel(parallel_tasks.square, [1], dask="local:2"))
