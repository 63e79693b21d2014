"""Logs repaired: every row as it came, what was missing put in and marked, and a report."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from elision._parallel import parallel
from elision.errors import InputError, counted
from elision.logs.frames import converted, with_rows
from elision.logs.log import Insertion, Log, Placed, read_log
from elision.logs.writing import write
from elision.repairing.omission import OFTEN
from elision.repairing.repairer import UNSURE, Answer, Repairer, check_names

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from elision.repairing.omission import Rates
    from elision.values.script import Script

Observer: TypeAlias = "Callable[[int, int | None], object]"
"""Hears how much more got done, and of how much in all, if that is known."""

MOST_VARIANTS = 50_000
"""Variants that are counted; cases of further ones are counted together."""

SHOWN_VARIANTS = 20

OFTEN_UNDONE = "If a step is often not done, and not left out, say how often it is left out:"

PERHAPS = (
    "Lacking where the rest of a case speaks for it, but perhaps not always done, so hardly put in:"
)
DONE = "If such a step is always done, and left out, say how often:"


@dataclass(frozen=True, slots=True)
class RepairedEvent:
    """What was put in of one kind of event.

    Attributes
    ----------
    told, inserted
        How often it was recorded, and how often it was put in.
    uncertain
        How many of these are less probable than `UNSURE`.
    unplaced
        How many more are missing with probability `UNSURE` or more, but were not put in, since they
        have no certain place.
    omission
        The chance that it is left out where it was done, estimated or given; ``own_rate`` if this
        was found for this kind of event, and is not assumed from that of all others.
    trust
        The share of what is missing by this rate that is to be expected: below 1 if the rate is
        above `OFTEN`, and may come of a step that is often not done. The probabilities of what is
        put in are lower by that.
    doubted
        The rate at which it is left out if it is always done where the rest of a case says so; as
        likely, it is not always done, and ``omission`` is lower. 0 where there is no such doubt.
    """

    event: str
    told: int
    inserted: int
    uncertain: int
    unplaced: int
    omission: float
    own_rate: bool
    trust: float = 1.0
    doubted: float = 0.0


@dataclass(frozen=True, slots=True)
class RepairedVariant:
    """A sequence of events as recorded, how many cases have it, and what was put in: gap, event."""

    events: tuple[str, ...]
    cases: int
    inserted: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What was done to a log.

    Attributes
    ----------
    cases, repaired
        How many cases there are, and into how many something was put.
    told, inserted, uncertain
        Events that were recorded, events put in, and those less probable than `UNSURE`.
    unplaced
        Events that are missing, but have no certain place, and were not put in.
    omission
        The share of all that was done that is left out, as the rates of events and what is
        recorded of them say.
    threshold
        What is at least so probable was put in.
    events
        By kind of event, the most often put in first.
    variants
        The most frequent variants that were repaired.
    """

    cases: int
    repaired: int
    told: int
    inserted: int
    uncertain: int
    unplaced: int
    omission: float
    threshold: float
    events: tuple[RepairedEvent, ...]
    variants: tuple[RepairedVariant, ...]

    def __str__(self) -> str:
        put_in = (
            f"{counted(self.inserted, 'event')} put into {self.repaired} of"
            f" {counted(self.cases, 'case')}, beside {self.told} recorded ones"
        )
        left_out = f"Of all that is done, {self.omission:.1%} is taken to be left out of the log"
        lines = [
            f"{put_in}; {self.uncertain} of them are uncertain (probability below {UNSURE:.0%}).",
            f"{left_out}; put in is what is missing with probability {self.threshold:.0%} or more.",
        ]
        if self.unplaced:
            lines.append(
                f"{self.unplaced} more are missing with probability {UNSURE:.0%} or more, but have"
                " no certain place, and were not put in."
            )
        changed = [one for one in self.events if one.inserted or one.unplaced]
        if changed:
            width = max(len(one.event) for one in changed)
            lines += ["", f"{'event':{width}}  recorded  put in  uncertain  no place  left out"]
            lines += [
                f"{one.event:{width}}  {one.told:8}  {one.inserted:6}  {one.uncertain:9}"
                f"  {one.unplaced:8}  {one.omission:7.1%}{_remark(one)}"
                for one in changed
            ]
        if often := [one.event for one in changed if _is_doubted(one)]:
            lines += ["", f"{OFTEN_UNDONE} --omission {shlex.quote(f'{often[0]}=0')}"]
        lines += _doubts(self.events)
        return "\n".join(lines)


def _doubts(events: Sequence[RepairedEvent]) -> list[str]:
    """Name the steps that may be left out far more often than was taken, most told first."""
    doubted = sorted((one for one in events if one.doubted), key=lambda one: -one.told)
    if not doubted:
        return []
    width = max(len(one.event) for one in doubted)
    first = f"{doubted[0].event}={doubted[0].doubted:.2g}"
    return [
        "",
        PERHAPS,
        *(f"{one.event:{width}}  {one.doubted:6.1%}" for one in doubted),
        f"{DONE} --omission {shlex.quote(first)}",
    ]


