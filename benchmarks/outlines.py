"""How short, complete and right outlines are.

    python benchmarks/outlines.py FILE... [--seeds N] [--json]

A file of task graphs gives a table of how well orders agree with graphs that people drew. It has
one recipe a line: ``before`` (pairs of steps, START and END among them: who comes directly before
whom), ``narratives`` (recordings without errors, each a list of steps) and, if there are such,
``with_errors`` (all recordings, with what people left out or exchanged). Recordings are spoilt by
chance, an order is learned from them, and its transitive reduction is compared with the graph, edge
by edge; beside it, counting who comes before whom.

Any other corpus gives a table of the size of the outlines of its domains, learned from four fifths
of the tellings, and of how much of the other fifth is on them and in their order. Sentences are
turned into events by what is learned from the same four fifths.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import (
    Figures,
    means,
    outline_of,
    parser_of,
    percent,
    run,
    share_of,
    table,
    tell,
    usable_domains,
)
from elision.errors import InputError
from elision.learn.outline import learn_outline, same_beginnings
from elision.learn.precedence import covers, learn_precedence
from elision.values.outline import Outline, steps_told

Bools = NDArray[np.bool_]
Edges = frozenset[tuple[str, str]]
Told = list[tuple[str, ...]]

START, END = "START", "END"

THRESHOLDS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""Shares from which on counting says "always before"."""

HELD_OUT = 0.2
"""Share of the tellings that is not learned from."""

COMMON = 0.05
"""Share of the tellings that tell an event type that counts."""


# Order, against graphs that people drew


class Fault(NamedTuple):
    """How recordings are spoilt: the share of steps that is dropped, and of neighbours swapped."""

    dropped: float
    swapped: float


FAULTS = (
    Fault(0.0, 0.0),
    Fault(0.2, 0.0),
    Fault(0.4, 0.0),
    Fault(0.0, 0.05),
    Fault(0.0, 0.1),
    Fault(0.2, 0.05),
)


class TaskGraph(NamedTuple):
    """One recipe: recordings, and the graph of it that people drew."""

    name: str
    narratives: list[list[str]]
    with_errors: list[list[str]]
    before: Edges

    @property
    def steps(self) -> list[str]:
        return sorted({step for edge in self.before for step in edge} - {START, END})


def read_task_graphs(path: str) -> list[TaskGraph] | None:
    """Read all recipes of a file; None if it has other tellings."""
    try:
        lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return None
    if not lines or not all("before" in one for one in lines):
        return None
    return [
        TaskGraph(
            one["domain"],
            one["narratives"],
            one.get("with_errors", []),
            frozenset((a, b) for a, b in one["before"]),
        )
        for one in lines
    ]


def edges(order: Bools, names: Sequence[str]) -> Edges:
    """The transitive reduction of an order, with START before what is first and END after the last.

    Examples
    --------
    >>> order = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> sorted(edges(order, "abc"))
    [('START', 'a'), ('a', 'b'), ('b', 'c'), ('c', 'END')]
    """
    found = {(names[a], names[b]) for a, b in np.argwhere(covers(order)).tolist()}
    found |= {(START, names[step]) for step in np.flatnonzero(~order.any(axis=0)).tolist()}
    found |= {(names[step], END) for step in np.flatnonzero(~order.any(axis=1)).tolist()}
    return frozenset(found)


def edge_f1(found: Edges, drawn: Edges) -> float:
    """Harmonic mean of the share of found edges that were drawn, and of drawn ones found.

    Examples
    --------
    >>> edge_f1(frozenset({("a", "b"), ("a", "c")}), frozenset({("a", "b")}))
    0.6666666666666666
    """
    return 2 * len(found & drawn) / (len(found) + len(drawn))


def outline_edges(outline: Outline) -> Edges:
    """The graph of an outline: each event where its first step stands.

    Steps of one branch follow each other, and all of a unit stand where the unit does.
    """
    unit = np.array(outline.unit_of, dtype=np.int64)
    order = outline.order[np.ix_(unit, unit)].copy()
    for branch in (branch for one in outline.units for branch in one.branches):
        for place, step in enumerate(branch):
            order[step, list(branch[place + 1 :])] = True
    first = [steps[0] for steps in outline.steps_of.values()]
    return edges(order[np.ix_(first, first)], list(outline.steps_of))


def spoilt(
    narratives: Iterable[Sequence[str]], fault: Fault, rng: np.random.Generator
) -> list[list[str]]:
    """Recordings with steps dropped and then neighbours swapped, each step once at most.

    Examples
    --------
    >>> spoilt([["a", "b", "c"]], Fault(0, 1), np.random.default_rng(0))
    [['b', 'a', 'c']]
    """
    found = []
    for narrative in narratives:
        kept = [step for step in narrative if rng.random() >= fault.dropped]
        place = 0
        while place + 1 < len(kept):
            swap = rng.random() < fault.swapped
            if swap:
                kept[place : place + 2] = kept[place + 1], kept[place]
            place += 2 if swap else 1
        if kept:
            found.append(kept)
    return found


def counted_order(tellings: Iterable[Sequence[int]], steps: int, threshold: float) -> Bools:
    """The baseline: one step comes before another if it does in this share of what tells both.

    Relations that contradict others are left out, those of smaller shares and of fewer tellings
    first.

    Examples
    --------
    >>> counted_order([[0, 1, 2], [0, 2, 1]], 3, 1.0).astype(int)
    array([[0, 1, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """
    first = np.zeros((steps, steps))
    for telling in tellings:
        for a, b in combinations(dict.fromkeys(telling), 2):
            first[a, b] += 1
    share = first / np.maximum(first + first.T, 1)
    often = np.argwhere((first > 0) & (share >= threshold - 1e-9)).tolist()
    order = np.zeros((steps, steps), dtype=bool)
    for a, b in sorted(often, key=lambda pair: (-share[*pair], -first[*pair], pair)):
        if not order[a, b] and not order[b, a]:
            earlier, later = order[:, a].copy(), order[b].copy()
            earlier[a] = later[b] = True
            order |= np.outer(earlier, later)
    return order


