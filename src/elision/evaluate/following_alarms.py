"""Whether omissions and exchanges are noticed in time, and how many alarms are false.

A telling is followed event by event by some method, which says at each how much speaks for every
untold event's having been skipped, and for the event told last being too late.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from elision.ask.engine.passing import Passing
from elision.ask.follow import Skipped
from elision.errors import InputError
from elision.evaluate.tables import markdown_table, percent_or_dash
from elision.values.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.values.narrative import Narrative
    from elision.values.script import Script

    Floats: TypeAlias = NDArray[np.float64]

COMMON = 0.5
"""Share of the tellings learned from that tell a step that is hidden."""

RATES = (0.05, 0.1)
"""Shares of correct tellings with a false alarm."""

ADDED = 0.1
"""Pseudocount of the bigram."""


# What is known of a domain, and what is asked about it


class Learned(NamedTuple):
    """A domain: its tellings to learn from, their script, and how often they tell what first."""

    script: Script
    tellings: Sequence[tuple[str, ...]]
    number: Mapping[str, int]
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, script: Script, tellings: Sequence[tuple[str, ...]]) -> Learned:
        """Count, for each two events, the tellings that tell both, the first first."""
        number = {event: o for o, event in enumerate(script.events)}
        pairs = np.zeros((len(number), len(number)), np.int64)
        for telling in tellings:
            first = [number[event] for event in dict.fromkeys(telling)]
            for place, event in enumerate(first):
                pairs[event, first[place + 1 :]] += 1
        return cls(script, tellings, number, pairs)

    @property
    def always(self) -> NDArray[np.bool_]:
        """(events, events): whether all tellings of both tell the first before the second."""
        return np.asarray((self.pairs > 0) & (self.pairs.T == 0))

    def due(self, told: Sequence[int], omitted: int) -> int:
        """Number of the event by which an omission is to be found."""
        after = np.flatnonzero(self.always[omitted])
        first = [told.index(event) for event in after.tolist() if event in told]
        return sorted(first)[1] if len(first) > 1 else len(told) - 1


class Case(NamedTuple):
    """A telling to follow, as numbers of events.

    ``omitted`` says by when each omission is to be found, ``late`` which event comes too late;
    ``certain`` whether nothing but ``omitted`` was left out.
    """

    told: tuple[int, ...]
    omitted: Mapping[int, int] = {}
    late: int | None = None
    certain: bool = False


def cases_of(learned: Learned, test: Iterable[Narrative], seed: int, *, given: bool) -> list[Case]:
    """What is followed in a domain; ``given`` says that omissions are known."""
    found = []
    for place, one in enumerate(test):
        number = learned.number
        told = tuple(number[event] for event in one.events or () if event in number)
        if not told:
            continue
        rng = np.random.default_rng([seed, place])
        if given:
            missing = [number[event] for event in missing_of(one) if event in number]
            omitted = {event: learned.due(told, event) for event in missing if event not in told}
            found.append(Case(told, omitted, certain=True))
        else:
            found += [Case(told), *hidden(learned, told, rng), *exchanged(learned, told, rng)]
    return found


def missing_of(narrative: Narrative) -> list[str]:
    """What a narrative says that it leaves out."""
    given = narrative.extra.get("missing", ())
    if isinstance(given, str) or not isinstance(given, list | tuple):
        raise InputError(
            f"missing is {given!r}, expected a list of events", where=f"id {narrative.id!r}"
        )
    return [str(one) for one in given]


def hidden(learned: Learned, told: tuple[int, ...], rng: np.random.Generator) -> list[Case]:
    """The telling without one of its usual steps."""
    counted = Counter(event for telling in learned.tellings for event in set(telling))
    usual = [
        event
        for event in sorted(set(told))
        if counted[learned.script.events[event]] >= COMMON * len(learned.tellings)
    ]
    if not usual or len(set(told)) < 2:
        return []
    chosen = int(rng.choice(usual))
    rest = tuple(event for event in told if event != chosen)
    return [Case(rest, {chosen: learned.due(rest, chosen)})]


def exchanged(learned: Learned, told: tuple[int, ...], rng: np.random.Generator) -> list[Case]:
    """The telling with two neighbours exchanged, told once each and always in one order."""
    always, times = learned.always, Counter(told)
    places = [
        place
        for place, (a, b) in enumerate(pairwise(told))
        if always[a, b] and times[a] == times[b] == 1
    ]
    if not places:
        return []
    place = int(rng.choice(places))
    a, b = told[place : place + 2]
    return [Case((*told[:place], b, a, *told[place + 2 :]), late=place + 1)]


# Methods


class Watched(NamedTuple):
    """What speaks for each event's having been skipped, and for each told one's being too late.

    ``skipped`` is (told, events), after each event told; ``late`` is (told,).
    """

    skipped: Floats
    late: Floats


Method: TypeAlias = "Callable[[Learned, Sequence[int]], Watched]"


def _nothing(learned: Learned, told: Sequence[int]) -> Watched:
    return Watched(np.full((len(told), len(learned.number)), -np.inf), np.full(len(told), -np.inf))


def _untold(skipped: Floats, told: Sequence[int]) -> Floats:
    """What speaks for events told already is nothing."""
    for place, event in enumerate(told):
        skipped[place:, event] = -np.inf
    return skipped


def alarms(learned: Learned, told: Sequence[int]) -> Watched:
    """The follower's own alarms, as ones; those at the end stand with the last event."""
    found = _nothing(learned, told)
    follower = learned.script.follow()
    for place, event in enumerate(told):
        now = follower.tell(learned.script.events[event])
        last = follower.finish().alarms if place == len(told) - 1 else ()
        for one in (*now.alarms, *last):
            if isinstance(one, Skipped):
                found.skipped[place, learned.number[one.event]] = 1.0
            elif one.position == place:
                found.late[place] = 1.0
    return found


