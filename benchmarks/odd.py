"""How well cases with one fault are told from those without, and how often odd is said in vain.

    python benchmarks/odd.py FILE... [--seeds N] [--json]

Cases are split by case, 70 % to learn from. *Faults*: in half of the others, drawn by chance, one
fault is made: two neighbours that differ are swapped, an event is skipped, one is inserted, or one
is replaced by another, all kinds equally often. Of few cases, each is taken as it is and with a
fault of every kind. Printed is the area under the curve of each measure; the events of all cases
are known beforehand.

*Called odd*: the share of test cases that are called odd: untouched, with two events swapped, with
a step put in that nobody told, with a step skipped, told backwards, and of four of their events
those alone, backwards. This is done with all events known beforehand, and as for a user who has
only the training cases. Raw sentences are so altered as they are, but for the step put in.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import elision as el
from common import Figures, learn, means, parser_of, run, table, tell, usable_domains
from elision.ask.score import Conformance

TEST_SHARE = 0.3
ORDER = 5
"""Of the n-gram that measures are compared with."""

FEW = 400
"""Test cases, below which each is taken more than once."""

MOST_JUDGED = 1000
"""Test cases of which it is asked whether they are odd."""

FOUR = 4
"""Events that are told backwards, alone."""

FOREIGN = "a step that nobody told"
PUT_IN = "foreign step"

KINDS = ("swap", "skip", "insert", "replace")

MEASURES: dict[str, Callable[[Conformance], float]] = {
    "oddness": lambda one: one.oddness,
    "p-value": lambda one: -(one.p_value or 0.0),
    "fitness": lambda one: -one.fitness,
    "mean surprise": lambda one: -one.log_prob / (len(one.told) + 1),
    "largest surprise": lambda one: max((one.ending, *(s for s in one.surprises if s is not None))),
}

Case = tuple[str, ...]


# What is done to cases


def with_fault(
    case: Case, kind: str, events: Sequence[str], rng: np.random.Generator
) -> Case | None:
    """Return a case with one fault, or None where it cannot be made.

    Examples
    --------
    >>> with_fault(("ring", "open"), "swap", (), np.random.default_rng(0))
    ('open', 'ring')
    """
    if kind == "swap":
        differ = [i for i in range(len(case) - 1) if case[i] != case[i + 1]]
        i = differ[int(rng.integers(len(differ)))] if differ else len(case)
        changed = (*case[:i], *case[i : i + 2][::-1], *case[i + 2 :])
    elif kind == "insert":
        i = int(rng.integers(len(case) + 1))
        changed = (*case[:i], events[int(rng.integers(len(events)))], *case[i:])
    else:
        i = int(rng.integers(len(case)))
        others = [event for event in events if event != case[i]] if kind == "replace" else []
        put = [others[int(rng.integers(len(others)))]] if others else []
        changed = (*case[:i], *put, *case[i + 1 :])
    return changed if changed and changed != case else None


def backwards(case: Case, rng: np.random.Generator, number: int | None = None) -> Case | None:
    """Return some events of a case in the reverse order, or all; None if that changes nothing.

    Examples
    --------
    >>> backwards(("ring", "open", "greet"), np.random.default_rng(0))
    ('greet', 'open', 'ring')
    """
    if number is not None:
        if len(case) < number:
            return None
        chosen = np.sort(rng.choice(len(case), number, replace=False))
        case = tuple(case[k] for k in chosen.tolist())
    turned = case[::-1]
    return turned if turned != case else None


def altered(
    cases: Sequence[Case], events: Sequence[str], rng: np.random.Generator
) -> dict[str, list[Case]]:
    """One fault in each case, of each kind in as many; left out where it cannot be made."""
    found: dict[str, list[Case]] = {kind: [] for kind in KINDS}
    kinds = np.arange(len(cases)) * len(KINDS) // len(cases)  # the cases come in any order
    for case, kind in zip(cases, (KINDS[k] for k in kinds.tolist()), strict=True):
        changed = with_fault(case, kind, events, rng)
        if changed is not None:
            found[kind].append(changed)
    return found


def versions_of(cases: Sequence[Case], rng: np.random.Generator) -> dict[str, list[Case]]:
    """Cases as they are and with what is done to them, where that can be done."""
    versions: dict[str, list[Case | None]] = {
        "untouched": list(cases),
        "two swapped": [with_fault(case, "swap", (), rng) for case in cases],
        PUT_IN: [with_fault(case, "insert", (FOREIGN,), rng) for case in cases],
        "one skipped": [with_fault(case, "skip", (), rng) for case in cases],
        "four backwards": [backwards(case, rng, FOUR) for case in cases],
        "all backwards": [backwards(case, rng) for case in cases],
    }
    return {name: [case for case in some if case is not None] for name, some in versions.items()}


# What is measured


def area(odd: Sequence[float], usual: Sequence[float]) -> float:
    """Probability that an odd telling has the larger value; ties count a half.

    Examples
    --------
    >>> area([3.0, 1.0], [1.0, 0.0])
    0.875
    """
    first, second = np.array(odd)[:, None], np.array(usual)
    return float(np.mean((first > second) + 0.5 * (first == second)))


def n_gram_surprise(
    narratives: Sequence[Sequence[str]], events: Sequence[str]
) -> Callable[[Sequence[str]], float]:
    """Return what gives the mean of -log P(event | those before it), the end included."""
    peer = el.NGram(events=list(events), order=ORDER).fit(narratives)
    number = {event: o for o, event in enumerate(peer.events_)}
    rows: dict[tuple[str, ...], NDArray[np.float64]] = {}

    def surprise(told: Sequence[str]) -> float:
        total = 0.0
        for place, event in enumerate((*told, None)):
            history = tuple(told[max(0, place - ORDER + 1) : place])
            begun = history if place >= ORDER - 1 else ("", *history)
            if begun not in rows:
                rows[begun] = peer.predict_next([told[:place]])[0]
            total -= float(np.log(rows[begun][-1 if event is None else number[event]]))
        return total / (len(told) + 1)

    return surprise


def measure_domain(domain: el.Corpus, seed: int) -> dict[str, dict[str, Figures]]:
    """Areas under the curve by measure and fault, and shares called odd by what was done."""
    train, test = domain.split(TEST_SHARE, random_state=seed)
    rng = np.random.default_rng([seed, zlib.crc32(domain.domains[0].encode())])
    if not domain.has_events:
        versions = versions_of([tuple(one) for one in test.steps if one][:MOST_JUDGED], rng)
        del versions[PUT_IN]
        script = learn(train, seed)
        return {"faults": {}, "odd": {"sentences": share_odd(script, versions, unknown="ignore")}}
    events = sorted(set(train.vocabulary))
    cases = [tuple(test.events[k]) for k in rng.permutation(len(test)).tolist()]
    half = len(cases) // 2 if len(cases) >= FEW else 0
    untouched = cases[:half] or cases
    faulty = altered(cases[half:] if half else len(KINDS) * cases, events, rng)
    versions = versions_of(cases[:MOST_JUDGED], rng)
    script = learn(train, seed, events=domain.vocabulary)
    odd = {
        "events known": share_odd(script, versions),
        "as told": share_odd(learn(train, seed), versions),
    }
    distinct = list(
        dict.fromkeys([*untouched, *(case for some in faulty.values() for case in some)])
    )
    judged = dict(zip(distinct, script.conform(distinct), strict=True))
    found: dict[str, Callable[[Case], float]] = {
        name: lambda case, value=value: value(judged[case])  # type: ignore[misc]
        for name, value in MEASURES.items()
    }
    found[f"mean surprise of a {ORDER}-gram"] = n_gram_surprise(train.events, domain.vocabulary)
    areas = {}
    for name, value in found.items():
        usual = [value(case) for case in untouched]
        values = {kind: [value(case) for case in some] for kind, some in faulty.items()}
        areas[name] = {"in total": area([one for some in values.values() for one in some], usual)}
        areas[name] |= {kind: area(some, usual) for kind, some in values.items() if some}
    return {"faults": areas, "odd": odd}


def share_odd(script: el.Script, versions: dict[str, list[Case]], **options: Any) -> Figures:
    return {
        name: float(np.mean([one.odd for one in script.conform(some, **options)]))
        for name, some in versions.items()
        if some
    }


def measure(file: str, options: argparse.Namespace) -> dict[str, dict[str, Figures]]:
    runs = []
    for name, part in usable_domains(el.read(file)).items():
        tell(name)
        runs += [measure_domain(part, seed) for seed in range(options.seeds)]
    return {
        kind: {name: means(one[kind][name] for one in runs) for name in runs[0][kind]}
        for kind in ("faults", "odd")
    }


def shown(found: dict[str, dict[str, Figures]]) -> str:
    parts = []
    for rows in found.values():
        if rows:
            columns = list(dict.fromkeys(name for row in rows.values() for name in row))
            lines = [
                [name, *(f"{row[one]:.4f}" if one in row else "" for one in columns)]
                for name, row in rows.items()
            ]
            parts.append(table(["", *columns], lines, texts=1))
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(parser_of(__doc__, seeds=3), measure, shown, arguments)


if __name__ == "__main__":
    sys.exit(main())
