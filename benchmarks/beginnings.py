"""Whether beginnings are judged as such: what is still to come is neither odd nor missing.

    python benchmarks/beginnings.py FILE... [--seeds N] [--json]

Two thirds of each domain are learned from, the others are asked about, after each event of all was
hidden with chance 0.2. Each telling is asked about whole, and cut off after one of its events, as
one that is not finished: how often is either called odd, and how many of the hidden events do
`missing` and `between` speak of, by the sum of their probabilities, for one that was hidden? What
`between` finds unsaid that no telling ever told counts as well, so it says more than was hidden.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

import elision as el
from common import learn, parser_of, percent, run, table, tell, thin, usable_domains

TEST_SHARE = 1 / 3
HIDDEN = 0.2
MOST_ASKED = 300
"""Tellings of a domain that are asked about."""

QUESTIONS = ("missing", "between")


def ask(
    script: el.Script, told: tuple[str, ...], hidden: Counter[tuple[int, str]], *, finished: bool
) -> dict[str, float]:
    """Put all questions about a telling: oddness, what is stated, and how much of it was hidden."""
    options: dict[str, Any] = {"min_probability": 0.0, "finished": finished}
    answers: tuple[Any, ...] = (
        script.missing(told, **options).places,
        script.between(told, **options).unsaid,
    )
    places = len(told) + finished
    found = {"odd": float(script.score(told, finished=finished).oddness > 0)}
    for name, answer in zip(QUESTIONS, answers, strict=True):
        found[name] = sum(one.probability for row in answer[:places] for one in row)
    found["hidden"] = sum(place < places and times > 0 for (place, _), times in hidden.items())
    return found


def measure(file: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Figures of whole tellings and of beginnings."""
    said: dict[str, list[dict[str, float]]] = defaultdict(list)
    for seed in range(options.seeds):
        for name, part in usable_domains(el.read(file)).items():
            tell(f"{name}, split {seed + 1} of {options.seeds}")
            rng = np.random.default_rng(seed)
            rates = dict.fromkeys(part.vocabulary, HIDDEN)
            train, test = part.split(TEST_SHARE, random_state=seed)
            thinned = thin(train.events, rates, rng).traces
            script = learn(el.Corpus(el.Narrative(events=one) for one in thinned), seed)
            asked = thin(test.events[:MOST_ASKED], rates, rng)
            for told, hidden in zip(asked.traces, asked.removed, strict=True):
                if len(told) > 1 and all(event in script.events for event in told):
                    end = int(rng.integers(1, len(told)))
                    known = Counter(
                        {key: n for key, n in hidden.items() if key[1] in script.events}
                    )
                    said["whole"].append(ask(script, told, known, finished=True))
                    before = Counter({key: n for key, n in known.items() if key[0] < end})
                    said["not finished"].append(ask(script, told[:end], before, finished=False))
    return {
        name: {
            "tellings": len(some),
            "odd": float(np.mean([one["odd"] for one in some])),
            **{
                question: sum(one[question] for one in some)
                / max(1, sum(one["hidden"] for one in some))
                for question in QUESTIONS
            },
        }
        for name, some in said.items()
    }


def shown(found: dict[str, dict[str, float]]) -> str:
    lines = [
        [name, f"{row['tellings']:.0f}", percent(row["odd"]), *(f"{row[q]:.2f}" for q in QUESTIONS)]
        for name, row in found.items()
    ]
    heads = [
        "tellings",
        "number",
        "oddness above 0, %",
        *(f"{q}, for one hidden" for q in QUESTIONS),
    ]
    return table(heads, lines, texts=1)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(parser_of(__doc__, seeds=5), measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
