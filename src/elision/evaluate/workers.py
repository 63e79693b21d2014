"""Processes that measure: each on one thread, and none that outlives who started it."""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait

from threadpoolctl import threadpool_limits

import elision as el


def begin() -> None:
    """Make a worker of this process, before its first task."""
    el.set_threads(1)
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the parent has ended: a worker waits for tasks, also where none can come."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
