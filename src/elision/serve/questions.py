"""Questions over HTTP: the same answers as in Python and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from elision.serve.messages import Telling  # noqa: TC001 - msgspec reads the annotations
from elision.serve.shelf import LONGEST_SENTENCE
from elision.terminal import plain

if TYPE_CHECKING:
    from elision.serve.shelf import Held

GAP, STRETCH = "?", "..."

Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]
"""How many answers: bounded, so that nobody asks for a day's work."""

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Question(msgspec.Struct, forbid_unknown_fields=True):
    """A question about a telling."""

    telling: Telling
    unknown: Literal["error", "ignore"] = "error"


class Between(Question, forbid_unknown_fields=True):
    """Say what probably happened unsaid in each gap of a telling."""

    min_probability: Share = 0.05
    ways: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0


class Missing(Question, forbid_unknown_fields=True):
    """Say which events are probably missing from a record, and where."""

    min_probability: Share = 0.2


class Next(Question, forbid_unknown_fields=True):
    """Say what is told next, and whether anything is."""

    steps: Count = 1
    top: Count = 5


class Order(Question, forbid_unknown_fields=True):
    """Put events into the order in which they probably happened."""

    top: Count = 3
    beam: Count = 100


ASKS: dict[str, type[Question]] = {
    "between": Between,
    "missing": Missing,
    "next": Next,
    "order": Order,
}
"""The message of each question, which a script has a method for."""


class Answered(msgspec.Struct):
    """What a question found, as ``elision ... --json`` prints it."""

    answer: Any


def answer(held: Held, asking: Any, question: str) -> Answered:
    """Ask a script."""
    given = {name: getattr(asking, name) for name in asking.__struct_fields__}
    items = [_item(line) for line in given.pop("telling")]
    return Answered(plain(getattr(held.script, question)(items, **given)))


def _item(line: str | None) -> Any:
    if line is None or line.strip() == GAP:
        return None
    return ... if line.strip() == STRETCH else line[:LONGEST_SENTENCE]
