"""`Variants`: very many narratives, each different one kept once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from elision.errors import InputError, counted, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Variants(Sequence[tuple[str, ...]]):
    """Narratives of events in their order, as numbers: ten million take some hundred megabytes.

    As a sequence it has all narratives, those that are told again as often as they are.

    Attributes
    ----------
    names
        The kinds of events, sorted.
    symbol, offset
        Variant v is the events ``symbol[offset[v]:offset[v + 1]]``, in order of first appearance.
    place
        ``place[i]`` is the variant that narrative i is.
    domains
        The domains, in order of first appearance.
    domain_of
        ``domain_of[i]`` is the number of the domain of narrative i.

    Examples
    --------
    >>> told = Variants.of([["ring", "open"], ["ring"], ["ring", "open"]])
    >>> told
    Variants(3 narratives, 2 of them different, 2 event types)
    >>> told[2], told.times.tolist()
    (('ring', 'open'), [2, 1])
    """

    names: tuple[str, ...]
    symbol: NDArray[np.unsignedinteger]
    offset: NDArray[np.int64]
    place: NDArray[np.unsignedinteger]
    domains: tuple[str, ...]
    domain_of: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, narratives: Sequence[Sequence[str]], domains: Sequence[str] = ()) -> Variants:
        """Return narratives that are in memory; ``domains`` has that of each, if there are any."""
        names = sorted({event for one in narratives for event in one})
        number = {event: k for k, event in enumerate(names)}
        variants: dict[tuple[int, ...], int] = {}
        place = [
            variants.setdefault(tuple(number[event] for event in one), len(variants))
            for one in narratives
        ]
        lengths = np.fromiter(map(len, variants), np.int64, len(variants))
        known = list(dict.fromkeys(domains)) or [""]
        which = {name: k for k, name in enumerate(known)}
        return cls(
            tuple(names),
            np.fromiter((k for one in variants for k in one), np.uint32, int(lengths.sum())),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.array(place, np.uint32),
            tuple(known),
            np.array([which[one] for one in domains] or [0] * len(place), np.uint32),
        )

    def __len__(self) -> int:
        """Count the narratives."""
        return len(self.place)

    @overload
    def __getitem__(self, index: SupportsIndex) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, ...]]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> tuple[str, ...] | list[tuple[str, ...]]:
        """Return one narrative, or some."""
        if isinstance(index, slice):
            return [self._variant(one) for one in self.place[index].tolist()]
        return self._variant(int(self.place[index]))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Go through the narratives, each variant made once."""
        made: dict[int, tuple[str, ...]] = {}
        for one in self.place.tolist():
            if one not in made:
                made[one] = self._variant(one)
            yield made[one]

    def __repr__(self) -> str:
        """Say how many there are."""
        types = counted(len(self.names), "event type")
        told = counted(len(self), "narrative")
        return f"Variants({told}, {len(self.offset) - 1} of them different, {types})"

    @property
    def times(self) -> NDArray[np.int64]:
        """How often each variant is told."""
        return np.bincount(self.place, minlength=len(self.offset) - 1)

    @property
    def longest(self) -> int:
        """Events of the longest narrative."""
        return int(np.diff(self.offset).max(initial=0))

    def by_domain(self) -> dict[str, Variants]:
        """Return the narratives of each domain, in order of first appearance."""
        if len(self.domains) == 1:
            return {self.domains[0]: self}
        return {name: self.domain(name) for name in self.domains}

    def domain(self, name: str) -> Variants:
        """Return the narratives of one domain.

        Raises
        ------
        InputError
            Where there is no such domain.
        """
        if name not in self.domains:
            listed = ", ".join(map(repr, self.domains[:8])) + ", …" * (len(self.domains) > 8)
            raise InputError(f"no domain {shown(name)} in these", hint=f"it has {listed}")
        place = self.place[self.domain_of == self.domains.index(name)]
        kept, first, place = np.unique(place, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        kept = kept[order]
        lengths = np.diff(self.offset)[kept]
        offset = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.repeat(self.offset[kept] - offset[:-1], lengths) + np.arange(offset[-1])
        told = self.symbol[source]
        used = np.unique(told)
        names = tuple(self.names[k] for k in used.tolist())
        return Variants(
            names,
            np.searchsorted(used, told).astype(self.symbol.dtype),
            offset,
            rank[place].astype(np.uint32),
            (name,),
            np.zeros(len(place), np.uint32),
        )

    def _variant(self, number: int) -> tuple[str, ...]:
        begin, end = self.offset[number], self.offset[number + 1]
        return tuple([self.names[k] for k in self.symbol[begin:end].tolist()])
