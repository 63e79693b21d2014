"""Which units and branches of an outline are rare, and where in the main course they belong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elision.show._outline_rows import Aside
from elision.show.words import TIED, percent
from elision.values.outline_reading import condition, is_main, main_from, parts_before

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from elision.show._outline_pieces import Branches
    from elision.show._outline_words import Sheet
    from elision.show.outline_overlay import Laid
    from elision.values.outline import Outline

RARE_BRANCH = 0.5
"""Branches may be so many times rarer and still be drawn."""


def shown_branches(outline: Outline, laid: Laid | None) -> dict[int, Branches]:
    """Return the branches to draw of each unit that is not done sometimes only, by its number.

    What a telling tells or leaves unsaid is always drawn.
    """
    told = outline.told_shares
    least = main_from(outline)
    kept = {k for k, state in enumerate(laid.states) if state != "faded"} if laid else set()
    found: dict[int, Branches] = {}
    for number, unit in enumerate(outline.units):
        if not is_main(outline, number) and kept.isdisjoint(unit.steps):
            continue
        often = tuple(
            branch
            for branch, share in zip(unit.branches, unit.shares, strict=True)
            if share >= RARE_BRANCH * least
            or any(told[step] >= least or step in kept for step in branch)
        )
        found[number] = often or unit.branches
    return found


def asides(
    sheet: Sheet, shown: Mapping[int, Branches], elements: Sequence[Sequence[int]]
) -> list[Aside]:
    """Return what is rare, by its place in the main course.

    Parameters
    ----------
    sheet
        The steps.
    shown
        What is drawn.
    elements
        Units of each element of the main course, none for the start and the end.
    """
    outline = sheet.outline
    home = {unit: at for at, units in enumerate(elements) for unit in units}
    found: dict[tuple[int, bool], list[tuple[float, str, tuple[int, ...]]]] = {}
    for number, unit in enumerate(outline.units):
        rare = [branch for branch in unit.branches if branch not in shown.get(number, ())]
        if not rare:
            continue
        steps = tuple(step for branch in rare for step in branch)
        often = max(outline.steps[step].told for step in steps)
        text = " or ".join(_counted(sheet, branch) for branch in rare)
        where = _between(outline, number, elements)
        if number in shown:
            usual = " or ".join(_named(sheet, branch) for branch in shown[number])
            text += f" (instead of {usual})"
            where = (home[number], True)
        found.setdefault(where, []).append((-often, text, steps))
    return [_aside(sheet, *where, sorted(items)) for where, items in sorted(found.items())]


def _named(sheet: Sheet, branch: Sequence[int]) -> str:
    """A branch in a few words, its first and last step."""
    return _in_short([sheet.labels[step] for step in branch])


def _counted(sheet: Sheet, branch: Sequence[int]) -> str:
    """A branch in a few words, with how often each step that is named is told."""
    steps = sheet.outline.steps
    text = _in_short([f"{sheet.labels[s]}{TIED}{percent(steps[s].told)}" for s in branch])
    first = condition(sheet.outline, branch[0])
    return text if first is None else f"{text}, if {sheet.labels[first]}"


def _in_short(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{names[0]}{' → … → ' if len(names) > 2 else ' → '}{names[-1]}"


def _between(outline: Outline, unit: int, elements: Sequence[Sequence[int]]) -> tuple[int, bool]:
    """Return the element before which a unit belongs, or the one inside which it does."""
    order = outline.order
    after = [at for at, units in enumerate(elements) if any(order[one, unit] for one in units)]
    before = [at for at, units in enumerate(elements) if any(order[unit, one] for one in units)]
    low, high = max(after, default=0), min(before, default=len(elements) - 1)
    if low == high:
        return low, True
    # Start and end are elements, too.
    return 1 + parts_before(outline, unit, elements[1:-1]), False


def _aside(
    sheet: Sheet,
    at: int,
    inside: bool,
    items: Sequence[tuple[float, str, tuple[int, ...]]],
) -> Aside:
    steps = tuple(step for _, _, members in items for step in members)
    return Aside(
        at=at,
        inside=inside,
        items=tuple(text for _, text, _ in items),
        steps=steps,
        faded=sheet.laid is not None,
        tip="\n\n".join(sheet.tip(step) for step in steps),
    )