def _remark(one: RepairedEvent) -> str:
    if not one.own_rate:
        return " (assumed)"
    return " (or often not done?)" if _is_doubted(one) else ""


def _is_doubted(one: RepairedEvent) -> bool:
    return one.own_rate and one.omission > OFTEN and one.trust < 1


class Tally:
    """Counts what is put into a log, piece after piece."""

    def __init__(self) -> None:
        self._cases = self._repaired = 0
        self._told: Counter[tuple[int, str]] = Counter()
        self._inserted: Counter[str] = Counter()
        self._uncertain: Counter[str] = Counter()
        self._unplaced: Counter[str] = Counter()
        self._variants: Counter[tuple[str, ...]] = Counter()
        self._changes: dict[tuple[str, ...], tuple[tuple[int, str], ...]] = {}

    def add(
        self,
        traces: Iterable[Sequence[str]],
        answers: Iterable[Answer],
        by: Iterable[int] = repeat(0),
    ) -> None:
        """Count the cases of a piece; ``by`` has the number of the repairer of each."""
        cases = zip(traces, answers, strict=True)
        for (trace, (put_in, unplaced)), which in zip(cases, by, strict=False):
            self._cases += 1
            self._told.update((which, event) for event in trace)
            self._inserted.update(one.event for one in put_in)
            self._uncertain.update(one.event for one in put_in if one.probability < UNSURE)
            self._unplaced.update(unplaced)
            if put_in:
                self._repaired += 1
                variant = tuple(trace)
                if variant in self._variants or len(self._variants) < MOST_VARIANTS:
                    self._variants[variant] += 1
                    self._changes[variant] = tuple((one.gap, one.event) for one in put_in)

    def report(self, repairers: Iterable[Repairer], threshold: float | None) -> Report:
        """Say what was counted."""
        done: defaultdict[str, list[_Done]] = defaultdict(list)
        thresholds = []
        for number, repairer in enumerate(repairers):
            omission = repairer.omission
            thresholds.append(repairer.threshold if threshold is None else threshold)
            each = (omission.rates, omission.known, omission.trust, omission.doubted)
            lists = (one.tolist() for one in each)
            for event, rate, *others in zip(repairer.events, *lists, strict=False):
                times = self._told[number, event] / (1 - rate)
                done[event].append(_Done(times, rate, *others))
        told: Counter[str] = Counter()
        for (_, event), times in self._told.items():
            told[event] += times
        left_out = sum(one.times * one.rate for each in done.values() for one in each)
        events = sorted(set(told) | set(self._inserted) | set(self._unplaced))
        events.sort(key=lambda event: -self._inserted[event])
        return Report(
            cases=self._cases,
            repaired=self._repaired,
            told=told.total(),
            inserted=self._inserted.total(),
            uncertain=self._uncertain.total(),
            unplaced=self._unplaced.total(),
            omission=left_out / max(told.total() + left_out, 1),
            threshold=sum(thresholds) / len(thresholds),
            events=tuple(
                RepairedEvent(
                    *(event, told[event], self._inserted[event], self._uncertain[event]),
                    self._unplaced[event],
                    *_together(done[event]),
                )
                for event in events
            ),
            variants=tuple(
                RepairedVariant(variant, cases, self._changes[variant])
                for variant, cases in self._variants.most_common(SHOWN_VARIANTS)
            ),
        )


class _Done(NamedTuple):
    """How often an event was done in a domain, and what its `Omission` says of it there."""

    times: float
    rate: float
    known: float
    trust: float
    doubted: float


