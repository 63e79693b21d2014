"""Are events found that were done and not recorded: which, and where; and how fast.

    python benchmarks/repair.py LOG... [--share .1 .2 .3] [--seeds 2] [--uneven] [--peers ...]
    python benchmarks/repair.py LOG... --speed

70 % of the cases of an event log are to learn from, the others to test on. Events of both are
removed by chance, each with probability ``--share``, or, with ``--uneven``, with a rate of its type
that is drawn from a beta distribution with that mean. Methods see thinned traces only, and are not
told how many events are gone, which, or where. For each thinned test trace they say what is missing
at which place, with a probability: place 0 is before the first event that is left, place n behind
the last of n.

F1
    of pairs (place, event) over all test traces, what is missing twice to be said twice. "default"
    counts what is said with probability 0.5 or more, or with that from which on the method itself
    puts in; "tuned" has the threshold that is best on the test traces, in favour of the method.
ECE
    over everything that is said with probability 0.05 or more, in ten bins of equal width.

pm4py's alignments have no probabilities: what they insert is sure. The inductive miner is run at
several noise settings, and the best on the test traces is shown; alignments get ``--seconds`` for
each cell, and judge as many cases, taken by chance, as they can align in it. The LSTM chooses its
number of epochs by its loss on a tenth of the training traces.

With ``--speed`` it prints, of the whole log as it is: seconds to learn from all traces and to
repair them, and the peak memory of a process that does that and nothing else; and seconds that
pm4py takes to mine a net and to align all variants, those of a part that is taken by chance,
multiplied. Both look at each variant once. Seconds are those of the clock and of the processors.

pm4py and the LSTM need ``pip install 'elision[bench]'``. pm4py is under the AGPL: the package never
imports it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import limited, means, parser_of, run, table, tell, thinned_parts
from elision.errors import InputError
from elision.repairing.repairer import Repairer
from repair_peers import (
    NOISES,
    Alignments,
    BidirectionalLSTM,
    Insertions,
    Neighbours,
    Trace,
    align,
    inductive,
    log_of,
)

SHARES = (0.1, 0.2, 0.3)
DEFAULT_THRESHOLD = 0.5
LEAST_SAID = 0.05
"""What is said with less counts for no calibration."""

BINS = 10

NOISE = 0.2
"""Noise setting of the net that is aligned with for its speed, as pm4py's own examples have it."""

SECONDS_A_TRACE = 5.0
MEMORY = 1024 if sys.platform == "darwin" else 1
"""Kilobytes are what Linux counts in, bytes others."""


class Method(Protocol):
    """What can be measured: learns from thinned traces and repairs others."""

    def fit(self, traces: Sequence[Trace]) -> None:
        """Learn from traces; none is empty."""

    def insertions(self, traces: Sequence[Trace]) -> Sequence[Insertions | None]:
        """Say what may be missing from each trace; None if it gives up, and is not judged by it."""


class Ours:
    """The repairer of `elision.repair`, with the threshold that it chose."""

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    def fit(self, traces: Sequence[Trace]) -> None:
        self._repairer = Repairer.learn(traces, random_state=self._seed)
        self.threshold = self._repairer.threshold

    def insertions(self, traces: Sequence[Trace]) -> list[Insertions]:
        return self._repairer.chances(traces)


def methods_of(peer: str, seconds: float, seed: int) -> list[Method]:
    """The method of a name, or several settings of it, of which the best is shown."""
    if peer == "pm4py":
        options: Any = {"seconds": seconds, "seconds_a_trace": SECONDS_A_TRACE, "seed": seed}
        return [Alignments(inductive(noise), **options) for noise in NOISES]
    kinds: dict[str, Callable[..., Method]] = {
        "repairer": Ours,
        "neighbours": Neighbours,
        "lstm": BidirectionalLSTM,
    }
    return [kinds[peer](seed=seed)]


PEERS = ("repairer", "neighbours", "lstm", "pm4py")


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
    probability, right = marked(answers, removed)
    wanted = sum(sum(one.values()) for one in removed)
    order = np.argsort(-probability, kind="stable")
    probability, right = probability[order], right[order]
    said = np.arange(1, len(right) + 1)
    scores = 2 * np.cumsum(right) / (said + wanted)
    ends = np.flatnonzero(np.append(probability[1:] < probability[:-1], True)[: len(right)])
    default = int((probability >= threshold).sum())
    best = int(ends[scores[ends].argmax()]) if len(ends) else None
    return Judged(
        default=float(scores[default - 1]) if default else nothing_said(wanted),
        tuned=nothing_said(wanted) if best is None else float(scores[best]),
        ece=calibration_error(probability, right),
        threshold=1.0 if best is None else float(probability[best]),
    )


