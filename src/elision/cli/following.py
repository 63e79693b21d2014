"""``follow``: a telling as it is told, line by line, and what is known after each."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from elision import ask
from elision.cli.app import ScriptFile, app, load, typed, worded
from elision.errors import InputError, counted, relocated
from elision.terminal import Line, complain, err, out, plain, print_json, print_lines, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from elision.ask.follow import Now
    from elision.values.script import Script

PROMPT = "> "
TAKE_BACK = "undo"
END = ("finish", "quit", "exit")
MORE = "..."
"""Ends the input, but not the telling: more may come."""
HELP = "help"
_QUOTED = re.compile(rf'"+({"|".join(map(re.escape, (TAKE_BACK, MORE, *END, HELP)))})"+')

HOW = (
    "Tell what happens, one event a line; undo takes the last one back, an empty line ends it,"
    " ... leaves it open."
)

MOST_SHOWN = 3
"""Events that may come next."""

LEAST_SHARE = 0.005
"""What would show as 0% is left out."""

UNKNOWN_RATE = "too few tellings to know how rare an alarm is"


@app.command()
def follow(
    script: ScriptFile,
    false_alarms: Annotated[
        float,
        typer.Option(
            help="Share of ordinary tellings in which a step may be called skipped that is told"
            " later, or one out of order; alarms of steps that are never told are not counted."
        ),
    ] = 0.05,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON for each line told.")
    ] = False,
) -> None:
    """Follow a telling as it is told: what was skipped, what comes next, how far it is.

    Each line, of a prompt or of standard input, is an event or a sentence. A line `undo` takes the
    last one back (`"undo"`, in quotes, is an event of this name). An empty line, the end of the
    input or Ctrl-C finish the telling; so do `finish`, `quit` and `exit`, and `help` says this,
    where the script has no such events. A line `...` ends the input and leaves the telling open:
    what is still to come is not judged. What is worth speaking up about has a ! in front.

    With --json each line is answered by one, at once, and the end by one more: count, skipped,
    out_of_order, next, ended, progress, unknown, finished, knows_alarms; or error. There all words
    are events but `undo` and `...`, which is answered with what is known, and no line for the end
    comes after it. The exit status is 2 if a line of standard input could not be followed.

    Example: `elision follow doorbell.json`
    """
    conversation = _Conversation(load(script), false_alarms, as_json=as_json)
    if sys.stdin is not None and sys.stdin.isatty():
        _at_prompt(conversation)
    elif not conversation.hold(() if sys.stdin is None else _piped()):
        raise typer.Exit(2)


class _Conversation:
    """Lines in, and what is known after each out."""

    def __init__(self, script: Script, false_alarms: float, *, as_json: bool) -> None:
        self._script = script
        self._follower = script.follow(false_alarms=false_alarms)
        self.events = frozenset(script.events)
        alarms = script.outline().alarms
        self._knows_alarms = alarms is not None and alarms.known(false_alarms)
        self._as_json = as_json
        self._warned = False

    def hold(self, lines: Iterable[str]) -> bool:
        """Follow line after line to the end; return whether all could be followed."""
        good = True
        try:
            for number, line in enumerate(lines, start=1):
                text = line.strip()
                if not text or self._means(text, END):
                    break
                if text == MORE and MORE not in self.events:
                    self._show(self._follower.now(), open_end=True)
                    return good
                if self._means(text, (HELP,)):
                    self.greet()
                    continue
                with _undisturbed():
                    good = self._hear(number, text) and good
        except KeyboardInterrupt:
            if out.is_terminal:  # after the ^C
                out.print()
        self._show(self._follower.finish())
        return good

    def greet(self) -> None:
        """Say what can be done at the prompt."""
        if not self._as_json:
            out.print(f"{HOW}\n", style="dim")

    def _means(self, text: str, words: tuple[str, ...]) -> bool:
        """Whether a line is one of these words to the command, and no event."""
        return not self._as_json and text in words and text not in self.events

    def _hear(self, number: int, text: str) -> bool:
        """Follow one line; return whether it could be."""
        said = text[1:-1] if _QUOTED.fullmatch(text) else text
        try:
            found = self._follower.undo() if text == TAKE_BACK else self._follower.tell(said)
        except InputError as error:
            problem = worded(relocated(error, f"line {number}"))
            complain(problem)
            if self._as_json:  # as many lines come out as go in
                print_json({"error": {"problem": problem}}, lines=True)
            return False
        if not self._as_json and text != TAKE_BACK:
            self._show_heard(said)
        self._show(found, said)
        return True

    def _show_heard(self, said: str) -> None:
        """Say what a sentence is taken for."""
        taken = ask.sentences.taken_for(self._script, [said])
        told = [one for one in taken if one.event is not None]
        heard = ", ".join(one.meant if one.uncertain else str(one.event) for one in told)
        if heard:
            say(f"heard as: {heard}", "dim")
        for one in taken:
            if one.event is None and one.denied:
                say(f"{one.sentence}: {one.meant}", "dim")

    def _show(self, now: Now, text: str = "", *, open_end: bool = False) -> None:
        if not self._warned and not self._knows_alarms:
            err.print(UNKNOWN_RATE, style="dim")
            self._warned = True
        if self._as_json:
            print_json({**plain(now), "knows_alarms": self._knows_alarms}, lines=True)
            return
        if open_end:
            say(f"not finished: {counted(now.count, 'event')} told")
        else:
            _show_now(now, text)
        out.print()


def _show_now(now: Now, text: str) -> None:
    """Print how far it is, what was skipped or out of order, and what comes next."""
    if text in now.unknown:
        say(f"not in the script: {text}", "dim")
    say(
        f"finished: {counted(now.count, 'event')} told"
        if now.finished
        else f"{now.progress:.0%} done"
    )
    for line, alarm in ask.follow.remarks(now.skipped, now.out_of_order):
        say(line, "red" if alarm else "dim")
    if not now.finished:
        likely = [Line(one.event, one.probability) for one in now.next[:MOST_SHOWN]]
        likely.append(Line("(nothing more)", now.ended))
        out.print("next", style="dim")
        print_lines(line for line in likely if line.share >= LEAST_SHARE)


def _at_prompt(conversation: _Conversation) -> None:
    def completions(typed: str) -> list[str]:
        sought = typed.casefold()
        return [
            event for event in sorted(conversation.events) if event.casefold().startswith(sought)
        ]

    conversation.greet()
    with _line_editing(completions):
        conversation.hold(_typed())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back until an answer is out, so that it comes whole and once."""
    pressed: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if pressed:
        raise KeyboardInterrupt


def _typed() -> Iterator[str]:
    """Lines of the prompt until Ctrl-D."""
    while True:
        try:
            yield input(PROMPT)
        except EOFError:
            out.print()
            return


def _piped() -> Iterator[str]:
    """Lines of standard input."""
    try:
        yield from map(typed, sys.stdin)
    except UnicodeDecodeError as error:
        raise InputError(f"no {error.encoding} text", where="standard input") from None


@contextmanager
def _line_editing(completions: Callable[[str], list[str]]) -> Iterator[None]:
    """Completion at the prompt, where Python has readline."""
    try:
        import readline  # noqa: PLC0415 - not everywhere
    except ImportError:
        yield
        return

    def complete(typed: str, state: int) -> str | None:
        found = completions(typed)
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims("")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
    yield
