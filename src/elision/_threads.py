"""One shared pool of threads for kernels that release the interpreter lock."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from elision.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_lock = threading.RLock()
_pool: ThreadPoolExecutor | None = None
_blas_limit: Any = None
_blas_users = 0
_threads: int | None = None
_inside = threading.local()


def get_threads() -> int:
    """Return the number of threads that the kernels use.

    `set_threads`, else the environment's ``ELISION_THREADS``, else the processors at hand.
    """
    if _threads is not None:
        return _threads
    wanted = os.environ.get("ELISION_THREADS")
    if wanted is not None:
        return _checked(wanted, "ELISION_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(threads: int | None) -> None:
    """Set the number of threads (None: as many as there are processors).

    Results do not depend on it, to the last bit.

    Examples
    --------
    >>> import elision as el
    >>> el.set_threads(1)
    >>> el.get_threads()
    1
    >>> el.set_threads(None)
    """
    global _threads  # noqa: PLW0603
    _threads = None if threads is None else _checked(threads, "threads")
    _forget_pool()


def _checked(threads: int | str, name: str) -> int:
    try:
        number = int(threads)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise InputError(f"{name} is {shown(threads)}, expected a whole number from 1")
    return number


def _enter_pool() -> None:
    _inside.pool = _inside.batch = True


def _forget_pool() -> None:
    global _pool  # noqa: PLW0603
    _pool = None


def _locks() -> list[Any]:
    """Locks that a fork must not leave closed in the child: ours, and that of numba's compiler."""
    compiler = sys.modules.get("numba.core.compiler_lock")
    return [_lock, *([] if compiler is None else [compiler.global_compiler_lock])]


def _before_fork() -> None:
    _inside.forking = _locks()
    for lock in _inside.forking:
        lock.acquire()


def _after_fork() -> None:
    for lock in reversed(_inside.__dict__.pop("forking", [])):
        lock.release()


def _after_fork_in_child() -> None:
    _forget_pool()  # its threads stay behind in the parent
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
    )


def inside_pool() -> bool:
    """Whether this is a thread of the pool."""
    return bool(getattr(_inside, "pool", False))


def in_batch() -> bool:
    """Whether this is one of many pieces of work, so that loading compiled code pays."""
    return bool(getattr(_inside, "batch", False))


@contextmanager
def batch() -> Iterator[None]:
    """Say that many pieces of work come, one after the other."""
    before = in_batch()
    _inside.batch = True
    try:
        yield
    finally:
        _inside.batch = before


def check_stopped() -> None:
    """Give up here, in a task that takes long, if nobody waits for it any more."""
    stopped = getattr(_inside, "stopped", None)
    if stopped is not None and stopped.is_set():
        raise CancelledError


@contextmanager
def alone() -> Iterator[None]:
    """Run everything inside in this thread: other processes have the other processors."""
    before = inside_pool()
    _inside.pool = True
    try:
        yield
    finally:
        _inside.pool = before


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS work in one thread: the last bits of its products depend on their number.

    That holds for the whole process: the first of our threads to come sets it, the last to leave
    takes it back.
    """
    import threadpoolctl  # noqa: PLC0415 - learning alone needs it

    # Since its version 3.8 only the thread that came first can change the number.
    openblas = threadpoolctl.OpenBLASController
    take_over = getattr(openblas, "clear_controlling_thread", lambda **_: None)
    global _blas_limit, _blas_users  # noqa: PLW0603
    with _lock:
        if _blas_users == 0:
            take_over(force=True)
            _blas_limit = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _lock:
            _blas_users -= 1
            if _blas_users == 0:
                take_over(force=True)
                _blas_limit.restore_original_limits()
                take_over(force=True)


def run(task: Callable[[int], object], numbers: Iterable[int]) -> None:
    """Call ``task`` with each number, in as many threads as allowed.

    A task that runs others in its turn does so by itself: its thread would wait for its own pool.
    """
    global _pool  # noqa: PLW0603
    numbers = list(numbers)
    threads = get_threads()
    if len(numbers) == 1:
        task(numbers[0])
        return
    if threads == 1 or inside_pool():
        with batch():
            for number in numbers:
                task(number)
        return
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                threads, thread_name_prefix="elision", initializer=_enter_pool
            )
        pool = _pool
    stopped = threading.Event()

    def begin(number: int) -> None:
        _inside.stopped = stopped
        task(number)

    futures = [pool.submit(copy_context().run, begin, number) for number in numbers]
    try:
        for future in futures:
            future.result()
    finally:  # when one fails, or Ctrl-C comes: what has not begun never does, the rest ends soon
        stopped.set()
        for future in futures:
            future.cancel()
        wait(futures)