def marked(
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


def nothing_said(wanted: int) -> float:
    """F1 of silence: right where nothing was removed."""
    return 0.0 if wanted else 1.0


def calibration_error(probability: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    counted = probability >= LEAST_SAID
    if not counted.any():
        return 0.0
    probability, right = probability[counted], right[counted]
    bins = np.minimum((probability * BINS).astype(int), BINS - 1)
    gap = np.bincount(bins, probability - right, minlength=BINS)
    return float(np.abs(gap).sum() / len(probability))


# Commands


def measured(method: Method, log: el.Corpus, share: float, seed: int, uneven: bool) -> Any:
    """Thin a log, let a method repair it, and judge it."""
    train, test = thinned_parts(log, share, seed, uneven=uneven)
    if not (train.traces and test.traces):
        raise InputError(f"with {share:.0%} removed nothing is left")
    start = time.perf_counter()
    method.fit(train.traces)
    learned = time.perf_counter()
    answers = method.insertions(test.traces)
    ended = time.perf_counter()
    given = [
        (one, gone) for one, gone in zip(answers, test.removed, strict=True) if one is not None
    ]
    outcome = judge(
        [one for one, _ in given],
        [gone for _, gone in given],
        getattr(method, "threshold", DEFAULT_THRESHOLD),
    )
    seconds = {"s to learn": learned - start, "s to repair": ended - learned}
    return {**outcome._asdict(), "cases": len(given), **seconds}


def compared(log: el.Corpus, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each share and method, means over seeds; of several settings the best tuned."""
    rows = []
    for share in options.share:
        for peer in options.peers:
            runs: list[list[dict[str, float]]] = []
            for seed in range(options.seeds):
                tell(f"{share:.0%} removed, seed {seed}: {peer}")
                settings = methods_of(peer, options.seconds, seed)
                runs.append([measured(one, log, share, seed, options.uneven) for one in settings])
            settings_means = [means(one) for one in zip(*runs, strict=True)]
            best = max(settings_means, key=lambda one: one["tuned"])
            rows.append({"removed": f"{share:.0%}", "method": peer, **best})
    return rows


def seconds_of(work: Callable[[], Any]) -> dict[str, float]:
    """Seconds that something takes, by the clock and of the processors."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return {
        "clock": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
    }


def own_seconds(log: el.Corpus) -> dict[str, Any]:
    """Learn from a log and repair it, and say what it took."""
    method = Ours()
    learned = seconds_of(lambda: method.fit(log.events))
    repaired = seconds_of(lambda: method.insertions(log.events))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEMORY / 1024
    return {"learn": learned, "repair": repaired, "peak_megabytes": round(peak, 1)}


def speed(file: str, log: el.Corpus, options: argparse.Namespace) -> dict[str, Any]:
    """Seconds of ours, in a process of its own, and of alignments, in this one."""
    command = [sys.executable, __file__, file, "--own"]
    if options.max_cases:
        command += ["--max-cases", str(options.max_cases)]
    for _ in range(2):  # once for what is compiled on first use, once to count
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    own = json.loads(done.stdout)
    variants = list(dict.fromkeys(map(tuple, log.events)))
    order = np.random.default_rng(0).permutation(len(variants)).tolist()
    nets: list[Any] = []
    mined = seconds_of(lambda: nets.append(inductive(NOISE)(log_of(log.events))))
    aligned = 0
    spent = {"clock": 0.0, "processor": 0.0}
    while aligned < len(variants) and spent["clock"] < options.seconds:
        some = [variants[k] for k in order[aligned : aligned + 10]]
        took = seconds_of(lambda some=some: align(nets[0], some, 10 * SECONDS_A_TRACE))  # type: ignore[misc]
        spent = {kind: spent[kind] + took[kind] for kind in spent}
        aligned += len(some)
    whole = {kind: took / aligned * len(variants) for kind, took in spent.items()}
    return {
        "traces": len(log),
        "variants": len(variants),
        "elision": own,
        "pm4py": {"mine": mined, "align_all": whole, "variants_aligned": aligned},
        "times_as_fast": {
            "repair": {kind: whole[kind] / own["repair"][kind] for kind in whole},
            "learn_and_repair": {
                kind: (mined[kind] + whole[kind]) / (own["learn"][kind] + own["repair"][kind])
                for kind in whole
            },
        },
    }


def measure(file: str, options: argparse.Namespace) -> Any:
    for one in options.share:
        if not 0 < one < 1:
            raise InputError(f"--share is {one:g}, expected a number above 0 and below 1")
    log = limited(el.read(file), options.max_cases)
    return speed(file, log, options) if options.speed else compared(log, options)


def shown(found: Any) -> str:
    if isinstance(found, dict):
        return json.dumps(found, indent=2)
    heads = ["removed", "method", "default", "tuned", "ece", "cases", "s to learn", "s to repair"]
    digits = {"cases": 0, "s to learn": 1, "s to repair": 1}
    lines = [
        [row[n] if isinstance(row[n], str) else f"{row[n]:.{digits.get(n, 3)}f}" for n in heads]
        for row in found
    ]
    return table(heads, lines, texts=2)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of(__doc__, seeds=2)
    parser.add_argument("--share", type=float, nargs="+", default=SHARES, help="removed events")
    parser.add_argument("--uneven", action="store_true", help="rates differ by type of event")
    parser.add_argument("--max-cases", type=int, help="most cases of the log, by chance")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS[:2])
    parser.add_argument("--seconds", type=float, default=60.0, help="for the alignments of a cell")
    parser.add_argument("--speed", action="store_true", help="seconds and memory instead")
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.own:
        print(json.dumps(own_seconds(limited(el.read(options.files[0]), options.max_cases))))
        return 0
    return run(parser, measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
