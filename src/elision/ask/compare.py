"""How two scripts differ: as distributions over tellings, on data, step by step."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import numpy as np

from elision import _html
from elision.ask.engine.checks import MOST_DRAWN, whole
from elision.ask.engine.told_chain import ToldChain
from elision.ask.heard import events_of, several
from elision.ask.who import who
from elision.errors import InputError, counted
from elision.values.observations import LONGEST_LIKENED, Packer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from elision.values.observations import Observation
    from elision.values.outline import Outline
    from elision.values.script import Script


TOLD = 0.01
"""An event belongs to a script if at least this share of its tellings tells it..."""

NOT_TOLD = 0.001
"""...and not to the other if less than this share does."""

SHOWN = 20
"""Differences that a printed comparison shows."""

MOST_LIKENED = 40
"""Events of a script, those told most, that are likened to another's by their names."""

MOST_NEAREST = 3
"""Pairs of like names that are shown."""

LEAST_ALIKE = 0.6
"""Share of letters that like names have in common, in order."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error; infinite without one."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3g} ± {self.error:.1g}" if math.isfinite(self.value) else "infinite"


@dataclass(frozen=True, slots=True)
class OnData:
    """Two scripts on the same narratives.

    Attributes
    ----------
    first, second
        Mean log-probability of the narratives that both can tell.
    difference
        First less second, over the same narratives.
    both, only_first, only_second, neither
        How many narratives the scripts can tell.
    """

    first: float
    second: float
    difference: Estimate
    both: int
    only_first: int
    only_second: int
    neither: int

    def __str__(self) -> str:
        told = f"{counted(self.both, 'narrative')} that both can tell"
        if self.only_first or self.only_second or self.neither:
            told += f" ({self.only_first} only the first, {self.only_second} only the second"
            told += f", {self.neither} neither)"
        if not self.both:
            return told
        return f"log-probability {self.first:.3f} and {self.second:.3f} over {told}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a second script differs from a first one.

    Attributes
    ----------
    jensen_shannon
        Of the two distributions over tellings, in nats: 0 if they are the same, log 2 if no
        telling is possible in both.
    from_first, from_second
        Kullback-Leibler divergence of the second from the first, over tellings of the first, and
        the other way round; infinite where the other script cannot tell them all.
    impossible
        Share of the first script's tellings that the second cannot tell, and the other way round.
    on_data
        The same on narratives, if some were given.
    only_first, only_second
        Events that just one of them tells, with the share of its tellings that do.
    differences
        What differs between the outlines: steps, order, choices; the most important first.
    shares_names
        Whether any event has the same name in both. Names are taken as they stand.
    nearest
        If none has, events of the two that are named most alike, the most alike first.
    """

    jensen_shannon: Estimate
    from_first: Estimate
    from_second: Estimate
    impossible: tuple[float, float]
    on_data: OnData | None
    only_first: tuple[tuple[str, float], ...]
    only_second: tuple[tuple[str, float], ...]
    differences: tuple[Difference, ...] = ()
    shares_names: bool = True
    nearest: tuple[tuple[str, str], ...] = ()

    @property
    def hint(self) -> str:
        """What to know where the two share no name of an event; empty if they share some."""
        if self.shares_names:
            return ""
        told = "no event is named the same in both, and names are taken as they stand"
        pairs = "; ".join(f"{first!r} and {second!r}" for first, second in self.nearest)
        return f"{told}; nearest: {pairs}" if pairs else told

    def __str__(self) -> str:
        lines = self._measures()
        if not self.differences:
            return "\n".join([*lines, "the outlines are the same"])
        lines += map(str, self.differences[:SHOWN])
        more = len(self.differences) - SHOWN
        return "\n".join([*lines, f"... and {more} more"] if more > 0 else lines)

    def _measures(self) -> list[str]:
        lines = [f"Jensen-Shannon divergence {self.jensen_shannon} (0 alike, 0.693 unlike)"]
        for which, other, value, lost in (
            ("first", "second", self.from_first, self.impossible[0]),
            ("second", "first", self.from_second, self.impossible[1]),
        ):
            text = f"Kullback-Leibler divergence over tellings of the {which} {value}"
            lines.append(text + (f": the {other} cannot tell {lost:.0%} of them" if lost else ""))
        return [line for line in (*lines, str(self.on_data or ""), self.hint) if line]

    def _repr_html_(self) -> str:
        rows = [[", ".join(one.steps), one.first, one.second] for one in self.differences]
        return _html.table(["", "first", "second"], rows, caption="; ".join(self._measures()))


