"""How short, complete and right outlines are.

    python -m elision.evaluate.outlines FILE... [--seeds N] [--json [PATH]]

A file of task graphs (see `elision.evaluate.task_graphs`) gives a table of how well orders agree
with graphs that people drew. Any other corpus gives one of the size of the outlines of its domains,
learned from four fifths of the tellings, and of how much of the other fifth is on them and in
their order. Sentences are turned into events by what is learned from the same four fifths.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision import readers, text
from elision.errors import InputError
from elision.evaluate.measuring import measure_files, tell
from elision.evaluate.tables import markdown_table, percent, plain_text
from elision.evaluate.task_graphs import (
    graph_table,
    is_task_graphs,
    measure_graphs,
    read_task_graphs,
)
from elision.learn.outline import learn_outline
from elision.learn.precedence import learn_precedence
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from elision.values.corpus import Corpus
    from elision.values.outline import Outline

HELD_OUT = 0.2
"""Share of the tellings that is not learned from."""

LEAST_TELLINGS = 5
"""Domains with fewer are left out."""

COMMON = 0.05
"""Share of the tellings that tell an event type that counts."""

Told = list[tuple[str, ...]]
Figures = dict[str, float | None]
"""None is a figure of nothing, such as a share of no pairs."""


class Goal(NamedTuple):
    """A figure that should be at most, or else at least, something."""

    value: float
    at_most: bool
    words: str

    def missed(self, value: float | None) -> bool:
        """Whether a figure, as printed, is beyond it."""
        if value is None:
            return False
        above = round(value, 3) - self.value
        return above > 1e-9 if self.at_most else above < -1e-9


GOALS = {
    "steps_a_type": Goal(1.3, at_most=True, words="at most 1.3 steps a type"),
    "relations_a_step": Goal(1.5, at_most=True, words="at most 1.5 relations a step"),
    "covered": Goal(0.9, at_most=False, words="at least 90 % of the events told covered"),
    "of_sentences": Goal(0.9, at_most=False, words="at least 90 % of the sentences covered"),
}


# Measuring


def outline_of(tellings: Sequence[Sequence[str]], *, seed: int = 0) -> Outline:
    """Learn the outline of tellings, given as events."""
    events = sorted({event for telling in tellings for event in telling})
    number = {event: place for place, event in enumerate(events)}
    return learn_outline(
        [[number[event] for event in telling] for telling in tellings], events, random_state=seed
    )


def split_events(part: Corpus, seed: int) -> tuple[Told, Told, float | None]:
    """Events of the tellings to learn from and of those held out, and how much of these they are.

    The last is the share of held-out sentences that have an event; None where events are given.
    """
    train, test = part.split(HELD_OUT, random_state=seed)
    heard = None
    if not part.has_events:
        extractor = text.extract.EventExtractor()
        train = extractor.fit_transform(train)
        sentences = sum(one.length for one in test)
        test = extractor.transform(test)
        heard = sum(one.length for one in test) / sentences
    told, held_out = ([one for one in some.events if one] for some in (train, test))
    return told, held_out, heard


def told_share(events: Container[str], tellings: Sequence[Sequence[str]]) -> float | None:
    """Share of what is told that is among some events.

    Examples
    --------
    >>> told_share({"boil", "pour"}, [["boil", "wait", "pour"], ["boil"]])
    0.75
    """
    told = [event in events for telling in tellings for event in telling]
    return float(np.mean(told)) if told else None


def order_shares(
    outline: Outline, tellings: Sequence[Sequence[str]]
) -> tuple[float | None, float | None]:
    """Share of pairs of told steps that an outline orders, and share of these told in that order.

    A step counts where it is first told; pairs of one unit do not count.
    """
    right = wrong = pairs = 0
    for telling in tellings:
        steps = dict.fromkeys(step for step in steps_told(outline, telling) if step is not None)
        for a, b in combinations((outline.unit_of[step] for step in steps), 2):
            if a != b:
                pairs += 1
                right += int(outline.order[a, b])
                wrong += int(outline.order[b, a])
    ordered = right + wrong
    return (ordered / pairs if pairs else None, right / ordered if ordered else None)


def measure_split(part: Corpus, seed: int) -> Figures:
    """Learn from one part of a domain's tellings and measure on the other."""
    train, test, heard = split_events(part, seed)
    if not train:
        raise InputError("no event in its tellings", where=f"domain {part[0].domain!r}")
    began = perf_counter()
    outline = outline_of(train, seed=seed)
    seconds = perf_counter() - began
    tellings = Counter(event for telling in train for event in set(telling))
    types = sum(often >= COMMON * len(train) for often in tellings.values())
    steps, relations = len(outline.steps), int(outline.covers.sum())
    covered = told_share(outline.steps_of, test)
    ordered, agreeing = order_shares(outline, test)
    return {
        "types": types,
        "steps": steps,
        "steps_a_type": steps / types if types else None,
        "relations": relations,
        "relations_a_step": relations / steps if steps else None,
        "known": told_share(tellings, test),
        "covered": covered,
        "of_sentences": None if heard is None else heard * (covered or 0.0),
        "ordered": ordered,
        "agreeing": agreeing,
        "seconds": seconds,
    }


