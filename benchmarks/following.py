"""Whether following a telling is of use: omissions found in time, and which activity it is.

    python benchmarks/following.py FILE... [--seeds N] [--json]

Two thirds of each domain are learned from, the others are followed. Where narratives have a field
``missing``, that is what they leave out, and any other alarm is false. Else each telling of events
is followed as it is, with a usual step hidden, and with two neighbours exchanged that are always
told in one order; an alarm is false if the step is told later, and of one that is never told
nothing is known. An omission is found in time if it is by the second step that all tellings learned
from tell after it, or by the end where there are no two. The peer counts how many steps were told
that always come after an untold one; its limit is set on the test tellings, so that as many correct
ones have a false alarm as the rate says.

In files of several domains, what is told is also identified event by event: by a library of all
scripts, and by one without the right script, which should refuse it; beside it, naive Bayes.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import learn, parser_of, percent, run, share_of, table, tell, usable_domains
from elision.ask.follow import Skipped
from elision.bench.judging import calibration_error
from elision.errors import InputError

Floats = NDArray[np.float64]

TEST_SHARE = 1 / 3

COMMON = 0.5
"""Share of the tellings learned from that tell a step that is hidden."""

RATES = (0.05, 0.1)
"""Shares of correct tellings with a false alarm."""

EVENTS = (1, 2, 3, 5, None)
NONE_BY_EVENTS = 0.2
"""That it is none of the scripts: a few events must not name one too easily."""
"""After how many events it is asked which activity it is; None is the end."""

MOST_READ = 10
"""Tellings of sentences in a domain that are identified: each time all sentences are read anew."""

SMOOTHINGS = (1.0, 0.3, 0.1)
"""Pseudocounts of naive Bayes; the one that is best on the test tellings is reported."""

SELDOM = 0.9
"""Activities that are refused less often when they are missing are named."""

OWN = "follower"


# What is followed


class Learned(NamedTuple):
    """A domain: its tellings to learn from, their script, and how often they tell what first."""

    script: el.Script
    tellings: Sequence[tuple[str, ...]]
    number: Mapping[str, int]
    always: NDArray[np.bool_]
    """(events, events): whether all tellings of both tell the first before the second."""

    @classmethod
    def of(cls, script: el.Script, tellings: Sequence[tuple[str, ...]]) -> Learned:
        number = {event: o for o, event in enumerate(script.events)}
        pairs = np.zeros((len(number), len(number)), np.int64)
        for telling in tellings:
            first = [number[event] for event in dict.fromkeys(telling)]
            for place, event in enumerate(first):
                pairs[event, first[place + 1 :]] += 1
        return cls(script, tellings, number, (pairs > 0) & (pairs.T == 0))

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


def missing_of(narrative: el.Narrative) -> list[str]:
    """What a narrative says that it leaves out."""
    given = narrative.extra.get("missing", ())
    if isinstance(given, str) or not isinstance(given, list | tuple):
        raise InputError(
            f"missing is {given!r}, expected a list of events", where=f"id {narrative.id!r}"
        )
    return [str(one) for one in given]


def cases_of(
    learned: Learned, test: Iterable[el.Narrative], seed: int, *, given: bool
) -> list[Case]:
    """What is followed in a domain; ``given`` says that omissions are known."""
    found = []
    number = learned.number
    for place, one in enumerate(test):
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


def hidden(learned: Learned, told: tuple[int, ...], rng: np.random.Generator) -> list[Case]:
    """The telling without one of its usual steps."""
    counted = Counter(event for telling in learned.tellings for event in set(telling))
    least = COMMON * len(learned.tellings)
    usual = [event for event in sorted(set(told)) if counted[learned.script.events[event]] >= least]
    if not usual or len(set(told)) < 2:
        return []
    chosen = int(rng.choice(usual))
    rest = tuple(event for event in told if event != chosen)
    return [Case(rest, {chosen: learned.due(rest, chosen)})]


def exchanged(learned: Learned, told: tuple[int, ...], rng: np.random.Generator) -> list[Case]:
    """The telling with two neighbours exchanged, told once each and always in one order."""
    times = Counter(told)
    places = [
        place
        for place, (a, b) in enumerate(pairwise(told))
        if learned.always[a, b] and times[a] == times[b] == 1
    ]
    if not places:
        return []
    place = int(rng.choice(places))
    a, b = told[place : place + 2]
    return [Case((*told[:place], b, a, *told[place + 2 :]), late=place + 1)]


# Who watches: what speaks after each event for each event's having been skipped, (told, events),
# and for each told one's being too late, (told,)


def alarms(learned: Learned, told: Sequence[int]) -> tuple[Floats, Floats]:
    """The follower's own alarms, as ones; those at the end stand with the last event."""
    skipped = np.full((len(told), len(learned.number)), -np.inf)
    late = np.full(len(told), -np.inf)
    follower = learned.script.follow()
    for place, event in enumerate(told):
        now = follower.tell(learned.script.events[event])
        last = follower.finish().alarms if place == len(told) - 1 else ()
        for one in (*now.alarms, *last):
            if isinstance(one, Skipped):
                skipped[place, learned.number[one.event]] = 1.0
            elif one.position == place:
                late[place] = 1.0
    return skipped, late


