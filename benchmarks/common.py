"""What the measurements share: arguments, domains, learning, omissions by chance, figures."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import elision as el
from elision.bench.measuring import corpus_names
from elision.bench.report import table
from elision.errors import ElisionError, InputError
from elision.learn.outline import learn_outline
from elision.pipeline.learning import Told, as_events
from elision.values.outline import Outline
from elision.values.script import Script

LEAST_TELLINGS = 5
"""Domains with fewer are left out."""

EVENNESS = 3.0
"""Both parameters of the beta distribution of uneven rates together: the lower, the more uneven."""

LOG_TEST_SHARE = 0.3
"""Of the cases of an event log."""

__all__ = ["table"]

Figures: TypeAlias = "dict[str, float]"


# Commands


def parser_of(
    described: str | None, *, seeds: int, files: str = "+", kinds: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """Arguments of a measurement: its kind, files, seeds, and whether JSON is printed."""
    parser = argparse.ArgumentParser(
        description=described, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if kinds:
        parser.add_argument("what", choices=kinds)
    parser.add_argument("files", nargs=files, metavar="FILE", help="corpora")
    parser.add_argument("--seeds", type=int, default=seeds, help="splits, or spoilt copies")
    parser.add_argument("--json", action="store_true", help="print all figures, as JSON")
    return parser


def run(
    parser: argparse.ArgumentParser,
    measure: Callable[[str, argparse.Namespace], Any],
    shown: Callable[[Any], str],
    arguments: Sequence[str] | None = None,
) -> int:
    """Measure each file that is named, print its tables or JSON, and return the exit status."""
    options = parser.parse_args(arguments)
    try:
        if options.seeds < 1:
            raise InputError(f"--seeds is {options.seeds}, expected a whole number from 1")
        names = corpus_names(options.files)
        found = {name: measure(file, options) for file, name in names.items()}
    except ElisionError as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for name, figures in found.items():
            print(f"## {name}\n\n{shown(figures)}\n")
    return 0


def tell(what: str) -> None:
    """Say on standard error what is being measured."""
    print(what, file=sys.stderr, flush=True)


# Learning


def usable_domains(corpus: el.Corpus) -> dict[str, el.Corpus]:
    """The domains of enough tellings that tell something."""
    parts = {name: part.filter(min_events=1) for name, part in corpus.by_domain().items()}
    found = {name: part for name, part in parts.items() if len(part) >= LEAST_TELLINGS}
    if not found:
        raise InputError(f"no domain of {LEAST_TELLINGS} tellings or more")
    return found


def learn(train: el.Corpus, seed: int, *, events: Sequence[str] | None = None) -> Script:
    """Learn a script as `elision learn` does; sentences are turned into events first."""
    told = Told(train.events) if train.has_events else as_events(train)
    learner = el.ScriptLearner(events=events, random_state=seed)
    learner.fit(told.events, heard=told.heard, words=told.words)
    return learner.script_.annotated(**told.notes(""))


def outline_of(tellings: Sequence[Sequence[str]], *, seed: int = 0) -> Outline:
    """Learn the outline of tellings, given as events."""
    events = sorted({event for telling in tellings for event in telling})
    number = {event: place for place, event in enumerate(events)}
    return learn_outline(
        [[number[event] for event in telling] for telling in tellings], events, random_state=seed
    )


# Omissions by chance


class Thinned(NamedTuple):
    """Traces with events removed, and what was removed from each at which place."""

    traces: list[tuple[str, ...]]
    removed: list[Counter[tuple[int, str]]]


def thin(
    traces: Iterable[Sequence[str]], rates: Mapping[str, float], rng: np.random.Generator
) -> Thinned:
    """Remove events by chance, each type with its rate; traces of which nothing is left are gone.

    Examples
    --------
    >>> thin([["ring", "walk", "open"]], {"ring": 0, "walk": 1, "open": 0}, np.random.default_rng())
    Thinned(traces=[('ring', 'open')], removed=[Counter({(1, 'walk'): 1})])
    """
    found = Thinned([], [])
    for one in traces:
        kept: list[str] = []
        removed: Counter[tuple[int, str]] = Counter()
        for event, chance in zip(one, rng.random(len(one)).tolist(), strict=True):
            if chance < rates[event]:
                removed[len(kept), event] += 1
            else:
                kept.append(event)
        if kept:
            found.traces.append(tuple(kept))
            found.removed.append(removed)
    return found


def thinned_parts(
    log: el.Corpus, share: float, seed: int, *, uneven: bool
) -> tuple[Thinned, Thinned]:
    """Split a log into what is learned from and what is tested on, and thin both alike."""
    events = log.vocabulary
    rng = np.random.default_rng([seed, round(1000 * share), uneven])
    rates = dict.fromkeys(events, share)
    if uneven:
        drawn = rng.beta(EVENNESS * share, EVENNESS * (1 - share), len(events))
        rates = dict(zip(events, drawn.tolist(), strict=True))
    train, test = log.split(LOG_TEST_SHARE, random_state=seed)
    return thin(train.events, rates, rng), thin(test.events, rates, rng)


def limited(log: el.Corpus, most: int | None) -> el.Corpus:
    """At most so many cases, taken by chance, in their order."""
    if most is None or most >= len(log):
        return log
    chosen = np.random.default_rng(0).permutation(len(log))[:most]
    return el.Corpus(log[k] for k in np.sort(chosen).tolist())


# Figures


def means(some: Iterable[Mapping[str, float | None]]) -> Figures:
    """Mean of each figure over those that have it.

    Examples
    --------
    >>> means([{"steps": 4, "covered": None}, {"steps": 5, "known": 1}])
    {'steps': 4.5, 'known': 1.0}
    """
    values: dict[str, list[float]] = {}
    for figures in some:
        for name, value in figures.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: float(np.mean(every)) for name, every in values.items()}


def percent(value: float | None) -> str:
    """A share as a percentage; nothing for a share of nothing."""
    return "" if value is None else f"{100 * value:.1f}"


def share_of(values: Sequence[float]) -> float | None:
    """The mean of some values, None of none."""
    return float(np.mean(values)) if len(values) else None
