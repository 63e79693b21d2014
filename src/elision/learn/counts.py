"""The model during learning: expected counts over states that are yet to be merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elision import learn
from elision.errors import InputError
from elision.lattice import Counts, Parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.learn.em import Pseudocounts

START, END = 0, 1
"""Numbers of the first and the last state in a `CountsModel`."""

MOST_STATES = 6000
"""Beyond this the matrices of a search would take gigabytes."""


@dataclass(frozen=True, slots=True)
class CountsModel:
    """Expected counts of a structure; state 0 is the start, 1 the end, the others in any order.

    Attributes
    ----------
    edge
        Which edges there are, (states, states).
    transition
        C(j->k), (states, states).
    emission, elision
        C(k, o), (states, events), and C(k, lambda), (states,).
    support
        Events that each state was built from, (states, events).
    """

    edge: NDArray[np.bool_]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    elision: NDArray[np.float64]
    support: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """Number of states, start and end included."""
        return len(self.elision)

    @classmethod
    def empty(cls, events: int) -> CountsModel:
        """Start and end, and nothing between them.

        Examples
        --------
        >>> CountsModel.empty(3).states
        2
        """
        return cls(
            edge=np.zeros((2, 2), bool),
            transition=np.zeros((2, 2)),
            emission=np.zeros((2, events)),
            elision=np.zeros(2),
            support=np.zeros((2, events), bool),
        )

    def with_prefix_tree(
        self, narratives: Iterable[Sequence[int]], weights: Iterable[float]
    ) -> CountsModel:
        """Join the prefix tree of some narratives at start and end.

        States are numbered as they come: narrative after narrative, event after event.

        Examples
        --------
        >>> tree = CountsModel.empty(2).with_prefix_tree([(0, 1), (0,)], [1.0, 1.0])
        >>> tree.states, tree.transition[2].tolist()
        (4, [0.0, 1.0, 0.0, 1.0])
        """
        child: dict[tuple[int, int], int] = {}
        told: list[int] = []
        count: dict[tuple[int, int], float] = {}
        for narrative, weight in zip(narratives, weights, strict=True):
            node = START
            for event in narrative:
                known = (node, event)
                if known not in child:
                    child[known] = self.states + len(told)
                    told.append(event)
                count[node, child[known]] = count.get((node, child[known]), 0.0) + weight
                node = child[known]
            count[node, END] = count.get((node, END), 0.0) + weight
        return self._enlarged(told, count)

    def _enlarged(self, told: list[int], count: dict[tuple[int, int], float]) -> CountsModel:
        old, size = self.states, self.states + len(told)
        if size > MOST_STATES:
            raise InputError(
                f"a batch makes {size} states, expected at most {MOST_STATES}",
                hint="use smaller batches, or cut long narratives into episodes",
            )
        events = self.emission.shape[1]
        edge = np.zeros((size, size), bool)
        transition = np.zeros((size, size))
        emission = np.zeros((size, events))
        elision = np.zeros(size)
        support = np.zeros((size, events), bool)
        edge[:old, :old] = self.edge
        transition[:old, :old] = self.transition
        emission[:old] = self.emission
        elision[:old] = self.elision
        support[:old] = self.support
        for (source, target), weight in count.items():
            edge[source, target] = True
            transition[source, target] += weight
            if target >= old:
                emission[target, told[target - old]] += weight
                support[target, told[target - old]] = True
        return CountsModel(edge, transition, emission, elision, support)

    def topological_order(self) -> NDArray[np.int64]:
        """States from start to end; of those that could be next, the smallest."""
        waiting = (self.edge & ~np.eye(self.states, dtype=bool)).sum(axis=0)
        order: list[int] = []
        ready = [START]
        while ready:
            node = min(ready)
            ready.remove(node)
            order.append(node)
            for target in np.flatnonzero(self.edge[node]).tolist():
                if target != node:
                    waiting[target] -= 1
                    if waiting[target] == 0 and target != END:
                        ready.append(target)
        return np.array([*order, END])

    def is_whole(self) -> bool:
        """Whether every state can be reached, and none of them twice on one way."""
        return len(np.unique(self.topological_order())) == self.states

    def taken(self, states: NDArray[np.int64]) -> CountsModel:
        """Keep just these states, in this order."""
        return CountsModel(
            edge=self.edge[np.ix_(states, states)],
            transition=self.transition[np.ix_(states, states)],
            emission=self.emission[states],
            elision=self.elision[states],
            support=self.support[states],
        )

    def parameters(self, prior: Pseudocounts, *, elisions: bool = True) -> Parameters:
        """MAP parameters of the counts, states in the order of `topological_order`."""
        ordered = self.taken(self.topological_order())
        source, target = np.nonzero(ordered.edge)
        blank = Parameters(
            source,
            target,
            (1.0 / ordered.edge.sum(axis=1).clip(1))[source],
            np.full_like(ordered.emission, 1.0 / max(1, ordered.emission.shape[1])),
            np.zeros(self.states),
        )
        return learn.em.m_step(blank, ordered.counts(blank), prior, elisions=elisions)

    def counts(self, parameters: Parameters) -> Counts:
        """Expected counts in the order of the edges of ``parameters``."""
        transition = self.transition[parameters.source, parameters.target]
        return Counts(transition, self.emission, self.elision, np.empty(0))

    def recounted(
        self, order: NDArray[np.int64], parameters: Parameters, counts: Counts
    ) -> CountsModel:
        """The same structure with the expected counts of an E-step, states in ``order``."""
        transition = np.zeros_like(self.transition)
        transition[order[parameters.source], order[parameters.target]] = counts.transition
        emission = np.zeros_like(self.emission)
        emission[order] = counts.emission
        elision = np.zeros_like(self.elision)
        elision[order] = counts.elision
        return CountsModel(self.edge, transition, emission, elision, self.support)
