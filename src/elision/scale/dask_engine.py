"""The engine over ``dask.distributed``: parts go to workers, and come again if workers die."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, LocalCluster
from distributed.comm import get_address_host_port
from distributed.deploy import Cluster

from elision import __version__
from elision.errors import InputError
from elision.scale._dask_run import Run, Store, Thing, line, unless_lost
from elision.scale.engine import ClusterError, Failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PATIENCE = 30.0
"""Seconds in which a scheduler must answer."""

WORKERS_PATIENCE = 120.0
"""Seconds in which a first worker must come: a batch system may have to find room for it."""

QUIET = {
    "distributed.worker.profile.enabled": False,  # nobody would look at it
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
}
"""Of processes on this machine: what Dask does by the clock takes a tenth of a processor else."""

AHEAD = 3
"""Tasks that wait for each thread of the workers: the scheduler holds no more of the data."""


@contextmanager
def connected(where: Any) -> Iterator[DaskEngine]:
    """Make an engine of a client, a cluster, an address, or "local:N"; close what was opened."""
    if isinstance(where, Client):
        yield DaskEngine(where)
    elif isinstance(where, Cluster):
        with _client(where) as client:
            yield DaskEngine(client)
    elif isinstance(where, str) and where.startswith("local:"):
        with _started(_workers(where)) as cluster, _client(cluster) as client:
            yield DaskEngine(client)
    elif isinstance(where, str) and where.strip():
        with _client(where) as client:
            yield DaskEngine(client)
    else:
        raise InputError(
            f"a cluster came as {where!r}, expected a distributed.Client, an address or 'local:2'"
        )


def _workers(where: str) -> int:
    number = where.removeprefix("local:")
    if not number.isdecimal() or not 1 <= int(number) <= 1000:
        raise InputError(f"cluster {where!r}, expected a number of processes such as 'local:2'")
    return int(number)


@contextmanager
def _started(workers: int) -> Iterator[LocalCluster]:
    """Processes on this machine, without a dashboard; what they log is of no use to the user."""
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


@contextmanager
def _client(where: Any) -> Iterator[Client]:
    shown = where if isinstance(where, str) else where.scheduler_address
    if isinstance(where, str):
        try:
            get_address_host_port(where)  # a client that cannot even try would never end
        except ValueError:
            raise ClusterError(
                f"cluster {where!r}, expected 'tcp://10.0.0.1:8786', say, or 'local:4'"
            ) from None
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # that the scheduler is lost is said in one line, by us
    try:
        client = Client(where, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        log.setLevel(level)
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ClusterError(f"no scheduler answers at {shown}: {reason[:200]}") from None
    try:
        yield client
    finally:
        client.close(timeout=5)
        log.setLevel(level)


class DaskEngine:
    """Calls functions on the workers of a client."""

    remote = True

    def __init__(self, client: Client) -> None:
        self._client = client
        self._store = Store(client)
        self._address = str(client.scheduler_info(n_workers=0).get("address", "?"))
        self._check_workers()

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *,
        shared: Any = None,
        heard: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Call the function with each item, wherever a worker is free."""
        with self.hold(items) as held:
            return held.map(function, shared=shared, heard=heard)

    def workers(self) -> int:
        """Threads of all workers that are there."""
        with unless_lost(self._client, self._address):
            return sum(self._client.nthreads().values())

    @contextmanager
    def hold(self, items: Iterable[Any]) -> Iterator[_HeldThere]:
        """Bring the items to workers, where they stay until the end of the block."""
        things = [Thing(item) for item in items]
        with unless_lost(self._client, self._address):
            self._store.bring(things)
        try:
            yield _HeldThere(self, things)
        finally:
            self._store.let_go(things)

    def completed(
        self, function: Callable[..., Any], items: Iterable[Any], *, shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """Call the function with each item; only so many tasks wait at a time."""
        things = (Thing(item) for item in items)
        return self.results(function, things, shared, ahead=AHEAD * max(1, self.workers()))

    def results(
        self,
        function: Callable[..., Any],
        things: Iterable[Thing],
        shared: Any,
        *,
        ahead: int | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Results as they come, with at most ``ahead`` tasks waiting."""
        run = Run(self._client, self._store, self._address, function, Thing(shared))
        return run.results(things, ahead)

    def _check_workers(self) -> None:
        """Wait for the first worker; all must have the same Elision."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_PATIENCE)
        except TimeoutError:
            raise ClusterError(
                f"no worker came to the scheduler at {self._address} in {WORKERS_PATIENCE:.0f} s"
            ) from None
        for worker, version in self._client.run(_version, on_error="return").items():
            if isinstance(version, BaseException):
                raise ClusterError(f"worker {worker} has no Elision: {line(version)}")
            if version != __version__:
                raise ClusterError(f"worker {worker} has Elision {version}, here is {__version__}")


class _HeldThere:
    """Items on workers."""

    def __init__(self, engine: DaskEngine, things: list[Thing]) -> None:
        self._engine, self._things = engine, things

    def map(
        self,
        function: Callable[..., Any],
        *,
        shared: Any = None,
        heard: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Call the function with each item where it lies."""
        found: list[Any] = [None] * len(self._things)
        for number, outcome in self._engine.results(function, self._things, shared):
            result = outcome
            if isinstance(result, Failed):
                if result.killed:
                    raise ClusterError(
                        "workers died again and again at the same part of the data"
                        " (give them more memory, or look into their logs)"
                    ) from None
                raise result.error
            found[number] = result
            if heard is not None:
                heard()
        return found


def _version() -> str:
    return __version__
