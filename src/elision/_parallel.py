"""One function for many items: in this process, in processes beside it, or on a Dask cluster.

Processes are joblib's. A cluster is used by ``distributed`` itself: joblib's backend for it waits
for ever for the result of a task whose workers died.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from elision import _threads
from elision.errors import ElisionError, InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MOST_LOSSES = 3
"""Workers may die so often before one gives up: what was not done then begins again."""

AHEAD = 3
"""Items that wait for each worker of a cluster: a scheduler does not hold all of the data."""

PATIENCE = 30.0
"""Seconds in which a scheduler must answer, and a first worker must be there."""


class WorkersError(ElisionError):
    """Processes or a cluster that cannot be used, or were lost on the way."""


def parallel(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    jobs: int = 1,
    dask: Any = None,
    ordered: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Call a function with each item; give number and result of each, as they get done.

    Each call has one thread for itself, but for those in this process, which come one after the
    other. An error in a call ends the work. If a worker dies, what is not done begins again.

    Parameters
    ----------
    function, items
        They can be pickled. Items are taken from an iterator as workers get free.
    jobs
        Processes; 1 is this one.
    dask
        Instead of processes here a Dask cluster: the address of its scheduler, ``"local:4"`` for
        four processes on this machine, or a ``distributed.Client``.
    ordered
        Give results in the order of the items, also if others are done before.

    Raises
    ------
    WorkersError
        If there is no such cluster, or workers died again and again.

    Examples
    --------
    >>> list(parallel(abs, [-3, 4]))
    [(0, 3), (1, 4)]
    """
    if dask is not None:
        found = _on_cluster(function, items, dask)
    elif jobs == 1:
        found = ((number, function(item)) for number, item in enumerate(items))
    else:
        found = _in_processes(function, items, jobs)
    return _in_order(found) if ordered else found


