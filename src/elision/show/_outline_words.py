"""What a picture of an outline says of each step: its label, marks, lines and tip."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from elision.show._boxes import PADDING, PERCENT, Bar, Text, font
from elision.show._outline_shapes import StepBox
from elision.show.words import (
    ELLIPSIS,
    cleaned,
    clusters,
    isolated,
    longest_word,
    percent,
    width,
    wrapped,
)
from elision.values.outline_reading import OFTEN, SURE, condition, is_always_done

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from elision.show._boxes import TextRole
    from elision.show.outline_overlay import Laid, State
    from elision.values.outline import Outline

SELDOM_TOLD = 0.5
AGAIN_SIGN = "↻"
FAINTEST = 0.3

LEADS: dict[State, tuple[str, ...]] = {"astray": ("out of order",), "denied": ("said not done",)}
"""What stands before the number of the line."""

CUTS = (72, 150, 300)
"""Characters of a long label, the first by which it differs from all others."""

BAR_LONG = 40.0
"""All bars are equally long, so that shares can be compared by eye."""

NARROW, WIDE, STEP = 64.0, 128.0, 8.0
WIDEST = 224.0
"""Room that a long word gets at most, not to be broken."""

SHORT = 104.0
"""Labels no wider than this are not broken."""

SCRAP = 24.0
"""Nor are those of which no more than this would stand beside their longest word."""

SIGN = 18.0
CONDITION_LINES = 2
NAME_LINE, SMALL_LINE = 15.0, 14.0
ALL_LINES = 100
WORDINGS = 5


class Sheet:
    """An outline's steps as they are written in a picture, with a telling laid over or not."""

    def __init__(self, outline: Outline, laid: Laid | None) -> None:
        self.outline = outline
        self.laid = laid
        self.labels = labels([step.name for step in outline.steps])
        # The same boxes are asked for again at every width of the page that is tried.
        self._rooms: dict[tuple[int, float, int], float] = {}
        self._boxes: dict[tuple[int, float], StepBox] = {}
        self._tips: dict[int, str] = {}
        self.happens = [0.0] * len(outline.steps)
        self.optional = [False] * len(outline.steps)
        self._always = [is_always_done(outline, unit) for unit in range(len(outline.units))]
        for unit, always in zip(outline.units, self._always, strict=True):
            for branch, share in zip(unit.branches, unit.shares, strict=True):
                for step in branch:
                    self.happens[step] = unit.happens * share
                    self.optional[step] = len(unit.steps) == 1 and not always

    def ink(self, steps: Iterable[int]) -> float:
        """How strongly steps are drawn: by how often the most told of them is."""
        if self.laid is not None:
            return max(float(self.laid.states[step] != "faded") for step in steps)
        return max(self.outline.steps[step].told for step in steps)

    def marks(self, step: int) -> list[tuple[str, TextRole]]:
        """What stands below the label."""
        if self.laid is not None:
            return self._telling_marks(step, self.laid)
        seldom = self.outline.steps[step].told < SELDOM_TOLD and self.happens[step] >= SURE
        often = seldom and self._always[self.outline.unit_of[step]]
        return [("often unsaid", "more")] if often else []

    def _caption(self, step: int) -> str:
        """At the first step of a branch: which way a choice must have gone long before."""
        unit = self.outline.units[self.outline.unit_of[step]]
        first = condition(self.outline, step)
        leads = any(branch[0] == step for branch in unit.branches)
        return f"if {self.labels[first]}" if leads and first is not None else ""

    def _again(self, step: int) -> bool:
        return self.laid is None and self.outline.steps[step].again >= OFTEN

    def _telling_marks(self, step: int, laid: Laid) -> list[tuple[str, TextRole]]:
        state = laid.states[step]
        if state == "faded":
            return []
        if state == "unsaid":
            return [(f"unsaid · {percent(laid.chance[step])}", "note")]
        lines = laid.lines[step]
        shown = ", ".join(map(str, lines[:3])) + (f", {ELLIPSIS}" if len(lines) > 3 else "")
        found: list[tuple[str, TextRole]] = [
            (f"line{'s' if len(lines) > 1 else ''} {shown}", "note")
        ]
        return [*((words, "note") for words in LEADS.get(state, ())), *found]

    def room(self, step: int, widest: float = WIDE, lines: int = 2) -> float:
        """Least width inside a box in which the label takes few lines and no word is broken."""
        key = (step, widest, lines)
        if key not in self._rooms:
            self._rooms[key] = self._least_room(step, widest, lines)
        return self._rooms[key]

    def _least_room(self, step: int, widest: float, lines: int) -> float:
        size, bold = font("name")
        label = self.labels[step]
        whole, word = width(label, size, bold=bold), longest_word(label, size, bold=bold)
        if whole <= WIDEST and whole - word <= SCRAP:
            word = whole
        caption = _width((self._caption(step), "more"))
        if caption > WIDE:
            caption = longest_word(self._caption(step), font("more")[0])
        least = ceil(max([word, caption, *map(_width, self.marks(step))]))
        room = NARROW if self.laid is not None else BAR_LONG + PERCENT
        room += SIGN if self._again(step) else 0.0
        if whole <= SHORT:
            lines = 1
        widest = max(widest, min(least, WIDEST))
        while room < widest and (
            room < least or len(wrapped(label, room, size, bold=bold, lines=ALL_LINES)) > lines
        ):
            room += STEP
        return min(room, widest)

    def box(self, step: int, room: float) -> StepBox:
        """Return the box of a step with so much room inside, at the upper left."""
        if (step, room) not in self._boxes:
            self._boxes[step, room] = self._box(step, room)
        return self._boxes[step, room]

    def _box(self, step: int, room: float) -> StepBox:
        size, bold = font("name")
        y = PADDING - 2
        texts: list[Text] = []
        for line in wrapped(self.labels[step], room, size, bold=bold, lines=ALL_LINES):
            texts.append(Text(PADDING, round(y + size * 0.93, 2), line, "name"))
            y += NAME_LINE
        small, _ = font("more")
        for line in wrapped(self._caption(step), room, small, lines=CONDITION_LINES):
            texts.append(Text(PADDING, round(y + small * 0.93, 2), line, "more"))
            y += SMALL_LINE
        for mark, role in self.marks(step):
            texts.append(Text(PADDING, round(y + font(role)[0] * 0.93, 2), mark, role))
            y += SMALL_LINE
        one = self.outline.steps[step]
        bar = None
        if self.laid is None:
            sign = SIGN if self._again(step) else 0.0
            bar = Bar(PADDING, y + 4, BAR_LONG, 5.0, one.told)
            base, right = round(y + 10.5, 2), PADDING + BAR_LONG + PERCENT
            texts.append(Text(right, base, percent(one.told), "percent", "end"))
            if sign:
                texts.append(Text(right + sign, base, AGAIN_SIGN, "more", "end"))
            y += SMALL_LINE
        return StepBox(
            step=step,
            name=one.name,
            x=0.0,
            y=0.0,
            width=room + 2 * PADDING,
            height=y + PADDING - 3,
            told=one.told,
            happens=self.happens[step],
            ink=round(FAINTEST + (1 - FAINTEST) * self.ink([step]), 3),
            optional=self.optional[step],
            state=self.laid.states[step] if self.laid else None,
            lines=self.laid.lines[step] if self.laid else (),
            texts=tuple(texts),
            bar=bar,
            tip=self.tip(step),
        )

    def tip(self, step: int) -> str:
        """Everything about a step in a few lines, its name whole."""
        if step not in self._tips:
            self._tips[step] = self._tip(step)
        return self._tips[step]

    def _tip(self, step: int) -> str:
        one = self.outline.steps[step]
        parts = [
            isolated(one.name),
            f"told by {percent(one.told)} of the tellings",
            f"done in {percent(self.happens[step])} of the courses",
        ]
        if (first := condition(self.outline, step)) is not None:
            parts.append(f"only if {isolated(self.outline.steps[first].name)}")
        unit = self.outline.unit_of[step]
        before = np.flatnonzero(self.outline.covers[:, unit]).tolist()
        parts += [f"comes after {self._unit_name(other)}" for other in before]
        if one.again >= 0.005:
            parts.append(f"told once more: {percent(one.again)}")
        if self.laid is not None:
            parts += [text for text, _ in self.marks(step)]
        parts += [f"“{isolated(said, 200)}”" for said in one.wording[:WORDINGS]]
        return "\n".join(parts)

    def _unit_name(self, unit: int) -> str:
        branches = self.outline.units[unit].branches
        return " or ".join(isolated(self.outline.steps[branch[-1]].name) for branch in branches)


