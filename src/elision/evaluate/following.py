"""Whether following a telling is of use: omissions found in time, and which activity it is.

    python -m elision.evaluate.following FILE... [--seeds N] [--json [PATH]]

Two thirds of each domain are learned from, the others are followed. Where narratives have a field
``missing``, that is what they leave out, and any other alarm is false. Else each telling of events
is followed as it is, with a usual step hidden, and with two neighbours exchanged that are always
told in one order; an alarm is false if the step is told later, and of one that is never told
nothing is known. An omission is found in time if it is by the second step that all tellings learned
from tell after it, or by the end where there are no two.

In files of several domains, what is told is also identified event by event: by a library of all
scripts, and by one without the right script.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from elision._files import shown_path, write_atomically
from elision.ask._passing import Passing
from elision.ask.follow import Skipped
from elision.corpus import Corpus
from elision.errors import ElisionError, InputError
from elision.evaluate.cloze import calibration_error
from elision.evaluate.identifying import SMOOTHINGS, bag
from elision.evaluate.learned import learn
from elision.evaluate.names import corpus_names
from elision.evaluate.outlines import usable_domains
from elision.evaluate.tables import markdown_table, one_line, percent, plain_text
from elision.learning import DEFAULT
from elision.library import Library
from elision.outline import steps_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from elision.ask.identify import Identification
    from elision.narrative import Narrative
    from elision.script import Script

    Floats: TypeAlias = NDArray[np.float64]

TEST_SHARE = 1 / 3
USUAL = 0.5
"""Share of the tellings learned from that tell a step that is hidden."""

RATES = (0.05, 0.1)
"""Shares of correct tellings with a false alarm."""

ADDED = 0.1
"""Pseudocount of the bigram."""

EVENTS = (1, 2, 3, 5, None)
"""After how many events it is asked which activity it is; None is the end."""

MOST_READ = 10
"""Tellings of sentences in a domain that are identified: each time all sentences are read anew."""

RESULT = '{\n "measured": "following",\n'
"""How a file of results begins."""


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
        if counted[learned.script.events[event]] >= USUAL * len(learned.tellings)
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
            found.late[place] = state.slip(step)[0]
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

    ``false_skips`` and ``false_slips`` are the most that falsely spoke in each correct telling,
    ``untold`` the most that spoke for a step never told. ``omissions`` are what spoke for each
    omission as time went by and when it was due, ``slips`` what spoke for each late event.
    """

    false_skips: list[float]
    false_slips: list[float]
    untold: list[float]
    omissions: list[tuple[Floats, int]]
    slips: list[float]

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
            self.slips.append(float(late[case.late]))
        elif not case.omitted:
            last = np.full(skipped.shape[1], -1)
            last[list(case.told)] = [_last(case.told, event) for event in case.told]
            later = np.arange(len(skipped))[:, None] < last
            never = np.broadcast_to(last < 0, skipped.shape)
            counts = later | never if case.certain else later
            self.false_skips.append(float(skipped[counts].max(initial=-np.inf)))
            self.untold.append(float(skipped[never].max(initial=-np.inf)))
            self.false_slips.append(float(late.max(initial=-np.inf)))


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


def judged(evidence: Evidence, skip_limit: float, slip_limit: float) -> dict[str, float | None]:
    """What is found above the limits, and what is falsely so."""
    found, in_time, late = [], [], []
    for spoke, due in evidence.omissions:
        above = np.flatnonzero(spoke > skip_limit)
        found.append(len(above) > 0)
        in_time.append(len(above) > 0 and above[0] <= due)
        if len(above):
            late.append(float(above[0] - due))
    return {
        "in_time": _share(in_time),
        "by_the_end": _share(found),
        "events_late": _share(late),
        "exchanges": _share([value > slip_limit for value in evidence.slips]),
        "false_skips": _share([value > skip_limit for value in evidence.false_skips]),
        "false_slips": _share([value > slip_limit for value in evidence.false_slips]),
        "untold": _share([value > skip_limit for value in evidence.untold]),
    }


