"""An outline in words: a numbered list, blocks in any order, choices, and what is seldom told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.values.outline import Outline, Step, Unit

MAIN = 0.2
"""Share of tellings from which on a step stands in the list by itself, not under "sometimes"."""

BESIDE = 0.5
"""Nothing is done sometimes that is told so many times as often as the most told step."""

SURE = 0.8
"""Probability from which on words take something for certain."""

NEARLY_ALL = 0.95
"""Share of tellings from which on words say nothing of those that do not tell a step."""

FEW = 2
"""Lines above that a step may come before or after, that are named at most."""

LONGEST = 60
"""Characters of a sentence that are shown beside a step."""

WIDEST = 56
"""Characters of a line up to which sentences stand below each other beside it."""

OFTEN = 0.2
"""Probability of being told again from which on a step is said to repeat."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the list.

    Attributes
    ----------
    number
        Its number; None for a line that belongs to the numbered one above it.
    indent
        How deep it stands.
    text
        The words.
    units
        The units that it is about.
    steps
        The steps that it names as what happens, in order; none of a heading.
    """

    number: int | None
    indent: int
    text: str
    units: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()


def main_from(outline: Outline) -> float:
    """Share of tellings from which on a step is none that is done sometimes."""
    return min(MAIN, BESIDE * float(outline.told_shares.max(initial=0.0)))


def is_main(outline: Outline, unit: int) -> bool:
    """Whether a unit is told often, or surely happens: what is not is said to happen sometimes.

    Words and pictures have this rule in common.
    """
    one = outline.units[unit]
    often = max(outline.steps[s].told for s in one.steps) >= main_from(outline)
    return often or one.happens >= SURE


def is_always_done(outline: Outline, unit: int) -> bool:
    """Whether words and pictures take a unit for done, whatever is told.

    Steps are if they were done where they are not told; that they mostly are done says less, as
    that counts those who tell them. Of a choice, it is that something of it is mostly done.
    """
    one = outline.units[unit]
    if len(one.branches) > 1:
        return one.happens >= SURE
    return all(outline.steps[s].told >= NEARLY_ALL or outline.unsaid[s] >= SURE for s in one.steps)


def lines(outline: Outline) -> list[Line]:
    """The lines of an outline, without its title.

    Steps that nothing stands beside are numbered items. Several between which no order is known are
    one item, "in any order"; steps told seldom stand under the item that they come after.
    """
    units = _in_order(outline)
    main = [u for u in units if is_main(outline, u)]
    parts = _parts(outline, main)
    seldom: dict[int, list[int]] = {}
    for unit in units:
        if unit not in main:
            seldom.setdefault(parts_before(outline, unit, parts), []).append(unit)
    found = _sometimes(outline, seldom.get(0, []), "sometimes first: ", 0)
    for number, part in enumerate(parts, start=1):
        found += _item(outline, number, part)
        found += _sometimes(outline, seldom.get(number, []), "sometimes: ", 1)
    return found


def text(outline: Outline, *, wording: bool | None = None) -> str:
    """The whole outline as text.

    Parameters
    ----------
    outline
        The outline.
    wording
        Whether each step has a usual sentence beside it, where one is known; None where the names
        of all steps are codes without letters.
    """
    head = outline.title or "What happens"
    if outline.tellings:
        head += f", from {outline.tellings} telling{'' if outline.tellings == 1 else 's'}"
    if not outline.steps:
        return f"{head}\n  (no step is told often enough)"
    if wording is None:
        wording = not any(any(map(str.isalpha, step.name)) for step in outline.steps)
    told = lines(outline)
    rows = [
        f"{'' if line.number is None else line.number:>2}  {'   ' * line.indent}{line.text}"
        for line in told
    ]
    if wording:
        rows = _worded(outline, told, rows)
    return "\n".join([head[:1].upper() + head[1:], *rows])


def _worded(outline: Outline, told: list[Line], rows: list[str]) -> list[str]:
    """Rows with a sentence beside each that is about one step, and below those about several."""
    single = [bool(len(line.steps) == 1 and _sentence(outline, line.steps[0])) for line in told]
    widths = (len(row) for row, one in zip(rows, single, strict=True) if one)
    width = max((width for width in widths if width <= WIDEST), default=0)
    found: list[str] = []
    for line, row, one in zip(told, rows, single, strict=True):
        if one:
            found.append(f"{row:<{width}}   {_sentence(outline, line.steps[0])}")
            continue
        found.append(row)
        margin = " " * (len(row) - len(row.lstrip(" 0123456789")) + 3)
        found += [
            f"{margin}{outline.steps[step].name}: {said}"
            for step in line.steps
            if (said := _sentence(outline, step))
        ]
    return found


def _sentence(outline: Outline, step: int) -> str:
    """The most usual sentence of a step, between quotation marks; nothing if none is known."""
    said = " ".join(next(iter(outline.steps[step].wording), "").split())
    if not said:
        return ""
    return f'"{said}"' if len(said) <= LONGEST else f'"{said[: LONGEST - 1].rstrip()}…"'


def described(step: Step, unsaid: float) -> str:
    """A step, how often it is told, and what that it is not told means."""
    notes = [f"{step.told:.0%}"]
    if step.told < NEARLY_ALL:
        if unsaid >= SURE:
            notes.append("otherwise unsaid")
        elif unsaid <= 1 - SURE:
            notes.append("otherwise left out")
        else:
            notes.append("otherwise unsaid or left out")
    if step.again >= OFTEN:
        notes.append("often repeated")
    return f"{step.name} ({', '.join(notes)})"


def _in_order(outline: Outline) -> list[int]:
    """The units as they stand, but for those that stand before something they come after."""
    left, found = list(range(len(outline.units))), list[int]()
    while left:
        ready = next(u for u in left if not outline.order[left, u].any())
        left.remove(ready)
        found.append(ready)
    return found


def _parts(outline: Outline, main: list[int]) -> list[list[int]]:
    """Cut the list where everything before comes before everything after."""
    parts: list[list[int]] = []
    for place, unit in enumerate(main):
        cut = all(outline.order[a, b] for a in main[:place] for b in main[place:])
        if cut or not parts:
            parts.append([])
        parts[-1].append(unit)
    return parts


def _threads(outline: Outline, part: list[int]) -> list[list[int]]:
    """Units of a part that have an order with each other, directly or by way of others."""
    related = outline.order | outline.order.T
    threads: list[list[int]] = []
    for unit in part:
        touching = [one for one in threads if any(related[unit, other] for other in one)]
        merged = sorted([unit, *(other for one in touching for other in one)], key=part.index)
        threads = [one for one in threads if one not in touching] + [merged]
    return sorted(threads, key=lambda one: part.index(one[0]))


def _is_chain(outline: Outline, thread: list[int]) -> bool:
    grid = outline.order[np.ix_(thread, thread)]
    return int(grid.sum()) == len(thread) * (len(thread) - 1) // 2


def _item(outline: Outline, number: int | None, part: list[int], indent: int = 0) -> list[Line]:
    if len(part) == 1:
        return _unit(outline, number, indent, part[0])
    threads = _threads(outline, part)
    if len(threads) == 1:
        found = [Line(number, indent, "in this order, unless said otherwise", tuple(part))]
        for unit in part:
            found += _unit(outline, None, indent + 1, unit, aside=_aside(outline, unit, part))
        return found
    found = [Line(number, indent, "in any order", tuple(part))]
    for thread in threads:
        found += _thread(outline, thread, indent + 1)
    return found


def _thread(outline: Outline, thread: list[int], indent: int) -> list[Line]:
    """Units that come one after another, beside other threads: on one line if they can be."""
    if all(_is_plain(outline.units[unit]) for unit in thread) and _is_chain(outline, thread):
        words = ", then ".join(_plain(outline, unit) for unit in thread)
        steps = [step for unit in thread for step in outline.units[unit].steps]
        return [Line(None, indent, words, tuple(thread), tuple(steps))]
    parts = _parts(outline, thread)
    if len(parts) == 1:
        return _item(outline, None, thread, indent)
    found = [Line(None, indent, "in this order", tuple(thread))]
    for part in parts:
        found += _item(outline, None, part, indent + 1)
    return found


def _aside(outline: Outline, unit: int, part: list[int]) -> str:
    """Which of the lines above a unit need not come after; nothing where it comes after all.

    With what the other lines say, this is the whole order of the part.
    """
    above = part[: part.index(unit)]
    earlier = [v for v in above if outline.order[v, unit]]
    free = [v for v in above if v not in earlier]
    if not free:
        return ""
    if len(free) <= FEW:
        return f"; before or after {_listed([_name(outline, v) for v in free], 'or')}"
    last = [v for v in earlier if not any(outline.order[v, w] for w in earlier)]
    if not last:
        return "; or at any earlier time"
    return f"; or at any earlier time after {_listed([_name(outline, v) for v in last], 'and')}"


def _name(outline: Outline, unit: int) -> str:
    return " or ".join(outline.steps[branch[0]].name for branch in outline.units[unit].branches)


def _listed(names: list[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _is_plain(unit: Unit) -> bool:
    return len(unit.branches) == 1


def _plain(outline: Outline, unit: int) -> str:
    return _branch(outline, outline.units[unit].branches[0])


def _branch(outline: Outline, branch: tuple[int, ...]) -> str:
    told = ", then ".join(described(outline.steps[s], float(outline.unsaid[s])) for s in branch)
    return told + given(outline, branch)


def condition(outline: Outline, step: int) -> int | None:
    """The step done long before, if this one is; None if none says it."""
    way = next((way for one in outline.apart for way in one.branches if step in way), (step,))
    first = min(way)
    return None if outline.unit_of[first] == outline.unit_of[step] else first


def condition_name(outline: Outline, step: int) -> str | None:
    """The name of that step; None if there is none."""
    first = condition(outline, step)
    return None if first is None else outline.steps[first].name


def given(outline: Outline, branch: Sequence[int]) -> str:
    """What was done long before, if this branch is taken; nothing if that does not say it."""
    name = condition_name(outline, branch[0])
    return "" if name is None else f", if {name}"


def _shares(outline: Outline, branch: tuple[int, ...]) -> str:
    told = ", then ".join(f"{outline.steps[s].name} ({outline.steps[s].told:.0%})" for s in branch)
    return told + given(outline, branch)


def _unit(
    outline: Outline, number: int | None, indent: int, unit: int, aside: str = ""
) -> list[Line]:
    one = outline.units[unit]
    if _is_plain(one):
        head = "together: " if len(one.steps) > 1 else ""
        words = head + _plain(outline, unit) + aside
        return [Line(number, indent, words, (unit,), tuple(one.steps))]
    heading = "one of" if is_always_done(outline, unit) else "one of, or none"
    found = [Line(number, indent, heading + aside, (unit,))]
    for branch in one.branches:
        told = _shares(outline, branch)
        found.append(Line(None, indent + 1, told, (unit,), tuple(branch)))
    return found


def parts_before(outline: Outline, unit: int, parts: Sequence[Sequence[int]]) -> int:
    """How many parts a unit comes after, by its order with all units of all parts.

    Between what the outline itself says to come before and after it, it stands where that is
    likeliest: how often the one was told before the other counts, not how far on in tellings.
    """
    logs = np.log(outline.ahead)
    after = np.array([0.0, *(logs[list(part), unit].sum() for part in parts)]).cumsum()
    before = np.array([*(logs[unit, list(part)].sum() for part in parts), 0.0])
    fits = after + before[::-1].cumsum()[::-1]
    first = max(
        (k + 1 for k, part in enumerate(parts) if outline.order[list(part), unit].any()), default=0
    )
    last = min(
        (k for k, part in enumerate(parts) if outline.order[unit, list(part)].any()),
        default=len(parts),
    )
    # Where it comes after some of a part and before others, it stands before or after that part.
    first, last = min(first, last), max(first, last)
    return first + int(np.argmax(fits[first : last + 1]))


def _sometimes(outline: Outline, units: list[int], head: str, indent: int) -> list[Line]:
    if not units:
        return []
    words = [
        " or ".join(_shares(outline, branch) for branch in outline.units[unit].branches)
        for unit in units
    ]
    steps = [s for unit in units for branch in outline.units[unit].branches for s in branch]
    return [Line(None, indent, head + "; ".join(words), tuple(units), tuple(steps))]
