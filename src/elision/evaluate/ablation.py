"""What each part of the telling model is worth: every task once without it.

    python -m elision.evaluate.ablation FILE... [--seeds N] [--min-narratives N] [--json]

prints a table for each corpus, means over seeds and then over domains, and one of their means over
corpora. Narratives are split and tasks made as by ``elision bench``: gaps are judged by top-1,
hidden events by average precision (AP). How log-odds become the probability that an event is
missing is learned once, with the whole model, for all rows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from elision.errors import ElisionError, InputError
from elision.evaluate import workers
from elision.evaluate.bench import _domains, _task
from elision.evaluate.cloze import HiddenOutcome, judge, learn, measure_learned, other_task
from elision.evaluate.names import corpus_names
from elision.learn.held_out import hold_out
from elision.learn.learner import ScriptLearner
from elision.learn.missing import learn_missing
from elision.learn.sem import SEMHMM
from elision.learn.telling import FEATURES, learn_telling
from elision.values.observations import likeliest_events
from elision.values.telling import TellingModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.evaluate.cloze import Task
    from elision.learn.sem import Heard
    from elision.values.corpus import Corpus

TASKS = ("one", "two", "three", "anywhere", "hidden", "next")

SHARE_OF_SCRIPT = 0.2
"""Weight of a script found by structural search, where its answers are pooled with the telling
model's."""

SEARCH: dict[str, Any] = {"state_cost": 3.0, "emission_pseudocount": 0.1, "em_steps": 3}
"""Settings of the structural search for that script: one of few states."""

Figures = dict[str, dict[str, float]]
"""By row and column; a row lacks the columns of which it has no figure."""


class Split(NamedTuple):
    """One domain with one seed: what a worker measures at a time."""

    corpus: str
    domain: str
    part: Corpus
    seed: int
    max_train: int | None


def measure_split(split: Split) -> Figures:
    """Learn one script and every telling model from one split, and measure them."""
    one = _task(split.part, split.seed, split.max_train)
    tasks = [task for task in (other_task(one, name) for name in TASKS) if task.gaps]
    with threadpool_limits(limits=1, user_api="blas"):
        script = SEMHMM(score="marginal", events=one.events, random_state=split.seed, **SEARCH)
        script.fit(one.train)
        whole = learn(ScriptLearner(events=one.events, random_state=split.seed), one)
        learners = {
            name: _with_telling(whole, model)
            for name, model in telling_models(
                one.train, whole.events_, split.seed, heard=one.train_heard
            ).items()
        }
        found = {name: _figures(learner, tasks) for name, learner in learners.items()}
        answers = pooled(learners["all"].predict_gap(one.gaps), script.predict_gap(one.gaps))
        both = judge(answers, one.answers)
        if one.heard is not None:
            hard = [replace(task, heard=None) for task in tasks]
            found["first choice of type"] = _figures(learners["all"], hard)
            grouped = ScriptLearner(events=one.events, random_state=split.seed).fit(one.train)
            found["types as grouped"] = _figures(grouped, tasks)
            found["with the words around"] = _figures(whole, tasks)
        found["with the script"] = {"one top-1": both.top1, "one log-loss": both.log_loss}
        found["the script alone"] = _figures(script, tasks)
    return found


def telling_models(
    narratives: Sequence[Sequence[str]],
    events: Sequence[str],
    seed: int,
    *,
    heard: Sequence[Sequence[Heard]] | None = None,
) -> dict[str, TellingModel]:
    """The whole telling model, its forward chain alone, and one without each feature."""
    number = {event: o for o, event in enumerate(events)}

    def numbered(some: Sequence[Sequence[Heard]]) -> list[tuple[int, ...]]:
        return [tuple(number[event] for event in likeliest_events(one)) for one in some]

    told = numbered(narratives)
    other = None if heard is None else numbered(heard)
    whole = learn_telling(told, events, heard=other, random_state=seed)
    models = {"all": whole, "forward only": TellingModel(events, whole.forward)}
    for name in FEATURES:
        models[f"without {name}"] = learn_telling(
            told, events, heard=other, without=[name], random_state=seed
        )
    held_out = hold_out(told, events, heard=other, random_state=seed)
    missing = learn_missing(told, events, held_out=held_out, random_state=seed)
    return {name: model.with_missing(missing) for name, model in models.items()}


def _with_telling(learner: ScriptLearner, model: TellingModel) -> ScriptLearner:
    """The same learner with a telling model that answers for its script."""
    other = copy(learner)
    other.script_ = learner.script_.with_telling(model)
    return other


