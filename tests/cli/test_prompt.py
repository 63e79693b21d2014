"""`elision ask`: from a pipe, and in a terminal with history and completion."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import commands
import elision as el
from commands import Terminal
from elision.cli.prompt import Conversation

DOORBELL = el.examples.doorbell()
GAP = "hear doorbell | ? | open door"


@pytest.fixture
def elision(elision):
    DOORBELL.save("door.json")
    return elision


@pytest.fixture
def asked(elision):
    """Ask lines through a pipe."""

    def ask(*lines, options=()):
        text = "".join(f"{line}\n" for line in lines)
        return elision("ask", "door.json", *options, stdin=text.encode())

    return ask


def test_a_pipe_gets_answers_and_no_prompt(asked, elision):
    status, out, err = asked(GAP, options=("--top", "2"))
    assert (status, err) == (0, "")
    _, filled, _ = elision("fill", "door.json", "hear doorbell", "?", "open door", "--top", "2")
    telling, answers = filled.split("\n\n")
    assert telling == "hear doorbell, ?, open door"
    assert out == answers + "\n"


def test_without_a_gap_the_story_and_what_comes_next(asked):
    _, out, _ = asked("hear doorbell | open door")
    story, following = out.split("\nnext\n")
    left_out = "100%: something was left out here"
    assert story.startswith(f"hear doorbell\n    {left_out}\n    walk to door ")
    assert "(nothing more)" in following


def test_commands_ask_about_the_last_telling_or_another(asked):
    status, out, err = asked(
        GAP, ":next", ":align", ":between open door", ":score", ":fill ... | close door",
        options=("--json",),
    )  # fmt: skip
    assert (status, err) == (0, "")
    answers = [json.loads(line) for line in out.splitlines()]
    names = ["fill", "next", "align", "between", "score", "fill"]
    assert [name for one in answers for name in one] == names
    told = ["hear doorbell", None, "open door"]
    assert answers[0]["fill"][0]["answers"][0]["event"] == "walk to door"
    best = DOORBELL.next(told).answers[0].event
    assert answers[1]["next"]["steps"][0]["answers"][0]["event"] == best
    assert [one["position"] for one in answers[2]["align"]["steps"]][:3] == [0, 1, 2]
    assert answers[3]["between"]["told"] == answers[4]["score"]["told"] == ["open door"]
    assert answers[5]["fill"][0]["counts"]


def test_events_help_and_quit(asked):
    status, out, err = asked(":events", ":help", "", ":quit", "never asked")
    assert (status, err) == (0, "")
    events, rest = out.split("\n\n", 1)
    assert events.splitlines() == sorted(DOORBELL.events)
    assert all(name in rest for name in (":fill", ":between", ":next", ":score", ":align"))
    assert "|" in rest
    assert asked(":help") == asked("help", "quit", "never asked") == asked("help", "exit", "never")


def test_a_word_that_is_an_event_is_told(elision):
    states = {"call": "help", "come": {"come": 0.5, None: 0.5}}
    edges = {"start": {"call": 1}, "call": {"come": 1}, "come": {"end": 1}}
    el.Script.build(states, edges).save("door.json")
    status, out, _ = elision("ask", "door.json", stdin=b"help\n")
    assert status == 0
    assert out.startswith("help\n")
    assert "come" in out


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (":next", "no telling yet (type events with | between them)"),
        (":nxt open door", "no command :nxt (there are :fill, "),
        ("hear dorbell | ?", "item 1: unknown event 'hear dorbell' (did you mean"),
        ("close door | hear doorbell", "cannot tell this narrative"),
        ("open door || ?", "an item of the telling is empty"),
        ("- | ?", "- is no event here"),
        (":fill open door", "no gap (put ? where"),
    ],
)
def test_what_cannot_be_answered_is_said_and_the_rest_is(asked, line, problem):
    status, out, err = asked(line, GAP)
    assert status == 2
    assert problem in err
    assert err.count("\n") == 1
    assert "walk to door" in out


def test_unknown_events_can_be_ignored(asked):
    status, out, err = asked("cough | hear doorbell | ? | open door", options=("--ignore-unknown",))
    assert (status, err) == (0, "")
    assert out.startswith("    walk to door ")


def test_lines_that_are_no_text(elision):
    err = commands.refused(elision("ask", "door.json", stdin=b"\xff\xfe\n"))
    assert "standard input: no utf-8 text" in err


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("HEAR", ["hear doorbell"]),
        ("hear doorbell", ["hear doorbell"]),
        ("  s", ["  sign for parcel", "  say goodbye"]),
        ("xyz", []),
        (":f", [":fill"]),
        (":fill op", [":fill open door"]),
        (":", [":fill", ":between", ":next", ":score", ":align", ":events", ":help", ":quit"]),
    ],
)
def test_completion(typed, expected):
    assert Conversation(DOORBELL).completions(typed) == expected
    assert len(Conversation(DOORBELL).completions("")) == len(DOORBELL.events)


def test_a_conversation_in_a_terminal(elision):
    terminal = Terminal("ask", "door.json", "--top", "2", XDG_STATE_HOME=str(Path.cwd()))
    greeting = terminal.until("\n> ")
    assert "| between them" in greeting
    assert "Ctrl-D leaves" in greeting
    terminal.press("hear d\t|?| op\t\n")  # completed, names with spaces and all
    echoed = terminal.until("\n> ")
    assert plain_text(echoed).startswith("hear doorbell|?| open door")
    assert "walk to door" in echoed
    terminal.press("close door | nonsense")
    terminal.until("nonsense")
    terminal.interrupt()  # clears the line
    terminal.until("\n> ")
    terminal.press("xyzzy | ?\n")
    assert "unknown event 'xyzzy'" in terminal.until("\n> ")
    terminal.press("\x1b[A\x1b[A\n")  # the last line but one of the history: the first question
    assert "walk to door" in terminal.until("\n> ")
    terminal.press("\x04")  # Ctrl-D
    status, shown = terminal.ended()
    assert status == 0
    assert "Traceback" not in shown

    history = Path("elision/history")
    assert "hear doorbell|?| open door" in history.read_text()
    assert history.parent.stat().st_mode & 0o777 == 0o700
    again = Terminal("ask", "door.json", "--json", XDG_STATE_HOME=str(Path.cwd()))
    again.until("> ")
    again.press("\x1b[A\n")
    assert "walk to door" in again.until("> ")
    again.press(":quit\n")
    assert again.ended()[0] == 0


def test_history_that_cannot_be_kept_is_no_complaint(elision):
    Path("file").touch()
    terminal = Terminal("ask", "door.json", XDG_STATE_HOME=os.fspath(Path("file").absolute()))
    terminal.until("\n> ")
    terminal.press("\x04")
    status, shown = terminal.ended()
    assert status == 0
    assert "file" not in shown


def plain_text(shown):
    """What a terminal shows, without its escape sequences."""
    return re.sub(r"\x1b\[[?\d;]*[A-Za-z]|\x07", "", shown)