def _in_order(found: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    waiting: dict[int, Any] = {}
    number = 0
    for one, result in found:
        waiting[one] = result
        while number in waiting:
            yield number, waiting.pop(number)
            number += 1


def alone(function: Callable[[Any], Any], item: Any) -> Any:
    """On a worker: call a function in this thread alone."""
    with _threads.alone(), _threads.one_blas_thread():
        return function(item)


# Processes


def _in_processes(
    function: Callable[[Any], Any], items: Iterable[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed, parallel_config  # noqa: PLC0415 - slow to import
    from joblib.externals.loky.process_executor import TerminatedWorkerError  # noqa: PLC0415

    open_items: dict[int, Any] = {}
    coming = enumerate(items)
    for losses in range(MOST_LOSSES + 1):
        tasks = (
            delayed(_numbered)(function, number, item)
            for number, item in _noted(open_items, coming)
        )
        try:
            with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
                for number, result in Parallel(return_as="generator_unordered")(tasks):
                    del open_items[number]
                    yield number, result
        except TerminatedWorkerError:
            if losses == MOST_LOSSES:
                raise WorkersError(
                    f"worker processes died {MOST_LOSSES + 1} times"
                    " (they may need more memory: use fewer --jobs)"
                ) from None
        else:
            return


def _noted(
    open_items: dict[int, Any], coming: Iterator[tuple[int, Any]]
) -> Iterator[tuple[int, Any]]:
    """What is not done yet: items that were lost, then new ones, which are noted."""
    yield from list(open_items.items())
    for number, item in coming:
        open_items[number] = item
        yield number, item


_watching = threading.Lock()


def _numbered(function: Callable[[Any], Any], number: int, item: Any) -> tuple[int, Any]:
    if _watching.acquire(blocking=False):  # once in each process
        threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    return number, alone(function, item)


def _end_with_parent(parent: int) -> None:
    """End when the process that gave the tasks has ended, also if it was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


# A cluster


def _on_cluster(
    function: Callable[[Any], Any], items: Iterable[Any], where: Any
) -> Iterator[tuple[int, Any]]:
    try:
        from distributed import as_completed  # noqa: PLC0415 - not everybody has it
    except ModuleNotFoundError:
        raise InputError(
            "a cluster needs the package distributed", hint="pip install 'elision[cluster]'"
        ) from None
    with _connected(where) as client:
        waiting = deque[tuple[int, Any]]()
        coming = enumerate(items)
        at_work: dict[Any, tuple[int, Any]] = {}
        losses: dict[int, int] = {}
        queue = as_completed([], loop=client.loop)
        ahead = AHEAD * max(1, sum(client.nthreads().values()))

        def fill() -> None:
            while len(at_work) < ahead:
                one = waiting.popleft() if waiting else next(coming, None)
                if one is None:
                    return
                future = client.submit(alone, function, one[1], pure=False)
                at_work[future] = one
                queue.add(future)

        try:
            fill()
            while at_work:
                for future in _ready(queue, client):
                    number, item = at_work.pop(future)
                    if future.status == "finished" or not _is_lost(future):
                        yield number, future.result()
                        continue
                    losses[number] = losses.get(number, 0) + 1
                    if losses[number] > MOST_LOSSES:
                        raise WorkersError(
                            f"workers of the cluster died {losses[number]} times at the same task"
                            " (give them more memory, or look into their logs)"
                        )
                    waiting.append((number, item))
                fill()
        finally:
            if client.status == "running":
                client.cancel(list(at_work))


def _ready(queue: Any, client: Any) -> list[Any]:
    """Wait for tasks that are done, as long as there is a scheduler."""
    while not queue.has_ready():
        if client.status != "running":
            raise WorkersError(f"the scheduler at {client.scheduler.address} was lost")
        with queue.thread_condition:
            queue.thread_condition.wait(timeout=0.1)
    return list(queue.next_batch(block=False))


def _is_lost(future: Any) -> bool:
    """Whether a task has no result because workers died, and not by an error of its own."""
    from distributed import KilledWorker  # noqa: PLC0415

    return future.status in ("cancelled", "lost") or isinstance(future.exception(), KilledWorker)


@contextmanager
def _connected(where: Any) -> Iterator[Any]:
    """A client, by an address or of processes on this machine; what was opened is closed."""
    import dask  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    if isinstance(where, Client):
        _check_workers(where)
        yield where
    elif isinstance(where, str) and where.startswith("local:"):
        number = where.removeprefix("local:")
        if not number.isdecimal() or not 1 <= int(number) <= 1000:
            problem = f"cluster {shown(where)}, expected a number of processes such as 'local:2'"
            raise InputError(problem)
        # What they log is of no use to the user.
        with (
            dask.config.set({"distributed.worker.profile.enabled": False}),
            LocalCluster(
                n_workers=int(number),
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            _client(cluster) as client,
        ):
            yield client
    else:
        with _client(where) as client:
            yield client


@contextmanager
def _client(where: Any) -> Iterator[Any]:
    from distributed import Client  # noqa: PLC0415
    from distributed.comm import get_address_host_port  # noqa: PLC0415

    if isinstance(where, str):
        try:
            get_address_host_port(where)  # a client that cannot even try would never end
        except ValueError:
            problem = f"cluster {shown(where)}, expected 'tcp://10.0.0.1:8786', say, or 'local:4'"
            raise InputError(problem) from None
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # that the scheduler is lost is said in one line, by us
    try:
        try:
            client = Client(where, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise WorkersError(f"no scheduler answers at {shown(where)}: {reason[:200]}") from None
        try:
            _check_workers(client)
            yield client
        finally:
            client.close(timeout=5)
    finally:
        log.setLevel(level)


def _check_workers(client: Any) -> None:
    """Wait for the first worker; all must have the same Elision."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise WorkersError(f"no worker came to the scheduler in {PATIENCE:.0f} s") from None
    here = _version()
    for worker, version in client.run(_version, on_error="return").items():
        if version != here:
            there = "none" if isinstance(version, BaseException) else version
            raise WorkersError(f"worker {worker} has Elision {there}, here is {here}")


def _version() -> str:
    from elision import __version__  # noqa: PLC0415

    return __version__
