"""Orders learned from recordings, against task graphs that people drew.

A file of task graphs has one recipe a line: ``before`` (pairs of steps, START and END among them:
who comes directly before whom), ``narratives`` (recordings without errors, each a list of steps)
and, if there are such, ``with_errors`` (all recordings, with what people left out or exchanged).
Recordings are spoilt by chance, an order is learned from them, and its transitive reduction is
compared with the graph, edge by edge.
"""

from __future__ import annotations

import codecs
import zlib
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from elision.errors import InputError
from elision.evaluate.tables import markdown_table, percent, points
from elision.learn.outline import learn_outline, same_beginnings
from elision.learn.precedence import covers, learn_precedence
from elision.readers.source import opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.values.outline import Outline

    Bools = NDArray[np.bool_]

START, END = "START", "END"

THRESHOLDS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""Shares from which on counting says "always before"."""

TIE = 1e-9

Edges = frozenset[tuple[str, str]]


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

WITH_ERRORS = "all recordings, with errors"


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """One recipe: recordings, and the graph of it that people drew."""

    name: str
    narratives: tuple[tuple[str, ...], ...]
    with_errors: tuple[tuple[str, ...], ...]
    before: Edges

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the graph, sorted."""
        return tuple(sorted({step for edge in self.before for step in edge} - {START, END}))


class _Record(msgspec.Struct):
    narratives: tuple[tuple[str, ...], ...]
    before: tuple[tuple[str, str], ...]
    with_errors: tuple[tuple[str, ...], ...] = ()
    domain: str = ""


# Files


def is_task_graphs(path: str) -> bool:
    """Whether a file's first line is a recipe with its graph."""
    if path == "-":  # can be read but once
        return False
    with opened(path, "utf-8") as source:
        for line in source.stream:
            text = line.removeprefix(codecs.BOM_UTF8).strip()
            if text:
                try:
                    record = msgspec.json.decode(text) if text.startswith(b"{") else None
                except (ValueError, RecursionError):
                    return False
                return isinstance(record, dict) and {"narratives", "before"} <= record.keys()
    return False


def read_task_graphs(path: str) -> list[TaskGraph]:
    """Read all recipes of a file.

    Raises
    ------
    InputError
        Where a line is no recipe; says which line and why.
    """
    decode = msgspec.json.Decoder(_Record).decode
    found: list[TaskGraph] = []
    with opened(path, "utf-8") as source:
        for number, line in enumerate(source.lines(newline="\n"), start=1):
            if line.isspace():
                continue
            where = f"{source.name} line {number}"
            try:
                record = decode(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"no task graph: {error}", where=where) from None
            name = record.domain or f"line {number}"
            graph = TaskGraph(name, record.narratives, record.with_errors, frozenset(record.before))
            if not graph.steps or not any(graph.narratives):
                raise InputError("a task graph without steps or narratives", where=where)
            if any(name == other.name for other in found):
                raise InputError(f"a second task graph of {name!r}", where=where)
            found.append(graph)
    if not found:
        raise InputError("there are no task graphs in it", where=path)
    return found


# Graphs


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
    total = len(found) + len(drawn)
    return 2 * len(found & drawn) / total if total else 1.0


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


# What is compared


