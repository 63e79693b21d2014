"""The tellings beside a script: variants against steps, told, unsaid or absent, page by page."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from threading import Lock, Thread
from time import sleep
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elision.errors import InputError
from elision.serve.lines import understood
from elision.serve.messages import Column, Matrix, Row
from elision.show.overlay import PROBABLE
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.serve.messages import Browsing, Passage
    from elision.serve.shelf import Held
    from elision.values.corpus import Corpus
    from elision.values.outline import Outline
    from elision.values.script import Script

AT_ONCE = 16
PAUSE = 0.005
"""Variants that are judged in one go, and seconds in between, for those who ask other things."""

ODDEST = 99.0
"""More is not told apart."""

MOST_IDS = 5
MOST_LINES = 100
DIGITS = 9


class Variant(NamedTuple):
    """Tellings with the same events: as one of them was told, how many, some of their ids."""

    events: tuple[str, ...]
    lines: tuple[str, ...]
    tellings: int
    ids: tuple[str, ...]


class Tellings:
    """All variants of the tellings of a script, the most frequent first.

    Attributes
    ----------
    variants
        The variants.
    counts
        How many tellings each has.
    steps
        The names of the steps, in the outline's order; of a script that was not made from one,
        its events.
    paths
        For each variant the numbers of the steps that it tells, in order.
    told
        (variants, steps): how often each step is told.
    unsaid
        (variants, steps): how probably it happened untold, by the same numbers as everywhere.
    oddness, odd
        How odd each variant is, and whether that counts as odd; nan and False until it is known.

    Examples
    --------
    >>> import elision as el
    >>> corpus = el.Corpus.of(el.examples.doorbell_tellings())
    >>> found = Tellings(el.ScriptLearner().fit(corpus).script_, corpus)
    >>> len(found.variants), int(found.counts.sum())
    (19, 20)
    """

    def __init__(self, script: Script, corpus: Corpus) -> None:
        self._script = script
        self._lock = Lock()
        self._judging = False
        self.variants = _variants(corpus)
        self.counts = np.array([one.tellings for one in self.variants], np.int64)
        self.oddness = np.full(len(self.variants), np.nan)
        self.odd = np.zeros(len(self.variants), bool)
        laid = _by_outline if script.made_from is not None else _by_states
        self.steps, self.paths, self.unsaid = laid(script, self.variants)
        self.told = np.zeros(self.unsaid.shape, np.int64)
        for row, path in enumerate(self.paths):
            np.add.at(self.told[row], [*path], 1)
        self.unsaid[self.told > 0] = 0.0

    @property
    def judged(self) -> int:
        """How many variants are known to be odd or not."""
        return int(np.isfinite(self.oddness).sum())

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The steps by name."""
        return {name: step for step, name in enumerate(self.steps)}

    @cached_property
    def texts(self) -> list[str]:
        """Everything that can be searched for in each variant."""
        return ["\n".join((*one.events, *one.lines, *one.ids)).casefold() for one in self.variants]

    def judge(self) -> None:
        """Begin to find out how odd each variant is, unless that has begun."""
        with self._lock:
            begun, self._judging = self._judging, True
        if not begun:
            Thread(target=self._judge, daemon=True).start()

    def _judge(self) -> None:
        for start in range(0, len(self.variants), AT_ONCE):
            some = [one.events for one in self.variants[start : start + AT_ONCE]]
            found = self._script.conform(some, samples=0)
            here = slice(start, start + len(found))
            self.odd[here] = [one.odd for one in found]
            odds = np.array([one.oddness for one in found])
            # Where nothing can be told it is infinite.
            self.oddness[here] = np.clip(np.nan_to_num(odds, nan=ODDEST), -ODDEST, ODDEST)
            sleep(PAUSE)

    def with_words(self, words: str) -> NDArray[np.bool_]:
        """Which variants have all of these words, or parts of words."""
        wanted = words.casefold().split()
        return np.array([all(word in text for word in wanted) for text in self.texts], bool)

    def with_step(self, name: str, part: str) -> NDArray[np.bool_]:
        """Which variants tell a step, leave it unsaid, or do neither."""
        step = self._step(name)
        told, unsaid = self.told[:, step] > 0, self.unsaid[:, step] > PROBABLE
        return told if part == "told" else unsaid if part == "unsaid" else ~told & ~unsaid

    def with_gap(self, gap: Passage) -> NDArray[np.bool_]:
        """Which variants go from one step to another; "" is the beginning or the end."""
        first = -1 if not gap.after else self._step(gap.after)
        last = len(self.steps) if not gap.before else self._step(gap.before)
        ended = [(-1, *path, len(self.steps)) for path in self.paths]
        if gap.direct:
            return np.array([(first, last) in pairwise(path) for path in ended], bool)
        return np.array([_comes_after(path, first, last) for path in ended], bool)

    def frequent(self, share: float) -> NDArray[np.bool_]:
        """The most frequent variants that make up this share of the tellings, at least one."""
        before = np.cumsum(self.counts) - self.counts
        return np.asarray(before < max(share * self.counts.sum(), 1) - 1e-9)

    def most_told(self, share: float) -> list[int]:
        """Return this share of the steps, the most told ones, in order; at least one."""
        number = max(1, round(share * len(self.steps)))
        often = self.counts @ (self.told > 0)
        chosen = np.argsort(-often, kind="stable")[:number]
        return sorted(chosen.tolist())

    def similarity(self, events: Sequence[str]) -> NDArray[np.float64]:
        """How like each variant is to a telling."""
        return np.array(likeness(events, [one.events for one in self.variants]))

    def _step(self, name: str) -> int:
        if name not in self.number_of:
            raise InputError(f"no step {name[:100]!r} in this script")
        return self.number_of[name]