def scores(learned: Learned, told: Sequence[int]) -> Watched:
    """What the follower's alarms are made of."""
    found = _nothing(learned, told)
    events, outline = learned.script.events, learned.script.outline()
    event_of = [learned.number[step.event] for step in outline.steps]
    state = Passing.of(outline)
    for place, step in enumerate(steps_told(outline, [events[event] for event in told])):
        if step is not None:
            found.late[place] = state.out_of_order(step)[0]
            state = state.tell(step)
        np.maximum.at(found.skipped[place], event_of, state.skips())
    return Watched(_untold(found.skipped, told), found.late)


def counting(learned: Learned, told: Sequence[int]) -> Watched:
    """How many steps were told that all tellings of both tell after it."""
    always = learned.always.astype(float)
    found = _nothing(learned, told)
    total = np.zeros(len(always))
    for place, event in enumerate(told):
        if event not in told[:place]:
            found.late[place] = total[event]
            total = total + always[:, event]
        found.skipped[place] = total
    return Watched(_untold(found.skipped, told), found.late)


def bigram(learned: Learned, told: Sequence[int]) -> Watched:
    """How much less surprising to come by way of the event, and how surprising what is told."""
    logs = _bigram_logs(learned)
    found = _nothing(learned, told)
    best = np.full(len(learned.number), -np.inf)
    last = len(learned.number)
    for place, event in enumerate(told):
        found.late[place] = -logs[last, event]
        best = np.maximum(best, logs[last, :-1] + logs[:-1, event] - logs[last, event])
        found.skipped[place] = best
        last = event
    return Watched(_untold(found.skipped, told), found.late)


def _bigram_logs(learned: Learned) -> Floats:
    """Log-probability of each next event; the start and the end are both the last one."""
    size = len(learned.number) + 1
    counts = np.full((size, size), ADDED)
    for telling in learned.tellings:
        ends = [size - 1, *(learned.number[event] for event in telling), size - 1]
        np.add.at(counts, (ends[:-1], ends[1:]), 1)
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))


METHODS: dict[str, Method] = {
    "follower, its own alarms": alarms,
    "follower, ranked": scores,
    "always before, ranked": counting,
    "bigram, ranked": bigram,
}

OWN = "follower, its own alarms"


# Judging alarms


