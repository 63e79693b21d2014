"""Every method on every task of every domain with every seed."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import elision as el
from elision._parallel import parallel
from elision.bench.judging import HiddenOutcome, judge, learn, measure
from elision.bench.tasks import LEAST_EVENTS, Task, make_task, other_task
from elision.errors import InputError
from elision.learn.baselines import (
    BidirectionalBigram,
    Conditional,
    Frequency,
    LogisticGap,
    NGram,
)
from elision.learn.learner import ScriptLearner
from elision.learn.search import Costs
from elision.learn.sem import BMM, BMMEM, SEMHMM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elision.bench.judging import Outcome
    from elision.values.corpus import Corpus

DEFAULT = "default"
"""What ``elision learn`` does unless told otherwise."""

BASELINES: dict[str, Any] = {
    "Frequency": Frequency,
    "Conditional": Conditional,
    "BidirectionalBigram": BidirectionalBigram,
    "LogisticGap": LogisticGap,
    "NGram": NGram,
}
LEARNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "BMM": (BMM, {}),
    "BMMEM": (BMMEM, {}),
    "SEMHMM-approx": (SEMHMM, {"score": "approx"}),
    "SEMHMM": (SEMHMM, {}),
}
"""Learners of the paper, which depend on the batch size r."""

PLAIN = ("BMM", "BMMEM")
"""Those without elisions."""

METHODS = (*BASELINES, *LEARNERS, DEFAULT)

NEXT = ("Frequency", "Conditional", "NGram", *LEARNERS, DEFAULT)
"""Methods that say what comes next."""

LEAST_TYPES = 3
"""Domains with fewer event types are left out, as in the paper."""

TUNING_DOMAINS = 6
"""The costs of a corpus are chosen on the training narratives of so many of its domains."""

TUNED_ON = {"elisions": "SEMHMM-approx", "plain": "BMM"}
"""Costs are chosen once with elisions and once without, by the quickest method of each kind."""

TUNING_BATCH = 5

STATE_COSTS = (0.0, 0.5, 1.0, 2.0)
EDGE_COSTS = (0.0, 0.25, 0.5, 1.0)
CONSTRAINT_COSTS = (0.0, 0.5)
"""Values of kappa_q, kappa_t, kappa_c to choose from."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    corpora: tuple[str, ...]
    methods: tuple[str, ...] = METHODS
    batches: tuple[int, ...] = (2, 5, 10)
    seeds: int = 3
    min_narratives: int = 50
    max_train: int | None = None
    tasks: tuple[str, ...] = ("one",)


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one task of one domain with one seed."""

    task: str
    corpus: str
    domain: str
    method: str
    batch: int | None
    seed: int
    n_train: int
    n_test: int
    seconds: float
    figures: dict[str, float]
    """Of hidden events the average precision and the best F1, else top-1, top-3 and log-loss."""

    confidence: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    """Removed event by removed event: the largest probability, and whether it was the answer's."""


# Methods


def can(method: str, task: str) -> bool:
    """Whether a method has an answer to a task; where it has none, it is not measured.

    Scripts without elisions have nothing to say about hidden events.

    Examples
    --------
    >>> can("NGram", "next"), can("NGram", "one"), can("BMM", "hidden")
    (True, False, False)
    """
    if task == "next":
        return method in NEXT
    return method != "NGram" and not (task == "hidden" and method in PLAIN)


def check_methods(names: Sequence[str], tasks: Sequence[str] = ("one",)) -> tuple[str, ...]:
    """Return the methods asked for, or all that have an answer to some of the tasks.

    Examples
    --------
    >>> check_methods(["BMM"])
    ('BMM',)
    """
    for name in names:
        if name not in METHODS:
            raise InputError(f"method {name!r}, expected some of {', '.join(METHODS)}")
        if not any(can(name, task) for task in tasks):
            raise InputError(f"method {name!r} has no answer to {' or '.join(tasks)}")
    return tuple(dict.fromkeys(names)) or tuple(
        name for name in METHODS if any(can(name, task) for task in tasks)
    )


def make(method: str, events: Sequence[str], *, batch: int | None, seed: int, costs: Costs) -> Any:
    """Make a fresh learner of this name."""
    if method in BASELINES:
        return BASELINES[method](events=events)
    if method == DEFAULT:
        return ScriptLearner(events=events, random_state=seed)
    kind, options = LEARNERS[method]
    return kind(
        batch_size=batch,
        events=events,
        random_state=seed,
        state_cost=costs.state,
        edge_cost=costs.edge,
        constraint_cost=costs.constraint,
        plan="paper",
        **options,
    )


# Corpora


def corpus_names(paths: Sequence[str]) -> dict[str, str]:
    """A name for each file: what stands before the dot, or the whole path where two are alike.

    Examples
    --------
    >>> corpus_names(["old/tea.jsonl", "new/tea.jsonl", "cake.csv"])
    {'old/tea.jsonl': 'old/tea.jsonl', 'new/tea.jsonl': 'new/tea.jsonl', 'cake.csv': 'cake'}
    """
    stems = {path: PurePath(path).stem for path in paths}
    often = Counter(stems.values())
    return {path: stem if often[stem] == 1 else path for path, stem in stems.items()}


