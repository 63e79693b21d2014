"""SEM-HMM: structure and parameters from narratives, batch after batch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from elision.errors import InputError
from elision.lattice import Lattice
from elision.learn.counts import CountsModel
from elision.learn.em import Converged, Prior, pseudocounts, run_em
from elision.learn.observe import BatchDone, Moved, Stepped, ignore
from elision.learn.search import Costs, Found, Move, exact_search, local_search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from elision.lattice import Parameters
    from elision.learn.em import Pseudocounts
    from elision.learn.observe import Observer
    from elision.learn.scores import LocalScore, ScoreName
    from elision.values.observations import Packed


Plan: TypeAlias = Literal["paper", "growing"]

GROWTH = 0.25
"""Of the growing plan: a batch is this share of what was seen, so that EM costs linear time."""

WARM_EM = Converged(tolerance=1e-3, most_steps=5)
"""Of the growing plan: EM between batches only follows; after the last batch it converges."""

MOST_TREE_STATES = 1500
"""States of the script and a batch's prefix tree: the search compares all pairs of them. Narratives
that would make more are absorbed by their expected counts alone."""

MOST_TRIED = 10_000
"""Events and ends of the narratives on which the search by the forward likelihood tries moves: some
of the narratives, of all lengths, stand for all of them if there are more."""

MOST_EXACT_STATES = 600
"""With more, the search by the forward likelihood begins with moves by the local score."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a structure is learned.

    ``plan`` "paper" makes a prefix tree of every narrative in batches of ``batch_size`` and
    re-reads all narratives after each, which is quadratic. "growing" lets batches grow with what
    was seen and makes a tree only of the ``batch_size`` narratives in each that the script explains
    worst; the others are absorbed by their expected counts.
    """

    score: ScoreName = "exact"
    batch_size: int = 5
    plan: Plan = "paper"
    elisions: bool = True
    em: bool = True
    prior: Prior = field(default_factory=Prior)
    costs: Costs = field(default_factory=Costs)
    error_rate: float = 0.1
    exhaustive: bool = False
    stop: Converged = field(default_factory=lambda: Converged(tolerance=1e-3, most_steps=30))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far learning has come: all that is needed to go on."""

    model: CountsModel
    seen: int = 0
    batches: int = 0
    history: tuple[BatchDone, ...] = ()


def learn_structure(
    packed: Packed,
    order: Sequence[int] | NDArray[np.int64],
    events: int,
    settings: Settings,
    *,
    progress: Progress | None = None,
    observer: Observer = ignore,
) -> Progress:
    """Absorb narratives in batches.

    Parameters
    ----------
    packed
        All narratives; ``packed.place[i]`` is the i-th.
    order
        In which order they come.
    events
        Size of the vocabulary.
    settings
        How to learn.
    progress
        Where to go on, by default from the empty script.
    observer
        Hears of every accepted move, EM step and batch.
    """
    progress = progress or Progress(CountsModel.empty(events))
    rows = packed.place[np.asarray(order, np.int64)]
    prior = pseudocounts(settings.prior, events, packed)
    never = None
    if settings.costs.constraint > 0:
        never = learn_constraints(packed, events, error_rate=settings.error_rate)
    while progress.seen < len(rows):
        batch = rows[progress.seen : progress.seen + _batch_size(settings, progress.seen)]
        seen = _weighted(packed, rows[: progress.seen + len(batch)])
        last = progress.seen + len(batch) == len(rows)
        progress = _absorb(
            progress, packed, batch, seen, prior, never, settings, len(rows), observer, last=last
        )
    return progress


def _batch_size(settings: Settings, seen: int) -> int:
    if settings.plan == "paper":
        return settings.batch_size
    return max(settings.batch_size, int(seen * GROWTH))


def _weighted(packed: Packed, rows: NDArray[np.int64]) -> Packed:
    """The distinct narratives among ``rows``, weighted by how often they stand there."""
    weight = np.bincount(rows, minlength=len(packed)).astype(float)
    chosen = np.flatnonzero(weight)
    return replace(packed.take(chosen), weight=weight[chosen])