def _share(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def alarm_figures(found: Mapping[str, Evidence], *, given: bool) -> list[dict[str, Any]]:
    """A row for each method and rate; where omissions are not given, also counting all alarms."""
    rows: list[dict[str, Any]] = []
    for name, evidence in found.items():
        if name == OWN:
            rows.append({"method": name, "rate": None, **judged(evidence, 0.5, 0.5)})
            continue
        slips, later = evidence.false_slips, evidence.false_skips
        kinds = {"false": later}
        if not given:
            kinds["any"] = [max(pair) for pair in zip(later, evidence.untold, strict=True)]
        for kind, skips in kinds.items():
            for rate in RATES:
                found_then = judged(evidence, limit(skips, rate), limit(slips, rate))
                rows.append({"method": name, "rate": rate, "kind": kind, **found_then})
    return rows


# Which activity it is


class Named(NamedTuple):
    """Whether the right activity was named after some events, how surely, and P(none of these)."""

    right: bool
    sure: float
    none: float
    refused: bool


def heard_out(library: Library, telling: Sequence[str], truth: str) -> dict[int | None, Named]:
    """Follow a telling over a library, and note what it is taken for."""
    follower = library.follow()
    found: dict[int | None, Named] = {}
    for count, item in enumerate(telling, start=1):
        guess = follower.tell(item).activities
        if count in EVENTS:
            found[count] = _named(guess, truth)
    return {**found, None: _named(follower.finish().activities, truth)}


def _named(guess: Identification, truth: str) -> Named:
    best = next((one for one in guess.candidates if one.name is not None), None)
    none = guess.probability(None)
    sure = best.probability / (1 - none) if best is not None and none < 1 else 0.0
    right = best is not None and best.name == truth
    return Named(right, min(sure, 1.0), none, guess.best is None)


def naive_bayes(
    train: Corpus, told: Sequence[Sequence[str]], truth: Sequence[str]
) -> tuple[float, float]:
    """Accuracy and calibration error of naive Bayes, smoothed as is most accurate here."""
    names = sorted({one.domain for one in train})
    counts = {name: Counter[str]() for name in names}
    for one in train:
        counts[one.domain].update(bag(one.events or one.steps or (), words=one.events is None))
    number = {word: o for o, word in enumerate(sorted(set().union(*counts.values())))}
    table = np.array([[counts[name][word] for word in number] for name in names], float)
    prior = np.log([sum(one.domain == name for one in train) for name in names])
    rows = np.zeros((len(told), len(number)))
    for row, telling in zip(rows, told, strict=True):
        for word in bag(telling, words=not train.has_events):
            if word in number:
                row[number[word]] += 1
    found = []
    for added in SMOOTHINGS:
        logs = np.log((table + added) / (table + added).sum(axis=1, keepdims=True))
        logits = rows @ logs.T + prior
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        right = np.array(
            [names[k] == one for k, one in zip(chances.argmax(axis=1), truth, strict=True)]
        )
        found.append((float(right.mean()), calibration_error(chances.max(axis=1), right)))
    return max(found, key=lambda one: (one[0], -one[1]))


def identify(
    scripts: Mapping[str, Script], train: Corpus, test: Corpus, tell: Callable[[str], object]
) -> dict[int | None, dict[str, Any]]:
    """Follow all test tellings over a library of all scripts, and one without the right one."""
    sizes = {name: float(len(train.domain(name))) for name in scripts}
    library = Library(scripts, sizes)
    if not test.has_events:
        test = Corpus(one for name in scripts for one in test.domain(name)[:MOST_READ])
    told = {id(one): list(one.events or one.steps or ()) for one in test}
    home = {id(one): heard_out(library, told[id(one)], one.domain) for one in test}
    away: dict[int, dict[int | None, Named]] = {}
    for name in scripts:
        tell(name)
        others = {other: script for other, script in scripts.items() if other != name}
        rest = Library(others, {other: sizes[other] for other in others})
        for one in test.domain(name):
            away[id(one)] = heard_out(rest, told[id(one)], name)
    found = {}
    for count in EVENTS:
        asked = [one for one in test if count in home[id(one)]]
        if asked:
            heard = [told[id(one)][:count] for one in asked]
            bayes = naive_bayes(train, heard, [one.domain for one in asked])
            own = [home[id(one)][count] for one in asked]
            foreign = [away[id(one)][count] for one in asked]
            found[count] = {"own": own, "foreign": foreign, "bayes": bayes}
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
        sure, right = np.array([one.sure for one in own]), np.array([one.right for one in own])
        refusal = limit([one.none for one in own], RATES[0])
        rows.append(
            {
                "events": count,
                "tellings": len(own),
                "accuracy": float(right.mean()),
                "ece": calibration_error(sure, right),
                "bayes_accuracy": _share([run["bayes"][0] for run in some]),
                "bayes_ece": _share([run["bayes"][1] for run in some]),
                "refused": _share([one.refused for one in own]),
                "foreign_refused": _share([one.refused for one in foreign]),
                "threshold": refusal,
                "foreign_above": _share([one.none > refusal for one in foreign]),
            }
        )
    return rows


# Corpora


def measure_corpus(
    corpus: Corpus, seeds: int, tell: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """All figures of a corpus.

    Parameters
    ----------
    corpus
        Tellings of one domain or more, as events or as sentences.
    seeds
        How many splits.
    tell
        Called with what is being measured.
    """
    parts = usable_domains(corpus)
    corpus = Corpus(one for part in parts.values() for one in part)
    given = any(missing_of(one) for one in corpus)
    evidence = {name: Evidence.empty() for name in METHODS}
    runs = []
    for seed in range(seeds):
        train, test = corpus.split(TEST_SHARE, random_state=seed)
        scripts = {}
        for name in parts:
            tell(f"{name}, split {seed + 1} of {seeds}")
            scripts[name] = learn(train.domain(name), seed, DEFAULT)
            if corpus.has_events:
                learned = Learned.of(scripts[name], train.domain(name).events)
                for case in cases_of(learned, test.domain(name), seed, given=given):
                    for method, watch in METHODS.items():
                        evidence[method].add(case, watch(learned, case.told))
        if len(parts) > 1:
            runs.append(identify(scripts, train, test, lambda name: tell(f"without {name}")))
    own = evidence[OWN]
    return {
        "domains": len(parts),
        "tellings": len(corpus),
        "given": given,
        "correct": len(own.false_skips),
        "omissions": len(own.omissions),
        "exchanges": len(own.slips),
        "alarms": alarm_figures(evidence, given=given) if corpus.has_events else [],
        "identified": identify_figures(runs),
    }


# Tables


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
            *(_cell(row[name]) for name in ("in_time", "by_the_end")),
            "–" if row["events_late"] is None else f"{row['events_late']:+.1f}",
            *(_cell(row[name]) for name in ("exchanges", "false_skips", "false_slips", "untold")),
        ]
        for row in result["alarms"]
    ]
    return f"{said}\n\n{markdown_table(heads, lines, {0, 1})}"


