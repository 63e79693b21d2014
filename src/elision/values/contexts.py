"""What stands around a gap, in numbers of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


class Context(NamedTuple):
    """The events told before and after a gap, nearest last and nearest first.

    ``hidden_before`` and ``hidden_after`` count the other gaps between it and the nearest of them.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    hidden_before: int = 0
    hidden_after: int = 0


def contexts_of(narrative: Sequence[str | None], number: Mapping[str, int]) -> list[Context]:
    """Context of each gap (None) of a narrative; events without a number are left out.

    Examples
    --------
    >>> contexts_of(["a", None, None, "b"], {"a": 0, "b": 1})
    [Context(before=(0,), after=(1,), hidden_before=0, hidden_after=1), \
Context(before=(0,), after=(1,), hidden_before=1, hidden_after=0)]
    """
    kept = [item for item in narrative if item is None or item in number]
    return [context_at(kept, place, number) for place, item in enumerate(kept) if item is None]


def context_at(narrative: Sequence[str | None], place: int, number: Mapping[str, int]) -> Context:
    """Context of one place of a narrative all of whose events have numbers."""
    kept = [-1 if item is None else number[item] for item in narrative]
    return _context(kept, place)


def _context(kept: list[int], place: int) -> Context:
    before, after = kept[:place], kept[place + 1 :]
    return Context(
        before=tuple(o for o in before if o >= 0),
        after=tuple(o for o in after if o >= 0),
        hidden_before=_hidden(before[::-1]),
        hidden_after=_hidden(after),
    )


def _hidden(nearest_first: list[int]) -> int:
    for distance, event in enumerate(nearest_first):
        if event >= 0:
            return distance
    return len(nearest_first)


def single_context(narrative: Sequence[str | None], number: Mapping[str, int]) -> Context:
    """Context of the only gap of a narrative."""
    found = contexts_of(narrative, number)
    if len(found) != 1:
        raise InputError(f"a narrative has {len(found)} gaps (None), expected one")
    return found[0]


def every_context(narratives: Iterable[Sequence[int]]) -> list[tuple[Context, int]]:
    """Every event of every narrative, with what stands before and after it."""
    return [
        (Context(tuple(one[:place]), tuple(one[place + 1 :])), event)
        for one in narratives
        for place, event in enumerate(one)
    ]


def every_place(narrative: Sequence[str | None]) -> list[list[str | None]]:
    """The narrative with a gap put before each of its events, and after the last.

    Examples
    --------
    >>> every_place(["a"])
    [[None, 'a'], ['a', None]]
    """
    told = list(narrative)
    return [[*told[:place], None, *told[place:]] for place in range(len(told) + 1)]


def surroundings(contexts: Sequence[Context], events: int) -> Any:
    """Sparse features, a row a context: the events next to the gap, the sets before and after."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    columns: list[int] = []
    first = [0]
    for before, after, hidden_before, hidden_after in contexts:
        if not hidden_before:
            columns.append(before[-1] if before else events)
        if not hidden_after:
            columns.append(events + 1 + (after[0] if after else events))
        columns.extend(2 * events + 2 + o for o in set(before))
        columns.extend(3 * events + 2 + o for o in set(after))
        first.append(len(columns))
    ones = np.ones(len(columns))
    return csr_array((ones, columns, first), shape=(len(contexts), 4 * events + 2))


def steps_on(bigram: NDArray[np.float64], hidden: int) -> NDArray[np.float64]:
    """P(event after some hidden ones | event), none of the hidden being the end."""
    onward = bigram
    for _ in range(hidden):
        onward = bigram[:, :-1] @ onward[:-1]
    return onward