def likeness(events: Sequence[str], others: Iterable[Sequence[str]]) -> list[float]:
    """How much of a telling and of each of others is the same, in the same order; 1 is all.

    Examples
    --------
    >>> likeness(["ring", "open", "greet"], [["ring", "greet"], ["sneeze"]])
    [0.8, 0.0]
    """
    where: dict[str, int] = {}
    for place, event in enumerate(events):
        where[event] = where.get(event, 0) | 1 << place
    whole = (1 << len(events)) - 1
    found = []
    for other in others:
        # The longest common subsequence: a bit for each event that is not yet in it.
        left = whole
        for event in other:
            matches = left & where.get(event, 0)
            left = ((left + matches) | (left - matches)) & whole
        common = len(events) - left.bit_count()
        found.append(2 * common / max(len(events) + len(other), 1))
    return found


def _comes_after(path: Sequence[int], first: int, last: int) -> bool:
    return first in path and last in path[path.index(first) + 1 :]


def _variants(corpus: Corpus) -> list[Variant]:
    lines: dict[tuple[str, ...], tuple[str, ...]] = {}
    ids: dict[tuple[str, ...], list[str]] = {}
    for one in corpus:
        events = one.events or ()
        lines.setdefault(events, one.steps or events)
        ids.setdefault(events, []).append(one.id)
    found = [
        Variant(events, lines[events], len(names), tuple(names[:MOST_IDS]))
        for events, names in ids.items()
    ]
    return sorted(found, key=lambda one: -one.tellings)


Laid = tuple[list[str], list[tuple[int, ...]], "NDArray[np.float64]"]


def _by_outline(script: Script, variants: Sequence[Variant]) -> Laid:
    """Steps, what each variant tells of them, and what it leaves unsaid."""
    outline: Outline = script.outline()
    known: dict[frozenset[int], NDArray[np.float64]] = {}
    paths, unsaid = [], np.zeros((len(variants), len(outline.steps)))
    for row, one in enumerate(variants):
        path = tuple(step for step in steps_told(outline, one.events) if step is not None)
        paths.append(path)
        told = frozenset(path)
        if told not in known:
            known[told] = outline.happened(told)
        unsaid[row] = known[told]
    return [step.name for step in outline.steps], paths, unsaid