def spoilt(
    narratives: Iterable[Sequence[str]], fault: Fault, rng: np.random.Generator
) -> list[list[str]]:
    """Recordings with steps dropped and then neighbours swapped, each step once at most.

    What is left empty is left out.

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
    often = np.argwhere((first > 0) & (share >= threshold - TIE)).tolist()
    order = np.zeros((steps, steps), dtype=bool)
    for a, b in sorted(often, key=lambda pair: (-share[*pair], -first[*pair], pair)):
        if not order[a, b] and not order[b, a]:
            earlier, later = order[:, a].copy(), order[b].copy()
            earlier[a] = later[b] = True
            order |= np.outer(earlier, later)
    return order


class _Run(NamedTuple):
    """F1 of one recipe with one seed, that of counting at each threshold, and the seconds."""

    precedence: float
    outline: float
    counting: tuple[float, ...]
    seconds: tuple[float, float, float]


def _run(graph: TaskGraph, tellings: Sequence[Sequence[str]], seed: int) -> _Run:
    names = graph.steps
    number = {step: place for place, step in enumerate(names)}
    told = [[number[step] for step in one if step in number] for one in tellings]
    told = [one for one in told if one]
    began = perf_counter()
    alike = same_beginnings(names)
    order = learn_precedence(told, len(names), alike=alike, random_state=seed).order
    ordered = perf_counter()
    outline = learn_outline(told, names, random_state=seed) if told else None
    outlined = perf_counter()
    counted = [counted_order(told, len(names), threshold) for threshold in THRESHOLDS]
    ended = perf_counter()
    return _Run(
        edge_f1(edges(order, names), graph.before),
        edge_f1(outline_edges(outline), graph.before) if outline else 0.0,
        tuple(edge_f1(edges(one, names), graph.before) for one in counted),
        (ordered - began, outlined - ordered, (ended - outlined) / len(THRESHOLDS)),
    )


def measure_graphs(graphs: Sequence[TaskGraph], seeds: int) -> list[dict[str, Any]]:
    """Mean F1 over recipes, for each kind of fault and for the recordings with real errors.

    Parameters
    ----------
    graphs
        The recipes.
    seeds
        How often recordings are spoilt; each is the seed of the learner as well.

    Returns
    -------
    list of dict
        For each row: ``recipes``, ``precedence``, ``outline``, ``counting`` at its best
        ``threshold``, how far precedence is ``ahead`` of it and the standard ``error`` of that over
        recipes, the F1 of each recipe ``by_recipe``, ``seconds`` a recipe by method.
    """
    learn_precedence([[0, 1], [1, 0]], 2)  # compiled or loaded before any time is taken
    rows = []
    for fault in (*FAULTS, None):
        some = [graph for graph in graphs if fault is not None or graph.with_errors]
        if some:
            runs = [[_spoilt_run(graph, fault, seed) for seed in range(seeds)] for graph in some]
            rows.append(_row(fault, [graph.name for graph in some], runs))
    return rows


def _spoilt_run(graph: TaskGraph, fault: Fault | None, seed: int) -> _Run:
    if fault is None:
        return _run(graph, graph.with_errors, seed)
    # By its name: the same, whatever other recipes there are.
    rng = np.random.default_rng([seed, zlib.crc32(graph.name.encode())])
    return _run(graph, spoilt(graph.narratives, fault, rng), seed)


def _row(fault: Fault | None, names: list[str], runs: list[list[_Run]]) -> dict[str, Any]:
    own = np.array([[(run.precedence, run.outline) for run in some] for some in runs]).mean(axis=1)
    counting = np.array([[run.counting for run in some] for some in runs]).mean(axis=1)
    seconds = np.array([[run.seconds for run in some] for some in runs]).mean(axis=(0, 1))
    best = int(counting.mean(axis=0).argmax())
    ahead = own[:, 0] - counting[:, best]
    by_recipe = np.column_stack([own, counting[:, best]])
    methods = ("precedence", "outline", "counting")
    means = dict(zip(methods, by_recipe.mean(axis=0).tolist(), strict=True))
    return {
        "row": WITH_ERRORS if fault is None else _fault_name(fault),
        "recipes": len(names),
        **means,
        "threshold": THRESHOLDS[best],
        "ahead": float(ahead.mean()),
        "error": float(ahead.std(ddof=1) / len(ahead) ** 0.5) if len(ahead) > 1 else None,
        "seconds": dict(zip(methods, seconds.tolist(), strict=True)),
        "by_recipe": {
            name: dict(zip(methods, values, strict=True))
            for name, values in zip(names, by_recipe.tolist(), strict=True)
        },
    }


def _fault_name(fault: Fault) -> str:
    return " / ".join(f"{100 * share:g} %" if share else "0" for share in fault)


def graph_table(rows: Sequence[dict[str, Any]], seeds: int) -> str:
    """The rows in Markdown, below what they are."""
    said = (
        "Edge F1 of the transitive reduction with START and END, mean over"
        f" {max(row['recipes'] for row in rows)} recipes and {seeds} seeds. Counting has the"
        " threshold that is best on the graphs it is judged by, row by row, which is an advantage;"
        " the learners have one setting for all rows. Ahead is precedence less counting, with its"
        " standard error over recipes."
    )
    lines = [
        [
            row["row"],
            percent(row["counting"]),
            f"{row['threshold']:g}",
            percent(row["precedence"]),
            points(row["ahead"]) + ("" if row["error"] is None else f" ± {percent(row['error'])}"),
            percent(row["outline"]),
            f"{row['seconds']['precedence']:.4f}",
            f"{row['seconds']['precedence'] / row['seconds']['counting']:.1f}",
        ]
        for row in rows
    ]
    heads = [
        "dropped / swapped",
        "counting",
        "its threshold",
        "precedence",
        "ahead",
        "outline",
        "seconds a recipe",
        "times counting's",
    ]
    return f"{said}\n\n{markdown_table(heads, lines, {0})}"