def _absorb(
    progress: Progress,
    packed: Packed,
    batch: NDArray[np.int64],
    seen: Packed,
    prior: Pseudocounts,
    never: NDArray[np.bool_] | None,
    settings: Settings,
    narratives: int,
    observer: Observer,
    *,
    last: bool,
) -> Progress:
    """One batch: prefix tree, search, EM on all narratives seen."""
    number = progress.batches + 1
    model = progress.model
    rows = batch
    if settings.plan == "growing" and progress.seen:
        rows = _worst_explained(model, packed, batch, prior, settings)
        rest = np.bincount(batch, minlength=len(packed))
        rest[rows] = 0
        model = _with_expected_counts(model, packed, rest, prior, settings)
    times, left = _tree_narratives(packed, batch, rows, model.states)
    trees = [_symbols(packed, row) for row in times]
    model = model.with_prefix_tree(trees, times.values())
    if left or any(one.left_out for one in progress.history):
        seen = _explained(model, seen, prior, settings)

    moves = 0

    def moved(move: Move) -> None:
        nonlocal moves
        moves += 1
        observer(Moved(number, moves, move), None)

    found = _search(model, seen, prior, never, settings, moved)
    model, steps, log_prob = found.model, 0, None
    if left and not settings.em:
        rest = np.bincount(list(left), list(left.values()), len(packed)).astype(np.int64)
        model = _with_expected_counts(model, packed, rest, prior, settings)
    if settings.em:
        stop = settings.stop if last or settings.plan == "paper" else WARM_EM
        ordering = model.topological_order()
        em = run_em(
            model.parameters(prior, elisions=settings.elisions),
            seen,
            prior,
            elisions=settings.elisions,
            stop=stop,
        )
        for step, objective in enumerate(em.history):
            observer(Stepped(number, step, objective), None)
        model = model.recounted(ordering, em.parameters, em.counts)
        steps = len(em.history) - 1
        log_prob = float(seen.weight @ em.counts.log_prob / seen.weight.sum())
    done = BatchDone(
        batch=number,
        seen=progress.seen + len(batch),
        narratives=narratives,
        states=model.states - 2,
        edges=int(model.edge.sum()),
        moves=len(found.moves),
        score_before=found.score_before,
        score_after=found.score_after,
        em_steps=steps,
        log_prob=log_prob,
        constraints=0 if never is None else int(never.sum()),
        violated=found.violated,
        left_out=sum(map(int, left.values())),
    )
    observer(done, model)
    return Progress(model, done.seen, number, (*progress.history, done))


def _search(
    model: CountsModel,
    seen: Packed,
    prior: Pseudocounts,
    never: NDArray[np.bool_] | None,
    settings: Settings,
    observer: Callable[[Move], object],
) -> Found:
    def local(score: LocalScore) -> Found:
        return local_search(
            model,
            score,
            prior,
            settings.costs,
            never,
            elisions=settings.elisions,
            observer=observer,
        )

    if settings.score != "exact":
        return local(settings.score)
    before = local("approx") if model.states > MOST_EXACT_STATES else None
    if before is not None and before.model.states > MOST_EXACT_STATES:
        return before
    found = exact_search(
        model if before is None else before.model,
        _tried_on(seen),
        prior,
        settings.costs,
        never,
        elisions=settings.elisions,
        exhaustive=settings.exhaustive,
        observer=observer,
    )
    return found if before is None else replace(found, moves=before.moves + found.moves)


