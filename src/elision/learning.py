"""Scripts for every domain of a corpus, into files, with progress and resuming."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from elision.errors import InputError
from elision.learn.checkpoint import Checkpoint
from elision.learn.observe import BatchDone
from elision.learn.sem import BMM, BMMEM, SEMHMM

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console
    from rich.progress import TaskID

    from elision.corpus import Corpus
    from elision.learn.counts import CountsModel
    from elision.learn.observe import Event

METHODS: dict[str, tuple[type[SEMHMM], dict[str, Any]]] = {
    "marginal": (SEMHMM, {"score": "marginal"}),
    "sem": (SEMHMM, {"score": "exact"}),
    "approx": (SEMHMM, {"score": "approx"}),
    "bmm": (BMM, {}),
    "bmm-em": (BMMEM, {}),
}
"""Learners by the name that the command line gives them."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned for one domain; ``elision`` is the least, mean and largest rate."""

    domain: str
    path: Path
    narratives: int
    states: int
    edges: int
    elision: tuple[float, float, float]
    log_prob: float
    constraints: int
    violated: int

    def summary(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**asdict(self), "path": str(self.path)}


def make_learner(method: str, **settings: Any) -> SEMHMM:
    """Make the learner of this name.

    Examples
    --------
    >>> make_learner("approx", batch_size=10)
    SEMHMM(batch_size=10, score='approx')
    """
    if method not in METHODS:
        raise InputError(f"method {method!r}, expected one of {', '.join(METHODS)}")
    kind, usual = METHODS[method]
    return kind(**{**usual, **settings})


def learn_domains(
    corpus: Corpus,
    output: Path,
    *,
    method: str,
    settings: Mapping[str, Any],
    resume: bool,
    console: Console,
) -> list[Learned]:
    """Learn and save a script for each domain.

    With one domain ``output`` is the script's file, with several a folder. Progress is kept beside
    the script and deleted when it is complete; ``resume`` goes on from it.
    """
    learners = {domain: make_learner(method, **settings) for domain in corpus.domains}
    told = {domain: part.events for domain, part in corpus.by_domain().items()}
    paths = _paths(output, corpus.domains)
    found = []
    with _progress_bar(console) as bar:
        for domain, narratives in told.items():
            task = bar.add_task(domain or "learning", total=len(narratives), states="")
            learner = learners[domain]
            found.append(
                _learn_one(domain, narratives, learner, paths[domain], bar, task, resume=resume)
            )
    return found


def _learn_one(
    domain: str,
    narratives: list[tuple[str, ...]],
    learner: SEMHMM,
    path: Path,
    bar: Progress,
    task: TaskID,
    *,
    resume: bool,
) -> Learned:
    checkpoint = Checkpoint(path.with_name(path.name + ".progress"), learner, narratives)
    progress = checkpoint.load() if resume else None

    def observe(event: Event, model: CountsModel | None) -> None:
        checkpoint(event, model)
        if isinstance(event, BatchDone):
            bar.update(task, completed=event.seen, states=f"{event.states} states")

    learner.set_params(observer=observe)
    learner.resume(narratives, progress)
    script = learner.script_
    script.save(path)
    checkpoint.remove()
    rates = script.elision[1:-1]
    last = learner.history_[-1]
    return Learned(
        domain=domain,
        path=path,
        narratives=len(narratives),
        states=script.size - 2,
        edges=len(script.parameters.source),
        elision=(float(rates.min()), float(rates.mean()), float(rates.max()))
        if len(rates)
        else (0.0, 0.0, 0.0),
        log_prob=float(script.log_probs(narratives).mean()),
        constraints=last.constraints,
        violated=last.violated,
    )


def _paths(output: Path, domains: tuple[str, ...]) -> dict[str, Path]:
    """Where each domain's script goes."""
    if len(domains) == 1 and not output.is_dir():
        if not output.parent.is_dir():
            raise InputError(f"no folder {str(output.parent)!r} to write to", where=str(output))
        return {domains[0]: output}
    if output.exists() and not output.is_dir():
        raise InputError(
            f"{len(domains)} domains came and the output is a file, expected a folder",
            where=str(output),
            hint="name a folder, or one domain with --domain",
        )
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", where=str(output)) from None
    paths: dict[str, Path] = {}
    for domain in domains:
        name = re.sub(r"[^\w.-]+", "-", domain).strip("-.")[:100] or "script"
        path = output / f"{name}.json"
        number = 1
        while path in paths.values():
            number += 1
            path = output / f"{name}-{number}.json"
        paths[domain] = path
    return paths


def _progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[states]}"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