def compare(
    script: Script,
    other: Script,
    narratives: Iterable[Iterable[Observation]] | None = None,
    *,
    samples: int = 2000,
    random_state: int = 0,
) -> Comparison:
    """Say how another script differs from a script.

    Parameters
    ----------
    script, other
        The scripts; they need not have the same events.
    narratives
        Narratives to compare their probabilities on.
    samples
        How many tellings of each are drawn to estimate the divergences.
    random_state
        Seed of the drawing.

    Notes
    -----
    Divergences are means over drawn tellings, given with their standard errors.

    Examples
    --------
    >>> import elision as el
    >>> first = el.examples.doorbell()
    >>> silence = 0.8 * first.elision
    >>> told = first.emission * ((1 - silence) / (1 - first.elision))[:, None]
    >>> second = el.Script(first.events, first.transition, told, silence)
    >>> found = compare(first, second, samples=500)
    >>> found.jensen_shannon.value < 0.1, found.impossible
    (True, (0.0, 0.0))
    """
    samples = whole(samples, "samples", 2, MOST_DRAWN)
    seeds = np.random.SeedSequence(whole(random_state, "random_state")).spawn(2)
    ratios = []
    for drawn_from, against, seed in ((script, other, seeds[0]), (other, script, seeds[1])):
        draw = who(drawn_from, "tellings")
        drawn = draw(drawn_from, samples, random_state=np.random.default_rng(seed))
        ratios.append(_log_probs(drawn_from, drawn) - _log_probs(against, drawn))
    first_told, second_told = 1 - ToldChain(script).never()[0], 1 - ToldChain(other).never()[0]
    first_shares = dict(zip(script.events, first_told.tolist(), strict=True))
    second_shares = dict(zip(other.events, second_told.tolist(), strict=True))
    return Comparison(
        jensen_shannon=_jensen_shannon(*ratios),
        from_first=_mean(ratios[0]),
        from_second=_mean(ratios[1]),
        impossible=(float(np.isinf(ratios[0]).mean()), float(np.isinf(ratios[1]).mean())),
        on_data=None if narratives is None else _on_data(script, other, narratives),
        only_first=_only(first_shares, second_shares),
        only_second=_only(second_shares, first_shares),
        differences=differences(script.outline(), other.outline()),
        shares_names=not set(script.events).isdisjoint(other.events),
        nearest=_nearest(first_shares, second_shares),
    )


def _log_probs(script: Script, narratives: Sequence[Sequence[Observation]]) -> NDArray[np.float64]:
    """Log-probabilities; -inf also where an event is unknown."""
    packer = Packer(script.events, unknown="ignore")
    kept = [packer.kept(one) for one in narratives]
    result = script.log_probs(kept)
    whole_told = [len(one) == len(rest) for one, rest in zip(narratives, kept, strict=True)]
    return np.where(whole_told, result, -np.inf)


