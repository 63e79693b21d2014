"""How narratives are read: options that stand here once, for every command that reads."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

Reading: TypeAlias = dict[str, Any]
"""What was said of how to read, as `elision.read` takes it."""

NOTHING: Reading = {}
"""Stands in signatures, where the options come."""

Format = Annotated[
    str | None, typer.Option("--format", help="jsonl, json, csv, tsv, parquet, xes or text.")
]
Case = Annotated[
    str | None, typer.Option("--case", help="Column that says which narrative a row is of.")
]
Activity = Annotated[
    str | None, typer.Option("--activity", help="Column, or XES key, that names the event.")
]
Time = Annotated[
    str | None, typer.Option("--time", help="Column of the time; '' keeps the order of the rows.")
]
TimeFormat = Annotated[
    str | None,
    typer.Option(
        "--time-format", help="How times are written: '%d.%m.%Y %H:%M', day-first or month-first."
    ),
]
DomainColumn = Annotated[
    str | None, typer.Option("--domain-column", help="Column of the domain; '' for none.")
]
Lifecycle = Annotated[
    str, typer.Option("--lifecycle", help="Events of a log to keep: complete or all.")
]
Encoding = Annotated[str, typer.Option("--encoding", help="How the text is written.")]

OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (Format, None),
    "case": (Case, None),
    "activity": (Activity, None),
    "time": (Time, None),
    "time_format": (TimeFormat, None),
    "domain_column": (DomainColumn, None),
    "lifecycle": (Lifecycle, "complete"),
    "encoding": (Encoding, "utf-8"),
}


def reads(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; it hears of them as ``reading``."""

    @wraps(command)
    def reading_command(**given: Any) -> None:
        reading = {name: given.pop(name) for name in OPTIONS}
        reading["domain"] = reading.pop("domain_column")
        command(**given, reading=reading)

    kinds = get_type_hints(command, include_extras=True)
    parameters = []
    for name, one in signature(command).parameters.items():
        if name != "reading":
            parameters.append(_parameter(name, kinds[name], one.default))
            continue
        parameters += [_parameter(name, kind, default) for name, (kind, default) in OPTIONS.items()]
    reading_command.__annotations__ = {one.name: one.annotation for one in parameters}
    reading_command.__signature__ = signature(command).replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=None
    )
    del reading_command.__wrapped__  # its hints would be looked at
    return reading_command


def _parameter(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
