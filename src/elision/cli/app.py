"""The application that commands register with, and the arguments and options that they share."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast, get_type_hints

import typer
from typer.core import TyperGroup

import elision as el
from elision import ask, files, io
from elision._files import shown_path
from elision.errors import InputError, ReadingWarning
from elision.terminal import err, out, print_json, printable, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from elision.ask.heard import Item
    from elision.values.corpus import Corpus
    from elision.values.observations import Observation, Unknown
    from elision.values.script import Script

LARGEST_SEED = 2**32 - 1

ORDER = (
    *("demo", "learn", "events", "outline", "repair"),
    *("fill", "missing", "between", "next", "follow", "score", "order", "sample"),
    *("compare", "identify", "draw", "export", "serve", "bench"),
)
"""Commands by use, as help lists them."""


class _ByUse(TyperGroup):
    """Commands in the order in which they are needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    cls=_ByUse,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScriptFile = Annotated[Path, typer.Argument(help="Script file.")]
Telling = Annotated[
    list[str], typer.Argument(help="Events or sentences in order; - reads lines of standard input.")
]
Gaps = Annotated[
    list[str],
    typer.Argument(
        help="Events or sentences in order, ? where one is missing, ... where any number may be;"
        " - reads lines of standard input."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
IgnoreUnknown = Annotated[
    bool, typer.Option("--ignore-unknown", help="Leave out events that the script does not know.")
]
Seed = Annotated[int, typer.Option(help="Seed of what is random.", min=0, max=LARGEST_SEED)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes that share the work.", min=1, max=1024)
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        help="Share the work on a Dask cluster: the address of its scheduler, or local:N for N"
        " processes.",
        metavar="ADDRESS|local:N",
    ),
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="Model of sentence-transformers or model2vec to find types of sentences with: its"
        " name or folder.",
    ),
]

Sentences = Annotated[
    bool | None,
    typer.Option("--sentences/--events", help="What the lines are, if they are misunderstood."),
]


Reading: TypeAlias = dict[str, Any]
"""What was said of how to read, as `elision.read` takes it."""

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


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"elision {el.__version__}")
        raise typer.Exit


