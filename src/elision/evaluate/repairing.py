"""Are events found that were done and not recorded: which, and where.

    python -m elision.evaluate.repairing LOG [--share .1 .2 .3] [--seeds 2] [--uneven] [--json]

LOG is an event log. 70 % of its cases are to learn from, the others to test on. Events of both are
removed by chance, each with probability ``--share``, or, with ``--uneven``, with a rate of its type
that is drawn from a beta distribution with that mean. A case of which nothing is left is in no log
and counts nowhere. Methods see thinned traces only, and are not told how many events are gone,
which, or where. For each thinned test trace they say what is missing at which place, with a
probability: place 0 is before the first event that is left, place n behind the last of n.

F1
    of pairs (place, event) over all test traces. They are multisets: what was removed twice at a
    place is to be said twice, and what is said more often than it was removed is wrong. "default"
    counts what is said with probability 0.5 or more, or with that of which the method itself says
    that it puts in what is as probable, "tuned" what has at least the probability
    that is best on the test traces themselves, in favour of the method.
ECE
    over everything that is said with probability 0.05 or more: ten bins of equal width, in each
    the difference between the mean probability and the share that was right, mean over all that is
    said. Of a pair that is said several times, the more probable ones are right first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from elision import readers
from elision.errors import ElisionError, InputError
from elision.evaluate.neighbours import Neighbours
from elision.evaluate.tables import markdown_table, one_line
from elision.evaluate.thinning import limited, thinned_parts
from elision.pipeline.learning import DEFAULT, make_learner
from elision.repairing.repairer import Repairer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from elision.values.corpus import Corpus

SHARES = (0.1, 0.2, 0.3)
DEFAULT_THRESHOLD = 0.5
LEAST_SAID = 0.05
"""What is said with less counts for no calibration."""

BINS = 10

MEASURES = ("default", "tuned", "ece")
SECONDS = ("learn", "repair")

Insertion: TypeAlias = tuple[int, str, float]
"""What may be missing: the place, the event, the probability."""

Insertions: TypeAlias = list[Insertion]
"""What may be missing from one trace; a pair of place and event may stand in it several times."""

Trace: TypeAlias = Sequence[str]


class Method(Protocol):
    """What can be measured: learns from thinned traces and repairs others."""

    def fit(self, traces: Sequence[Trace]) -> None:
        """Learn from traces; none is empty."""

    def insertions(self, traces: Sequence[Trace]) -> Sequence[Insertions | None]:
        """Say what may be missing from each trace; None if it gives up, and is not judged by it."""


class Learner:
    """Repairs by the chances that a learner of scripts gives to hidden events."""

    def __init__(self, method: str = DEFAULT, *, seed: int = 0) -> None:
        self._learner = make_learner(method, random_state=seed)

    def fit(self, traces: Sequence[Trace]) -> None:
        """Learn a script."""
        self._learner.fit([list(one) for one in traces])

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions]:
        """Ask the script, each distinct trace once; events it does not know are passed over."""
        events = self._learner.script_.events
        known = set(events)
        distinct = list(dict.fromkeys(map(tuple, traces)))
        places = {one: [k for k, event in enumerate(one) if event in known] for one in distinct}
        heard = [[one[k] for k in places[one]] for one in distinct]
        answers = dict(zip(distinct, self._learner.predict_hidden(heard), strict=True))
        return [
            _listed(answers[one], events, [*places[one], len(one)]) for one in map(tuple, traces)
        ]


def _listed(
    chances: NDArray[np.float64], events: Sequence[str], places: Sequence[int]
) -> Insertions:
    rows, columns = np.nonzero(chances >= LEAST_SAID / 5)
    return [
        (places[place], events[event], float(chances[place, event]))
        for place, event in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


class Ours:
    """The repairer of `elision.repair`, with the threshold that it chose."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    def fit(self, traces: Sequence[Trace]) -> None:
        """Learn how much is left out, and what."""
        self._repairer = Repairer.learn(traces, random_state=self._seed)
        self.threshold = self._repairer.threshold

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions]:
        """Ask the repairer."""
        return self._repairer.chances(traces)


