"""``ask``: a prompt at which tellings are typed and answered."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from elision import cli
from elision.ask.heard import hear
from elision.cli.app import (
    IgnoreUnknown,
    ScriptFile,
    app,
    load,
    show_heard,
    told,
    typed,
    unknown,
    worded,
)
from elision.errors import ElisionError, InputError
from elision.terminal import complain, err, out, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from elision.ask.heard import Item
    from elision.values.observations import Unknown
    from elision.values.script import Script

BETWEEN = "|"
"""What stands between the items of a telling: a comma may be part of a sentence."""

PROMPT = "> "
KEPT = 1000
"""Lines of history."""

HELP = """\
hear doorbell | ? | open door     what is missing at the ?
hear doorbell | ... | close door  what is missing where any number may be
hear doorbell | open door         what was left unsaid, and what comes next
:fill, :between, :next, :score, :align TELLING
                                  just that; of the last telling if none is given
:events                           what the script knows
:help, help                       this
:quit, quit                       the end"""


@app.command()
def ask(
    script: ScriptFile,
    top: Annotated[int, typer.Option(help="How many answers.", min=1)] = 5,
    ignore_unknown: IgnoreUnknown = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each answer as one line of JSON.")
    ] = False,
) -> None:
    """Ask a script again and again: tellings, one a line, with | between their events.

    Lines come from a prompt with history and completion (Tab), or from standard input if that is
    no terminal; then the exit status is 2 if one of them could not be answered.

    Example: `elision ask doorbell.json`
    """
    conversation = Conversation(
        load(script), top=top, as_json=as_json, unknown=unknown(ignore_unknown)
    )
    if sys.stdin is None:
        return
    if sys.stdin.isatty():
        if not as_json:
            _greet(conversation)
        with line_editing(conversation.completions):
            conversation.hold(_typed(), forgiving=True)
    elif not conversation.hold(piped(), forgiving=False):
        raise typer.Exit(2)


class Conversation:
    """Questions in lines, and answers on standard output."""

    def __init__(
        self,
        script: Script,
        *,
        top: int = 5,
        as_json: bool = False,
        unknown: Unknown = "error",
    ) -> None:
        self.script = script
        self._top = top
        self._as_json = as_json
        self._unknown = unknown
        self._last: list[Item] | None = None
        self._commands: dict[str, Callable[[list[Item]], None]] = {
            ":fill": self._fill,
            ":between": self._between,
            ":next": self._next,
            ":score": self._score,
            ":align": self._align,
        }

    def hold(self, lines: Iterable[str], *, forgiving: bool) -> bool:
        """Answer line after line until there are no more; return whether all could be."""
        good = True
        for line in lines:
            text = self._meant(line.strip())
            if text in (":quit", ":q"):
                break
            if not text:
                continue
            try:
                self.answer(text)
                if not self._as_json:
                    out.print()
            except ElisionError as error:
                complain(worded(error))
                good = False
            except KeyboardInterrupt:
                if not forgiving:
                    raise
                err.print("interrupted", style="dim")
        return good

    def answer(self, text: str) -> None:
        """Answer one line."""
        name, _, rest = text.partition(" ")
        if name == ":events":
            self._events()
        elif name == ":help":
            say_lines(HELP)
        elif name in self._commands:
            self._commands[name](self._telling(rest, judged=name == ":score"))
        elif name.startswith(":"):
            listed = ", ".join([*self._commands, ":events", ":help", ":quit"])
            raise InputError(f"no command {name}", hint=f"there are {listed}")
        else:
            items = self._telling(text)
            if None in items or ... in items:
                self._fill(items)
            else:
                self._between(items)
                self._next(items)

    def _meant(self, text: str) -> str:
        """Take a bare word for a command, unless it is an event of the script."""
        bare = text in ("help", "quit", "exit") and text not in self.script.events
        return {"help": ":help"}.get(text, ":quit") if bare else text

    def completions(self, typed: str) -> list[str]:
        """How what was typed since the last ``|`` can go on.

        Examples
        --------
        >>> import elision as el
        >>> Conversation(el.examples.doorbell()).completions(" Op")
        [' open door']
        """
        start = typed[: len(typed) - len(typed.lstrip())]
        text = typed.lstrip()
        if text.startswith(":"):
            command, space, text = text.partition(" ")
            if not space:
                names = [*self._commands, ":events", ":help", ":quit"]
                return [start + name for name in names if name.startswith(command)]
            start += command + space
        sought = text.casefold()
        return [start + one for one in self.script.events if one.casefold().startswith(sought)]

    def _telling(self, text: str, *, judged: bool = False) -> list[Item]:
        """The telling of a line, or the last one; ``judged`` if unknown events are no mistake."""
        if text.strip():
            self._last = told([_checked(part) for part in text.split(BETWEEN)])
            if not judged:  # complains before it would be said to be left out
                hear(self.script, self._last, unknown=self._unknown)
            show_heard(self.script, self._last, as_json=self._as_json)
        if self._last is None:
            raise InputError("no telling yet", hint="type events with | between them")
        return self._last

    def _show(self, name: str, found: Any, show: Callable[[Any], None]) -> None:
        if self._as_json:
            print_json({name: found}, lines=True)
        else:
            show(found)

    def _fill(self, items: list[Item]) -> None:
        found = self.script.fill(items, top=self._top, unknown=self._unknown)
        self._show("fill", found, cli.answers.show_fillings)

    def _between(self, items: list[Item]) -> None:
        found = self.script.between(cast("Any", items), unknown=self._unknown)
        self._show("between", found, cli.answers.show_story)

    def _next(self, items: list[Item]) -> None:
        found = self.script.next(items, top=self._top, unknown=self._unknown)
        if not self._as_json:
            out.print("next", style="dim")
        self._show("next", found, cli.answers.show_following)

    def _score(self, items: list[Item]) -> None:
        self._show("score", self.script.score(cast("Any", items)), cli.reports.show_conformance)

    def _align(self, items: list[Item]) -> None:
        found = self.script.align(cast("Any", items), unknown=self._unknown)
        self._show("align", found, cli.answers.show_aligned)

    def _events(self) -> None:
        names = sorted(self.script.events)
        self._show("events", names, lambda found: say_lines("\n".join(found)))


def say_lines(text: str) -> None:
    """Print a text of several lines as it is."""
    for line in text.splitlines():
        say(line)


def _checked(part: str) -> str:
    """One item between bars: unlike an argument, a - is no standard input."""
    item = part.strip()
    if item == "-":
        raise InputError("- is no event here", hint="put ? where an event is missing")
    return item


def _greet(conversation: Conversation) -> None:
    heard = "events or sentences" if conversation.script.extractor else "events"
    out.print(f"{conversation.script}", markup=False)
    out.print(
        f"Tell {heard} with | between them, ? for one that is missing, ... for any number."
        "\nTab completes, :help says more, Ctrl-D leaves.\n",
        style="dim",
        markup=False,
    )


def _typed() -> Iterator[str]:
    """Lines of the prompt: Ctrl-C clears one, Ctrl-D ends them."""
    while True:
        try:
            yield input(PROMPT)
        except KeyboardInterrupt:
            out.print()
        except EOFError:
            out.print()
            return


def piped() -> Iterator[str]:
    """Lines of standard input."""
    try:
        yield from map(typed, sys.stdin)
    except UnicodeDecodeError as error:
        raise InputError(f"no {error.encoding} text", where="standard input") from None


@contextmanager
def line_editing(
    completions: Callable[[str], list[str]], kept_in: str = "history"
) -> Iterator[None]:
    """History and completion at the prompt, where Python has readline."""
    try:
        import readline  # noqa: PLC0415 - not everywhere
    except ImportError:
        yield
        return

    def complete(typed: str, state: int) -> str | None:
        found = completions(typed)
        return found[state] if state < len(found) else None

    history = _history_file(kept_in)
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(KEPT)
    readline.set_completer(complete)
    readline.set_completer_delims(BETWEEN)
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    try:
        yield
    finally:
        with suppress(OSError):  # history is a convenience: no complaint where it cannot be kept
            history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            readline.write_history_file(history)


def _history_file(name: str) -> Path:
    """Where the history is kept: in the user's folder of state, as the system has it."""
    named = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_STATE_HOME", "")
    folder = Path(named) if named and Path(named).is_absolute() else Path("~/.local/state")
    return folder.expanduser() / "elision" / name