def mean_figures(some: Sequence[Figures]) -> Figures:
    """Mean of each figure over those that have it.

    Examples
    --------
    >>> mean_figures([{"steps": 4, "covered": None}, {"steps": 5, "covered": None}])
    {'steps': 4.5, 'covered': None}
    """
    found: Figures = {}
    for name in some[0]:
        values = [one[name] for one in some]
        known = [value for value in values if value is not None]
        found[name] = float(np.mean(known)) if known else None
    return found


def usable_domains(corpus: Corpus) -> dict[str, Corpus]:
    """The domains of enough tellings that tell something."""
    parts = {name: part.filter(min_events=1) for name, part in corpus.by_domain().items()}
    found = {name: part for name, part in parts.items() if len(part) >= LEAST_TELLINGS}
    if not found:
        raise InputError(f"no domain of {LEAST_TELLINGS} tellings or more")
    return found


def measure_corpus(
    corpus: Corpus, seeds: int, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """Figures of each domain, means over splits, and their means over domains.

    Parameters
    ----------
    corpus
        Tellings of some domains, as events or as sentences.
    seeds
        How many splits.
    tell
        Called with each domain before it is measured.
    """
    learn_precedence([[0, 1], [1, 0]], 2)  # compiled or loaded before any time is taken
    domains: dict[str, Figures] = {}
    for name, part in usable_domains(corpus).items():
        tell(name)
        splits = [measure_split(part, seed) for seed in range(seeds)]
        domains[name] = {"tellings": len(part), **mean_figures(splits)}
    mean = mean_figures(list(domains.values()))
    missed = {
        figure: [name for name, figures in domains.items() if goal.missed(figures[figure])]
        for figure, goal in GOALS.items()
    }
    return {"domains": domains, "mean": mean, "missed": missed}


# Tables

COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "tellings": ("tellings", lambda value: f"{value:.0f}"),
    "types": ("types", lambda value: f"{value:.1f}"),
    "steps": ("steps", lambda value: f"{value:.1f}"),
    "steps_a_type": ("steps a type", lambda value: f"{value:.2f}"),
    "relations_a_step": ("relations a step", lambda value: f"{value:.2f}"),
    "known": ("known", percent),
    "covered": ("covered", percent),
    "of_sentences": ("of sentences", percent),
    "ordered": ("pairs ordered", percent),
    "agreeing": ("told in that order", percent),
    "seconds": ("seconds", lambda value: f"{value:.2f}"),
}


def corpus_table(result: dict[str, Any], seeds: int) -> str:
    """Figures of a corpus in Markdown, and the domains that miss a goal."""
    said = (
        f"Means over {seeds} splits. Types are those that {COMMON:.0%} of the tellings learned from"
        " tell. Of what held-out tellings tell, known is the share that any of those learned from"
        " tells, covered the share that is on the outline."
    )
    if result["mean"]["of_sentences"] is not None:
        said += (
            " Only what was recognised as an event is counted there; of all sentences, including"
            " those that are none, it is the share beside it."
        )
    shown = {**result["domains"], "mean": result["mean"]}
    names = [name for name in COLUMNS if result["mean"][name] is not None]
    lines = [
        [plain_text(domain), *(_cell(name, figures[name]) for name in names)]
        for domain, figures in shown.items()
    ]
    heads = ["domain", *(COLUMNS[name][0] for name in names)]
    parts = [said, markdown_table(heads, lines, {0})]
    for figure in (figure for figure in GOALS if figure in names):
        missed = [
            f"{plain_text(name)} ({_cell(figure, result['domains'][name][figure])})"
            for name in result["missed"][figure]
        ]
        parts.append(f"Goal: {GOALS[figure].words}. Missed by: {', '.join(missed) or 'none'}.")
    return "\n\n".join(parts)


def _cell(name: str, value: float | None) -> str:
    return "–" if value is None else COLUMNS[name][1](value)


# Command


def measure_file(file: str, seeds: int) -> dict[str, Any]:
    """Figures of a file of task graphs or of another corpus."""
    if is_task_graphs(file):
        return {"kind": "task graphs", "rows": measure_graphs(read_task_graphs(file), seeds)}
    return {"kind": "tellings", **measure_corpus(readers.read(file), seeds, tell)}


def tables(figures: dict[str, Any], seeds: int) -> str:
    """The figures of a file in Markdown."""
    if figures["kind"] == "task graphs":
        return graph_table(figures["rows"], seeds)
    return corpus_table(figures, seeds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some files."""
    return measure_files("outlines", __doc__, measure_file, tables, arguments)


if __name__ == "__main__":
    sys.exit(main())
