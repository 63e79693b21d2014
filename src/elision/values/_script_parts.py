"""What a script is made of: names, arrays, notes and orders, checked."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from elision.errors import ScriptError
from elision.values.observations import real, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

START, END = "start", "end"
"""Names of the first and the last state; no other state may bear them."""

LONGEST_STAY = 1 - 1e-9
LONGEST_SILENCE = 1 - 1e-6
STAY_TOLERANCE = 1e-3
"""Probability of staying in a state, at most, and of staying in silence; and how far the rows of a
state may be off, as a share of the probability of leaving it.

What happens in a state is divided by one minus these, of which few digits are right near one.
"""

DEEPEST_NOTE = 50
LARGEST_NOTE_BITS = 1024
"""How deep the notes may nest and how large their integers may be, for every JSON reader's sake."""


def checked_names(names: Iterable[str], kind: str) -> tuple[str, ...]:
    ordered = not isinstance(names, (str, bytes, set, frozenset))
    try:
        listed = tuple(names) if ordered else None
    except TypeError:
        listed = None
    if listed is None:
        raise ScriptError(f"{kind} names are {short(names)}, expected a list")
    seen: set[str] = set()
    for name in listed:
        if not isinstance(name, str) or not name:
            raise ScriptError(f"{kind} name {short(name)}, expected a text that is not empty")
        if not _encodable(name):
            problem = f"{kind} name {short(name)} holds half a surrogate pair, expected Unicode"
            raise ScriptError(problem)
        if name in seen:
            raise ScriptError(f"{kind} name {short(name)} stands twice")
        seen.add(name)
    return listed


def _encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def note(value: Any, where: str, depth: int = 0) -> Any:
    """Copy a note, tuples as lists, once it is known that a JSON file gives it back."""
    if depth > DEEPEST_NOTE:
        raise ScriptError(f"nested deeper than {DEEPEST_NOTE} levels", where=where)
    if isinstance(value, Mapping) or depth == 0:
        notes = mapping(value, where)
        for key in notes:
            if not isinstance(key, str) or not _encodable(key):
                raise ScriptError(f"the key {short(key)}, expected Unicode text", where=where)
        return {str(key): note(item, where, depth + 1) for key, item in notes.items()}
    if isinstance(value, (list, tuple)):
        return [note(item, where, depth + 1) for item in value]
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str) and _encodable(value):
        return str(value)
    if isinstance(value, (int, np.integer)) and int(value).bit_length() <= LARGEST_NOTE_BITS:
        return int(value)
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        return float(value)
    raise ScriptError(f"{short(value)}, expected what JSON can hold", where=where)


def mapping(value: Any, where: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ScriptError(f"{short(value)}, expected a mapping", where=where)
    return value


def as_probability(value: object, where: str) -> float:
    number = real(value)
    if math.isnan(number):
        raise ScriptError(f"{short(value)} is no probability", where=where)
    return number


def frozen(values: ArrayLike, name: str, dimensions: int) -> NDArray[np.float64]:
    try:
        given = np.asarray(values)
        array = given.astype(np.float64, order="C") if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise ScriptError(f"{name} is {short(values)}, expected an array of numbers")
    if array.ndim != dimensions:
        raise ScriptError(f"{name} has {array.ndim} dimensions, expected {dimensions}")
    array += 0.0  # makes -0.0 to 0.0, so that equal scripts have equal bytes
    array.setflags(write=False)
    return array


def stay_problem(
    transition: NDArray[np.float64], emission: NDArray[np.float64], elision: NDArray[np.float64]
) -> tuple[int, str] | None:
    """Find a state that is left so rarely that its probabilities are not known well enough."""
    stay = np.diag(transition)
    for most, chance, how in (
        (LONGEST_SILENCE, stay * elision, "stays in silence"),
        (LONGEST_STAY, stay, "follows itself"),
    ):
        for state in np.flatnonzero(chance > most).tolist():
            problem = f"{how} with a probability of {float(chance[state])!r}"
            return state, f"{problem}, expected at most 1 - {1 - most:.0e}"
    told = emission.sum(axis=1) + elision
    off = np.maximum(np.abs(transition.sum(axis=1) - 1), np.abs(told - 1))[1:-1]
    for state in (np.flatnonzero(off > STAY_TOLERANCE * (1 - stay)[1:-1]) + 1).tolist():
        problem = f"sums of probabilities are off by {off[state - 1]:.1g}"
        return state, f"{problem}, too far for a state left with {1 - stay[state]:.1g}"
    return None


def name_states(events: Sequence[str], emission: NDArray[np.float64]) -> tuple[str, ...]:
    """Name each state after its likeliest event, with a number where names repeat."""
    names = [START]
    used = {START, END}
    last: dict[str, int] = {}
    for row in emission[1:-1]:
        name = events[int(row.argmax())] if row.any() else "silent"
        candidate, number = name, last.get(name, 1)
        while candidate in used:
            number += 1
            candidate = f"{name} ({number})"
        last[name] = number
        used.add(candidate)
        names.append(candidate)
    return (*names, END)


def topological(names: list[str], edges: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Order the states so that edges go forward, as near to the given order as can be."""
    known = {START, END, *names}
    for reserved in (START, END):
        if reserved in names:
            raise ScriptError(f"a state is named {reserved!r}, which is kept for the {reserved}")
    rank = {name: k for k, name in enumerate(names)}
    waiting = dict.fromkeys(names, 0)
    following: dict[str, list[str]] = {name: [] for name in names}
    for source, targets in edges.items():
        for target, probability in targets.items():
            for name in (source, target):
                if name not in known:
                    problem = f"edge {short(source)} -> {short(target)}: no state {short(name)}"
                    raise ScriptError(problem)
            inner = source in waiting and target in waiting and source != target
            if inner and probability != 0:
                waiting[target] += 1
                following[source].append(target)
    order: list[str] = []
    ready = [rank[name] for name in names if waiting[name] == 0]
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(name)
        for target in following[name]:
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, rank[target])
    if len(order) < len(names):
        left = [name for name in names if waiting[name] > 0]
        raise ScriptError(f"the edges go in a circle through {', '.join(map(short, left[:5]))}")
    return order
