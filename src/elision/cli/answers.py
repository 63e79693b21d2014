"""How answers about one telling are shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from elision.ask.declared import TOP
from elision.ask.fill import Filling
from elision.ask.heard import name_of
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
    from collections.abc import Callable, Sequence

    from elision.ask.align import Aligned
    from elision.ask.anywhere import Anywhere
    from elision.ask.between import Story
    from elision.ask.following import Following
    from elision.ask.heard import Item
    from elision.ask.joint import Course, Joint
    from elision.ask.missing import Omissions
    from elision.ask.order import Ordering
    from elision.ask.posterior import StatePosterior
    from elision.ask.resolve import Resolution
    from elision.ask.sample import Sampled
    from elision.ask.stretch import Stretch

LEAST_SHARE = 0.005
"""What would show as 0% is left out where nobody asked for a number of answers."""

MOST_STATES = 3
"""States that are shown for an event."""


def show_telling(items: Sequence[Item]) -> None:
    """Print a telling in one line, gaps coloured."""
    text = Text(style="bold")
    for place, item in enumerate(items):
        text.append(", " if place else "")
        text.append(printable(name_of(item)), "" if isinstance(item, str) else "cyan")
    out.print(text, soft_wrap=True)
    out.print()


def show_fillings(found: Sequence[Filling | Stretch]) -> None:
    """Print the ranked answers of each gap and stretch."""
    for number, one in enumerate(found, start=1):
        if len(found) > 1:
            out.print(f"gap {number}")
        if isinstance(one, Filling):
            if one.fallback:
                say("the script cannot tell this; its most usual events are", "dim")
            print_lines(Line(a.event, a.probability) for a in one.answers)
        else:
            _show_stretch(one)


def _show_stretch(found: Stretch) -> None:
    _show_courses(found.courses, exact=found.exact)
    out.print("how many")
    counts = [(str(n), share) for n, share in enumerate(found.counts)]
    print_lines(Line(name, share) for name, share in counts if share >= LEAST_SHARE)
    if found.more >= LEAST_SHARE:
        print_lines([Line(f"{len(found.counts)} or more", found.more)])


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
        if gap.ways:
            out.print("      most likely in silence", style="dim")
            _show_ways(gap.ways)
        if gap.before is not None:
            say(gap.before, "bold")


def show_omissions(found: Omissions) -> None:
    """Print a record, what is probably missing from it indented with its probability."""
    for place, omitted in enumerate(found.places):
        print_lines((Line(one.event, one.probability) for one in omitted), style="dim")
        if place < len(found.told):
            say(found.told[place], "bold")


def _show_ways(ways: Sequence[Course]) -> None:
    lines = (Line(", ".join(way.events) or "(nothing)", way.probability) for way in ways)
    print_lines(lines, indent=8, style="dim")


def show_following(found: Following) -> None:
    """Print what is told next, step by step, and whether anything is."""
    for number, step in enumerate(found.steps, start=1):
        if len(found.steps) > 1:
            out.print(f"step {number}")
        asked = len(step.answers) > TOP.default  # somebody wants more than is usual
        answers = [
            Line(one.event, one.probability)
            for one in step.answers
            if asked or one.probability >= LEAST_SHARE
        ]
        print_lines([*answers, Line("(nothing more)", step.ended)])


def show_aligned(found: Aligned) -> None:
    """Print the most probable path: who told what, and what was passed."""
    table = make_table("told", "state", Number("certain"), "")
    for step in found.steps:
        if step.state is None:
            table.add_row(cell(step.event or "", "red"), cell("(no state tells it here)", "red"))
            continue
        silent = step.event is None
        table.add_row(
            cell(step.event or ""),
            cell(f"({step.state})", "dim") if silent else cell(step.state),
            percent(step.certainty),
            cell(bar(step.certainty), "cyan"),
        )
    out.print(table)
    say(f"log-probability of this path {found.log_prob:.2f}")


def show_posterior(found: StatePosterior) -> None:
    """Print the likeliest states of each event, all paths weighed."""
    for event, row in zip(found.events, found.told.tolist(), strict=True):
        say(event, "bold")
        ranked = sorted(zip(row, found.states, strict=True), key=lambda pair: -pair[0])
        likely = [(share, state) for share, state in ranked[:MOST_STATES] if share >= LEAST_SHARE]
        print_lines(Line(state, share) for share, state in likely)
    say(f"log-probability {found.log_prob:.2f}")


def show_resolutions(items: Sequence[Item], found: Sequence[Resolution]) -> None:
    """Print what each ambiguous item stands for, by itself and in the light of the rest."""
    for one in found:
        say(name_of(items[one.position]), "bold")
        print_lines(
            Line(candidate.event, candidate.probability, note=f"by itself {candidate.weight:.0%}")
            for candidate in one.candidates
        )


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


_SHOWN: dict[str, Callable[[Any], None]] = {
    "between": show_story,
    "missing": show_omissions,
    "next": show_following,
    "align": show_aligned,
    "posterior": show_posterior,
    "order": show_ordering,
}


def show(question: str, items: Sequence[Item], found: Any) -> None:
    """Print the answer to a question; one that has no form of its own as it prints itself."""
    if question == "resolve":
        show_resolutions(items, found)
    elif question in _SHOWN:
        _SHOWN[question](found)
    else:
        say(str(found))
