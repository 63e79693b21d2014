"""Where work is done that can be cut into items: here, in the threads of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from elision import _threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Engine(Protocol):
    """Calls a function with each of some items."""

    def map(
        self, function: Callable[..., Any], items: Sequence[Any], *, shared: Any = None
    ) -> list[Any]:
        """Return ``function(item)``, or ``function(item, shared)``, in the order of the items."""


class Local:
    """The threads of this process."""

    def map(
        self, function: Callable[..., Any], items: Sequence[Any], *, shared: Any = None
    ) -> list[Any]:
        """Return ``function(item)``, or ``function(item, shared)``, in the order of the items."""
        more = () if shared is None else (shared,)
        found: list[Any] = [None] * len(items)

        def work(number: int) -> None:
            found[number] = function(items[number], *more)

        _threads.run(work, range(len(items)))
        return found


def current() -> Engine:
    """Return the engine that works now."""
    return Local()