def _mean(values: NDArray[np.float64]) -> Estimate:
    if np.isinf(values).any():
        return Estimate(math.inf, 0.0)
    return Estimate(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def _jensen_shannon(first: NDArray[np.float64], second: NDArray[np.float64]) -> Estimate:
    """Half the mean of log(2 P / (P + Q)) over each side, from log(P / Q)."""
    sides = [_mean(math.log(2) - np.logaddexp(0.0, -values)) for values in (first, second)]
    error = math.hypot(sides[0].error, sides[1].error) / 2
    return Estimate(max(0.0, (sides[0].value + sides[1].value) / 2), error)


def _on_data(script: Script, other: Script, narratives: Iterable[Iterable[Observation]]) -> OnData:
    given = [list(events_of(narrative)) for narrative in several(narratives)]
    if not given:
        raise InputError("no narratives, expected at least one")
    first, second = _log_probs(script, given), _log_probs(other, given)
    able_first, able_second = np.isfinite(first), np.isfinite(second)
    both = able_first & able_second
    difference = first[both] - second[both]
    error = difference.std(ddof=1) / math.sqrt(len(difference)) if len(difference) > 1 else 0.0
    count = max(1, int(both.sum()))
    return OnData(
        first=float(first[both].sum() / count),
        second=float(second[both].sum() / count),
        difference=Estimate(float(difference.sum() / count), float(error)),
        both=int(both.sum()),
        only_first=int((able_first & ~able_second).sum()),
        only_second=int((able_second & ~able_first).sum()),
        neither=int((~able_first & ~able_second).sum()),
    )


def _nearest(first: dict[str, float], second: dict[str, float]) -> tuple[tuple[str, str], ...]:
    """Events named most alike, each once; none where any has the same name in both."""
    if not first.keys().isdisjoint(second):
        return ()
    here, there = (
        sorted(shares, key=lambda event: (-shares[event], event))[:MOST_LIKENED]
        for shares in (first, second)
    )
    alike = {(one, two): _alike(one, two) for one in here for two in there}
    found: list[tuple[str, str]] = []
    for one, two in sorted(alike, key=lambda pair: (-alike[pair], pair)):
        fresh = all(one != a and two != b for a, b in found)
        if fresh and alike[one, two] >= LEAST_ALIKE and len(found) < MOST_NEAREST:
            found.append((one, two))
    return tuple(found)


def _alike(first: str, second: str) -> float:
    """Share of the letters of two names that they have in common, in order."""
    one, two = (name[:LONGEST_LIKENED].casefold().replace("_", " ") for name in (first, second))
    return difflib.SequenceMatcher(None, one, two, autojunk=False).ratio()


def _only(here: dict[str, float], there: dict[str, float]) -> tuple[tuple[str, float], ...]:
    """Events of one script that the other does not tell, most told first."""
    own = [
        (event, share)
        for event, share in here.items()
        if share >= TOLD and there.get(event, 0.0) < NOT_TOLD
    ]
    return tuple(sorted(own, key=lambda pair: -pair[1]))


LEAST = 0.1
"""Difference of probabilities from which on it is worth telling."""

Kind = Literal["step", "told", "unsaid", "order", "choice"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: of which steps, in words of both outlines, and how much it matters."""

    kind: Kind
    steps: tuple[str, ...]
    first: str
    second: str
    size: float

    def __str__(self) -> str:
        return f"{', '.join(self.steps)}: {self.first} -> {self.second}"


def differences(first: Outline, second: Outline) -> tuple[Difference, ...]:
    """What differs between two outlines, the most important first.

    A step that only one of them has matters by how often it is told, an order by how often both
    steps are.
    """
    found = [*_steps(first, second), *_shares(first, second), *_relations(first, second)]
    return tuple(sorted(found, key=lambda one: (-one.size, one.kind, one.steps)))


def _names(outline: Outline) -> dict[str, int]:
    return {step.name: number for number, step in enumerate(outline.steps)}


def _steps(first: Outline, second: Outline) -> list[Difference]:
    found = []
    for here, there, there_first in ((first, second, False), (second, first, True)):
        others = _names(there)
        for step in here.steps:
            if step.name not in others:
                told = f"told by {step.told:.0%}"
                words = ("no step", told) if there_first else (told, "no step")
                found.append(Difference("step", (step.name,), *words, step.told))
    return found


def _shares(first: Outline, second: Outline) -> list[Difference]:
    found = []
    others = _names(second)
    for number, step in enumerate(first.steps):
        if step.name not in others:
            continue
        other = second.steps[others[step.name]]
        if abs(step.told - other.told) >= LEAST:
            words = (f"told by {step.told:.0%}", f"{other.told:.0%}")
            size = abs(step.told - other.told)
            found.append(Difference("told", (step.name,), *words, size))
        unsaid = float(first.unsaid[number]), float(second.unsaid[others[step.name]])
        # How often it is passed over in silence, of all tellings.
        often = [u * (1 - s.told) for u, s in zip(unsaid, (step, other), strict=True)]
        if abs(often[0] - often[1]) >= LEAST:
            words = (f"happens unsaid in {often[0]:.0%}", f"{often[1]:.0%}")
            size = abs(often[0] - often[1])
            found.append(Difference("unsaid", (step.name,), *words, size))
    return found


def _relations(first: Outline, second: Outline) -> list[Difference]:
    found = []
    one, other = _names(first), _names(second)
    shared = [name for name in one if name in other]
    for a, b in combinations(shared, 2):
        was = _relation(first, one[a], one[b])
        now = _relation(second, other[a], other[b])
        if was != now:
            told = [
                min(outline.steps[names[a]].told, outline.steps[names[b]].told)
                for outline, names in ((first, one), (second, other))
            ]
            kind: Kind = "choice" if "either" in (was, now) else "order"
            words = [_words(relation, a, b) for relation in (was, now)]
            weight = 0.5 if "any" in (was, now) else 1.0
            found.append(Difference(kind, (a, b), words[0], words[1], weight * min(told)))
    return found


def _relation(outline: Outline, a: int, b: int) -> str:
    one, other = outline.unit_of[a], outline.unit_of[b]
    if one == other:
        together = any(a in branch and b in branch for branch in outline.units[one].branches)
        return ("before" if a < b else "after") if together else "either"
    if outline.order[one, other]:
        return "before"
    return "after" if outline.order[other, one] else "any"


def _words(relation: str, a: str, b: str) -> str:
    return {
        "before": f"{a} first",
        "after": f"{b} first",
        "any": "in any order",
        "either": "one or the other",
    }[relation]