def _figures(learner: ScriptLearner | SEMHMM, tasks: Iterable[Task]) -> dict[str, float]:
    found: dict[str, float] = {}
    for task in tasks:
        outcome = measure_learned(learner, task)
        if isinstance(outcome, HiddenOutcome):
            found["hidden AP"] = outcome.average_precision
        elif task.name == "one":
            found |= {"one top-1": outcome.top1, "one log-loss": outcome.log_loss}
        elif task.name == "next":
            found["next log-loss"] = outcome.log_loss
        else:
            found[task.name] = outcome.top1
    return found


def pooled(
    chances: NDArray[np.float64], others: NDArray[np.float64], share: float = SHARE_OF_SCRIPT
) -> NDArray[np.float64]:
    """Log-linear pool of two distributions in each row, the second with the weight ``share``.

    Examples
    --------
    >>> pooled(np.array([[0.5, 0.5]]), np.array([[0.8, 0.2]]), share=0.5).round(3)
    array([[0.667, 0.333]])
    """
    value = chances ** (1 - share) * others**share
    total = value.sum(axis=1, keepdims=True)
    return np.where(total > 0, value / np.where(total > 0, total, 1), chances)


def measure(
    files: Sequence[str],
    *,
    seeds: int = 3,
    min_narratives: int = 50,
    max_train: int | None = None,
    jobs: int = 1,
) -> dict[str, dict[str, Figures]]:
    """Figures of each domain of each corpus, means over seeds.

    Parameters
    ----------
    files
        The corpora.
    seeds
        How many splits.
    min_narratives
        Domains with fewer are left out.
    max_train
        Most narratives to learn from.
    jobs
        Worker processes; the result does not depend on their number.
    """
    if min(seeds, jobs) < 1:
        raise InputError(f"{seeds} seeds and {jobs} jobs, expected at least one of each")
    names = corpus_names(files)
    splits = [
        Split(name, domain, part, seed, max_train)
        for file, name in names.items()
        for domain, part in _domains(file, min_narratives).items()
        for seed in range(seeds)
    ]
    found: dict[str, dict[str, list[Figures]]] = {}
    for split, figures in zip(splits, _measured(splits, jobs), strict=True):
        found.setdefault(split.corpus, {}).setdefault(split.domain, []).append(figures)
    return {
        corpus: {domain: mean_figures(some) for domain, some in domains.items()}
        for corpus, domains in found.items()
    }


def _measured(splits: Sequence[Split], jobs: int) -> list[Figures]:
    if jobs == 1:
        return [measure_split(split) for split in splits]
    with ProcessPoolExecutor(jobs, get_context("spawn"), workers.begin) as pool:
        try:
            return list(pool.map(measure_split, splits))
        finally:
            pool.shutdown(cancel_futures=True)


def mean_figures(some: Iterable[Figures]) -> Figures:
    """Mean of each figure over those that have it.

    Examples
    --------
    >>> mean_figures([{"all": {"one": 0.5}}, {"all": {"one": 1.0, "two": 0.3}}])
    {'all': {'one': 0.75, 'two': 0.3}}
    """
    values: dict[str, dict[str, list[float]]] = {}
    for figures in some:
        for row, columns in figures.items():
            for column, value in columns.items():
                values.setdefault(row, {}).setdefault(column, []).append(value)
    return {
        row: {column: float(np.mean(every)) for column, every in columns.items()}
        for row, columns in values.items()
    }


def table(figures: Figures) -> str:
    """Return figures as a table in Markdown.

    Examples
    --------
    >>> print(table({"all": {"one": 0.9, "two": 0.8}, "with the script": {"one": 0.7}}))
    | | one | two |
    |---|---|---|
    | all | 0.9000 | 0.8000 |
    | with the script | 0.7000 | |
    """
    columns = list(dict.fromkeys(column for row in figures.values() for column in row))
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, row in figures.items():
        cells = [f" {row[column]:.4f} |" if column in row else " |" for column in columns]
        lines.append(f"| {name} |{''.join(cells)}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some corpora."""
    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.ablation", description=__doc__
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="corpora")
    parser.add_argument("--seeds", type=int, default=3, help="how many splits")
    parser.add_argument("--min-narratives", type=int, default=50, help="least size of a domain")
    parser.add_argument("--max-train", type=int, help="most narratives to learn from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--json", action="store_true", help="every number, as JSON")
    options = parser.parse_args(arguments)
    try:
        domains = measure(
            options.files,
            seeds=options.seeds,
            min_narratives=options.min_narratives,
            max_train=options.max_train,
            jobs=options.jobs,
        )
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    corpora = {corpus: mean_figures(by.values()) for corpus, by in domains.items()}
    mean = mean_figures(corpora.values())
    if options.json:
        found = {"domains": domains, "corpora": corpora, "mean of corpora": mean}
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
        return 0
    shown = {**corpora, "mean of corpora": mean} if len(corpora) > 1 else corpora
    for title, figures in shown.items():
        sys.stdout.write(f"{title}\n\n{table(figures)}\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
