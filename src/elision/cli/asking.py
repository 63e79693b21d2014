"""Questions about one telling: what is missing, what comes next, who told what."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from elision import cli
from elision.ask.declared import DECLARED
from elision.cli.app import (
    AsJson,
    Gaps,
    IgnoreUnknown,
    ScriptFile,
    Seed,
    Telling,
    app,
    load,
    reply,
    show_heard,
    told,
    told_events,
    told_so_far,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from elision.ask.declared import Declared

Top = Annotated[int, typer.Option(help="How many answers.", min=1)]
Exclude = Annotated[list[str] | None, typer.Option(help="Not this event; may be given again.")]


@app.command()
def fill(
    script: ScriptFile,
    telling: Gaps,
    joint: Annotated[
        bool, typer.Option("--joint", help="All gaps together, not each by itself.")
    ] = False,
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="One event is missing, and it is not known where.")
    ] = False,
    exclude: Exclude = None,
    top: Top = 5,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Say what is missing where a telling has a ? or ..., or anywhere.

    Example: `elision fill doorbell.json "hear doorbell" ? "open door"`
    """
    items = told(telling)
    ways = cast("Any", {"joint": joint, "anywhere": anywhere})
    asked = load(script)
    found = asked.fill(
        items, top=top, exclude=exclude or (), unknown=unknown(ignore_unknown), **ways
    )
    if not as_json:
        cli.answers.show_telling(items)
    show_heard(asked, items, as_json=as_json)
    show: Any = cli.answers.show_fillings
    if joint or anywhere:
        show = cli.answers.show_joint if joint else cli.answers.show_anywhere
    reply(found, show, as_json=as_json)


_TELLINGS: dict[str, Any] = {
    "telling": Telling,
    "unfinished": Telling,
    "gaps": Gaps,
    "beginning": Annotated[
        list[str] | None,
        typer.Argument(help="The beginning: events or sentences in order, ? and ... as in fill."),
    ],
    "events": Annotated[
        list[str], typer.Argument(help="Events or sentences in any order; - for standard input.")
    ],
}


def _items(question: Declared, telling: list[str]) -> Any:
    if question.takes == "beginning":
        return told(telling)
    return (told_so_far if question.takes == "unfinished" else told_events)(telling, question.name)


def _asks(question: Declared) -> Callable[..., None]:
    """Make the command of a question."""

    def run(script: Path, telling: list[str] | None, **given: Any) -> None:
        ignore_unknown, as_json = given.pop("ignore_unknown"), given.pop("as_json")
        asked, items = load(script), _items(question, telling or [])
        ask = getattr(asked, question.name)
        found = ask(items, unknown=unknown(ignore_unknown), **given)
        if question.takes != "gaps":  # there the answer says what is heard
            show_heard(asked, items, as_json=as_json)
        reply(found, lambda found: cli.answers.show(question.name, items, found), as_json=as_json)

    parameters: dict[str, tuple[Any, Any]] = {"script": (ScriptFile, Parameter.empty)}
    first = None if question.takes == "beginning" else Parameter.empty
    parameters["events" if question.takes == "events" else "telling"] = (
        _TELLINGS[question.takes],
        first,
    )
    for one in question.options:
        flag = one.name.removesuffix("s") if one.kind is list else one.name.replace("_", "-")
        bounds = {"min": one.minimum, "max": one.maximum}
        limits: dict[str, Any] = {} if one.kind is list else bounds
        option = typer.Option(f"--{flag}", help=one.says, **limits)
        parameters[one.name] = (Annotated[one.annotation, option], one.default)
    parameters["ignore_unknown"] = (IgnoreUnknown, False)
    parameters["as_json"] = (AsJson, False)

    def command(**given: Any) -> None:
        run(given.pop("script"), given.pop("events", None) or given.pop("telling", None), **given)

    told_example = " ".join(one if one == "?" else f'"{one}"' for one in question.example)
    example = f"Example: `elision {question.name} doorbell.json {told_example}`"
    command.__doc__ = "\n\n".join(filter(None, [question.says, question.more, example]))
    command.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    command.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
    return command


for _question in DECLARED.values():
    app.command(_question.name)(_asks(_question))


@app.command()
def sample(
    script: ScriptFile,
    given: Annotated[
        list[str] | None, typer.Argument(help="What they fit: events, ? and ... as in fill.")
    ] = None,
    number: Annotated[int, typer.Option("-n", "--number", help="How many.", min=0)] = 1,
    length: Annotated[int | None, typer.Option(help="How many events are told.", min=0)] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Also what was left unsaid.")
    ] = False,
    seed: Seed = 0,
    ignore_unknown: IgnoreUnknown = False,
    as_json: AsJson = False,
) -> None:
    """Draw tellings from a script; the same seed draws the same.

    Example: `elision sample doorbell.json -n 3 --complete`
    """
    found: Any = load(script).sample(
        number,
        random_state=seed,
        length=length,
        given=told(given) if given else None,
        complete=cast("Any", complete),
        unknown=unknown(ignore_unknown),
    )
    reply(
        found, cli.answers.show_stories if complete else cli.answers.show_tellings, as_json=as_json
    )
