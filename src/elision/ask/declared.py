"""Questions about one telling as they are declared: once, for the command line and for HTTP.

A question has a method of `Questions` and a line in the table of `elision.ask.who`. What stands
here makes its command and its address: what kind of telling it takes, and its options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Takes: TypeAlias = Literal["telling", "unfinished", "gaps", "beginning", "events"]
"""A whole telling; one that may end in ``...``; one with gaps; a beginning; events in any order."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a question, with what it may be."""

    name: str
    kind: type
    usual: Any
    says: str
    least: float | None = None
    most: float | None = None

    @property
    def annotation(self) -> Any:
        """Its type; a list may be left out."""
        return self.kind if self.kind is not list else list[str] | None


@dataclass(frozen=True, slots=True)
class Declared:
    """A question: what it takes, what it says, how it can be asked."""

    name: str
    takes: Takes
    says: str
    example: tuple[str, ...]
    options: tuple[Option, ...] = ()
    more: str = ""


TOP = Option("top", int, 5, "How many answers.", least=1)

DECLARED = {
    one.name: one
    for one in (
        Declared(
            "between",
            "unfinished",
            "Say what probably happened unsaid in each gap of a telling.",
            ("hear doorbell", "open door"),
            (
                Option("least", float, 0.05, "Leave out what is less probable.", least=0, most=1),
                Option(
                    "ways",
                    int,
                    0,
                    "Also so many of the likeliest silent ways a gap.",
                    least=0,
                ),
            ),
            more="A telling that ends in `...` is not finished: what comes after is still to come.",
        ),
        Declared(
            "missing",
            "telling",
            "Say which events are probably missing from a record, and where.",
            ("hear doorbell", "open door"),
            (Option("least", float, 0.2, "Leave out what is less probable.", least=0, most=1),),
            more="That is what would stand in it, had nothing been removed; `between` says what"
            " happened.",
        ),
        Declared(
            "next",
            "beginning",
            "Say what is told next, and whether anything is.",
            ("hear doorbell", "open door"),
            (Option("steps", int, 1, "How many events ahead.", least=1), TOP),
        ),
        Declared(
            "align",
            "unfinished",
            "Say which state told what on the most probable path, what it passed, and what fits"
            " nowhere.",
            ("hear doorbell", "open door"),
        ),
        Declared(
            "posterior",
            "telling",
            "Say which states may have told each event, all paths weighed.",
            ("hear doorbell", "open door"),
        ),
        Declared(
            "resolve",
            "gaps",
            "Say what vague lines (?) and ambiguous sentences stand for, in the light of the rest.",
            ("open door", "?"),
            (
                Option("candidates", list, None, "What a ? may stand for; any event by default."),
                TOP,
            ),
        ),
        Declared(
            "order",
            "events",
            "Put events into the order in which they probably happened.",
            ("close door", "hear doorbell", "open door"),
            (
                Option("top", int, 3, "How many of the most probable orders.", least=1),
                Option(
                    "beam",
                    int,
                    100,
                    "Beginnings to follow where there are very many orders.",
                    least=1,
                ),
            ),
        ),
    )
}
"""Questions whose commands and addresses are made from what is declared."""