def _by_states(script: Script, variants: Sequence[Variant]) -> Laid:
    """The same of a script that was not made from an outline: its states say what was unsaid."""
    named = [step.event for step in script.outline().steps]
    steps = [*dict.fromkeys([*named, *script.events])]
    number = {event: step for step, event in enumerate(steps)}
    paths = [tuple(number[e] for e in one.events if e in number) for one in variants]
    unsaid = np.zeros((len(variants), len(steps)))
    for row, path in enumerate(paths):
        told = [steps[step] for step in path]
        aside = set(script.align(told).spurious)
        kept = [event for place, event in enumerate(told) if place not in aside]
        for gap in script.between(kept, min_probability=0.0).gaps:
            for event in gap.unsaid:
                column = number[event.event]
                unsaid[row, column] = 1 - (1 - unsaid[row, column]) * (1 - event.probability)
    return steps, paths, unsaid


# --- pages of the matrix


def browse(held: Held, wanted: Browsing) -> Matrix:
    """Return some rows of the matrix of a script's tellings; none if there are none beside it.

    Raises
    ------
    InputError
        If a step is none of the script's own.
    """
    tellings = held.tellings
    if tellings is None:
        return Matrix([], [], wanted.offset, 0, 0, 0, 0, 0, 0)
    tellings.judge()
    fits = _fitting(tellings, wanted)
    order = _sorted(held, tellings, wanted)
    rows = order[fits[order]]
    steps = tellings.most_told(wanted.steps)
    counts = tellings.counts * fits
    return Matrix(
        columns=[
            Column(
                step,
                tellings.steps[step],
                int(counts @ (tellings.told[:, step] > 0)),
                int(counts @ (tellings.unsaid[:, step] > PROBABLE)),
            )
            for step in steps
        ],
        rows=[
            _row(tellings, row, steps)
            for row in rows[wanted.offset : wanted.offset + wanted.limit].tolist()
        ],
        offset=wanted.offset,
        variants=len(rows),
        tellings=int(counts.sum()),
        all_variants=len(tellings.variants),
        all_tellings=int(tellings.counts.sum()),
        all_steps=len(tellings.steps),
        judged=tellings.judged,
    )


def _fitting(tellings: Tellings, wanted: Browsing) -> NDArray[np.bool_]:
    fits = tellings.frequent(wanted.paths)
    if wanted.step:
        fits = fits & tellings.with_step(wanted.step, wanted.part)
    if wanted.gap is not None:
        fits = fits & tellings.with_gap(wanted.gap)
    if wanted.words.strip():
        fits = fits & tellings.with_words(wanted.words)
    return fits


def _sorted(held: Held, tellings: Tellings, wanted: Browsing) -> NDArray[np.int64]:
    """All rows in the order that is asked for; the more frequent first where that says nothing."""
    if wanted.sort == "oddness":  # those that are not known yet come last
        keys = np.nan_to_num(tellings.oddness, nan=-np.inf)
    elif wanted.sort == "length":
        keys = np.array([len(one.events) for one in tellings.variants], np.float64)
    elif wanted.sort == "similarity":
        said = [one.heard for one in understood(held, wanted.like)]
        told = [max(one, key=one.__getitem__) if isinstance(one, dict) else one for one in said]
        events = [one for one in told if isinstance(one, str)]
        keys = tellings.similarity(events or tellings.variants[0].events)
    else:
        keys = tellings.counts.astype(np.float64)
    return np.argsort(-keys, kind="stable")


def _row(tellings: Tellings, row: int, steps: list[int]) -> Row:
    one = tellings.variants[row]
    return Row(
        number=row,
        lines=[*one.lines[:MOST_LINES]],
        count=one.tellings,
        ids=[*one.ids],
        told=tellings.told[row, steps].tolist(),
        unsaid=tellings.unsaid[row, steps].round(DIGITS).tolist(),
        other=len(one.events) - len(tellings.paths[row]),
        oddness=finite(tellings.oddness[row]),
        odd=bool(tellings.odd[row]),
    )


def finite(value: float) -> float | None:
    """Return a number that JSON can hold."""
    return float(value) if math.isfinite(value) else None
