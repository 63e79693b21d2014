"""What each part of the telling model is worth: every task once without it.

    python benchmarks/ablation.py FILE... [--seeds N] [--min-narratives N] [--jobs N] [--json]

Means over seeds and then over domains of each file. Narratives are split and tasks made as by
``elision bench``: gaps are judged by top-1, hidden events by average precision (AP). How log-odds
become the probability that an event is missing is learned once, with the whole model, for all rows.
Sentences have rows of their own.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from threadpoolctl import threadpool_limits

import elision as el
from common import Figures, means, parser_of, run, table
from elision._parallel import parallel
from elision.bench.judging import HiddenOutcome, learn, measure
from elision.bench.measuring import large_domains
from elision.bench.tasks import TASKS, Task, make_task, other_task
from elision.learn.held_out import hold_out
from elision.learn.missing import learn_missing
from elision.learn.telling import FEATURES, learn_telling
from elision.values.observations import likeliest_events
from elision.values.telling import TellingModel


def telling_models(task: Task, events: Sequence[str]) -> dict[str, TellingModel]:
    """The whole telling model, its forward chain alone, and one without each feature."""
    number = {event: o for o, event in enumerate(events)}

    def numbered(some: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
        return [tuple(number[event] for event in likeliest_events(one)) for one in some]

    told = numbered(task.train)
    other = None if task.train_heard is None else numbered(task.train_heard)
    given: dict[str, Any] = {"heard": other, "random_state": task.seed}
    whole = learn_telling(told, events, **given)
    models = {"all": whole, "forward only": TellingModel(events, whole.forward)}
    for name in FEATURES:
        models[f"without {name}"] = learn_telling(told, events, without=[name], **given)
    held_out = hold_out(told, events, **given)
    missing = learn_missing(told, events, held_out=held_out, random_state=task.seed)
    return {name: model.with_missing(missing) for name, model in models.items()}


def measure_split(split: tuple[el.Corpus, int]) -> dict[str, Figures]:
    """Learn one script and every telling model from one split, and measure them."""
    part, seed = split
    one = make_task(part, seed)
    tasks = [task for task in (other_task(one, name) for name in TASKS) if task.gaps]
    with threadpool_limits(limits=1, user_api="blas"):
        whole = learn(el.ScriptLearner(events=one.events, random_state=seed), one)
        found = {}
        for name, model in telling_models(one, whole.events_).items():
            learner = copy(whole)
            learner.script_ = whole.script_.with_telling(model)
            found[name] = figures(learner, tasks)
            if name == "all" and one.heard is not None:
                hard = [replace(task, heard=None) for task in tasks]
                found["first choice of type"] = figures(learner, hard)
        if one.heard is not None:
            grouped = el.ScriptLearner(events=one.events, random_state=seed).fit(one.train)
            found["types as grouped"] = figures(grouped, tasks)
            found["with the words around"] = figures(whole, tasks)
    return found


def figures(learner: el.ScriptLearner, tasks: Sequence[Task]) -> Figures:
    found: Figures = {}
    for task in tasks:
        outcome = measure(learner, task)
        if isinstance(outcome, HiddenOutcome):
            found["hidden AP"] = outcome.average_precision
        elif task.name == "one":
            found |= {"one top-1": outcome.top1, "one log-loss": outcome.log_loss}
        elif task.name == "next":
            found["next log-loss"] = outcome.log_loss
        else:
            found[task.name] = outcome.top1
    return found


def measure_file(file: str, options: argparse.Namespace) -> dict[str, Figures]:
    """Means over seeds, then over domains."""
    domains = large_domains(file, options.min_narratives)
    work = [(part, seed) for part in domains.values() for seed in range(options.seeds)]
    found = dict(parallel(measure_split, work, jobs=options.jobs))
    every = [found[k] for k in range(len(work))]
    runs = [every[k : k + options.seeds] for k in range(0, len(every), options.seeds)]
    return {name: means(means(one[name] for one in some) for some in runs) for name in every[0]}


def shown(found: dict[str, Figures]) -> str:
    columns = list(found["all"])
    rows = [[name, *(f"{row[one]:.4f}" for one in columns)] for name, row in found.items()]
    return table(["", *columns], rows, texts=1)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__, seeds=3)
    parser.add_argument("--min-narratives", type=int, default=50, help="least size of a domain")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    return run(parser, measure_file, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