class Evidence(NamedTuple):
    """What a method said of all cases.

    ``false_skips`` and ``false_deviations`` are the most that falsely spoke in each correct
    telling, ``untold`` the most that spoke for a step never told. ``omissions`` are what spoke for
    each omission as time went by and when it was due, ``deviations`` what spoke for each late
    event.
    """

    false_skips: list[float]
    false_deviations: list[float]
    untold: list[float]
    omissions: list[tuple[Floats, int]]
    deviations: list[float]

    @classmethod
    def empty(cls) -> Evidence:
        """No case yet."""
        return cls([], [], [], [], [])

    def add(self, case: Case, watched: Watched) -> None:
        """Note what was said of one more case."""
        skipped, late = watched
        for event, due in case.omitted.items():
            self.omissions.append((skipped[:, event], due))
        if case.late is not None:
            self.deviations.append(float(late[case.late]))
        elif not case.omitted:
            last = np.full(skipped.shape[1], -1)
            last[list(case.told)] = [_last(case.told, event) for event in case.told]
            later = np.arange(len(skipped))[:, None] < last
            never = np.broadcast_to(last < 0, skipped.shape)
            counts = later | never if case.certain else later
            self.false_skips.append(float(skipped[counts].max(initial=-np.inf)))
            self.untold.append(float(skipped[never].max(initial=-np.inf)))
            self.false_deviations.append(float(late.max(initial=-np.inf)))


def _last(told: Sequence[int], event: int) -> int:
    return len(told) - 1 - told[::-1].index(event)


def limit(values: Sequence[float], rate: float) -> float:
    """What at most this share of some values is above.

    Examples
    --------
    >>> limit([1.0, 5.0, 3.0, 2.0], 0.25)
    3.0
    """
    if not len(values):
        return np.inf
    return float(np.sort(values)[::-1][int(rate * len(values) + 1e-9)])


def judged(
    evidence: Evidence, skip_limit: float, deviation_limit: float
) -> dict[str, float | None]:
    """What is found above the limits, and what is falsely so."""
    found, in_time, late = [], [], []
    for spoke, due in evidence.omissions:
        above = np.flatnonzero(spoke > skip_limit)
        found.append(len(above) > 0)
        in_time.append(len(above) > 0 and above[0] <= due)
        if len(above):
            late.append(float(above[0] - due))
    return {
        "in_time": share_of(in_time),
        "by_the_end": share_of(found),
        "events_late": share_of(late),
        "exchanges": share_of([value > deviation_limit for value in evidence.deviations]),
        "false_skips": share_of([value > skip_limit for value in evidence.false_skips]),
        "false_deviations": share_of(
            [value > deviation_limit for value in evidence.false_deviations]
        ),
        "untold": share_of([value > skip_limit for value in evidence.untold]),
    }


def share_of(values: Sequence[float]) -> float | None:
    """The mean of some values, None of none."""
    return float(np.mean(values)) if len(values) else None


def alarm_figures(found: Mapping[str, Evidence], *, given: bool) -> list[dict[str, Any]]:
    """A row for each method and rate; where omissions are not given, also counting all alarms."""
    rows: list[dict[str, Any]] = []
    for name, evidence in found.items():
        if name == OWN:
            rows.append({"method": name, "rate": None, **judged(evidence, 0.5, 0.5)})
            continue
        deviations, later = evidence.false_deviations, evidence.false_skips
        kinds = {"false": later}
        if not given:
            kinds["any"] = [max(pair) for pair in zip(later, evidence.untold, strict=True)]
        for kind, skips in kinds.items():
            for rate in RATES:
                found_then = judged(evidence, limit(skips, rate), limit(deviations, rate))
                rows.append({"method": name, "rate": rate, "kind": kind, **found_then})
    return rows


def alarm_table(result: dict[str, Any], seeds: int) -> str:
    """What is found and what is false, in Markdown."""
    how = "left out by the performers" if result["given"] else "hidden"
    said = (
        f"{seeds} splits, {result['correct']} correct tellings followed, {result['omissions']}"
        f" omissions {how}, {result['exchanges']} exchanges. In percent: omissions found in time"
        " and by the end, exchanges found, correct tellings with a false alarm of each kind, and"
        " with an alarm of a step never told; events late is how many after it was due. What is"
        " ranked has its limit where so many correct tellings have a false alarm, or any."
    )
    heads = ["method", "at", "in time", "by the end", "events late", "exchanges"]
    heads += ["false skipped", "false out of order", "of a step never told"]
    lines = [
        [
            row["method"],
            "–" if row["rate"] is None else f"{row['rate']:.0%} {row['kind']}",
            *(percent_or_dash(row[name]) for name in ("in_time", "by_the_end")),
            "–" if row["events_late"] is None else f"{row['events_late']:+.1f}",
            *(
                percent_or_dash(row[name])
                for name in ("exchanges", "false_skips", "false_deviations", "untold")
            ),
        ]
        for row in result["alarms"]
    ]
    return f"{said}\n\n{markdown_table(heads, lines, {0, 1})}"
