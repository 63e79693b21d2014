"""What workers are asked to do in tests of clusters."""

from __future__ import annotations

import os
import signal


def square(number, added=0):
    if number < 0:
        raise ValueError(f"{number} came")
    if number == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2 + added


def total(values, added):
    return float(values.sum()) + added
