"""How good the answers to questions are: which script, which order, what is odd.

    python -m elision.evaluate.questions identify|order|detect|faults|odd FILE... [--seeds N]

prints a table for each corpus, means over domains and seeds with their standard errors over
domains. Narratives are split as for gap filling: 60 % to learn from, 40 % to ask about; for faults
as event logs are, see `elision.evaluate.faults`.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from elision import evaluate, readers
from elision.errors import ElisionError, InputError
from elision.pipeline.learning import DEFAULT, METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elision.values.corpus import Corpus

LEAST_NARRATIVES = 5
"""Domains with fewer narratives are left out."""

Row = dict[str, Any]


def measure_identify(corpus: Corpus, seeds: int, method: str) -> list[Row]:
    """Accuracy of identification; the standard error is that over seeds."""
    found = [evaluate.identifying.identify_corpus(corpus, seed, method) for seed in range(seeds)]
    return [_row(name, [one[name] for one in found]) for name in found[0]]


def measure_order(corpus: Corpus, seeds: int, method: str) -> list[Row]:
    """Share of pairs in the right order."""
    domains = [
        [evaluate.ordering.order_domain(part, seed, method) for seed in range(seeds)]
        for part in corpus.by_domain().values()
    ]
    return [
        _row(name, [float(np.mean([one[name] for one in runs])) for runs in domains])
        for name in domains[0][0]
    ]


def measure_detect(corpus: Corpus, seeds: int, method: str) -> list[Row]:
    """Area under the curve, by deviation and measure."""
    parts = corpus.by_domain()
    cells: dict[tuple[str, str], list[float]] = {}
    for name, part in parts.items():
        known = set(part.vocabulary)
        foreign = [
            event
            for other, told in parts.items()
            if other != name
            for narrative in told.events
            for event in narrative
            if event not in known
        ]
        runs = [
            evaluate.detecting.detect_domain(part, foreign, seed, method) for seed in range(seeds)
        ]
        for key in runs[0]:
            cells.setdefault(key, []).append(
                float(np.mean([run[key] for run in runs if key in run]))
            )
    deviations = list(dict.fromkeys(deviation for deviation, _ in cells))
    rows = []
    for measure in dict.fromkeys(measure for _, measure in cells):
        row: Row = {"name": measure}
        row |= {deviation: float(np.mean(cells[deviation, measure])) for deviation in deviations}
        row["mean of deviations"] = float(
            np.mean(
                [
                    row[deviation]
                    for deviation in deviations
                    if deviation in evaluate.detecting.DEVIATIONS
                ]
            )
        )
        rows.append(row)
    return rows


def measure_faults(corpus: Corpus, seeds: int, method: str) -> list[Row]:
    """Area under the curve, by fault and measure."""
    return _rows_of_means(evaluate.faults.faults_of, corpus, seeds, method)


def measure_odd(corpus: Corpus, seeds: int, method: str) -> list[Row]:
    """Share of tellings that are called odd, by what was done to them."""
    return _rows_of_means(evaluate.faults.said_odd, corpus, seeds, method)


def _rows_of_means(
    measure: Callable[[Corpus, int, str], dict[str, dict[str, float]]],
    corpus: Corpus,
    seeds: int,
    method: str,
) -> list[Row]:
    parts = corpus.by_domain().values()
    runs = [measure(part, seed, method) for part in parts for seed in range(seeds)]
    return [{"name": name} | _means([run[name] for run in runs]) for name in runs[0]]


def _means(rows: Sequence[dict[str, float]]) -> Row:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}


QUESTIONS: dict[str, Callable[[Corpus, int, str], list[Row]]] = {
    "identify": measure_identify,
    "order": measure_order,
    "detect": measure_detect,
    "faults": measure_faults,
    "odd": measure_odd,
}


def _row(name: str, values: Sequence[float]) -> Row:
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"name": name, "mean": float(np.mean(values)), "error": error, "values": list(values)}


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown.

    Examples
    --------
    >>> print(table([{"name": "default", "mean": 0.9, "error": 0.01, "values": [0.9]}]))
    | | mean | ± |
    |---|---|---|
    | default | 0.9000 | 0.0100 |
    """
    columns = [name for name in rows[0] if name not in ("name", "values")]
    heads = ["±" if name == "error" else name for name in columns]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        cells = " | ".join(f"{row[name]:.4f}" for name in columns)
        lines.append(f"| {row['name']} | {cells} |")
    return "\n".join(lines)


def _usable(corpus: Corpus) -> Corpus:
    kept = {name for name, part in corpus.by_domain().items() if len(part) >= LEAST_NARRATIVES}
    found = type(corpus)(one for one in corpus if one.domain in kept)
    if not found:
        raise InputError(f"no domain of {LEAST_NARRATIVES} narratives or more")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some corpora."""
    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.questions", description=__doc__
    )
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("files", nargs="+", metavar="FILE", help="corpora")
    parser.add_argument("--seeds", type=int, default=3, help="how many splits")
    parser.add_argument("--method", choices=METHODS, default=DEFAULT, help="the learner")
    parser.add_argument("--json", action="store_true", help="every number, as JSON")
    options = parser.parse_args(arguments)
    try:
        if options.seeds < 1:
            raise InputError(f"{options.seeds} seeds, expected at least one")
        found = {
            file: QUESTIONS[options.question](
                _usable(readers.read(file)), options.seeds, options.method
            )
            for file in options.files
        }
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
        return 0
    for file, rows in found.items():
        sys.stdout.write(f"{file}\n\n{table(rows)}\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
