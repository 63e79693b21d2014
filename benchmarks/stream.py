"""Streams: memory while narratives keep coming, when a change is reported, and false reports.

    python benchmarks/stream.py [--narratives 1000000] [--streams 60] [--length 10000] [-o FILE]

Prints one JSON object. Narratives are drawn from the script that is learned from the package's own
tellings of answering the doorbell, with deviations that make them differ. The long stream changes
once, in the middle: a step is told four times where it was told five times. It is learned from by
`StreamLearner`, in batches, as ``elision learn --follow`` does; resident memory is read after each
hundredth of it. The short streams are only watched: none of them changes, for the rate of false
reports, at the usual rate and at one half; or each changes in the middle in one of several ways,
for how many narratives later that is reported. With 0 narratives or streams a part is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import elision as el
from elision.learn.drift import Draws, Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elision.learn.reservoir import Told

BATCH = 1000
USUAL_RATE, HIGH_RATE = 0.05, 0.5
CHANGED_STREAMS = 10
DEVIATIONS = 0.03


def changed(script: el.Script, kind: str) -> el.Script:
    """Return a script that differs in one thing."""
    emission = np.array(script.emission)
    events = list(script.events)
    door, walk = (script.states.index(step) for step in ("open door", "walk to door"))
    if kind == "two steps in another order":
        emission[[door, walk]] = emission[[walk, door]]
    elif kind == "a new step in one of ten":
        events.append("put on shoes")
        emission = np.hstack([emission, np.zeros((len(emission), 1))])
        emission[door, -1] = 0.1 * emission[door].sum()
        emission[door, :-1] *= 0.9
    else:
        emission[door] *= 0.5 if kind == "a step told half as often" else 0.8
    elision = 1 - emission.sum(axis=1)
    elision[[0, -1]] = 0
    return el.Script(events, script.transition, emission, elision, states=script.states)


def with_deviations(script: el.Script) -> el.Script:
    """Return a script that tells some other event now and then: narratives seldom repeat."""
    emission = np.array(script.emission)
    told = emission.sum(axis=1, keepdims=True)
    emission = (1 - DEVIATIONS) * emission + DEVIATIONS * told / emission.shape[1]
    return el.Script(
        script.events, script.transition, emission, script.elision, states=script.states
    )


KINDS = (
    "two steps in another order",
    "a new step in one of ten",
    "a step told half as often",
    "a step told four times out of five as often",
)
SUBTLE = KINDS[-1]


def drawn(script: el.Script, number: int, seed: int) -> Iterator[list[Told]]:
    """Draw narratives in batches."""
    rng = np.random.default_rng(seed)
    while number > 0:
        some = script.sample(min(BATCH, number), random_state=rng)
        number -= len(some)
        yield [tuple(one) for one in some if one]


def resident() -> float:
    """Return the memory in use, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def long_stream(script: el.Script, narratives: int, on_drift: str) -> dict[str, Any]:
    """Learn from a stream that changes in the middle."""
    learner = el.StreamLearner(on_drift=on_drift)  # type: ignore[arg-type]
    memory: list[tuple[int, float]] = []
    learned: list[int] = []
    different: set[int] = set()
    began, spent, change = time.process_time(), 0.0, 0
    for half in (script, changed(script, SUBTLE)):
        change = learner.n_narratives_seen_ if half is not script else 0
        for batch in drawn(half, narratives // 2, seed=len(memory)):
            start = time.process_time()
            learner.partial_fit(batch)
            spent += time.process_time() - start
            if not learned or learned[-1] != learner.n_narratives_learned_:
                learned.append(learner.n_narratives_learned_)
            if len(different) < 1_000_000:
                different.update(map(hash, batch))
            if learner.n_narratives_seen_ >= (len(memory) + 1) * narratives / 100:
                memory.append((learner.n_narratives_seen_, round(resident(), 1)))
    settled = [megabytes for at, megabytes in memory if at >= narratives / 10]
    return {
        "narratives": learner.n_narratives_seen_,
        "different": len(different),
        "changed_after": change,
        "change": SUBTLE,
        "reports": [{"at": one.at, "words": str(one)} for one in learner.drifts_],
        "false_before": sum(one.at <= change for one in learner.drifts_),
        "delay": next((one.at - change for one in learner.drifts_ if one.at > change), None),
        "scripts_learned": len(learned),
        "microseconds_a_narrative": round(1e6 * spent / learner.n_narratives_seen_, 1),
        "cpu_seconds": round(time.process_time() - began, 1),
        "resident_megabytes_after_a_tenth": settled[0],
        "resident_megabytes_at_most_later": max(settled),
        "resident_megabytes": " ".join(str(megabytes) for _, megabytes in memory),
    }


def reported(batches: Iterator[list[Told]], watch: Watch, draws: Draws) -> int | None:
    """Narratives until a report, if there is one."""
    for batch in batches:
        if watch.see(batch, draws)[1] is not None:
            return watch.seen
    return None


def short_streams(script: el.Script, streams: int, length: int) -> dict[str, Any]:
    """Watch streams that do not change, and some that do."""
    false = {USUAL_RATE: 0, HIGH_RATE: 0}
    delays: dict[str, list[int | None]] = {kind: [] for kind in KINDS}
    early: dict[str, int] = dict.fromkeys(KINDS, 0)
    for seed in range(streams):
        for rate in false:
            found = reported(drawn(script, length, seed), Watch(rate, seed), Draws(seed))
            false[rate] += found is not None
    for seed in range(CHANGED_STREAMS):
        for kind in KINDS:
            watch, draws = Watch(USUAL_RATE, seed), Draws(seed)
            if reported(drawn(script, length // 2, seed + 10_000), watch, draws) is not None:
                early[kind] += 1
                continue
            change = watch.seen
            after = drawn(changed(script, kind), length // 2, seed + 20_000)
            found = reported(after, watch, draws)
            delays[kind].append(None if found is None else found - change)
    return {
        "length": length,
        "unchanged": {
            "streams": streams,
            "reported": {f"at the rate {rate}": number for rate, number in false.items()},
        },
        "changed_in_the_middle": {
            kind: {
                "streams": CHANGED_STREAMS,
                "reported_before": early[kind],
                "not_reported": some.count(None),
                "median_delay": median([one for one in some if one is not None] or [0]),
                "longest_delay": max((one for one in some if one is not None), default=None),
            }
            for kind, some in delays.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--narratives", type=int, default=1_000_000)
    parser.add_argument("--streams", type=int, default=60)
    parser.add_argument("--length", type=int, default=10_000)
    parser.add_argument("--on-drift", default="forget")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    script = with_deviations(el.examples.learned_doorbell())
    found = {}
    if given.narratives:
        found["long"] = long_stream(script, given.narratives, given.on_drift)
    if given.streams:
        found["short"] = short_streams(script, given.streams, given.length)
    text = json.dumps(found, indent=2)
    if given.output:
        given.output.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
