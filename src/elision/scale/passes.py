"""Passes over packed narratives: expected counts and log-probabilities, wherever they are done.

Narratives are cut into chunks as `Lattice` cuts them for its threads, by the data alone. On a
cluster a few chunks lie on a worker between the steps of EM; parts of a corpus on disk are read
where they are counted. Tallies are added up in the order of chunks, counts in that of parts.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from elision.lattice import GROUP, Counts, Lattice
from elision.scale.engine import current, pays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from elision.lattice import Parameters, Tallied
    from elision.values.observations import Packed

SECONDS_AN_UPDATE = 1.4e-9
"""What an edge update takes one thread, about, by ``benchmarks/scale_cluster.py``."""


class Part(Protocol):
    """A part of a corpus on disk; pickled it is little more than a path."""

    def load(self) -> Packed:
        """Narratives as arrays that stay on disk until they are read."""
        ...


@runtime_checkable
class PartedCorpus(Protocol):
    """A corpus on disk, in parts over one vocabulary."""

    events: tuple[str, ...]
    narratives: int
    parts: tuple[Part, ...]

    def sample(self, number: int, seed: int = 0) -> list[tuple[str, ...]]:
        """Some narratives, by chance, but the same ones for the same seed."""
        ...


class Expected(NamedTuple):
    """Expected counts, and the log-probability of all narratives that are possible."""

    counts: Counts
    log_prob: float


@dataclass(frozen=True, slots=True)
class Parts:
    """Narratives in parts on disk, to learn parameters from."""

    parts: tuple[Part, ...]

    def weight(self) -> float:
        """How many narratives there are."""
        return float(sum(current().map(_weight, self.parts)))

    def told(self, events: int) -> NDArray[np.float64]:
        """How often each event is told."""
        return sum(current().map(_told, self.parts, shared=events), np.zeros(events))


def weight_of(data: Packed | Parts) -> float:
    """How many narratives there are."""
    return data.weight() if isinstance(data, Parts) else float(data.weight.sum())


def told_in(data: Packed | Parts, events: int) -> NDArray[np.float64]:
    """How often each event is told, soft symbols left out."""
    if isinstance(data, Parts):
        return data.told(events)
    told = np.repeat(data.weight, np.diff(data.offset))
    hard = data.symbol < events
    return np.bincount(data.symbol[hard], told[hard], minlength=events).astype(float)


@contextmanager
def counting(
    parameters: Parameters, data: Packed | Parts
) -> Iterator[Callable[[Parameters], Expected]]:
    """Give the E-step of EM: data is brought to workers once for all steps.

    ``parameters`` show the structure, which all steps share.
    """
    if isinstance(data, Parts):
        with current().hold(data.parts) as held:
            yield lambda now: _sum(held.map(_part_counts, shared=now))
    elif not _goes_out(Lattice(parameters), data):
        yield lambda now: _expected(Lattice(now).expected_counts(data), data.weight)
    else:
        with current().hold(_groups(Lattice(parameters), data)) as held:
            yield lambda now: _expected(
                _added_up(Lattice(now), data, held.map(_tallied, shared=now)), data.weight
            )


def expected_counts(parameters: Parameters, packed: Packed) -> Counts:
    """Expected counts in one pass, as `Lattice.expected_counts` has them."""
    with counting(parameters, packed) as count:
        return count(parameters).counts


def log_prob(parameters: Parameters, packed: Packed) -> NDArray[np.float64]:
    """Log-probabilities in one pass, as `Lattice.log_prob` has them."""
    lattice = Lattice(parameters)
    if not _goes_out(lattice, packed):
        return lattice.log_prob(packed)
    found = current().map(_quick_log_prob, _groups(lattice, packed), shared=parameters)
    return lattice.made_sure(packed, np.concatenate(found))


def _goes_out(lattice: Lattice, packed: Packed) -> bool:
    """Whether narratives are worth a journey; the result is the same if not."""
    return pays(SECONDS_AN_UPDATE * lattice.updates(packed))


class _Group(NamedTuple):
    """Narratives of a few chunks, and the bounds of these."""

    packed: Packed
    bounds: list[tuple[int, int]]


def _groups(lattice: Lattice, packed: Packed) -> list[_Group]:
    chunks = lattice.chunks(packed)
    groups = [chunks[at : at + GROUP] for at in range(0, len(chunks), GROUP)]
    return [
        _Group(
            packed.cut(group[0][0], group[-1][1]),
            [(a - group[0][0], b - group[0][0]) for a, b in group],
        )
        for group in groups
    ]


def _tallied(group: _Group, parameters: Parameters) -> Tallied:
    return Lattice(parameters).tallied(*group)


def _quick_log_prob(group: _Group, parameters: Parameters) -> NDArray[np.float64]:
    return Lattice(parameters).quick_log_prob(*group)


def _added_up(lattice: Lattice, packed: Packed, found: Sequence[Tallied]) -> Counts:
    return lattice.added_up(
        packed,
        [one.tally for one in found],
        np.concatenate([one.log_prob for one in found]),
        np.concatenate([one.doubtful for one in found]),
    )


def _expected(counts: Counts, weight: NDArray[np.float64]) -> Expected:
    possible = np.isfinite(counts.log_prob)
    # No product of vectors: its last bits depend on the threads of BLAS, and so on the machine.
    return Expected(counts, float((weight[possible] * counts.log_prob[possible]).sum()))


def _part_counts(part: Part, parameters: Parameters) -> Expected:
    """Counts of one part; of its narratives' log-probabilities the sum is enough."""
    packed = part.load()
    found = _expected(Lattice(parameters).expected_counts(packed), packed.weight)
    return found._replace(counts=found.counts._replace(log_prob=np.empty(0)))


def _sum(found: Sequence[Expected]) -> Expected:
    """Add up in the order of the parts."""
    total = [part.copy() for part in found[0].counts]
    for one in found[1:]:
        for part, added in zip(total, one.counts, strict=True):
            part += added
    return Expected(Counts(*total), float(sum(one.log_prob for one in found)))


def _weight(part: Part) -> float:
    return float(part.load().weight.sum())


def _told(part: Part, events: int) -> NDArray[np.float64]:
    return told_in(part.load(), events)
