"""The few exceptions a user can meet, each with a message of one line.

It says what came, what was expected, where, and what to do.
"""

from __future__ import annotations

import reprlib

__all__ = [
    "ElisionError",
    "FileFormatError",
    "InputError",
    "ReadingWarning",
    "ScriptError",
    "UnknownEventError",
]

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 48
_short.maxlist = _short.maxtuple = _short.maxdict = 3


class ElisionError(Exception):
    """Base of every error that Elision raises on purpose."""


class InputError(ElisionError, ValueError):
    """Narratives or options that cannot be used as they are.

    Parameters
    ----------
    problem
        What came and what was expected.
    where
        File, line, field, narrative or position, as closely as it is known.
    hint
        The next step.
    """

    def __init__(self, problem: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.problem = problem
        self.where = where
        self.hint = hint
        text = f"{where}: {problem}" if where else problem
        super().__init__(f"{text} ({hint})" if hint else text)


class UnknownEventError(InputError):
    """An event that the script does not know."""


class ScriptError(InputError):
    """Arrays or names that do not make a script."""


class FileFormatError(InputError):
    """A file that is not a script file, or a damaged one."""


class ReadingWarning(UserWarning):
    """What was read can be taken in another way; says how."""


def shown(value: object) -> str:
    """Return a value as an error message shows it: short, and null for None."""
    try:
        text = _short.repr(value)
    except ValueError:  # a number of thousands of digits, which Python does not write
        text = f"<{type(value).__name__} that is too long to show>"
    return "null" if value is None else " ".join(text.split("\n"))


def counted(count: int, noun: str, form: str = "") -> str:
    """Return how many there are of something, the number in a form such as ",".

    Examples
    --------
    >>> counted(1, "event"), counted(2000, "event"), counted(2000, "event", ",")
    ('1 event', '2000 events', '2,000 events')
    """
    return f"{count:{form}} {noun}" if count == 1 else f"{count:{form}} {noun}s"


def numbered(error: InputError, number: int) -> InputError:
    """Return a complaint about the only narrative as one about a certain one of many.

    Examples
    --------
    >>> str(numbered(InputError("unknown event", where="narrative 0, event 7"), 13))
    'narrative 13, event 7: unknown event'
    """
    place = (error.where or "").removeprefix("narrative 0").removeprefix(", ")
    where = ", ".join(filter(None, [f"narrative {number}", place]))
    return type(error)(error.problem, where=where, hint=error.hint)


def relocated(error: InputError, where: str) -> InputError:
    """Return the same complaint about another place, for callers that know it more closely."""
    return InputError(error.problem, where=where, hint=error.hint)