def _width(mark: tuple[str, TextRole]) -> float:
    size, bold = font(mark[1])
    return width(mark[0], size, bold=bold)


def labels(names: Sequence[str]) -> list[str]:
    """Names as they are shown: underscores as spaces, long ones cut, but never two alike.

    Examples
    --------
    >>> labels(["open_door", "shut_door", "shut door"])
    ['open door', 'shut_door', 'shut door']
    """
    forms = [[_cut(cleaned(name.replace("_", " ")), CUTS[0]) for name in names]]
    forms += [[_cut(cleaned(name), cut) for name in names] for cut in CUTS]
    shown: list[str | None] = [None] * len(names)
    for form in forms:
        taken = Counter(form[k] if one is None else one for k, one in enumerate(shown))
        shown = [
            form[k] if one is None and taken[form[k]] == 1 else one for k, one in enumerate(shown)
        ]
    used = {one for one in shown if one is not None}
    for k, one in enumerate(shown):
        if one is None:
            text, number = forms[1][k], 1
            while text in used:
                number += 1
                text = f"{forms[1][k]} ({number})"
            used.add(text)
            shown[k] = text
    return [one or "" for one in shown]


def _cut(text: str, longest: int) -> str:
    parts = clusters(text)
    return text if len(parts) <= longest else "".join(parts[: longest - 1]).rstrip() + ELLIPSIS
