"""Tellings and complete stories drawn from a script."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision import _html, kernels
from elision.ask.engine.chain import Chain
from elision.ask.engine.checks import MOST_DRAWN, check_cells
from elision.ask.heard import hear
from elision.errors import InputError
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from elision.ask.heard import Item
    from elision.values.observations import Unknown
    from elision.values.script import Script

LONGEST = 10_000
"""Events that a telling can be asked to have."""

MOST_ENTRIES = 5_000_000
"""States that all stories together may pass, beside `_entries_of_one` for each of them."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One event of a complete story, the state it comes from, and whether it was told."""

    event: str
    state: str
    told: bool


@dataclass(frozen=True, slots=True)
class Sampled:
    """A telling, and the complete story behind it.

    A state that was passed in silence has the event that it would have told.
    """

    told: tuple[str, ...]
    story: tuple[Happened, ...]

    def __str__(self) -> str:
        return "\n".join(one.event if one.told else f"  ({one.event})" for one in self.story)

    def _repr_html_(self) -> str:
        rows = [(one.event, "") if one.told else ("", one.event) for one in self.story]
        return _html.table(["told", "unsaid"], rows)


def tellings(
    script: Script,
    n: int = 1,
    *,
    random_state: int | np.random.Generator | None = None,
    length: int | None = None,
    given: Iterable[Item] | None = None,
    unknown: Unknown = "error",
) -> list[list[str]]:
    """Draw tellings: only what was told.

    Parameters
    ----------
    script
        The script of the activity.
    n
        How many.
    random_state
        A seed or a generator; the same seed gives the same tellings.
    length
        How many events are told; any number by default.
    given
        A narrative with gaps (None) or stretches (...) that the tellings fit, instead of a length.
    unknown
        What to do with events of ``given`` that the script does not know: "error" or "ignore".

    Examples
    --------
    >>> import elision as el
    >>> tellings(el.examples.doorbell(), random_state=5, length=3)
    [['hear doorbell', 'say goodbye', 'close door']]
    """
    drawn = _draw(script, n, random_state, condition(script, length, given, unknown))
    names = np.array(script.events, object)
    told = drawn.outcome != 0
    cuts = np.concatenate([[0], np.cumsum(told)])[drawn.offset].tolist()
    events = names[drawn.event[told]].tolist()
    return [events[a:b] for a, b in pairwise(cuts)]


def stories(
    script: Script,
    n: int = 1,
    *,
    random_state: int | np.random.Generator | None = None,
    length: int | None = None,
    given: Iterable[Item] | None = None,
    unknown: Unknown = "error",
) -> list[Sampled]:
    """Draw complete stories, what was left unsaid included; parameters as for `tellings`.

    The same seed gives the stories behind the same tellings.

    Examples
    --------
    >>> import elision as el
    >>> print(stories(el.examples.doorbell(), random_state=1, given=["open door", ...])[0])
      (hear doorbell)
      (walk to door)
    open door
    take parcel
      (close door)
    """
    drawn = _draw(script, n, random_state, condition(script, length, given, unknown))
    entries = [
        Happened(script.events[event], script.states[state], outcome != 0) if event >= 0 else None
        for state, event, outcome in zip(
            drawn.state.tolist(), drawn.event.tolist(), drawn.outcome.tolist(), strict=True
        )
    ]
    found = []
    cuts = drawn.offset.tolist()
    for a, b in pairwise(cuts):
        story = tuple([one for one in entries[a:b] if one is not None])
        found.append(Sampled(tuple([one.event for one in story if one.told]), story))
    return found


class _Drawn(NamedTuple):
    """Entries of all stories end to end: story s has those from offset[s] to offset[s + 1]."""

    state: NDArray[np.int64]
    event: NDArray[np.int64]
    outcome: NDArray[np.int64]
    offset: NDArray[np.int64]


def condition(
    script: Script, length: int | None, given: Iterable[Item] | None, unknown: Unknown
) -> list[Item]:
    """What drawn tellings must fit, as items of a narrative."""
    if length is None:
        return [...] if given is None else hear(script, given, unknown=unknown).items
    if given is not None:
        raise InputError("both a length and a narrative are given, expected one of them")
    if isinstance(length, bool) or not isinstance(length, int) or not 0 <= length <= LONGEST:
        problem = f"length is {short(length)}, expected a whole number from 0 to {LONGEST}"
        raise InputError(problem)
    return [None] * length


def _draw(
    script: Script, n: int, random_state: int | np.random.Generator | None, items: list[Item]
) -> _Drawn:
    generator = check_drawing(n, random_state)
    chain = Chain(script, items)
    rows = len(chain.kept) + 1
    edges = script.parameters
    first = np.searchsorted(edges.source, np.arange(script.size + 1))
    hint = "ask for fewer events"
    check_cells(rows * len(edges.source), "places times edges of the script", hint)
    cumulative = np.empty((rows, 3 * len(edges.source)))
    for row in range(rows):
        cumulative[row] = np.column_stack(chain.entries(row)).ravel()
    _cumulate(cumulative, 3 * first)
    offset = np.empty(n + 1, np.int64)
    state, event, outcome = kernels.asking.sample(
        first,
        edges.target,
        cumulative,
        script.emission,
        chain.symbol,
        chain.soft,
        generator,
        offset,
        MOST_ENTRIES + _entries_of_one(script, items) * n,
    )
    if offset[-1] < 0:
        longest = int(np.argmax(np.diag(script.transition)))
        raise InputError(
            f"stories with more than {len(state):,} passed states came up, too many to draw",
            where=f"state {short(script.states[longest])}, which follows itself with the "
            f"probability {script.transition[longest, longest]:.9g}",
            hint="draw fewer, or of a given length",
        )
    return _Drawn(state, event, outcome, offset)


def _cumulate(chances: NDArray[np.float64], first: NDArray[np.int64]) -> None:
    """Add up each row from ``first[k]`` to ``first[k + 1]``, for all k, the shorter way."""
    longest = int(np.diff(first).max(initial=0))
    if longest >= len(first):
        for a, b in pairwise(first.tolist()):
            np.cumsum(chances[:, a:b], axis=1, out=chances[:, a:b])
        return
    for place in range(1, longest):
        later = first[:-1][np.diff(first) > place] + place
        chances[:, later] += chances[:, later - 1]


def _entries_of_one(script: Script, items: list[Item]) -> int:
    """States that a story may pass, with much to spare if it hardly stays anywhere."""
    return 200 + 2 * (script.size + len(items))


def check_drawing(n: int, random_state: object) -> np.random.Generator:
    """Check how many are to be drawn, and return what draws them."""
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= MOST_DRAWN:
        raise InputError(f"n is {short(n)}, expected a whole number from 0 to {MOST_DRAWN:,}")
    if isinstance(random_state, np.random.Generator):
        return random_state
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if random_state is None or (whole and random_state >= 0):  # type: ignore[operator]
        return np.random.default_rng(random_state)  # type: ignore[arg-type]
    raise InputError(f"random_state is {short(random_state)}, expected a seed or a numpy Generator")
