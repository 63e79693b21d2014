"""All questions: who answers each, and how those about one telling can be asked.

A new question is a module that answers it, and two entries here: in `QUESTIONS`, and in `DECLARED`,
which makes its method, its command and its address over HTTP. A method written out in
`elision.values.questions` gives it types and a docstring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias


class Answerers(NamedTuple):
    """Functions as "module:name", below `elision.ask`; all are called with the script first."""

    script: str
    telling: str | None = None
    outline: str | None = None


QUESTIONS = {
    "log_probs": Answerers("score:log_probs", "telling.ahead:log_probs"),
    "fill": Answerers("fill:fill", "telling.gaps:fill"),
    "fill_many": Answerers("fill:fill_many", "telling.gaps:fill_many"),
    "joint": Answerers("joint:fill_joint", "telling.gaps:fill_joint"),
    "anywhere": Answerers("anywhere:fill_anywhere", "telling.gaps:fill_anywhere"),
    "missing": Answerers("missing:missing", "telling.missing:missing"),
    "next": Answerers("following:following", "telling.ahead:following"),
    "resolve": Answerers("resolve:resolve", "telling.gaps:resolve"),
    "order": Answerers("order:order", "telling.ordering:order"),
    "tellings": Answerers("sample:tellings", "telling.ahead:tellings"),
    "conform": Answerers("score:conform", "telling.conformance:conform"),
    "evidence": Answerers("engine.evidence:evidence_of", "telling.evidence:evidence_of"),
    "gap_chances": Answerers("engine.chances:gap_chances", "telling.gaps:chances_of_gaps"),
    "anywhere_chances": Answerers(
        "engine.chances:anywhere_chances", "telling.gaps:chances_anywhere"
    ),
    "missing_chances": Answerers(
        "engine.chances:missing_chances", "telling.missing:chances_missing"
    ),
    "next_chances": Answerers("engine.chances:next_chances", "telling.ahead:chances_next"),
    "between": Answerers("between:between", outline="outlined:between"),
    "between_many": Answerers("between:between_many", outline="outlined:between_many"),
    "stories": Answerers("sample:stories"),
    "align": Answerers("align:align", outline="outlined:align"),
    "posterior": Answerers("posterior:posterior", outline="outlined:posterior"),
    "compare": Answerers("compare:compare"),
}
"""Every question: those that a telling model answers are about tellings, the rest about silence."""


Takes: TypeAlias = Literal["telling", "unfinished", "gaps", "beginning", "events"]
"""A whole telling; one that may end in ``...``; one with gaps; a beginning; events in any order."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a question, with what it may be."""

    name: str
    kind: type
    default: Any
    says: str
    minimum: float | None = None
    maximum: float | None = None

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


TOP = Option("top", int, 5, "How many answers.", minimum=1)

DECLARED = {
    one.name: one
    for one in (
        Declared(
            "between",
            "unfinished",
            "Say what probably happened unsaid in each gap of a telling.",
            ("hear doorbell", "open door"),
            (
                Option(
                    "min_probability",
                    float,
                    0.05,
                    "Leave out what is less probable.",
                    minimum=0,
                    maximum=1,
                ),
                Option(
                    "ways",
                    int,
                    0,
                    "Also so many of the likeliest silent ways a gap.",
                    minimum=0,
                ),
            ),
            more="A telling that ends in `...` is not finished: what comes after is still to come.",
        ),
        Declared(
            "missing",
            "unfinished",
            "Say which events are probably missing from a record, and where.",
            ("hear doorbell", "open door"),
            (
                Option(
                    "min_probability",
                    float,
                    0.2,
                    "Leave out what is less probable.",
                    minimum=0,
                    maximum=1,
                ),
            ),
            more="That is what would stand in it, had nothing been removed; `between` says what"
            " happened. A record that ends in `...` is not finished: nothing is missing after it.",
        ),
        Declared(
            "next",
            "beginning",
            "Say what is told next, and whether anything is.",
            ("hear doorbell", "open door"),
            (Option("steps", int, 1, "How many events ahead.", minimum=1), TOP),
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
                Option("top", int, 3, "How many of the most probable orders.", minimum=1),
                Option(
                    "beam",
                    int,
                    100,
                    "Beginnings to follow where there are very many orders.",
                    minimum=1,
                ),
            ),
        ),
    )
}
"""Questions whose commands and addresses are made from what is declared."""