METHODS: dict[str, Callable[[int], Method]] = {
    "repairer": lambda seed: Ours(seed=seed),
    "script": lambda seed: Learner(seed=seed),
    "neighbours": lambda seed: Neighbours(seed=seed),
}
"""What is measured, made with a seed."""


class Judged(NamedTuple):
    """What the answers of a method are worth, and at which probability tuning would insert."""

    default: float
    tuned: float
    ece: float
    threshold: float


def judge(
    answers: Sequence[Insertions],
    removed: Sequence[Mapping[tuple[int, str], int]],
    threshold: float = DEFAULT_THRESHOLD,
) -> Judged:
    """Compare what a method says of each trace with what was removed from it.

    Examples
    --------
    >>> judge([[(1, "walk", 0.75), (1, "open", 0.25)]], [{(1, "walk"): 1, (0, "ring"): 1}])
    Judged(default=0.6666666666666666, tuned=0.6666666666666666, ece=0.25, threshold=0.75)
    """
    probability, right = _marked(answers, removed)
    wanted = sum(sum(one.values()) for one in removed)
    order = np.argsort(-probability, kind="stable")
    probability, right = probability[order], right[order]
    said = np.arange(1, len(right) + 1)
    scores = 2 * np.cumsum(right) / (said + wanted)
    ends = np.flatnonzero(np.append(probability[1:] < probability[:-1], True)[: len(right)])
    default = int((probability >= threshold).sum())
    best = int(ends[scores[ends].argmax()]) if len(ends) else None
    return Judged(
        default=float(scores[default - 1]) if default else _nothing_said(wanted),
        tuned=_nothing_said(wanted) if best is None else float(scores[best]),
        ece=_calibration_error(probability, right),
        threshold=1.0 if best is None else float(probability[best]),
    )