def _tried_on(seen: Packed) -> Packed:
    """The narratives, or evenly spread ones of them that weigh as much together."""
    told = int(seen.offset[-1]) + len(seen)
    if told <= MOST_TRIED:
        return seen
    number = max(1, len(seen) * MOST_TRIED // told)
    chosen = np.arange(number) * len(seen) // number
    weight = seen.weight[chosen]
    return replace(seen.take(chosen), weight=weight * (seen.weight.sum() / weight.sum()))


def _tree_narratives(
    packed: Packed, batch: NDArray[np.int64], rows: NDArray[np.int64], states: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Narratives of the tree in the order in which they first come, with their numbers.

    Those that would make the tree too large are returned apart; the first of all is never too long.
    """
    chosen = set(rows.tolist())
    times: dict[int, float] = {}
    for row in batch.tolist():
        if row in chosen:
            times[row] = times.get(row, 0.0) + 1.0
    lengths = np.diff(packed.offset)[list(times)]
    if states + int(lengths.sum()) <= MOST_TREE_STATES:
        return times, {}
    beginnings: set[tuple[int, ...]] = set()
    kept: dict[int, float] = {}
    for row, number in times.items():
        told = _symbols(packed, row)
        new = {tuple(told[:end]) for end in range(len(told), 0, -1)} - beginnings
        first = states == 2 and not kept
        if first or states + len(beginnings) + len(new) <= MOST_TREE_STATES:
            beginnings |= new
            kept[row] = number
    return kept, {row: number for row, number in times.items() if row not in kept}


def _symbols(packed: Packed, row: int) -> list[int]:
    told: list[int] = packed.symbol[packed.offset[row] : packed.offset[row + 1]].tolist()
    return told


def _explained(model: CountsModel, seen: Packed, prior: Pseudocounts, settings: Settings) -> Packed:
    """The narratives that a structure can tell at all: what never was in a tree may be too long."""
    log_prob = Lattice(_parameters(model, prior, settings)).log_prob(seen)
    possible = np.flatnonzero(np.isfinite(log_prob))
    return replace(seen.take(possible), weight=seen.weight[possible])


def _worst_explained(
    model: CountsModel,
    packed: Packed,
    batch: NDArray[np.int64],
    prior: Pseudocounts,
    settings: Settings,
) -> NDArray[np.int64]:
    """The narratives of a batch by whose memorising most log-probability would be won.

    A narrative that makes up the share f of the batch could have the probability f: learning its
    way by heart wins times * (log f - log P).
    """
    weight = np.bincount(batch, minlength=len(packed)).astype(float)
    chosen = np.flatnonzero(weight)
    part = replace(packed.take(chosen), weight=weight[chosen])
    log_prob = Lattice(_parameters(model, prior, settings)).log_prob(part)
    won = part.weight * (np.log(part.weight / part.weight.sum()) - log_prob)
    return chosen[np.argsort(-won, kind="stable")[: settings.batch_size]]


def _with_expected_counts(
    model: CountsModel,
    packed: Packed,
    times: NDArray[np.int64],
    prior: Pseudocounts,
    settings: Settings,
) -> CountsModel:
    """Add the expected counts of narratives that the structure explains as it is."""
    chosen = np.flatnonzero(times)
    if not len(chosen):
        return model
    part = replace(packed.take(chosen), weight=times[chosen].astype(float))
    parameters = _parameters(model, prior, settings)
    counts = Lattice(parameters).expected_counts(part)
    added = model.recounted(model.topological_order(), parameters, counts)
    return replace(
        model,
        transition=model.transition + added.transition,
        emission=model.emission + added.emission,
        elision=model.elision + added.elision,
    )


def _parameters(model: CountsModel, prior: Pseudocounts, settings: Settings) -> Parameters:
    return model.parameters(prior, elisions=settings.elisions)


def learn_constraints(
    packed: Packed, events: int, *, error_rate: float = 0.1, level: float = 0.01
) -> NDArray[np.bool_]:
    """Return ``never[y, x]``: whether event x never follows event y.

    Of the n narratives in which y is told, v tell some x later. The rule is kept if the rate v / n
    is below ``error_rate`` at this ``level`` of a one-sided z-test.

    Examples
    --------
    >>> from elision.values.observations import Packer
    >>> packed = Packer(("open", "close")).pack([["open", "close"]] * 80)
    >>> learn_constraints(packed, 2)
    array([[False, False],
           [ True, False]])
    """
    if not 0 < error_rate < 1:
        raise InputError(f"error_rate is {error_rate}, expected a number between 0 and 1")
    if not 0 < level < 1:
        raise InputError(f"level is {level}, expected a number between 0 and 1")
    told = np.zeros(events)
    violated = np.zeros((events, events))
    for number, weight in enumerate(packed.weight):
        narrative = packed.symbol[packed.offset[number] : packed.offset[number + 1]]
        hard = narrative[narrative < events]
        later = np.zeros(events, bool)
        after = np.zeros((events, events), bool)
        for event in hard[::-1].tolist():
            after[event] |= later
            later[event] = True
        told[later] += weight
        violated += weight * after
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(error_rate * (1 - error_rate) / told)
        z = (violated / told[:, None] - error_rate) / spread[:, None]
    kept = (told[:, None] > 0) & (z < NormalDist().inv_cdf(level))
    kept &= told[None, :] > 0
    np.fill_diagonal(kept, val=False)
    return kept
