"""How units hang together: after one another, in any order, or in a tangle of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Flags: TypeAlias = NDArray[np.bool_]

Kind: TypeAlias = Literal["unit", "series", "any", "tangle"]

MOST_TANGLED, LINKS_A_PART = 6, 1.5
"""Parts of a tangle, and links for each, that one can still follow."""


@dataclass(frozen=True, slots=True)
class Block:
    """Units that belong together: everything outside stands alike to all of them.

    Attributes
    ----------
    kind
        One unit, parts after one another, parts in any order, or parts of which only some come
        before others.
    units
        All its units.
    parts
        What it is made of, unless it is one unit.
    links
        For a tangle: which parts come directly before which.
    loose
        For a series: the parts after which the next comes usually, but not surely.
    """

    kind: Kind
    units: tuple[int, ...]
    parts: tuple[Block, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    loose: frozenset[int] = frozenset()


def blocks(order: Flags, units: Sequence[int]) -> Block:
    """Take a partial order apart, by the decomposition of its graph into modules.

    Parameters
    ----------
    order
        (units, units): whether the first comes before the second; transitive.
    units
        The units to look at, at least one, earlier ones first where nothing else orders them.

    Examples
    --------
    >>> order = np.array([[0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)
    >>> whole = blocks(order, range(4))
    >>> whole.kind, [(part.kind, part.units) for part in whole.parts]
    ('series', [('unit', (0,)), ('any', (1, 2)), ('unit', (3,))])
    """
    members = tuple(units)
    if len(members) == 1:
        return Block("unit", members)
    inside = order[np.ix_(members, members)]
    joined = inside | inside.T
    kind: Kind = "any"
    groups = _connected(joined)
    if len(groups) == 1:
        kind, groups = "series", _connected(~joined)
        groups.sort(key=lambda group: int(inside[:, group[0]].sum()))
    if len(groups) == 1:
        kind, groups = "tangle", _modules(inside)
    parts = tuple(blocks(order, [members[k] for k in group]) for group in groups)
    links: tuple[tuple[int, int], ...] = ()
    if kind == "tangle":
        first = [group[0] for group in groups]
        links = _covers(inside[np.ix_(first, first)])
    return Block(kind, tuple(u for part in parts for u in part.units), parts, links)


def _connected(joined: Flags) -> list[list[int]]:
    """Groups between which nothing is joined, each in order."""
    count, group = connected_components(csr_array(joined), directed=False)
    return [np.flatnonzero(group == k).tolist() for k in range(count)]


def _modules(order: Flags) -> list[list[int]]:
    """The largest groups that everything outside stands alike to, short of the whole.

    For an order that is connected and whose complement is: they do not overlap.
    """
    without_first = _alike(order)
    own = {0}
    for group in without_first:
        grown = _grown(order, [0, group[0]])
        if len(grown) < len(order):
            own.update(grown, group)
    groups = [sorted(own), *(group for group in without_first if group[0] not in own)]
    before = order.sum(axis=0)
    return sorted(groups, key=lambda group: (int(before[group].min()), group))


def _alike(order: Flags) -> list[list[int]]:
    """The largest groups without the first that everything outside stands alike to."""
    sides = order.astype(np.int64) - order.T
    groups = [list(range(1, len(order)))]
    splitting = True
    while splitting:
        splitting = False
        for pivot in range(len(order)):
            found: list[list[int]] = []
            for group in groups:
                if pivot in group:
                    found.append(group)
                    continue
                split = [[k for k in group if sides[pivot, k] == side] for side in (1, 0, -1)]
                split = [part for part in split if part]
                splitting = splitting or len(split) > 1
                found += split
            groups = found
    return sorted(groups)


def _grown(order: Flags, group: list[int]) -> list[int]:
    """The smallest group with these that everything outside stands alike to."""
    inside = np.zeros(len(order), dtype=bool)
    inside[group] = True
    while True:
        unlike = np.zeros(len(order), dtype=bool)
        for table in (order, order.T):
            to = table[:, inside]
            unlike |= to.any(axis=1) & ~to.all(axis=1)
        unlike &= ~inside
        if not unlike.any():
            return [int(k) for k in np.flatnonzero(inside)]
        inside |= unlike


def _covers(order: Flags) -> tuple[tuple[int, int], ...]:
    reach = order.astype(np.int64)
    return tuple((int(a), int(b)) for a, b in np.argwhere(order & ~(reach @ reach > 0)))


def loosened(block: Block, order: Flags, place: Sequence[float]) -> Block:
    """Turn tangles that are too dense to follow into stages that usually come in this order.

    Parameters
    ----------
    block
        What `blocks` found.
    order
        The partial order of the units.
    place
        Where each unit usually stands.
    """
    parts = [loosened(part, order, place) for part in block.parts]
    if block.kind == "tangle":
        dense = len(parts) > MOST_TANGLED or len(block.links) > LINKS_A_PART * len(parts)
        parts = _stages(parts, block.links, place) if dense else parts
        if not dense:
            return Block("tangle", block.units, tuple(parts), block.links)
    elif block.kind != "series":
        return Block(block.kind, block.units, tuple(parts))
    flat: list[Block] = []
    loose: set[int] = set()
    for part in parts:
        if flat and not order[np.ix_(flat[-1].units, part.units)].all():
            loose.add(len(flat) - 1)
        loose.update(len(flat) + after for after in part.loose)
        flat += part.parts if part.kind == "series" else (part,)
    return Block("series", block.units, tuple(flat), loose=frozenset(loose))


def _stages(
    parts: Sequence[Block], links: Sequence[tuple[int, int]], place: Sequence[float]
) -> list[Block]:
    """As few groups as the links allow; where they leave it open, by the usual place."""
    count = len(parts)
    early, late = [0] * count, [0] * count
    for _ in range(count):
        for a, b in links:
            early[b] = max(early[b], early[a] + 1)
            late[a] = max(late[a], late[b] + 1)
    last = max(early)
    middle = [float(np.mean([place[unit] for unit in part.units])) for part in parts]
    low, high = min(middle), max(middle)
    stage = [0] * count
    rank = sorted(range(count), key=lambda k: (early[k], k))
    for k in rank:
        wanted = round((middle[k] - low) / max(high - low, 1e-9) * last)
        least = max([0, *(stage[a] + 1 for a, b in links if b == k)])
        stage[k] = min(max(wanted, least), last - late[k])
    found = []
    for at in range(last + 1):
        here = [parts[k] for k in range(count) if stage[k] == at]
        lanes = [one for part in here for one in (part.parts if part.kind == "any" else (part,))]
        units = tuple(unit for part in here for unit in part.units)
        found.append(here[0] if len(here) == 1 else Block("any", units, tuple(lanes)))
    return found