def _marked(
    answers: Sequence[Insertions], removed: Sequence[Mapping[tuple[int, str], int]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Probability of everything that is said, and whether it is right."""
    probability: list[float] = []
    right: list[bool] = []
    for said, truth in zip(answers, removed, strict=True):
        left = dict(truth)
        for place, event, chance in sorted(said, key=lambda one: -one[2]):
            times = left.get((place, event), 0)
            left[place, event] = times - 1
            probability.append(chance)
            right.append(times > 0)
    return np.array(probability, float), np.array(right, bool)


def _nothing_said(wanted: int) -> float:
    """F1 of silence: right where nothing was removed."""
    return 0.0 if wanted else 1.0


def _calibration_error(probability: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    counted = probability >= LEAST_SAID
    if not counted.any():
        return 0.0
    probability, right = probability[counted], right[counted]
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, probability - right, minlength=BINS)
    return float(np.abs(gap).sum() / len(probability))


def measure(
    log: Corpus,
    *,
    shares: Sequence[float] = SHARES,
    seeds: int = 2,
    uneven: bool = False,
    methods: Mapping[str, Callable[[int], Method]] | None = None,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Thin a log, let methods repair it, and judge them.

    Parameters
    ----------
    log
        The cases.
    shares
        Shares of the events that are removed, each measured by itself.
    seeds
        How many splits, each thinned once.
    uneven
        Whether types of events are removed at different rates.
    methods
        What makes each method, given a seed; `METHODS` unless given.
    progress
        Called before each method with what is done.

    Returns
    -------
    dict
        ``cells``: for each share and method the means over seeds of `MEASURES`, and what each seed
        gave, with the seconds it took.
    """
    methods = METHODS if methods is None else methods
    tell = progress or (lambda _: None)
    cells = []
    for share in shares:
        outcomes: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
        for seed in range(seeds):
            train, test = thinned_parts(log, share, seed, uneven=uneven)
            for name, make in methods.items():
                tell(f"{share:.0%} removed, seed {seed}: {name}")
                start = time.perf_counter()
                method = make(seed)
                method.fit(train.traces)
                learned = time.perf_counter()
                answers = method.insertions(test.traces)
                seconds = (learned - start, time.perf_counter() - learned)
                outcomes[name].append(
                    _judged(answers, test.removed, getattr(method, "threshold", DEFAULT_THRESHOLD))
                    | dict(zip(SECONDS, seconds, strict=True))
                )
        cells += [
            {
                "share": share,
                "method": name,
                **{what: float(np.mean([one[what] for one in by])) for what in MEASURES},
                "seeds": by,
            }
            for name, by in outcomes.items()
        ]
    return {"cases": len(log), "uneven": uneven, "seeds": seeds, "cells": cells}


def _judged(
    answers: Sequence[Insertions | None],
    removed: Sequence[Mapping[tuple[int, str], int]],
    threshold: float,
) -> dict[str, float]:
    """Judge what was answered, and say how much it is."""
    given = [(one, gone) for one, gone in zip(answers, removed, strict=True) if one is not None]
    outcome = judge([one for one, _ in given], [gone for _, gone in given], threshold)
    return {**outcome._asdict(), "answered": len(given)}


def tables(result: dict[str, Any]) -> str:
    """The result in Markdown."""
    rows = [
        [
            f"{cell['share']:.0%}",
            cell["method"],
            *(f"{cell[what]:.3f}" for what in MEASURES),
            f"{np.mean([one['answered'] for one in cell['seeds']]):.0f}",
            *(f"{np.mean([one[what] for one in cell['seeds']]):.1f}" for what in SECONDS),
        ]
        for cell in result["cells"]
    ]
    rates = "rates that differ by event" if result["uneven"] else "one rate for all events"
    said = f"{result['cases']} cases, {result['seeds']} seeds, {rates}."
    heads = [
        "removed",
        "method",
        "F1 at .5",
        "F1 tuned",
        "ECE",
        "cases",
        "s to learn",
        "s to repair",
    ]
    return "\n\n".join([said, markdown_table(heads, rows, {0, 1})])


def checked_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Shares of events that can be removed."""
    for one in shares:
        if not 0 < one < 1:
            raise InputError(f"--share is {one:g}, expected a number above 0 and below 1")
    return tuple(shares)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command that measures repairing lets one choose."""
    parser.add_argument("log", metavar="LOG", help="an event log")
    parser.add_argument("--share", type=float, nargs="+", default=SHARES, help="removed events")
    parser.add_argument("--seeds", type=int, default=2, help="splits, each thinned once")
    parser.add_argument("--uneven", action="store_true", help="rates differ by type of event")
    parser.add_argument("--max-cases", type=int, help="most cases of the log, by chance")
    parser.add_argument("--json", action="store_true", help="all figures, as JSON")


def chosen_log(options: argparse.Namespace) -> Corpus:
    """Read the log that was asked for, or so many of its cases."""
    if options.seeds < 1:
        raise InputError(f"--seeds is {options.seeds}, expected a whole number from 1")
    checked_shares(options.share)
    log = limited(readers.read(options.log), options.max_cases)
    if len(log) < 2:
        raise InputError(f"{len(log)} case, expected 2 or more", where=options.log)
    return log


def main(arguments: Iterable[str] | None = None) -> int:
    """Print the tables of a log."""
    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.repairing",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.add_argument("--peers", nargs="+", choices=METHODS, default=list(METHODS))
    options = parser.parse_args(None if arguments is None else list(arguments))
    try:
        result = measure(
            chosen_log(options),
            shares=options.share,
            seeds=options.seeds,
            uneven=options.uneven,
            methods={name: METHODS[name] for name in options.peers},
            progress=say,
        )
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((json.dumps(result, indent=1) if options.json else tables(result)) + "\n")
    return 0


def say(what: str) -> None:
    """Say on standard error what is done."""
    sys.stderr.write(f"{one_line(what)}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
