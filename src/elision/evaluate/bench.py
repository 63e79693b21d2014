"""Runs the paper's evaluation: every method on every domain with every seed."""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

import elision as el
from elision._files import shown_path
from elision.errors import InputError
from elision.evaluate import methods, workers
from elision.evaluate.cloze import (
    HiddenOutcome,
    Outcome,
    Task,
    judge,
    learn,
    make_task,
    make_text_task,
    measure_learned,
    other_task,
)
from elision.evaluate.names import corpus_names
from elision.learn.search import Costs
from elision.scale.engine import Failed, current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from elision.values.corpus import Corpus

LEAST_TYPES = 3
"""Domains with fewer event types are left out, as in the paper."""

TUNING_DOMAINS = 6
"""The costs of a corpus are chosen on the training narratives of so many of its domains."""

CURVE = (10, 20, 40)
"""Numbers of training narratives of the learning curve, besides all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    corpora: tuple[str, ...]
    methods: tuple[str, ...] = methods.ALL
    batches: tuple[int, ...] = (2, 5, 10)
    seeds: int = 3
    min_narratives: int = 50
    max_train: int | None = None
    curve: bool = True
    tasks: tuple[str, ...] = ("one",)
    encoder: str | None = None
    """Folder of a sentence encoder with which types are found in sentences."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One domain with one seed: what a worker does at a time."""

    corpus: str
    domain: str
    seed: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One method on one task of one domain with one seed, removed event by removed event.

    Of "next" it is beginning by beginning; of "hidden" there are two figures for all together.
    """

    corpus: str
    domain: str
    method: str
    batch: int | None
    seed: int
    n_train: int
    n_test: int
    seconds: float
    rank: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    times_told: list[int] = field(default_factory=list)
    """How often the removed event is told in training."""
    length: list[int] = field(default_factory=list)
    """Events of the test narrative, the removed ones included."""
    of_curve: bool = False
    """Learned from fewer narratives than there are, for the learning curve."""
    task: str = "one"
    average_precision: float | None = None
    f1: float | None = None


def run(
    plan: Plan,
    *,
    jobs: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[list[Cell], dict[str, Any]]:
    """Measure everything that a plan asks for.

    Parameters
    ----------
    plan
        What to measure.
    jobs
        Worker processes; the result does not depend on their number.
    keep
        File of finished cells: what stands in it for the same plan is not measured again.
    progress
        Called with the units done and in all.

    Returns
    -------
    cells, costs
        All cells in a fixed order, and for each corpus the costs chosen by cross-validation, if a
        method has any.
    """
    corpora = {path: _domains(path, plan.min_narratives) for path in plan.corpora}
    units = [
        Unit(path, domain, seed)
        for path, domains in corpora.items()
        for domain in domains
        for seed in range(plan.seeds)
    ]
    costs = {path: choose_costs(domains, plan) for path, domains in corpora.items()}
    done = _kept(keep, plan) if keep else {}
    tell = progress or (lambda *_: None)
    tell(len(done), len(units))
    todo = [unit for unit in units if unit not in done]
    for unit, cells in _measured(todo, corpora, costs, plan, jobs):
        done[unit] = cells
        if keep:
            _append(keep, plan, unit, cells)
        tell(len(done), len(units))
    ordered = [cell for unit in units for cell in done[unit]]
    chosen = {
        path: {kind: asdict(one) for kind, one in kinds.items()}
        for path, kinds in costs.items()
        if any(method in methods.LEARNERS for method in plan.methods)
    }
    return ordered, chosen


def _domains(path: str, min_narratives: int) -> dict[str, Corpus]:
    """The domains of a corpus that are large enough."""
    corpus = el.read(path)
    found = {}
    for name, part in corpus.by_domain().items():
        told = part.filter(min_events=2) if part.has_events else part
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


def _task(part: Corpus, seed: int, max_train: int | None, encoder: str | None = None) -> Task:
    if part.has_events:
        return make_task(part, seed, max_train=max_train)
    extractor = el.EventExtractor(encoder=encoder)
    return make_text_task(part, seed, extractor=extractor, max_train=max_train)


def choose_costs(domains: dict[str, Corpus], plan: Plan) -> dict[str, Costs]:
    """Kappa_q, kappa_t, kappa_c of one corpus, by cross-validation inside training narratives.

    Each training set is halved; scripts learned from one half fill gaps in the other, at every
    place. One choice with elisions and one without, by the quick approximate score, for all domains
    of the corpus together.
    """
    wanted = {"elisions": "SEMHMM-approx", "plain": "BMM"}
    used = set(plan.methods) & set(methods.LEARNERS)
    if not used:
        return dict.fromkeys(wanted, Costs())
    names = sorted(domains)[:: max(1, len(domains) // TUNING_DOMAINS)][:TUNING_DOMAINS]
    halves = [_halved(_task(domains[name], 0, plan.max_train, plan.encoder)) for name in names]
    chosen = {}
    for kind, method in wanted.items():
        scores = []
        for values in methods.cost_grid():
            costs = Costs(*values)
            right = [_right(method, half, costs) for half in halves]
            scores.append((float(np.mean(right)), costs))
        chosen[kind] = max(scores, key=lambda one: one[0])[1]
    return chosen


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
    filler = methods.make(method, task.events, batch=5, seed=0, costs=costs)
    return judge(filler.fit(task.train).predict_gap(task.gaps), task.answers).top1


def _measured(
    units: list[Unit],
    corpora: dict[str, dict[str, Corpus]],
    costs: dict[str, dict[str, Costs]],
    plan: Plan,
    jobs: int,
) -> Iterator[tuple[Unit, list[Cell]]]:
    """Measure units as workers get free."""
    if current().remote:
        yield from _measured_there(units, corpora, costs, plan)
        return
    if jobs == 1:
        for unit in units:
            yield (
                unit,
                _measure_unit(unit, corpora[unit.corpus][unit.domain], costs[unit.corpus], plan),
            )
        return
    processes = max(1, min(jobs, len(units)))
    with ProcessPoolExecutor(processes, get_context("spawn"), workers.begin) as pool:
        waiting = {
            pool.submit(
                _measure_unit, unit, corpora[unit.corpus][unit.domain], costs[unit.corpus], plan
            ): unit
            for unit in units
        }
        try:
            while waiting:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield waiting.pop(future), future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _measured_there(
    units: list[Unit],
    corpora: dict[str, dict[str, Corpus]],
    costs: dict[str, dict[str, Costs]],
    plan: Plan,
) -> Iterator[tuple[Unit, list[Cell]]]:
    """Measure units on a cluster; what fails is said when all others are measured."""
    work = [(unit, corpora[unit.corpus][unit.domain]) for unit in units]
    failed = []
    for number, cells in current().completed(_measure_there, work, shared=(costs, plan)):
        if isinstance(cells, Failed):
            unit, said = units[number], " ".join(str(cells.error).split())[:200]
            failed.append(f"{unit.domain or unit.corpus}, seed {unit.seed}: {said}")
        else:
            yield units[number], cells
    if failed:
        raise InputError(f"{len(failed)} of {len(units)} not measured: {'; '.join(failed[:3])}")


def _measure_there(
    work: tuple[Unit, Corpus], shared: tuple[dict[str, dict[str, Costs]], Plan]
) -> list[Cell]:
    """On a worker of a cluster: a dozen learns or more."""
    (unit, part), (costs, plan) = work, shared
    return _measure_unit(unit, part, costs[unit.corpus], plan)


def _measure_unit(unit: Unit, part: Corpus, costs: dict[str, Costs], plan: Plan) -> list[Cell]:
    """All methods on all tasks of one split."""
    one = _task(part, unit.seed, plan.max_train, plan.encoder)
    tasks = [other_task(one, name) for name in plan.tasks]
    cells = _cells(unit, tasks, costs, plan, plan.batches)
    if plan.curve and unit.seed == 0:
        middle = sorted(plan.batches)[len(plan.batches) // 2]  # stands for all
        for size in CURVE:
            if size < len(one.train):
                cells += _cells(unit, [one.first(size)], costs, plan, (middle,), of_curve=True)
    return cells


def _cells(
    unit: Unit,
    tasks: list[Task],
    costs: dict[str, Costs],
    plan: Plan,
    batches: tuple[int, ...],
    *,
    of_curve: bool = False,
) -> list[Cell]:
    """Let every method learn once for all tasks that it has an answer to."""
    cells = []
    for method in plan.methods:
        asked = [task for task in tasks if methods.can(method, task.name) and task.gaps]
        if not asked:
            continue
        kind = "plain" if method in methods.PLAIN else "elisions"
        for batch in batches if methods.has_batches(method) else (None,):
            learner = methods.make(
                method, asked[0].events, batch=batch, seed=unit.seed, costs=costs[kind]
            )
            start = time.perf_counter()
            learn(learner, asked[0])
            seconds = time.perf_counter() - start
            for task in asked:
                outcome = measure_learned(learner, task, seconds)
                cell = _cell(unit, task, method, batch, outcome, plan)
                cells.append(replace(cell, of_curve=of_curve))
    return cells


def _cell(
    unit: Unit,
    task: Task,
    method: str,
    batch: int | None,
    outcome: Outcome | HiddenOutcome,
    plan: Plan,
) -> Cell:
    cell = Cell(
        corpus=corpus_names(plan.corpora)[unit.corpus],
        domain=unit.domain,
        method=method,
        batch=batch,
        seed=unit.seed,
        n_train=len(task.train),
        n_test=sum(not one for one in task.gaps) if task.name == "next" else len(task.gaps),
        seconds=outcome.seconds,
        task=task.name,
    )
    if isinstance(outcome, HiddenOutcome):
        return replace(cell, average_precision=outcome.average_precision, f1=outcome.f1)
    cell = replace(
        cell,
        rank=outcome.rank.tolist(),
        probability=outcome.probability.tolist(),
        confidence=outcome.confidence.tolist(),
    )
    if task.name == "next":
        return cell
    times = Counter(event for narrative in task.train for event in narrative)
    # Where the place is unknown, what is shown of the narrative lacks the removed event.
    lengths = [(max(1, gap.count(None)), len(gap) + (task.name == "anywhere")) for gap in task.gaps]
    return replace(
        cell,
        times_told=[times[task.events[o]] for o in task.answers.tolist()],
        length=[length for removed, length in lengths for _ in range(removed)],
    )


def _kept(keep: Path, plan: Plan) -> dict[Unit, list[Cell]]:
    """Finished units of the same plan; lines that were cut off or damaged are left out."""
    done: dict[Unit, list[Cell]] = {}
    if not keep.exists():
        return done
    signature = _signature(plan)
    try:
        content = keep.read_bytes()
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise InputError(problem, where=shown_path(keep), hint="delete it to start anew") from None
    for line in content.split(b"\n"):
        try:
            record = msgspec.json.decode(line, type=_Line)
        except (ValueError, RecursionError):
            continue
        if record.plan == signature:
            done[record.unit] = record.cells
    return done


class _Line(msgspec.Struct):
    plan: dict[str, Any]
    unit: Unit
    cells: list[Cell]


def _append(keep: Path, plan: Plan, unit: Unit, cells: Sequence[Cell]) -> None:
    record = {
        "plan": _signature(plan),
        "unit": asdict(unit),
        "cells": [asdict(cell) for cell in cells],
    }
    try:
        with keep.open("a") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise InputError(problem, where=shown_path(keep)) from None


def _signature(plan: Plan) -> dict[str, Any]:
    return json.loads(json.dumps({**asdict(plan), "version": el.__version__}))  # type: ignore[no-any-return]
