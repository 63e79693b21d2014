"""How answers are shown to people: about one telling, about fit, about several scripts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from elision import ask
from elision.errors import counted
from elision.terminal import (
    Line,
    Number,
    bar,
    cell,
    make_table,
    out,
    percent,
    print_lines,
    printable,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elision.ask.anywhere import Anywhere
    from elision.ask.between import Story
    from elision.ask.compare import Comparison
    from elision.ask.fill import Filling
    from elision.ask.following import Following
    from elision.ask.heard import Item
    from elision.ask.identify import Candidate
    from elision.ask.joint import Course, Joint
    from elision.ask.missing import Omissions
    from elision.ask.order import Ordering
    from elision.ask.sample import Sampled
    from elision.ask.score import Conformance, Flag
    from elision.ask.summaries import Summary

LEAST_SHARE = 0.005
"""What would show as 0% is left out where nobody asked for a number of answers."""

TOP = 5
"""Answers that are shown where nobody asked for a number of them."""

FULL_SURPRISE = 8.0
"""Surprise with a full bar: an event of probability 1 in 3000."""

MOST_DIFFERENCES = 20
"""Differences of two outlines that are shown."""


def show_telling(items: Sequence[Item]) -> None:
    """Print a telling in one line, gaps coloured."""
    text = Text(style="bold")
    for place, item in enumerate(items):
        text.append(", " if place else "")
        text.append(printable(ask.heard.name_of(item)), "" if isinstance(item, str) else "cyan")
    out.print(text, soft_wrap=True)
    out.print()


def show_fillings(found: Sequence[Filling]) -> None:
    """Print the ranked answers of each gap."""
    for number, one in enumerate(found, start=1):
        if len(found) > 1:
            out.print(f"gap {number}")
        if one.fallback:
            say("the script cannot tell this; its most usual events are", "dim")
        print_lines(Line(a.event, a.probability) for a in one.answers)


def show_joint(found: Joint) -> None:
    """Print the ranked fillings of all gaps together."""
    _show_courses(found.answers, exact=found.exact)


def _show_courses(courses: Sequence[Course], *, exact: bool) -> None:
    print_lines(Line(", ".join(one.events) or "(nothing)", one.probability) for one in courses)
    if not exact:
        say("there may be likelier ones: there were too many to weigh them all", "dim")


def show_anywhere(found: Anywhere) -> None:
    """Print which event is missing, and where most likely."""
    places = [f"before {event}" for event in found.told] + ["at the end"]
    print_lines(Line(one.event, one.probability, note=places[one.place]) for one in found.answers)


def show_story(story: Story) -> None:
    """Print a telling, what was left unsaid in it indented with its probability."""
    for gap in story.gaps:
        if len(gap.unsaid) > 1:
            say(f"    {gap.something:.0%}: something was left out here", "dim")
        print_lines((Line(step.event, step.probability) for step in gap.unsaid), style="dim")
        if gap.before is not None:
            say(gap.before, "bold")


def show_omissions(found: Omissions) -> None:
    """Print a record, what is probably missing from it indented with its probability."""
    for place, omitted in enumerate(found.places):
        print_lines((Line(one.event, one.probability) for one in omitted), style="dim")
        if place < len(found.told):
            say(found.told[place], "bold")


def show_following(found: Following) -> None:
    """Print what is told next, step by step, and whether anything is."""
    for number, step in enumerate(found.steps, start=1):
        if len(found.steps) > 1:
            out.print(f"step {number}")
        asked = len(step.answers) > TOP  # somebody wants more than is usual
        answers = [
            Line(one.event, one.probability)
            for one in step.answers
            if asked or one.probability >= LEAST_SHARE
        ]
        print_lines([*answers, Line("(nothing more)", step.ended)])


def show_ordering(found: Ordering) -> None:
    """Print events in order, with the certainty of each being before the next, and other orders."""
    table = make_table("event", Number("before the next"), "")
    for place, event in enumerate(found.events):
        if place + 1 == len(found.events):
            table.add_row(cell(event))
            continue
        share = float(found.precedence[place, place + 1])
        table.add_row(cell(event), percent(share), cell(bar(share), "cyan"))
    out.print(table)
    out.print("\nmost probable tellings of just these")
    for one in found.likeliest:
        known = "" if one.share is None else f"{one.share:.0%}"
        say(f"{known:>8}  {', '.join(one.events)}")
    if not found.exact:
        say("there may be better ones: there were too many to weigh them all", "dim")


def show_tellings(found: Sequence[Sequence[str]]) -> None:
    """Print drawn tellings, one a line."""
    for telling in found:
        say(", ".join(telling) or "(nothing)")


def show_stories(found: Sequence[Sampled]) -> None:
    """Print drawn stories, what was left unsaid in brackets."""
    for number, one in enumerate(found):
        if number:
            out.print()
        for event in one.story:
            say(event.event if event.told else f"    ({event.event})", "" if event.told else "dim")
        if not one.story:
            out.print("(nothing)")


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
            "-" if one.p_value is None else ask.summaries.shown_share(one.p_value),
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