def counting(learned: Learned, told: Sequence[int]) -> tuple[Floats, Floats]:
    """How many steps were told that all tellings of both tell after it."""
    skipped = np.full((len(told), len(learned.number)), -np.inf)
    late = np.full(len(told), -np.inf)
    total = np.zeros(len(learned.number))
    for place, event in enumerate(told):
        if event not in told[:place]:
            late[place] = total[event]
            total = total + learned.always[:, event]
        skipped[place] = total
    for place, event in enumerate(told):
        skipped[place:, event] = -np.inf  # what is told already was not skipped
    return skipped, late


WATCHING = {OWN: alarms, "always before": counting}


class Evidence:
    """What was said of all cases.

    ``false_skips`` and ``false_late`` are the most that falsely spoke in each correct telling,
    ``untold`` the most that spoke for a step never told. ``omissions`` are what spoke for each
    omission as time went by and when it was due, ``late`` what spoke for each late event.
    """

    def __init__(self) -> None:
        self.false_skips: list[float] = []
        self.false_late: list[float] = []
        self.untold: list[float] = []
        self.omissions: list[tuple[Floats, int]] = []
        self.late: list[float] = []

    def add(self, case: Case, skipped: Floats, late: Floats) -> None:
        """Note what was said of one more case."""
        for event, due in case.omitted.items():
            self.omissions.append((skipped[:, event], due))
        if case.late is not None:
            self.late.append(float(late[case.late]))
        elif not case.omitted:
            last = np.full(skipped.shape[1], -1)
            for place, event in enumerate(case.told):
                last[event] = place
            later = np.arange(len(skipped))[:, None] < last
            never = np.broadcast_to(last < 0, skipped.shape)
            counts = later | never if case.certain else later
            self.false_skips.append(float(skipped[counts].max(initial=-np.inf)))
            self.untold.append(float(skipped[never].max(initial=-np.inf)))
            self.false_late.append(float(late.max(initial=-np.inf)))

    def judged(self, skip_limit: float, late_limit: float) -> dict[str, float | None]:
        """What is found above the limits, and what is falsely so."""
        found, in_time = [], []
        for spoke, due in self.omissions:
            above = np.flatnonzero(spoke > skip_limit)
            found.append(len(above) > 0)
            in_time.append(len(above) > 0 and above[0] <= due)
        return {
            "in time": share_of(in_time),
            "by the end": share_of(found),
            "exchanges": share_of([value > late_limit for value in self.late]),
            "false skipped": share_of([value > skip_limit for value in self.false_skips]),
            "false out of order": share_of([value > late_limit for value in self.false_late]),
            "of a step never told": share_of([value > skip_limit for value in self.untold]),
        }


