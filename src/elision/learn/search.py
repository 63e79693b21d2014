"""Greedy structure search on a counts model: merge two states, or delete an edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from elision import kernels
from elision.learn.counts import CountsModel
from elision.learn.scores import SCORES, LocalScore

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from elision.kernels.search import Search
    from elision.learn.em import Pseudocounts
    from elision.values.observations import Packed

MOVES_AT_ONCE = 64
"""Moves made in compiled code before the observer hears of them, and the interpreter of Ctrl-C."""

MANY_STATES = 200
"""With more, moves by the forward likelihood are made one at a time: each takes long."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Prior of the structure: what a state, an edge and a violated constraint cost."""

    state: float = 1.0
    edge: float = 0.5
    constraint: float = 0.0


@dataclass(frozen=True, slots=True)
class Move:
    """An accepted move: two states merged, or the edge from the first to the second deleted."""

    kind: Literal["merge", "delete"]
    first: int
    second: int
    gain: float


@dataclass(frozen=True, slots=True)
class Found:
    """Where a search stopped; ``score_after`` is ``score_before`` and the gains of the moves."""

    model: CountsModel
    moves: tuple[Move, ...]
    score_before: float
    score_after: float
    violated: int


class _Log(Protocol):
    def __call__(self, *arrays: NDArray[np.generic]) -> int: ...


def local_search(
    model: CountsModel,
    score: LocalScore,
    prior: Pseudocounts,
    costs: Costs,
    never: NDArray[np.bool_] | None = None,
    *,
    elisions: bool = True,
    observer: Callable[[Move], object] | None = None,
) -> Found:
    """Search by a local score, which needs the expected counts only.

    Parameters
    ----------
    model
        Where to start.
    score
        "approx": expected complete-data log-likelihood; "marginal": Dirichlet-multinomial.
    prior
        Pseudocounts, for "marginal" the concentrations.
    costs
        Prior of the structure.
    never
        Constraints, ``never[y, x]``: x never follows y.
    elisions
        Whether states may be silent; without, no edge is ever deleted.
    observer
        Hears of every accepted move.
    """
    search = start(model, score, prior, costs, never, elisions=elisions)

    return _found(
        search,
        lambda: kernels.moves.local_score(search.model, search.pieces, search.scoring),
        lambda *log: kernels.search.run(search, MOVES_AT_ONCE, *log),
        observer,
    )


def exact_search(
    model: CountsModel,
    packed: Packed,
    prior: Pseudocounts,
    costs: Costs,
    never: NDArray[np.bool_] | None = None,
    *,
    elisions: bool = True,
    exhaustive: bool = False,
    observer: Callable[[Move], object] | None = None,
) -> Found:
    """Search by the forward likelihood of narratives under the MAP parameters of the counts.

    ``exhaustive`` tries every move before each one that is accepted, as the paper has it. Otherwise
    a move is expected to keep the difference between its exact and its local gain, and is tried
    (again) only while that makes it the most promising one.
    """
    search = start(model, "approx", prior, costs, never, elisions=elisions)
    size = model.states
    trial = kernels.exact.Trial(
        model=kernels.moves.Model._make(part.copy() for part in search.model),
        way=kernels.moves.Way._make(part.copy() for part in search.way),
        narratives=kernels.passes.Narratives(packed.symbol, packed.offset, packed.weight),
        log_prob=np.empty(len(packed)),
    )
    book = kernels.exact.Book(
        surplus=np.full((2, size, size), kernels.exact.OPTIMISM),
        tried=np.full((2, size, size), -1),
        step=np.zeros(1, np.int64),
        todo=np.zeros((size * size, 3), np.int64),
    )
    score = np.array([kernels.exact.exact_score(search, trial)])
    at_once = MOVES_AT_ONCE if size <= MANY_STATES else 1

    return _found(
        search,
        lambda: kernels.exact.exact_score(search, trial),
        lambda *log: kernels.exact.run_exact(search, trial, book, score, exhaustive, at_once, *log),
        observer,
        at_once,
    )


def _found(
    search: Search,
    score: Callable[[], float],
    run: _Log,
    observer: Callable[[Move], object] | None,
    at_once: int = MOVES_AT_ONCE,
) -> Found:
    """Let a search run, and say what came of it by a score of the model as it stands."""

    def value() -> float:
        return float(score() - search.rules.cost * kernels.search.violations(search.rules))

    before = value()
    moves = _run(run, observer, at_once)
    violated = int(kernels.search.violations(search.rules))
    return Found(_result(search), moves, before, value(), violated)


