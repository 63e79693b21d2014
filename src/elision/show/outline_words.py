"""What a picture of an outline says of each step, of its marks, and of all in sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from elision.show.shapes import PADDING, PERCENT, PLAIN, Bar, StepBox, Text, font
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

    from elision.show.blocks import Block
    from elision.show.overlay import Overlay, State
    from elision.show.shapes import Link, Note, TextRole
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


class StepWords:
    """An outline's steps as they are written in a picture, with a telling laid over or not."""

    def __init__(self, outline: Outline, laid: Overlay | None) -> None:
        self.outline = outline
        self.laid = laid
        self.labels = labels([step.name for step in outline.steps])
        # The same boxes are asked for again at every width of the page that is tried.
        self.room = cache(self._room)
        self.box = cache(self._box)
        self.tip = cache(self._tip)
        self._always = [is_always_done(outline, unit) for unit in range(len(outline.units))]

    def ink(self, steps: Iterable[int]) -> float:
        """How strongly steps are drawn: by how often the most told of them is."""
        if self.laid is not None:
            return max(float(self.laid.states[step] != "faded") for step in steps)
        return max(self.outline.steps[step].told for step in steps)

    def marks(self, step: int) -> list[tuple[str, TextRole]]:
        """What stands below the label."""
        if self.laid is not None:
            return self._telling_marks(step, self.laid)
        seldom = self.outline.steps[step].told < SELDOM_TOLD and self.outline.happens[step] >= SURE
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

    def _telling_marks(self, step: int, laid: Overlay) -> list[tuple[str, TextRole]]:
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

    def _room(self, step: int, widest: float = WIDE, lines: int = 2) -> float:
        """Least width inside a box in which the label takes few lines and no word is broken."""
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

    def _box(self, step: int, room: float) -> StepBox:
        """Return the box of a step with so much room inside, at the upper left."""
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
        one, unit = self.outline.steps[step], self.outline.unit_of[step]
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
            happens=self.outline.happens[step],
            ink=round(FAINTEST + (1 - FAINTEST) * self.ink([step]), 3),
            optional=len(self.outline.units[unit].steps) == 1 and not self._always[unit],
            state=self.laid.states[step] if self.laid else None,
            lines=self.laid.lines[step] if self.laid else (),
            texts=tuple(texts),
            bar=bar,
            tip=self.tip(step),
        )

    def _tip(self, step: int) -> str:
        """Everything about a step in a few lines, its name whole."""
        one = self.outline.steps[step]
        parts = [
            isolated(one.name),
            f"told by {percent(one.told)} of the tellings",
            f"done in {percent(self.outline.happens[step])} of the courses",
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


# --- what the marks mean ----------------------------------------------------------------------

Sign: TypeAlias = Literal[
    "then",
    "usually",
    "bar",
    "optional",
    "words",
    "note",
    "told",
    "unsaid",
    "astray",
    "denied",
    "faded",
]

SWATCH = (22.0, 12.0)
KEYS_APART, KEY_LINE = 20.0, 19.0


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of the legend: a sign, its upper left corner, and what it means."""

    sign: Sign
    x: float
    y: float
    width: float
    height: float
    text: Text


def legend(
    boxes: Sequence[StepBox],
    links: Sequence[Link],
    notes: Sequence[Note],
    room: float,
    corner: tuple[float, float],
) -> tuple[tuple[Key, ...], float]:
    """Entries for what is there, in as many lines as they need, and how far down they reach."""
    keys: list[Key] = []
    x, y = corner
    for sign, text in _meanings(boxes, links, notes):
        swatch = 0.0 if sign == "words" else SWATCH[0]
        left = x + (swatch + 6 if swatch else 0.0)
        right = left + width(text, PLAIN)
        if keys and right > corner[0] + room:
            left, right = left - x + corner[0], right - x + corner[0]
            x, y = corner[0], y + KEY_LINE
        keys.append(
            Key(sign, x, y, swatch, SWATCH[1], Text(round(left, 1), y + 10, text, "caption"))
        )
        x = round(right + KEYS_APART, 1)
    return tuple(keys), y + (SWATCH[1] if keys else 0.0)


def _meanings(
    boxes: Sequence[StepBox], links: Sequence[Link], notes: Sequence[Note]
) -> list[tuple[Sign, str]]:
    steps = [box for box in boxes if box.step is not None]
    if not steps:
        return []
    found: list[tuple[Sign, str]] = [("then", "then")]
    if any(link.kind == "usually" for link in links):
        found.append(("usually", "usually then"))
    states = {box.state for box in steps}
    marks = {text.text for box in steps for text in box.texts if text.role == "more"}
    if None in states:
        found.append(("bar", "share of the tellings that tell it (the fewer, the paler)"))
    if "told" in states:
        found.append(("told", "told, and in which line"))
    if "unsaid" in states:
        found.append(("unsaid", "not told, but probably done"))
    if "astray" in states:
        found.append(("astray", "told, but in another order than usual"))
    if "denied" in states:
        found.append(("denied", "said not to have happened"))
    if "faded" in states:
        found.append(("faded", "not part of this telling"))
    if any(box.optional and box.state in (None, "faded") for box in steps):
        found.append(("optional", "perhaps not always done"))
    if "often unsaid" in marks:
        found.append(("words", "often unsaid: done, but told by fewer than half"))
    if AGAIN_SIGN in marks:
        found.append(("words", f"{AGAIN_SIGN} often repeated"))
    if notes:
        found.append(("note", "told by few, at about this place"))
    return found


# --- all of it in a few sentences, for those who do not see it -----------------------------------

LONGEST_NAME = 60
SUMMED_UP = 12
"""Elements that the summary names at most."""

SUMMED_STATES: tuple[tuple[State, str], ...] = (
    ("unsaid", "Probably done but unsaid"),
    ("astray", "Out of order"),
    ("denied", "Said not to have happened"),
)


def summary(words: StepWords, whole: Block | None, title: str) -> str:
    """Return the picture in words: its usual course, and what a telling leaves out of it."""
    steps = len(words.outline.steps)
    text = f"Outline{f' of {isolated(title, LONGEST_NAME)}' if title else ''} with {steps} step"
    text += "." if steps == 1 else "s."
    if whole is None:
        return text
    parts = whole.parts if whole.kind == "series" else (whole,)
    named = [_said(words, part) for part in parts[:SUMMED_UP]]
    more = ["and so on"] if len(parts) > SUMMED_UP else []
    text += f" Usual course: {', then '.join([*named, *more])}."
    if words.laid is not None:
        for state, heading in SUMMED_STATES:
            found = [k for k, one in enumerate(words.laid.states) if one == state]
            if found:
                text += f" {heading}: {_list(_name(words, k) for k in found[:SUMMED_UP])}."
    return text


def _said(words: StepWords, block: Block) -> str:
    if block.kind == "unit":
        unit = words.outline.units[block.units[0]]
        return " or ".join(
            " and ".join(_name(words, step) for step in branch) + _condition(words, branch[0])
            for branch in unit.branches
        )
    if block.kind == "series":
        return " and then ".join(_said(words, part) for part in block.parts)
    how = "in any order" if block.kind == "any" else "in several orders"
    return f"{how} ({_list(_said(words, part) for part in block.parts)})"


def _condition(words: StepWords, step: int) -> str:
    first = condition(words.outline, step)
    return "" if first is None else f" if {_name(words, first)}"


def _name(words: StepWords, step: int) -> str:
    return isolated(words.labels[step], LONGEST_NAME)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
