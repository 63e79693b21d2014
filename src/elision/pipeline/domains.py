"""Scripts of many domains, learned a few in a task on the workers of a cluster."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from elision import files, pipeline
from elision._files import shown_path, write_atomically
from elision.errors import ElisionError, InputError
from elision.scale.engine import ClusterError, Failed, current
from elision.scale.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.progress import Progress

    from elision.pipeline.learning import How, Learned
    from elision.values.corpus import Corpus

FEWEST_TASKS = 128
"""Domains are shared out over so many tasks at least, so that workers end at the same time."""

FEWEST_DOMAINS, MOST_DOMAINS = 10, 100
"""Domains in a task where there are many: a scheduler drowns in tasks, and workers wait in few."""

MANY_TASKS = 1000
"""Tasks of `FEWEST_DOMAINS` that a scheduler has at ease; with more domains, tasks are larger."""

MOST_FAILURES, ALLOWED_SHARE = 20, 0.1
"""With more failing domains than these, a number and a share, something is wrong with all."""


class Job(NamedTuple):
    """A domain that is to be learned."""

    domain: str
    part: Corpus
    path: Path


class Made(NamedTuple):
    """What came of it: the bytes of a script and a summary, or a line that says why not."""

    domain: str
    content: bytes = b""
    learned: Learned | None = None
    problem: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0


class DomainsError(ElisionError):
    """Some domains could not be learned; the scripts of the others are written.

    Attributes
    ----------
    learned
        What was learned of the others.
    failed
        For each failing domain, what went wrong.
    """

    def __init__(self, learned: list[Learned], failed: dict[str, str], *, stopped: bool) -> None:
        self.learned, self.failed = learned, failed
        several = f"{len(failed)} domain{'s' * (len(failed) != 1)} failed"
        rest = "the others are learned" if learned else "no script was learned"
        rest = "so the others were not begun" if stopped else rest
        super().__init__(f"{several}, {rest}")

    def lines(self) -> list[str]:
        """One line for each failing domain."""
        return [f"{shown_path(domain) or '-'}: {said}" for domain, said in self.failed.items()]


def batches(sizes: Sequence[int]) -> list[range]:
    """Share domains with so many events out over tasks, in their order.

    A few domains each, and none that are much larger than others beside further ones.

    Examples
    --------
    >>> batches([5, 5, 50, 5])
    [range(0, 1), range(1, 2), range(2, 3), range(3, 4)]
    >>> [len(one) for one in batches([7] * 2000)][:3]
    [10, 10, 10]
    """
    number = len(sizes)
    most = min(MOST_DOMAINS, max(FEWEST_DOMAINS, number // MANY_TASKS))
    most = max(1, min(most, number // FEWEST_TASKS))
    room = 2 * most * sum(sizes) / max(1, number)
    found: list[range] = []
    first, weight = 0, 0
    for at, size in enumerate(sizes):
        if at > first and (at - first == most or weight + size > room):
            found.append(range(first, at))
            first, weight = at, 0
        weight += size
    return [*found, range(first, number)] if number else []


def learn_apart(
    parts: Mapping[str, Corpus],
    paths: Mapping[str, Path],
    folder: Path,
    how: How,
    *,
    resume: bool,
    bar: Progress,
) -> list[pipeline.learning.Learned]:
    """Learn domains on a cluster; those that fail are reported when the others are learned.

    With ``resume`` those stay as they are that a run before this one completed with the same
    settings and narratives.
    """
    types = None if how.types is None else how.types.rows()
    journal = Journal(folder, {"method": how.method, "types": types, **how.settings})
    noted = journal.complete(parts, paths) if resume else {}
    if not noted:
        journal.remove()
    known = {
        domain: pipeline.learning.Learned.recorded(one, paths[domain])
        for domain, one in noted.items()
    }
    found = {domain: one for domain, one in known.items() if one is not None}
    jobs = [
        Job(domain, part, paths[domain]) for domain, part in parts.items() if domain not in found
    ]
    task = bar.add_task("learning", total=len(parts), completed=len(found), states="domains")
    learned, failed = learn_many(
        jobs, how, journal, heard=lambda made: bar.advance(task, len(made))
    )
    found.update(learned)
    ordered = [found[domain] for domain in parts if domain in found]
    if failed:
        raise DomainsError(ordered, failed, stopped=False)
    journal.remove()
    return ordered


@contextmanager
def tolerated(
    domain: str, failed: dict[str, str], learned: list[Learned], *, of: int
) -> Iterator[None]:
    """Note what goes wrong with a domain, unless it is the only one, or one of too many."""
    try:
        yield
    except Exception as error:
        if of == 1:
            raise
        failed[domain] = _said(error)
        _stop_at_too_many(failed, learned, of)


def _stop_at_too_many(failed: dict[str, str], learned: list[Learned], of: int) -> None:
    if len(failed) > max(MOST_FAILURES, int(ALLOWED_SHARE * of)):
        raise DomainsError(learned, failed, stopped=True) from None


def learn_many(
    jobs: Sequence[Job], how: How, journal: Journal, *, heard: Callable[[list[Made]], object]
) -> tuple[dict[str, Learned], dict[str, str]]:
    """Learn domains on the workers of the current engine, and write their scripts here.

    What is complete is noted in the journal, task by task. ``heard`` hears of each task that
    got done. Returned are the summaries, and for domains that failed what went wrong.
    """
    learned: dict[str, Learned] = {}
    failed: dict[str, str] = {}
    part_of = {job.domain: job.part for job in jobs}
    path_of = {job.domain: job.path for job in jobs}
    try:
        for made in _made(jobs, how):
            complete = []
            for one in made:
                if one.learned is None:
                    failed[one.domain] = one.problem
                    continue
                write_atomically(path_of[one.domain], one.content)
                learned[one.domain] = one.learned
                complete.append(
                    (one.domain, part_of[one.domain], one.content, one.learned.summary())
                )
            journal.note(complete)
            heard(made)
            _stop_at_too_many(failed, list(learned.values()), len(jobs))
    except ClusterError as error:
        raise ClusterError(
            f"{error} ({len(learned)} of {len(jobs)} domains are complete,"
            " --resume goes on with the others)"
        ) from None
    return learned, failed


def _made(jobs: Sequence[Job], how: How) -> Iterator[list[Made]]:
    """What tasks made, as they get done; a task that kills workers is tried domain by domain."""
    sizes = [sum(narrative.length for narrative in job.part) for job in jobs]
    waiting = [[jobs[k] for k in batch] for batch in batches(sizes)]
    while waiting:
        apart: list[list[Job]] = []
        for number, made in current().completed(learn_batch, waiting, shared=how):
            if not isinstance(made, Failed):
                yield made
            elif made.killed and len(waiting[number]) > 1:
                apart += [[job] for job in waiting[number]]
            else:
                said = "its workers died" if made.killed else _said(made.error)
                yield [Made(job.domain, problem=said) for job in waiting[number]]
        waiting = apart


def learn_batch(batch: Sequence[Job], how: How) -> list[Made]:
    """On a worker: learn one domain after the other."""
    return [_learned(job, how) for job in batch]


def _learned(job: Job, how: How) -> Made:
    start, used = time.perf_counter(), time.thread_time()
    try:
        script, learned = pipeline.learning.learn_domain(job.domain, job.part, job.path, how)
        content = files.script.dumps(script)
    except Exception as error:  # noqa: BLE001 - one domain must not stop the others
        return Made(job.domain, problem=_said(error))
    took = time.perf_counter() - start, time.thread_time() - used
    return Made(job.domain, content, learned, "", *took)


def _said(error: BaseException) -> str:
    """An error in one line, with its kind if it is none of ours."""
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:300]
