"""One input given to one target: a value or a refusal in one line, soon, and in little memory."""

from __future__ import annotations

import resource
import signal
import time
import warnings
from contextlib import contextmanager
from typing import NamedTuple

from elision.errors import ElisionError, ReadingWarning

SLOWEST = 5.0
"""Seconds of the processor that an input of some kilobytes may take."""

PATIENCE = 30.0
"""Seconds of the processor after which it is stopped."""

LONGEST_WAIT = 300.0
"""Seconds by the clock after which it is stopped, for it may be waiting: others may be at work."""

MOST_MEMORY = 512
"""Megabytes by which the most memory ever used may grow at one input."""

LONGEST_MESSAGE = 2000


class BrokenError(AssertionError):
    """An input that was neither taken nor refused as it should be."""


class _TooLateError(BaseException):
    """Nothing in between may catch it."""


class Outcome(NamedTuple):
    """What came of an input."""

    accepted: bool
    seconds: float
    megabytes: float


def tried(target, content):
    """Give bytes to a target; once more if it took too long, as kernels may have been compiled.

    Raises
    ------
    BrokenError
        If something other than an `ElisionError` of one line comes of it, a warning, or it takes
        too long or too much.
    """
    found = _tried(target, content)
    if found.seconds > SLOWEST:
        found = _tried(target, content)
    if found.seconds > SLOWEST:
        raise BrokenError(f"{found.seconds:.1f} seconds")
    if found.megabytes > MOST_MEMORY:
        raise BrokenError(f"{found.megabytes:.0f} MB more")
    return found


def _tried(target, content):
    before, begun = _peak(), time.process_time()
    accepted = True
    try:
        with warnings.catch_warnings(), _limited():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ReadingWarning)
            target.take(content)
    except ElisionError as error:
        accepted = False
        said = str(error)
        if len(said.splitlines()) != 1 or len(said) > LONGEST_MESSAGE:
            raise BrokenError(f"a message that is not one short line: {said[:300]!r}") from error
    except _TooLateError:
        raise BrokenError(f"more than {PATIENCE} or {LONGEST_WAIT} seconds") from None
    except BrokenError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise BrokenError(f"{type(error).__name__}: {str(error)[:300]}") from error
    return Outcome(accepted, time.process_time() - begun, _peak() - before)


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _limited():
    def stop(number, frame):
        raise _TooLateError

    limits = [
        (signal.SIGPROF, signal.ITIMER_PROF, PATIENCE),
        (signal.SIGALRM, signal.ITIMER_REAL, LONGEST_WAIT),
    ]
    usual = [signal.signal(heard, stop) for heard, _, _ in limits]
    for _, timer, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (heard, timer, _), handler in zip(limits, usual, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(heard, handler)
