"""Which activity it is, asked after some events of a telling: over a library with it, and without.

Without the right script, a telling is to be refused as none of these.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elision.evaluate.cloze import calibration_error
from elision.evaluate.following_alarms import RATES, limit, share_of
from elision.evaluate.identifying import SMOOTHINGS, bag
from elision.evaluate.tables import markdown_table, percent_or_dash, plain_text
from elision.values.corpus import Corpus
from elision.values.library import Library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from elision.ask.identify import Identification
    from elision.values.script import Script

EVENTS = (1, 2, 3, 5, None)
"""After how many events it is asked which activity it is; None is the end."""

MOST_READ = 10
"""Tellings of sentences in a domain that are identified: each time all sentences are read anew."""


SELDOM = 0.9
"""Activities that are refused less often when they are missing are named."""


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
            domains = [one.domain for one in asked]
            found[count] = {"own": own, "foreign": foreign, "bayes": bayes, "domains": domains}
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
        domains = [name for run in some for name in run["domains"]]
        by_activity: dict[str, list[bool]] = {}
        for name, one in zip(domains, foreign, strict=True):
            by_activity.setdefault(name, []).append(one.none > refusal)
        rows.append(
            {
                "events": count,
                "tellings": len(own),
                "accuracy": float(right.mean()),
                "ece": calibration_error(sure, right),
                "bayes_accuracy": share_of([run["bayes"][0] for run in some]),
                "bayes_ece": share_of([run["bayes"][1] for run in some]),
                "refused": share_of([one.refused for one in own]),
                "foreign_refused": share_of([one.refused for one in foreign]),
                "threshold": refusal,
                "foreign_above": share_of([one.none > refusal for one in foreign]),
                "foreign_by_activity": {n: share_of(some) for n, some in by_activity.items()},
            }
        )
    return rows


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
            *(percent_or_dash(row[name]) for name in names),
        ]
        for row in result["identified"]
    ]
    return f"{said}\n\n{markdown_table(heads, lines, set())}\n\n{_least_refused(result)}"


def _least_refused(result: dict[str, Any]) -> str:
    """Activities whose tellings are taken for others when they are missing, at the end."""
    shares = result["identified"][-1]["foreign_by_activity"]
    low = sorted((share, name) for name, share in shares.items() if share < SELDOM)
    told = ", ".join(f"{plain_text(name)} {percent_or_dash(share)}" for share, name in low)
    return (
        f"All told, refused at {RATES[0]:.0%}, by activity: {told or 'none'} below {SELDOM:.0%},"
        f" the other {len(shares) - len(low)} of {len(shares)} above."
    )