def start(
    model: CountsModel,
    score: LocalScore,
    prior: Pseudocounts,
    costs: Costs,
    never: NDArray[np.bool_] | None = None,
    *,
    elisions: bool = True,
) -> Search:
    """All that a search works on, gains of every move included."""
    size, events = model.emission.shape
    if never is None:
        never = np.zeros((events, events), bool)
    edges = int(model.edge.sum())
    square = np.zeros((size, size))
    successors = _words(model.edge)
    search = kernels.search.Search(
        model=kernels.moves.Model(
            alive=np.ones(size, bool),
            transition=model.transition.copy(),
            successors=successors,
            predecessors=_words(model.edge.T),
            degree=model.edge.sum(axis=1),
            leaving=model.transition.sum(axis=1),
            emission=model.emission.copy(),
            told=model.emission.sum(axis=1),
            silent=model.elision.copy(),
        ),
        pieces=kernels.moves.Pieces(
            edge=square.copy(),
            leaving=np.zeros(size),
            event=np.zeros((size, events)),
            state=np.zeros(size),
        ),
        scoring=kernels.moves.Scoring(
            kind=SCORES[score].kind,
            elisions=elisions,
            transition=float(prior.transition),
            event=prior.event,
            events=float(prior.event.sum()),
            silent=float(prior.silent),
            telling=float(prior.telling),
            state_cost=float(costs.state),
            edge_cost=float(costs.edge),
        ),
        after=np.zeros_like(successors),
        before=np.zeros_like(successors),
        rules=kernels.search.Rules(
            support=_words(model.support),
            never=_words(never),
            follows=_words(np.zeros_like(never)),
            above=_words(np.zeros_like(model.support)),
            below=_words(np.zeros_like(model.support)),
            cost=float(costs.constraint),
        ),
        way=kernels.moves.Way(
            order=np.zeros(size, np.int64),
            place=np.zeros(size, np.int64),
            alpha=np.zeros(size),
            beta=np.zeros(size),
            source=np.zeros(edges, np.int64),
            target=np.zeros(edges, np.int64),
            flow=np.zeros(edges),
            added=np.zeros(size),
            passed=np.zeros(size),
        ),
        merge_gain=square,
        delete_gain=np.full((size, size), -np.inf),
    )
    kernels.search.start_search(search)
    return search


def _run(run: _Log, observer: Callable[[Move], object] | None, at_once: int) -> tuple[Move, ...]:
    """Let compiled code make moves and log them until it makes no more."""
    kinds, firsts, seconds = (np.empty(at_once, np.int64) for _ in range(3))
    gains = np.empty(at_once)
    moves: list[Move] = []
    made = at_once
    while made == at_once:
        made = run(kinds, firsts, seconds, gains)
        for at in range(made):
            kind: Literal["merge", "delete"] = "delete" if kinds[at] else "merge"
            move = Move(kind, int(firsts[at]), int(seconds[at]), float(gains[at]))
            moves.append(move)
            if observer is not None:
                observer(move)
    return tuple(moves)


def _result(search: Search) -> CountsModel:
    """The states that are left, as a model of their own."""
    model = search.model
    left = np.flatnonzero(model.alive)
    both = np.ix_(left, left)
    return CountsModel(
        edge=_matrix(model.successors, len(model.alive))[both],
        transition=model.transition[both],
        emission=model.emission[left],
        elision=model.silent[left],
        support=_matrix(search.rules.support, model.emission.shape[1])[left],
    )


def _words(matrix: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows of a boolean matrix as sets of 32-bit words."""
    rows, columns = matrix.shape
    words = max(1, -(-columns // 32))
    padded = np.zeros((rows, words * 32), bool)
    padded[:, :columns] = matrix
    weights = 1 << np.arange(32, dtype=np.int64)
    return np.ascontiguousarray(padded.reshape(rows, words, 32) @ weights)


def _matrix(words: NDArray[np.int64], columns: int) -> NDArray[np.bool_]:
    """The boolean matrix of `_words`."""
    spread = (words[:, :, None] >> np.arange(32)) & 1
    return spread.reshape(len(words), 32 * words.shape[1])[:, :columns].astype(bool)