def _together(domains: Sequence[_Done]) -> tuple[float, bool, float, float]:
    """The rate of an event in all domains, if it is mostly its own, least trust, most doubt."""
    if not domains:
        return 0.0, False, 1.0, 0.0
    times = [one.times for one in domains]
    weights = times if any(times) else [1.0] * len(domains)
    pairs = list(zip(weights, domains, strict=True))
    own = sum(weight for weight, one in pairs if one.known > 0.5)
    rate = sum(weight * one.rate for weight, one in pairs) / sum(weights)
    trust, doubted = min(one.trust for one in domains), max(one.doubted for one in domains)
    return rate, 2 * own > sum(weights), trust, doubted


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired log and what was done to it.

    Attributes
    ----------
    report
        How much was put in, of which events, into which variants.
    insertions
        What was put in and where, by case and place.
    """

    report: Report = field(repr=False)
    insertions: tuple[Insertion, ...] = field(repr=False)
    _log: Log = field(repr=False)
    _placed: tuple[Placed, ...] = field(repr=False)

    def __repr__(self) -> str:
        put_in = counted(len(self.insertions), "event")
        return f"<Repaired: {put_in} put into {self.report.repaired} of {self.report.cases} cases>"

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the repaired log as a data frame.

        Rows, columns and their types are those that came, in the order in which they came;
        inserted rows stand beside their neighbours, are marked, and have the case, the event and
        a time. Whole numbers and truth values of pandas become its types that can hold nulls.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow"; by default as the log came, polars for files.

        Raises
        ------
        InputError
            If that library is not installed.
        """
        log = self._log
        return converted(with_rows(log.frame(), log.columns, self._placed, log.form), backend)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired log as CSV, Parquet, XES or JSONL, as the suffix says.

        The file appears whole or not at all. A log that came in the same format keeps what it
        had: lines of CSV and bytes of XES stay as they were, with more in between.

        Raises
        ------
        InputError
            Where the place cannot be written, or a value not in this format.
        """
        write(self._log, self._placed, path)


def repair(
    source: Any,
    *,
    script: Script | None = None,
    omission: Rates | None = None,
    threshold: float | None = None,
    random_state: int = 0,
    observer: Observer | None = None,
    jobs: int = 1,
    dask: Any = None,
    **options: Any,
) -> Repaired:
    r"""Put back into an event log what was done and not recorded.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow frame, a file, or lists of events; read as `elision.read` does,
        with the same ``options``. All rows and columns stay as they are.
    script
        A script learned elsewhere, from a log that is complete; unless given, it is learned from
        the log itself how often each event is left out, and what stands where.
    omission
        The share of events that are left out, from 0 to 1, or that of some events by name, such as
        ``{"call back": 0}``, where `None` stands for all others; estimated unless given.
    threshold
        What is at least so probable is put in; 0.5 gives the most probable log. Unless given,
        right and wrong insertions are balanced.
    observer
        Hears of each domain that got done: 1, and how many domains there are.
    jobs, dask
        Processes, or a Dask cluster, that domains are spread over.

    Examples
    --------
    >>> import random
    >>> chance = random.Random(0)
    >>> steps = ("ask", "check", "pay")
    >>> told = [[step for step in steps if chance.random() < 0.8] for _ in range(500)]
    >>> repaired = repair([one for one in told if one])
    >>> f"{repaired.report.omission:.2f}"
    '0.20'
    >>> repaired.report.cases, repaired.report.inserted
    (495, 290)
    >>> repaired.insertions[0].event, repaired.insertions[0].gap
    ('ask', 0)
    >>> sorted(repaired.to_frame("pandas")["concept:name"].value_counts().items())
    [('ask', 495), ('check', 495), ('pay', 495)]
    """
    log = read_log(source, **options)
    traces = log.traces
    if not any(traces):
        raise InputError("no case has an event: there is nothing to repair")
    domains: defaultdict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(log.cases):
        domains["" if script is not None else case.domain].append(number)
    answers = [Answer([]) for _ in traces]
    by = [0] * len(traces)
    repairers: list[Repairer] = []
    chosen = [numbers for numbers in domains.values() if any(traces[k] for k in numbers)]
    every = {event for trace in traces for event in trace} if script is None else script.events
    check_names(omission, every)
    own = (
        _Work([traces[number] for number in numbers], script, omission, threshold, random_state)
        for numbers in chosen
    )
    done = parallel(_repaired, own, jobs=min(jobs, len(chosen)), dask=dask, ordered=True)
    for which, (repairer, here) in done:
        for number, found in zip(chosen[which], here, strict=True):
            answers[number], by[number] = found, which
        repairers.append(repairer)
        if observer is not None:
            observer(1, len(chosen))
    tally = Tally()
    tally.add(traces, answers, by)
    put_in = insertions_of(log, answers)
    report = tally.report(repairers, threshold)
    return Repaired(report, tuple(one for _, one in put_in), log, tuple(log.placed(put_in)))


class _Work(NamedTuple):
    """The traces of a domain, and how they are repaired."""

    traces: list[tuple[str, ...]]
    script: Script | None
    omission: Rates | None
    threshold: float | None
    random_state: int


def _repaired(work: _Work) -> tuple[Repairer, list[Answer]]:
    """What is missing from the traces of one domain, by a repairer of their own."""
    traces, omission, seed = work.traces, work.omission, work.random_state
    if work.script is None and isinstance(omission, Mapping):  # other domains have other events
        here = {None, *(event for trace in traces for event in trace)}
        omission = {event: rate for event, rate in omission.items() if event in here}
    if work.script is None:
        repairer = Repairer.learn(traces, omission=omission, random_state=seed)
    else:
        repairer = Repairer.of_script(work.script, traces, omission=omission, random_state=seed)
    return repairer, repairer.answers(traces, threshold=work.threshold)


def insertions_of(log: Log, answers: Iterable[Answer]) -> list[tuple[int, Insertion]]:
    """Return what goes into a log, with the numbers of the cases."""
    return [
        (number, Insertion(case.id, case.domain, *one))
        for number, (case, found) in enumerate(zip(log.cases, answers, strict=True))
        for one in found.missing
    ]
