"""How answers about fit, about two scripts and about many are shown to people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from elision.ask.summaries import shown_share
from elision.cli.answers import LEAST_SHARE
from elision.errors import counted
from elision.terminal import Line, Number, bar, cell, make_table, out, print_lines, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.ask.compare import Comparison
    from elision.ask.identify import Candidate
    from elision.ask.score import Conformance, Flag
    from elision.ask.summaries import Summary

FULL_SURPRISE = 8.0
"""Surprise with a full bar: an event of probability 1 in 3000."""

MOST_DIFFERENCES = 20
"""Differences of two outlines that are shown."""


def show_conformance(found: Conformance) -> None:
    """Print a telling event by event, with surprises and what is odd."""
    table = make_table("event", Number("surprise"), "", "odd")
    for place, event in enumerate((*found.told, None)):
        for flag in found.flags:
            if flag.kind == "skipped" and flag.position == place:
                table.add_row(cell(f"    ({flag.event})", "dim"), "", "", cell(flag.note, "red"))
        if event is not None:
            notes = [flag for flag in found.flags if _is_about(flag, place)]
            surprise = found.surprises[place]
            shown = "-" if surprise is None else f"{surprise:.1f}"
            length = 0.0 if surprise is None else surprise / FULL_SURPRISE
            note = "; ".join(flag.note for flag in notes)
            table.add_row(cell(event), shown, cell(bar(length), "cyan"), cell(note, "red"))
    out.print(table)
    text = f"{found.verdict}fitness {found.fitness:.2f}, log-probability {_number(found.log_prob)}"
    say(f"{text}{found.rarity}, oddness {found.oddness:.1f}{found.lacking}")


def _is_about(flag: Flag, place: int) -> bool:
    return flag.kind != "skipped" and flag.position == place


def show_conformances(found: Sequence[tuple[str, Conformance]], *, odd: int, of: int) -> None:
    """Print a table of tellings by name, and how many of all are flagged."""
    numbers = [Number(name) for name in ("events", "fitness", "p-value", "oddness")]
    table = make_table("telling", *numbers, "odd")
    for name, one in found:
        table.add_row(
            cell(name),
            str(len(one.told)),
            f"{one.fitness:.2f}",
            "-" if one.p_value is None else shown_share(one.p_value),
            f"{one.oddness:.1f}",
            cell("; ".join(map(str, one.flags)), "red"),
        )
    if found:
        out.print(table)
    out.print(f"{odd} of {counted(of, 'telling')} odd")


def show_summary(found: Summary) -> None:
    """Print a log summed up."""
    words = ("step", "variant", "odd", "flags")
    heads = [name.replace("_", " ") for name in found.columns]
    table = make_table(
        *(head if head in words else Number(head) for head in heads),
    )
    for row in found.shown():
        table.add_row(*(cell(value) for value in row))
    out.print(table)


def show_comparison(found: Comparison, first: str, second: str) -> None:
    """Print how far two scripts are apart, and in what they differ."""
    alike = found.jensen_shannon
    say(f"first   {first}")
    say(f"second  {second}")
    share, error = alike.value / math.log(2), alike.error / math.log(2)
    print_lines([Line("apart (Jensen-Shannon)", share, f"give or take {error:.0%}")], indent=0)
    for which, other, value, lost in (
        ("first", "second", found.from_first, found.impossible[0]),
        ("second", "first", found.from_second, found.impossible[1]),
    ):
        text = f"Kullback-Leibler divergence over tellings of the {which}: {value}"
        say(text + (f"; the {other} cannot tell {lost:.0%} of them" if lost else ""))
    if found.on_data is not None:
        say(str(found.on_data))
        say(f"first less second: {found.on_data.difference}")
    if found.hint:
        say(found.hint)
    if not found.differences:
        say("the outlines are the same")
        return
    out.print()
    table = make_table("steps", "first", "second", "")
    for one in found.differences[:MOST_DIFFERENCES]:
        length = cell(bar(one.size), "cyan")
        table.add_row(cell(", ".join(one.steps)), cell(one.first), cell(one.second), length)
    out.print(table)
    more = len(found.differences) - MOST_DIFFERENCES
    if more > 0:
        say(f"... and {more} more (--json has all)")


def show_identification(found: Sequence[Candidate]) -> None:
    """Print which scripts a telling may be of."""
    print_lines(
        (
            Line("(none of these)" if one.name is None else one.name, one.probability)
            for place, one in enumerate(found)
            if one.probability >= LEAST_SHARE or not place
        ),
        indent=0,
    )


def _number(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "impossible"
