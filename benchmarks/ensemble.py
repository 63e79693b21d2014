"""Learning the default ensemble against one logistic regression, and gaps filled a second.

    python benchmarks/ensemble.py [--narratives 60] [--repeats 3] [--corpus FILE --domain D]

Prints one JSON object. The narratives are told by a script learned from the package's own tellings
of one activity, or are those of a domain of a file. Every time is the least of several, taken in
turns within this run, so only the ratios mean something.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import elision as el
from elision.evaluate.events import own_tellings
from elision.learning import DEFAULT, make_learner
from estep import least_times

if TYPE_CHECKING:
    from collections.abc import Callable

Telling = tuple[str, ...]

THREADS = (1, 2)
ASKED = 2000
"""Gaps that are filled at once."""


def told_by_a_script(narratives: int) -> list[Telling]:
    """Narratives like the package's own tellings of its first activity."""
    part = next(iter(own_tellings().by_domain().values()))
    script = make_learner("marginal", random_state=0).fit(part.events).script_
    found: list[Telling] = []
    seed = 0
    while len(found) < narratives:
        told = script.sample(narratives, random_state=seed)
        found += [tuple(one) for one in told if len(one) > 1]
        seed += 1
    return found[:narratives]


def told_in(corpus: str, domain: str | None, narratives: int) -> list[Telling]:
    """The first narratives of a domain, of the first one if none is named."""
    read = el.read(corpus)
    part = read.domain(read.domains[0] if domain is None else domain)
    return part.filter(min_events=2).events[:narratives]


def gaps_of(told: list[Telling], most: int) -> list[list[str | None]]:
    """Every place of every narrative as a gap, again and again up to ``most``."""
    every: list[list[str | None]] = [
        [*one[:place], None, *one[place + 1 :]] for one in told for place in range(len(one))
    ]
    return (every * (1 + most // len(every)))[:most]


def measure(told: list[Telling], repeats: int) -> dict[str, Any]:
    def learning(threads: int) -> Callable[[], object]:
        def run() -> object:
            el.set_threads(threads)
            return make_learner(DEFAULT, random_state=0).fit(told)

        return run

    def filling(learner: Any, threads: int) -> Callable[[], object]:
        def run() -> object:
            el.set_threads(threads)
            return learner.predict_gap(gaps)

        return run

    gaps = gaps_of(told, ASKED)
    ensemble = make_learner(DEFAULT, random_state=0).fit(told)
    regression = el.LogisticGap().fit(told)
    peer, *ours = least_times(
        repeats, lambda: el.LogisticGap().fit(told), *(learning(n) for n in THREADS)
    )
    peer_fill, *fills = least_times(
        repeats, filling(regression, 1), *(filling(ensemble, n) for n in THREADS)
    )
    return {
        "narratives": len(told),
        "events": sum(map(len, told)),
        "event_types": len(ensemble.events_),
        "scripts": len(ensemble.scripts_),
        "seconds_to_learn": _by_threads(ours, 3),
        "times_logistic_regression": _by_threads([seconds / peer for seconds in ours], 1),
        "gaps_a_second": _by_threads([len(gaps) / seconds for seconds in fills], None),
        "gaps_a_second_logistic_regression": round(len(gaps) / peer_fill),
    }


def _by_threads(values: list[float], digits: int | None) -> dict[str, float]:
    return {
        f"threads_{threads}": round(value, digits)
        for threads, value in zip(THREADS, values, strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--narratives", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--corpus", help="take the narratives of this file")
    parser.add_argument("--domain", help="and of this domain; the first by default")
    options = parser.parse_args()
    if options.corpus is None:
        told = told_by_a_script(options.narratives)
    else:
        told = told_in(options.corpus, options.domain, options.narratives)
    print(json.dumps(measure(told, options.repeats), indent=2))


if __name__ == "__main__":
    main()
