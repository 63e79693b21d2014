"""What threads and processes do at once in the tests; each function is run in a process of its own.

`python together.py NAME FOLDER` calls one; the folder holds `script.json`, a learned script.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import elision as el

TOLD = ["hear doorbell", "open door", "close door"]

QUESTIONS = {
    "between": lambda script: script.between(TOLD),
    "fill": lambda script: script.fill([TOLD[0], None, TOLD[2]]),
    "joint": lambda script: script.fill([None, *TOLD, None], joint=True),
    "missing": lambda script: script.missing(TOLD),
    "next": lambda script: script.next(TOLD[:2], steps=2),
    "order": lambda script: script.order(TOLD[::-1]).events,
    "align": lambda script: script.align(TOLD),
    "score": lambda script: script.score(TOLD, samples=20),
    "sample": lambda script: script.sample(5, random_state=0),
    "stories": lambda script: script.sample(5, random_state=0, complete=True),
    "follow": lambda script: script.follow().tell_all(TOLD),
    "outline": lambda script: script.outline(),
    "states": lambda script: script.with_telling(None).next(TOLD),
    "identify": lambda script: el.Library({"a": script}).identify(TOLD),
}
"""Each is first asked, and what answers it loaded, in several threads at once."""


def answer(folder, name):
    """What a question is answered, as text."""
    return repr(QUESTIONS[name](el.load(Path(folder) / "script.json")))


def learned(number=0):
    """The bytes of a script that is learned here, as a short text."""
    tellings = [list(one) for one in el.examples.doorbell_tellings()] * (3 + number % 2)
    learner = el.ScriptLearner().fit(tellings)
    state_model = el.fit_parameters(el.examples.doorbell(), tellings).script
    parts = [learner.script_.transition, learner.script_.elision, state_model.emission]
    parts += [learner.script_.telling.forward.after]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def threads(folder):
    """Ask everything in threads, in a process that has loaded nothing yet, while two learn."""
    names = list(QUESTIONS)
    ready = threading.Barrier(len(names))

    def first(name):
        ready.wait()
        return answer(folder, name)

    with ThreadPoolExecutor(len(names) + 2) as pool:
        begun = [pool.submit(first, name) for name in names]
        learning = [pool.submit(learned, number) for number in range(2)]
        at_once = [one.result() for one in begun]
        together = [one.result() for one in learning]
    again = [answer(folder, name) for name in names]
    for name, one, other in zip(names, at_once, again, strict=True):
        assert alike(one, other), f"{name}: {one} is not {other}"
    assert together == [learned(0), learned(1)]
    awaited(folder)


def alike(one, other):
    """Whether texts are the same but for last digits: numpy may have answered one."""
    return [rounded(word) for word in words(one)] == [rounded(word) for word in words(other)]


def words(text):
    return text.replace("(", " ").replace(")", " ").replace(",", " ").replace("=", " ").split()


def rounded(word):
    try:
        return f"{float(word):.5g}"
    except ValueError:
        return word


def awaited(folder):
    """Ask from coroutines, with `asyncio.to_thread`, and from joblib's threads."""
    from joblib import Parallel, delayed

    async def ask():
        return await asyncio.gather(
            *(asyncio.to_thread(answer, folder, name) for name in QUESTIONS)
        )

    script = learned(0)  # from now on all is compiled
    alone = [answer(folder, name) for name in QUESTIONS]
    assert asyncio.run(ask()) == alone
    calls = [delayed(answer)(folder, name) for name in QUESTIONS]
    assert Parallel(n_jobs=3, prefer="threads")(calls) == alone
    assert Parallel(n_jobs=2, prefer="threads")([delayed(learned)(0)] * 2) == [script] * 2


def use_pool():
    """Start the threads of the pool, and let compiled code run in them."""
    from elision import _threads

    el.set_threads(2)
    met = threading.Barrier(2)
    _threads.run(lambda _: met.wait(), range(2))
    script = el.examples.doorbell()
    _threads.run(lambda _: script.log_prob(TOLD), range(8))


def forked(folder):
    """Learn and ask in forked processes, after the pool was used, while a thread here learns."""
    use_pool()
    here = learned(0)
    asked = answer(folder, "score")
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(learned, 0)
        with multiprocessing.get_context("fork").Pool(2) as processes:
            found = processes.map(learned, [0, 0])
            answers = processes.map(functools.partial(answer, folder), ["score", "between"])
        assert beside.result() == here
    assert found == [here, here]
    assert answers == [asked, answer(folder, "between")]
    fork_beside_a_compiler()


def fork_beside_a_compiler():
    """Fork while another thread compiles: the child can compile all the same."""
    from numba.core.compiler_lock import global_compiler_lock

    from elision import _threads

    held, done = threading.Event(), threading.Event()

    def compile_for_long():
        with global_compiler_lock, _threads._lock:
            held.set()
            done.wait(0.3)

    beside = threading.Thread(target=compile_for_long)
    beside.start()
    held.wait()
    child = os.fork()
    if child == 0:
        with global_compiler_lock, _threads._lock:
            os._exit(7)
    beside.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def spawned(folder):
    """The same in processes that begin anew, by multiprocessing."""
    use_pool()
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        learning = processes.map_async(learned, [0, 1])
        here = [learned(0), learned(1)]
        assert learning.get() == here
        answers = processes.map(functools.partial(answer, folder), ["score", "between"])
    assert answers == [answer(folder, "score"), answer(folder, "between")]


def on_dask(folder):
    """Learn and ask in the threads of a Dask worker."""
    from distributed import Client, LocalCluster

    here = [learned(0), learned(1)]
    options = {"n_workers": 1, "threads_per_worker": 3, "processes": False}
    with (
        LocalCluster(**options, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        learning = client.map(learned, [0, 1], pure=False)
        asking = client.map(functools.partial(answer, folder), list(QUESTIONS), pure=False)
        found, answers = client.gather(learning), client.gather(asking)
    assert found == here
    assert answers == [answer(folder, name) for name in QUESTIONS]


def write(folder):
    """Write a script and a library again and again, as others do beside it."""
    root, who = Path(folder), os.getpid()
    script = el.load(root / "script.json").annotated(who=who)
    library = el.Library({"one": script, "other": el.examples.doorbell()})
    for _ in range(6):
        script.save(root / "out.json")
        library.save(root / "library")
        el.load(root / "out.json")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