@app.callback()
def _elision(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Learn the script behind many tellings of one activity, and ask it what was left unsaid."""


def load(path: Path) -> Script:
    """Read the script of a file."""
    return files.script.load(path)


def told(arguments: Sequence[str]) -> list[Item]:
    """Return the items of a telling as arguments give it.

    Examples
    --------
    >>> told(["hear doorbell", "?", "..."])
    ['hear doorbell', None, Ellipsis]
    """
    items: list[Item] = []
    for argument in arguments:
        items += [_item(line) for line in _lines()] if argument == "-" else [_item(argument)]
    return items


def told_so_far(arguments: Sequence[str], question: str) -> Any:
    """Return the items of a telling that may end in ``...``: then it is not finished."""
    items = told(arguments)
    if items and items[-1] is ...:
        return [*_without_stretches(items[:-1], question), ...]
    return _without_stretches(items, question)


def told_events(arguments: Sequence[str], question: str) -> list[Observation]:
    """Return the items of a telling for a question that knows no stretches."""
    return _without_stretches(told(arguments), question)


def _without_stretches(items: list[Item], question: str) -> list[Observation]:
    if ... in items:
        problem = f"{question} does not take a stretch of any number of events (...)"
        place = items.index(...) + 1
        at_end = f"leave it away: {question} takes only what is finished"
        hint = at_end if place == len(items) > 1 else "put ? for one event"
        raise InputError(problem, where=f"item {place}", hint=hint)
    return cast("list[Observation]", items)


def typed(text: str) -> str:
    r"""Return what was typed in UTF-8 where the system's own encoding is another, such as ASCII.

    Examples
    --------
    >>> typed("l\udcc3\udca4uten")
    'läuten'
    """
    try:
        return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode()
    except UnicodeError:
        return text


def _item(text: str) -> Item:
    text = typed(text)
    if not text.strip():
        raise InputError("an item of the telling is empty", hint="put ? where an event is missing")
    return None if text == "?" else ... if text == "..." else text


def _lines() -> list[str]:
    try:
        return [line.strip() for line in sys.stdin if line.strip()]
    except UnicodeDecodeError as error:
        raise InputError(f"no {error.encoding} text", where="standard input") from None


def reply(found: object, show: Callable[[Any], None], *, as_json: bool) -> None:
    """Print an answer: for machines, or for people by ``show``."""
    if as_json:
        print_json(found)
    else:
        show(found)


def show_heard(script: Script, items: Sequence[object], *, as_json: bool) -> None:
    """Print beside each sentence of a telling what it is taken for."""
    if as_json or script.extractor is None:
        return
    taken = ask.sentences.taken_for(script, items)
    for one in taken:
        say(f"{printable(one.sentence)}: {one.meant}", "dim")
    if taken:
        out.print()


def check_place(*outputs: Path | None) -> None:
    """Refuse, before any work is done, to write where nothing can be."""
    for output in outputs:
        if output is None:
            continue
        if output.is_dir():
            raise InputError("this is a directory; expected a file", where=shown_path(output))
        if output.exists() and not output.is_file():
            problem = "cannot be written: there is something other than a file"
            raise InputError(problem, where=shown_path(output))
        if not output.parent.is_dir():
            problem = f"no folder {shown_path(output.parent)!r} to write to"
            raise InputError(problem, where=shown_path(output))


def check_not_source(output: Path | None, source: str | Path | None, what: str) -> None:
    """Refuse, before any work is done, to write over a file that is read."""
    if output is None or source in (None, "-") or not (output.exists() and Path(source).exists()):
        return
    if output.samefile(source):
        raise InputError(f"{what} in this file, expected another", where=shown_path(output))


def unknown(ignore: bool) -> Unknown:
    """Return how questions are told to treat events that the script does not know."""
    return "ignore" if ignore else "error"


def read(source: str, *, sentences: bool | None = None, **reading: Any) -> Corpus:
    """Read narratives as `elision.read` does, by the options of a command."""
    corpus = el.read(source, sentences=sentences, **reading)
    form = reading.get("format")
    plain = form == "text" or (form is None and source.lower().endswith((".txt", ".txt.gz")))
    if plain and not corpus.has_events and sentences is None:
        err.print("read as sentences (--events takes each line for the name of an event)")
    note_order(source, reading)
    return corpus


def note_order(source: str, reading: dict[str, Any]) -> None:
    """Say that a table that was read has no column of times, if that is so."""
    asked = {name: reading.get(name) for name in ("format", "case", "activity", "time", "domain")}
    encoding = reading.get("encoding") or "utf-8"
    if source != "-" and io.preview.is_untimed(source, encoding=encoding, **asked):
        err.print(
            "no time column found: events of a case are taken in the order of the rows"
            " (--time NAME names it, --time '' says that there is none)",
            soft_wrap=True,
        )


_ITEM = re.compile(r"^(?:narrative 0, )?event (\d+)$")
_KEYWORD = re.compile(
    r"\b(format|case|activity|time_format|time|domain|lifecycle|encoding|omission)=(?:'([^']*)')?"
)
_WORDINGS = {
    "put None ": "put ? ",
    "this corpus gives events; use .events": "these are events already: elision learn takes them",
    "unknown='ignore' leaves": "--ignore-unknown leaves",
    "raise `min_share`": "raise --min-share",
    "give weights by event": "put ? for what is vague",
    "turn sentences into events first: EventExtractor().fit_transform(corpus)": (
        "turn sentences into events first: elision events"
    ),
    "load(..., checksum=False) reads": "in Python, elision.load(..., checksum=False) reads",
}
"""What hints say of Python, and how it is said of the command line."""


def worded(error: Exception) -> str:
    """Return what an error says, in terms of the command line: arguments and options.

    Examples
    --------
    >>> worded(InputError("no gap", hint="put None where an event is missing"))
    'no gap (put ? where an event is missing)'
    >>> worded(InputError("unknown event 'x'", where="narrative 0, event 2"))
    "item 3: unknown event 'x'"
    >>> worded(InputError("no such column", hint="name it with case=, or pass format='text'"))
    'no such column (name it with --case, or pass --format text)'
    >>> worded(InputError("no utf-8 text", hint="pass encoding='utf-16'"))
    'no utf-8 text (pass --encoding utf-16)'
    """
    if not isinstance(error, InputError):
        return str(error)
    hint = error.hint or ""
    for said, meant in _WORDINGS.items():
        hint = hint.replace(said, meant)
    hint = _KEYWORD.sub(_option, hint)
    where = _ITEM.sub(lambda found: f"item {int(found[1]) + 1}", error.where or "")
    return str(InputError(error.problem, where=where, hint=hint))


@contextmanager
def remarks_said() -> Iterator[None]:
    """Say in a line what readers warn of, in terms of the command line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", ReadingWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, ReadingWarning):
                said = _KEYWORD.sub(_option, str(message))
                err.print(said, markup=False, highlight=False, soft_wrap=True)
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def _option(found: re.Match[str]) -> str:
    name = "--domain-column" if found[1] == "domain" else f"--{found[1].replace('_', '-')}"
    return name if found[2] is None else f"{name} {found[2] or repr('')}"