def f1_of_recipe(graph: TaskGraph, fault: Fault | None, seed: int) -> list[float]:
    """F1 of the learned order, of the outline, and of counting at each threshold."""
    tellings = graph.with_errors
    if fault is not None:
        # By its name: the same, whatever other recipes there are.
        rng = np.random.default_rng([seed, zlib.crc32(graph.name.encode())])
        tellings = spoilt(graph.narratives, fault, rng)
    names = graph.steps
    number = {step: place for place, step in enumerate(names)}
    told = [[number[step] for step in one if step in number] for one in tellings]
    told = [one for one in told if one]
    alike = same_beginnings(names)
    learned = learn_precedence(told, len(names), alike=alike, random_state=seed).order
    found = [
        edges(learned, names),
        outline_edges(learn_outline(told, names, random_state=seed)),
        *(edges(counted_order(told, len(names), one), names) for one in THRESHOLDS),
    ]
    return [edge_f1(one, graph.before) for one in found]


def measure_graphs(graphs: Sequence[TaskGraph], seeds: int) -> list[dict[str, Any]]:
    """Mean F1 over recipes, for each kind of fault and for the recordings with real errors."""
    rows = []
    for fault in (*FAULTS, None):
        some = [graph for graph in graphs if fault is not None or graph.with_errors]
        if not some:
            continue
        runs = [[f1_of_recipe(graph, fault, seed) for seed in range(seeds)] for graph in some]
        by_recipe = np.array(runs).mean(axis=1)
        best = int(by_recipe[:, 2:].mean(axis=0).argmax())
        ahead = by_recipe[:, 0] - by_recipe[:, 2 + best]
        shares = () if fault is None else (f"{100 * one:g} %" if one else "0" for one in fault)
        rows.append(
            {
                "row": " / ".join(shares) or "all recordings, with errors",
                "counting": float(by_recipe[:, 2 + best].mean()),
                "threshold": THRESHOLDS[best],
                "learned": float(by_recipe[:, 0].mean()),
                "ahead": float(ahead.mean()),
                "error": float(ahead.std(ddof=1) / len(ahead) ** 0.5) if len(ahead) > 1 else 0.0,
                "outline": float(by_recipe[:, 1].mean()),
            }
        )
    return rows


def graph_table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        [
            row["row"],
            percent(row["counting"]),
            f"{row['threshold']:g}",
            percent(row["learned"]),
            f"{100 * row['ahead']:+.1f} ± {percent(row['error'])}",
            percent(row["outline"]),
        ]
        for row in rows
    ]
    heads = ["dropped / swapped", "counting", "its threshold", "learned", "ahead", "outline"]
    return table(heads, lines, texts=1)


# Size, and what is on it


def split_events(part: el.Corpus, seed: int) -> tuple[Told, Told, float | None]:
    """Events of the tellings to learn from and of those held out, and how much of these they are.

    The last is the share of held-out sentences that have an event; None where events are given.
    """
    train, test = part.split(HELD_OUT, random_state=seed)
    heard = None
    if not part.has_events:
        extractor = el.EventExtractor()
        train = extractor.fit_transform(train)
        sentences = sum(one.length for one in test)
        test = extractor.transform(test)
        heard = sum(one.length for one in test) / sentences
    told, held_out = ([one for one in some.events if one] for some in (train, test))
    return told, held_out, heard


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


def measure_split(part: el.Corpus, seed: int) -> dict[str, float | None]:
    """Learn from one part of a domain's tellings and measure on the other."""
    train, test, heard = split_events(part, seed)
    if not train:
        raise InputError("no event in its tellings", where=f"domain {part[0].domain!r}")
    outline = outline_of(train, seed=seed)
    tellings = Counter(event for telling in train for event in set(telling))
    types = sum(often >= COMMON * len(train) for often in tellings.values())
    steps, told = len(outline.steps), [event for telling in test for event in telling]
    covered = share_of([event in outline.steps_of for event in told])
    ordered, agreeing = order_shares(outline, test)
    return {
        "steps a type": steps / types if types else None,
        "relations a step": int(outline.covers.sum()) / steps if steps else None,
        "known": share_of([event in tellings for event in told]),
        "covered": covered,
        "of sentences": None if heard is None else heard * (covered or 0.0),
        "ordered": ordered,
        "so told": agreeing,
    }


def size_table(found: dict[str, Figures]) -> str:
    names = list(found["mean"])
    lines = [
        [
            domain,
            *(
                ""
                if name not in row
                else f"{row[name]:.2f}"
                if " a " in name
                else percent(row[name])
                for name in names
            ),
        ]
        for domain, row in found.items()
    ]
    return table(["domain", *names], lines, texts=1)


def measure(file: str, options: argparse.Namespace) -> Any:
    graphs = read_task_graphs(file)
    if graphs is not None:
        return measure_graphs(graphs, options.seeds)
    found = {}
    for name, part in usable_domains(el.read(file)).items():
        tell(name)
        found[name] = means(measure_split(part, seed) for seed in range(options.seeds))
    return {**found, "mean": means(found.values())}


def shown(found: Any) -> str:
    return graph_table(found) if isinstance(found, list) else size_table(found)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(parser_of(__doc__, seeds=5), measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