def large_domains(path: str, min_narratives: int) -> dict[str, Corpus]:
    """The domains of a corpus that are large enough."""
    found = {}
    for name, part in el.read(path).by_domain().items():
        told = part.filter(min_events=LEAST_EVENTS) if part.has_events else part
        if len(told) < min_narratives:
            continue
        if part.has_events and len(told.vocabulary) < LEAST_TYPES:
            continue
        found[name] = part
    if not found:
        raise InputError(
            f"no domain has {min_narratives} narratives of two events or more,"
            f" and {LEAST_TYPES} different events",
            where=path,
            hint="lower --min-narratives",
        )
    return found


# Costs


def choose_costs(domains: dict[str, Corpus], plan: Plan) -> dict[str, Costs]:
    """Kappa_q, kappa_t, kappa_c of one corpus, by cross-validation inside training narratives.

    Each training set is halved; scripts learned from one half fill gaps in the other, at every
    place. One choice with elisions and one without, for all domains of the corpus together; none
    where no method has such costs.
    """
    if not set(plan.methods) & set(LEARNERS):
        return {}
    names = sorted(domains)[:: max(1, len(domains) // TUNING_DOMAINS)][:TUNING_DOMAINS]
    halves = [_halved(make_task(domains[name], 0, max_train=plan.max_train)) for name in names]
    grid = [
        Costs(state, edge, constraint)
        for state in STATE_COSTS
        for edge in EDGE_COSTS
        for constraint in CONSTRAINT_COSTS
    ]
    return {
        kind: max(grid, key=lambda one: np.mean([_right(method, half, one) for half in halves]))
        for kind, method in TUNED_ON.items()
    }


def _halved(task: Task) -> Task:
    """Training narratives only: one half to learn from, every place of the other half a gap."""
    half = len(task.train) // 2
    number = {event: o for o, event in enumerate(task.events)}
    gaps: list[list[str | None]] = []
    answers = []
    for narrative in task.train[half:]:
        for place, event in enumerate(narrative):
            gaps.append([*narrative[:place], None, *narrative[place + 1 :]])
            answers.append(number[event])
    return Task(task.domain, task.seed, task.events, task.train[:half], gaps, np.array(answers))


def _right(method: str, task: Task, costs: Costs) -> float:
    filler = make(method, task.events, batch=TUNING_BATCH, seed=0, costs=costs)
    return judge(filler.fit(task.train).predict_gap(task.gaps), task.answers).top1


# Measuring


def run(
    plan: Plan,
    *,
    jobs: int = 1,
    dask: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[list[Cell], dict[str, dict[str, Costs]]]:
    """Measure everything that a plan asks for.

    Parameters
    ----------
    plan
        What to measure.
    jobs
        Worker processes; the result does not depend on their number.
    dask
        Instead of them a Dask cluster, see `elision._parallel.parallel`.
    progress
        Called with the splits done and in all.

    Returns
    -------
    cells, costs
        All cells in a fixed order, and for each corpus the costs chosen by cross-validation, if a
        method has any.
    """
    names = corpus_names(plan.corpora)
    corpora = {path: large_domains(path, plan.min_narratives) for path in names}
    costs = {path: choose_costs(domains, plan) for path, domains in corpora.items()}
    work = [
        _Split(names[path], part, seed, costs[path], plan)
        for path, domains in corpora.items()
        for part in domains.values()
        for seed in range(plan.seeds)
    ]
    cells: list[list[Cell]] = [[] for _ in work]
    for done, (number, found) in enumerate(parallel(_measured, work, jobs=jobs, dask=dask)):
        cells[number] = found
        if progress is not None:
            progress(done + 1, len(work))
    return [cell for found in cells for cell in found], {
        names[path]: chosen for path, chosen in costs.items() if chosen
    }


class _Split(NamedTuple):
    """One domain with one seed: what a worker does at a time."""

    corpus: str
    part: Corpus
    seed: int
    costs: dict[str, Costs]
    plan: Plan


def _measured(split: _Split) -> list[Cell]:
    """All methods on all tasks of one split; each learns once for all tasks."""
    corpus, part, seed, costs, plan = split
    one = make_task(part, seed, max_train=plan.max_train)
    tasks = [other_task(one, name) for name in plan.tasks]
    cells = []
    for method in plan.methods:
        asked = [task for task in tasks if can(method, task.name) and task.gaps]
        if not asked:
            continue
        chosen = costs.get("plain" if method in PLAIN else "elisions", Costs())
        for batch in plan.batches if method in LEARNERS else (None,):
            learner = make(method, one.events, batch=batch, seed=seed, costs=chosen)
            start = time.perf_counter()
            learn(learner, one)
            seconds = time.perf_counter() - start
            for task in asked:
                outcome = measure(learner, task, seconds)
                cells.append(_cell(corpus, task, method, batch, outcome))
    return cells


def _cell(
    corpus: str, task: Task, method: str, batch: int | None, outcome: Outcome | HiddenOutcome
) -> Cell:
    place = (task.name, corpus, task.domain, method, batch, task.seed, len(task.train))
    number = sum(not one for one in task.gaps) if task.name == "next" else len(task.gaps)
    if isinstance(outcome, HiddenOutcome):
        figures = {"average_precision": outcome.average_precision, "f1": outcome.f1}
        return Cell(*place, number, outcome.seconds, figures)
    figures = {"top1": outcome.top1, "top3": outcome.top3, "log_loss": outcome.log_loss}
    right = (outcome.rank == 1).tolist()
    return Cell(*place, number, outcome.seconds, figures, outcome.confidence.tolist(), right)
