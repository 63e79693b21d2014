"""Whether beginnings are judged as such: what is still to come is neither odd nor missing.

    python -m elision.evaluate.beginnings FILE... [--seeds N] [--json [PATH]]

Two thirds of each domain are learned from, the others are asked about, after each event of all was
hidden with chance 0.2. Each telling is asked about whole, and cut off after one of its events, as
one that is not finished: how often is either called odd, and how many of the hidden events do
`missing` and `between` speak of? An event counts where it was hidden. What `between` finds unsaid
that no telling ever told is counted as false, so it says more than was hidden in either case.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import readers
from elision.evaluate.learned import learn
from elision.evaluate.measuring import measure_files, tell
from elision.evaluate.outlines import usable_domains
from elision.evaluate.tables import markdown_table, percent
from elision.evaluate.thinning import thin
from elision.pipeline.learning import DEFAULT
from elision.values.corpus import Corpus
from elision.values.narrative import Narrative

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from elision.values.script import Script

TEST_SHARE = 1 / 3
HIDDEN = 0.2
MOST_ASKED = 300
"""Tellings of a domain that are asked about."""

LISTED = 0.2
"""What is less probable counts in the sums only."""

QUESTIONS = ("missing", "between")


class Case(NamedTuple):
    """A telling, whole or cut off, and what was hidden at which of its places."""

    told: tuple[str, ...]
    hidden: Counter[tuple[int, str]]
    finished: bool


class Tally:
    """What was said of some tellings."""

    def __init__(self) -> None:
        self.odd: list[float] = []
        self.flagged: list[bool] = []
        self.said: dict[str, list[tuple[float, bool]]] = {name: [] for name in QUESTIONS}

    def figures(self) -> dict[str, Any]:
        """Shares, and sums of stated probabilities beside how often they were true."""
        found: dict[str, Any] = {
            "tellings": len(self.odd),
            "odd": float(np.mean(np.array(self.odd) > 0)),
            "flagged": float(np.mean(self.flagged)),
        }
        for name, said in self.said.items():
            stated, true = np.array(said, float).reshape(-1, 2).T
            listed = stated >= LISTED
            found[name] = {
                "stated": float(stated.sum()),
                "true": float(true.sum()),
                "listed": int(listed.sum()),
                "listed_stated": float(stated[listed].mean()) if listed.any() else None,
                "listed_true": float(true[listed].mean()) if listed.any() else None,
            }
        return found


def cut(
    told: tuple[str, ...], hidden: Counter[tuple[int, str]], rng: np.random.Generator
) -> tuple[Case, Case]:
    """Return a telling of two events or more whole, and cut off after one of them but the last.

    Examples
    --------
    >>> from collections import Counter
    >>> whole, begun = cut(("a", "d"), Counter([(0, "z"), (1, "b")]), np.random.default_rng(0))
    >>> begun
    Case(told=('a',), hidden=Counter({(0, 'z'): 1}), finished=False)
    >>> whole.finished
    True
    """
    end = int(rng.integers(1, len(told)))
    before = type(hidden)({key: count for key, count in hidden.items() if key[0] < end})
    return Case(told, hidden, finished=True), Case(told[:end], before, finished=False)


def ask(script: Script, case: Case, tally: Tally) -> None:
    """Put all questions about a telling, and note what is said."""
    judged = script.score(case.told, finished=case.finished)
    tally.odd.append(judged.oddness)
    tally.flagged.append(bool(judged.flags))
    options: dict[str, Any] = {"min_probability": 0.0, "finished": case.finished}
    answers: tuple[Any, ...] = (
        script.missing(case.told, **options).places,
        script.between(case.told, **options).unsaid,
    )
    places = len(case.told) + case.finished
    for name, answer in zip(QUESTIONS, answers, strict=True):
        for place, row in enumerate(answer[:places]):
            stated = {one.event: one.probability for one in row}
            tally.said[name] += [
                (stated.get(event, 0.0), case.hidden[place, event] > 0) for event in script.events
            ]


def measure_corpus(
    corpus: Corpus, seeds: int, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """All figures of a corpus, of whole tellings and of beginnings.

    Parameters
    ----------
    corpus
        Tellings of one domain or more, as events.
    seeds
        How many splits.
    tell
        Called with what is being measured.
    """
    parts = usable_domains(corpus)
    tallies = {True: Tally(), False: Tally()}
    for seed in range(seeds):
        for name, part in parts.items():
            tell(f"{name}, split {seed + 1} of {seeds}")
            rng = np.random.default_rng(seed)
            rates = dict.fromkeys(part.vocabulary, HIDDEN)
            train, test = part.split(TEST_SHARE, random_state=seed)
            script = learn(_corpus_of(thin(train.events, rates, rng).traces), seed, DEFAULT)
            thinned = thin(test.events[:MOST_ASKED], rates, rng)
            for told, hidden in zip(thinned.traces, thinned.removed, strict=True):
                known = all(event in script.events for event in told)
                for case in cut(told, hidden, rng) if len(told) > 1 and known else ():
                    ask(script, case, tallies[case.finished])
    return {
        "domains": len(parts),
        "whole": tallies[True].figures(),
        "begun": tallies[False].figures(),
    }


def _corpus_of(traces: Iterable[Sequence[str]]) -> Corpus:
    return Corpus(Narrative(events=tuple(one)) for one in traces)


def tables(figures: dict[str, Any], seeds: int) -> str:
    """The figures of a corpus in Markdown."""
    heads = ["tellings", "number", "oddness above 0, %", "flagged, %"]
    for name in QUESTIONS:
        heads += [f"{name}: stated", "true", f"of {LISTED} or more: stated, %", "true, %"]
    lines = []
    for name, words in (("whole", "whole"), ("begun", "not finished")):
        row = figures[name]
        line = [words, str(row["tellings"]), percent(row["odd"]), percent(row["flagged"])]
        for question in QUESTIONS:
            said = row[question]
            line += [f"{said['stated']:.0f}", f"{said['true']:.0f}"]
            line += [
                "–" if said[one] is None else percent(said[one])
                for one in ("listed_stated", "listed_true")
            ]
        lines.append(line)
    said = f"{figures['domains']} domains, {seeds} splits."
    return f"{said}\n\n{markdown_table(heads, lines, {0})}"


def measure_file(file: str, seeds: int) -> dict[str, Any]:
    """Figures of a file."""
    return measure_corpus(readers.read(file), seeds, tell)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some corpora."""
    return measure_files("beginnings", __doc__, measure_file, tables, arguments)


if __name__ == "__main__":
    sys.exit(main())
