"""How two outlines differ: steps, how often they are told and happen, order and choices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from elision.values.outline import Outline

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
