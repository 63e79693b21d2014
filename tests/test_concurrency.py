"""Threads and processes at once: the same answers, no deadlock, whole files; in limited time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import elision as el
from elision import _files, _threads

TESTS = Path(__file__).parent
SECONDS = 120
"""Each of these takes a few; on a busy machine more, but never for ever."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("together")
    tellings = el.examples.doorbell_tellings()
    el.ScriptLearner().fit(tellings).script_.save(found / "script.json")
    return found


def begin(task, folder):
    """Start a process for a task; its threads are ours to number."""
    environment = {key: value for key, value in os.environ.items() if key != "ELISION_THREADS"}
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", str(TESTS / "together.py"), task, str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ended(process):
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
        said, _ = process.communicate()
        pytest.fail(f"it never ended: {said[-2000:]}")
    assert process.returncode == 0, said[-2000:]


@pytest.mark.parametrize("task", ["threads", "spawned"])
def test_the_same_is_answered_and_learned(task, folder):
    ended(begin(task, folder))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_processes_go_on(folder):
    ended(begin("forked", folder))


def test_in_the_threads_of_a_dask_worker(folder):
    pytest.importorskip("distributed")
    ended(begin("on_dask", folder))


def test_what_several_write_at_once_is_that_of_one_of_them(folder):
    writers = [begin("write", folder) for _ in range(2)]
    for one in writers:
        ended(one)
    who = {str(one.pid) for one in writers}
    script = el.load(folder / "out.json")
    assert str(script.about["who"]) in who
    saved = el.Library.load(folder / "library")
    assert set(saved) == {"one", "other"}
    assert str(saved["one"].about["who"]) in who
    assert len(list((folder / "library").iterdir())) == 2
    assert not list(folder.rglob(".elision-*"))


def test_blas_has_one_thread_until_the_last_of_us_leaves():
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def numbers():
        return {
            one["num_threads"]
            for one in threadpoolctl.threadpool_info()
            if one["user_api"] == "blas"
        }

    came, left, over = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def first():
        with _threads.one_blas_thread():
            came.set()
            over.wait(10)
        left.set()

    def second():
        came.wait(10)
        with _threads.one_blas_thread():
            over.set()
            left.wait(10)
            seen.append(numbers())

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        pair = [threading.Thread(target=task) for task in (first, second)]
        for one in pair:
            one.start()
        for one in pair:
            one.join(20)
        assert seen == [{1}]
        assert numbers() == {2}


def test_the_number_of_threads_can_change_while_others_work():
    done = []

    def work():
        for _ in range(50):
            _threads.run(done.append, range(4))

    try:
        el.set_threads(2)
        workers = [threading.Thread(target=work) for _ in range(3)]
        for one in workers:
            one.start()
        for number in range(50):
            el.set_threads(2 + number % 3)
        for one in workers:
            one.join(20)
    finally:
        el.set_threads(None)
    assert sorted(done) == sorted([0, 1, 2, 3] * 150)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_does_not_discard_what_its_parent_writes(tmp_path):
    with _files.temporary_in(tmp_path) as path:
        path.write_bytes(b"half")
        child = os.fork()
        if child == 0:
            _files.discard_unfinished()
            os._exit(0)
        os.waitpid(child, 0)
        assert path.read_bytes() == b"half"