def limit(values: Sequence[float], rate: float) -> float:
    """What at most this share of some values is above.

    Examples
    --------
    >>> limit([1.0, 5.0, 3.0, 2.0], 0.25)
    3.0
    """
    return float(np.sort(values)[::-1][int(rate * len(values) + 1e-9)]) if len(values) else np.inf


def alarm_figures(found: Mapping[str, Evidence]) -> dict[str, dict[str, float | None]]:
    """The follower at its own limits, the peer at the rates."""
    rows = {OWN: found[OWN].judged(0.5, 0.5)}
    for name, one in found.items():
        for rate in RATES if name != OWN else ():
            limits = limit(one.false_skips, rate), limit(one.false_late, rate)
            rows[f"{name}, {rate:.0%} false"] = one.judged(*limits)
    return rows


# Which activity it is


class Named(NamedTuple):
    """Whether the right activity was named after some events, and P(none of these)."""

    right: bool
    sure: float
    none: float
    refused: bool


def heard_out(library: el.Library, telling: Sequence[str], truth: str) -> dict[int | None, Named]:
    """Hear a telling event by event, and note what it is taken for."""

    def named(guess: Any) -> Named:
        best = next((one for one in guess.candidates if one.name is not None), None)
        none = guess.probability(None)
        sure = best.probability / (1 - none) if best is not None and none < 1 else 0.0
        right = best is not None and best.name == truth
        return Named(right, min(sure, 1.0), none, guess.best is None)

    by_words = any(script.extractor is not None for script in library.values())
    counts = [count for count in EVENTS if count is not None and count <= len(telling)]
    asked: list[Any] = [[*telling[:count], ...] for count in counts] + [list(telling)]
    guesses = library.identify_many(asked, none_of_these=True if by_words else NONE_BY_EVENTS)
    return dict(zip([*counts, None], map(named, guesses), strict=True))


def bag(telling: Sequence[str], *, words: bool) -> list[str]:
    """Events, or the words of all sentences."""
    if not words:
        return list(telling)
    return [word for sentence in telling for word in re.findall(r"\w+", sentence.lower())]


def naive_bayes(train: el.Corpus, told: Sequence[Sequence[str]], truth: Sequence[str]) -> float:
    """Accuracy of naive Bayes, smoothed as is most accurate here."""
    names = sorted({one.domain for one in train})
    words = not train.has_events
    counts = {name: Counter[str]() for name in names}
    for one in train:
        counts[one.domain].update(bag(one.events or one.steps or (), words=one.events is None))
    number = {word: o for o, word in enumerate(sorted(set().union(*counts.values())))}
    counted = np.array([[counts[name][word] for word in number] for name in names], float)
    prior = np.log([sum(one.domain == name for one in train) for name in names])
    rows = np.zeros((len(told), len(number)))
    for row, telling in zip(rows, told, strict=True):
        for word in bag(telling, words=words):
            if word in number:
                row[number[word]] += 1
    best = 0.0
    for added in SMOOTHINGS:
        logs = np.log((counted + added) / (counted + added).sum(axis=1, keepdims=True))
        chosen = (rows @ logs.T + prior).argmax(axis=1)
        right = [names[k] == one for k, one in zip(chosen, truth, strict=True)]
        best = max(best, float(np.mean(right)))
    return best


def identify(
    scripts: Mapping[str, el.Script], train: el.Corpus, test: el.Corpus
) -> dict[int | None, dict[str, Any]]:
    """Follow all test tellings over a library of all scripts, and one without the right one."""
    sizes = {name: float(len(train.domain(name))) for name in scripts}
    library = el.Library(scripts, sizes)
    if not test.has_events:
        test = el.Corpus(one for name in scripts for one in test.domain(name)[:MOST_READ])
    told = {id(one): list(one.events or one.steps or ()) for one in test}
    home = {id(one): heard_out(library, told[id(one)], one.domain) for one in test}
    away: dict[int, dict[int | None, Named]] = {}
    for name in scripts:
        tell(f"without {name}")
        others = {other: script for other, script in scripts.items() if other != name}
        rest = el.Library(others, {other: sizes[other] for other in others})
        for one in test.domain(name):
            away[id(one)] = heard_out(rest, told[id(one)], name)
    found = {}
    for count in EVENTS:
        asked = [one for one in test if count in home[id(one)]]
        if asked:
            domains = [one.domain for one in asked]
            found[count] = {
                "own": [home[id(one)][count] for one in asked],
                "foreign": [away[id(one)][count] for one in asked],
                "bayes": naive_bayes(train, [told[id(one)][:count] for one in asked], domains),
                "domains": domains,
            }
    return found