def identify_table(result: dict[str, Any]) -> str:
    """What is identified after each number of events, in Markdown."""
    said = (
        "Which activity it is after some events, in percent: named rightly if it is one of them,"
        " calibration error, the same of naive Bayes; refused as none of these, at the default"
        f" and at what refuses {RATES[0]:.0%} of the tellings whose script is there."
    )
    heads = ["events", "tellings", "right", "ECE", "naive Bayes", "its ECE"]
    heads += ["falsely refused", "foreign refused", f"foreign refused at {RATES[0]:.0%}"]
    names = ["accuracy", "ece", "bayes_accuracy", "bayes_ece"]
    names += ["refused", "foreign_refused", "foreign_above"]
    lines = [
        [
            "all" if row["events"] is None else str(row["events"]),
            str(row["tellings"]),
            *(_cell(row[name]) for name in names),
        ]
        for row in result["identified"]
    ]
    return f"{said}\n\n{markdown_table(heads, lines, set())}"


def _cell(value: float | None) -> str:
    return "–" if value is None else percent(value)


# Command


def _check_result_path(path: str) -> None:
    """No file but one of earlier results is replaced: FILE may have been meant."""
    try:
        other = Path(path).exists() and not Path(path).read_bytes().startswith(RESULT.encode())
        homeless = not Path(path).absolute().parent.is_dir()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {error}", where=shown_path(path)) from None
    if homeless:
        raise InputError("no folder to write to", where=shown_path(path))
    if other:
        raise InputError(
            "there is another file, and results would replace it",
            where=shown_path(path),
            hint="name the corpora before --json",
        )


def _tell(what: str) -> None:
    sys.stderr.write(f"{one_line(what)}\n")
    sys.stderr.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of some corpora."""
    from elision.readers import read  # noqa: PLC0415 - slow

    parser = argparse.ArgumentParser(
        prog="python -m elision.evaluate.following",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="corpora")
    parser.add_argument("--seeds", type=int, default=5, help="splits")
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="PATH", help="all figures as JSON, into this file"
    )
    options = parser.parse_args(arguments)
    try:
        if options.seeds < 1:
            raise InputError(f"--seeds is {options.seeds}, expected a whole number from 1")
        if options.json not in (None, "-"):
            _check_result_path(options.json)
        files = corpus_names(options.files)
        found = {
            name: measure_corpus(read(file), options.seeds, _tell) for file, name in files.items()
        }
        result = {"measured": "following", "seeds": options.seeds, "files": found}
        text = json.dumps(result, indent=1) + "\n"
        if options.json not in (None, "-"):
            write_atomically(options.json, text.encode())
    except ElisionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json == "-":
        sys.stdout.write(text)
        return 0
    for name, figures in found.items():
        shown = [f"## {plain_text(name)}"]
        if figures["alarms"]:
            shown.append(alarm_table(figures, options.seeds))
        if figures["identified"]:
            shown.append(identify_table(figures))
        sys.stdout.write("\n\n".join(shown) + "\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
