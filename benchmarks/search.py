"""Structure learning against brute force and against peers, and how its time grows.

    python benchmarks/search.py [--corpus FILE.jsonl] [--domain NAME] [--growth FILE.jsonl ...]

Prints one JSON object. Without ``--corpus`` it learns from the package's own labelled tellings.
Every time is the least of several, taken in turns within this run: only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from hmmlearn.hmm import CategoricalHMM

import elision as el

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

Tellings = list[tuple[str, ...]]


def least_times(repeats: int, jobs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each job, the jobs taking turns."""
    times = dict.fromkeys(jobs, math.inf)
    for job in jobs.values():
        job()
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def learner(
    tellings: Tellings, score: Any, batch_size: int, **options: Any
) -> Callable[[], object]:
    def fit() -> object:
        return el.SEMHMM(score=score, batch_size=batch_size, random_state=0, **options).fit(
            tellings
        )

    return fit


def hmmlearn_fit(tellings: Tellings, states: int, iterations: int) -> Callable[[], object]:
    number = {event: o for o, event in enumerate(sorted({e for one in tellings for e in one}))}
    symbols = np.array([number[event] for one in tellings for event in one])[:, None]
    lengths = [len(one) for one in tellings if one]

    def fit() -> object:
        peer = CategoricalHMM(
            n_components=states,
            n_iter=iterations,
            tol=-math.inf,
            implementation="scaling",
            random_state=0,
        )
        return peer.fit(symbols, lengths)

    return fit


def alergia(tellings: Tellings) -> Callable[[], object]:
    from aalpy.learning_algs import run_Alergia

    data = [[("told", event) for event in one] for one in tellings]

    def fit() -> object:
        chains = [["start", *[event for _, event in one]] for one in data]
        return run_Alergia(chains, automaton_type="mc", eps=0.005, print_info=False)

    return fit


def naive_seconds(tellings: Tellings, batch_size: int, batches: int) -> tuple[float, float]:
    """Seconds of the brute-force search on the first batches, and of ours on the same."""
    import naive

    events = sorted({event for one in tellings for event in one})
    number = {event: o for o, event in enumerate(events)}
    some = [tuple(number[e] for e in one) for one in tellings[: batch_size * batches]]
    prior = naive.paper_pseudocounts(1.0, 1.0, len(events))
    rules = naive.Settings("expected_complete", prior, kappa_q=1.0, kappa_t=0.5)
    start = time.perf_counter()
    model = naive.empty_model(len(events))
    for first in range(0, len(some), batch_size):
        model = naive.prefix_tree(some[first : first + batch_size], model)
        model, _ = naive.search(model, some, rules)
    brute = time.perf_counter() - start
    fit = learner(tellings[: len(some)], "approx", batch_size, em=False, plan="paper")
    return brute, least_times(5, {"ours": fit})["ours"]


def compare(tellings: Tellings, repeats: int) -> dict[str, Any]:
    jobs: dict[str, Callable[[], object]] = {}
    for score in ("approx", "exact", "marginal"):
        for batch_size in (5, 10):
            jobs[f"{score} r={batch_size}"] = learner(tellings, score, batch_size, plan="paper")
    jobs["hmmlearn 20 states 50 iterations"] = hmmlearn_fit(tellings, 20, 50)
    jobs["AALpy run_Alergia"] = alergia(tellings)
    times = least_times(repeats, jobs)
    brute, ours = naive_seconds(tellings, 5, 2)
    unit = times["approx r=5"]
    return {
        "narratives": len(tellings),
        "relative_to_approx_r5": {name: round(value / unit, 2) for name, value in times.items()},
        "times_faster_than_brute_force_on_two_batches": round(brute / ours),
        "hmmlearn_fit_over_approx_r5": round(times["hmmlearn 20 states 50 iterations"] / unit, 1),
        "exact_over_approx_r5": round(times["exact r=5"] / unit, 1),
        "exact_over_approx_r10": round(times["exact r=10"] / times["approx r=10"], 1),
    }


def growth(tellings: Tellings, score: str) -> dict[str, Any]:
    """Time of the growing plan over doubling numbers of narratives, and what hmmlearn needs."""
    sizes = [len(tellings) // 2**power for power in range(4, -1, -1)]
    rng = np.random.default_rng(0)
    mixed = [tellings[i] for i in rng.permutation(len(tellings))]
    jobs = {str(n): learner(mixed[:n], score, 5, plan="growing") for n in sizes}
    times = [least_times(1, {name: job})[name] for name, job in jobs.items()]
    slope, _ = np.polyfit(np.log(sizes), np.log(times), 1)
    peer = hmmlearn_fit(tellings, 30, 2)
    start = time.perf_counter()
    peer()
    iteration = (time.perf_counter() - start) / 2
    return {
        "score": score,
        "narratives": sizes[-1],
        "exponent": round(float(slope), 2),
        "share_of_100_hmmlearn_iterations_with_30_states": round(times[-1] / (100 * iteration), 3),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def accuracy(tellings: Tellings, score: Any) -> dict[str, float]:
    """Share of removed events found again, by the paper's plan and by the growing one."""
    rng = np.random.default_rng(0)
    told = [one for one in tellings if len(one) > 1]
    mixed = [told[i] for i in rng.permutation(len(told))][:1000]
    cut = len(mixed) * 6 // 10
    events = sorted({event for one in mixed for event in one})
    gaps, answers = [], []
    for one in mixed[cut:]:
        place = int(rng.integers(len(one)))
        gaps.append([*one[:place], None, *one[place + 1 :]])
        answers.append(events.index(one[place]))
    found = {}
    for plan in ("paper", "growing"):
        fitted = el.SEMHMM(score=score, plan=plan, events=events, random_state=0)
        best = fitted.fit(mixed[:cut]).predict_gap(gaps).argmax(axis=1)
        found[plan] = round(float((best == answers).mean()), 3)
    return found


def read(path: str, domain: str | None) -> Tellings:
    corpus = el.read(path)
    return corpus.domain(domain or corpus.domains[0]).events


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default=str(files("elision") / "data" / "tellings.jsonl"))
    parser.add_argument("--domain")
    parser.add_argument("--growth", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    result: dict[str, Any] = {
        "one_domain": compare(read(options.corpus, options.domain)[:60], options.repeats)
    }
    for path in options.growth:
        tellings = read(path, None)
        result[Path(path).stem] = {
            "growth": [growth(tellings, score) for score in ("approx", "marginal")],
            "accuracy_by_plan": {s: accuracy(tellings, s) for s in ("approx", "marginal")},
        }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
