"""Where the parts of a piece of work are done: in this process, or on a Dask cluster.

What the parts are is decided by the data alone, and their results are put together in their order.
So whatever engine does the work, with however many workers, the result is the same to the last bit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from elision import _threads
from elision.errors import ElisionError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class ClusterError(ElisionError):
    """A cluster that cannot be used, or was lost on the way."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What stands in the place of a result that could not be had."""

    error: Exception
    killed: bool = False
    """Whether workers died again and again while they were at it."""


class Held(Protocol):
    """Items that stay where they are worked on, from one `map` to the next."""

    def map(self, function: Callable[..., Any], *, shared: Any = None) -> list[Any]:
        """Call ``function`` with each item, and with ``shared`` if it is given."""
        ...


class Engine(Protocol):
    """Calls functions with items. Both can be pickled; a function stands in a module."""

    remote: bool
    """Whether items travel to other processes."""

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *,
        shared: Any = None,
        heard: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Call ``function(item)``, or ``function(item, shared)``: results in the items' order.

        ``heard`` is called as each of them gets done, in any thread.
        """
        ...

    def workers(self) -> int:
        """How many threads there are that items may travel to."""
        ...

    def hold(self, items: Iterable[Any]) -> AbstractContextManager[Held]:
        """Bring items to where they are worked on, once for several maps."""
        ...

    def completed(
        self, function: Callable[..., Any], items: Iterable[Any], *, shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """The number of each item with its result as they get done, or with `Failed`."""
        ...


class Local:
    """Does everything in this process, in as many threads as allowed."""

    remote = False

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[Any],
        *,
        shared: Any = None,
        heard: Callable[[], object] | None = None,
    ) -> list[Any]:
        """Call the function with each item, in threads."""
        given = list(items)
        found: list[Any] = [None] * len(given)

        def call(number: int) -> None:
            found[number] = called(function, given[number], shared)
            if heard is not None:
                heard()

        _threads.run(call, range(len(given)))
        return found

    def workers(self) -> int:
        """None: nothing travels."""
        return 0

    def hold(self, items: Iterable[Any]) -> AbstractContextManager[Held]:
        """Keep the items as they are."""
        return nullcontext(HeldHere(list(items)))

    def completed(
        self, function: Callable[..., Any], items: Iterable[Any], *, shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """Call the function with one item after the other; each may use all threads."""
        for number, item in enumerate(items):
            try:
                found = called(function, item, shared)
            except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
                found = Failed(error)
            yield number, found


class HeldHere:
    """Items in this process."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def map(self, function: Callable[..., Any], *, shared: Any = None) -> list[Any]:
        """Call the function with each item, in threads."""
        return LOCAL.map(function, self._items, shared=shared)


def called(function: Callable[..., Any], item: Any, shared: Any) -> Any:
    """Call a function with an item, and with what all items share if there is such."""
    return function(item) if shared is None else function(item, shared)


JOURNEY = 0.05
"""Seconds that a pass takes longer because its parts are sent out and their sums come back, by
``benchmarks/scale_cluster.py``, within one machine."""

LOCAL = Local()
_current: ContextVar[Engine] = ContextVar("engine", default=LOCAL)


def current() -> Engine:
    """Return the engine of the innermost ``with on(...)``, else the one of this process."""
    return _current.get()


def pays(seconds: float, *, most_threads: int | None = None) -> bool:
    """Whether a pass that takes one thread so long is sooner done on workers, journey included.

    Here it is done in as many threads as allowed, of which it can use ``most_threads``. The result
    is the same, wherever it is done.
    """
    engine = current()
    if not engine.remote or seconds <= JOURNEY:
        return False
    here = min(_threads.get_threads(), most_threads or _threads.get_threads())
    return seconds / here > seconds / max(1, engine.workers()) + JOURNEY


@contextmanager
def on(where: Any) -> Iterator[Engine]:
    """Do what is learned inside on a Dask cluster.

    The result is the same, byte for byte, as without. Needs ``pip install elision[cluster]``.

    Parameters
    ----------
    where
        A ``distributed.Client`` or a cluster, the address of a scheduler such as
        ``"tcp://10.0.0.1:8786"``, or ``"local:4"`` for four processes on this machine.

    Examples
    --------
    >>> import elision as el
    >>> from distributed import Client  # doctest: +SKIP
    >>> with el.on(Client("tcp://10.0.0.1:8786")):  # doctest: +SKIP
    ...     learner = el.SEMHMM(score="marginal").fit(el.read("stories.jsonl"))
    """
    try:
        from elision.scale import dask_engine  # noqa: PLC0415 - only who has a cluster needs it
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("dask", "distributed"):
            raise
        raise InputError(
            "a cluster needs the package distributed", hint="pip install 'elision[cluster]'"
        ) from None
    with dask_engine.connected(where) as engine:
        before = _current.set(engine)
        try:
            yield engine
        finally:
            _current.reset(before)
