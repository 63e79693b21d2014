"""The command line under bad input: arguments and what is piped in, as a JSON document.

``[[argument, ...], standard input]``. The commands and their options are those that there are.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from functools import cache, partial
from pathlib import Path
from unittest import mock

import elision as el
from commands import whole
from elision import cli
from elision.errors import InputError
from fuzzing.spoiling import TEXTS, spoiled
from fuzzing.targets import TARGETS, TOLD, Target, folder

NUMBERS = (
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-400",
    "3.0",
    "99999999999",
)
WORDS = ("", "-", "--", "?", "...", "x", "hear doorbell", "open door", "walk to door", "undo")
FILES = (
    "tellings.jsonl",
    "script.json",
    "other.json",
    "log.csv",
    "log.xes",
    "none.json",
    ".",
    "bad",
)
OUTPUTS = ("out.json", "out.svg", "out.csv", "no/out.json", ".", "-", "script.json", "/dev/full")
STATUSES = {0, 1, 2}
ENDLESS = {"demo", "bench", "serve", "--follow"}
"""Only their help is asked for, and what they refuse: they take long, or never end."""


@cache
def _place():
    """A folder with a file of each kind."""
    place = folder() / "commands"
    place.mkdir()
    rows = "".join(json.dumps({"events": one, "domain": "bell"}) + "\n" for one in TOLD)
    (place / "tellings.jsonl").write_text(rows)
    el.examples.doorbell().save(place / "script.json")
    el.examples.learned_doorbell().save(place / "other.json")
    (place / "log.csv").write_text("case,activity\n1,hear doorbell\n1,open door\n2,open door\n")
    names = [f'<event><string key="concept:name" value="{one}"/></event>' for one in TOLD[0]]
    (place / "log.xes").write_text(f"<log><trace>{''.join(names)}</trace></log>")
    (place / "bad").write_bytes(b"\xff\0{")
    return place


@cache
def _commands():
    return dict(whole().commands.items())


def _value(rng, parameter):
    name = parameter.name
    if rng.random() < 0.15:
        return rng.choice(TEXTS)
    if name in ("output", "html_file"):
        return rng.choice(OUTPUTS)
    annotation = parameter.type_descriptor.annotation
    if "int" in str(annotation) or "float" in str(annotation):
        return rng.choice(NUMBERS)
    if name in ("telling", "events", "given", "exclude", "candidate"):
        return rng.choice(WORDS)
    if name in ("script", "other", "scripts"):
        return rng.choice(("script.json", "other.json", *FILES))
    return rng.choice((*FILES, *NUMBERS, *WORDS))


def _drawn(rng):
    """Draw the arguments of a command."""
    name = rng.choice([*_commands()])
    arguments = [name]
    for parameter in _commands()[name].params:
        if parameter.name in ("dask", "help"):
            continue
        option = parameter.opts[0].startswith("-")
        if option and not parameter.required and rng.random() < 0.8:
            continue
        if option:
            arguments.append(rng.choice([*parameter.opts, *parameter.secondary_opts]))
        if not (option and parameter.is_flag) and rng.random() < 0.97:
            more = 1 if parameter.nargs == 1 else rng.randint(0, 3)
            arguments += [_value(rng, parameter) for _ in range(more)]
    if ENDLESS & set(arguments):
        arguments.append(rng.choice(("--help", "--nothing")))
    return arguments


class _Commands(Target):
    """Arguments are drawn from what commands take, and then perhaps spoiled."""

    def spoiled(self, rng):
        piped = rng.choice(("", "hear doorbell\nopen door\n", "undo\n\n", rng.choice(TEXTS)))
        content = json.dumps([_drawn(rng), piped]).encode()
        return spoiled(rng, content, "json") if rng.random() < 0.2 else content


def _take(content):
    try:
        arguments, piped = json.loads(content)
        typed = [os.fsdecode(os.fsencode(one)) for one in arguments]
        stdin = piped.encode("utf-8", "surrogateescape")
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError("no arguments", where="document") from None
    if any("\0" in one for one in typed):  # the system takes none
        raise InputError("no arguments", where="document")
    if any(one in ENDLESS for one in typed) and not {"--help", "--nothing"} & set(typed):
        raise InputError("not tried", where="document")
    status, out, err = _run(typed, stdin)
    assert status in STATUSES, f"exit status {status}: {err[-300:]}"
    assert "Traceback" not in err, err[-500:]
    if status == 2 and "follow" not in typed:  # it complains line by line
        lines = err.splitlines()
        assert not lines or lines[-1].startswith("elision: "), err[-500:]
        assert sum(line.startswith("elision: ") for line in lines) <= 1, err[-500:]
        if not lines:  # help was shown, as nothing was asked for
            assert "Usage" in out, out[-300:]
    left = [one.name for one in _place().iterdir() if one.name.startswith(".elision")]
    assert not left, left
    if status == 2:
        raise InputError("refused", where="command line")


def _run(arguments, stdin):
    place = _place()
    kept = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(place)
    try:
        with (
            mock.patch.object(cli, "app", partial(whole())),
            mock.patch.object(sys, "argv", ["elision", *arguments]),
            mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin))),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            cli.main()
    except SystemExit as end:
        return end.code or 0, out.getvalue(), err.getvalue()
    finally:
        os.chdir(before)
        _restore(place, kept)
    raise AssertionError("it did not end")


def _restore(place, kept):
    """Put back what a command may have written over, and delete what it has written."""
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_dir():
            path.rmdir()
        elif path not in kept:
            path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)


def _examples():
    asked = [
        ["fill", "script.json", "hear doorbell", "?", "open door"],
        ["learn", "tellings.jsonl", "-o", "out.json"],
        ["score", "other.json", "--log", "log.csv", "--case", "case"],
        ["follow", "script.json", "--json"],
    ]
    return [json.dumps([one, "hear doorbell\n"]).encode() for one in asked]


TARGETS["commands"] = _Commands("commands", "json", cache(_examples), _take)