def identify_figures(runs: Sequence[dict[int | None, dict[str, Any]]]) -> list[dict[str, Any]]:
    """A row for each number of events, over all seeds."""
    rows = []
    for count in EVENTS:
        some = [run[count] for run in runs if count in run]
        if not some:
            continue
        own = [one for run in some for one in run["own"]]
        foreign = [one for run in some for one in run["foreign"]]
        right = np.array([one.right for one in own])
        refusal = limit([one.none for one in own], RATES[0])
        by_activity: dict[str, list[bool]] = defaultdict(list)
        for run_ in some:
            for name, one in zip(run_["domains"], run_["foreign"], strict=True):
                by_activity[name].append(one.none > refusal)
        rows.append(
            {
                "events": count,
                "tellings": len(own),
                "right": float(right.mean()),
                "ECE": calibration_error(np.array([one.sure for one in own]), right),
                "naive Bayes": share_of([run["bayes"] for run in some]),
                "refused falsely": share_of([one.refused for one in own]),
                "foreign refused": share_of([one.refused for one in foreign]),
                "at 5 %": share_of([one.none > refusal for one in foreign]),
                "by_activity": {name: share_of(some) for name, some in by_activity.items()},
            }
        )
    return rows


# Command


def measure(file: str, options: argparse.Namespace) -> dict[str, Any]:
    """All figures of a corpus of one domain or more, of events or of sentences."""
    parts = usable_domains(el.read(file))
    corpus = el.Corpus(one for part in parts.values() for one in part)
    given = any(missing_of(one) for one in corpus)
    evidence = {name: Evidence() for name in WATCHING}
    runs = []
    for seed in range(options.seeds):
        train, test = corpus.split(TEST_SHARE, random_state=seed)
        scripts = {}
        for name in parts:
            tell(f"{name}, split {seed + 1} of {options.seeds}")
            scripts[name] = learn(train.domain(name), seed)
            if corpus.has_events:
                learned = Learned.of(scripts[name], train.domain(name).events)
                for case in cases_of(learned, test.domain(name), seed, given=given):
                    for method, watch in WATCHING.items():
                        evidence[method].add(case, *watch(learned, case.told))
        if len(parts) > 1:
            runs.append(identify(scripts, train, test))
    return {
        "alarms": alarm_figures(evidence) if corpus.has_events else {},
        "identified": identify_figures(runs),
    }


def shown(found: dict[str, Any]) -> str:
    parts = []
    if found["alarms"]:
        heads = list(found["alarms"][OWN])
        lines = [[name, *map(percent, row.values())] for name, row in found["alarms"].items()]
        parts.append(table(["method", *heads], lines, texts=1))
    if found["identified"]:
        heads = ["right", "ECE", "naive Bayes", "refused falsely", "foreign refused", "at 5 %"]
        lines = [
            [str(row["events"] or "all"), str(row["tellings"]), *(percent(row[n]) for n in heads)]
            for row in found["identified"]
        ]
        parts.append(table(["after events", "tellings", *heads], lines, texts=0))
        shares = found["identified"][-1]["by_activity"]
        low = sorted((share, name) for name, share in shares.items() if share < SELDOM)
        told = ", ".join(f"{name} {percent(share)}" for share, name in low) or "none"
        parts.append(f"All told, refused at 5 % in less than {SELDOM:.0%}: {told}.")
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(parser_of(__doc__, seeds=5), measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
