"""The repairer: says what was done and not recorded in the traces of a log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from elision._backends import is_frame
from elision.errors import InputError
from elision.repairing.completing import Completion
from elision.repairing.gaps import Found, GapTables, learn_gaps
from elision.repairing.omission import Omission, given_omission, learn_omission, rates_given
from elision.values.observations import short

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from elision.repairing.omission import Rates
    from elision.values.script import Script

COPIES = 15
"""Completed copies of the log that are thinned again."""

MOST_CASES = 20_000
"""Cases that are learned from; of more a random part is taken."""

MOST_EVENTS = 1_000
"""Kinds of events that are told apart, the most frequent ones; others are never put in."""

SAMPLED = 5_000
"""Complete tellings that are sampled from a script."""

PROBABLE = 0.5
LEAST_THRESHOLD = 0.3
"""What is less probable is never put in unless asked for, however much would be missed."""

UNSURE = 0.7
"""What is put in and less probable is said to be uncertain; what is at least so probably missing
somewhere, and nowhere probably enough to be put in, is said to have no place."""

MOST_ALTERNATIVES = 3
LEAST_ALTERNATIVE = 0.05


Chance: TypeAlias = tuple[int, float, bool]
"""An event, how probable it is in a gap, and whether this is one of its likeliest gaps."""


class Missing(NamedTuple):
    """An event that is probably missing from a trace.

    Attributes
    ----------
    gap
        Where: before the event of this number; the number of events if at the end.
    event
        What.
    probability
        How surely.
    alternatives
        What may have stood there instead and was not put in, and how probably: with the event
        itself at most 1 together, or both were there.
    """

    gap: int
    event: str
    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


class Answer(NamedTuple):
    """What is missing from a trace.

    Attributes
    ----------
    missing
        What has a place.
    unplaced
        Kinds of events that are missing with probability `UNSURE` or more, but at no certain place:
        as often as they are.
    """

    missing: list[Missing]
    unplaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Repairer:
    """Says what was done and not recorded.

    Attributes
    ----------
    events
        Kinds of events it knows.
    omission
        How often each is left out.
    threshold
        What is at least so probable is put in: where right and wrong insertions, and omissions that
        are not found, balance best (the largest F1 to be expected).
    """

    events: tuple[str, ...]
    omission: Omission
    threshold: float
    _tables: GapTables

    @classmethod
    def learn(
        cls,
        traces: Iterable[Sequence[str]],
        *,
        omission: Rates | None = None,
        random_state: int = 0,
    ) -> Repairer:
        """Learn from traces that leave events out.

        Parameters
        ----------
        traces
            Names of the events of each case.
        omission
            How often events are left out, one rate for all or those of some events by name, where
            `None` stands for all others; estimated for each kind of event unless given.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> log = [[e for e in ("ask", "check", "pay") if rng.random() < 0.8] for _ in range(900)]
        >>> repairer = Repairer.learn(log)
        >>> [(one.gap, one.event) for one in repairer.missing(["ask", "pay"])]
        [(1, 'check')]
        """
        if is_frame(traces):
            hint = "give el.read(frame).events, or the frame to el.repair"
            raise InputError("a data frame came, expected the events of each case", hint=hint)
        told = [trace for trace in map(tuple, traces) if trace]
        if not told:
            raise InputError("no case has an event: there is nothing to learn from")
        check_names(omission, {event for trace in told for event in trace})
        events = _known(told)
        numbered = _numbered(_part(told, random_state), events)
        size = len(events) + 1  # the last number stands for all others
        rates = _rates(omission, events, numbered, (), random_state)
        # Nothing else holds the completion, so that its memory is free once the copies are counted.
        copies = Completion(numbered, size, rates.rates, random_state=random_state).copies(COPIES)
        rng = np.random.default_rng([random_state, 13])
        tables = learn_gaps(copies, size, rates.rates, rng)
        return cls._made(tables, numbered, events, rates)

    @classmethod
    def of_script(
        cls,
        script: Script,
        traces: Iterable[Sequence[str]] = (),
        *,
        omission: Rates | None = None,
        random_state: int = 0,
    ) -> Repairer:
        """Make a repairer of a script whose tellings are complete: it was learned elsewhere.

        Parameters
        ----------
        traces
            Traces to estimate the omissions from, unless they are given.
        """
        events = tuple(script.events)
        complete = script.sample(SAMPLED, random_state=random_state)
        numbered = [trace for trace in _numbered(complete, events) if len(trace)]
        told: list[NDArray[np.int64]] = []
        check_names(omission, events)
        if not is_whole(omission):
            told = _numbered(_part([t for t in map(tuple, traces) if t], random_state), events)
            if not told:
                raise InputError(
                    "neither traces nor how much is left out of them is known",
                    hint="pass omission=, a number from 0 to 1",
                )
        rates = _rates(omission, events, told, numbered, random_state)
        rng = np.random.default_rng([random_state, 13])
        tables = learn_gaps([numbered], len(events) + 1, rates.rates, rng)
        return cls._made(tables, numbered, events, rates)

    @classmethod
    def _made(
        cls,
        tables: GapTables,
        sample: Sequence[NDArray[np.int64]],
        events: tuple[str, ...],
        omission: Omission,
    ) -> Repairer:
        times = Counter(tuple(trace.tolist()) for trace in sample)
        found = _trusted(tables.find([np.array(one, np.int64) for one in times]), omission)
        chances = np.repeat(found.chance, np.array(list(times.values()), np.int64)[found.trace])
        return cls(events, omission, _balanced(chances), tables)

    def missing(self, trace: Sequence[str], *, threshold: float | None = None) -> list[Missing]:
        """Say what is missing from a trace."""
        return self.missing_many([trace], threshold=threshold)[0]

    def missing_many(
        self, traces: Iterable[Sequence[str]], *, threshold: float | None = None
    ) -> list[list[Missing]]:
        """Say what is missing from each of many traces; each distinct one is looked at once.

        Parameters
        ----------
        threshold
            What is at least so probable is missing; `threshold` of the repairer unless given.
        """
        return [one.missing for one in self.answers(traces, threshold=threshold)]

    def answers(
        self, traces: Iterable[Sequence[str]], *, threshold: float | None = None
    ) -> list[Answer]:
        """Say what is missing from each of many traces, also what has no place."""
        least = self.threshold if threshold is None else threshold
        if not 0 < least <= 1:
            raise InputError(f"threshold is {short(threshold)}, expected above 0 and at most 1")
        told = list(map(tuple, traces))
        distinct = list(dict.fromkeys(told))
        missing: list[list[Missing]] = [[] for _ in distinct]
        expected: list[defaultdict[str, float]] = [defaultdict(float) for _ in distinct]
        for number, gap, chances in self._by_gap(distinct):
            missing[number] += self._chosen(gap, chances, least)
            for event, chance, _ in chances:
                expected[number][self.events[event]] += chance
        answers = {
            trace: Answer(found, _unplaced(found, due))
            for trace, found, due in zip(distinct, missing, expected, strict=True)
        }
        return [answers[one]._replace(missing=list(answers[one].missing)) for one in told]

    def chances(self, traces: Iterable[Sequence[str]]) -> list[list[tuple[int, str, float]]]:
        """Return everything that may be missing from each trace: gap, event, probability."""
        told = list(map(tuple, traces))
        distinct = list(dict.fromkeys(told))
        answers: dict[tuple[str, ...], list[tuple[int, str, float]]] = {one: [] for one in distinct}
        for number, gap, chances in self._by_gap(distinct):
            answers[distinct[number]] += [(gap, self.events[e], p) for e, p, _ in chances]
        return [list(answers[one]) for one in told]

    def _by_gap(self, traces: Sequence[tuple[str, ...]]) -> Iterable[tuple[int, int, list[Chance]]]:
        """Yield each gap in which something may be missing: trace, gap, and what."""
        found = _trusted(self._tables.find(_numbered(traces, self.events)), self.omission)
        rows = zip(*(column.tolist() for column in (*found, _due(found))), strict=True)
        known = len(self.events)
        for (number, gap), group in groupby(rows, key=lambda row: (row[0], row[1])):
            if chances := [(one[2], one[3], one[4]) for one in group if one[2] < known]:
                yield number, gap, chances

    def _chosen(self, gap: int, chances: list[Chance], threshold: float) -> list[Missing]:
        inside = [one for one in chances if one[1] >= threshold and one[2]]
        if not inside:
            return []
        others = sorted((one for one in chances if one not in inside), key=lambda one: -one[1])
        order = self._tables.in_order([event for event, _, _ in inside])
        found = []
        for event, chance, _ in (inside[place] for place in order):
            instead = [
                (self.events[other], probability)
                for other, probability, _ in others
                if LEAST_ALTERNATIVE <= probability <= 1 - chance
            ]
            alternatives = tuple(instead[:MOST_ALTERNATIVES])
            found.append(Missing(gap, self.events[event], chance, alternatives))
        return found


def _unplaced(missing: Sequence[Missing], expected: Mapping[str, float]) -> tuple[str, ...]:
    """What is to be expected more often than it was put in."""
    put_in = Counter(one.event for one in missing)
    return tuple(
        event
        for event, times in sorted(expected.items())
        for _ in range(int(times + 1 - UNSURE) - put_in[event])
    )


def is_whole(omission: Rates | None) -> bool:
    """Whether rates are given of all events, and none is to be estimated."""
    return omission is not None and (not isinstance(omission, Mapping) or None in omission)


def check_names(omission: Rates | None, events: Collection[str]) -> None:
    """Refuse rates of events that there are none of."""
    if not isinstance(omission, Mapping):
        return
    for name in omission:
        if name is not None and name not in events:
            near = get_close_matches(name, events, 3) if isinstance(name, str) else []
            raise InputError(
                f"omission names {short(name)}, which is none of the events",
                hint=f"did you mean {', '.join(map(repr, near))}?" if near else None,
            )


def _rates(
    omission: Rates | None,
    events: tuple[str, ...],
    told: Sequence[NDArray[np.int64]],
    complete: Sequence[NDArray[np.int64]],
    random_state: int,
) -> Omission:
    """Rates of all events, as far as they are given, and of all others, which have none."""
    size = len(events) + 1
    if omission is not None and not isinstance(omission, Mapping):
        rates = given_omission(omission, size)
    else:
        given = np.append(
            rates_given(omission or {}, events), 0.0 if is_whole(omission) else np.nan
        )
        rates = learn_omission(
            told, size, given=given, complete=complete, random_state=random_state
        )
    rates.rates[-1] = 0.0
    return rates


def _trusted(found: Found, omission: Omission) -> Found:
    """Chances, lower where a high rate may come of a step that is often not done."""
    return found._replace(chance=found.chance * omission.trust[found.event])


def _due(found: Found) -> NDArray[np.bool_]:
    """Which of the places of an event in a trace are the most probable ones, as many as are due.

    An event that goes equally well before and behind a parallel one is not missing twice.
    """
    order = np.lexsort((-found.chance, found.event, found.trace))
    trace, event = found.trace[order], found.event[order]
    first = np.ones(len(order), bool)
    first[1:] = (trace[1:] != trace[:-1]) | (event[1:] != event[:-1])
    group = np.cumsum(first) - 1
    expected = np.bincount(group, found.chance[order], minlength=group.max(initial=-1) + 1)
    rank = np.arange(len(order)) - np.flatnonzero(first)[group]
    due = np.empty(len(order), bool)
    due[order] = rank < np.maximum(np.rint(expected), 1)[group]
    return due


def _balanced(chances: NDArray[np.float64]) -> float:
    """The threshold with the largest F1 to be expected: 2 sum of p said / (said + sum of all p)."""
    if not len(chances):
        return PROBABLE
    said = np.sort(chances)[::-1]
    expected = 2 * np.cumsum(said) / (np.arange(1, len(said) + 1) + said.sum())
    return float(np.clip(said[expected.argmax()], LEAST_THRESHOLD, PROBABLE))


def _known(traces: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The most frequent events, by name."""
    counts = Counter(event for trace in traces for event in trace)
    return tuple(sorted(sorted(counts, key=lambda event: (-counts[event], event))[:MOST_EVENTS]))


def _part(traces: list[tuple[str, ...]], random_state: int) -> list[tuple[str, ...]]:
    if len(traces) <= MOST_CASES:
        return traces
    rng = np.random.default_rng([random_state, 14])
    return [traces[k] for k in np.sort(rng.choice(len(traces), MOST_CASES, replace=False))]


def _numbered(traces: Iterable[Sequence[str]], events: tuple[str, ...]) -> list[NDArray[np.int64]]:
    """Numbers of the events; those that are not known share the number behind the last."""
    number = {event: k for k, event in enumerate(events)}
    other = len(events)
    return [np.array([number.get(e, other) for e in trace], np.int64) for trace in traces]
