"""Tasks on a Dask cluster: what they need is brought to workers, and what is lost is done again."""

from __future__ import annotations

import hashlib
import pickle
import threading
import time
from collections import Counter, OrderedDict
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distributed import KilledWorker, as_completed
from distributed.comm import CommClosedError

from elision import _threads
from elision.scale.engine import ClusterError, Failed, called

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Client, Future

LARGE = 100_000
"""Bytes from which on something is brought to a worker by itself, and not within a task."""

KEPT_BYTES = 256_000_000
"""Of what nobody needs at the moment, so much stays on the workers: it may be needed again."""

MOST_LOSSES = 10
"""So often the data of a task may be lost with its worker before one gives up."""


class Thing:
    """Something that tasks need: a part of them if it is small, else kept on a worker."""

    def __init__(self, value: Any) -> None:
        content = pickle.dumps(value, protocol=5)
        self.value = value
        self.bytes = len(content)
        self.digest = hashlib.blake2b(content, digest_size=16).hexdigest()


class Store:
    """What lies on workers, by its content; what nobody needs now stays for a while."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.RLock()
        self._there: OrderedDict[str, tuple[Future, int]] = OrderedDict()
        self._users: Counter[str] = Counter()

    def bring(self, things: Iterable[Thing]) -> None:
        """Bring what is large to workers, all at once, and keep it there until it is let go."""
        with self._lock:
            large = {one.digest: one for one in things if one.bytes >= LARGE}
            self._users.update(large.keys())
            self._scatter([one for digest, one in large.items() if digest not in self._there])

    def sent(self, thing: Thing) -> Any:
        """What a task gets: the thing itself, or where it lies."""
        if thing.bytes < LARGE:
            return thing.value
        with self._lock:
            if thing.digest not in self._there:
                self._scatter([thing])
            return self._there[thing.digest][0]

    def lost(self, thing: Thing) -> None:
        """Do not look for it where it was."""
        with self._lock:
            self._there.pop(thing.digest, None)

    def let_go(self, things: Iterable[Thing]) -> None:
        """Nobody needs these now: the oldest are forgotten if there is too much."""
        with self._lock:
            self._users.subtract({one.digest for one in things if one.bytes >= LARGE})
            idle = [digest for digest in self._there if self._users[digest] <= 0]
            total = sum(self._there[digest][1] for digest in idle)
            for digest in idle:
                if total <= KEPT_BYTES:
                    break
                total -= self._there.pop(digest)[1]

    def _scatter(self, things: list[Thing]) -> None:
        if not things:
            return
        # Never under a name that was used before: Dask may be about to forget that one.
        futures = self._client.scatter([one.value for one in things], hash=False)
        for one, future in zip(things, futures, strict=True):
            self._there[one.digest] = (future, one.bytes)


class Run:
    """One function, called with many things on workers."""

    def __init__(
        self,
        client: Client,
        store: Store,
        address: str,
        function: Callable[..., Any],
        shared: Thing,
    ) -> None:
        self._client, self._store, self._address = client, store, address
        self._function, self._shared = function, shared
        self._at_work: dict[Future, tuple[int, Thing]] = {}
        self._losses: Counter[int] = Counter()
        self._suspects: list[tuple[int, Thing]] = []
        self._alone: set[int] = set()
        self._queue = as_completed([], loop=client.loop)

    def results(self, things: Iterable[Thing], ahead: int | None) -> Iterator[tuple[int, Any]]:
        """Number and result of each thing as it gets done, or `Failed`.

        With ``ahead`` only so many tasks wait, and things are brought to workers when it is their
        turn; else they lie there.
        """
        coming = enumerate(things)
        try:
            with unless_lost(self._client, self._address):
                self._store.bring([self._shared])
                self._fill(coming, ahead)
            while self._at_work or self._suspects:
                with unless_lost(self._client, self._address):
                    if not self._at_work:
                        self._submit(*self._suspects.pop(), alone=True)
                    done = self._done()
                    if ahead is not None:
                        self._store.let_go([thing for _, thing, _ in done])
                    self._fill(coming, ahead)
                for number, _, outcome in done:
                    yield number, outcome
        finally:
            if self._client.status == "running":
                self._client.cancel(list(self._at_work))
            self._store.let_go([self._shared])

    def _fill(self, coming: Iterator[tuple[int, Thing]], ahead: int | None) -> None:
        while ahead is None or len(self._at_work) < ahead:
            number, thing = next(coming, (-1, None))
            if thing is None:
                return
            if ahead is not None:
                self._store.bring([thing])
            self._submit(number, thing)

    def _submit(self, number: int, thing: Thing, *, alone: bool = False) -> None:
        if alone:
            self._alone.add(number)
        future = self._client.submit(
            done_there,
            self._function,
            self._store.sent(thing),
            self._store.sent(self._shared),
            pure=False,
            key=f"elision-{self._function.__name__}-{number}-{time.monotonic_ns()}",
        )
        self._at_work[future] = (number, thing)
        self._queue.add(future)

    def _done(self) -> list[tuple[int, Thing, Any]]:
        """Wait for the next results, and give all that are there; what was lost begins again."""
        while not self._queue.has_ready():
            if self._client.status != "running":  # what is sent now would wait for ever
                raise CancelledError
            with self._queue.thread_condition:
                self._queue.thread_condition.wait(timeout=0.1)
        ready = list(self._queue.next_batch(block=False))
        finished = [future for future in ready if future.status == "finished"]
        try:
            values = dict(zip(finished, self._client.gather(finished), strict=True))
        except CancelledError:  # a worker died just now: each by itself
            values = {}
        done = []
        for future in ready:
            number, thing = self._at_work.pop(future)
            try:
                outcome = values[future] if future in values else future.result()
            except CancelledError as error:
                if error_of_scheduler(error):
                    raise
                self._again(number, thing)
                continue
            except KilledWorker as error:
                # Whatever waited on the worker is blamed, too: each is tried once more, alone.
                if number not in self._alone:
                    self._suspects.append((number, thing))
                    continue
                outcome = Failed(error, killed=True)
            done.append((number, thing, outcome))
        return done

    def _again(self, number: int, thing: Thing) -> None:
        self._store.lost(thing)
        self._store.lost(self._shared)
        self._losses[number] += 1
        if self._losses[number] > MOST_LOSSES:
            raise ClusterError(
                f"workers were lost {MOST_LOSSES} times with the same part of the data"
            )
        time.sleep(0.05 * self._losses[number])  # the scheduler may not know it yet
        self._submit(number, thing)


@contextmanager
def unless_lost(client: Client, address: str) -> Iterator[None]:
    """Say in one line that the scheduler is gone, if it is."""
    try:
        yield
    except CancelledError as error:
        if error_of_scheduler(error) or client.status != "running":
            raise _lost(address) from None
        raise
    except CommClosedError:  # it may not be known yet to the client
        raise _lost(address) from None
    except (OSError, RuntimeError):
        if client.status != "running":
            raise _lost(address) from None
        raise


def error_of_scheduler(error: CancelledError) -> bool:
    """Whether a task was cancelled because there is no scheduler."""
    return getattr(error, "reason", "") == "scheduler-connection-lost"


def _lost(address: str) -> ClusterError:
    return ClusterError(f"the scheduler at {address} was lost")


def done_there(function: Callable[..., Any], item: Any, shared: Any) -> Any:
    """On a worker: call a function, in this thread alone; an error comes back as a value."""
    with _threads.alone():
        try:
            return called(function, item, shared)
        except Exception as error:  # noqa: BLE001 - Dask would take it for its own
            return Failed(_portable(error))


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same and can be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - whatever its author did
        return RuntimeError(line(error))
    return error


def line(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
