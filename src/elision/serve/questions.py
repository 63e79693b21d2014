"""Every declared question over HTTP: the same answers as in Python and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from elision.ask.declared import DECLARED
from elision.serve.messages import Telling
from elision.serve.shelf import LONGEST_SENTENCE
from elision.terminal import plain

if TYPE_CHECKING:
    from elision.ask.declared import Declared, Option
    from elision.serve.shelf import Held

GAP, STRETCH = "?", "..."

MOST_ANSWERS = 1000
"""Of a number that has no bound of its own, so that nobody asks for a day's work."""


class Answered(msgspec.Struct):
    """What a question found, as ``elision ... --json`` prints it."""

    answer: Any


def takes(question: Declared) -> type[msgspec.Struct]:
    """Make the message that asks a question.

    Examples
    --------
    >>> [field.name for field in msgspec.structs.fields(takes(DECLARED["next"]))]
    ['telling', 'unknown', 'steps', 'top']
    """
    fields: list[Any] = [
        ("telling", Telling),
        ("unknown", Literal["error", "ignore"], "error"),
        *((one.name, _kind(one), one.default) for one in question.options),
    ]
    return msgspec.defstruct(
        f"Ask{question.name.capitalize()}",
        fields,
        module=__name__,
        forbid_unknown_fields=True,
        namespace={"__doc__": question.says},
    )


def _kind(option: Option) -> Any:
    if option.kind is list:
        return Telling | None
    most = MOST_ANSWERS if option.maximum is None else option.maximum
    return Annotated[option.kind, msgspec.Meta(ge=option.minimum, le=most)]


def answer(held: Held, asking: Any, question: Declared) -> Answered:
    """Ask a script."""
    given = {name: getattr(asking, name) for name in asking.__struct_fields__}
    items = [_item(line) for line in given.pop("telling")]
    found = getattr(held.script, question.name)(items, **given)
    return Answered(plain(found))


def _item(line: str | None) -> Any:
    if line is None or line.strip() == GAP:
        return None
    return ... if line.strip() == STRETCH else line[:LONGEST_SENTENCE]


ASKS = {name: takes(question) for name, question in DECLARED.items()}
"""The message of each question."""
