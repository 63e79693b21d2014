"""Whether the score ever falls: every method on every domain of the files given.

    python benchmarks/never_falls.py FILE.jsonl ... [--narratives 60]

Watches each accepted move and each EM step. Prints one JSON object and exits with 1 if any score
fell. Narratives without events are learned as if each sentence's first word were its event.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

import elision as el
from elision.learn.observe import BatchDone, Event, Moved, Stepped
from elision.pipeline.learning import METHODS, make_learner

if TYPE_CHECKING:
    from elision.learn.counts import CountsModel

ROUNDING = 1e-9
"""How much of itself an EM objective may seem to lose."""


class Watch:
    """Counts moves and steps, and those that made things worse."""

    def __init__(self) -> None:
        self.moves = self.steps = self.falls = 0
        self._last: tuple[int, float] | None = None

    def __call__(self, event: Event, model: CountsModel | None) -> None:
        if isinstance(event, Moved):
            self.moves += 1
            self.falls += event.move.gain <= 0
        elif isinstance(event, Stepped):
            self.steps += 1
            if self._last is not None and self._last[0] == event.batch:
                before = self._last[1]
                self.falls += event.objective < before - ROUNDING * abs(before)
            self._last = (event.batch, event.objective)
        elif isinstance(event, BatchDone) and model is not None:
            gained = event.score_after - event.score_before
            self.falls += gained < -ROUNDING * abs(event.score_before)


def tellings(part: el.Corpus, most: int) -> list[tuple[str, ...]]:
    if part.has_events:
        return part.events[:most]
    return [tuple(step.split()[0] for step in one if step.split()) for one in part.steps[:most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--narratives", type=int, default=60)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    fell = 0
    for file in options.files:
        for method in METHODS:
            watch = Watch()
            domains = el.read(file).by_domain()
            for part in domains.values():
                learner = make_learner(method, random_state=0, observer=watch, constraint_cost=0.5)
                learner.fit(tellings(part, options.narratives))
            counts = {"moves": watch.moves, "em_steps": watch.steps, "falls": int(watch.falls)}
            result.setdefault(file, {"domains": len(domains)})[method] = counts
            fell += int(watch.falls)
    print(json.dumps(result, indent=2))
    sys.exit(1 if fell else 0)


if __name__ == "__main__":
    main()
